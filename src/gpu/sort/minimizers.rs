//! Ranks of minimizers: the host side of `kernels/sort/minimizers.cu`.

use super::unsorted_groups::{Minimizers, SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::block::is_padded;
use crate::gpu::runtime::kernel_structs::{ListKeysArgs, MarkRanksArgs, SelectArgs};
use crate::gpu::runtime::tuning::{
    DENSE_KEYS, FINISH_KEYS, KEY_TILE, LIST_ITEMS, MARK_TILE, MINIMIZER_KEYS, MOST_WINDOW,
    SPARSE_KEYS, TEXT_KEYS, THREADS,
};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Marks the dense minimizers: positions at which the hash of `symbols` symbols is the smallest
/// among those of the next `window` positions. Publishes their number.
#[allow(unsafe_code)]
pub(super) fn mark_minimizers(
    gpu: &Gpu,
    state: &SortState,
    symbols: u32,
    window: u32,
) -> Result<()> {
    let n = state.n;
    let bitmap = state.dense.bitmap;
    let words = bitmap.len();
    assert!((1..=8).contains(&symbols) && window <= MOST_WINDOW && words > n / 32);
    assert!(is_padded(state.block.text, n));
    state.clear_status(gpu, 0)?;
    let text = state.block.text;
    let counts = state.status;
    let arguments = arguments![
        text,
        n,
        symbols,
        window,
        bitmap,
        words,
        counts,
        gpu.host_flags()
    ];
    let ctas = words.div_ceil(KEY_TILE / 32);
    // SAFETY: the text has n items and its padding, the bitmap `words` words, and the first word of
    // `status` holds two counts.
    unsafe { gpu.launch("minimizers/mark_minimizers", ctas, THREADS, arguments) }
}

/// Gives resolved minimizers their SA indices as ranks. `sa` holds the suffix array from `first`
/// on.
#[allow(unsafe_code)]
pub(crate) fn rank_resolved(
    gpu: &Gpu,
    state: &SortState,
    sa: Array<u32>,
    first: u32,
) -> Result<()> {
    let dense = state.dense;
    assert!(dense.ranks.len() >= state.n);
    let arguments = arguments![sa, sa.len(), first, dense.bitmap, dense.ranks];
    // SAFETY: `sa` has that many items, and there is a rank for each position.
    unsafe { gpu.each("minimizers/rank_resolved", sa.len(), arguments) }
}

/// Gives the minimizers of a list the SA indices and depths of their groups as ranks.
#[allow(unsafe_code)]
pub(super) fn rank_unresolved(
    gpu: &Gpu,
    list: UnsortedGroups,
    m: u32,
    ranks: Array<u64>,
) -> Result<()> {
    let UnsortedGroups {
        suffixes,
        groups,
        group_heads,
        ..
    } = list;
    assert!(suffixes.len() >= m && groups.len() >= m);
    let arguments = arguments![suffixes, groups, group_heads, m, ranks];
    // SAFETY: the list has m items, and there is a rank for each position.
    unsafe { gpu.each("minimizers/rank_unresolved", m, arguments) }
}

/// Gives minimizers that were resolved by refining a list their SA indices as ranks.
#[allow(unsafe_code)]
pub(super) fn rank_local(
    gpu: &Gpu,
    resolved: Array<u32>,
    sa_indices: Array<u32>,
    m: u32,
    ranks: Array<u64>,
) -> Result<()> {
    assert!(resolved.len() >= m && sa_indices.len() >= m);
    // SAFETY: `resolved` and `sa_indices` have m items, and there is a rank for each position.
    unsafe {
        gpu.each(
            "minimizers/rank_local",
            m,
            arguments![resolved, sa_indices, m, ranks],
        )
    }
}

/// Copies the minimizers of a level from one list to another, and ranks them by their groups. The
/// new list goes on using the groups of the old one. Publishes their number.
#[allow(unsafe_code)]
pub(crate) fn select_minimizers(
    gpu: &Gpu,
    state: &SortState,
    level: Minimizers,
    from: UnsortedGroups,
    m: u32,
    to: UnsortedGroups,
) -> Result<()> {
    assert!(from.sa_indices.len() >= m && level.ranks.len() >= state.n);
    let tiles = m.div_ceil(MARK_TILE);
    state.clear_status(gpu, tiles)?;
    let arguments = SelectArgs {
        from: from.view(),
        to: to.view(),
        bitmap: level.bitmap.address(),
        ranks: level.ranks.address(),
        status: state.status.address(),
        host_flags: gpu.host_flags(),
        items: m,
        tiles: tiles.cast_signed(),
    };
    // SAFETY: `from` has m items, and `to` as many as the bitmap has bits. `status` has an item for
    // each CTA and one more.
    unsafe { gpu.launch_struct("minimizers/select_minimizers", tiles, THREADS, &arguments) }
}

/// Content of the keys of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKeyKind {
    /// The next symbols.
    Text,
    /// For minimizers: ranks of later minimizers.
    Minimizers,
    /// For sparse minimizers: ranks of later sparse ones.
    Sparse,
    /// For dense minimizers, once the sparse ones are ranked: rank of the next sparse one.
    Dense,
    /// For all suffixes, once the minimizers are ranked: rank of the next minimizer.
    Finish,
}

