//! Samples of the suffix array: the rows of the suffixes at regular positions, and the map from
//! those rows back to their positions.
//!
//! A bit per row marks the sampled ones; the rank of a marked row among them is the index of its
//! sample number. Ranks are counted from the nearest of regular borders. That takes 1.06 bits per
//! row and 64 bits per sample, or 1.13 and 128 if positions have 64 bits. The map is made when it
//! is first needed: counting needs only rows.

use crate::base::allocation;
use crate::base::cache_lines;
use crate::base::error::Flaw;
use crate::base::positions::Row;
use rayon::prelude::*;

/// Rows from one border to the next: 8 words of marks, which are a cache line.
const BORDER: usize = 512;

/// Rows whose marks and numbers a thread fills at a time; they fit in its cache.
const STRETCH: usize = BORDER << 10;

/// Minimum number of samples that a thread partitions at a time.
const PART: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };
/// Minimum number of samples that a thread partitions at a time, per stretch.
const PER_STRETCH: usize = 64;

/// Two samples are never the same row in an intact block.
const ONE_ROW: Flaw = Flaw("two samples of the block are the same row, or one is not a row");

/// The rows of the suffixes at regular positions.
#[derive(Debug)]
pub(crate) struct SampledRows<R> {
    rate: u32,
    /// Size of the block in bytes.
    len: usize,
    /// The row of the suffix at each position `k * rate`.
    rows: Vec<R>,
}

impl<R: Row> SampledRows<R> {
    /// Takes the row of the suffix at each position `k * rate` of a block of `len` bytes.
    pub(crate) fn new(rows: Vec<R>, rate: u32, len: usize) -> Self {
        SampledRows { rate, len, rows }
    }

    /// The distance between sampled positions.
    pub(crate) fn rate(&self) -> u32 {
        self.rate
    }

    /// The row of the suffix at each position `k * rate`.
    pub(crate) fn rows(&self) -> &[R] {
        &self.rows
    }

    /// The row and the position of the nearest sample at or behind `pos`, or else of the end of the
    /// block.
    pub(crate) fn behind(&self, pos: usize) -> (R, usize) {
        let rate = self.rate as usize;
        let number = pos.div_ceil(rate);
        self.rows
            .get(number)
            .map_or((R::default(), self.len), |&row| (row, number * rate))
    }

    /// Size in memory in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of::<R>() * self.rows.len()
    }

    /// Makes the map from rows to positions, on all threads of the current rayon pool. Samples are
    /// first partitioned by the stretches that their rows are in, so that the arrays of a large
    /// block are not accessed at random.
    ///
    /// # Errors
    /// A flaw if two samples are the same row, or if one is row 0 or not in the block.
    pub(crate) fn positions(&self) -> Result<SampledPositions<R>, Flaw> {
        let mut marks = allocation::zeroed(self.len / 64 + 1).ok_or(Flaw::NO_MEMORY)?;
        let borders = marks.len().div_ceil(BORDER / 64);
        let mut ranks = allocation::zeroed(borders).ok_or(Flaw::NO_MEMORY)?;
        let mut numbers = allocation::zeroed(self.rows.len()).ok_or(Flaw::NO_MEMORY)?;
        // So few parts that their arrays of stretches are small compared with their samples.
        let size = PART.max(PER_STRETCH * (self.len / STRETCH));
        let parts = self.rows.par_chunks(size).enumerate();
        let parted = parts.map(|(n, rows)| PartedSamples::new(rows, n * size, self.len));
        let parted: Vec<PartedSamples<R>> = parted.collect::<Result<_, _>>()?;
        let mut stretches = Vec::new();
        let mut unnumbered = &mut numbers[..];
        let mut above = 0;
        let arrays = marks
            .chunks_mut(STRETCH / 64)
            .zip(ranks.chunks_mut(STRETCH / BORDER));
        for (n, (marks, ranks)) in arrays.enumerate() {
            let count = parted
                .iter()
                .map(|part| part.of_stretch(n).len())
                .sum::<usize>();
            let numbers = unnumbered
                .split_off_mut(..count)
                .expect("each sample has a stretch");
            stretches.push((
                n,
                Stretch {
                    above,
                    marks,
                    ranks,
                    numbers,
                },
            ));
            above += count;
        }
        let fill = |(n, mut stretch): (usize, Stretch<R>)| {
            stretch.fill(|| parted.iter().flat_map(|part| part.of_stretch(n)))
        };
        stretches.into_par_iter().try_for_each(fill)?;
        Ok(SampledPositions {
            rate: self.rate,
            marks,
            ranks,
            numbers,
        })
    }
}

