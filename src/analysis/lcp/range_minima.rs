//! Minimum of a range of values in constant time. It follows from the minima of blocks of 64
//! values, a sparse table over them, and the values at both ends of the range.
//!
//! This is the structure of M. A. Bender and M. Farach-Colton, *The LCA problem revisited*, 2000,
//! without their tables inside blocks: 64 values are four cache lines, and a processor compares
//! these faster than it finds a table.

use super::limits::{check_memory, no_memory};
use super::query_gpu::QueryGpu;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::{self, ExtensionQueries, MinimaArrays};
use crate::options::Options;
use std::ops::Range;

/// Number of values in a block.
const BLOCK: usize = 64;

/// Values with a table that gives the minimum of any range in constant time.
///
/// Each value takes 4 bytes, and 1/16 byte for each power of two up to the number of blocks of 64
/// values: 1.1 bytes a value for 10^7 values, 1.5 for 2^30.
///
/// ```
/// let minima = bwz::lcp::RangeMinima::new(vec![3, 1, 4, 1, 5], &bwz::Options::new())?;
/// assert_eq!(minima.least(2..5), Some(1));
/// assert_eq!(minima.least(4..5), Some(5));
/// assert_eq!(minima.least(2..2), None);
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RangeMinima {
    values: Vec<u32>,
    /// Minima of rows of blocks: `levels[k][b]` is that of the 2^k blocks from `b` on.
    levels: Vec<Vec<u32>>,
    gpu: QueryGpu,
}

impl RangeMinima {
    /// Builds the table in linear time.
    ///
    /// # Errors
    /// [`Error::Limit`] if `Options::memory` allows less than the values and the table take,
    /// [`Error::Io`] if there is no memory, [`Error::Device`] if a GPU is asked for and this build
    /// has no CUDA.
    pub fn new(values: Vec<u32>, options: &Options) -> Result<Self> {
        let blocks = values.len().div_ceil(BLOCK);
        let what = format!("a table of the minima of {} values", values.len());
        check_memory(Self::size(values.len()), options, what)?;
        let mut level = allocation::with_capacity(blocks).ok_or_else(no_memory)?;
        level.extend(values.chunks(BLOCK).map(least_of));
        let mut levels = vec![level];
        for k in 1..levels_of(blocks) {
            let below = &levels[k - 1];
            let half = 1 << (k - 1);
            let mut level = allocation::with_capacity(below.len() - half).ok_or_else(no_memory)?;
            level.extend(
                below
                    .iter()
                    .zip(&below[half..])
                    .map(|(&a, &b)| a.min(b)),
            );
            levels.push(level);
        }
        Ok(RangeMinima {
            values,
            levels,
            gpu: QueryGpu::new(options)?,
        })
    }

