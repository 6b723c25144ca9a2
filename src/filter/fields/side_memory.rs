//! What a block takes to be put together besides itself and its text: templates, columns, arrays.
//!
//! A few bytes may ask for much of it. It is counted before it is taken, so that whoever restores
//! blocks side by side can make room for one, or refuse it.

use crate::base::error::Flaw;

/// Bytes that may be taken, and those that are.
#[derive(Debug)]
pub struct SideMemory {
    allowed: u64,
    taken: u64,
    /// The bytes that would do, once too many were asked for.
    needed: Option<u64>,
}

impl SideMemory {
    /// A number of bytes.
    pub fn new(allowed: u64) -> Self {
        SideMemory { allowed, taken: 0, needed: None }
    }

    /// As many as it takes.
    pub fn unlimited() -> Self {
        SideMemory::new(u64::MAX)
    }

    /// Takes `bytes`; what comes later takes `more` at most.
    ///
    /// # Errors
    /// A [`Flaw`] where they are not allowed; [`needed`](Self::needed) then says what would do.
    pub fn take(&mut self, bytes: usize, more: usize) -> Result<(), Flaw> {
        self.taken = self.taken.saturating_add(bytes as u64);
        if self.taken <= self.allowed {
            return Ok(());
        }
        self.needed = Some(self.taken.saturating_add(more as u64));
        Err(Flaw("a block of fields takes more memory than is allowed"))
    }

    /// The bytes that would have done where too many were asked for.
    pub fn needed(&self) -> Option<u64> {
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
        assert!(SideMemory::unlimited().take(usize::MAX, usize::MAX).is_ok());
    }
}