/// Maximum size in bytes of `count` samples of a block of `len` bytes and their positions.
pub(super) fn most_bytes<R>(count: usize, len: usize) -> usize {
    8 * (len / 64 + 1) + size_of::<R>() * (2 * count + len / BORDER + 1)
}

/// Some samples, grouped by the stretches of rows that they are in.
struct PartedSamples<R> {
    /// For each sample its row in its stretch, and its number.
    samples: Vec<(u32, R)>,
    /// End of the samples of each stretch.
    ends: Vec<usize>,
}

impl<R: Row> PartedSamples<R> {
    /// Partitions the samples from number `first` on, of a block of `len` bytes.
    fn new(rows: &[R], first: usize, len: usize) -> Result<Self, Flaw> {
        if !rows
            .iter()
            .all(|row| (1..=len).contains(&row.get()))
        {
            return Err(ONE_ROW);
        }
        let mut starts = allocation::filled(0, len / STRETCH + 2).ok_or(Flaw::NO_MEMORY)?;
        rows.iter()
            .for_each(|row| starts[row.get() / STRETCH + 1] += 1);
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let none = (0, R::default());
        let mut samples = allocation::filled(none, rows.len()).ok_or(Flaw::NO_MEMORY)?;
        for (number, row) in (first..).zip(rows) {
            let next = &mut starts[row.get() / STRETCH];
            samples[*next] = ((row.get() % STRETCH) as u32, R::new(number));
            *next += 1;
        }
        // Each start has become the end of its stretch.
        Ok(PartedSamples {
            samples,
            ends: starts,
        })
    }

    fn of_stretch(&self, n: usize) -> &[(u32, R)] {
        let start = n
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.samples[start..self.ends[n]]
    }
}

/// A stretch of rows, in which those of samples are to be marked.
struct Stretch<'a, R> {
    /// Number of marked rows before it.
    above: usize,
    marks: &'a mut [u64],
    ranks: &'a mut [R],
    numbers: &'a mut [R],
}

impl<R: Row> Stretch<'_, R> {
    /// Marks the rows of its samples, counts the marked rows before each border, and puts the
    /// numbers of the samples in the order of their rows.
    fn fill<'s, S: Iterator<Item = &'s (u32, R)>>(
        &mut self,
        samples: impl Fn() -> S,
    ) -> Result<(), Flaw> {
        for &(row, _) in samples() {
            let mark = &mut self.marks[row as usize / 64];
            let bit = 1 << (row % 64);
            if *mark & bit != 0 {
                return Err(ONE_ROW);
            }
            *mark |= bit;
        }
        let mut above = self.above;
        for (rank, marks) in self
            .ranks
            .iter_mut()
            .zip(self.marks.chunks(BORDER / 64))
        {
            *rank = R::new(above);
            above += marks
                .iter()
                .map(|mark| mark.count_ones() as usize)
                .sum::<usize>();
        }
        for &(row, number) in samples() {
            let place = rank(self.marks, self.ranks, row as usize) - self.above;
            self.numbers[place] = number;
        }
        Ok(())
    }
}

