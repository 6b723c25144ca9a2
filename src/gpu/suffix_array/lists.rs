//! Lists of suffixes still tied: how many are left, and sorting them by new keys.

use super::super::anchors::{ByKeys, Keys, list_keys};
use super::super::buffers::{Array, Carver, Double};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::refine::Sorted;
use super::super::ties::{Ground, Ties};
use super::bits;
use crate::error::Result;

/// How many are left.
#[derive(Clone, Copy)]
pub struct Left {
    pub items: u32,
    pub groups: u32,
}

impl Left {
    /// What the last kernel tells.
    pub fn told(gpu: &Gpu) -> Result<Left> {
        gpu.told().map(|(items, groups)| Left { items, groups })
    }

    pub fn mean_group(self) -> u32 {
        self.items / self.groups.max(1)
    }

    /// Bits of the number of a group.
    pub fn group_bits(self) -> u32 {
        bits(self.groups.saturating_sub(1))
    }
}

/// Buffers for sorting lists of up to so many items.
#[derive(Clone, Copy)]
pub struct ListSort<'m> {
    cub: Cub<'m>,
    keys: Double<'m, u64>,
    /// The other half of a list's suffixes while they are sorted.
    pub suffixes: Array<'m, u32>,
}

impl<'m> ListSort<'m> {
    pub fn carve(carver: &mut Carver<'m>, cub: Cub<'m>, items: u32) -> Self {
        let items = items as usize;
        ListSort { cub, keys: carver.take_two(items), suffixes: carver.take(items) }
    }

    /// Sorts a list by its groups and `width` bits of new keys.
    pub fn sort(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        kind: Keys,
        list: Ties<'m>,
        left: Left,
        width: u32,
    ) -> Result<ByKeys<'m>> {
        let mut keys = self.keys.first_items(left.items);
        let suffixes = Double {
            first: list.suffixes.first(left.items),
            second: self.suffixes.first(left.items),
        };
        let mut suffixes = suffixes;
        list_keys(gpu, ground, kind, list, width, keys.first)?;
        self.cub.sort_pairs(gpu, &mut keys, &mut suffixes, 0..width + left.group_bits())?;
        Ok(ByKeys { list, kind, keys: keys.first, suffixes: suffixes.first, width })
    }
}

impl<'m> From<ByKeys<'m>> for Sorted<'m> {
    fn from(sorted: ByKeys<'m>) -> Self {
        let ByKeys { list, keys, suffixes, width, .. } = sorted;
        Sorted { from: Some(list), keys: Some(keys), suffixes, width, dropped: 0 }
    }
}
