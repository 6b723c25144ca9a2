//! Segment kind 3, static rANS, the fastest: run lengths and MTF ranks by tables counted ahead.
//!
//! For each run its length is coded and then, unless the segment is full, the MTF rank of its
//! symbol, as in adaptive rANS. Both are predicted from the symbol's moving averages: their
//! quantised values pick one of 11 or 16 tables. The tables stay the same through the segment, so
//! that a symbol costs a comparison and a multiplication and hardly waits for the one before: the
//! next run's symbol is known before the MTF rank is.
//!
//! An encoder makes three passes over the segment: backwards for the MTF ranks, forwards to count,
//! backwards to code. Cost: 21 to 24 ns per run to encode and 15 to decode; 6 bytes per run, and 4
//! per number with extra bits, between the passes. The tables take 39 to 663 bytes of a segment.

use super::cdf_simd::{CdfBaseline, CdfVector};
use super::exp_golomb::{self, DIRECT, ExpGolomb, LAST_BUCKET, LAST_BUCKET_WIDTH};
use super::frequency_table::FrequencyTable;
use super::mtf::{self, MtfList, MtfStep};
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rans::{PreparedSlots, RansDecoder, RansStack, Slots};
use super::rle::{self, BwtRun};
use super::run_context::{Averages, QUANTISED_MTF_RANKS, QUANTISED_RUN_LENGTHS};
use super::simd_dispatch::widest;
use crate::error::Flaw;

/// Tables of buckets, by the quantised average: first those of run lengths, from here on those of
/// MTF ranks.
const MTF_RANK_TABLES: usize = QUANTISED_RUN_LENGTHS;
/// Then tables of the highest extra bits, by width from 2 to 7 and above, again first those of run
/// lengths.
const EXTRA_TABLES: usize = QUANTISED_RUN_LENGTHS + QUANTISED_MTF_RANKS;
const WIDTHS: usize = 6;
const TABLES: usize = EXTRA_TABLES + 2 * WIDTHS;

/// Bits of the exp-Golomb width of a very long run, less the least.
const WIDTH_BITS: u32 = 5;

/// The tables for a run length and an MTF rank, given their quantised averages.
#[inline(always)]
fn tables([run_length, mtf_rank]: [u8; 2]) -> [usize; 2] {
    [usize::from(run_length), MTF_RANK_TABLES + usize::from(mtf_rank)]
}

/// The moving averages of each symbol. Decoders need them quantised early, and keep them so.
struct QuantisedAverages {
    averages: [Averages; 256],
    quantised: [[u8; 2]; 256],
}

impl QuantisedAverages {
    fn new() -> Self {
        QuantisedAverages { averages: [Averages::default(); 256], quantised: [[0; 2]; 256] }
    }

    #[inline(always)]
    fn tables(&self, symbol: u8) -> [usize; 2] {
        tables(self.quantised[usize::from(symbol)])
    }

    #[inline(always)]
    fn add(&mut self, run: BwtRun, mtf_rank: u32) {
        let averages = &mut self.averages[usize::from(run.symbol)];
        averages.add_both(run.len - 1, mtf_rank - 1);
        self.quantised[usize::from(run.symbol)] = averages.quantised();
    }
}

/// The symbols of a segment, run after run, and how often each symbol of each table occurs.
struct SymbolCounts {
    /// For each run the bucket of its length and that of its MTF rank, each plus 16 times its
    /// table.
    runs: Vec<[u16; 2]>,
    /// The numbers that have extra bits.
    large: Vec<u32>,
    /// By 16 times the table plus the symbol. Twice, for even and for odd runs: a counter
    /// that the run before has used would have to wait for it.
    counts: Box<[[u32; 16 * TABLES]; 2]>,
}

/// Stands for the MTF rank that the last run does not have.
const NO_MTF_RANK: u16 = u16::MAX;

