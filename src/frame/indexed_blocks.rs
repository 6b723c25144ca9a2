//! How many blocks are indexed, and by what.

use super::block_header::{BlockKind, Shape};

/// The filter that sets sequences apart, as bit 0 of Filters.
const SEQUENCES: u8 = 1;

/// Numbers of blocks, by what they are indexed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedBlocks {
    /// Blocks with an index of their sequences.
    pub sequences: u64,
    /// Blocks with an index of their bytes.
    pub bytes: u64,
    /// Blocks that are stored as they are, since coding does not make them smaller: they have no
    /// index and need none, as nothing has to be decoded to search them.
    pub stored: u64,
    /// Other blocks, without an index.
    pub none: u64,
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
            BlockKind::Bwt(Shape { filters: SEQUENCES, .. }) => &mut self.sequences,
            BlockKind::Bwt(_) => &mut self.bytes,
        };
        *number += 1;
    }
}
