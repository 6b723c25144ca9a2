//! A block with the text that is searched in it: its raw bytes, or the text of its sequences. There
//! is a type for either, [`ByteBlock`](super::byte_block::ByteBlock) and
//! [`SequenceBlock`](super::sequence_block::SequenceBlock). The search of blocks needs no more of
//! them than this trait.

use super::block_front::BlockFront;
use super::file_block::FileBlock;
use crate::base::error::Result;
use crate::frame::Shape;
use std::ops::Range;
use std::sync::Arc;

/// A block with the text that is searched in it.
pub(crate) trait SearchedBlock: Sync {
    /// The block of the file.
    fn file(&self) -> &FileBlock<'_>;

    /// Range of the positions of the searched text in its section.
    fn section_range(&self) -> Range<u64>;

    /// The transform of the searched text. `None` if the block does not hold it: the block is
    /// stored, or its filters leave another text. Fails if what must be read for this is damaged.
    fn transform(&self) -> Result<Option<TextTransform>>;

    /// Takes the searched text from the raw bytes of the block.
    fn text_of(&self, raw: Vec<u8>) -> Result<Vec<u8>>;

    /// Bytes of the searched text.
    fn size(&self) -> usize {
        let range = self.section_range();
        (range.end - range.start) as usize
    }

    /// The transform, if it has an index and the options trust that.
    ///
    /// A block that has an index is not restored to check it, unless the options ask for
    /// verification. Its payload has a checksum, and a search on disk would trust its index too.
    fn trusted_index(&self) -> Result<Option<TextTransform>> {
        let verify = self.file().options.verify;
        let transform = self.transform()?;
        Ok(transform.filter(|transform| transform.shape.indexed && !verify))
    }

    /// Restores the block, checks it, and returns the searched text.
    fn restored_text(&self) -> Result<Vec<u8>> {
        self.text_of(self.file().restore()?)
    }
}

/// The transform of a searched text, as the payload of its block holds it.
#[derive(Clone)]
pub(crate) struct TextTransform {
    pub shape: Shape,
    /// The front of the payload, if it has been read.
    pub front: Option<Arc<BlockFront>>,
}