impl SymbolCounts {
    #[inline(always)]
    fn of(segment: &[u8], steps: &[MtfStep]) -> Self {
        let counts = Box::new([[0; 16 * TABLES]; 2]);
        let mut counts = SymbolCounts { runs: vec![], large: vec![], counts };
        let mut runs = vec![[NO_MTF_RANK; 2]; steps.len()];
        let mut averages = [Averages::default(); 256];
        let (mut pos, mut odd) = (0, 0);
        for (symbols, step) in runs.iter_mut().zip(steps.iter().rev()) {
            let run = rle::read_short(segment, pos, step.len);
            pos += run.len as usize;
            odd ^= 1;
            let averages = &mut averages[usize::from(run.symbol)];
            let [run_length_table, mtf_rank_table] = tables(averages.quantised());
            symbols[0] = counts.count(RunLengths, odd, run_length_table, run.len - 1);
            if step.mtf_rank > 0 {
                let mtf_rank = u32::from(step.mtf_rank) - 1;
                symbols[1] = counts.count(MtfRanks, odd, mtf_rank_table, mtf_rank);
                averages.add_both(run.len - 1, mtf_rank);
            }
        }
        SymbolCounts { runs, ..counts }
    }

    #[inline(always)]
    fn count(&mut self, stream: RansStream, odd: usize, table: usize, number: u32) -> u16 {
        let split = exp_golomb::split(number);
        let symbol = table << 4 | split.bucket;
        self.counts[odd % 2][symbol] += 1;
        if split.bucket >= DIRECT {
            self.counts[odd % 2][extra_table(stream, split.width) << 4 | high_bits(split)] += 1;
            self.large.push(number);
        }
        symbol as u16
    }

    /// Appends all tables.
    fn write(&self, out: &mut Vec<u8>) {
        let [even, odd] = &*self.counts;
        for (even, odd) in even.as_chunks::<16>().0.iter().zip(odd.as_chunks::<16>().0) {
            FrequencyTable::write(&std::array::from_fn(|symbol| even[symbol] + odd[symbol]), out);
        }
    }
}

/// The table of the highest extra bits.
fn extra_table(stream: RansStream, width: u32) -> usize {
    EXTRA_TABLES + stream as usize * WIDTHS + width.min(LAST_BUCKET_WIDTH) as usize - 2
}

/// The extra bits that a table codes: the highest four.
fn high_bits(split: ExpGolomb) -> usize {
    (split.extra >> split.width.saturating_sub(4)) as usize
}

/// The coded runs of `segment`, or `None` where they take as many bytes as it.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    widest!(encode_with::<super::cdf_simd::CdfAvx2, CdfBaseline>(segment: &[u8]) -> Option<Vec<u8>>)
}

/// Uses no [`CdfVector`], but the shifts of one instruction that come with AVX2.
#[inline(always)]
fn encode_with<V: CdfVector>(segment: &[u8]) -> Option<Vec<u8>> {
    let (steps, symbols) = mtf::encode(segment);
    let mut out = vec![(symbols.len() - 1) as u8];
    out.extend_from_slice(&symbols);
    let counts = SymbolCounts::of(segment, &steps);
    counts.write(&mut out);
    let tables = read_tables(&mut &out[1 + symbols.len()..]).expect("tables just written");
    let prepared: Vec<[PreparedSlots; 16]> = tables.iter().map(FrequencyTable::prepared).collect();
    // Words that fill this are as many bytes as the segment.
    let mut stack = RansStack::new(vec![[0; 2]; segment.len().div_ceil(2)]);
    let mut large = &counts.large[..];
    for &[run_length, mtf_rank] in counts.runs.iter().rev() {
        if mtf_rank != NO_MTF_RANK {
            push(&mut stack, MtfRanks, mtf_rank, &mut large, prepared.as_flattened());
        }
        push(&mut stack, RunLengths, run_length, &mut large, prepared.as_flattened());
    }
    stack.write(&mut out);
    (out.len() < segment.len()).then_some(out)
}

/// Pushes a number. If it has extra bits, it is the last of those left.
#[inline(always)]
fn push(
    stack: &mut RansStack,
    stream: RansStream,
    symbol: u16,
    large: &mut &[u32],
    prepared: &[PreparedSlots],
) {
    if usize::from(symbol & 15) >= DIRECT
        && let Some(&number) = large.split_off_last()
    {
        push_extra(stack, stream, exp_golomb::split(number), prepared);
    }
    stack.push_prepared(stream, &prepared[usize::from(symbol)]);
}

