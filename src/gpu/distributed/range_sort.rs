//! The suffixes of one text sorted by several GPUs, each of which holds all of it: the suffixes of
//! a range of first keys, as `default` sorts those of a block.
//!
//! 1. Each GPU counts the first bits of the keys of a part of the text; from the counts of all
//!    comes a range of keys for each, and with it the rows that are its own ([`key_ranges`]).
//! 2. It takes the suffixes of its range from the whole text, and sorts them as far as text does
//!    it. Nothing is exchanged, as all of the text is there.
//! 3. What is left anywhere is sorted by ranks of minimizers. Those that are resolved get theirs
//!    from the rows of all GPUs; those that are not are joined to one list, which each GPU that
//!    needs it ranks on its own: they are few, and rounds of exchanges would take longer.
//!
//! GPUs read each other's memory, which is to be possible. A GPU takes 26 bytes for each of its
//! suffixes and one for each byte of the text; where ranks are needed 8 for each byte of the text,
//! and 36 and more for what is left. Where one range has most of the suffixes, its GPU has most of
//! the work; and the joined list is the part that more GPUs do not make shorter.
//!
//! Suffixes are parted by their first symbols as in N. Futamura, S. Aluru and S. Kurtz, *Parallel
//! suffix sorting*, 2001.

use super::device_exchange::DeviceExchange;
use super::joined_lists::{PeerList, join_lists};
use super::key_ranges::{CodedText, FIRST_BITS, KeyRange, count_keys, key_ranges, range_keys};
use super::peer_exchange::PeerExchange;
use crate::error::Result;
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

/// The memory of one GPU, which grows with what is asked of it and is kept.
#[derive(Debug, Default)]
pub struct RangeMemory {
    counts: GrowingArena,
    rows: GrowingArena,
    extra: ExtraArenas,
    selected: GrowingArena,
}

impl RangeMemory {
    /// Its size in bytes.
    pub fn len(&self) -> usize {
        let own = [&self.counts, &self.rows, &self.selected].map(GrowingArena::len);
        own.iter().sum::<usize>() + self.extra.len()
    }
}

/// What is sorted: n bytes with their padding, the same on all GPUs.
#[derive(Clone, Copy)]
pub struct RangeTask<'m> {
    pub text: Array<'m, u8>,
    pub n: u32,
    pub log_rate: u32,
    pub whole_sa: bool,
}

/// The rows of one GPU.
pub struct SortedRange<'m> {
    pub first_row: u32,
    /// The byte before the suffix of each; nothing for that of the whole text.
    pub rows: Array<'m, u8>,
    /// The suffix of each, where all are wanted.
    pub sa: Array<'m, u32>,
    /// Of each sampled position its row, from 1 at the first of this GPU; 0 where it is another's.
    pub samples: Array<'m, u32>,
}

/// What is allocated when the range is known.
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

/// Sorts the suffixes of a range. `left` gets the number of suffixes of all GPUs that text did not
/// resolve, and what is left when all is done.
pub fn sort_range<'m>(
    gpu: &Gpu,
    exchange: &mut PeerExchange,
    task: RangeTask<'m>,
    memory: &'m mut RangeMemory,
    left: &mut Vec<u64>,
) -> Result<SortedRange<'m>> {
    let RangeMemory { counts, rows, extra, selected } = memory;
    let (code, text, ranges) = part(gpu, exchange, task, counts)?;
    let own = ranges[exchange.number()].clone();
    let suffixes = own.rows.end - own.rows.start;
    let (arrays, mut sort) =
        rows.fit(gpu, |arena| RangeArrays::allocate(gpu, arena, task, suffixes))?;
    gpu.zero(arrays.samples)?;
    let RangeArrays { sa, rows, samples, cursor } = arrays;
    let RangeTask { text: bytes, n, log_rate, whole_sa } = task;
    let block = DeviceBlock { text: bytes, sa, whole_sa, rows, samples, log_rate };
    let state = sort.state(gpu, block, n, &code)?;
    let ExtraArenas { text: reserve, ranks, lists, sparse } = extra;
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
    // The rows are there when the others know where.
    gpu.wait()?;
    let all = exchange.all_gather(&[unresolved.into(), sa.address()])?;
    left.push(all.iter().map(|words| words[0]).sum());
    if left.last() != Some(&0) {
        let rows = ranges.iter().map(|range| range.rows.clone());
        let rows = rows.zip(&all).map(|(rows, words)| (rows, words[1]));
        let work = RankWork { gpu, sort: &sort, ranges: &ranges, rows: rows.collect() };
        work.rank(exchange, (state, &code), found, [ranks, lists, sparse], selected)?;
        left.push(0);
    }
    Ok(SortedRange { first_row: own.rows.start, rows: rows.part(1..suffixes + 1), sa, samples })
}

