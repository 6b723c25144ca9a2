//! Ranks minimizers among themselves by prefix doubling (Larsson and Sadakane, *Faster suffix
//! sorting*, 2007), in which each group has its own depth and jumps by the minimizer farthest
//! within it. What gets a rank of its own is left out from then on.
//!
//! Where that makes slow progress, as on versions of one file, a *sparse level* is chosen among the
//! minimizers by the same rule with a wider window. It is ranked first, with longer jumps, and
//! then resolves the others.

use super::list_sort::{ListSort, Unresolved};
use super::minimizers::{
    KeySortedList, ListKeyKind, mark_ranks, rank_local, rank_unresolved, select_minimizers,
};
use super::refine::{RefineInput, RefineKind, refine};
use super::sparse_minimizers::{copy_ranks, mark_sparse, survey};
use super::unsorted_groups::{Minimizers, SortState, UnsortedGroups};
use crate::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{HALO, MOST_SPARSE_WINDOW};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, log_round};

/// Up to so many minimizers, or with groups smaller than this after some rounds, doubling goes on
/// in shared memory first, if groups fit there.
const FEW: u32 = 65536;
const SMALL_GROUPS: u32 = 64;
const LOCAL_FROM: u32 = 2;
const LOCAL_ROUNDS: u32 = 16;
/// Below so many minimizers, two jumps at a time are worth a wider sort.
const TWO_JUMPS: u32 = 1_000_000;
/// Bits of a key of minimizers, at least, and more of them in the first rounds, in which there is
/// text in it.
const LEAST_WIDTH: u32 = 24;
const WIDE_UNTIL: u32 = 2;
/// The sparse level is tried from this round on, with more than so many minimizers of which at
/// least half are unresolved.
const SPARSE_FROM: u32 = 3;
/// Tests come to it with small blocks.
const SPARSE_LEAST: u32 = if cfg!(test) { 200 } else { 1_000_000 };
/// Its window is so many times wider, and 240 at most.
const SPARSER: u32 = 8;
const SPARSE_WINDOW: u32 = MOST_SPARSE_WINDOW - 16;
/// The most that may be too shallow for it: this part of the list.
const SHALLOW: u32 = 5;

/// The buffers.
#[derive(Clone, Copy)]
pub struct MinimizerDoubling<'m> {
    sort: ListSort<'m>,
    lists: [UnsortedGroups<'m>; 2],
}

/// A level of minimizers while it is ranked.
struct RankedLevel<'m> {
    list: UnsortedGroups<'m>,
    unresolved: Unresolved,
    spare: UnsortedGroups<'m>,
    /// The list's own `group_heads`, while its groups are still those of the list that it was
    /// selected from.
    own: Option<Array<'m, u64>>,
    kind: ListKeyKind,
    ranks: Array<'m, u64>,
}

impl<'m> RankedLevel<'m> {
    /// `items` of the groups of a list, of which these are the heads and the number, selected to
    /// `list`.
    fn new(
        (group_heads, groups): (Array<'m, u64>, u32),
        items: u32,
        list: UnsortedGroups<'m>,
        spare: UnsortedGroups<'m>,
    ) -> Self {
        let own = Some(list.group_heads);
        let list = UnsortedGroups { group_heads, ..list };
        let unresolved = Unresolved { items, groups };
        RankedLevel {
            list,
            unresolved,
            spare,
            own,
            kind: ListKeyKind::Minimizers,
            ranks: Array::none(),
        }
    }

    /// What is left is in the spare list now.
    fn flip(&mut self, gpu: &Gpu, rounds: &mut Vec<u32>) -> Result<()> {
        self.unresolved = Unresolved::wait(gpu, self.unresolved.items)?;
        rank_unresolved(gpu, self.spare, self.unresolved.items, self.ranks)?;
        self.list.group_heads = self.own.take().unwrap_or(self.list.group_heads);
        std::mem::swap(&mut self.list, &mut self.spare);
        log_round(rounds, self.unresolved.items)
    }

    /// Bits of the keys: as many as pay.
    fn width(&self, rank_bits: u32, round: u32) -> u32 {
        let (group_bits, least) = (self.unresolved.group_bits(), rank_bits.max(LEAST_WIDTH));
        if self.kind == ListKeyKind::Minimizers && round < WIDE_UNTIL {
            (least + LEAST_WIDTH).min(u64::BITS - group_bits)
        } else if self.unresolved.items < TWO_JUMPS && group_bits + 2 * rank_bits <= u64::BITS {
            least.max(2 * rank_bits)
        } else {
            least
        }
    }
}

impl<'m> MinimizerDoubling<'m> {
    /// Allocates buffers for so many minimizers.
    pub fn allocate(arena: &mut ArenaAllocator<'m>, cub: Cub<'m>, items: u32) -> Self {
        let sort = ListSort::allocate(arena, cub, items);
        MinimizerDoubling {
            sort,
            lists: [UnsortedGroups::allocate(arena, items), UnsortedGroups::allocate(arena, items)],
        }
    }

    /// How much that takes beyond what is unused.
    pub fn size(cub: Cub<'m>, items: u32, unused: &[Array<'m, u8>]) -> usize {
        let mut measure = ArenaAllocator::measuring().with_unused(unused);
        Self::allocate(&mut measure, cub, items);
        measure.used()
    }

