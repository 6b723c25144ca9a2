//! The error of a plan that does not fit in a limit.

use super::error::{Bound, Error, Result};

/// A limit that is too low, and the bytes that would be enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub needed: u64,
    pub allowed: u64,
    pub by: Bound,
}

impl Shortage {
    /// The error of a block of `block_size` bytes.
    pub(crate) fn of(self, block_size: u64) -> Error {
        self.error(format!("a block of {block_size} bytes"))
    }

    pub(crate) fn error(self, what: String) -> Error {
        let Shortage {
            needed,
            allowed,
            by,
        } = self;
        Error::Limit {
            what: what.into(),
            needed,
            allowed,
            by,
        }
    }
}

/// Checks that the memory that `what` needs is allowed.
pub(crate) fn check(needed: u64, allowed: u64, what: impl FnOnce() -> String) -> Result<()> {
    if needed <= allowed {
        return Ok(());
    }
    Err(Shortage {
        needed,
        allowed,
        by: Bound::Memory,
    }
    .error(what()))
}
