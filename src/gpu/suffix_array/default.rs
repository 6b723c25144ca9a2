//! What is fastest. Suffixes are first sorted by 56 bits of their text in an alphabetic code ([`Code`]), which the sort
//! carries along with the byte before each suffix; then groups of equal ones are split further, and what is settled is
//! written to the transform at once.
//!
//! 1. Groups of up to `HALO` suffixes are sorted on by text, all rounds in the shared memory of one CTA
//!    (`kernels/refine.cu`).
//! 2. Where few suffixes are left, more text is compared.
//! 3. Else some positions are chosen by their content, so that equal texts have equal ones: the *anchors*. Only they
//!    are ranked by prefix doubling, in which each group has its own depth and jumps by the anchor farthest within it.
//! 4. What is left is sorted by the text up to the next anchor and the rank of that.
//!
//! Prefix doubling is that of Larsson and Sadakane, anchors are the minimizers of Schleimer, Wilkerson and Aiken
//! (*Winnowing*, 2003) put to this use. Takes about 87 bytes per suffix.

use super::super::anchors::{
    Keys, list_keys, mark_anchors, mark_ranks, rank_local, rank_settled, rank_tied, select_anchors,
};
use super::super::buffers::{Array, Carver, Double};
use super::super::codes::{code_keys, count_bytes};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::refine::{Kind, Sorted, refine};
use super::super::ties::{Ground, LEAST_TILE, Ties};
use super::code::Code;
use super::{Block, bits};
use crate::error::Result;

/// Bits of a first key that hold the byte before the suffix.
const BYTE: u32 = 8;
/// Bits of a first key that are not sorted where symbols have more than [`LONG_CODE`] bits in the mean: such texts are
/// near random, and fewer bits do.
const DROPPED: u32 = 16;
const LONG_CODE: f64 = 7.5;
/// Text goes on being compared while less than this part of all suffixes is left, for so many rounds.
const FEW: u32 = 32;
const TEXT_ROUNDS: usize = 3;
/// Where so few are left, they are sorted on in shared memory for many rounds.
const VERY_FEW: u32 = 32768;
/// Groups smaller than this in the mean are not worth a sort of the list.
const SMALL_GROUPS: u32 = 16;
/// Up to so many anchors, or with groups smaller than this after two rounds, doubling goes on in shared memory first.
const FEW_ANCHORS: u32 = 65536;
const SMALL_ANCHOR_GROUPS: u32 = 64;
/// Below so many anchors, two jumps at a time are worth a wider sort.
const TWO_JUMPS: u32 = 1_000_000;
/// Bits of a key of anchors, at least, and more of them in the first two rounds, in which there is text in it.
const ANCHOR_BITS: u32 = 24;
/// Bits of text in a key beside a rank.
const TEXT_BITS: u32 = 30;

/// How many are left.
#[derive(Clone, Copy)]
struct Left {
    items: u32,
    groups: u32,
}

impl Left {
    fn read(gpu: &Gpu) -> Result<Left> {
        let [items, groups, _] = gpu.mail()?;
        Ok(Left { items, groups })
    }

    fn mean_group(self) -> u32 {
        self.items / self.groups.max(1)
    }

    /// Bits of the number of a group.
    fn group_bits(self) -> u32 {
        bits(self.groups.saturating_sub(1))
    }
}

/// The buffers.
pub struct DefaultSort<'m> {
    cub: Cub<'m>,
    keys: Double<'m, u64>,
    suffixes: Double<'m, u32>,
    lists: [Ties<'m>; 3],
    counts: Array<'m, u32>,
    code: Array<'m, u32>,
    bitmap: Array<'m, u32>,
    ranks: Array<'m, u64>,
    status: Array<'m, u64>,
}

