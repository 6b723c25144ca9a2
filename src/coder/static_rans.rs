//! Static rANS: run lengths and MTF ranks by tables that are counted ahead. FORMAT.md chapter 15.
//!
//! A slice is coded as its runs: for each the length, and the MTF rank of its symbol after it. The
//! context of each (see `run_context`) picks one of the block's tables (see `models`). A rANS state
//! for run lengths and one for MTF ranks wait only for themselves, and the next run's symbol is
//! known before the MTF rank is, so that a processor works on several runs at once.
//!
//! An encoder first reads all slices of a block ([`SliceSymbols::of`]): backwards for the MTF ranks
//! and forwards for the contexts. With the counts of all it makes the models, and then codes each
//! slice backwards. Cost: 4 bytes per run between the passes.

use super::context_tree::{CONTEXTS, RANK_LEAVES, RUN_LEAVES};
use super::exp_golomb::{self, DIRECT, ExpGolomb, LAST_BUCKET, LAST_BUCKET_WIDTH};
use super::models::{EXTRA_TABLES, Models, SymbolCounts, extra_table, high_bits};
use super::mtf::{self, MtfList};
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rans::{PreparedSlots, RansDecoder, RansStack, Slots};
use super::rle::{self, BwtRun};
use super::run_context::ModelState;
use super::simd_dispatch::widest;
use super::slot_search::{SearchBaseline, SlotSearch};
use crate::error::Flaw;

/// Bits of the exp-Golomb width of a very long run, less the least.
const WIDTH_BITS: u32 = 5;

/// A slice as its symbols, between the two passes of an encoder.
pub struct SliceSymbols {
    runs: Vec<RunSymbols>,
    /// The run lengths, each less one, that are [`LONG`] and above.
    long: Vec<u32>,
    /// The bytes of the slice in the order of their first runs.
    list: Vec<u8>,
}

/// A run: its length and its MTF rank, each less one, and the leaves that they are coded by.
#[derive(Clone, Copy, Default)]
struct RunSymbols {
    len: u8,
    mtf_rank: u8,
    run_leaf: u8,
    rank_leaf: u8,
}

/// Stands for this length less one and all above.
const LONG: u32 = 254;

impl SliceSymbols {
    /// Finds the symbols of a slice, and adds to `counts` how often each occurs.
    pub fn of(slice: &[u8], counts: &mut SymbolCounts) -> Self {
        widest!(
            symbols_of::<super::slot_search::SearchAvx2, SearchBaseline>(
                slice: &[u8], counts: &mut SymbolCounts
            ) -> SliceSymbols
        )
    }

    /// The coded form of the slice, or `None` where it takes as many bytes as the slice has.
    pub fn encode(&self, slice_size: usize, coder: &SliceEncoder) -> Option<Vec<u8>> {
        let symbols = self;
        widest!(
            encode_with::<super::slot_search::SearchAvx2, SearchBaseline>(
                symbols: &SliceSymbols, slice_size: usize, coder: &SliceEncoder
            ) -> Option<Vec<u8>>
        )
    }
}

/// Uses no [`SlotSearch`], but the shifts of one instruction that come with AVX2.
#[inline(always)]
fn symbols_of<S: SlotSearch>(slice: &[u8], counts: &mut SymbolCounts) -> SliceSymbols {
    let contexts = &*CONTEXTS;
    let (steps, list) = mtf::encode(slice);
    let mut runs = vec![RunSymbols::default(); steps.len()];
    let (mut long, mut pos) = (Vec::new(), 0);
    let mut state = ModelState::new(contexts);
    for (symbols, step) in runs.iter_mut().zip(steps.iter().rev()) {
        let run = rle::read_short(slice, pos, step.len);
        pos += run.len as usize;
        let [run_context, rank_context] = state.contexts(run.symbol);
        let run_leaf = contexts.run_leaves[run_context % contexts.run_leaves.len()];
        let rank_leaf = contexts.rank_leaves[rank_context % contexts.rank_leaves.len()];
        // The last run has no MTF rank: 1 is coded.
        let (len, mtf_rank) = (run.len - 1, step.mtf_rank.saturating_sub(1));
        *symbols = RunSymbols { len: len.min(LONG) as u8, mtf_rank, run_leaf, rank_leaf };
        let bucket = count_extra(len, RunLengths, counts);
        counts.runs[usize::from(run_leaf) % RUN_LEAVES][bucket] += 1;
        let bucket = count_extra(mtf_rank.into(), MtfRanks, counts);
        counts.ranks[usize::from(rank_leaf) % RANK_LEAVES][bucket] += 1;
        if len >= LONG {
            long.push(len);
        }
        state.add(run.symbol, len, mtf_rank);
    }
    list.iter().for_each(|&byte| counts.present[usize::from(byte)] = true);
    SliceSymbols { runs, long, list }
}

