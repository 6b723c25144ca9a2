//! A list of unresolved suffixes that is refined round by round. Unless its groups are small, it is
//! sorted by new keys and split. Small groups are refined further in shared memory.

use super::list_sort::{ListSort, Unresolved};
use super::minimizers::ListKeyKind;
use super::refine::{RefineInput, RefineKind, refine};
use super::unsorted_groups::{SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, log_round};

/// Lists whose groups are smaller than this in the mean are refined without a sort of the list.
const SMALL_GROUPS: u32 = 16;
/// Rounds on small groups once all ranks are final. Most groups need one or two.
const FINISH_ROUNDS: u32 = 64;
/// Bits of text beside a rank in a key.
const TEXT_BITS: u32 = 30;

/// A list, with the buffers for refining it.
pub(crate) struct ListRefinement<'m> {
    pub list: UnsortedGroups<'m>,
    pub unresolved: Unresolved,
    spare: UnsortedGroups<'m>,
    sort: ListSort<'m>,
    /// True if the last round did not sort the list and left most of it unresolved.
    stuck: bool,
}

impl<'m> ListRefinement<'m> {
    pub(crate) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        cub: Cub<'m>,
        list: UnsortedGroups<'m>,
        unresolved: Unresolved,
    ) -> Self {
        let spare = UnsortedGroups::allocate(arena, unresolved.items);
        let sort = ListSort::allocate(arena, cub, unresolved.items);
        ListRefinement {
            list,
            unresolved,
            spare,
            sort,
            stuck: false,
        }
    }

    /// Bytes that the buffers take beyond the unused memory.
    pub(crate) fn size(
        cub: Cub<'m>,
        list: UnsortedGroups<'m>,
        unresolved: Unresolved,
        unused: &[Array<'m, u8>],
    ) -> usize {
        let mut measure = ArenaAllocator::measuring().with_unused(unused);
        Self::allocate(&mut measure, cub, list, unresolved);
        measure.used()
    }

    /// Refines the list, which is first sorted by up to `width` bits of keys unless its groups are
    /// small. Without that sort, large groups stay as they are. If they hold most of the list, it
    /// is sorted next time.
    pub(crate) fn refine(
        &mut self,
        gpu: &Gpu,
        state: &SortState<'m>,
        kind: RefineKind,
        keys: ListKeyKind,
        width: u32,
        rounds: u32,
    ) -> Result<()> {
        let unsorted = !self.stuck && self.unresolved.mean_group() < SMALL_GROUPS;
        let sorted = if unsorted {
            RefineInput::unsorted(self.list, self.unresolved.items)
        } else {
            let width = width.min(u64::BITS - self.unresolved.group_bits());
            self.sort
                .sort(gpu, state, keys, self.list, self.unresolved, width)?
                .into()
        };
        refine(gpu, state, kind, sorted, rounds, Array::none(), self.spare)?;
        std::mem::swap(&mut self.list, &mut self.spare);
        let before = self.unresolved.items;
        self.unresolved = Unresolved::wait(gpu, before)?;
        self.stuck = unsorted && self.unresolved.items > before / 2;
        Ok(())
    }

    /// Sorts the unresolved suffixes once all minimizers are ranked.
    pub(crate) fn finish(
        mut self,
        gpu: &Gpu,
        state: &SortState<'m>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        while self.unresolved.items > 0 {
            let width = state.rank_bits + TEXT_BITS;
            let keys = ListKeyKind::Finish;
            self.refine(gpu, state, RefineKind::Finish, keys, width, FINISH_ROUNDS)?;
            log_round(rounds, self.unresolved.items)?;
        }
        Ok(())
    }
}
