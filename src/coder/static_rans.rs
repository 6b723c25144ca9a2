//! Static rANS: run lengths and MTF ranks by tables that are counted ahead. FORMAT.md chapter 14.
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
use super::exp_golomb::{self, DIRECT, LAST_BUCKET, LAST_BUCKET_WIDTH};
use super::list_head::ListHead;
use super::models::{ClassTables, EXTRA_TABLES, Models, SymbolCounts, extra_table, high_bits};
use super::mtf::{self, LONG, MtfList, MtfSteps};
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rans::{PreparedSlots, RansDecoder, RansStack};
use super::rle::{self, BwtRun};
use super::run_context::ModelState;
use super::simd_dispatch::widest;
use super::slot_search::{SearchBaseline, SlotSearch};
use crate::error::Flaw;

/// Bits of the exp-Golomb width of a very long run, less the least.
const WIDTH_BITS: u32 = 5;

/// A slice as its symbols, between the two passes of an encoder.
pub struct SliceSymbols {
    runs: Vec<RunKey>,
    /// The numbers that have extra bits: MTF ranks and run lengths, each less one, the latter up to
    /// [`LONG`].
    large_ranks: Vec<u8>,
    large_lens: Vec<u8>,
    /// The run lengths, each less one, that are [`LONG`] and above.
    long: Vec<u32>,
    /// The bytes of the slice in the order of their first runs.
    list: Vec<u8>,
}

/// A run: in the lower half its length and in the upper half its MTF rank, each as 16 times the leaf
/// that it is coded by plus its bucket, with [`LARGE`] where it has extra bits.
type RunKey = u32;
/// Of half a [`RunKey`]: there are extra bits.
const LARGE: RunKey = 1 << 15;

impl SliceSymbols {
    /// Finds the symbols of a slice, and adds to `counts` how often each occurs.
    pub fn of(slice: &[u8], counts: &mut SymbolCounts) -> Self {
        let steps = mtf::encode(slice);
        widest!(
            symbols_of::<super::slot_search::SearchAvx2, SearchBaseline>(
                steps: MtfSteps, counts: &mut SymbolCounts
            ) -> SliceSymbols
        )
    }
}

/// Uses no [`SlotSearch`], but the shifts of one instruction that come with AVX2.
#[inline(always)]
fn symbols_of<S: SlotSearch>(steps: MtfSteps, counts: &mut SymbolCounts) -> SliceSymbols {
    let MtfSteps { steps, long, list } = steps;
    let rank_keys = CONTEXTS.rank_leaves.map(|leaf| u32::from(leaf) << 20);
    let own_keys = Box::new(CONTEXTS.own.map(|own| own & 0xffff_0000 | (own & 0xff) << 4));
    let mut runs = vec![0; steps.len()];
    let mut longs = long.iter();
    let mut state = ModelState::new(&own_keys);
    for (key, step) in runs.iter_mut().zip(&steps) {
        let [run_key, rank_context] = state.contexts(step.symbol);
        let run_key = run_key as u32 | BUCKETS[usize::from(step.len)];
        let rank_key = rank_keys[rank_context] | RANK_BUCKETS[usize::from(step.mtf_rank)];
        *key = run_key | rank_key;
        let mut len = step.len;
        if len == LONG && longs.next().is_some_and(|&len| len > LONG.into()) {
            len = 255;
        }
        state.add(step.symbol, len, step.mtf_rank);
    }
    // In a loop of its own: the loads above would wait for the addresses of the stores here.
    let (mut large_ranks, mut ranks) = (vec![0; steps.len()], 0);
    let (mut large_lens, mut lens) = (vec![0; steps.len()], 0);
    let (by_run, by_rank) = (counts.runs.as_flattened_mut(), counts.ranks.as_flattened_mut());
    for (&run, step) in runs.iter().zip(&steps) {
        by_run[run as usize % (16 * RUN_LEAVES)] += 1;
        by_rank[(run >> 16) as usize % (16 * RANK_LEAVES)] += 1;
        if let Some(large) = large_ranks.get_mut(ranks) {
            *large = step.mtf_rank;
        }
        ranks += usize::from(step.mtf_rank >= DIRECT as u8);
        if let Some(large) = large_lens.get_mut(lens) {
            *large = step.len;
        }
        lens += usize::from(step.len >= DIRECT as u8);
    }
    let large_ranks = large_ranks[..ranks].to_vec();
    let large_lens = large_lens[..lens].to_vec();
    large_ranks.iter().for_each(|&rank| count_extra(rank.into(), MtfRanks, counts));
    let short = large_lens.iter().filter(|&&len| len < LONG).map(|&len| len.into());
    let lens = short.chain(long.iter().copied());
    lens.for_each(|len| count_extra(len, RunLengths, counts));
    list.iter().for_each(|&byte| counts.present[usize::from(byte)] = true);
    SliceSymbols { runs, large_ranks, large_lens, long, list }
}

