//! A suffix sort as [`GpuSorter`](super::GpuSorter) and [`GpuLcpSorter`](super::GpuLcpSorter) run
//! it.
//!
//! The product sorts by [`ByDefault`] alone. The published sorts that it is compared with are in
//! `papers`.
//!
//! A sort is a struct of buffers, which are allocated twice: once without memory, to measure what
//! they need ([`GpuSort::memory`]), and once in the memory that the caller then gives.

use super::block::DeviceBlock;
use super::interface::MOST_SORTED;
use super::runtime::{ArenaAllocator, Array, Gpu, measure};
use super::sort::{DefaultSort, ExtraArenas};
use crate::base::error::Result;
use std::fmt::Debug;

/// A way to sort the suffixes of a block.
pub trait GpuSort: Debug + Send + Sync {
    /// Largest block that is sorted, in bytes.
    fn most_bytes(&self) -> u32;

    /// Bytes of device memory that sorting n suffixes needs, beside the arrays of the block.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU fails.
    fn memory(&self, gpu: &Gpu, n: u32) -> Result<usize>;

    /// Sorts the suffixes of a block and writes their order, the BWT and the samples. `memory` has
    /// as many bytes as [`GpuSort::memory`] says. `rounds` gets the number of suffixes still
    /// unsorted after each round.
    ///
    /// # Errors
    /// As [`GpuSort::memory`].
    fn run<'m>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        block: DeviceBlock<'m>,
        extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()>;
}

/// The sort of the product, the fastest one for each block: see [`DefaultSort`].
#[derive(Debug)]
pub(crate) struct ByDefault;

impl GpuSort for ByDefault {
    fn most_bytes(&self) -> u32 {
        MOST_SORTED
    }

    fn memory(&self, gpu: &Gpu, n: u32) -> Result<usize> {
        measure(|arena| DefaultSort::allocate(gpu, arena, n))
    }

    fn run<'m>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        block: DeviceBlock<'m>,
        extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let mut arena = ArenaAllocator::within(memory);
        let sort = DefaultSort::allocate(gpu, &mut arena, block.sa.len())?;
        sort.run(gpu, block, extra, rounds)
    }
}
