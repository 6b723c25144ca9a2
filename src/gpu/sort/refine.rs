//! Splits sorted lists into groups and sorts the small ones further: the host side of
//! `kernels/sort/refine.cu`.

use super::unsorted_groups::{SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::RefineArgs;
use crate::gpu::runtime::tuning::{HALO, REFINE_CTAS, REFINE_THREADS, REFINE_TILE};
use crate::gpu::runtime::{Array, Gpu};

/// Kind of list that is refined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefineKind {
    /// All suffixes, after the first sort.
    First,
    /// A list of suffixes, refined by text.
    Text,
    /// A list of suffixes, refined by the ranks of minimizers, all of which are known.
    Finish,
    /// A list of minimizers.
    Minimizers,
}

impl RefineKind {
    fn kernel(self) -> &'static str {
        match self {
            RefineKind::First => "refine/refine_first",
            RefineKind::Text => "refine/refine_text",
            RefineKind::Finish => "refine/refine_finish",
            RefineKind::Minimizers => "refine/refine_minimizers",
        }
    }

    /// A CTA starts another round on its small groups while at most this many sixteenths of a
    /// round's items stay unresolved.
    fn stop(self) -> u32 {
        match self {
            RefineKind::First => 7,
            RefineKind::Text | RefineKind::Finish => 16,
            RefineKind::Minimizers => 12,
        }
    }

    /// Minimum number of items in a tile. The first list overwrites the keys that it is made from
    /// ([`UnsortedGroups::over_keys`]): a tile that ends at item e writes fewer than (e + HALO) / 2
    /// groups, and the next tiles read from e - HALO on.
    fn least_tile(self) -> u32 {
        if self == RefineKind::First {
            3 * HALO
        } else {
            LEAST_TILE
        }
    }
}

const LEAST_TILE: u32 = 128;
const MOST_TILE: u32 = REFINE_TILE - 2 * HALO;

/// Number of tiles into which small lists are cut: a bit more than half of the CTAs that the GPU
/// holds at once, since a CTA with fewer neighbours is faster.
fn wanted_tiles(gpu: &Gpu) -> u32 {
    gpu.processors() * REFINE_CTAS.div_ceil(2)
}

/// Maximum number of tiles for lists of up to n items on this GPU.
pub(super) fn most_tiles(gpu: &Gpu, n: u32) -> u32 {
    wanted_tiles(gpu).max(n.div_ceil(MOST_TILE))
}

/// Number of items in a tile, in whole words of bits.
fn tile(kind: RefineKind, m: u32, wanted: u32) -> u32 {
    m.div_ceil(wanted)
        .next_multiple_of(32)
        .clamp(kind.least_tile(), MOST_TILE)
}

/// A list to refine, with its origin and the way it was sorted.
#[derive(Clone, Copy)]
pub(super) struct RefineInput<'m> {
    /// The list before the sort, with its suffixes in their old order; `None` the first time.
    pub from: Option<UnsortedGroups<'m>>,
    /// Keys of a group and the next bits; `None` if the list was not sorted and keeps its own
    /// groups.
    pub keys: Option<Array<'m, u64>>,
    pub suffixes: Array<'m, u32>,
    /// Number of bits in a key below the group.
    pub width: u32,
    /// Number of low bits in a key that were not sorted.
    pub dropped: u32,
}

impl<'m> RefineInput<'m> {
    /// A list that was not sorted and keeps its own groups.
    pub(super) fn unsorted(list: UnsortedGroups<'m>, len: u32) -> Self {
        let suffixes = list.suffixes.first(len);
        RefineInput {
            from: Some(list),
            keys: None,
            suffixes,
            width: 0,
            dropped: 0,
        }
    }
}

/// Refines a list by up to `rounds` rounds in each small group. Resolved suffixes go to their rows.
/// Resolved minimizers go to `resolved`, which has one item for each of the list, `u32::MAX` for
/// those not resolved. Unresolved items go to `out`.
///
/// Publishes the numbers of unresolved items and groups.
#[allow(unsafe_code)]
pub(super) fn refine(
    gpu: &Gpu,
    state: &SortState,
    kind: RefineKind,
    sorted: RefineInput,
    rounds: u32,
    resolved: Array<u32>,
    out: UnsortedGroups,
) -> Result<()> {
    let m = sorted.suffixes.len();
    let tile = tile(kind, m, wanted_tiles(gpu));
    let tiles = m.div_ceil(tile);
    state.clear_status(gpu, tiles)?;
    assert!(out.sa_indices.len() >= m && sorted.keys.is_none_or(|keys| keys.len() >= m));
    assert!(
        sorted
            .from
            .is_none_or(|list| list.sa_indices.len() >= m && list.groups.len() >= m)
    );
    assert!(kind != RefineKind::Minimizers || resolved.len() >= m);
    let arguments = RefineArgs {
        keys: sorted.keys.map_or(0, Array::address),
        groups: sorted
            .from
            .map_or(0, |list| list.groups.address()),
        suffixes: sorted.suffixes.address(),
        sa_indices: sorted
            .from
            .map_or(0, |list| list.sa_indices.address()),
        group_heads: sorted
            .from
            .map_or(0, |list| list.group_heads.address()),
        items: m,
        width: sorted.width,
        dropped: sorted.dropped,
        rounds,
        cta_items: tile + 2 * HALO,
        stop: kind.stop(),
        text: state.text_view(),
        code_table: state.code_table.address(),
        minimizers: state.minimizers_view(state.dense),
        out: state.block.output_view(gpu),
        to: out.view(),
        resolved: resolved.address(),
        status: state.status.address(),
        tiles: tiles.cast_signed(),
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct(kind.kernel(), tiles, REFINE_THREADS, &arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fit_their_bounds() {
        let wanted = 396;
        for border in [1, 127, 396 * 128, 396 * 384, 396 * 1280, 1_000_000, 1 << 30] {
            for (m, kind) in
                (border..border + 3).flat_map(|m| [(m, RefineKind::First), (m, RefineKind::Text)])
            {
                let tile = tile(kind, m, wanted);
                assert!(
                    tile.is_multiple_of(32) && tile + 2 * HALO <= REFINE_TILE,
                    "{m}: {tile}"
                );
                assert!(tile >= kind.least_tile(), "{m}: {tile}");
                assert!(
                    m.div_ceil(tile) <= wanted.max(m.div_ceil(MOST_TILE)),
                    "{m}: {tile}"
                );
            }
        }
    }
}