    /// Gives all minimizers their final ranks. The list of what is left stays as it is. The
    /// minimizers are compared with `window` positions.
    pub fn run(
        self,
        gpu: &Gpu,
        state: &mut SortState<'m>,
        (all, unresolved): (UnsortedGroups<'m>, Unresolved),
        window: u32,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        select_minimizers(gpu, state, state.dense, all, unresolved.items, self.selected())?;
        let most = self.selected().suffixes.len();
        let selected = unresolved.wait_for_selected(gpu, most)?;
        self.rank_selected(gpu, state, (all.group_heads, selected), window, reserve, rounds)
    }

    /// Where the minimizers are that are ranked.
    pub fn selected(&self) -> UnsortedGroups<'m> {
        self.lists[0]
    }

    /// As [`Self::run`], of so many minimizers that are there already, in groups of which these
    /// are the heads.
    pub fn rank_selected(
        self,
        gpu: &Gpu,
        state: &mut SortState<'m>,
        (group_heads, Unresolved { items: minimizers, groups }): (Array<'m, u64>, Unresolved),
        window: u32,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let [list, spare] = self.lists;
        rounds.push(minimizers);
        let mut level = RankedLevel::new((group_heads, groups), minimizers, list, spare);
        level.ranks = state.dense.ranks;
        let mut reserve = Some(reserve);
        for round in 0.. {
            if level.unresolved.items == 0 {
                break;
            }
            let many = level.unresolved.items > SPARSE_LEAST.max(minimizers / 2);
            if round >= SPARSE_FROM
                && many
                && self.thin(gpu, state, &level, window, &mut reserve, rounds)?
            {
                level.kind = ListKeyKind::Dense;
            }
            let group = level.unresolved.mean_group();
            let small = round >= LOCAL_FROM && group < SMALL_GROUPS;
            let few = level.unresolved.items <= FEW && group < HALO;
            if level.kind == ListKeyKind::Minimizers && (small || few) {
                self.local(gpu, state, &mut level, rounds)?;
            }
            self.double(gpu, state, &mut level, round, rounds)?;
        }
        Ok(())
    }

    /// Refines the small groups in shared memory.
    fn local(
        &self,
        gpu: &Gpu,
        state: &SortState<'m>,
        level: &mut RankedLevel<'m>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let (list, m, resolved) = (level.list, level.unresolved.items, self.sort.suffixes);
        let sorted = RefineInput::unsorted(list, m);
        refine(gpu, state, RefineKind::Minimizers, sorted, LOCAL_ROUNDS, resolved, level.spare)?;
        rank_local(gpu, resolved, list.sa_indices, m, level.ranks)?;
        level.flip(gpu, rounds)
    }

    /// Sorts the list by ranks.
    fn double(
        &self,
        gpu: &Gpu,
        state: &SortState<'m>,
        level: &mut RankedLevel<'m>,
        round: u32,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        if level.unresolved.items == 0 {
            return Ok(());
        }
        let width = level.width(state.rank_bits, round);
        let sorted: KeySortedList<'m> =
            self.sort.sort(gpu, state, level.kind, level.list, level.unresolved, width)?;
        mark_ranks(gpu, state, sorted, level.ranks, level.spare)?;
        level.flip(gpu, rounds)
    }

    /// Ranks a sparse level, if there is memory for it still unused, and enough of the list is deep
    /// enough to see it.
    fn thin(
        &self,
        gpu: &Gpu,
        state: &mut SortState<'m>,
        dense: &RankedLevel<'m>,
        window: u32,
        reserve: &mut Option<&'m mut GrowingArena>,
        rounds: &mut Vec<u32>,
    ) -> Result<bool> {
        if reserve.is_none() {
            return Ok(false);
        }
        let window = SPARSE_WINDOW.min(window * SPARSER);
        let span = window + state.dense.span.max(8);
        let (m, counts) = (dense.unresolved.items, self.sort.suffixes);
        let (shallow, floor) = survey(gpu, dense.list, m, span + window, counts)?;
        if shallow > m / SHALLOW {
            return Ok(false);
        }
        let Some(reserve) = reserve.take() else { return Ok(false) };
        let (sparse, other) = reserve.fit(gpu, |arena| {
            let sparse = Minimizers::allocate(arena, state.n, span);
            Ok((sparse, UnsortedGroups::allocate(arena, m / 2)))
        })?;
        state.sparse = Minimizers { floor, ..sparse };
        mark_sparse(gpu, state, window)?;
        copy_ranks(gpu, state)?;
        let list = dense.spare;
        select_minimizers(gpu, state, sparse, dense.list, m, list)?;
        let items = gpu.wait_for_counts()?.0;
        if items >= m / 2 {
            return Ok(false);
        }
        rounds.push(items);
        let mut level =
            RankedLevel::new((dense.list.group_heads, dense.unresolved.groups), items, list, other);
        (level.kind, level.ranks) = (ListKeyKind::Sparse, sparse.ranks);
        for round in 0.. {
            if level.unresolved.items == 0 {
                break;
            }
            self.double(gpu, state, &mut level, round, rounds)?;
        }
        Ok(true)
    }
}
