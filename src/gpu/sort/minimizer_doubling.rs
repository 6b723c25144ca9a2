//! Ranks minimizers among themselves by prefix doubling (Larsson and Sadakane, *Faster suffix
//! sorting*, 2007). Each group has its own depth, and jumps by the farthest minimizer within that
//! depth. A minimizer with a rank of its own is left out from then on.
//!
//! If progress is slow, as on versions of one file, a *sparse level* is chosen among the minimizers
//! by the same rule with a wider window. It is ranked first, with longer jumps, and then resolves
//! the others.

use super::list_sort::{ListSort, Unresolved, UnresolvedList};
use super::minimizers::{
    KeySortedList, ListKeyKind, mark_ranks, rank_local, rank_unresolved, select_minimizers,
};
use super::refine::{RefineInput, RefineKind, refine};
use super::sparse_minimizers::{copy_ranks, mark_sparse, survey};
use super::unsorted_groups::{Minimizers, SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{HALO, MOST_SPARSE_WINDOW};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena, log_round};

/// Lists of up to this many minimizers are first refined in shared memory, if their groups fit
/// there.
const FEW: u32 = 65536;
/// Lists whose groups are smaller than this in the mean are also first refined in shared memory.
const SMALL_GROUPS: u32 = 64;
/// First round for which the rule of `SMALL_GROUPS` holds.
const LOCAL_FROM: u32 = 2;
/// Rounds in shared memory.
const LOCAL_ROUNDS: u32 = 16;
/// Below this number of minimizers, keys hold two ranks if they fit: two jumps at a time are worth
/// a wider sort.
const TWO_JUMPS: u32 = 1_000_000;
/// Minimum number of bits in a key of minimizers.
const LEAST_WIDTH: u32 = 24;
/// Number of first rounds whose keys are wider, since they also hold text.
const WIDE_UNTIL: u32 = 2;
/// First round in which the sparse level is tried, if at least half of the minimizers are
/// unresolved.
const SPARSE_FROM: u32 = 3;
/// The sparse level needs more unresolved minimizers than this. Tests reach it with small blocks.
const SPARSE_LEAST: u32 = if cfg!(test) { 200 } else { 1_000_000 };
/// Factor by which the window of the sparse level is wider.
const SPARSER: u32 = 8;
/// Maximum window of the sparse level.
const SPARSE_WINDOW: u32 = MOST_SPARSE_WINDOW - 16;
/// The sparse level is skipped if more than one minimizer in `SHALLOW` is in a group too shallow
/// for it.
const SHALLOW: u32 = 5;

/// Buffers for ranking minimizers.
#[derive(Clone, Copy)]
pub(crate) struct MinimizerDoubling<'m> {
    sort: ListSort<'m>,
    lists: [UnsortedGroups<'m>; 2],
}

/// Minimizers selected from a list, in whose groups they still are.
#[derive(Clone, Copy)]
pub(crate) struct SelectedMinimizers<'m> {
    /// The heads of these groups.
    pub group_heads: Array<'m, u64>,
    /// Number of the minimizers, and number of the groups of the list.
    pub unresolved: Unresolved,
}

/// A level of minimizers while it is ranked.
struct RankedLevel<'m> {
    list: UnsortedGroups<'m>,
    unresolved: Unresolved,
    spare: UnsortedGroups<'m>,
    /// The list's own `group_heads`, while its groups are still those of the list from which it was
    /// selected.
    own: Option<Array<'m, u64>>,
    kind: ListKeyKind,
    ranks: Array<'m, u64>,
}

impl<'m> RankedLevel<'m> {
    /// A level of minimizers that were selected to `list`.
    fn new(
        selected: SelectedMinimizers<'m>,
        list: UnsortedGroups<'m>,
        spare: UnsortedGroups<'m>,
    ) -> Self {
        let SelectedMinimizers {
            group_heads,
            unresolved,
        } = selected;
        let own = Some(list.group_heads);
        let list = UnsortedGroups {
            group_heads,
            ..list
        };
        RankedLevel {
            list,
            unresolved,
            spare,
            own,
            kind: ListKeyKind::Minimizers,
            ranks: Array::none(),
        }
    }

