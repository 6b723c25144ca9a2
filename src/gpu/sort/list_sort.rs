//! Sorts lists of unresolved suffixes by new keys.

use super::minimizers::{KeySortedList, ListKeyKind, list_keys};
use super::refine::RefineInput;
use super::unsorted_groups::{SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, at_most};

/// Numbers of unresolved suffixes and of their groups.
#[derive(Clone, Copy)]
pub(crate) struct Unresolved {
    pub items: u32,
    pub groups: u32,
}

/// A list of unresolved suffixes, with the numbers of its items and groups.
#[derive(Clone, Copy)]
pub(crate) struct UnresolvedList<'m> {
    pub list: UnsortedGroups<'m>,
    pub unresolved: Unresolved,
}

impl Unresolved {
    /// Waits for the numbers that the last kernel publishes, for up to `most` suffixes.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a number is too large, here and below: the GPU is
    /// faulty.
    pub(crate) fn wait(gpu: &Gpu, most: u32) -> Result<Unresolved> {
        let (items, groups) = gpu.wait_for_counts()?;
        Ok(Unresolved {
            items: at_most(items, most)?,
            groups: at_most(groups, most)?,
        })
    }

    /// Waits for the number of suffixes, up to `most`, that a kernel selects. The groups stay.
    pub(crate) fn wait_for_selected(self, gpu: &Gpu, most: u32) -> Result<Unresolved> {
        let items = at_most(gpu.wait_for_counts()?.0, most)?;
        Ok(Unresolved { items, ..self })
    }

    pub(crate) fn mean_group(self) -> u32 {
        self.items / self.groups.max(1)
    }

    /// Number of bits of a group's number.
    pub(crate) fn group_bits(self) -> u32 {
        bit_width(self.groups.saturating_sub(1))
    }
}

/// Buffers for sorting lists of up to a given number of items.
#[derive(Clone, Copy)]
pub(super) struct ListSort<'m> {
    cub: Cub<'m>,
    keys: DoubleBuffer<'m, u64>,
    /// Second buffer for a list's suffixes while they are sorted.
    pub suffixes: Array<'m, u32>,
}

impl<'m> ListSort<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, cub: Cub<'m>, items: u32) -> Self {
        let items = items as usize;
        ListSort {
            cub,
            keys: arena.double_buffer(items),
            suffixes: arena.array(items),
        }
    }

    /// Sorts a list by its groups and `width` bits of new keys.
    pub(super) fn sort(
        &self,
        gpu: &Gpu,
        state: &SortState<'m>,
        kind: ListKeyKind,
        list: UnsortedGroups<'m>,
        unresolved: Unresolved,
        width: u32,
    ) -> Result<KeySortedList<'m>> {
        let mut keys = self.keys.first_items(unresolved.items);
        let suffixes = DoubleBuffer {
            current: list.suffixes.first(unresolved.items),
            alternate: self.suffixes.first(unresolved.items),
        };
        let mut suffixes = suffixes;
        list_keys(gpu, state, kind, list, width, keys.current)?;
        self.cub.sort_pairs(
            gpu,
            &mut keys,
            &mut suffixes,
            0..width + unresolved.group_bits(),
        )?;
        Ok(KeySortedList {
            list,
            kind,
            keys: keys.current,
            suffixes: suffixes.current,
            width,
        })
    }
}

impl<'m> From<KeySortedList<'m>> for RefineInput<'m> {
    fn from(sorted: KeySortedList<'m>) -> Self {
        let KeySortedList {
            list,
            keys,
            suffixes,
            width,
            ..
        } = sorted;
        RefineInput {
            from: Some(list),
            keys: Some(keys),
            suffixes,
            width,
            dropped: 0,
        }
    }
}
