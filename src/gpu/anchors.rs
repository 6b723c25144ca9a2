//! Ranks of anchors: the host side of `kernels/anchors.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::{Anchors, AnchorsStruct, Ground, TextStruct, Ties, TiesStruct, kernel_structs};
use super::tuning::{
    ANCHOR_KEYS, DENSE_KEYS, FINISH_KEYS, KEY_TILE, LIST_ITEMS, MARK_TILE, MOST_WINDOW,
    SPARSE_KEYS, TEXT_KEYS, TEXT_PADDING, THREADS,
};
use crate::error::Result;

/// Marks the dense anchors: where the hash of `symbols` symbols is the least of those at the next `window` positions.
/// Tells how many there are.
#[allow(unsafe_code)]
pub fn mark_anchors(gpu: &Gpu, ground: &Ground, symbols: u32, window: u32) -> Result<()> {
    let (n, bitmap) = (ground.len(), ground.dense.bitmap);
    let words = bitmap.len();
    assert!((1..=8).contains(&symbols) && window <= MOST_WINDOW && words * 32 >= n);
    assert!(ground.block.text.len() >= n + TEXT_PADDING);
    ground.clear_status(gpu, 0)?;
    let [text, counts] = [ground.block.text.into(), ground.status.into()];
    let [n, symbols, window] = [n.into(), symbols.into(), window.into()];
    let arguments =
        [text, n, symbols, window, bitmap.into(), words.into(), counts, gpu.mailbox().into()];
    let ctas = (words * 32).div_ceil(KEY_TILE);
    // SAFETY: the text has n items and its padding, the bitmap so many words, and the first word of `status` two counts.
    unsafe { gpu.launch("anchors/mark_anchors", ctas, THREADS, &arguments) }
}

/// Gives the anchors that are settled their slots as ranks.
#[allow(unsafe_code)]
pub fn rank_settled(gpu: &Gpu, ground: &Ground) -> Result<()> {
    let (sa, n, dense) = (ground.block.sa, ground.len(), ground.dense);
    assert!(dense.ranks.len() >= n);
    let arguments = [sa.into(), n.into(), dense.bitmap.into(), dense.ranks.into()];
    // SAFETY: `sa` and the ranks have n items.
    unsafe { gpu.each("anchors/rank_settled", n, &arguments) }
}

/// Gives the anchors of a list of anchors the slots and depths of their groups.
#[allow(unsafe_code)]
pub fn rank_tied(gpu: &Gpu, ties: Ties, m: u32, ranks: Array<u64>) -> Result<()> {
    let Ties { suffixes, groups, known, .. } = ties;
    assert!(suffixes.len() >= m && groups.len() >= m);
    let arguments = [suffixes.into(), groups.into(), known.into(), m.into(), ranks.into()];
    // SAFETY: the list has m items, and the ranks one for each position.
    unsafe { gpu.each("anchors/rank_tied", m, &arguments) }
}

/// Gives the anchors that a refining of anchors settled their slots as ranks.
#[allow(unsafe_code)]
pub fn rank_local(
    gpu: &Gpu,
    settled: Array<u32>,
    slots: Array<u32>,
    m: u32,
    ranks: Array<u64>,
) -> Result<()> {
    assert!(settled.len() >= m && slots.len() >= m);
    let arguments = [settled.into(), slots.into(), m.into(), ranks.into()];
    // SAFETY: `settled` and `slots` have m items, and the ranks one for each position.
    unsafe { gpu.each("anchors/rank_local", m, &arguments) }
}

/// Copies the anchors of a level that a list has to another list, which goes on using the groups of the first, and ranks
/// them by these. Tells their number.
#[allow(unsafe_code)]
pub fn select_anchors(
    gpu: &Gpu,
    ground: &Ground,
    level: Anchors,
    from: Ties,
    m: u32,
    to: Ties,
) -> Result<()> {
    assert!(from.slots.len() >= m && level.ranks.len() >= ground.len());
    let tiles = m.div_ceil(MARK_TILE);
    ground.clear_status(gpu, tiles)?;
    let arguments = Select {
        from: from.into(),
        to: to.into(),
        bitmap: level.bitmap.address(),
        ranks: level.ranks.address(),
        status: ground.status.address(),
        mailbox: gpu.mailbox(),
        items: m,
        tiles,
    };
    // SAFETY: `from` has m items and `to` as many as the bitmap has bits; `status` an item for each CTA and one more.
    unsafe { gpu.launch_struct("anchors/select_anchors", tiles, THREADS, &arguments) }
}