    /// Ends a round, whose unresolved minimizers are in the spare list.
    fn flip(&mut self, gpu: &Gpu, rounds: &mut Vec<u32>) -> Result<()> {
        self.unresolved = Unresolved::wait(gpu, self.unresolved.items)?;
        rank_unresolved(gpu, self.spare, self.unresolved.items, self.ranks)?;
        self.list.group_heads = self.own.take().unwrap_or(self.list.group_heads);
        std::mem::swap(&mut self.list, &mut self.spare);
        log_round(rounds, self.unresolved.items)
    }

    /// Number of bits of the keys: as many as pay.
    fn width(&self, rank_bits: u32, round: u32) -> u32 {
        let group_bits = self.unresolved.group_bits();
        let least = rank_bits.max(LEAST_WIDTH);
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
    /// Allocates buffers for `items` minimizers.
    pub(crate) fn allocate(arena: &mut ArenaAllocator<'m>, cub: Cub<'m>, items: u32) -> Self {
        let sort = ListSort::allocate(arena, cub, items);
        MinimizerDoubling {
            sort,
            lists: [
                UnsortedGroups::allocate(arena, items),
                UnsortedGroups::allocate(arena, items),
            ],
        }
    }

    /// Bytes that the buffers take beyond the unused memory.
    pub(crate) fn size(cub: Cub<'m>, items: u32, unused: &[Array<'m, u8>]) -> usize {
        let mut measure = ArenaAllocator::measuring().with_unused(unused);
        Self::allocate(&mut measure, cub, items);
        measure.used()
    }

    /// Gives all minimizers of a list their final ranks. The list itself stays as it is. The
    /// minimizers were chosen by comparing `window` positions.
    pub(crate) fn run(
        self,
        gpu: &Gpu,
        state: &mut SortState<'m>,
        found: UnresolvedList<'m>,
        window: u32,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let UnresolvedList { list, unresolved } = found;
        select_minimizers(
            gpu,
            state,
            state.dense,
            list,
            unresolved.items,
            self.selected(),
        )?;
        let most = self.selected().suffixes.len();
        let unresolved = unresolved.wait_for_selected(gpu, most)?;
        let selected = SelectedMinimizers {
            group_heads: list.group_heads,
            unresolved,
        };
        self.rank_selected(gpu, state, selected, window, reserve, rounds)
    }

    /// The list of the minimizers that are ranked.
    pub(crate) fn selected(&self) -> UnsortedGroups<'m> {
        self.lists[0]
    }

    /// Gives the minimizers that [`Self::selected`] holds already their final ranks, as
    /// [`Self::run`] does.
    pub(crate) fn rank_selected(
        self,
        gpu: &Gpu,
        state: &mut SortState<'m>,
        selected: SelectedMinimizers<'m>,
        window: u32,
        reserve: &'m mut GrowingArena,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let [list, spare] = self.lists;
        let minimizers = selected.unresolved.items;
        rounds.push(minimizers);
        let mut level = RankedLevel::new(selected, list, spare);
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
        let list = level.list;
        let m = level.unresolved.items;
        let resolved = self.sort.suffixes;
        let sorted = RefineInput::unsorted(list, m);
        refine(
            gpu,
            state,
            RefineKind::Minimizers,
            sorted,
            LOCAL_ROUNDS,
            resolved,
            level.spare,
        )?;
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
            self.sort
                .sort(gpu, state, level.kind, level.list, level.unresolved, width)?;
        mark_ranks(gpu, state, sorted, level.ranks, level.spare)?;
        level.flip(gpu, rounds)
    }

    /// Ranks a sparse level, if the memory for it is still unused and enough of the list is deep
    /// enough for it. Returns false if it does not.
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
        let m = dense.unresolved.items;
        let counts = self.sort.suffixes;
        let (shallow, floor) = survey(gpu, dense.list, m, span + window, counts)?;
        if shallow > m / SHALLOW {
            return Ok(false);
        }
        let Some(reserve) = reserve.take() else {
            return Ok(false);
        };
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
        let unresolved = Unresolved {
            items,
            groups: dense.unresolved.groups,
        };
        let selected = SelectedMinimizers {
            group_heads: dense.list.group_heads,
            unresolved,
        };
        let mut level = RankedLevel::new(selected, list, other);
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
