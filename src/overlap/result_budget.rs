//! Memory for results. How many there are shows only as they are found: repeats of thousands of
//! copies match each other millions of times.

use super::sequence_set::SORTING;
use crate::error::{Bound, Error, Result};
use crate::options::Options;
use std::sync::atomic::{AtomicU64, Ordering};

/// Results lie in memory up to so many times: while a list of them grows, while those of all
/// threads are put together, and as what the caller gets.
const TIMES: usize = 4;

/// What all threads together may take.
pub struct Budget {
    /// Bytes for what is there besides.
    before: u64,
    allowed: u64,
    taken: AtomicU64,
}

impl Budget {
    /// What work on `size` bytes of text leaves.
    pub fn new(size: usize, options: &Options) -> Self {
        let (before, allowed) = (SORTING * size as u64, options.memory_limit());
        Budget { before, allowed, taken: AtomicU64::new(0) }
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] where that is more than there are.
    pub fn take(&self, bytes: usize) -> Result<()> {
        let taken = self.taken.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        let needed = self.before + taken;
        if needed <= self.allowed {
            return Ok(());
        }
        let what = "to find more matches, or all of shorter ones,".into();
        Err(Error::Limit { what, needed, allowed: self.allowed, by: Bound::Memory })
    }

    /// Adds a result; room for many is taken at once.
    pub fn push<T>(&self, results: &mut Vec<T>, result: T) -> Result<()> {
        if results.len() == results.capacity() {
            let more = results.len().max(16);
            self.take(TIMES * more * size_of::<T>())?;
            crate::allocation::reserve(results, more)
                .ok_or_else(|| Error::out_of_memory("for the matches"))?;
        }
        results.push(result);
        Ok(())
    }
}