/// What the keys of a list are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The next symbols.
    Text,
    /// For anchors: the ranks of later ones.
    Anchors,
    /// For sparse anchors: the ranks of later ones.
    Sparse,
    /// For dense anchors, when the sparse ones are ranked: the rank of the next one.
    Dense,
    /// For all, when the anchors are ranked: the rank of the next one.
    Finish,
}

impl Keys {
    fn number(self) -> u32 {
        match self {
            Keys::Text => TEXT_KEYS,
            Keys::Anchors => ANCHOR_KEYS,
            Keys::Sparse => SPARSE_KEYS,
            Keys::Dense => DENSE_KEYS,
            Keys::Finish => FINISH_KEYS,
        }
    }
}

/// Makes keys: the group, and `width` bits.
#[allow(unsafe_code)]
pub fn list_keys(
    gpu: &Gpu,
    ground: &Ground,
    kind: Keys,
    ties: Ties,
    width: u32,
    keys: Array<u64>,
) -> Result<()> {
    let m = keys.len();
    assert!(ties.suffixes.len() >= m && ties.groups.len() >= m && (1..=64).contains(&width));
    let arguments = ListKeys {
        list: ties.into(),
        text: ground.text(),
        codes: ground.codes.address(),
        dense: ground.anchors(ground.dense),
        sparse: ground.anchors(ground.sparse),
        keys: keys.address(),
        items: m,
        kind: kind.number(),
        width,
    };
    let ctas = m.div_ceil(LIST_ITEMS * THREADS);
    // SAFETY: the list has m items.
    unsafe { gpu.launch_struct("anchors/list_keys", ctas, THREADS, &arguments) }
}

/// A list that was sorted by keys of a kind.
#[derive(Clone, Copy)]
pub struct ByKeys<'m> {
    /// As it was before the sort.
    pub list: Ties<'m>,
    pub kind: Keys,
    pub keys: Array<'m, u64>,
    pub suffixes: Array<'m, u32>,
    pub width: u32,
}

/// Ends a round of doubling: anchors with a key of their own get their rank, the others go to `out`. Tells how many
/// items and groups are left.
#[allow(unsafe_code)]
pub fn mark_ranks(
    gpu: &Gpu,
    ground: &Ground,
    sorted: ByKeys,
    ranks: Array<u64>,
    out: Ties,
) -> Result<()> {
    let m = sorted.keys.len();
    assert!(sorted.suffixes.len() >= m && sorted.list.slots.len() >= m && out.slots.len() >= m);
    let tiles = m.div_ceil(MARK_TILE);
    ground.clear_status(gpu, tiles)?;
    let arguments = Mark {
        keys: sorted.keys.address(),
        suffixes: sorted.suffixes.address(),
        slots: sorted.list.slots.address(),
        known: sorted.list.known.address(),
        text: ground.text(),
        codes: ground.codes.address(),
        dense: ground.anchors(ground.dense),
        sparse: ground.anchors(ground.sparse),
        ranks: ranks.address(),
        ties: out.into(),
        status: ground.status.address(),
        mailbox: gpu.mailbox(),
        items: m,
        kind: sorted.kind.number(),
        width: sorted.width,
        tiles,
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct("anchors/mark_ranks", tiles, THREADS, &arguments) }
}

/// `struct Select` of the kernels.
#[repr(C)]
struct Select {
    from: TiesStruct,
    to: TiesStruct,
    bitmap: u64,
    ranks: u64,
    status: u64,
    mailbox: u64,
    items: u32,
    tiles: u32,
}

/// `struct ListKeys` of the kernels.
#[repr(C)]
struct ListKeys {
    list: TiesStruct,
    text: TextStruct,
    codes: u64,
    dense: AnchorsStruct,
    sparse: AnchorsStruct,
    keys: u64,
    items: u32,
    kind: u32,
    width: u32,
}

/// `struct Mark` of the kernels.
#[repr(C)]
struct Mark {
    keys: u64,
    suffixes: u64,
    slots: u64,
    known: u64,
    text: TextStruct,
    codes: u64,
    dense: AnchorsStruct,
    sparse: AnchorsStruct,
    ranks: u64,
    ties: TiesStruct,
    status: u64,
    mailbox: u64,
    items: u32,
    kind: u32,
    width: u32,
    tiles: u32,
}

kernel_structs!(Select, ListKeys, Mark);