/// The code of a text, and the ranges of all GPUs.
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
    let text = CodedText { bytes: task.text, n: task.n, code_table };
    let own = count_keys(gpu, text, (exchange.number(), exchange.count()), key_counts)?;
    let all = exchange.all_gather(&own)?;
    let sums = (0..FIRST_BITS).map(|bits| all.iter().map(|counts| counts[bits]).sum());
    let ranges = key_ranges(&sums.collect::<Vec<_>>(), exchange.count());
    Ok((code, text, ranges))
}

/// What it takes to sort by ranks what text has left.
struct RankWork<'w, 'm> {
    gpu: &'w Gpu,
    sort: &'w DefaultSort<'m>,
    ranges: &'w [KeyRange],
    /// Of each GPU its rows, and where the suffixes of them lie.
    rows: Vec<(Range<u32>, u64)>,
}

impl<'m> RankWork<'_, 'm> {
    fn rank(
        &self,
        exchange: &mut PeerExchange,
        (mut state, code): (SortState<'m>, &AlphabeticCode),
        found: Option<(UnsortedGroups<'m>, Unresolved)>,
        [ranks, lists, sparse]: [&'m mut GrowingArena; 3],
        selected: &'m mut GrowingArena,
    ) -> Result<()> {
        let gpu = self.gpu;
        let mut window = 0;
        let mut own = None;
        if let Some((list, unresolved)) = found {
            window = choose_minimizers(gpu, &mut state, code, ranks)?;
            for (rows, sa) in &self.rows {
                let sa = Array::of_peer(*sa, rows.end - rows.start);
                rank_resolved(gpu, &state, sa, rows.start)?;
            }
            let most = gpu.wait_for_counts()?.0.min(unresolved.items);
            own = Some(self.select(&state, (list, unresolved), most, selected)?);
        }
        let words = own.map_or([0; 6], |list: PeerList| list.words());
        gpu.wait()?;
        let all = exchange.all_gather(&words)?;
        let starts = self.ranges.iter().map(|range| range.rows.start);
        let peers: Vec<_> =
            all.iter().zip(starts).map(|(words, row)| PeerList::from_words(words, row)).collect();
        let Some((list, unresolved)) = found else {
            return exchange.all_gather(&[]).map(drop);
        };
        let items = peers.iter().map(|list| list.items).sum();
        let joined = Unresolved { items, groups: peers.iter().map(|list| list.groups).sum() };
        let (unused, cub) = (self.sort.unused(list, unresolved.items), self.sort.cub);
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
        // From here on nothing of another GPU is read.
        exchange.all_gather(&[])?;
        let mut rounds = Vec::new();
        let joined = SelectedMinimizers { group_heads: heads, unresolved: joined };
        doubling.rank_selected(gpu, &mut state, joined, window, sparse, &mut rounds)?;
        let work = ListRefinement::allocate(&mut arena(), cub, list, unresolved);
        work.finish(gpu, &state, &mut rounds)
    }

    /// The minimizers of this GPU's list, up to `most`.
    fn select(
        &self,
        state: &SortState<'m>,
        (list, unresolved): (UnsortedGroups<'m>, Unresolved),
        most: u32,
        memory: &'m mut GrowingArena,
    ) -> Result<PeerList> {
        let gpu = self.gpu;
        let to = memory.fit(gpu, |arena| Ok(UnsortedGroups::allocate(arena, most)))?;
        select_minimizers(gpu, state, state.dense, list, unresolved.items, to)?;
        let Unresolved { items, groups } = unresolved.wait_for_selected(gpu, most)?;
        let view = UnsortedGroups { group_heads: list.group_heads, ..to }.view();
        Ok(PeerList { items, groups, first_row: 0, view })
    }
}