fn push_extra(
    stack: &mut RansStack,
    stream: RansStream,
    split: ExpGolomb,
    prepared: &[PreparedSlots],
) {
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
    stack
        .push_prepared(stream, &prepared[extra_table(stream, split.width) << 4 | high_bits(split)]);
    if stream == RunLengths && split.bucket == LAST_BUCKET {
        stack.push(stream, Slots::plain(split.width - LAST_BUCKET_WIDTH, WIDTH_BITS));
    }
}

fn read_tables(coded: &mut &[u8]) -> Result<Box<[FrequencyTable; TABLES]>, Flaw> {
    let tables: Vec<FrequencyTable> =
        (0..TABLES).map(|_| FrequencyTable::read(coded)).collect::<Result<_, _>>()?;
    Ok(tables.into_boxed_slice().try_into().expect("as many as are read"))
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::cdf_simd::CdfAvx2, CdfBaseline>(coded: &[u8], out: &mut [u8])
            -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<V: CdfVector>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (symbols, mut coded) = mtf::take_symbols(coded)?;
    let tables = read_tables(&mut coded)?;
    let mut list = MtfList::of(symbols);
    let mut averages = QuantisedAverages::new();
    let mut coder = RansDecoder::new(coded);
    coder.begin()?;
    let mut pos = 0;
    let mut symbol = list.front();
    loop {
        let [run_length_table, mtf_rank_table] = averages.tables(symbol);
        let mut number = take::<V>(&mut coder, RunLengths, &tables[run_length_table]);
        if number >= DIRECT as u32 {
            // The coder is passed by value, so that it stays in registers elsewhere.
            (number, coder) = take_long_run(coder, number, &tables)?;
        }
        let run = BwtRun { symbol, len: number + 1 };
        pos = rle::write(out, pos, run)?;
        if pos == out.len() {
            return coder.finish();
        }
        // The next symbol is known before the MTF rank is.
        symbol = list.second();
        let mut number = take::<V>(&mut coder, MtfRanks, &tables[mtf_rank_table]);
        if number >= DIRECT as u32 {
            number = take_extra::<V>(&mut coder, MtfRanks, number - 8, &tables);
        }
        if number as usize + 1 >= symbols.len() {
            return Err(Flaw("a segment puts a symbol behind the end of its list"));
        }
        list.put_back(number as u8 + 1);
        averages.add(run, number + 1);
    }
}

#[inline(always)]
fn take<V: CdfVector>(coder: &mut RansDecoder, stream: RansStream, table: &FrequencyTable) -> u32 {
    let (symbol, slots) = table.find::<V>(coder.slot(stream));
    coder.take(stream, slots);
    symbol
}

#[cold]
fn take_long_run<'a>(
    mut coder: RansDecoder<'a>,
    bucket: u32,
    tables: &[FrequencyTable; TABLES],
) -> Result<(u32, RansDecoder<'a>), Flaw> {
    let mut width = bucket - 8;
    if bucket == LAST_BUCKET as u32 {
        width += coder.take_plain(RunLengths, WIDTH_BITS);
    }
    if width > 30 {
        return Err(Flaw("a segment holds a run longer than any segment"));
    }
    let number = take_extra::<CdfBaseline>(&mut coder, RunLengths, width, tables);
    Ok((number, coder))
}

/// The number of a bucket that has extra bits.
#[inline(always)]
fn take_extra<V: CdfVector>(
    coder: &mut RansDecoder,
    stream: RansStream,
    width: u32,
    tables: &[FrequencyTable; TABLES],
) -> u32 {
    let mut left = width.saturating_sub(4);
    let high = take::<V>(coder, stream, &tables[extra_table(stream, width)]);
    let mut extra = high & ((1 << width.min(4)) - 1);
    while left > 0 {
        let bits = left.min(8);
        left -= bits;
        extra = extra << bits | coder.take_plain(stream, bits);
    }
    exp_golomb::join(width, extra)
}