static RANK_BUCKETS: [u32; 256] = {
    let mut buckets = [0; 256];
    let mut number = 0;
    while number < 256 {
        buckets[number] = BUCKETS[number] << 16;
        number += 1;
    }
    buckets
};

static BUCKETS: [u32; 256] = {
    let mut buckets = [0; 256];
    let mut number = 0;
    while number < 256 {
        let large = if number < DIRECT { 0 } else { LARGE };
        buckets[number] = exp_golomb::split(number as u32).bucket as u32 | large;
        number += 1;
    }
    buckets
};

#[inline(always)]
fn count_extra(number: u32, stream: RansStream, counts: &mut SymbolCounts) {
    let split = exp_golomb::split(number);
    counts.extra[extra_table(stream, split.width)][high_bits(split)] += 1;
}

/// The models of a block as an encoder needs them.
pub struct SliceEncoder {
    /// By 16 times the class plus the bucket.
    runs: [PreparedSlots; 4096],
    ranks: [PreparedSlots; 4096],
    /// From [`RunKeys`] to these.
    run_classes: [u16; 16 * RUN_LEAVES],
    rank_classes: [u16; 16 * RANK_LEAVES],
    extra: [[PreparedSlots; 16]; EXTRA_TABLES],
    /// By MTF rank: its highest extra bits.
    large_ranks: [PreparedSlots; 256],
    alphabet: Vec<u8>,
}

impl SliceEncoder {
    pub fn new(models: &Models) -> Self {
        let large_rank = |rank: usize| {
            let split = exp_golomb::split(rank.max(DIRECT) as u32);
            models.extra[extra_table(MtfRanks, split.width)].slots(high_bits(split)).into()
        };
        SliceEncoder {
            runs: first(models.runs.tables.iter().flat_map(|table| table.prepared())),
            ranks: first(models.ranks.tables.iter().flat_map(|table| table.prepared())),
            run_classes: first(by_leaf(&models.runs)),
            rank_classes: first(by_leaf(&models.ranks)),
            extra: models.extra.each_ref().map(|table| table.prepared()),
            large_ranks: std::array::from_fn(large_rank),
            alphabet: models.alphabet.clone(),
        }
    }

    /// The coded form of a slice of so many bytes, or `None` where it takes as many.
    pub fn encode(&self, symbols: &SliceSymbols, slice_size: usize) -> Option<Vec<u8>> {
        let coder = self;
        widest!(
            encode_with::<super::slot_search::SearchAvx2, SearchBaseline>(
                coder: &SliceEncoder, symbols: &SliceSymbols, slice_size: usize
            ) -> Option<Vec<u8>>
        )
    }
}

/// By leaf and bucket: 16 times the class plus the bucket.
fn by_leaf(classes: &ClassTables) -> impl Iterator<Item = u16> {
    let classes = classes.class_of_leaf.iter();
    classes.flat_map(|&class| (0..16).map(move |bucket| u16::from(class) << 4 | bucket))
}

