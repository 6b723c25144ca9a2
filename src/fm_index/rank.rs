//! rank(c, at): how often byte c stands among the first `at` bytes of a transform; the one question
//! that backward search and walks along LF ask. `layout` chooses who answers it.

use crate::error::Error;
use crate::positions::Row;

/// A transform that counts its bytes. `at` is at most the number n of bytes, below n for
/// [`Rank::byte`].
pub trait Rank<R: Row>: Sync {
    /// Occurrences of `c`, which occurs somewhere, among the first `at` bytes.
    fn rank(&self, c: u8, at: usize) -> R;

    /// Both ends of an interval at once, `lo <= hi`: they often lie in one cache line.
    fn rank_pair(&self, c: u8, lo: usize, hi: usize) -> (R, R);

    /// The byte at a position.
    fn byte(&self, at: usize) -> u8;

    /// Writes the first bytes, as many as there are places for, on all threads of the current rayon
    /// pool.
    fn copy_to(&self, bytes: &mut [u8]);

    /// Has the lines fetched that `rank(c, at)` will read.
    fn prefetch(&self, c: u8, at: usize);

    /// Has the line fetched that `byte(at)` will read.
    fn prefetch_byte(&self, at: usize);

    /// Bytes of memory.
    fn size(&self) -> usize;
}

pub fn no_memory() -> Error {
    Error::out_of_memory("for a search index")
}
