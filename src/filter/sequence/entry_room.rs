//! Room for the units and stretches of a layout, of which a few bytes may claim very many.

use crate::base::error::Flaw;

const MISFIT: Flaw = Flaw("the layout of sequences has more entries than its block can have");

/// The flaw of a layout for which there is no memory.
pub const NO_ROOM: Flaw = Flaw("the layout of sequences takes more memory than there is");

/// Bytes of memory of a unit or a stretch, with its part of a landmark: there are so many of them
/// in a block that most numbers are of one byte.
pub const OF_ENTRY: u64 = 8;

/// Units and stretches that may still come.
pub(super) struct EntryRoom {
    /// As many as a block may have.
    pub most: usize,
    /// As many as there is memory for.
    pub allowed: usize,
}

impl EntryRoom {
    /// Takes so many.
    pub fn take(&mut self, count: usize) -> Result<(), Flaw> {
        self.most = self.most.checked_sub(count).ok_or(MISFIT)?;
        self.allowed = self.allowed.checked_sub(count).ok_or(NO_ROOM)?;
        Ok(())
    }
}
