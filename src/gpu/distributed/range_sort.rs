//! Sorting of one text by several GPUs, each of which holds all of it. Each GPU sorts the suffixes
//! of a range of first keys, as `default` sorts those of a block.
//!
//! 1. Each GPU counts the first bits of the keys of a part of the text. From the counts of all
//!    follows a range of keys for each GPU, and with it the rows of the GPU ([`key_ranges`]).
//! 2. The GPU takes the suffixes of its range from the whole text, and sorts them as far as text
//!    does it. Nothing is exchanged, since all of the text is there.
//! 3. If suffixes are unresolved on any GPU, they are sorted by ranks of minimizers. Resolved
//!    minimizers get their ranks from the rows of all GPUs. The others are joined to one list,
//!    which each GPU that needs it ranks on its own: they are few, and rounds of exchanges would
//!    take longer.
//!
//! Suffixes are divided by their first symbols as in N. Futamura, S. Aluru and S. Kurtz, *Parallel
//! suffix sorting*, 2001.
//!
//! A GPU takes 26 bytes for each of its suffixes and one for each byte of the text. If ranks are
//! needed, it takes 8 more for each byte of the text, and 36 or more for each unresolved suffix.
//! GPUs read each other's memory, and must be able to. If one range has most of the suffixes, its
//! GPU has most of the work. More GPUs do not shorten the work on the joined list.

use super::device_exchange::DeviceExchange;
use super::joined_lists::{PeerList, join_lists};
use super::key_ranges::{CodedText, FIRST_BITS, KeyRange, count_keys, key_ranges, range_keys};
use super::peer_exchange::PeerExchange;
use crate::base::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::block::byte_counts::count_bytes;
use crate::gpu::runtime::tuning::BYTE_COUNT_WORDS;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, GrowingArena};
use crate::gpu::sort::{
    AlphabeticCode, DefaultSort, ExtraArenas, ListRefinement, MinimizerDoubling,
    SelectedMinimizers, SortState, Unresolved, UnsortedGroups, choose_minimizers, rank_resolved,
    select_minimizers,
};
use std::ops::Range;

/// Memory of one GPU. It grows as needed, and is kept.
#[derive(Debug, Default)]
pub(crate) struct RangeMemory {
    counts: GrowingArena,
    rows: GrowingArena,
    extra: ExtraArenas,
    selected: GrowingArena,
}

impl RangeMemory {
    /// Its size in bytes.
    pub(crate) fn len(&self) -> usize {
        let own = [&self.counts, &self.rows, &self.selected].map(GrowingArena::len);
        own.iter().sum::<usize>() + self.extra.len()
    }
}

/// Task of a sort: n bytes with their padding, the same on all GPUs.
#[derive(Clone, Copy)]
pub(crate) struct RangeTask<'m> {
    pub text: Array<'m, u8>,
    pub n: u32,
    pub log_rate: u32,
    pub whole_sa: bool,
}

/// Rows of one GPU.
pub(crate) struct SortedRange<'m> {
    pub first_row: u32,
    /// The byte before the suffix of each row. The suffix that is the whole text has none.
    pub rows: Array<'m, u8>,
    /// The suffix of each row, if all are wanted.
    pub sa: Array<'m, u32>,
    /// The row of each sampled position, counted from 1 at the first row of this GPU; 0 if the row
    /// is another GPU's.
    pub samples: Array<'m, u32>,
}

/// Arrays that are allocated when the range is known.
#[derive(Clone, Copy)]
struct RangeArrays<'m> {
    sa: Array<'m, u32>,
    rows: Array<'m, u8>,
    samples: Array<'m, u32>,
    cursor: Array<'m, u32>,
}

impl<'m> RangeArrays<'m> {
    fn allocate(
        gpu: &Gpu,
        arena: &mut ArenaAllocator<'m>,
        task: RangeTask,
        suffixes: u32,
    ) -> Result<(Self, DefaultSort<'m>)> {
        let arrays = RangeArrays {
            sa: arena.array(suffixes as usize),
            rows: arena.array(suffixes as usize + 1),
            samples: arena.array(task.n.div_ceil(1 << task.log_rate) as usize),
            cursor: arena.array(1),
        };
        Ok((arrays, DefaultSort::of_some(gpu, arena, task.n, suffixes)?))
    }
}

