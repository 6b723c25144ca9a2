//! Data that the kernels of `default` share: the host side of `kernels/sort/unsorted_groups.cuh`
//! and `kernels/sort/minimizers.cuh`, which explain it.

use crate::base::error::Result;
use crate::gpu::block::{DeviceBlock, text_view};
use crate::gpu::runtime::kernel_structs::{MinimizersView, TextView, UnsortedGroupsView};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu};

/// A list of unresolved suffixes, in groups of suffixes that are equal so far.
#[derive(Clone, Copy)]
pub(crate) struct UnsortedGroups<'m> {
    pub sa_indices: Array<'m, u32>,
    pub suffixes: Array<'m, u32>,
    pub groups: Array<'m, u32>,
    /// For each group: depth << 32 | first SA index.
    pub group_heads: Array<'m, u64>,
}

/// Maximum number of groups among n suffixes: each group has at least two.
pub(super) fn most_groups(n: u32) -> u32 {
    n / 2 + 1
}

impl<'m> UnsortedGroups<'m> {
    /// Allocates a list for up to n suffixes.
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let items = n as usize;
        UnsortedGroups {
            sa_indices: arena.array(items),
            suffixes: arena.array(items),
            groups: arena.array(items),
            group_heads: arena.array(most_groups(n) as usize),
        }
    }

    /// A list in the memory of the first sort: the sorted keys, the spare keys, and the spare
    /// suffixes.
    ///
    /// The list overwrites the keys that it is made from. The number of groups grows at most half
    /// as fast as that of the keys read, so no key is overwritten before it is read
    /// ([`super::refine`] says how the first tiles keep to that).
    pub(crate) fn over_keys(keys: DoubleBuffer<'m, u64>, spare: Array<'m, u32>) -> Self {
        let n = keys.current.len();
        let halves = DoubleBuffer::halves(keys.alternate.cast::<u32>());
        let group_heads = keys.current.first(most_groups(n));
        UnsortedGroups {
            sa_indices: halves.current,
            suffixes: halves.alternate,
            groups: spare,
            group_heads,
        }
    }
}

impl UnsortedGroups<'_> {
    /// View of the list for kernels.
    pub(crate) fn view(self) -> UnsortedGroupsView {
        UnsortedGroupsView {
            sa_indices: self.sa_indices.address(),
            suffixes: self.suffixes.address(),
            groups: self.groups.address(),
            group_heads: self.group_heads.address(),
        }
    }
}

/// A level of minimizers.
#[derive(Clone, Copy)]
pub(crate) struct Minimizers<'m> {
    /// One bit per position, set if it is a minimizer.
    pub bitmap: Array<'m, u32>,
    /// For minimizers, by position: depth << 32 | rank.
    pub ranks: Array<'m, u64>,
    /// Number of symbols from a position on that decide if it is a minimizer.
    pub span: u32,
    /// Smallest depth of any group.
    pub floor: u32,
}

impl<'m> Minimizers<'m> {
    /// An empty level, before minimizers are chosen.
    pub(crate) fn none() -> Self {
        Minimizers {
            bitmap: Array::none(),
            ranks: Array::none(),
            span: 0,
            floor: 0,
        }
    }

    /// Allocates the arrays for n positions.
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>, n: u32, span: u32) -> Self {
        // A thread reads at most the word behind that of its position, if there are positions.
        let words = (n / 32 + 8).min(1 << (u32::BITS - 5)) as usize;
        Minimizers {
            bitmap: arena.array(words),
            ranks: arena.array(n as usize),
            span,
            floor: 0,
        }
    }
}

/// State that all steps of a sort share.
#[derive(Clone, Copy)]
pub(crate) struct SortState<'m> {
    pub block: DeviceBlock<'m>,
    /// Bytes of the text. If several GPUs sort it, each has only some of the suffixes.
    pub n: u32,
    /// Code of each symbol.
    pub code_table: Array<'m, u32>,
    /// The minimizers.
    pub dense: Minimizers<'m>,
    /// Second level, chosen among the minimizers.
    pub sparse: Minimizers<'m>,
    /// Number of bits of a rank.
    pub rank_bits: u32,
    /// Sums that CTAs leave to those behind them.
    pub status: Array<'m, u64>,
}

impl SortState<'_> {
    /// Clears the status of `tiles` CTAs, before they run and publish two counts.
    pub(crate) fn clear_status(&self, gpu: &Gpu, tiles: u32) -> Result<()> {
        gpu.zero(self.status.first(tiles + 1))?;
        gpu.reset_counts();
        Ok(())
    }

    /// View of the text for kernels.
    pub(crate) fn text_view(&self) -> TextView {
        text_view(self.block.text, self.n)
    }

    /// View of a level of minimizers for kernels.
    pub(crate) fn minimizers_view(&self, level: Minimizers) -> MinimizersView {
        MinimizersView {
            bitmap: level.bitmap.address(),
            ranks: level.ranks.address(),
            span: level.span,
            rank_bits: self.rank_bits,
            floor: level.floor,
        }
    }
}