    /// Maximum number of bytes that `values` values and their table take.
    #[must_use]
    pub fn size(values: usize) -> u64 {
        let blocks = values.div_ceil(BLOCK);
        4 * (values + blocks * levels_of(blocks)) as u64
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The GPU that may answer queries of these values.
    pub(super) fn gpu(&self) -> &QueryGpu {
        &self.gpu
    }

    /// Returns the least value of a range, or `None` if it is empty.
    ///
    /// # Panics
    /// If the range goes beyond the values.
    #[must_use]
    pub fn least(&self, range: Range<usize>) -> Option<u32> {
        let from = range.start.div_ceil(BLOCK);
        let to = range.end / BLOCK;
        if from >= to {
            return self.values[range].iter().copied().min();
        }
        let level = (to - from).ilog2() as usize;
        let blocks = &self.levels[level];
        let inner = blocks[from].min(blocks[to - (1 << level)]);
        let left = least_of(&self.values[range.start..from * BLOCK]);
        Some(
            inner
                .min(left)
                .min(least_of(&self.values[to * BLOCK..range.end])),
        )
    }

    /// Returns [`RangeMinima::least`] of each range, or `u32::MAX` if it is empty. A range is given
    /// by its start and its end.
    ///
    /// The work is done on as many threads as the options say, or on a GPU if the options of
    /// [`RangeMinima::new`] allow it and there are many ranges.
    ///
    /// ```
    /// # use bwz::Options;
    /// let minima = bwz::lcp::RangeMinima::new(vec![3, 1, 4, 1, 5], &Options::new())?;
    /// assert_eq!(minima.all(&[(0, 1), (2, 5), (3, 3)], &Options::new())?, [3, 1, u32::MAX]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for a range that goes beyond the values, [`Error::Io`] if there is no
    /// memory or no threads can be started.
    pub fn all(&self, ranges: &[(u32, u32)], options: &Options) -> Result<Vec<u32>> {
        let end = self.values.len();
        if let Some((from, to)) = ranges
            .iter()
            .find(|(from, to)| from.max(to) > &(end as u32))
        {
            let what = format!("the range {from}..{to} is not in {end} values");
            return Err(Error::Usage(what.into()));
        }
        let mut found = allocation::zeroed(ranges.len()).ok_or_else(no_memory)?;
        let least = |&(from, to): &(u32, u32)| {
            self.least(from.min(to) as usize..to as usize)
                .unwrap_or(u32::MAX)
        };
        let arrays = |id| MinimaArrays {
            id,
            values: &self.values,
            rows: &[],
        };
        let on_gpu = |gpu: &mut ExtensionQueries, id, found: &mut [u32]| {
            gpu.least(&arrays(id), ranges, found)
        };
        let fits_gpu = end > 0 && end <= gpu::MOST_NARROW as usize;
        let on_gpu = fits_gpu.then_some(on_gpu);
        self.gpu
            .answer(ranges, &mut found, options, on_gpu, least)?;
        Ok(found)
    }
}

fn levels_of(blocks: usize) -> usize {
    blocks
        .checked_ilog2()
        .map_or(0, |log| log as usize + 1)
        .max(1)
}

fn least_of(values: &[u32]) -> u32 {
    values.iter().copied().fold(u32::MAX, u32::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn minima_are_the_naive_ones_of_all_ranges() {
        for len in [0, 1, 63, 64, 65, 128, 300, 517] {
            let values: Vec<u32> = cases::random(len, 251)
                .into_iter()
                .map(u32::from)
                .collect();
            let minima = RangeMinima::new(values.clone(), &Options::new()).unwrap();
            for from in 0..=len {
                for to in from..=len {
                    let expected = values[from..to].iter().copied().min();
                    assert_eq!(minima.least(from..to), expected, "{from}..{to} of {len}");
                }
            }
        }
    }

    /// A million ranges for each length, half of them short.
    #[test]
    fn batches_are_the_naive_ones() {
        let ends = cases::random(8 << 20, 256);
        let options = Options::new().threads(2);
        for len in [0_u32, 1, 200, 20_000] {
            let values = cases::random(len as usize, 251)
                .into_iter()
                .map(u32::from);
            let minima = RangeMinima::new(values.collect(), &Options::new()).unwrap();
            let end = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap()) % (len + 1);
            let ends = ends
                .chunks_exact(8)
                .map(|two| (end(&two[..4]), end(&two[4..])));
            let mut ranges: Vec<_> = ends.collect();
            for (from, to) in ranges.iter_mut().step_by(2) {
                *to = (*from + *to % 300).min(len);
            }
            let found = minima.all(&ranges, &options).unwrap();
            for (&(from, to), found) in ranges.iter().zip(found) {
                let naive = least_of(&minima.values()[from.min(to) as usize..to as usize]);
                assert_eq!(found, naive, "{from}..{to} of {len}");
            }
            assert!(minima.all(&[(0, len + 1)], &options).is_err());
        }
    }

    #[test]
    fn a_table_that_is_not_allowed_is_refused() {
        let options = Options::new().memory(RangeMinima::size(1000) - 1);
        assert!(matches!(
            RangeMinima::new(vec![1; 1000], &options),
            Err(Error::Limit { .. })
        ));
    }
}