/// Sorts the suffixes of a range. Two numbers are added to `left`: the suffixes of all GPUs that
/// text did not resolve, and, if there were any, the 0 that are unresolved at the end.
pub(crate) fn sort_range<'m>(
    gpu: &Gpu,
    exchange: &mut PeerExchange,
    task: RangeTask<'m>,
    memory: &'m mut RangeMemory,
    left: &mut Vec<u64>,
) -> Result<SortedRange<'m>> {
    let RangeMemory {
        counts,
        rows,
        extra,
        selected,
    } = memory;
    let (code, text, ranges) = part(gpu, exchange, task, counts)?;
    let own = ranges[exchange.number()].clone();
    let suffixes = own.rows.end - own.rows.start;
    let (arrays, mut sort) = rows.fit(gpu, |arena| {
        RangeArrays::allocate(gpu, arena, task, suffixes)
    })?;
    gpu.zero(arrays.samples)?;
    let RangeArrays {
        sa,
        rows,
        samples,
        cursor,
    } = arrays;
    let RangeTask {
        text: bytes,
        n,
        log_rate,
        whole_sa,
    } = task;
    let block = DeviceBlock {
        text: bytes,
        sa,
        whole_sa,
        rows,
        samples,
        log_rate,
    };
    let state = sort.state(gpu, block, n, &code)?;
    let ExtraArenas {
        text: reserve,
        ranks,
        lists,
        sparse,
    } = extra;
    let mut rounds = Vec::new();
    let found = match suffixes {
        0 => None,
        _ => {
            let keys = |keys, suffixes| range_keys(gpu, text, own.bits, keys, suffixes, cursor);
            Some(sort.sort_by_text(gpu, &state, &code, keys, reserve, &mut rounds)?)
        }
    };
    let found = found.filter(|(_, unresolved)| unresolved.items > 0);
    let unresolved = found.map_or(0, |(_, unresolved)| unresolved.items);
    // The rows must be complete when the others know their address.
    gpu.wait()?;
    let all = exchange.all_gather(&[unresolved.into(), sa.address()])?;
    left.push(all.iter().map(|words| words[0]).sum());
    if left.last() != Some(&0) {
        let rows = ranges.iter().map(|range| range.rows.clone());
        let rows = rows
            .zip(&all)
            .map(|(rows, words)| (rows, words[1]));
        let work = RankWork {
            gpu,
            sort: &sort,
            ranges: &ranges,
            rows: rows.collect(),
        };
        let arenas = RankArenas {
            ranks,
            lists,
            sparse,
            selected,
        };
        work.rank(exchange, state, &code, found, arenas)?;
        left.push(0);
    }
    Ok(SortedRange {
        first_row: own.rows.start,
        rows: rows.part(1..suffixes + 1),
        sa,
        samples,
    })
}

/// Returns the code of a text, and the ranges of all GPUs.
fn part<'m>(
    gpu: &Gpu,
    exchange: &mut PeerExchange,
    task: RangeTask<'m>,
    memory: &'m mut GrowingArena,
) -> Result<(AlphabeticCode, CodedText<'m>, Vec<KeyRange>)> {
    let words = [BYTE_COUNT_WORDS as usize, FIRST_BITS, 256];
    let [counts, key_counts, code_table] =
        memory.fit(gpu, |arena| Ok(words.map(|len| arena.array(len))))?;
    let code = AlphabeticCode::new(&count_bytes(gpu, task.text, task.n, counts)?.bytes);
    gpu.upload_words(&code.table, code_table)?;
    let text = CodedText {
        bytes: task.text,
        n: task.n,
        code_table,
    };
    let own = count_keys(gpu, text, exchange.number(), exchange.count(), key_counts)?;
    let all = exchange.all_gather(&own)?;
    let sums = (0..FIRST_BITS).map(|bits| all.iter().map(|counts| counts[bits]).sum());
    let ranges = key_ranges(&sums.collect::<Vec<_>>(), exchange.count());
    Ok((code, text, ranges))
}

