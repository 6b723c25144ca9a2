//! Samples of the suffix array: the rows of the suffixes at regular positions, and back from those
//! rows to their positions.
//!
//! A bit per row marks the sampled ones; the rank of a marked row among them is where its number
//! stands. Ranks are counted from the nearest of regular borders. Per row that takes 1.06 bits, and
//! 64 bits per sample; 1.13 and 128 where positions have 64 bits. The way back is made when it is
//! first wanted: to count takes rows alone.

use crate::allocation;
use crate::bwt::cache_lines;
use crate::error::Flaw;
use crate::positions::Row;
use rayon::prelude::*;

/// Rows from one counted rank to the next; 8 words, which are a cache line.
const BORDER: usize = 512;

/// Borders of which a thread marks the rows at a time.
const STRETCH: usize = 1 << 10;

/// What two samples of an intact block never are.
const ONE_ROW: Flaw = Flaw("two samples of the block are one row, or one is none");

/// The rows of the suffixes at regular positions.
#[derive(Debug)]
pub struct SampledRows<R> {
    rate: u32,
    /// Bytes of the block.
    len: usize,
    /// The row of the suffix at each pos `k * rate`.
    rows: Vec<R>,
}

impl<R: Row> SampledRows<R> {
    /// Takes the row of the suffix at each pos `k * rate`, in a block of `len` bytes.
    pub fn new(rows: Vec<R>, rate: u32, len: usize) -> Self {
        SampledRows { rate, len, rows }
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

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        size_of::<R>() * self.rows.len()
    }

    /// The way back, on all threads of the current rayon pool: samples are sorted by their rows, so
    /// that marks of a large block are not touched at random.
    ///
    /// # Errors
    /// A flaw where two samples are one row, or one is row 0 or none of the block's.
    pub fn positions(&self) -> Result<SampledPositions<R>, Flaw> {
        let mut numbers =
            allocation::filled(R::default(), self.rows.len()).ok_or(Flaw::NO_MEMORY)?;
        numbers.par_iter_mut().enumerate().for_each(|(number, to)| *to = R::new(number));
        let row = |number: &R| self.rows[number.get()].get();
        numbers.par_sort_unstable_by_key(row);
        let is_row = |number: &R| (1..=self.len).contains(&row(number));
        let are_rows = numbers.first().is_none_or(is_row) && numbers.last().is_none_or(is_row);
        if !are_rows || numbers.par_windows(2).any(|pair| row(&pair[0]) == row(&pair[1])) {
            return Err(ONE_ROW);
        }
        let mut marks = allocation::zeroed(self.len / 64 + 1).ok_or(Flaw::NO_MEMORY)?;
        let borders = marks.len().div_ceil(BORDER / 64);
        let mut ranks = allocation::filled(R::default(), borders).ok_or(Flaw::NO_MEMORY)?;
        let stretches = marks.par_chunks_mut(STRETCH * BORDER / 64);
        stretches.zip(ranks.par_chunks_mut(STRETCH)).enumerate().for_each(|(n, (marks, ranks))| {
            let start = n * STRETCH * BORDER;
            let rank = numbers.partition_point(|number| row(number) < start);
            mark(numbers[rank..].iter().map(|number| row(number) - start), rank, marks, ranks);
        });
        Ok(SampledPositions { rate: self.rate, marks, ranks, numbers })
    }
}

/// Marks the sampled rows of a stretch, counted from its first and in order, and counts those above
/// each of its borders, of which `rank` are above the stretch.
fn mark<R: Row>(
    rows: impl Iterator<Item = usize>,
    mut rank: usize,
    marks: &mut [u64],
    ranks: &mut [R],
) {
    let mut rows = rows.peekable();
    for (n, (marks, above)) in marks.chunks_mut(BORDER / 64).zip(ranks).enumerate() {
        *above = R::new(rank);
        let start = n * BORDER;
        while let Some(row) = rows.next_if(|&row| row < start + BORDER) {
            let bit = row - start;
            marks[bit / 64] |= 1 << (bit % 64);
            rank += 1;
        }
    }
}

/// The positions of sampled rows.
#[derive(Debug)]
pub struct SampledPositions<R> {
    pub(super) rate: u32,
    /// A bit for each row of the block: whether it is a sampled one.
    pub(super) marks: Vec<u64>,
    /// How many rows are marked above each border.
    pub(super) ranks: Vec<R>,
    /// Of each marked row, which sample it is: its pos is this times the rate.
    pub(super) numbers: Vec<R>,
}

impl<R: Row> SampledPositions<R> {
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
        8 * self.marks.len() + size_of::<R>() * (self.ranks.len() + self.numbers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_rows_have_their_pos_and_others_none() {
        let rows_of: Vec<u32> = (0..300).map(|k| 1 + (k * 7919 + 13) % 4001).collect();
        let samples = SampledRows::new(rows_of.clone(), 8, 4001).positions().unwrap();
        for row in 0..=4001 {
            let number = rows_of.iter().position(|&r| r == row);
            assert_eq!(samples.pos(row), number.map(|k| 8 * k as u32), "{row}");
        }
    }

    #[test]
    fn rows_of_many_stretches_are_marked() {
        let len = 3 * STRETCH * BORDER + 77;
        let rows: Vec<u64> =
            (0..len.div_ceil(32) as u64).map(|k| 1 + k * 7919 % len as u64).collect();
        let positions = SampledRows::new(rows.clone(), 32, len).positions().unwrap();
        let mut pos = vec![None; len + 1];
        (0..).zip(&rows).for_each(|(k, &row)| pos[row as usize] = Some(32 * k));
        assert!((0..=len as u64).all(|row| positions.pos(row) == pos[row as usize]));
    }

    #[test]
    fn one_row_is_not_two_samples_and_row_0_is_none() {
        for rows in [vec![5_u32, 5], vec![11], vec![0]] {
            assert!(SampledRows::new(rows, 2, 10).positions().is_err());
        }
    }
}
