//! Memory for results. Their number is known only when they are found: repeats of thousands of
//! copies match each other millions of times.

use super::sequence_set::SORTING;
use crate::base::error::{Bound, Error, Result};
use crate::options::Options;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of copies of a result in memory: while its list grows, while the lists of all
/// threads are put together, and in the caller's list.
const TIMES: usize = 4;

/// Memory that all threads together may take.
pub(super) struct Budget {
    /// Bytes taken by the text and its arrays.
    before: u64,
    allowed: u64,
    taken: AtomicU64,
}

impl Budget {
    /// Creates the budget that work on `size` bytes of text leaves.
    pub(super) fn new(size: usize, options: &Options) -> Self {
        let before = SORTING * size as u64;
        let allowed = options.memory_limit();
        Budget {
            before,
            allowed,
            taken: AtomicU64::new(0),
        }
    }

    /// Takes `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] if that is more than is left.
    pub(super) fn take(&self, bytes: usize) -> Result<()> {
        let taken = self
            .taken
            .fetch_add(bytes as u64, Ordering::Relaxed)
            + bytes as u64;
        let needed = self.before + taken;
        if needed <= self.allowed {
            return Ok(());
        }
        let what = "to find more matches, or all of shorter ones,".into();
        Err(Error::Limit {
            what,
            needed,
            allowed: self.allowed,
            by: Bound::Memory,
        })
    }

    /// Adds a result. Room for many is taken at once.
    pub(super) fn push<T>(&self, results: &mut Vec<T>, result: T) -> Result<()> {
        if results.len() == results.capacity() {
            let more = results.len().max(16);
            self.take(TIMES * more * size_of::<T>())?;
            crate::base::allocation::reserve(results, more)
                .ok_or_else(|| Error::out_of_memory("for the matches"))?;
        }
        results.push(result);
        Ok(())
    }
}