/// Sorts by ranks the suffixes that text did not resolve.
struct RankWork<'w, 'm> {
    gpu: &'w Gpu,
    sort: &'w DefaultSort<'m>,
    ranges: &'w [KeyRange],
    /// For each GPU its rows, and the address of their suffixes.
    rows: Vec<(Range<u32>, u64)>,
}

/// Memory for sorting by ranks.
struct RankArenas<'m> {
    ranks: &'m mut GrowingArena,
    lists: &'m mut GrowingArena,
    sparse: &'m mut GrowingArena,
    selected: &'m mut GrowingArena,
}

impl<'m> RankWork<'_, 'm> {
    fn rank(
        &self,
        exchange: &mut PeerExchange,
        mut state: SortState<'m>,
        code: &AlphabeticCode,
        found: Option<(UnsortedGroups<'m>, Unresolved)>,
        arenas: RankArenas<'m>,
    ) -> Result<()> {
        let gpu = self.gpu;
        let RankArenas {
            ranks,
            lists,
            sparse,
            selected,
        } = arenas;
        let mut window = 0;
        let mut own = None;
        if let Some((list, unresolved)) = found {
            window = choose_minimizers(gpu, &mut state, code, ranks)?;
            for (rows, sa) in &self.rows {
                let sa = Array::of_peer(*sa, rows.end - rows.start);
                rank_resolved(gpu, &state, sa, rows.start)?;
            }
            let most = gpu.wait_for_counts()?.0.min(unresolved.items);
            own = Some(self.select(&state, list, unresolved, most, selected)?);
        }
        let words = own.map_or([0; 6], |list: PeerList| list.words());
        gpu.wait()?;
        let all = exchange.all_gather(&words)?;
        let starts = self.ranges.iter().map(|range| range.rows.start);
        let peers: Vec<_> = all
            .iter()
            .zip(starts)
            .map(|(words, row)| PeerList::from_words(words, row))
            .collect();
        let Some((list, unresolved)) = found else {
            return exchange.all_gather(&[]).map(drop);
        };
        let items = peers.iter().map(|list| list.items).sum();
        let joined = Unresolved {
            items,
            groups: peers.iter().map(|list| list.groups).sum(),
        };
        let unused = self.sort.unused(list, unresolved.items);
        let cub = self.sort.cub;
        let allocate = |arena: &mut ArenaAllocator<'m>| {
            let heads = arena.array(joined.groups as usize);
            (heads, MinimizerDoubling::allocate(arena, cub, joined.items))
        };
        let mut measure = ArenaAllocator::measuring().with_unused(&unused);
        allocate(&mut measure);
        let size = ListRefinement::size(cub, list, unresolved, &unused).max(measure.used());
        let memory: Array<u8> = lists.allocator(gpu, size)?.array(size);
        let arena = || ArenaAllocator::within(memory).with_unused(&unused);
        let (heads, doubling) = allocate(&mut arena());
        join_lists(gpu, &peers, doubling.selected(), heads, state.dense.ranks)?;
        gpu.wait()?;
        // From here on nothing is read from other GPUs.
        exchange.all_gather(&[])?;
        let mut rounds = Vec::new();
        let joined = SelectedMinimizers {
            group_heads: heads,
            unresolved: joined,
        };
        doubling.rank_selected(gpu, &mut state, joined, window, sparse, &mut rounds)?;
        let work = ListRefinement::allocate(&mut arena(), cub, list, unresolved);
        work.finish(gpu, &state, &mut rounds)
    }

    /// Selects the minimizers of this GPU's list, up to `most`.
    fn select(
        &self,
        state: &SortState<'m>,
        list: UnsortedGroups<'m>,
        unresolved: Unresolved,
        most: u32,
        memory: &'m mut GrowingArena,
    ) -> Result<PeerList> {
        let gpu = self.gpu;
        let to = memory.fit(gpu, |arena| Ok(UnsortedGroups::allocate(arena, most)))?;
        select_minimizers(gpu, state, state.dense, list, unresolved.items, to)?;
        let Unresolved { items, groups } = unresolved.wait_for_selected(gpu, most)?;
        let view = UnsortedGroups {
            group_heads: list.group_heads,
            ..to
        }
        .view();
        Ok(PeerList {
            items,
            groups,
            first_row: 0,
            view,
        })
    }
}
