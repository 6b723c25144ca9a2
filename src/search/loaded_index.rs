//! The index of a block in memory, with positions of 32 or 64 bits.

use super::class_search::BackwardSteps;
use crate::base::error::Result;
use crate::base::positions::{ByWidth, NarrowLimits, by_width};
use crate::bwt::Bwt;
use crate::engine::device_pool::Lease;
use crate::fm_index::{FmIndex, Row};
use crate::gpu::GpuSearch;
use rayon::prelude::*;
use std::ops::Range;

/// The GPU that searches blocks in memory, or `None` if the CPU does.
pub(super) type GpuLease<'a> = Option<Lease<'a, GpuSearch>>;

/// An [`FmIndex`] with rows of 32 or of 64 bits.
pub(crate) type LoadedIndex = ByWidth<Box<FmIndex>, Box<FmIndex<u64>>>;

impl LoadedIndex {
    /// Builds the index of a transform.
    pub(crate) fn new(bwt: Bwt, narrow: NarrowLimits) -> Result<Self> {
        Ok(match bwt.bytes.len() <= narrow.others {
            true => LoadedIndex::Narrow(Box::new(FmIndex::new(bwt)?)),
            false => LoadedIndex::Wide(Box::new(FmIndex::wide(bwt)?)),
        })
    }

    /// Bytes of the block.
    pub(crate) fn len(&self) -> usize {
        by_width!(self, index => index.len())
    }

    /// Size in memory in bytes.
    pub(crate) fn size(&self) -> usize {
        by_width!(self, index => index.size())
    }

    /// The mean number of steps from a row to a sampled one.
    pub(crate) fn steps_to_sample(&self) -> u64 {
        by_width!(self, index => index.steps_to_sample())
    }

    /// Returns the index with denser samples.
    pub(crate) fn with_sample_rate(self, rate: u32) -> Result<Self> {
        Ok(match self {
            LoadedIndex::Narrow(index) => {
                LoadedIndex::Narrow(Box::new(index.with_sample_rate(rate)?))
            }
            LoadedIndex::Wide(index) => LoadedIndex::Wide(Box::new(index.with_sample_rate(rate)?)),
        })
    }

    /// Adds the text and denser samples.
    pub(crate) fn add_text(&mut self, rate: u32) -> Result<()> {
        by_width!(self, index => index.add_text(rate))
    }

    /// Bytes of memory with the text and denser samples, or `None` if the index has the text.
    pub(crate) fn size_with_text(&self, rate: u32) -> Option<usize> {
        by_width!(self, index => (!index.has_text()).then(|| index.size_with_text(rate)))
    }

    /// Returns a range of the block's bytes.
    pub(crate) fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        by_width!(self, index => index.extract(range))
    }

    /// The interval of each pattern. A GPU searches blocks of up to 4 GiB.
    pub(crate) fn intervals<P: AsRef<[u8]> + Sync>(
        &self,
        patterns: &[P],
        lease: &mut GpuLease,
    ) -> Vec<Range<u64>> {
        match self {
            LoadedIndex::Narrow(index) => {
                let intervals = intervals_on_gpu(index, patterns, lease);
                wide(intervals.unwrap_or_else(|| intervals_on_cpu(index, patterns)))
            }
            LoadedIndex::Wide(index) => intervals_on_cpu(index, patterns),
        }
    }

    /// Number of occurrences of each pattern. A GPU counts the rows of the intervals; the CPU may
    /// count by the text.
    pub(crate) fn counts<P: AsRef<[u8]> + Sync>(
        &self,
        patterns: &[P],
        lease: &mut GpuLease,
    ) -> Result<Vec<u64>> {
        let index = match self {
            LoadedIndex::Narrow(index) => index,
            LoadedIndex::Wide(index) => return index.count_all(patterns),
        };
        let on_gpu = lease.as_mut().and_then(|lease| {
            lease.run(|gpu| {
                if !index.fits(gpu)? {
                    return Ok(None);
                }
                let mut counts = vec![0; patterns.len()];
                gpu.search(
                    &index.arrays(patterns.len())?,
                    patterns,
                    &mut counts,
                    rows_in,
                )?;
                Ok(are_counts(&counts, index).then_some(counts))
            })
        });
        match done(on_gpu) {
            Some(counts) => Ok(counts),
            None => Ok(index
                .count_all(patterns)?
                .into_par_iter()
                .map(u64::from)
                .collect()),
        }
    }

    /// The position of each row, in the same order.
    pub(crate) fn positions(&self, rows: &[u64], lease: &mut GpuLease) -> Result<Vec<u64>> {
        let index = match self {
            LoadedIndex::Narrow(index) => index,
            LoadedIndex::Wide(index) => return index.positions(rows),
        };
        let rows: Vec<u32> = rows.par_iter().map(|&row| row as u32).collect();
        let on_gpu = lease.as_mut().and_then(|lease| {
            lease.run(|gpu| match index.fits(gpu)? {
                true => index.positions_on(gpu, &rows).map(Some),
                false => Ok(None),
            })
        });
        let positions = done(on_gpu).map_or_else(|| index.positions(&rows), Ok)?;
        Ok(positions.into_par_iter().map(u64::from).collect())
    }
}

