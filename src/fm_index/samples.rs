//! Samples of the suffix array: the rows of the suffixes at regular positions, and back from those
//! rows to their positions.
//!
//! A bit per row marks the sampled ones; the rank of a marked row among them is where its number
//! stands. Ranks are counted from the nearest of regular borders. Per row that takes 1.06 bits, and
//! 64 bits per sample; 1.13 and 128 where positions have 64 bits.

use crate::allocation;
use crate::bwt::cache_lines;
use crate::error::Flaw;
use crate::positions::Row;

/// Rows from one counted rank to the next; 8 words, which are a cache line.
const BORDER: usize = 512;

/// The samples of a block.
#[derive(Debug)]
pub struct Samples<R> {
    pub(super) rate: u32,
    /// Bytes of the block.
    len: usize,
    /// The row of the suffix at each pos `k * rate`.
    rows: Vec<R>,
    /// A bit for each row of the block: whether it is a sampled one.
    pub(super) marks: Vec<u64>,
    /// How many rows are marked above each border.
    pub(super) ranks: Vec<R>,
    /// Of each marked row, which sample it is: its pos is this times the rate.
    pub(super) numbers: Vec<R>,
}

impl<R: Row> Samples<R> {
    /// Takes the row of the suffix at each pos `k * rate`, in a block of `len` bytes.
    pub fn new(rows: Vec<R>, rate: u32, len: usize) -> Result<Self, Flaw> {
        let mut marks = allocation::filled(0_u64, len / 64 + 1).ok_or(Flaw::NO_MEMORY)?;
        for &row in &rows {
            let row = row.get();
            let (word, bit) = (row / 64, 1 << (row % 64));
            if row == 0 || row > len || marks[word] & bit != 0 {
                return Err(Flaw("two samples of the block are one row, or one is none"));
            }
            marks[word] |= bit;
        }
        let mut ranks = allocation::with_capacity(len / BORDER + 1).ok_or(Flaw::NO_MEMORY)?;
        let mut rank = R::default();
        for border in marks.chunks(BORDER / 64) {
            ranks.push(rank);
            rank += R::from(border.iter().map(|word| word.count_ones()).sum());
        }
        let numbers = allocation::filled(R::default(), rows.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut samples = Samples { rate, len, rows, marks, ranks, numbers };
        for number in 0..samples.rows.len() {
            let rank = samples.rank(samples.rows[number].get());
            samples.numbers[rank] = R::new(number);
        }
        Ok(samples)
    }

    /// The distance between sampled positions.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// The row of the suffix at each pos `k * rate`.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// The row of the nearest sample at or behind a pos, or of the end of the block, and its pos.
    pub fn behind(&self, pos: usize) -> (R, usize) {
        let rate = self.rate as usize;
        let number = pos.div_ceil(rate);
        self.rows.get(number).map_or((R::default(), self.len), |&row| (row, number * rate))
    }

    /// The pos of a row, if it is a sampled one.
    #[inline(always)]
    pub fn pos(&self, row: R) -> Option<R> {
        let row = row.get();
        let marked = self.marks[row / 64] >> (row % 64) & 1 == 1;
        marked.then(|| R::new(self.numbers[self.rank(row)].get() * self.rate as usize))
    }

    /// How many rows above `row` are marked.
    #[inline(always)]
    fn rank(&self, row: usize) -> usize {
        let whole = &self.marks[row / BORDER * (BORDER / 64)..row / 64];
        let part = self.marks[row / 64] & ((1 << (row % 64)) - 1);
        let ones = whole.iter().map(|word| word.count_ones()).sum::<u32>() + part.count_ones();
        self.ranks[row / BORDER].get() + ones as usize
    }

    /// Has the line fetched that `pos(row)` reads first.
    #[inline(always)]
    pub fn prefetch(&self, row: R) {
        cache_lines::prefetch(&self.marks, row.get() / 64);
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        8 * self.marks.len()
            + size_of::<R>() * (self.rows.len() + self.ranks.len() + self.numbers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_rows_have_their_pos_and_others_none() {
        let rows_of: Vec<u32> = (0..300).map(|k| 1 + (k * 7919 + 13) % 4001).collect();
        let samples = Samples::new(rows_of.clone(), 8, 4001).unwrap();
        for row in 0..=4001 {
            let number = rows_of.iter().position(|&r| r == row);
            assert_eq!(samples.pos(row), number.map(|k| 8 * k as u32), "{row}");
        }
    }

    #[test]
    fn one_row_is_not_two_samples_and_row_0_is_none() {
        for rows in [vec![5_u32, 5], vec![11], vec![0]] {
            assert!(Samples::new(rows, 2, 10).is_err());
        }
    }
}