/// The bucket of a number, whose extra bits are counted.
#[inline(always)]
fn count_extra(number: u32, stream: RansStream, counts: &mut SymbolCounts) -> usize {
    if number < DIRECT as u32 {
        return number as usize;
    }
    let split = exp_golomb::split(number);
    counts.extra[extra_table(stream, split.width)][high_bits(split)] += 1;
    split.bucket
}

/// The models of a block as an encoder needs them.
pub struct SliceEncoder {
    /// By class.
    runs: Vec<[PreparedSlots; 16]>,
    ranks: Vec<[PreparedSlots; 16]>,
    class_of_leaf: [[u8; 256]; 2],
    extra: [[PreparedSlots; 16]; EXTRA_TABLES],
    alphabet: Vec<u8>,
}

impl SliceEncoder {
    pub fn new(models: &Models) -> Self {
        SliceEncoder {
            runs: models.runs.tables.iter().map(|table| table.prepared()).collect(),
            ranks: models.ranks.tables.iter().map(|table| table.prepared()).collect(),
            class_of_leaf: [models.runs.class_of_leaf, models.ranks.class_of_leaf],
            extra: models.extra.each_ref().map(|table| table.prepared()),
            alphabet: models.alphabet.clone(),
        }
    }
}

#[inline(always)]
fn encode_with<S: SlotSearch>(
    symbols: &SliceSymbols,
    slice_size: usize,
    coder: &SliceEncoder,
) -> Option<Vec<u8>> {
    // Words that fill the first of these are as many bytes as the slice; no run takes more than 8
    // symbols or, where it is long, 12; the list comes on top.
    let most = 8 * symbols.runs.len() + 4 * symbols.long.len() + 257;
    let mut stack = RansStack::new(vec![[0; 2]; slice_size.div_ceil(2).min(most)]);
    let mut long = &symbols.long[..];
    let [run_classes, rank_classes] = &coder.class_of_leaf;
    let run_tables = coder.runs.first_chunk::<256>()?;
    let rank_tables = coder.ranks.first_chunk::<256>()?;
    for run in symbols.runs.iter().rev() {
        let (mut len, mtf_rank) = (u32::from(run.len), u32::from(run.mtf_rank));
        let (mut buckets, direct) = ([len as usize, mtf_rank as usize], DIRECT as u32);
        if len >= direct || mtf_rank >= direct {
            if len >= LONG {
                len = *long.split_off_last()?;
            }
            buckets = push_extra(&mut stack, [len, mtf_rank], coder);
        }
        let run_table = &run_tables[usize::from(run_classes[usize::from(run.run_leaf)])];
        let rank_table = &rank_tables[usize::from(rank_classes[usize::from(run.rank_leaf)])];
        stack.push_prepared(MtfRanks, &rank_table[buckets[1] % 16]);
        stack.push_prepared(RunLengths, &run_table[buckets[0] % 16]);
    }
    push_list(&mut stack, &symbols.list, &coder.alphabet);
    let mut out = Vec::new();
    stack.write(&mut out);
    (out.len() < slice_size).then_some(out)
}

/// Pushes the extra bits of a run length and an MTF rank, each less one, and gives their buckets.
fn push_extra(stack: &mut RansStack, numbers: [u32; 2], coder: &SliceEncoder) -> [usize; 2] {
    let mut buckets = numbers.map(|number| number as usize);
    for stream in [MtfRanks, RunLengths] {
        let number = numbers[stream as usize];
        if number >= DIRECT as u32 {
            let split = exp_golomb::split(number);
            push_split(stack, stream, split, coder);
            buckets[stream as usize] = split.bucket;
        }
    }
    buckets
}

fn push_split(stack: &mut RansStack, stream: RansStream, split: ExpGolomb, coder: &SliceEncoder) {
    let left = split.width.saturating_sub(4);
    // The decoder takes eight bits at a time, and then what is left.
    let mut done = left % 8;
    if done > 0 {
        stack.push(stream, Slots::plain(split.extra & ((1 << done) - 1), done));
    }
    while done < left {
        stack.push(stream, Slots::plain(split.extra >> done & 255, 8));
        done += 8;
    }
    let table = &coder.extra[extra_table(stream, split.width)];
    stack.push_prepared(stream, &table[high_bits(split) % 16]);
    if stream == RunLengths && split.bucket == LAST_BUCKET {
        stack.push(stream, Slots::plain(split.width - LAST_BUCKET_WIDTH, WIDTH_BITS));
    }
}

