//! Sorting of one text by several GPUs with prefix doubling, in groups that are refined where they
//! lie. It is the algorithm of `distributed::prefix_doubling` with its steps in kernels.
//!
//! 1. Each GPU makes the first keys of the suffixes of its part of the text, 64 bits of the
//!    alphabetic code, and sorts them. They are cut at the first rows of the next GPU
//!    ([`KeySplits`]), and cross the network once, with their suffixes. A GPU merges the runs that
//!    it receives.
//! 2. Suffixes that are alone with their key are resolved. The byte before such a suffix has come
//!    with it, and goes to its row. The others form a list. Unless none are left, the ranks of all
//!    suffixes go to the GPUs that keep them ([`OwnerRoutes`]); in later rounds only the new ranks
//!    do.
//! 3. In a round, each suffix of the list asks for the rank of the suffix h symbols behind it. A
//!    list is sorted by the number of the group and that rank. Before this, groups that lie on
//!    several GPUs are cut and exchanged as in step 1. Resolved suffixes then leave the list, as in
//!    step 2.
//!
//! A key holds as many whole symbols as fit into its bits, so h differs from group to group. The
//! word of a suffix holds the number of symbols in its first key. If this is at least m for all
//! groups that are left, the groups agree after k rounds in (2^k - 1) m symbols more than their
//! first keys. Keys of fixed width would make h one number, but leave many more suffixes
//! unresolved: a symbol of English text takes 4.5 bits in the alphabetic code, and 7 in a code of
//! fixed width.
//!
//! A GPU takes a little more than 56 bytes for each suffix of its part, and 2 more for the part
//! itself and its rows. The memory does not depend on the text: the cuts are exact, and ranks are
//! exchanged in batches.
//!
//! N. J. Larsson and K. Sadakane, *Faster suffix sorting*, 2007; P. Flick and S. Aluru, *Parallel
//! distributed memory construction of suffix and longest common prefix arrays*, 2015.

use super::device_exchange::DeviceExchange;
use super::key_splits::KeySplits;
use super::open_groups::{ListShape, exchanged, open_borders, open_ranges};
use super::owner_routes::{HeadRanks, OwnerRoutes, RouteBuffers, RoutedList};
use super::part_keys::{PartBytes, part_keys};
use super::row_groups::{
    ListEnds, NewList, RowList, compose_keys, list_ends, mark_heads, mark_unresolved, part_list,
};
use super::run_merge::merge_runs;
use crate::base::error::Result;
use crate::gpu::block::byte_counts::count_bytes;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::primitives::gather::count_from;
use crate::gpu::runtime::kernel_structs::RowsView;
use crate::gpu::runtime::tuning::BYTE_COUNT_WORDS;
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, log_round};
use crate::gpu::sort::AlphabeticCode;
use crate::gpu::text_parts::TextParts;
use std::ops::Range;

/// Maximum number of bits for a group's number in a key. Tests need more groups than there are
/// numbers.
const MOST_GROUP_BITS: u32 = if cfg!(test) { 10 } else { u64::BITS };

/// Minimum room of lists, so that batches of ranks have some room too.
const LEAST_ROOM: usize = 8192;

/// Buffers of one GPU.
pub(super) struct JointDoubling<'m> {
    cub: Cub<'m>,
    parts: TextParts,
    keys: DoubleBuffer<'m, u64>,
    suffixes: DoubleBuffer<'m, u64>,
    rows: DoubleBuffer<'m, u32>,
    /// Number of each item's group.
    groups: Array<'m, u32>,
    /// Row of the first item of that group.
    heads: Array<'m, u32>,
    /// A bit for each row: whether the group that begins there keeps its rank.
    kept: Array<'m, u32>,
    routes: OwnerRoutes<'m>,
    splits: KeySplits<'m>,
    counts: Array<'m, u32>,
    code_table: Array<'m, u32>,
    ends: Array<'m, u64>,
    facts: Array<'m, u32>,
}

/// Ranks of a list after a round.
struct Ranked {
    /// For each GPU, whether its first group begins on an earlier one.
    open: Vec<bool>,
    /// Rank of this GPU's first group, if that begins on an earlier GPU.
    open_rank: u64,
    first_row_here: u32,
}

