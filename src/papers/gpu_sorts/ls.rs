//! `ls`: prefix doubling as in GPU-LS.
//!
//! G. Sun, Z. Xie, *Fast in-memory suffix sorting on the GPU*; after N. J. Larsson and K. Sadakane,
//! *Faster suffix sorting*, 2007.
//!
//! # As in the paper
//! All suffixes are first sorted by 8 bytes, by a radix sort. Suffixes still in groups of equal
//! ones are then sorted within their groups by the ranks of the suffixes 8, 16, 32 ... positions
//! behind them. Groups of different size are sorted in different ways: several small ones by one
//! CTA, larger ones by a segmented merge sort, the largest one by one by a radix sort over the
//! device. A suffix alone in its group is left out from then on.
//!
//! # Different
//! Groups of up to 32 suffixes are sorted in the registers of a part of a warp, and not in shared
//! memory. Groups of up to 2048 have a CTA of their own. The borders between the sizes
//! ([`BinnedSort`]) are not those of the paper, which was measured on an M2090.
//!
//! # Figures
//! On an H200, with copies, dickens 2324 MB/s, nci 1100, E.coli 2155, versions.txt 394
//! (`default`: 4000, 2575, 4678, 1723; kernels/README.md has all). The paper has up to 52 MB/s, on
//! an M2090. Memory: about 54 bytes per suffix.

use super::binned_sort::BinnedSort;
use super::packed_symbols;
use super::rank_groups::{RankedList, rank_keys};
use super::sa_to_bwt::write_bwt;
use super::segmented_merge::Segments;
use crate::base::error::Result;
use crate::gpu::MOST_NARROW;
use crate::gpu::block::DeviceBlock;
use crate::gpu::gpu_sort::GpuSort;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::tuning::FIRST_SYMBOLS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, measure};
use crate::gpu::sort::ExtraArenas;

/// Buffers of the sort.
struct Ls<'m> {
    cub: Cub<'m>,
    sorts: BinnedSort<'m>,
    keys: DoubleBuffer<'m, u64>,
    list: RankedList<'m>,
    isa: Array<'m, u32>,
}

impl<'m> Ls<'m> {
    fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        let items = n as usize;
        let cub = Cub::allocate(gpu, arena, n)?;
        let list = RankedList::allocate(arena, n, Array::none());
        Ok(Ls {
            cub,
            sorts: BinnedSort::allocate(arena, cub, n),
            keys: arena.double_buffer(items),
            list,
            isa: arena.array(items),
        })
    }

    fn run(mut self, gpu: &Gpu, block: DeviceBlock<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        packed_symbols::pack_symbols(gpu, block.text, self.keys.current, self.list.pos.current)?;
        self.cub
            .sort_pairs(gpu, &mut self.keys, &mut self.list.pos, 0..u64::BITS)?;
        self.list.rank_first(gpu, self.keys.current)?;
        // The first keys are not needed any more, so the rounds use their memory.
        self.list.marks = self.keys.alternate;
        let keys = DoubleBuffer::halves(self.keys.current.cast::<u32>());
        self.list
            .resolve(gpu, &self.cub, self.isa, block.sa)?;
        rounds.push(self.list.len);
        let mut depth = FIRST_SYMBOLS;
        while self.list.len > 0 {
            self.round(gpu, keys.first_items(self.list.len), depth, bit_width(n))?;
            self.list
                .resolve(gpu, &self.cub, self.isa, block.sa)?;
            rounds.push(self.list.len);
            depth = depth.saturating_mul(2);
        }
        write_bwt(gpu, block)
    }

    /// Sorts each group by the ranks of the suffixes `depth` positions behind.
    fn round(&mut self, gpu: &Gpu, keys: DoubleBuffer<u32>, depth: u32, bits: u32) -> Result<()> {
        let pos = self.list.pos.first_items(self.list.len);
        rank_keys(gpu, pos.current, self.isa, depth, keys.current)?;
        let segments = Segments {
            starts: self.list.starts,
            count: self.list.groups,
        };
        self.sorts.sort(gpu, keys, pos, segments, bits)?;
        self.list.rank(gpu, keys.current)
    }
}

/// The sort by [`Ls`].
#[derive(Debug)]
pub(crate) struct ByLs;

impl GpuSort for ByLs {
    fn most_bytes(&self) -> u32 {
        MOST_NARROW
    }

    fn memory(&self, gpu: &Gpu, n: u32) -> Result<usize> {
        measure(|arena| Ls::allocate(gpu, arena, n))
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
        Ls::allocate(gpu, &mut arena, block.sa.len())?.run(gpu, block, rounds)
    }
}
