//! rank(c, at): the number of bytes c among the first `at` bytes of a BWT. It is the only operation
//! that backward search and walks along LF need. `layout` chooses the implementation.

use crate::base::error::Error;
use crate::base::positions::Row;

/// A BWT that counts its bytes. `at` is at most the number n of bytes, and below n for
/// [`Rank::byte`].
pub(super) trait Rank<R: Row>: Sync {
    /// Number of `c` among the first `at` bytes; `c` occurs in the BWT.
    fn rank(&self, c: u8, at: usize) -> R;

    /// The ranks at both ends of an interval, `lo <= hi`: they often lie in one cache line.
    fn rank_pair(&self, c: u8, lo: usize, hi: usize) -> (R, R);

    /// The byte at index `at`.
    fn byte(&self, at: usize) -> u8;

    /// Fills `bytes` with the first bytes of the BWT, on all threads of the current rayon pool.
    fn copy_to(&self, bytes: &mut [u8]);

    /// Prefetches the lines that `rank(c, at)` will read.
    fn prefetch(&self, c: u8, at: usize);

    /// Prefetches the line that `byte(at)` will read.
    fn prefetch_byte(&self, at: usize);

    /// Size in memory in bytes.
    fn size(&self) -> usize;
}

pub(super) fn no_memory() -> Error {
    Error::out_of_memory("for a search index")
}