impl<'m> JointDoubling<'m> {
    pub(super) fn allocate(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        parts: TextParts,
        number: usize,
    ) -> Result<Self> {
        let room = (parts.part_len(number) as usize).max(LEAST_ROOM);
        Ok(JointDoubling {
            cub: Cub::allocate_wide(gpu, arena, room as u32)?,
            parts,
            keys: arena.double_buffer(room),
            suffixes: arena.double_buffer(room),
            rows: arena.double_buffer(room),
            groups: arena.array(room),
            heads: arena.array(room),
            kept: arena.array(room.div_ceil(u32::BITS as usize)),
            routes: OwnerRoutes::allocate(arena, parts, number),
            splits: KeySplits::allocate(arena),
            counts: arena.array(BYTE_COUNT_WORDS as usize),
            code_table: arena.array(256),
            ends: arena.array(4),
            facts: arena.array(3),
        })
    }

    /// Sorts, and writes the rows of this GPU. After each round the number of unresolved suffixes
    /// of all GPUs is added to `left`.
    pub(super) fn run<E: DeviceExchange>(
        mut self,
        gpu: &Gpu,
        exchange: &mut E,
        part: PartBytes<'m>,
        out: RowsView,
        left: &mut Vec<u64>,
    ) -> Result<()> {
        let number = exchange.number();
        let gpus = exchange.count();
        let shape = |gpu| {
            let len = self.parts.part_len(gpu);
            let is_open = gpu > 0 && len > 0;
            ListShape {
                len,
                groups: 1,
                front: len,
                back: 0,
                is_open,
            }
        };
        let mut lists: Vec<ListShape> = (0..gpus).map(shape).collect();
        self.first_keys(gpu, exchange, part)?;
        match self.exchange_groups(gpu, exchange, &lists, u64::BITS)? {
            Some(runs) => self.merge(gpu, runs)?,
            None => {
                let len = lists[number].len as u32;
                self.sort_range(gpu, 0..len, len, u64::BITS)?;
            }
        }
        let mut least = self.split(gpu, exchange, &mut lists, u64::BITS, out, left)?;
        // Number of symbols in which groups agree, beside those of their first keys.
        let mut behind = 0;
        let bits = u64::BITS - self.parts.len().leading_zeros();
        while left.last() != Some(&0) {
            self.ask(gpu, exchange, &lists, behind)?;
            self.exchange_groups(gpu, exchange, &lists, bits)?;
            self.sort_in_groups(gpu, lists[number], bits)?;
            self.split(gpu, exchange, &mut lists, bits, out, left)?;
            behind = behind.saturating_add(least);
            least = least.saturating_mul(2);
        }
        Ok(())
    }

    /// Makes the keys of the part's suffixes by the code of the whole text.
    fn first_keys<E: DeviceExchange>(
        &mut self,
        gpu: &Gpu,
        exchange: &mut E,
        part: PartBytes<'m>,
    ) -> Result<()> {
        let own = self.parts.part_len(exchange.number()) as u32;
        let counts = match own {
            0 => [0; 256],
            _ => count_bytes(gpu, part.bytes, own, self.counts)?.bytes,
        };
        let all = exchange.all_gather(&counts.map(u64::from))?;
        let counts = (0..256).map(|byte| all.iter().map(|counts| counts[byte]).sum());
        let code = AlphabeticCode::new(&scaled(counts.collect()));
        gpu.upload_words(&code.table, self.code_table)?;
        let keys = self.keys.current.first(own);
        let suffixes = self.suffixes.current.first(own);
        part_keys(gpu, part, self.code_table, keys, suffixes)?;
        count_from(gpu, 0, self.rows.current.first(own))
    }