/// The first `N` items.
fn first<T: std::fmt::Debug, const N: usize>(items: impl Iterator<Item = T>) -> [T; N] {
    let items: Vec<T> = items.take(N).collect();
    items.try_into().expect("as many as there are leaves")
}

#[inline(always)]
fn encode_with<S: SlotSearch>(
    coder: &SliceEncoder,
    symbols: &SliceSymbols,
    slice_size: usize,
) -> Option<Vec<u8>> {
    let SliceSymbols { runs, large_ranks, large_lens, long, list } = symbols;
    // Words that fill the first of these are as many bytes as the slice; no run takes more than 8
    // symbols or, where it is long, 12; the list comes on top.
    let most = 8 * runs.len() + 4 * long.len() + 257;
    let mut room = vec![[0; 2]; slice_size.div_ceil(2).min(most)];
    let words = &mut room[..];
    let mut stack = RansStack::new(words.len());
    let (mut ranks, mut lens, mut long) = (&large_ranks[..], &large_lens[..], &long[..]);
    for &run in runs.iter().rev() {
        if run & LARGE << 16 != 0
            && let Some(&rank) = ranks.split_off_last()
        {
            stack = push_large_rank(stack, words, rank, coder);
        }
        if run & LARGE != 0
            && let Some(&len) = lens.split_off_last()
        {
            let long = if len < LONG { None } else { long.split_off_last() };
            let len = long.copied().unwrap_or(len.into());
            stack = push_extra(stack, words, RunLengths, len, coder);
        }
        let run_class = coder.run_classes[run as usize % (16 * RUN_LEAVES)];
        let rank_class = coder.rank_classes[(run >> 16) as usize % (16 * RANK_LEAVES)];
        let rank = &coder.ranks[usize::from(rank_class) % 4096];
        let run = &coder.runs[usize::from(run_class) % 4096];
        stack.push_both(words, rank, run);
    }
    push_list(&mut stack, words, list, &coder.alphabet);
    let mut out = Vec::new();
    stack.write(words, &mut out);
    (out.len() < slice_size).then_some(out)
}

/// Pushes the extra bits of an MTF rank, less one.
#[inline(always)]
fn push_large_rank(
    mut stack: RansStack,
    words: &mut [[u8; 2]],
    rank: u8,
    coder: &SliceEncoder,
) -> RansStack {
    if rank >= 38 {
        return push_extra(stack, words, MtfRanks, rank.into(), coder);
    }
    stack.push_prepared(words, MtfRanks, &coder.large_ranks[usize::from(rank)]);
    stack
}

/// Pushes the extra bits of a number.
#[inline(always)]
fn push_extra(
    mut stack: RansStack,
    words: &mut [[u8; 2]],
    stream: RansStream,
    number: u32,
    coder: &SliceEncoder,
) -> RansStack {
    let split = exp_golomb::split(number);
    let left = split.width.saturating_sub(4);
    // The decoder takes eight bits at a time, and then what is left.
    let mut done = left % 8;
    if done > 0 {
        stack.push_plain(words, stream, split.extra & ((1 << done) - 1), done);
    }
    while done < left {
        stack.push_plain(words, stream, split.extra >> done & 255, 8);
        done += 8;
    }
    let table = &coder.extra[extra_table(stream, split.width)];
    stack.push_prepared(words, stream, &table[high_bits(split) % 16]);
    if stream == RunLengths && split.bucket == LAST_BUCKET {
        stack.push_plain(words, stream, split.width - LAST_BUCKET_WIDTH, WIDTH_BITS);
    }
    stack
}

/// Pushes the list of a slice: each byte as its number among those of the alphabet that are left.
fn push_list(stack: &mut RansStack, words: &mut [[u8; 2]], list: &[u8], alphabet: &[u8]) {
    let mut left = alphabet.to_vec();
    let numbers: Vec<[u32; 2]> = list
        .iter()
        .map(|byte| {
            let number = left.iter().position(|other| other == byte).expect("a byte of the block");
            left.remove(number);
            [number as u32, left.len() as u32 + 1]
        })
        .collect();
    let numbers = numbers.into_iter().rev();
    numbers.for_each(|[number, of]| stack.push_even(words, MtfRanks, number, of));
    stack.push_even(words, MtfRanks, list.len() as u32 - 1, alphabet.len() as u32);
}

