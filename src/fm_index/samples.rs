//! Samples of the suffix array: the rows of the suffixes at regular positions, and back from those
//! rows to their positions.
//!
//! A bit per row marks the sampled ones; the rank of a marked row among them is where its number
//! stands. Ranks are counted from the nearest of regular borders. Per row that takes 1.06 bits, and
//! 64 bits per sample.

use crate::allocation;
use crate::bwt::cache_lines;
use crate::error::Flaw;

/// Rows from one counted rank to the next; 8 words, which are a cache line.
const BORDER: usize = 512;

/// The samples of a block.
#[derive(Debug)]
pub struct Samples {
    pub(super) rate: u32,
    /// Bytes of the block.
    len: usize,
    /// The row of the suffix at each pos `k * rate`.
    rows: Vec<u32>,
    /// A bit for each row of the block: whether it is a sampled one.
    pub(super) marks: Vec<u64>,
    /// How many rows are marked above each border.
    pub(super) ranks: Vec<u32>,
    /// Of each marked row, which sample it is: its pos is this times the rate.
    pub(super) numbers: Vec<u32>,
}

impl Samples {
    /// Takes the row of the suffix at each pos `k * rate`, in a block of `len` bytes.
    pub fn new(rows: Vec<u32>, rate: u32, len: usize) -> Result<Self, Flaw> {
        let mut marks = allocation::filled(0_u64, len / 64 + 1).ok_or(Flaw::NO_MEMORY)?;
        for &row in &rows {
            let (word, bit) = (row as usize / 64, 1 << (row % 64));
            if row == 0 || row as usize > len || marks[word] & bit != 0 {
                return Err(Flaw("two samples of the block are one row, or one is none"));
            }
            marks[word] |= bit;
        }
        let mut ranks = allocation::with_capacity(len / BORDER + 1).ok_or(Flaw::NO_MEMORY)?;
        let mut rank = 0;
        for border in marks.chunks(BORDER / 64) {
            ranks.push(rank);
            rank += border.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        let numbers = allocation::filled(0, rows.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut samples = Samples { rate, len, rows, marks, ranks, numbers };
        for number in 0..samples.rows.len() {
            let rank = samples.rank(samples.rows[number] as usize);
            samples.numbers[rank] = number as u32;
        }
        Ok(samples)
    }

    /// The distance between sampled positions.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// The row of the suffix at each pos `k * rate`.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The row of the nearest sample at or behind a pos, or of the end of the block, and its pos.
    pub fn behind(&self, pos: usize) -> (u32, usize) {
        let rate = self.rate as usize;
        let number = pos.div_ceil(rate);
        self.rows.get(number).map_or((0, self.len), |&row| (row, number * rate))
    }

    /// The pos of a row, if it is a sampled one.
    #[inline(always)]
    pub fn pos(&self, row: u32) -> Option<u32> {
        let row = row as usize;
        let marked = self.marks[row / 64] >> (row % 64) & 1 == 1;
        marked.then(|| self.numbers[self.rank(row)] * self.rate)
    }

    /// How many rows above `row` are marked.
    #[inline(always)]
    fn rank(&self, row: usize) -> usize {
        let whole = &self.marks[row / BORDER * (BORDER / 64)..row / 64];
        let part = self.marks[row / 64] & ((1 << (row % 64)) - 1);
        let ones = whole.iter().map(|word| word.count_ones()).sum::<u32>() + part.count_ones();
        (self.ranks[row / BORDER] + ones) as usize
    }

    /// Has the line fetched that `pos(row)` reads first.
    #[inline(always)]
    pub fn prefetch(&self, row: u32) {
        cache_lines::prefetch(&self.marks, row as usize / 64);
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        8 * self.marks.len() + 4 * (self.rows.len() + self.ranks.len() + self.numbers.len())
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
        for rows in [vec![5, 5], vec![11], vec![0]] {
            assert!(Samples::new(rows, 2, 10).is_err());
        }
    }
}
