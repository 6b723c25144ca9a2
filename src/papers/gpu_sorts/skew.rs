//! `skew`: the skew algorithm, with recursion.
//!
//! J. Karkkainen and P. Sanders, *Simple linear work suffix array construction*, 2003, as L. Wang,
//! S. Baxter and J. D. Owens have it in *Fast parallel skew and prefix-doubling suffix array
//! construction on the GPU*, 2016, Figure 4 right.
//!
//! # As in the paper
//! The suffixes at positions i with i mod 3 = 1 or 2, the cover, are sorted by triples of symbols.
//! If triples are not unique, they are named, and the string of names, which is two thirds as long,
//! is sorted in the same way. The suffixes at multiples of 3 are found by selecting, in the order
//! of the cover, those one behind them, and sorted by one symbol. The two orders are merged by
//! merge path.
//!
//! # Different
//! A triple of bytes is one key of 25 bits, so the first level takes one radix sort in place of
//! three, and a triple of names takes two.
//!
//! # Figures
//! On an H200, with copies, dickens 1399 MB/s, nci 1269, E.coli 1225, versions.txt 966 (`default`:
//! 4000, 2575, 4678, 1723; kernels/README.md has all). Time: linear in all cases. Memory: about 36
//! bytes per suffix.

use super::sa_to_bwt::write_bwt;
use super::skew_steps::{BYTE_BITS, Mod0Workspace, SkewSymbols, SkewText, scatter, scatter_order};
use crate::base::error::Result;
use crate::gpu::MOST_NARROW;
use crate::gpu::block::DeviceBlock;
use crate::gpu::gpu_sort::GpuSort;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, measure};
use crate::gpu::sort::{ExtraArenas, cover_len, mod1_len, splits_for};

/// Arrays that one level keeps while the levels below it work.
#[derive(Clone, Copy)]
struct SkewLevel<'m> {
    /// For each cover index: the name of its triple, and later its rank.
    names: Array<'m, u32>,
    /// Cover indices in the order of their suffixes.
    order: Array<'m, u32>,
}

/// Workspace for sorting triples. All levels use the same memory.
struct Triples<'m> {
    keys: DoubleBuffer<'m, u64>,
    order: DoubleBuffer<'m, u32>,
    total: Array<'m, u32>,
}

impl<'m> Triples<'m> {
    fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let count = cover_len(n) as usize;
        Triples {
            keys: arena.double_buffer(count),
            order: arena.double_buffer(count),
            total: arena.array(1),
        }
    }
}

impl<'m> Mod0Workspace<'m> {
    /// Allocates the workspace for the merge.
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let count = cover_len(n) as usize;
        let mod1_len = mod1_len(n) as usize;
        Mod0Workspace {
            flags: arena.array(count),
            mod0: arena.double_buffer(mod1_len),
            keys: arena.double_buffer(mod1_len),
            positions: arena.array(count),
            splits: arena.array(splits_for(n)),
            total: arena.array(1),
        }
    }
}

/// Buffers of the sort.
struct Skew<'m> {
    cub: Cub<'m>,
    levels: Vec<SkewLevel<'m>>,
    shared: Array<'m, u8>,
}

impl<'m> Skew<'m> {
    fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        let cub = Cub::allocate(gpu, arena, n)?;
        let mut levels = Vec::new();
        let mut at = n;
        let mut shared = 0;
        // The loop ends at three symbols, since then all triples differ.
        while levels.is_empty() || at > 3 {
            let count = cover_len(at) as usize;
            levels.push(SkewLevel {
                names: arena.array(count),
                order: arena.array(count),
            });
            let sorting = measure(|arena| Ok(Triples::allocate(arena, at)))?;
            let merging = measure(|arena| Ok(Mod0Workspace::allocate(arena, at)))?;
            shared = shared.max(sorting).max(merging);
            at = cover_len(at);
        }
        // The level below the last has at most three symbols, and needs the same buffers.
        levels.push(SkewLevel {
            names: arena.array(4),
            order: arena.array(4),
        });
        Ok(Skew {
            cub,
            levels,
            shared: arena.array(shared.max(1 << 14)),
        })
    }

    fn run(self, gpu: &Gpu, block: DeviceBlock<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        let text = SkewText {
            symbols: SkewSymbols::Bytes(block.text),
            n,
            bits: BYTE_BITS,
        };
        self.level(gpu, 0, text, block.sa, rounds)?;
        write_bwt(gpu, block)
    }

    /// Sorts the suffixes of a text of `sa.len()` symbols.
    fn level(
        &self,
        gpu: &Gpu,
        level: usize,
        text: SkewText<'m>,
        sa: Array<'m, u32>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let count = cover_len(text.n);
        let SkewLevel { names, order } = self.levels[level];
        let names = names.first(count);
        let order = order.first(count);
        let mut work = Triples::allocate(&mut ArenaAllocator::within(self.shared), text.n);
        let keys = text.sort_triples(gpu, &self.cub, work.keys, &mut work.order)?;
        let sorted = work.order.current;
        let heads = keys.alternate;
        let different = text.triple_heads(gpu, keys.current, sorted, heads, work.total)?;
        if different == count {
            gpu.copy(sorted, order)?;
        } else {
            rounds.push(count);
            self.cub.inclusive_sum(gpu, heads)?;
            scatter(gpu, sorted, heads, names)?;
            let below = SkewText {
                symbols: SkewSymbols::Names(names),
                n: count,
                bits: bit_width(different),
            };
            self.level(gpu, level + 1, below, order, rounds)?;
        }
        scatter_order(gpu, order, names)?;
        let work = Mod0Workspace::allocate(&mut ArenaAllocator::within(self.shared), text.n);
        let mod0 = text.sort_mod0(gpu, &self.cub, order, &work)?;
        text.merge(gpu, order, names, mod0, &work, sa)
    }
}

/// The sort by [`Skew`].
#[derive(Debug)]
pub(crate) struct BySkew;

impl GpuSort for BySkew {
    fn most_bytes(&self) -> u32 {
        MOST_NARROW
    }

    fn memory(&self, gpu: &Gpu, n: u32) -> Result<usize> {
        measure(|arena| Skew::allocate(gpu, arena, n))
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
        Skew::allocate(gpu, &mut arena, block.sa.len())?.run(gpu, block, rounds)
    }
}
