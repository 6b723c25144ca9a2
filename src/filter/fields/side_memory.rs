//! Memory in which a block is put together, besides the block and its text: templates, columns,
//! arrays.
//!
//! A few bytes of a file may ask for much of it. It is counted before it is taken. A caller that
//! restores blocks in parallel can then make room for one, or refuse it.

use crate::base::error::Flaw;

/// Budget of this memory, and the part of it that is taken, both in bytes.
#[derive(Debug)]
pub(crate) struct SideMemory {
    allowed: u64,
    taken: u64,
    /// Number of bytes that would suffice, once more than allowed were asked for.
    needed: Option<u64>,
}

impl SideMemory {
    /// Creates a budget of `allowed` bytes.
    pub(crate) fn new(allowed: u64) -> Self {
        SideMemory {
            allowed,
            taken: 0,
            needed: None,
        }
    }

    /// Creates a budget without a limit.
    pub(crate) fn unlimited() -> Self {
        SideMemory::new(u64::MAX)
    }

    /// Takes `bytes` bytes. Later calls take at most `more` bytes.
    ///
    /// # Errors
    /// A [`Flaw`] if the budget does not allow it. [`needed`](Self::needed) then returns the number
    /// of bytes that would suffice.
    pub(crate) fn take(&mut self, bytes: usize, more: usize) -> Result<(), Flaw> {
        self.taken = self.taken.saturating_add(bytes as u64);
        if self.taken <= self.allowed {
            return Ok(());
        }
        self.needed = Some(self.taken.saturating_add(more as u64));
        Err(Flaw("a block of fields takes more memory than is allowed"))
    }

    /// Returns the number of bytes that would have sufficed, if more than allowed were asked for.
    pub(crate) fn needed(&self) -> Option<u64> {
        self.needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_known_once_too_much_was_asked_for() {
        let mut memory = SideMemory::new(100);
        assert!(memory.take(60, 500).is_ok() && memory.take(40, 0).is_ok());
        assert_eq!(memory.needed(), None);
        assert!(memory.take(1, 30).is_err());
        assert_eq!(memory.needed(), Some(131));
        assert!(
            SideMemory::unlimited()
                .take(usize::MAX, usize::MAX)
                .is_ok()
        );
    }
}
