//! The Burrows-Wheeler transform: a block's text <-> [`Bwt`].
//!
//! This is the middle of the flow: block -> `Bwt` -> coded block, and back. A block here is the
//! text that filters have made of one. [`Sorter`] makes a `Bwt` from it, [`invert`] restores it,
//! and the coder compresses [`Bwt::bytes`], in which equal bytes have come together. Search needs
//! only the `Bwt`, from which the FM-index is made.
//!
//! # The transform
//!
//! Behind the n bytes of a block, imagine a sentinel `$`, smaller than every byte. Sort the n + 1
//! suffixes. A place in that order is a *row*, and a place in the text is a *pos*. The last column
//! L holds, for each row, the byte before its suffix. Here is `banana` at sample rate 2:
//!
//! ```text
//! row  pos  suffix     L                     pos  row
//!   0    6  $          a                       0    4   samples[0], the primary index
//!   1    5  a$         n                       2    6   samples[1]
//!   2    3  ana$       n                       4    5   samples[2]
//!   3    1  anana$     b
//!   4    0  banana$    $   not stored
//!   5    4  na$        a
//!   6    2  nana$      a
//! ```
//!
//! Row 0 is always the sentinel's own. The row with the sentinel in L is the *primary index*, and
//! L is stored without it: `annb` and `aa`, so 6 bytes for 6 bytes of text.
//!
//! ```
//! use bwz::bwt::{Sorter, invert};
//!
//! # fn main() -> Result<(), bwz::Error> {
//! let banana = Sorter::Cpu.sort(b"banana", 2)?;
//! assert_eq!(banana.bytes, b"annbaa");
//! assert_eq!(banana.samples, [4, 6, 5]);
//! assert_eq!(invert(banana)?, b"banana");
//!
//! let mississippi = Sorter::Cpu.sort(b"mississippi", 4)?;
//! assert_eq!(mississippi.bytes, b"ipssmpissii");
//! assert_eq!(mississippi.samples, [5, 3, 7]); // mississippi$, issippi$, ppi$
//! # Ok(())
//! # }
//! ```
//!
//! # The files
//!
//! Memory is given here and below in bytes per byte of the block, including the block and its BWT.
//! `memory::block_need` uses the largest of these figures, and above 2 GiB those of 64 bits.
//!
//! | file | job | memory |
//! |---|---|---|
//! | `suffix_sorter` | block -> [`Bwt`]: the choice of a method; libsais | 6; 10 in 64 bits |
//! | `sort_limits` | the blocks that `prefix_free` and `merge` take | |
//! | `prefix_free` | a block that repeats itself, by its different phrases | < 6 |
//! | `merge` | a block that is alone or above 2 GiB in parallel parts; others as one | 6 |
//! | `inverse` | [`Bwt`] -> block | 5; 6 above 4 GiB |
//! | `byte_sums` | a check if two texts have the same bytes | |
//! | `table_pool` | tables that are read at random | |
//! | `naive` | the definition, for tests | |
//!
//! M. Burrows and D. J. Wheeler, *A block-sorting lossless data compression algorithm*, SRC
//! Research Report 124, 1994.

mod byte_sums;
mod inverse;
pub(crate) mod merge;
#[cfg(test)]
mod naive;
pub(crate) mod prefix_free;
pub(crate) mod sort_limits;
mod suffix_sorter;
pub(crate) mod table_pool;

use crate::base::error::{Error, Result};
#[cfg(test)]
use crate::cases;
use crate::options::MAX_BLOCK_SIZE;
pub(crate) use byte_sums::ByteSums;
pub use inverse::invert;
pub(crate) use inverse::{CpuInverse, could_be_of, count, counts, invert_with_rows};
use rayon::prelude::*;
pub(crate) use suffix_sorter::CpuSorter;
pub use suffix_sorter::Sorter;

/// The Burrows-Wheeler transform of one block, with n the length of the block.
///
/// The fields are public because this type only carries data between modules. A [`Sorter`] keeps
/// the invariants below; [`invert`] checks all of them but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bwt {
    /// The L column without the sentinel: n bytes, 1 <= n <= [`MAX_BLOCK_SIZE`]. Rows before the
    /// primary index have their byte at `bytes[row]`, rows after it at `bytes[row - 1]`. The
    /// primary index has none.
    pub bytes: Vec<u8>,
    /// The distance r between sampled positions: a power of two, 2 <= r <= 2^30.
    pub sample_rate: u32,
    /// `samples[k]` is the row of the suffix at pos k * r: ceil(n / r) rows, each in 1..=n. The
    /// first is the primary index. Each is the end of one lane of [`invert`] and the start of the
    /// next.
    pub samples: Vec<u64>,
}

/// Converts samples from rows in 32 bits to those of a [`Bwt`].
pub(crate) fn wide(samples: Vec<u32>) -> Vec<u64> {
    samples.into_iter().map(u64::from).collect()
}

impl Bwt {
    /// A copy of the BWT, since the inverse consumes its input.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no memory.
    pub(crate) fn copy(&self) -> Result<Bwt> {
        const PIECE: usize = 1 << 20;
        let mut bytes = zeroed(self.bytes.len())?;
        let pieces = bytes
            .par_chunks_mut(PIECE)
            .zip(self.bytes.par_chunks(PIECE));
        pieces.for_each(|(copy, piece)| copy.copy_from_slice(piece));
        Ok(Bwt {
            bytes,
            sample_rate: self.sample_rate,
            samples: self.samples.clone(),
        })
    }
}

/// `len` zeros to be filled with [`Bwt::bytes`], in memory that suits the inverse.
///
/// # Errors
/// [`Error::Io`] if there is no memory.
pub(crate) fn zeroed(len: usize) -> Result<Vec<u8>> {
    crate::base::allocation::zeroed(len).ok_or_else(|| Error::out_of_memory("for a block"))
}

/// The sample rate for a block of `len` bytes: the smallest power of two that gives at most 256
/// samples, but at least 32 Ki and at most 2^30.
///
/// A sample takes about three bytes in the file and gives [`invert`] one more lane, whose memory
/// accesses overlap those of the others. One thread profits from up to 64 lanes, so 256 lanes are
/// enough for a few threads in full and for 32 threads in part. One sample for 32 KiB of text is
/// 0.03 % of the size of compressed text. Blocks of a few lanes are small enough to stay in a
/// cache, with little waiting to overlap.
pub fn sample_rate(len: usize) -> u32 {
    const MAX_SAMPLES: usize = 256;
    const MIN_RATE: u32 = 1 << 15;
    const MAX_RATE: u32 = 1 << 30;
    let rate = len
        .div_ceil(MAX_SAMPLES)
        .min(MAX_RATE as usize)
        .next_power_of_two();
    (rate as u32).max(MIN_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_rates() {
        for len in [1, 1 << 15, 1 << 20, 1 << 23] {
            assert_eq!(sample_rate(len), 1 << 15, "{len}");
        }
        assert_eq!(sample_rate((1 << 23) + 1), 1 << 16);
        assert_eq!(sample_rate(i32::MAX as usize), 1 << 23);
        assert_eq!(sample_rate(10_000_000_000), 1 << 26);
        assert_eq!(sample_rate(MAX_BLOCK_SIZE as usize), 1 << 30);
    }
}
