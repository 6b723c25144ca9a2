//! A block that is searched as bytes: the searched text is the raw block.

use super::file_block::FileBlock;
use super::searched_block::{SearchedBlock, TextTransform};
use crate::base::error::Result;
use crate::frame::BlockKind;
use std::ops::Range;

/// A block that is searched as bytes.
pub(crate) struct ByteBlock<'a> {
    pub file: FileBlock<'a>,
}

impl SearchedBlock for ByteBlock<'_> {
    fn file(&self) -> &FileBlock<'_> {
        &self.file
    }

    fn section_range(&self) -> Range<u64> {
        self.file.info.raw.clone()
    }

    fn transform(&self) -> Result<Option<TextTransform>> {
        Ok(match self.file.kind() {
            BlockKind::Bwt(shape) if !shape.filtered => Some(TextTransform { shape, front: None }),
            _ => None,
        })
    }

    fn text_of(&self, raw: Vec<u8>) -> Result<Vec<u8>> {
        Ok(raw)
    }
}
