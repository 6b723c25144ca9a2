//! What the kernels of `default` share: the host side of `kernels/sort/unsorted_groups.cuh` and
//! `kernels/sort/minimizers.cuh`, which explain it.

use crate::error::Result;
use crate::gpu::block::{DeviceBlock, text_view};
use crate::gpu::runtime::kernel_structs::{MinimizersView, TextView, UnsortedGroupsView};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu};

/// A list of unresolved suffixes, in groups of equal ones.
#[derive(Clone, Copy)]
pub struct UnsortedGroups<'m> {
    pub sa_indices: Array<'m, u32>,
    pub suffixes: Array<'m, u32>,
    pub groups: Array<'m, u32>,
    /// Of each group: depth << 32 | first SA index.
    pub group_heads: Array<'m, u64>,
}

/// The most groups among n suffixes: each has two and more.
pub fn most_groups(n: u32) -> u32 {
    n / 2 + 1
}

impl<'m> UnsortedGroups<'m> {
    /// Allocates a list for up to n suffixes.
    pub fn allocate(arena: &mut ArenaAllocator<'m>, n: u32) -> Self {
        let items = n as usize;
        UnsortedGroups {
            sa_indices: arena.array(items),
            suffixes: arena.array(items),
            groups: arena.array(items),
            group_heads: arena.array(most_groups(n) as usize),
        }
    }

    /// A list in the memory that the first sort leaves: the keys it sorted, and the spare ones and
    /// suffixes.
    ///
    /// The number of groups known grows half as fast as that of keys read at most, so that nothing
    /// is overwritten that is still to be read (but see [`super::refine`] about the first tiles).
    pub fn over_keys(keys: DoubleBuffer<'m, u64>, spare: Array<'m, u32>) -> Self {
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
    /// The list as kernels take it.
    pub fn view(self) -> UnsortedGroupsView {
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
pub struct Minimizers<'m> {
    /// A bit for each position: whether it is a minimizer.
    pub bitmap: Array<'m, u32>,
    /// For minimizers, by position: depth << 32 | rank.
    pub ranks: Array<'m, u64>,
    /// How many symbols from a position on tell whether it is a minimizer.
    pub span: u32,
    /// The least depth of any of their groups.
    pub floor: u32,
}

impl<'m> Minimizers<'m> {
    /// Before there are any.
    pub fn none() -> Self {
        Minimizers { bitmap: Array::none(), ranks: Array::none(), span: 0, floor: 0 }
    }

    /// Allocates the arrays for n positions.
    pub fn allocate(arena: &mut ArenaAllocator<'m>, n: u32, span: u32) -> Self {
        // A thread reads the word behind that of its position at most, if there are positions.
        let words = (n / 32 + 8).min(1 << (u32::BITS - 5)) as usize;
        Minimizers { bitmap: arena.array(words), ranks: arena.array(n as usize), span, floor: 0 }
    }
}

/// What all steps work on.
#[derive(Clone, Copy)]
pub struct SortState<'m> {
    pub block: DeviceBlock<'m>,
    /// Bytes of its text; of several GPUs that sort it, each has some of the suffixes.
    pub n: u32,
    /// The code of each symbol.
    pub code_table: Array<'m, u32>,
    /// Minimizers, and a second level chosen among them.
    pub dense: Minimizers<'m>,
    pub sparse: Minimizers<'m>,
    /// Bits of a rank.
    pub rank_bits: u32,
    /// What CTAs leave to those behind them.
    pub status: Array<'m, u64>,
}

impl SortState<'_> {
    /// Clears the status of `tiles` CTAs, before they run and publish two counts.
    pub fn clear_status(&self, gpu: &Gpu, tiles: u32) -> Result<()> {
        gpu.zero(self.status.first(tiles + 1))?;
        gpu.reset_counts();
        Ok(())
    }

    /// The text as kernels take it.
    pub fn text_view(&self) -> TextView {
        text_view(self.block.text, self.n)
    }

    /// A level of minimizers as kernels take it.
    pub fn minimizers_view(&self, level: Minimizers) -> MinimizersView {
        MinimizersView {
            bitmap: level.bitmap.address(),
            ranks: level.ranks.address(),
            span: level.span,
            rank_bits: self.rank_bits,
            floor: level.floor,
        }
    }
}