/// Takes the list of a slice.
fn take_list(coder: &mut RansDecoder, alphabet: &[u8]) -> Vec<u8> {
    let mut left = alphabet.to_vec();
    let count = coder.take_even(MtfRanks, alphabet.len() as u32) + 1;
    (0..count).map(|_| left.remove(coder.take_even(MtfRanks, left.len() as u32) as usize)).collect()
}

/// A slice that is being decoded.
struct SliceRuns<'a, H> {
    coder: RansDecoder<'a>,
    state: ModelState<'a>,
    list: MtfList<H>,
    /// How many bytes the list has.
    symbols: u32,
    /// The byte of the current run, and where that starts.
    symbol: u8,
    pos: usize,
}

impl<'a, H: ListHead> SliceRuns<'a, H> {
    fn new(models: &'a Models, coded: &'a [u8]) -> Result<Self, Flaw> {
        let mut coder = RansDecoder::new(coded)?;
        let symbols = take_list(&mut coder, &models.alphabet);
        let list = MtfList::of(&symbols);
        let (state, symbol) = (ModelState::new(&models.own), list.front());
        Ok(SliceRuns { coder, state, list, symbols: symbols.len() as u32, symbol, pos: 0 })
    }

    /// Decodes a run into `out`, and tells whether it was the last.
    #[inline(always)]
    fn step<S: SlotSearch<Head = H>>(&mut self, models: &Models, out: &mut [u8]) -> Result<bool, Flaw> {
        let [run_class, rank_context] = self.state.contexts(self.symbol);
        let run_table = &models.runs.tables[run_class];
        let rank_table = &models.ranks.tables[usize::from(models.rank_classes[rank_context])];
        let [run_slot, rank_slot] = [RunLengths, MtfRanks].map(|stream| self.coder.slot(stream));
        // Asked of the slots, so that the processor knows as early as possible.
        let large = run_table.reaches(DIRECT, run_slot) || rank_table.reaches(DIRECT, rank_slot);
        let (mut len, run_slots) = run_table.find::<S>(run_slot);
        let (mut mtf_rank, rank_slots) = rank_table.find::<S>(rank_slot);
        self.coder.take_both([run_slots, rank_slots]);
        // Most runs are short and not at the end.
        if !large
            && mtf_rank + 1 < self.symbols
            && let Some(room) = out.get_mut(self.pos..).and_then(|out| out.first_chunk_mut::<16>())
        {
            *room = [self.symbol; 16];
            self.pos += len as usize + 1;
            if self.pos < out.len() {
                self.turn(len, mtf_rank as u8);
                return Ok(false);
            }
            return if self.pos == out.len() && mtf_rank == 0 {
                Ok(true)
            } else {
                Err(super::LEFT_OVER)
            };
        }
        if len >= DIRECT as u32 {
            len = take_long(&mut self.coder, len, models)?;
        }
        if mtf_rank >= DIRECT as u32 {
            mtf_rank = take_extra::<S>(&mut self.coder, MtfRanks, mtf_rank - 8, models);
        }
        let run = BwtRun { symbol: self.symbol, len: len + 1 };
        self.pos = rle::write(out, self.pos, run)?;
        if self.pos == out.len() {
            return if mtf_rank == 0 { Ok(true) } else { Err(super::LEFT_OVER) };
        }
        if mtf_rank + 1 >= self.symbols {
            return Err(Flaw("a slice puts a symbol behind the end of its list"));
        }
        self.turn(len, mtf_rank as u8);
        Ok(false)
    }

