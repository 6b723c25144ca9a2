//! From some rows to their positions: the suffix array at every sampled pos, in the order of rows.
//!
//! A bit per row marks the sampled ones; the rank of a marked row among them is where its pos
//! stands. Ranks are counted from the nearest of regular borders. Per row that takes 1.06 bits, and
//! 32 bits per sample.

use crate::allocation;
use crate::error::Flaw;
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;

/// Rows from one counted rank to the next; 8 words, which are a cache line.
const BORDER: usize = 512;

/// The sampled rows of a block.
#[derive(Debug)]
pub struct Samples {
    pub(super) rate: u32,
    pub(super) marks: BitVec<u64, Lsb0>,
    /// How many rows are marked above each border.
    pub(super) ranks: Vec<u32>,
    /// Of each marked row, which sample it is: its pos is this times the rate.
    pub(super) numbers: Vec<u32>,
}

impl Samples {
    /// Takes the row of the suffix at each pos `k * rate`, in a block of `rows` rows.
    pub fn new(rows_of: &[u32], rate: u32, rows: usize) -> Result<Self, Flaw> {
        let words = allocation::filled(0_u64, rows.div_ceil(64)).ok_or(Flaw::NO_MEMORY)?;
        let mut marks: BitVec<u64, Lsb0> = BitVec::from_vec(words);
        marks.truncate(rows);
        for &row in rows_of {
            if row as usize >= rows || marks.replace(row as usize, true) {
                return Err(Flaw("two samples of the block are one row, or one is none"));
            }
        }
        let mut ranks = allocation::with_capacity(rows / BORDER + 1).ok_or(Flaw::NO_MEMORY)?;
        let mut rank = 0;
        for border in marks.as_raw_slice().chunks(BORDER / 64) {
            ranks.push(rank);
            rank += border.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        let numbers = allocation::filled(0, rows_of.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut samples = Samples { rate, marks, ranks, numbers };
        for (&row, number) in rows_of.iter().zip(0..) {
            let rank = samples.rank(row as usize);
            samples.numbers[rank] = number;
        }
        Ok(samples)
    }

    /// The distance between sampled positions.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// The pos of a row, if it is a sampled one.
    #[inline(always)]
    pub fn pos(&self, row: u32) -> Option<u32> {
        let row = row as usize;
        let word = self.marks.as_raw_slice()[row / 64];
        (word >> (row % 64) & 1 == 1).then(|| self.numbers[self.rank(row)] * self.rate)
    }

    /// How many rows above `row` are marked.
    #[inline(always)]
    fn rank(&self, row: usize) -> usize {
        let words = self.marks.as_raw_slice();
        let whole = &words[row / BORDER * (BORDER / 64)..row / 64];
        let part = words[row / 64] & ((1 << (row % 64)) - 1);
        let ones = whole.iter().map(|word| word.count_ones()).sum::<u32>() + part.count_ones();
        (self.ranks[row / BORDER] + ones) as usize
    }

    /// Has the line fetched that `pos(row)` reads first.
    #[inline(always)]
    pub fn prefetch(&self, row: u32) {
        crate::bwt::cache_lines::prefetch(self.marks.as_raw_slice(), row as usize / 64);
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.marks.len() / 8 + 4 * self.ranks.len() + 4 * self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_rows_have_their_pos_and_others_none() {
        let rows_of: Vec<u32> = (0..300).map(|k| (k * 7919 + 13) % 4001).collect();
        let samples = Samples::new(&rows_of, 8, 4001).unwrap();
        for row in 0..4001 {
            let number = rows_of.iter().position(|&r| r == row);
            assert_eq!(samples.pos(row), number.map(|k| 8 * k as u32), "{row}");
        }
    }

    #[test]
    fn one_row_is_not_two_samples() {
        assert!(Samples::new(&[5, 5], 2, 10).is_err());
        assert!(Samples::new(&[10], 2, 10).is_err());
    }
}
