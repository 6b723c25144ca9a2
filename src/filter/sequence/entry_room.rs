//! Limit of the number of units and stretches in a layout. Without it, a few bytes of a file could
//! claim any number of them.

use crate::base::error::Flaw;

const MISFIT: Flaw = Flaw("the layout of sequences has more entries than its block can have");

/// Error of a layout that does not fit in memory.
pub const NO_ROOM: Flaw = Flaw("the layout of sequences takes more memory than there is");

/// Memory of a unit or a stretch with its share of a landmark, in bytes. A block can only have many
/// of them if most of their numbers take one byte.
pub const OF_ENTRY: u64 = 8;

/// Number of units and stretches that may still come.
pub(super) struct EntryRoom {
    /// Limit by the size of the block.
    pub most: usize,
    /// Limit by the memory.
    pub allowed: usize,
}

impl EntryRoom {
    /// Takes room for `count` entries.
    pub(super) fn take(&mut self, count: usize) -> Result<(), Flaw> {
        self.most = self.most.checked_sub(count).ok_or(MISFIT)?;
        self.allowed = self.allowed.checked_sub(count).ok_or(NO_ROOM)?;
        Ok(())
    }
}
