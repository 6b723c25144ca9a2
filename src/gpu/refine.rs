//! Splits sorted lists into groups and sorts the small ones further: the host side of `kernels/refine.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::{AnchorsStruct, Ground, OutStruct, TextStruct, Ties, TiesStruct, kernel_structs};
use super::tuning::{HALO, REFINE_CTAS, REFINE_THREADS, REFINE_TILE, WIDE_HALO};
use crate::error::Result;

/// What is refined.
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
            Kind::First => "refine/refine_first",
            Kind::Text => "refine/refine_text",
            Kind::Finish => "refine/refine_finish",
            Kind::Anchors => "refine/refine_anchors",
        }
    }

    /// A CTA goes on with its small groups while at most so many sixteenths stay tied.
    fn stop(self) -> u32 {
        match self {
            Kind::First => 7,
            Kind::Text | Kind::Finish => 16,
            Kind::Anchors => 12,
        }
    }

    /// The smallest tile but for short lists. The first list overwrites the keys that it is made from ([`Ties::over_keys`]): a tile that ends
    /// at item e writes less than (e + HALO) / 2 groups, and the next ones read from e - HALO on.
    fn least_tile(self) -> u32 {
        if self == Kind::First { 3 * HALO } else { LEAST_TILE }
    }
}

const LEAST_TILE: u32 = 128;

/// Lists of no more items are short: groups of up to [`WIDE_HALO`] count as small in them. Tests have few items, and some
/// of their lists are to be long.
pub const SHORT: u32 = if cfg!(test) { 2000 } else { 1 << 18 };

/// How a list is cut: items of a tile, and of the halos around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    tile: u32,
    halo: u32,
}

impl Cut {
    /// For m items, in as many tiles as are wanted, or more where tiles would be too large.
    fn new(kind: Kind, m: u32, wanted: u32) -> Self {
        if kind != Kind::First && m <= SHORT {
            return Cut { tile: REFINE_TILE - 2 * WIDE_HALO, halo: WIDE_HALO };
        }
        let tile = (m / wanted).next_multiple_of(32);
        Cut { tile: tile.clamp(kind.least_tile(), REFINE_TILE - 2 * HALO), halo: HALO }
    }
}

/// The most tiles for lists of up to n items on this GPU.
pub fn most_tiles(gpu: &Gpu, n: u32) -> u32 {
    let short = n.min(SHORT).div_ceil(REFINE_TILE - 2 * WIDE_HALO);
    wanted_tiles(gpu).max(n / (REFINE_TILE - 2 * HALO) + 1).max(short)
}

/// Lists are cut into so many tiles at most while tiles are small: a bit more than half of what the GPU holds at once, as
/// a CTA with fewer neighbours is faster.
fn wanted_tiles(gpu: &Gpu) -> u32 {
    gpu.processors() * REFINE_CTAS.div_ceil(2)
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
/// Tells how many items and groups are left.
#[allow(unsafe_code)]
pub fn refine(
    gpu: &Gpu,
    ground: &Ground,
    kind: Kind,
    sorted: Sorted,
    rounds: u32,
    settled: Array<u32>,
    out: Ties,
) -> Result<()> {
    let m = sorted.suffixes.len();
    let Cut { tile, halo } = Cut::new(kind, m, wanted_tiles(gpu));
    let tiles = m.div_ceil(tile);
    ground.clear_status(gpu, tiles)?;
    assert!(out.slots.len() >= m && sorted.keys.is_none_or(|keys| keys.len() >= m));
    assert!(sorted.from.is_none_or(|ties| ties.slots.len() >= m && ties.groups.len() >= m));
    assert!(kind != Kind::Anchors || settled.len() >= m);
    let arguments = Refine {
        keys: sorted.keys.map_or(0, Array::address),
        groups: sorted.from.map_or(0, |ties| ties.groups.address()),
        suffixes: sorted.suffixes.address(),
        slots: sorted.from.map_or(0, |ties| ties.slots.address()),
        known: sorted.from.map_or(0, |ties| ties.known.address()),
        items: m,
        width: sorted.width,
        dropped: sorted.dropped,
        rounds,
        entries: tile + 2 * halo,
        halo,
        stop: kind.stop(),
        text: ground.text(),
        codes: ground.codes.address(),
        anchors: ground.anchors(ground.dense),
        out: ground.out(gpu),
        ties: out.into(),
        settled: settled.address(),
        status: ground.status.address(),
        tiles,
    };
    // SAFETY: the lists have m items, and `status` has an item for each CTA and one more.
    unsafe { gpu.launch_struct(kind.kernel(), tiles, REFINE_THREADS, &arguments) }
}

/// `struct Refine` of the kernels.
#[repr(C)]
struct Refine {
    keys: u64,
    groups: u64,
    suffixes: u64,
    slots: u64,
    known: u64,
    items: u32,
    width: u32,
    dropped: u32,
    rounds: u32,
    entries: u32,
    halo: u32,
    stop: u32,
    text: TextStruct,
    codes: u64,
    anchors: AnchorsStruct,
    out: OutStruct,
    ties: TiesStruct,
    settled: u64,
    status: u64,
    tiles: u32,
}

kernel_structs!(Refine);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fit_their_bounds() {
        let sizes = [1, 127, 50_000, SHORT, SHORT + 1, 1_000_000, i32::MAX.cast_unsigned()];
        for (kind, m) in [Kind::First, Kind::Finish].into_iter().flat_map(|k| sizes.map(|m| (k, m)))
        {
            let Cut { tile, halo } = Cut::new(kind, m, 396);
            assert!(tile.is_multiple_of(32) && halo.is_multiple_of(32), "{m}: {tile}, {halo}");
            assert!(tile + 2 * halo <= REFINE_TILE, "{m}: {tile}, {halo}");
            assert!(kind != Kind::First || (tile >= 3 * HALO && halo == HALO), "{m}: {tile}");
        }
    }
}