impl<'m> DefaultSort<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let items = n as usize;
        Ok(DefaultSort {
            cub: Cub::carve(gpu, carver, n)?,
            keys: carver.take_two(items),
            suffixes: carver.take_two(items),
            lists: std::array::from_fn(|_| Ties::carve(carver, n)),
            counts: carver.take(256),
            code: carver.take(256),
            bitmap: carver.take(items / 32 + 8),
            ranks: carver.take(items),
            status: carver.take(n.div_ceil(LEAST_TILE) as usize + 1),
        })
    }

    /// Sorts, and writes the transform with its samples too.
    pub fn run(mut self, gpu: &Gpu, block: Block<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        count_bytes(gpu, block.text, n, self.counts)?;
        let code = Code::new(&gpu.read(self.counts)?);
        gpu.write(&code.entries, self.code)?;
        let mut ground = Ground {
            block,
            code: self.code,
            bitmap: self.bitmap,
            ranks: self.ranks,
            look: 0,
            rank_bits: bits(n - 1),
            status: self.status,
        };
        let mut left = self.first(gpu, &ground, &code)?;
        rounds.push(left.items);
        for _ in 0..TEXT_ROUNDS {
            if left.items == 0 || left.items >= n / FEW {
                break;
            }
            left = self.text_round(gpu, &ground, left)?;
            rounds.push(left.items);
        }
        if left.items == 0 {
            return Ok(());
        }
        let (symbols, window) = spacing(&code);
        ground.look = symbols + window;
        mark_anchors(gpu, &ground, symbols, window)?;
        self.rank_anchors(gpu, &ground, left, rounds)?;
        // Small groups need no sort of the list.
        let whole = Sorted::unsorted(self.lists[0], left.items);
        left = self.refine(gpu, &ground, Kind::Finish, whole, 64)?;
        rounds.push(left.items);
        while left.items > 0 {
            let width = (u64::BITS - left.group_bits()).min(ground.rank_bits + TEXT_BITS);
            let sorted = self.sort(gpu, &ground, Keys::Finish, self.lists[0], left, width)?;
            left = self.refine(gpu, &ground, Kind::Finish, sorted, 64)?;
            rounds.push(left.items);
        }
        Ok(())
    }

    /// Sorts all suffixes by their first keys; what is not settled by that and some rounds is in the first list then.
    fn first(&mut self, gpu: &Gpu, ground: &Ground<'m>, code: &Code) -> Result<Left> {
        code_keys(gpu, ground, self.keys.first, self.suffixes.first)?;
        let dropped = if code.mean > LONG_CODE { DROPPED } else { BYTE };
        let (mut keys, mut suffixes) = (self.keys, self.suffixes);
        self.cub.sort_pairs(gpu, &mut keys, &mut suffixes, dropped..u64::BITS)?;
        let keys = Some(keys.first);
        let sorted =
            Sorted { from: None, keys, suffixes: suffixes.first, width: u64::BITS, dropped };
        self.refine(gpu, ground, Kind::First, sorted, 3)
    }

    fn text_round(&mut self, gpu: &Gpu, ground: &Ground<'m>, left: Left) -> Result<Left> {
        let sorted = if left.mean_group() < SMALL_GROUPS {
            Sorted::unsorted(self.lists[0], left.items)
        } else {
            let width = (u64::BITS - left.group_bits()).min(48);
            self.sort(gpu, ground, Keys::Text, self.lists[0], left, width)?
        };
        let rounds = if left.items < VERY_FEW { 128 } else { 8 };
        self.refine(gpu, ground, Kind::Text, sorted, rounds)
    }

    /// Refines the first list, which then is what is left of it.
    fn refine(
        &mut self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        kind: Kind,
        sorted: Sorted<'m>,
        rounds: i32,
    ) -> Result<Left> {
        refine(gpu, ground, kind, sorted, rounds, self.suffixes.first, self.lists[1])?;
        self.lists.swap(0, 1);
        Left::read(gpu)
    }

    /// Sorts a list by its groups and `width` bits of new keys.
    fn sort(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        kind: Keys,
        list: Ties<'m>,
        left: Left,
        width: u32,
    ) -> Result<Sorted<'m>> {
        let mut keys = self.keys.first_items(left.items);
        let mut suffixes =
            Double { first: list.suffixes, second: self.suffixes.second }.first_items(left.items);
        list_keys(gpu, ground, kind, list, width, keys.first)?;
        self.cub.sort_pairs(gpu, &mut keys, &mut suffixes, 0..width + left.group_bits())?;
        let (keys, suffixes) = (Some(keys.first), suffixes.first);
        Ok(Sorted { from: Some(list), keys, suffixes, width, dropped: 0 })
    }

    /// Gives all anchors their final ranks. `left` is about the first list, which stays as it is.
    fn rank_anchors(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        mut left: Left,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let [all, mut list, mut next] = self.lists;
        rank_settled(gpu, ground)?;
        rank_tied(gpu, ground, all, left.items)?;
        select_anchors(gpu, ground, all, left.items, list)?;
        left.items = Left::read(gpu)?.items;
        rounds.push(left.items);
        // At first the groups are those of the whole list.
        let own_depths = std::mem::replace(&mut list.depths, all.depths);
        let mut first = Some(own_depths);
        let mut flip = |list: &mut Ties<'m>, next: &mut Ties<'m>| {
            list.depths = first.take().unwrap_or(list.depths);
            std::mem::swap(list, next);
        };
        for round in 0.. {
            if left.items == 0 {
                break;
            }
            let small = round >= 2 && left.mean_group() < SMALL_ANCHOR_GROUPS;
            if left.items <= FEW_ANCHORS || small {
                let (m, settled) = (left.items, self.suffixes.first);
                let sorted = Sorted::unsorted(list, m);
                refine(gpu, ground, Kind::Anchors, sorted, 16, settled, next)?;
                left = Left::read(gpu)?;
                rank_local(gpu, ground, settled, list.slots, m)?;
                rank_tied(gpu, ground, next, left.items)?;
                flip(&mut list, &mut next);
                rounds.push(left.items);
                if left.items == 0 {
                    break;
                }
            }
            let width = anchor_bits(ground.rank_bits, left, round);
            let sorted = self.sort(gpu, ground, Keys::Anchors, list, left, width)?;
            let keys = sorted.keys.expect("it was sorted by them");
            mark_ranks(gpu, ground, list, (keys, sorted.suffixes), width, next)?;
            left = Left::read(gpu)?;
            rank_tied(gpu, ground, next, left.items)?;
            flip(&mut list, &mut next);
            rounds.push(left.items);
        }
        Ok(())
    }
}

/// Symbols that are hashed and positions that are compared, to choose anchors: about as many as a first key holds.
fn spacing(code: &Code) -> (u32, u32) {
    let symbols = (10.0 / code.mean).round() as u32;
    let window = (64.0 / code.mean * 0.6) as u32;
    (symbols.clamp(2, 8), window.clamp(4, 30))
}

/// Bits of the keys that anchors are sorted by: as many as pay.
fn anchor_bits(rank_bits: u32, left: Left, round: u32) -> u32 {
    let (group_bits, least) = (left.group_bits(), rank_bits.max(ANCHOR_BITS));
    if round < 2 {
        (least + ANCHOR_BITS).min(u64::BITS - group_bits)
    } else if left.items < TWO_JUMPS && group_bits + 2 * rank_bits <= u64::BITS {
        least.max(2 * rank_bits)
    } else {
        least
    }
}