impl ListKeyKind {
    fn number(self) -> u32 {
        match self {
            ListKeyKind::Text => TEXT_KEYS,
            ListKeyKind::Minimizers => MINIMIZER_KEYS,
            ListKeyKind::Sparse => SPARSE_KEYS,
            ListKeyKind::Dense => DENSE_KEYS,
            ListKeyKind::Finish => FINISH_KEYS,
        }
    }
}

/// Makes keys of a group's number and `width` bits.
#[allow(unsafe_code)]
pub(super) fn list_keys(
    gpu: &Gpu,
    state: &SortState,
    kind: ListKeyKind,
    list: UnsortedGroups,
    width: u32,
    keys: Array<u64>,
) -> Result<()> {
    let m = keys.len();
    assert!(list.suffixes.len() >= m && list.groups.len() >= m && (1..=64).contains(&width));
    let arguments = ListKeysArgs {
        list: list.view(),
        text: state.text_view(),
        code_table: state.code_table.address(),
        dense: state.minimizers_view(state.dense),
        sparse: state.minimizers_view(state.sparse),
        keys: keys.address(),
        items: m,
        kind: kind.number(),
        width,
    };
    let ctas = m.div_ceil(LIST_ITEMS * THREADS);
    // SAFETY: the list has m items.
    unsafe { gpu.launch_struct("minimizers/list_keys", ctas, THREADS, &arguments) }
}

/// A list that was sorted by keys.
#[derive(Clone, Copy)]
pub(super) struct KeySortedList<'m> {
    /// The list before the sort.
    pub list: UnsortedGroups<'m>,
    pub kind: ListKeyKind,
    pub keys: Array<'m, u64>,
    pub suffixes: Array<'m, u32>,
    pub width: u32,
}

/// Ends a round of doubling. Minimizers with a key of their own get their rank, the others go to
/// `out`. Publishes the numbers of unresolved items and groups.
#[allow(unsafe_code)]
pub(super) fn mark_ranks(
    gpu: &Gpu,
    state: &SortState,
    sorted: KeySortedList,
    ranks: Array<u64>,
    out: UnsortedGroups,
) -> Result<()> {
    let m = sorted.keys.len();
    assert!(
        sorted.suffixes.len() >= m
            && sorted.list.sa_indices.len() >= m
            && out.sa_indices.len() >= m
    );
    let tiles = m.div_ceil(MARK_TILE);
    state.clear_status(gpu, tiles)?;
    let arguments = MarkRanksArgs {
        keys: sorted.keys.address(),
        suffixes: sorted.suffixes.address(),
        sa_indices: sorted.list.sa_indices.address(),
        group_heads: sorted.list.group_heads.address(),
        text: state.text_view(),
        code_table: state.code_table.address(),
        dense: state.minimizers_view(state.dense),
        sparse: state.minimizers_view(state.sparse),
        ranks: ranks.address(),
        to: out.view(),
        status: state.status.address(),
        host_flags: gpu.host_flags(),
        items: m,
        kind: sorted.kind.number(),
        width: sorted.width,
        tiles: tiles.cast_signed(),
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct("minimizers/mark_ranks", tiles, THREADS, &arguments) }
}
