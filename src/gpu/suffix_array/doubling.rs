//! Ranks anchors among themselves by prefix doubling (Larsson and Sadakane, *Faster suffix sorting*, 2007), in which each
//! group has its own depth and jumps by the anchor farthest within it. What gets a rank of its own is left out from then
//! on.
//!
//! Where that makes slow progress, as on versions of one file, a *sparse level* is chosen among the anchors by the same
//! rule with a wider window. It is ranked first, with longer jumps, and then settles the others.

use super::super::anchors::{ByKeys, Keys, mark_ranks, rank_local, rank_tied, select_anchors};
use super::super::buffers::{Array, Carver, Reserve};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::refine::{Kind, Sorted, refine};
use super::super::sparse::{copy_ranks, mark_sparse, survey};
use super::super::ties::{Anchors, Ground, Ties};
use super::super::tuning::{HALO, MOST_SPARSE_WINDOW};
use super::lists::{Left, ListSort};
use crate::error::Result;

/// Up to so many anchors, or with groups smaller than this after some rounds, doubling goes on in shared memory first,
/// if groups fit there.
const FEW: u32 = 65536;
const SMALL_GROUPS: u32 = 64;
const LOCAL_FROM: u32 = 2;
const LOCAL_ROUNDS: u32 = 16;
/// Below so many anchors, two jumps at a time are worth a wider sort.
const TWO_JUMPS: u32 = 1_000_000;
/// Bits of a key of anchors, at least, and more of them in the first rounds, in which there is text in it.
const LEAST_WIDTH: u32 = 24;
const WIDE_UNTIL: u32 = 2;
/// The sparse level is tried from this round on, with more than so many anchors of which at least half are still tied.
const SPARSE_FROM: u32 = 3;
/// Tests come to it with small blocks.
const SPARSE_LEAST: u32 = if cfg!(test) { 200 } else { 1_000_000 };
/// Its window is so many times wider, and 240 at most.
const SPARSER: u32 = 8;
const SPARSE_WINDOW: u32 = MOST_SPARSE_WINDOW - 16;
/// The most that may be too shallow for it: this part of the list.
const SHALLOW: u32 = 5;

/// The buffers.
#[derive(Clone, Copy)]
pub struct Doubling<'m> {
    sort: ListSort<'m>,
    lists: [Ties<'m>; 2],
}

/// A level of anchors while it is ranked.
struct Level<'m> {
    list: Ties<'m>,
    left: Left,
    spare: Ties<'m>,
    /// The list's own `known`, while its groups are still those of the list it was selected from.
    own: Option<Array<'m, u64>>,
    kind: Keys,
    ranks: Array<'m, u64>,
}

impl<'m> Level<'m> {
    /// `items` of the groups of a list, selected to `list`.
    fn new(from: (Ties<'m>, u32), items: u32, list: Ties<'m>, spare: Ties<'m>) -> Self {
        let (groups, known) = (from.1, from.0.known);
        let own = Some(list.known);
        let list = Ties { known, ..list };
        let left = Left { items, groups };
        Level { list, left, spare, own, kind: Keys::Anchors, ranks: Array::none() }
    }

    /// What is left is in the spare list now.
    fn flip(&mut self, gpu: &Gpu, rounds: &mut Vec<u32>) -> Result<()> {
        self.left = Left::told(gpu)?;
        rank_tied(gpu, self.spare, self.left.items, self.ranks)?;
        self.list.known = self.own.take().unwrap_or(self.list.known);
        std::mem::swap(&mut self.list, &mut self.spare);
        rounds.push(self.left.items);
        Ok(())
    }

    /// Bits of the keys: as many as pay.
    fn width(&self, rank_bits: u32, round: u32) -> u32 {
        let (group_bits, least) = (self.left.group_bits(), rank_bits.max(LEAST_WIDTH));
        if self.kind == Keys::Anchors && round < WIDE_UNTIL {
            (least + LEAST_WIDTH).min(u64::BITS - group_bits)
        } else if self.left.items < TWO_JUMPS && group_bits + 2 * rank_bits <= u64::BITS {
            least.max(2 * rank_bits)
        } else {
            least
        }
    }
}

impl<'m> Doubling<'m> {
    /// Carves buffers for so many anchors.
    pub fn carve(carver: &mut Carver<'m>, cub: Cub<'m>, items: u32) -> Self {
        let sort = ListSort::carve(carver, cub, items);
        Doubling { sort, lists: [Ties::carve(carver, items), Ties::carve(carver, items)] }
    }

