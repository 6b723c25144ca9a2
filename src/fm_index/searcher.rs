//! What searches an index, chosen at run time: the CPU, or a GPU that holds a copy of it. All find
//! the same.

use super::FmIndex;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu;
use std::ops::Range;

/// What searches.
///
/// ```
/// use bwz::Device;
/// use bwz::bwt::Sorter;
/// use bwz::fm_index::{FmIndex, Searcher};
///
/// let index = FmIndex::new(Sorter::Cpu.sort(b"she sells sea shells", 4)?)?;
/// let mut intervals = [0..0, 0..0];
/// Searcher::new(Device::Cpu)?.search(&index, &["se", "shells"], &mut intervals)?;
/// assert_eq!(intervals.map(|rows| rows.len()), [2, 1]);
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Debug)]
pub enum Searcher {
    /// All threads of the current rayon pool.
    Cpu,
    /// A GPU, while these wait. They pack the patterns for it.
    Gpu(Box<gpu::Searcher>),
}

impl Searcher {
    /// The searcher for a device; the CPU for [`Device::Auto`].
    ///
    /// A GPU comes up with this, which takes a quarter of a second or so for the first.
    ///
    /// # Errors
    /// [`Error::Device`] where this build or this machine does not have it.
    pub fn new(device: Device) -> Result<Self> {
        match device {
            Device::Auto | Device::Cpu => Ok(Searcher::Cpu),
            Device::Cuda(number) => Ok(Searcher::Gpu(Box::new(gpu::Searcher::new(number)?))),
        }
    }

    /// Finds the interval of each pattern, as [`FmIndex::search`] does. A GPU keeps the index that
    /// it searched last.
    ///
    /// # Errors
    /// [`Error::Device`] where a GPU fails or the index does not fit it.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &FmIndex,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        match self {
            Searcher::Cpu => index.search(patterns, intervals),
            Searcher::Gpu(gpu) => {
                return gpu.search(&index.parts(patterns.len()), patterns, intervals);
            }
        }
        Ok(())
    }

    /// The positions of some rows, as [`FmIndex::positions`] gives them.
    ///
    /// # Errors
    /// As that, and as [`Searcher::search`].
    ///
    /// # Panics
    /// If a row is none of the index.
    pub fn positions(&mut self, index: &FmIndex, rows: &[u32]) -> Result<Vec<u32>> {
        match self {
            Searcher::Cpu => index.positions(rows),
            Searcher::Gpu(gpu) => {
                let found = gpu.positions(&index.parts(0), &index.sample_parts(), rows)?;
                found.ok_or_else(|| Error::from(super::walk::CONTRADICTION))
            }
        }
    }
}

#[cfg(test)]
mod tests;