/// The result of work on a GPU. `None` if the CPU has to do the work: there is no GPU, the GPU
/// fails, it cannot hold the index, or it finds that the index contradicts itself. In the last case
/// only the CPU can tell whether the index is damaged.
fn done<T>(outcome: Option<Result<Option<T>>>) -> Option<T> {
    outcome?.ok()?
}

/// Number of rows of an interval. An interval that ends before it begins has more rows than any
/// index.
fn rows_in(interval: Range<u32>) -> u64 {
    interval
        .end
        .checked_sub(interval.start)
        .map_or(u64::MAX, u64::from)
}

/// Returns true if all numbers may be counts of patterns in an index.
fn are_counts(counts: &[u64], index: &FmIndex) -> bool {
    counts
        .par_iter()
        .all(|&count| count <= index.len() as u64 + 1)
}

impl BackwardSteps for LoadedIndex {
    fn rows(&self) -> Range<u64> {
        0..self.len() as u64 + 1
    }

    fn has(&self, symbol: u8) -> bool {
        by_width!(self, index => index.has(symbol))
    }

    fn steps(&self, asked: &[(u8, Range<u64>)]) -> Result<Vec<Range<u64>>> {
        Ok(by_width!(self, index => index.steps(asked)))
    }
}

/// The interval of each pattern from a GPU. `None` if there is no GPU, the index does not fit it,
/// or a result is not an interval of rows, which would be used as an index.
fn intervals_on_gpu<P: AsRef<[u8]> + Sync>(
    index: &FmIndex,
    patterns: &[P],
    lease: &mut GpuLease,
) -> Option<Vec<Range<u32>>> {
    let on_gpu = lease.as_mut()?.run(|gpu| {
        if !index.fits(gpu)? {
            return Ok(None);
        }
        let mut intervals = vec![0..0; patterns.len()];
        index.search_on(gpu, patterns, &mut intervals)?;
        Ok(Some(intervals))
    });
    let intervals = done(on_gpu)?;
    let rows = 0..=index.len() as u32 + 1;
    let are_rows = |of: &Range<u32>| of.start <= of.end && rows.contains(&of.end);
    intervals
        .par_iter()
        .all(are_rows)
        .then_some(intervals)
}

/// The interval of each pattern from the CPU.
fn intervals_on_cpu<R: Row, P: AsRef<[u8]> + Sync>(
    index: &FmIndex<R>,
    patterns: &[P],
) -> Vec<Range<R>> {
    let mut intervals = vec![R::default()..R::default(); patterns.len()];
    index.search(patterns, &mut intervals);
    intervals
}

fn wide(intervals: Vec<Range<u32>>) -> Vec<Range<u64>> {
    intervals
        .into_par_iter()
        .map(|Range { start, end }| start.into()..end.into())
        .collect()
}