    /// Makes the keys of the list: the rank of the suffix as far behind each as its group agrees.
    fn ask<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        lists: &[ListShape],
        behind: u64,
    ) -> Result<()> {
        let outgoing = self.suffixes.alternate.cast();
        let incoming = self.keys.alternate.cast();
        let buffers = RouteBuffers::within(outgoing, incoming, exchange.count());
        let len = lists[exchange.number()].len as u32;
        let suffixes = self.suffixes.current.first(len);
        let keys = self.keys.current.first(len);
        let list = RoutedList {
            suffixes,
            longest: longest(lists),
        };
        self.routes
            .ask(gpu, exchange, list, behind, keys, &buffers)
    }

    /// Gives each GPU the suffixes of its rows, from groups that lie on several GPUs. Returns how
    /// many came from each GPU, or `None` if there are no such groups.
    fn exchange_groups<E: DeviceExchange>(
        &mut self,
        gpu: &Gpu,
        exchange: &mut E,
        lists: &[ListShape],
        bits: u32,
    ) -> Result<Option<Vec<u32>>> {
        let number = exchange.number();
        let borders = open_borders(lists);
        if borders.is_empty() {
            return Ok(None);
        }
        let len = lists[number].len as u32;
        for range in open_ranges(lists, number).into_iter().flatten() {
            self.sort_range(gpu, range, len, bits)?;
        }
        let cuts = borders
            .iter()
            .map(|border| border.cut(lists, number))
            .collect();
        let keys = self.keys.current.first(len);
        let before = self
            .splits
            .find(gpu, exchange, &[keys], bits, cuts)?;
        let (sent, received) = exchanged(lists, &borders, &before, number);
        let DoubleBuffer { current, alternate } = self.keys;
        exchange.all_to_all(gpu, &current.parts(&sent), &alternate.parts(&received))?;
        let DoubleBuffer { current, alternate } = self.suffixes;
        exchange.all_to_all(gpu, &current.parts(&sent), &alternate.parts(&received))?;
        self.keys.swap();
        self.suffixes.swap();
        Ok(Some(received))
    }

    /// Merges the sorted runs in which a list of one group has come.
    fn merge(&mut self, gpu: &Gpu, runs: Vec<u32>) -> Result<()> {
        let len = runs.iter().sum();
        let mut keys = self.keys.first_items(len);
        let mut suffixes = self.suffixes.first_items(len);
        // This array is free, since the groups' heads are not known yet.
        let splits = self.heads;
        merge_runs(gpu, &mut keys, &mut suffixes, runs, splits)?;
        if keys.current.address() != self.keys.current.address() {
            self.keys.swap();
            self.suffixes.swap();
        }
        Ok(())
    }

    /// Sorts a range of a list of `len` suffixes by the lowest `bits` bits of the keys.
    fn sort_range(&mut self, gpu: &Gpu, range: Range<u32>, len: u32, bits: u32) -> Result<()> {
        let mut keys = self.keys.part(range.clone());
        let mut suffixes = self.suffixes.part(range.clone());
        self.cub
            .sort_pairs(gpu, &mut keys, &mut suffixes, 0..bits)?;
        if range.is_empty()
            || keys.current.address() == self.keys.part(range.clone()).current.address()
        {
            return Ok(());
        }
        if range == (0..len) {
            self.keys.swap();
            self.suffixes.swap();
            return Ok(());
        }
        gpu.copy(keys.current, keys.alternate)?;
        gpu.copy(suffixes.current, suffixes.alternate)
    }

    /// Sorts each group of a list by keys of `bits` bits. With the numbers of groups above them the
    /// keys have at most 64 bits. If there are more groups than numbers, the list is sorted in
    /// several ranges.
    fn sort_in_groups(&mut self, gpu: &Gpu, list: ListShape, bits: u32) -> Result<()> {
        let all_bits = u64::BITS - list.groups.saturating_sub(1).leading_zeros();
        let group_bits = all_bits
            .min(u64::BITS - bits)
            .min(MOST_GROUP_BITS);
        let len = list.len as u32;
        let groups = self.groups.first(list.len as u32);
        compose_keys(gpu, self.keys.current.first(len), groups, bits, group_bits)?;
        let mut from = 0;
        let mut next = 1 << group_bits;
        while from < len {
            let to = if next < list.groups {
                first_of_group(gpu, groups, next)?
            } else {
                len
            };
            self.sort_range(gpu, from..to, len, bits + group_bits)?;
            (from, next) = (to, next + (1 << group_bits));
        }
        Ok(())
    }

    /// Splits the groups of a list that was sorted by keys of `bits` bits: tells the new ranks, and
    /// writes the resolved suffixes to their rows. Returns the minimum number of symbols in a first
    /// key of the suffixes that are left.
    fn split<E: DeviceExchange>(
        &mut self,
        gpu: &Gpu,
        exchange: &mut E,
        lists: &mut [ListShape],
        bits: u32,
        out: RowsView,
        left: &mut Vec<u64>,
    ) -> Result<u64> {
        let number = exchange.number();
        let longest = longest(lists);
        let len = lists[number].len as u32;
        let ranked = self.rank(gpu, exchange, lists, bits)?;
        let heads = self.heads.first(len);
        let rows = self.rows.current.first(len);
        let sums = self.keys.alternate.first(len);
        let goes_on = ranked
            .open
            .get(number + 1)
            .is_some_and(|&open| open);
        mark_unresolved(gpu, heads, rows, ranked.open[number], goes_on, sums)?;
        let mut sum = 0;
        if len > 0 {
            self.cub.inclusive_sum_u64(gpu, sums)?;
            sum = gpu.read(sums.part(len - 1..len))?[0];
        }
        let new_len = (sum >> 32) as u32;
        let new_groups = sum as u32;
        let all = exchange.all_gather(&[new_len.into()])?;
        log_round(left, all.iter().map(|words| words[0]).sum())?;
        let suffixes = self.suffixes.current.first(len);
        if left.last() != Some(&0) {
            let first_row = self.parts.range(number).start;
            let open = ranked.open[number].then_some((ranked.first_row_here, ranked.open_rank));
            let ranks = HeadRanks {
                heads,
                kept: self.kept,
                first_row,
                open,
            };
            let outgoing = self.suffixes.alternate.cast();
            let incoming = self.keys.current.cast();
            let buffers = RouteBuffers::within(outgoing, incoming, exchange.count());
            let list = RoutedList { suffixes, longest };
            self.routes
                .tell(gpu, exchange, list, ranks, &buffers)?;
        }
        let list = RowList { suffixes, rows };
        let new = RowList {
            suffixes: self.suffixes.alternate,
            rows: self.rows.alternate,
        };
        let new = NewList {
            list: new,
            groups: self.groups,
            len: new_len,
            group_count: new_groups,
        };
        let facts = part_list(gpu, list, sums, new, out, self.facts)?;
        self.suffixes.swap();
        self.rows.swap();
        let words = [new_len, new_groups, facts.front, facts.back, facts.least];
        let all = exchange.all_gather(&words.map(u64::from))?;
        for ((list, words), &is_open) in lists.iter_mut().zip(&all).zip(&ranked.open) {
            let [len, groups, front, back] = [words[0], words[1], words[2], words[3]];
            *list = ListShape {
                len,
                groups,
                front,
                back,
                is_open,
            };
        }
        Ok(all
            .iter()
            .map(|words| words[4])
            .min()
            .unwrap_or(0))
    }

    /// Finds the heads of a list that was sorted by keys of `bits` bits, and the groups that
    /// continue on the next GPU.
    fn rank<E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        exchange: &mut E,
        lists: &[ListShape],
        bits: u32,
    ) -> Result<Ranked> {
        let len = lists[exchange.number()].len as u32;
        let keys = self.keys.current.first(len);
        let rows = self.rows.current.first(len);
        let heads = self.heads.first(len);
        // The first group of all is new, and the rank of an open one may be.
        let old = (bits < u64::BITS).then_some((bits, !lists[exchange.number()].is_open));
        mark_heads(gpu, keys, rows, old, heads, self.kept)?;
        if len > 0 {
            self.cub.inclusive_max(gpu, heads)?;
        }
        let ends = list_ends(gpu, keys, rows, heads, self.ends)?;
        let mask = u64::MAX >> (u64::BITS - bits);
        let ListEnds {
            first_key,
            last_key,
            last_head,
            first_row,
        } = ends;
        let words = [first_key & mask, last_key & mask, last_head, first_row];
        let all = exchange.all_gather(&words)?;
        let mut open = Vec::new();
        let mut open_rank = 0;
        let mut last_rank = 0;
        for (gpu, list) in lists.iter().enumerate() {
            let is_open = list.is_open && all[gpu - 1][1] == all[gpu][0];
            if is_open && gpu == exchange.number() {
                open_rank = last_rank;
            }
            let [last_head, first_row] = [all[gpu][2], all[gpu][3]];
            if !is_open || last_head != first_row {
                last_rank = self.parts.range(gpu).start + last_head + 1;
            }
            open.push(is_open);
        }
        Ok(Ranked {
            open,
            open_rank,
            first_row_here: first_row as u32,
        })
    }
}

/// Returns the first item of a group, given the groups of all items, in ascending order. There must
/// be more groups.
fn first_of_group(gpu: &Gpu, groups: Array<u32>, group: u64) -> Result<u32> {
    let mut low = 0;
    let mut high = groups.len();
    while low < high {
        let middle = low + (high - low) / 2;
        match u64::from(gpu.read(groups.part(middle..middle + 1))?[0]) < group {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}

/// Length of the longest list of a GPU.
fn longest(lists: &[ListShape]) -> u64 {
    lists
        .iter()
        .map(|list| list.len)
        .max()
        .unwrap_or(0)
}

/// Scales counts so that their sum fits 32 bits. No count other than 0 becomes 0.
fn scaled(counts: Vec<u64>) -> Vec<u32> {
    let all: u64 = counts.iter().sum();
    // The 31 bits leave room for the 256 counts that are rounded up.
    let shift = (u64::BITS - all.leading_zeros()).saturating_sub(31);
    counts
        .into_iter()
        .map(|count| ((count >> shift) as u32).max((count > 0).into()))
        .collect()
}
