//! The index of a block in memory, with positions of 32 or 64 bits.

use super::class_search::BackwardSteps;
use super::searching_gpu::SearchingGpu;
use crate::base::error::Result;
use crate::base::positions::{ByWidth, NarrowLimits, by_width};
use crate::bwt::Bwt;
use crate::engine::device_pool::Lease;
use crate::fm_index::{FmIndex, Row};
use rayon::prelude::*;
use std::ops::Range;

/// The GPU that searches blocks in memory, or `None` if the CPU does.
pub(super) type GpuLease<'a> = Option<Lease<'a, SearchingGpu>>;

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
                let intervals = on_gpu(index, lease, |gpu| gpu.intervals(index, patterns));
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
        let on_gpu = on_gpu(index, lease, |gpu| gpu.counts(index, patterns));
        match on_gpu {
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
        let on_gpu = on_gpu(index, lease, |gpu| gpu.positions(index, &rows));
        let positions = on_gpu.map_or_else(|| index.positions(&rows), Ok)?;
        Ok(positions.into_par_iter().map(u64::from).collect())
    }
}

/// Does work on an index on the GPU. `None` if the CPU has to do the work: there is no GPU, the GPU
/// fails or is found to be wrong, it cannot hold the index, or it finds that the index contradicts
/// itself. In the last case only the CPU can tell whether the index is damaged.
fn on_gpu<T>(
    index: &FmIndex,
    lease: &mut GpuLease,
    work: impl FnOnce(&mut SearchingGpu) -> Result<T>,
) -> Option<T> {
    let done = lease.as_mut()?.run(|gpu| match gpu.fits(index)? {
        true => work(gpu).map(Some),
        false => Ok(None),
    });
    done?.ok()?
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