/// Number of marked rows before `row`.
#[inline(always)]
fn rank<R: Row>(marks: &[u64], ranks: &[R], row: usize) -> usize {
    let whole = &marks[row / BORDER * (BORDER / 64)..row / 64];
    let part = marks[row / 64] & ((1 << (row % 64)) - 1);
    let ones = whole
        .iter()
        .map(|word| word.count_ones())
        .sum::<u32>()
        + part.count_ones();
    ranks[row / BORDER].get() + ones as usize
}

/// The positions of sampled rows.
#[derive(Debug)]
pub(crate) struct SampledPositions<R> {
    pub(super) rate: u32,
    /// A bit for each row of the block, set if the row is sampled.
    pub(super) marks: Vec<u64>,
    /// Number of marked rows before each border.
    pub(super) ranks: Vec<R>,
    /// For each marked row its sample number: its position is this times the rate.
    pub(super) numbers: Vec<R>,
}

impl<R: Row> SampledPositions<R> {
    /// The position of a row, if it is sampled.
    #[inline(always)]
    pub(crate) fn pos(&self, row: R) -> Option<R> {
        self.place(row).map(|place| self.at(place))
    }

    /// The index of a row's sample number, if it is sampled.
    #[inline(always)]
    pub(crate) fn place(&self, row: R) -> Option<usize> {
        let row = row.get();
        let marked = self.marks[row / 64] >> (row % 64) & 1 == 1;
        marked.then(|| rank(&self.marks, &self.ranks, row))
    }

    /// The position of the sampled row whose number is at index `place`.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> R {
        R::new(self.numbers[place].get() * self.rate as usize)
    }

    /// Prefetches the line that `at(place)` reads.
    #[inline(always)]
    pub(crate) fn prefetch_at(&self, place: usize) {
        cache_lines::prefetch(&self.numbers, place);
    }

    /// Prefetches the line that `pos(row)` reads first.
    #[inline(always)]
    pub(crate) fn prefetch(&self, row: R) {
        cache_lines::prefetch(&self.marks, row.get() / 64);
    }

    /// Size in memory in bytes.
    pub(crate) fn size(&self) -> usize {
        8 * self.marks.len() + size_of::<R>() * (self.ranks.len() + self.numbers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_rows_have_their_pos_and_others_none() {
        let rows_of: Vec<u32> = (0..300)
            .map(|k| 1 + (k * 7919 + 13) % 4001)
            .collect();
        let samples = SampledRows::new(rows_of.clone(), 8, 4001)
            .positions()
            .unwrap();
        for row in 0..=4001 {
            let number = rows_of.iter().position(|&r| r == row);
            assert_eq!(samples.pos(row), number.map(|k| 8 * k as u32), "{row}");
        }
    }

    #[test]
    fn rows_of_many_stretches_are_marked() {
        let len = 3 * STRETCH + 77;
        let rows: Vec<u64> = (0..len.div_ceil(32) as u64)
            .map(|k| 1 + k * 7919 % len as u64)
            .collect();
        let positions = SampledRows::new(rows.clone(), 32, len)
            .positions()
            .unwrap();
        let mut pos = vec![None; len + 1];
        (0..)
            .zip(&rows)
            .for_each(|(k, &row)| pos[row as usize] = Some(32 * k));
        assert!((0..=len as u64).all(|row| positions.pos(row) == pos[row as usize]));
    }

    #[test]
    fn one_row_is_not_two_samples_and_row_0_is_none() {
        for rows in [vec![5_u32, 5], vec![11], vec![0]] {
            assert!(SampledRows::new(rows, 2, 10).positions().is_err());
        }
        // In two parts.
        let len = 4 * PART;
        let mut rows: Vec<u32> = (0..len as u32 / 2).map(|k| 2 * k + 1).collect();
        assert!(
            SampledRows::new(rows.clone(), 2, len)
                .positions()
                .is_ok()
        );
        rows[PART + 3] = rows[3];
        assert!(
            SampledRows::new(rows, 2, len)
                .positions()
                .is_err()
        );
    }
}