    /// How much that takes.
    pub fn size(cub: Cub<'m>, items: u32) -> usize {
        let mut measure = Carver::measure();
        Self::carve(&mut measure, cub, items);
        measure.used()
    }

    /// Gives all anchors their final ranks. The list of what is left stays as it is. The anchors are compared with
    /// `window` positions.
    pub fn run(
        self,
        gpu: &Gpu,
        ground: &mut Ground<'m>,
        (all, left): (Ties<'m>, Left),
        window: u32,
        reserve: &'m mut Reserve,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let [list, spare] = self.lists;
        select_anchors(gpu, ground, ground.dense, all, left.items, list)?;
        let anchors = gpu.told()?.0;
        rounds.push(anchors);
        let mut level = Level::new((all, left.groups), anchors, list, spare);
        level.ranks = ground.dense.ranks;
        let mut reserve = Some(reserve);
        for round in 0.. {
            if level.left.items == 0 {
                break;
            }
            let many = level.left.items > SPARSE_LEAST.max(anchors / 2);
            if round >= SPARSE_FROM
                && many
                && self.thin(gpu, ground, &level, window, &mut reserve, rounds)?
            {
                level.kind = Keys::Dense;
            }
            let group = level.left.mean_group();
            let small = round >= LOCAL_FROM && group < SMALL_GROUPS;
            let few = level.left.items <= FEW && group < HALO;
            if level.kind == Keys::Anchors && (small || few) {
                self.local(gpu, ground, &mut level, rounds)?;
            }
            self.double(gpu, ground, &mut level, round, rounds)?;
        }
        Ok(())
    }

    /// Refines the small groups in shared memory.
    fn local(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        level: &mut Level<'m>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let (list, m, settled) = (level.list, level.left.items, self.sort.suffixes);
        let sorted = Sorted::unsorted(list, m);
        refine(gpu, ground, Kind::Anchors, sorted, LOCAL_ROUNDS, settled, level.spare)?;
        rank_local(gpu, settled, list.slots, m, level.ranks)?;
        level.flip(gpu, rounds)
    }

    /// Sorts the list by ranks.
    fn double(
        &self,
        gpu: &Gpu,
        ground: &Ground<'m>,
        level: &mut Level<'m>,
        round: u32,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        if level.left.items == 0 {
            return Ok(());
        }
        let width = level.width(ground.rank_bits, round);
        let sorted: ByKeys<'m> =
            self.sort.sort(gpu, ground, level.kind, level.list, level.left, width)?;
        mark_ranks(gpu, ground, sorted, level.ranks, level.spare)?;
        level.flip(gpu, rounds)
    }

    /// Ranks a sparse level, if there is memory for it still unused, and enough of the list is deep enough to see it.
    fn thin(
        &self,
        gpu: &Gpu,
        ground: &mut Ground<'m>,
        dense: &Level<'m>,
        window: u32,
        reserve: &mut Option<&'m mut Reserve>,
        rounds: &mut Vec<u32>,
    ) -> Result<bool> {
        if reserve.is_none() {
            return Ok(false);
        }
        let window = SPARSE_WINDOW.min(window * SPARSER);
        let look = window + ground.dense.look.max(8);
        let (m, counts) = (dense.left.items, self.sort.suffixes);
        let (shallow, floor) = survey(gpu, dense.list, m, look + window, counts)?;
        if shallow > m / SHALLOW {
            return Ok(false);
        }
        let Some(reserve) = reserve.take() else { return Ok(false) };
        let carve = |carver: &mut Carver<'m>| {
            (Anchors::carve(carver, ground.len(), look), Ties::carve(carver, m / 2))
        };
        let mut measure = Carver::measure();
        carve(&mut measure);
        let (sparse, other) = carve(&mut reserve.carve(gpu, measure.used())?);
        ground.sparse = Anchors { floor, ..sparse };
        mark_sparse(gpu, ground, window)?;
        copy_ranks(gpu, ground)?;
        let list = dense.spare;
        select_anchors(gpu, ground, sparse, dense.list, m, list)?;
        let items = gpu.told()?.0;
        if items >= m / 2 {
            return Ok(false);
        }
        rounds.push(items);
        let mut level = Level::new((dense.list, dense.left.groups), items, list, other);
        (level.kind, level.ranks) = (Keys::Sparse, sparse.ranks);
        for round in 0.. {
            if level.left.items == 0 {
                break;
            }
            self.double(gpu, ground, &mut level, round, rounds)?;
        }
        Ok(true)
    }
}