    /// Goes on from a run to the next. Both numbers are less one.
    #[inline(always)]
    fn turn(&mut self, len: u32, mtf_rank: u8) {
        let symbol = self.symbol;
        self.symbol = self.list.second();
        self.list.put_back(mtf_rank + 1);
        self.state.add(symbol, len.min(255) as u8, mtf_rank);
    }

    /// Decodes all runs that are left.
    #[inline(always)]
    fn rest<S: SlotSearch<Head = H>>(&mut self, models: &Models, out: &mut [u8]) -> Result<(), Flaw> {
        while !self.step::<S>(models, out)? {}
        self.coder.finish()
    }
}

/// A slice and its room.
pub struct SliceJob<'a> {
    pub coded: &'a [u8],
    pub out: &'a mut [u8],
}

/// Fills the room of a slice, or says what is wrong with it.
pub fn decode(models: &Models, SliceJob { coded, out }: SliceJob) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::slot_search::SearchAvx2, SearchBaseline>(
            models: &Models, coded: &[u8], out: &mut [u8]
        ) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<S: SlotSearch>(models: &Models, coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    SliceRuns::<S::Head>::new(models, coded)?.rest::<S>(models, out)
}

/// [`decode`] for two slices at once: each run waits for the one before it in its own slice alone,
/// so that this takes a third less time than one slice after the other.
pub fn decode_two(models: &Models, jobs: [SliceJob; 2]) -> [Result<(), Flaw>; 2] {
    widest!(
        decode_two_with::<super::slot_search::SearchAvx2, SearchBaseline>(
            models: &Models, jobs: [SliceJob; 2]
        ) -> [Result<(), Flaw>; 2]
    )
}

#[inline(always)]
fn decode_two_with<S: SlotSearch>(models: &Models, jobs: [SliceJob; 2]) -> [Result<(), Flaw>; 2] {
    let [first, second] = jobs;
    let (mut one, mut two) =
        match (SliceRuns::<S::Head>::new(models, first.coded), SliceRuns::<S::Head>::new(models, second.coded)) {
            (Ok(one), Ok(two)) => (one, two),
            (one, two) => {
                let rest = |runs: Result<SliceRuns<S::Head>, Flaw>, out| runs?.rest::<S>(models, out);
                return [rest(one, first.out), rest(two, second.out)];
            }
        };
    loop {
        match one.step::<S>(models, first.out) {
            Ok(false) => {}
            ended => {
                let ended = ended.and_then(|_| one.coder.finish());
                return [ended, two.rest::<S>(models, second.out)];
            }
        }
        match two.step::<S>(models, second.out) {
            Ok(false) => {}
            ended => {
                let ended = ended.and_then(|_| two.coder.finish());
                return [one.rest::<S>(models, first.out), ended];
            }
        }
    }
}

/// The run length, less one, of a bucket that has extra bits.
#[inline(never)]
fn take_long(coder: &mut RansDecoder, bucket: u32, models: &Models) -> Result<u32, Flaw> {
    let mut width = bucket - 8;
    if bucket == LAST_BUCKET as u32 {
        width += coder.take_plain(RunLengths, WIDTH_BITS);
    }
    match width {
        ..=30 => Ok(take_extra::<SearchBaseline>(coder, RunLengths, width, models)),
        _ => Err(Flaw("a slice holds a run longer than any slice")),
    }
}

/// The number with so many extra bits.
#[inline(always)]
fn take_extra<S: SlotSearch>(
    coder: &mut RansDecoder,
    stream: RansStream,
    width: u32,
    models: &Models,
) -> u32 {
    let mut left = width.saturating_sub(4);
    let table = &models.extra[extra_table(stream, width)];
    let (high, slots) = table.find::<S>(coder.slot(stream));
    coder.take(stream, slots);
    let mut extra = high & ((1 << width.min(4)) - 1);
    while left > 0 {
        let bits = left.min(8);
        left -= bits;
        extra = extra << bits | coder.take_plain(stream, bits);
    }
    exp_golomb::join(width, extra)
}
