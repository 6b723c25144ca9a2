//! How often each byte occurs above each slice of a block: all that rank needs of the slices that
//! are not decoded. 1 KiB per slice, or 2 where the block is so large that counts need 64 bits.

use crate::error::Flaw;
use crate::fm_index::Row;
use crate::frame::BlockIndex;
use crate::positions::{ByWidth, by_width};

/// Occurrences of each byte above each slice, and behind the last one, in all.
pub type CountsAbove = ByWidth<Vec<[u32; 256]>, Vec<[u64; 256]>>;

impl CountsAbove {
    /// Sums up those of an index; checks that each slice is as full as it must be, given where
    /// slices start and the last one ends.
    pub fn new(index: &BlockIndex, starts: &[u64], wide: bool) -> Result<Self, Flaw> {
        Ok(match wide {
            false => CountsAbove::Narrow(accumulate(index, starts)?),
            true => CountsAbove::Wide(accumulate(index, starts)?),
        })
    }

    /// Occurrences of `c` above slice `k`.
    pub fn get(&self, k: usize, c: u8) -> u64 {
        by_width!(self, above => above[k][usize::from(c)].get() as u64)
    }

    /// Occurrences of each byte above slice `k`.
    pub fn all(&self, k: usize) -> [u64; 256] {
        std::array::from_fn(|c| self.get(k, c as u8))
    }
}

fn accumulate<R: Row>(index: &BlockIndex, starts: &[u64]) -> Result<Vec<[R; 256]>, Flaw> {
    let mut above = vec![[R::default(); 256]; starts.len()];
    for (c, counts) in index.counts.rows() {
        for (k, &count) in counts.iter().enumerate() {
            let sum = above[k][usize::from(c)].get() + count as usize;
            above[k + 1][usize::from(c)] = R::new(sum.min(R::ABOVE.get()));
        }
    }
    let sum = |counts: &[R; 256]| counts.iter().map(|&count| count.into()).sum::<u64>();
    if above.iter().map(sum).eq(starts.iter().copied()) {
        return Ok(above);
    }
    Err(Flaw("the index's counts do not add up to the block's slices"))
}
