//! Ranks of anchors: the host side of `kernels/anchors.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::{AnchorsStruct, Ground, ListStruct, TextStruct, Ties, kernel_structs};
use super::tuning::{
    ANCHOR_KEYS, FINISH_KEYS, KEY_TILE, MARK_TILE, TEXT_KEYS, TEXT_PADDING, THREADS,
};
use crate::error::Result;

/// The most positions after an anchor that it is compared with.
pub const MOST_WINDOW: u32 = 64;

/// Marks the positions where the hash of `symbols` symbols is the least of those at the next `window` positions.
#[allow(unsafe_code)]
pub fn mark_anchors(gpu: &Gpu, ground: &Ground, symbols: u32, window: u32) -> Result<()> {
    let (n, words) = (ground.len(), ground.bitmap.len());
    assert!((1..=8).contains(&symbols) && window <= MOST_WINDOW && words * 32 >= n);
    assert!(ground.block.text.len() >= n + TEXT_PADDING);
    let [text, bitmap] = [ground.block.text.into(), ground.bitmap.into()];
    let arguments = [text, n.into(), symbols.into(), window.into(), bitmap, words.into()];
    // SAFETY: the text has n items and its padding, the bitmap so many words.
    unsafe { gpu.launch("mark_anchors", (words * 32).div_ceil(KEY_TILE), THREADS, &arguments) }
}

/// Gives anchors their slots as ranks. For those that are tied that is wrong, until [`rank_tied`].
#[allow(unsafe_code)]
pub fn rank_settled(gpu: &Gpu, ground: &Ground) -> Result<()> {
    let (sa, n) = (ground.block.sa, ground.len());
    let arguments = [sa.into(), n.into(), ground.bitmap.into(), ground.ranks.into()];
    // SAFETY: `sa` and the ranks have n items.
    unsafe { gpu.each("rank_settled", n, &arguments) }
}

/// Gives the anchors of a list the ranks and depths of their groups.
#[allow(unsafe_code)]
pub fn rank_tied(gpu: &Gpu, ground: &Ground, ties: Ties, m: u32) -> Result<()> {
    let Ties { suffixes, groups, depths, heads, .. } = ties;
    assert!(suffixes.len() >= m && groups.len() >= m);
    let [suffixes, groups, depths, heads] =
        [suffixes.into(), groups.into(), depths.into(), heads.into()];
    let [bitmap, ranks] = [ground.bitmap.into(), ground.ranks.into()];
    let arguments = [suffixes, groups, depths, heads, m.into(), bitmap, ranks];
    // SAFETY: the list has m items.
    unsafe { gpu.each("rank_tied", m, &arguments) }
}

/// Gives the anchors that a refining of anchors settled their slots as ranks.
#[allow(unsafe_code)]
pub fn rank_local(
    gpu: &Gpu,
    ground: &Ground,
    settled: Array<u32>,
    slots: Array<u32>,
    m: u32,
) -> Result<()> {
    assert!(settled.len() >= m && slots.len() >= m);
    let arguments = [settled.into(), slots.into(), m.into(), ground.ranks.into()];
    // SAFETY: `settled` and `slots` have m items.
    unsafe { gpu.each("rank_local", m, &arguments) }
}

/// Copies the anchors of a list to another, which goes on using the groups of the first. Their number is in the
/// mailbox then.
#[allow(unsafe_code)]
pub fn select_anchors(gpu: &Gpu, ground: &Ground, from: Ties, m: u32, to: Ties) -> Result<()> {
    assert!(from.slots.len() >= m && to.slots.len() >= m);
    let tiles = m.div_ceil(MARK_TILE);
    ground.clear_status(gpu, tiles)?;
    let arguments = Select {
        from: from.into(),
        to: to.into(),
        bitmap: ground.bitmap.address(),
        status: ground.status.address(),
        mailbox: gpu.mailbox(),
        m,
        tiles: tiles.cast_signed(),
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct("select_anchors", tiles, THREADS, &arguments) }
}

/// What the keys of a list are made of.
#[derive(Clone, Copy)]
pub enum Keys {
    /// The next symbols.
    Text,
    /// For anchors: the ranks of later anchors.
    Anchors,
    /// For the rest: the rank of the next anchor.
    Finish,
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
    assert!(ties.suffixes.len() >= m && (1..=64).contains(&width));
    let mode = match kind {
        Keys::Text => TEXT_KEYS,
        Keys::Anchors => ANCHOR_KEYS,
        Keys::Finish => FINISH_KEYS,
    };
    let arguments = ListKeys {
        list: ties.into(),
        text: ground.text(),
        code: ground.code.address(),
        anchors: ground.anchors(),
        keys: keys.address(),
        m,
        mode,
        width: width.cast_signed(),
    };
    // SAFETY: the list has m items.
    unsafe { gpu.launch_struct("list_keys", m.div_ceil(THREADS), THREADS, &arguments) }
}

/// Ends a round of doubling: anchors with a key of their own get their rank, the others go to `out`. How many items
/// and groups are left is in the mailbox then. `list` is as it was before the sort by `keys`.
#[allow(unsafe_code)]
pub fn mark_ranks(
    gpu: &Gpu,
    ground: &Ground,
    list: Ties,
    (keys, suffixes): (Array<u64>, Array<u32>),
    width: u32,
    out: Ties,
) -> Result<()> {
    let m = keys.len();
    assert!(suffixes.len() >= m && list.slots.len() >= m && out.slots.len() >= m);
    let tiles = m.div_ceil(MARK_TILE);
    ground.clear_status(gpu, tiles)?;
    let arguments = Mark {
        keys: keys.address(),
        suffixes: suffixes.address(),
        slots: list.slots.address(),
        depths: list.depths.address(),
        text: ground.text(),
        code: ground.code.address(),
        anchors: ground.anchors(),
        ranks: ground.ranks.address(),
        out: out.into(),
        status: ground.status.address(),
        mailbox: gpu.mailbox(),
        m,
        width: width.cast_signed(),
        tiles: tiles.cast_signed(),
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct("mark_ranks", tiles, THREADS, &arguments) }
}

/// `struct Select` of the kernels.
#[repr(C)]
struct Select {
    from: ListStruct,
    to: ListStruct,
    bitmap: u64,
    status: u64,
    mailbox: u64,
    m: u32,
    tiles: i32,
}

/// `struct ListKeys` of the kernels.
#[repr(C)]
struct ListKeys {
    list: ListStruct,
    text: TextStruct,
    code: u64,
    anchors: AnchorsStruct,
    keys: u64,
    m: u32,
    mode: u32,
    width: i32,
}

/// `struct Mark` of the kernels.
#[repr(C)]
struct Mark {
    keys: u64,
    suffixes: u64,
    slots: u64,
    depths: u64,
    text: TextStruct,
    code: u64,
    anchors: AnchorsStruct,
    ranks: u64,
    out: ListStruct,
    status: u64,
    mailbox: u64,
    m: u32,
    width: i32,
    tiles: i32,
}

kernel_structs!(Select, ListKeys, Mark);
