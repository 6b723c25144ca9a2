//! `skew-pd`: the skew algorithm with prefix doubling, for any text.
//!
//! L. Wang, S. Baxter and J. D. Owens, *Fast parallel skew and prefix-doubling suffix array
//! construction on the GPU*, 2016, Figure 5 right. The sort itself is in `gpu::sort`, whose page
//! for [`SkewPd`] says what is as in the paper and what differs, since the sort of bwz takes it for
//! texts with many repeats that are not very long. Here it sorts all texts.
//!
//! # Figures
//! On an H200, with copies, dickens 4207 MB/s, nci 2562, E.coli 4264, versions.txt 751 (`default`:
//! 4000, 2575, 4678, 1723; kernels/README.md has all). It is faster than `skew` by 2.6 to 3.2 on
//! natural texts and 3.3 to 3.5 on DNA, where the paper has 2.4 and more
//! (benches/results/2026-11-gpu-notes.md). Memory: about 46 bytes per suffix, and 6 for the arrays
//! of the block: its text, its suffix array and its BWT.

use crate::base::error::Result;
use crate::gpu::MOST_NARROW;
use crate::gpu::block::DeviceBlock;
use crate::gpu::gpu_sort::GpuSort;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, measure};
use crate::gpu::sort::{ExtraArenas, SkewPd};

/// The sort by [`SkewPd`].
#[derive(Debug)]
pub(crate) struct BySkewPd;

impl GpuSort for BySkewPd {
    fn most_bytes(&self) -> u32 {
        MOST_NARROW
    }

    fn memory(&self, gpu: &Gpu, n: u32) -> Result<usize> {
        measure(|arena| SkewPd::allocate(gpu, arena, n))
    }

    fn run<'m>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        block: DeviceBlock<'m>,
        _extra: &'m mut ExtraArenas,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let mut arena = ArenaAllocator::within(memory);
        SkewPd::allocate(gpu, &mut arena, block.sa.len())?.run(gpu, block, rounds)
    }
}
