//! Splits sorted lists into groups and sorts the small ones further: the host side of `kernels/refine.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::{
    AnchorsStruct, Ground, LEAST_TILE, ListStruct, OutStruct, TextStruct, Ties, kernel_structs,
};
use super::tuning::{HALO, REFINE_CTAS, REFINE_THREADS, REFINE_TILE};
use crate::error::Result;

/// What is refined, and how long a CTA goes on with its small groups: while at most so many sixteenths stay tied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All suffixes, after the first sort.
    First,
    /// A list, by its text.
    Text,
    /// A list, by the ranks of anchors, all of which are known.
    Finish,
    /// The anchors themselves.
    Anchors,
}

impl Kind {
    fn kernel(self) -> &'static str {
        match self {
            Kind::First => "refine_first",
            Kind::Text => "refine_text",
            Kind::Finish => "refine_finish",
            Kind::Anchors => "refine_anchors",
        }
    }

    fn stop(self) -> i32 {
        match self {
            Kind::First => 9,
            Kind::Text | Kind::Finish => 16,
            Kind::Anchors => 12,
        }
    }
}

/// The list that is refined: where it comes from, and how it was sorted.
#[derive(Clone, Copy)]
pub struct Sorted<'m> {
    /// The list it was, but for the first time. Its suffixes are in the order before the sort.
    pub from: Option<Ties<'m>>,
    /// Group and next bits; none where it was not sorted, and has its own groups.
    pub keys: Option<Array<'m, u64>>,
    pub suffixes: Array<'m, u32>,
    /// Bits of a key below the group.
    pub width: u32,
    /// Bits of a key that were not sorted.
    pub dropped: u32,
}

impl<'m> Sorted<'m> {
    /// A list as it is, in its own groups.
    pub fn unsorted(ties: Ties<'m>, len: u32) -> Self {
        let suffixes = ties.suffixes.first(len);
        Sorted { from: Some(ties), keys: None, suffixes, width: 0, dropped: 0 }
    }
}

/// Refines a list by up to `rounds` rounds in each small group. What is settled goes to its row, or of anchors to
/// `settled` (one item for each of the list, `u32::MAX` for those not settled); what is not goes to `out`.
///
/// How many items and groups are left is in the mailbox then.
#[allow(unsafe_code)]
pub fn refine(
    gpu: &Gpu,
    ground: &Ground,
    kind: Kind,
    sorted: Sorted,
    rounds: i32,
    settled: Array<u32>,
    out: Ties,
) -> Result<()> {
    let m = sorted.suffixes.len();
    let entries = entries(m);
    let tiles = m.div_ceil(entries - 2 * HALO);
    ground.clear_status(gpu, tiles)?;
    let groups = sorted.from.map_or(0, |ties| ties.groups.first(m).address());
    assert!(out.slots.len() >= m && sorted.keys.is_none_or(|keys| keys.len() >= m));
    assert!(kind != Kind::Anchors || settled.len() >= m);
    let arguments = Refine {
        keys: sorted.keys.map_or(0, Array::address),
        groups: if sorted.keys.is_some() { 0 } else { groups },
        suffixes: sorted.suffixes.address(),
        slots: sorted.from.map_or(0, |ties| ties.slots.first(m).address()),
        m,
        width: sorted.width.cast_signed(),
        dropped: sorted.dropped.cast_signed(),
        depths: sorted.from.map_or(0, |ties| ties.depths.address()),
        rounds,
        entries: entries.cast_signed(),
        stop: kind.stop(),
        text: ground.text(),
        code: ground.code.address(),
        anchors: ground.anchors(),
        place: ground.out(gpu),
        out: out.into(),
        settled: settled.address(),
        status: ground.status.address(),
        tiles: tiles.cast_signed(),
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct(kind.kernel(), tiles, REFINE_THREADS, &arguments) }
}

/// Entries that a CTA refines: small tiles where the list is small.
fn entries(m: u32) -> u32 {
    let tile = (m / REFINE_CTAS).next_multiple_of(32);
    tile.clamp(LEAST_TILE, REFINE_TILE - 2 * HALO) + 2 * HALO
}

/// `struct Refine` of the kernels.
#[repr(C)]
struct Refine {
    keys: u64,
    groups: u64,
    suffixes: u64,
    slots: u64,
    m: u32,
    width: i32,
    dropped: i32,
    depths: u64,
    rounds: i32,
    entries: i32,
    stop: i32,
    text: TextStruct,
    code: u64,
    anchors: AnchorsStruct,
    place: OutStruct,
    out: ListStruct,
    settled: u64,
    status: u64,
    tiles: i32,
}

kernel_structs!(Refine);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fit_their_bounds() {
        for m in [1, 127, 50_000, 100_000, 1_000_000, i32::MAX.cast_unsigned()] {
            let entries = entries(m);
            assert!(entries.is_multiple_of(32) && entries <= REFINE_TILE, "{m}: {entries}");
            assert!(entries >= LEAST_TILE + 2 * HALO, "{m}: {entries}");
        }
    }
}
