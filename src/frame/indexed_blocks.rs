//! Numbers of blocks, by their kind of index.

use super::block_header::{BlockKind, Shape};

/// Numbers of blocks, by their kind of index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedBlocks {
    /// Blocks with an index of their sequences.
    pub sequences: u64,
    /// Blocks with an index of their bytes.
    pub bytes: u64,
    /// Blocks that are stored, since coding does not make them smaller. They have no index and need
    /// none, since a search does not have to decode them.
    pub stored: u64,
    /// All other blocks: they are coded and have no index.
    pub none: u64,
    /// Bytes of all indexes, with their samples, of a file that was just written. 0 if the file was
    /// read.
    pub size: u64,
}

impl IndexedBlocks {
    /// Number of all blocks.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.sequences + self.bytes + self.stored + self.none
    }

    pub(crate) fn count(&mut self, kind: BlockKind) {
        let number = match kind {
            BlockKind::Stored => &mut self.stored,
            BlockKind::Bwt(Shape { indexed: false, .. }) => &mut self.none,
            // The only filter beside an index is that for sequences.
            BlockKind::Bwt(Shape { filtered: true, .. }) => &mut self.sequences,
            BlockKind::Bwt(_) => &mut self.bytes,
            BlockKind::Unknown(..) => &mut self.none,
        };
        *number += 1;
    }
}