/// Pushes the list of a slice: each byte as its place among those of the alphabet that are left.
fn push_list(stack: &mut RansStack, list: &[u8], alphabet: &[u8]) {
    let mut left = alphabet.to_vec();
    let places: Vec<[u32; 2]> = list
        .iter()
        .map(|byte| {
            let place = left.iter().position(|other| other == byte).expect("a byte of the block");
            left.remove(place);
            [place as u32, left.len() as u32 + 1]
        })
        .collect();
    places.into_iter().rev().for_each(|[place, of]| stack.push_even(MtfRanks, place, of));
    stack.push_even(MtfRanks, list.len() as u32 - 1, alphabet.len() as u32);
}

/// Takes the list of a slice.
fn take_list(coder: &mut RansDecoder, alphabet: &[u8]) -> Vec<u8> {
    let mut left = alphabet.to_vec();
    let count = coder.take_even(MtfRanks, alphabet.len() as u32) + 1;
    (0..count).map(|_| left.remove(coder.take_even(MtfRanks, left.len() as u32) as usize)).collect()
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(models: &Models, coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::slot_search::SearchAvx2, SearchBaseline>(
            models: &Models, coded: &[u8], out: &mut [u8]
        ) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<S: SlotSearch>(models: &Models, coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let mut front = RansDecoder::new(coded)?;
    let symbols = take_list(&mut front, &models.alphabet);
    // Nobody has a reference to this one, so that it stays in registers.
    let mut coder = front.copied();
    let mut list = MtfList::of(&symbols);
    let mut state = ModelState::new(&CONTEXTS);
    let Models { runs, ranks, .. } = models;
    let (mut pos, mut symbol) = (0, list.front());
    loop {
        let [run_context, rank_context] = state.contexts(symbol);
        let run_table = &runs.tables[usize::from(runs.class[run_context % runs.class.len()])];
        let rank_table = &ranks.tables[usize::from(ranks.class[rank_context % ranks.class.len()])];
        let (mut len, slots) = run_table.find::<S>(coder.slot(RunLengths));
        coder.take(RunLengths, slots);
        let (mut mtf_rank, slots) = rank_table.find::<S>(coder.slot(MtfRanks));
        coder.take(MtfRanks, slots);
        if len.max(mtf_rank) >= DIRECT as u32 {
            let mut slow = coder.copied();
            [len, mtf_rank] = take_extra(&mut slow, [len, mtf_rank], models)?;
            coder = slow.copied();
        }
        pos = rle::write(out, pos, BwtRun { symbol, len: len + 1 })?;
        if pos == out.len() {
            return if mtf_rank == 0 { coder.finish() } else { Err(super::LEFT_OVER) };
        }
        if mtf_rank as usize + 1 >= symbols.len() {
            return Err(Flaw("a slice puts a symbol behind the end of its list"));
        }
        let next = list.second();
        list.put_back(mtf_rank as u8 + 1);
        state.add(symbol, len, mtf_rank as u8);
        symbol = next;
    }
}

/// The numbers of a run whose buckets are these, one of which has extra bits.
#[inline(never)]
fn take_extra(
    coder: &mut RansDecoder,
    buckets: [u32; 2],
    models: &Models,
) -> Result<[u32; 2], Flaw> {
    let mut numbers = buckets;
    for stream in [RunLengths, MtfRanks] {
        let number = &mut numbers[stream as usize];
        if *number >= DIRECT as u32 {
            let mut width = *number - 8;
            if stream == RunLengths && *number == LAST_BUCKET as u32 {
                width += coder.take_plain(RunLengths, WIDTH_BITS);
            }
            if width > 30 {
                return Err(Flaw("a slice holds a run longer than any slice"));
            }
            *number = take_width(coder, stream, width, models);
        }
    }
    Ok(numbers)
}

/// The number with so many extra bits.
#[inline(always)]
fn take_width(coder: &mut RansDecoder, stream: RansStream, width: u32, models: &Models) -> u32 {
    let mut left = width.saturating_sub(4);
    let table = &models.extra[extra_table(stream, width)];
    let (high, slots) = table.find::<SearchBaseline>(coder.slot(stream));
    coder.take(stream, slots);
    let mut extra = high & ((1 << width.min(4)) - 1);
    while left > 0 {
        let bits = left.min(8);
        left -= bits;
        extra = extra << bits | coder.take_plain(stream, bits);
    }
    exp_golomb::join(width, extra)
}
