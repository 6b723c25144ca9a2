//! Kind 3 of segments, the fastest: runs and places by tables that are counted ahead.
//!
//! For each run its length is coded and then, unless the segment is full, the place of its symbol,
//! as in kind 1. What predicts both is what the run's symbol did of late: the level of its average
//! picks one of 11 or 16 tables. They stay as they are through the segment, so that a symbol costs
//! a comparison and a multiplication, and hardly waits for the one before: the next run's symbol is
//! known before the place is.
//!
//! An encoder goes over the segment three times: backwards for the places, forwards to count,
//! backwards to code. Cost: 21 to 24 ns per run to encode and 15 to decode; 6 bytes per run, and 4
//! per number with extra bits, between the passes. The tables take 39 to 663 bytes of a segment.

use super::cdf_simd::{self, Lanes, Usual, widest};
use super::exp_golomb::{self, DIRECT, Parts, WIDE, WIDE_WIDTH};
use super::frequency_table::Table;
use super::mtf::{self, List, Step};
use super::rans::{Decoder, Lane, Prepared, Slots, Stack};
use super::rle::{self, Run};
use super::run_context::{Averages, PLACE_LEVELS, RUN_LEVELS};
use crate::error::Flaw;

/// Tables for classes, by level, first those of runs.
const OF_PLACES: usize = RUN_LEVELS;
/// Then tables for the highest extra bits, by width from 2 to 7 and above, first those of runs.
const OF_EXTRA: usize = RUN_LEVELS + PLACE_LEVELS;
const WIDTHS: usize = 6;
const TABLES: usize = OF_EXTRA + 2 * WIDTHS;

/// Bits of the width of a very long run, less the least.
const WIDTH_BITS: u32 = 5;

/// The tables for the length of a run and for the place of its symbol.
#[inline(always)]
fn tables([run, place]: [u8; 2]) -> [usize; 2] {
    [usize::from(run), OF_PLACES + usize::from(place)]
}

/// What each byte did of late. Decoders want the levels early, and keep them.
struct Memory {
    averages: [Averages; 256],
    levels: [[u8; 2]; 256],
}

impl Memory {
    fn new() -> Self {
        Memory { averages: [Averages::default(); 256], levels: [[0; 2]; 256] }
    }

    #[inline(always)]
    fn tables(&self, symbol: u8) -> [usize; 2] {
        tables(self.levels[usize::from(symbol)])
    }

    #[inline(always)]
    fn add(&mut self, run: Run, place: u32) {
        let averages = &mut self.averages[usize::from(run.symbol)];
        averages.add_both(run.len - 1, place - 1);
        self.levels[usize::from(run.symbol)] = averages.levels();
    }
}

/// What is coded, run after run, and how often each symbol of each table is.
struct Counted {
    /// For each run the class of its length and that of its place, plus 16 times the table of each.
    runs: Vec<[u16; 2]>,
    /// The numbers that have extra bits.
    wide: Vec<u32>,
    /// By 16 times the table plus the symbol. Twice, for even and for odd runs: what is counted may
    /// be the same again, and would wait for itself.
    counts: Box<[[u32; 16 * TABLES]; 2]>,
}

/// In place of the last run's place.
const NONE: u16 = u16::MAX;

impl Counted {
    #[inline(always)]
    fn of(segment: &[u8], steps: &[Step]) -> Self {
        let counts = Box::new([[0; 16 * TABLES]; 2]);
        let mut counted = Counted { runs: vec![], wide: vec![], counts };
        let mut runs = vec![[NONE; 2]; steps.len()];
        let mut averages = [Averages::default(); 256];
        let (mut pos, mut odd) = (0, 0);
        for (classes, step) in runs.iter_mut().zip(steps.iter().rev()) {
            let run = rle::read_short(segment, pos, step.len);
            pos += run.len as usize;
            odd ^= 1;
            let averages = &mut averages[usize::from(run.symbol)];
            let [of_run, of_place] = tables(averages.levels());
            classes[0] = counted.count(Lane::Run, odd, of_run, run.len - 1);
            if step.place > 0 {
                let place = u32::from(step.place) - 1;
                classes[1] = counted.count(Lane::Place, odd, of_place, place);
                averages.add_both(run.len - 1, place);
            }
        }
        Counted { runs, ..counted }
    }

    #[inline(always)]
    fn count(&mut self, lane: Lane, odd: usize, table: usize, number: u32) -> u16 {
        let parts = exp_golomb::split(number);
        let symbol = table << 4 | parts.class;
        self.counts[odd % 2][symbol] += 1;
        if parts.class >= DIRECT {
            self.counts[odd % 2][of_extra(lane, parts.width) << 4 | top(parts)] += 1;
            self.wide.push(number);
        }
        symbol as u16
    }

    /// Appends all tables.
    fn write(&self, out: &mut Vec<u8>) {
        let [even, odd] = &*self.counts;
        for (even, odd) in even.as_chunks::<16>().0.iter().zip(odd.as_chunks::<16>().0) {
            Table::write(&std::array::from_fn(|symbol| even[symbol] + odd[symbol]), out);
        }
    }
}

/// The table of the highest extra bits.
fn of_extra(lane: Lane, width: u32) -> usize {
    OF_EXTRA + lane as usize * WIDTHS + width.min(WIDE_WIDTH) as usize - 2
}

/// The extra bits that a table codes: the highest four.
fn top(parts: Parts) -> usize {
    (parts.extra >> parts.width.saturating_sub(4)) as usize
}

/// The coded runs of `segment`, or `None` where they take as many bytes as it.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    widest!(encode_with::<cdf_simd::cdf_avx2::Lanes, Usual>(segment: &[u8]) -> Option<Vec<u8>>)
}

/// Has no use for the lanes, but for what else comes with them: shifts that take one instruction.
#[inline(always)]
fn encode_with<L: Lanes>(segment: &[u8]) -> Option<Vec<u8>> {
    let (steps, symbols) = mtf::encode(segment);
    let mut out = vec![(symbols.len() - 1) as u8];
    out.extend_from_slice(&symbols);
    let counted = Counted::of(segment, &steps);
    counted.write(&mut out);
    let tables = read_tables(&mut &out[1 + symbols.len()..]).expect("tables just written");
    let prepared: Vec<[Prepared; 16]> = tables.iter().map(Table::prepared).collect();
    // Words that fill this are as many bytes as the segment.
    let mut stack = Stack::new(vec![[0; 2]; segment.len().div_ceil(2)]);
    let mut wide = &counted.wide[..];
    for &[run, place] in counted.runs.iter().rev() {
        if place != NONE {
            push(&mut stack, Lane::Place, place, &mut wide, prepared.as_flattened());
        }
        push(&mut stack, Lane::Run, run, &mut wide, prepared.as_flattened());
    }
    stack.write(&mut out);
    (out.len() < segment.len()).then_some(out)
}

/// Pushes a number. If it has extra bits, it is the last of those left.
#[inline(always)]
fn push(stack: &mut Stack, lane: Lane, symbol: u16, wide: &mut &[u32], prepared: &[Prepared]) {
    if usize::from(symbol & 15) >= DIRECT
        && let Some(&number) = wide.split_off_last()
    {
        push_extra(stack, lane, exp_golomb::split(number), prepared);
    }
    stack.push_prepared(lane, &prepared[usize::from(symbol)]);
}

fn push_extra(stack: &mut Stack, lane: Lane, parts: Parts, prepared: &[Prepared]) {
    let left = parts.width.saturating_sub(4);
    // The decoder takes eight bits at a time, and then what is left.
    let mut done = left % 8;
    if done > 0 {
        stack.push(lane, Slots::plain(parts.extra & ((1 << done) - 1), done));
    }
    while done < left {
        stack.push(lane, Slots::plain(parts.extra >> done & 255, 8));
        done += 8;
    }
    stack.push_prepared(lane, &prepared[of_extra(lane, parts.width) << 4 | top(parts)]);
    if lane == Lane::Run && parts.class == WIDE {
        stack.push(lane, Slots::plain(parts.width - WIDE_WIDTH, WIDTH_BITS));
    }
}

fn read_tables(coded: &mut &[u8]) -> Result<Box<[Table; TABLES]>, Flaw> {
    let tables: Vec<Table> = (0..TABLES).map(|_| Table::read(coded)).collect::<Result<_, _>>()?;
    Ok(tables.into_boxed_slice().try_into().expect("as many as are read"))
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<cdf_simd::cdf_avx2::Lanes, Usual>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<L: Lanes>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (symbols, mut coded) = mtf::take_symbols(coded)?;
    let tables = read_tables(&mut coded)?;
    let mut list = List::of(symbols);
    let mut memory = Memory::new();
    let mut coder = Decoder::new(coded);
    coder.begin()?;
    let mut pos = 0;
    let mut symbol = list.front();
    loop {
        let [of_run, of_place] = memory.tables(symbol);
        let mut number = take::<L>(&mut coder, Lane::Run, &tables[of_run]);
        if number >= DIRECT as u32 {
            // The coder goes there and back by value, so that it stays in registers elsewhere.
            (number, coder) = take_wide_run(coder, number, &tables)?;
        }
        let run = Run { symbol, len: number + 1 };
        pos = rle::write(out, pos, run).ok_or(Flaw("a segment holds a run that does not fit"))?;
        if pos == out.len() {
            return coder.finish();
        }
        // The next symbol is known before the place is.
        symbol = list.second();
        let mut number = take::<L>(&mut coder, Lane::Place, &tables[of_place]);
        if number >= DIRECT as u32 {
            number = take_extra::<L>(&mut coder, Lane::Place, number - 8, &tables);
        }
        if number as usize + 1 >= symbols.len() {
            return Err(Flaw("a segment puts a symbol behind the end of its list"));
        }
        list.put_back(number as u8 + 1);
        memory.add(run, number + 1);
    }
}

#[inline(always)]
fn take<L: Lanes>(coder: &mut Decoder, lane: Lane, table: &Table) -> u32 {
    let (symbol, slots) = table.find::<L>(coder.slot(lane));
    coder.take(lane, slots);
    symbol
}

#[cold]
fn take_wide_run<'a>(
    mut coder: Decoder<'a>,
    class: u32,
    tables: &[Table; TABLES],
) -> Result<(u32, Decoder<'a>), Flaw> {
    let mut width = class - 8;
    if class == WIDE as u32 {
        width += coder.take_plain(Lane::Run, WIDTH_BITS);
    }
    if width > 30 {
        return Err(Flaw("a segment holds a run longer than any segment"));
    }
    let number = take_extra::<Usual>(&mut coder, Lane::Run, width, tables);
    Ok((number, coder))
}

/// The number of a class that has extra bits.
#[inline(always)]
fn take_extra<L: Lanes>(
    coder: &mut Decoder,
    lane: Lane,
    width: u32,
    tables: &[Table; TABLES],
) -> u32 {
    let mut left = width.saturating_sub(4);
    let top = take::<L>(coder, lane, &tables[of_extra(lane, width)]);
    let mut extra = top & ((1 << width.min(4)) - 1);
    while left > 0 {
        let bits = left.min(8);
        left -= bits;
        extra = extra << bits | coder.take_plain(lane, bits);
    }
    exp_golomb::join(width, extra)
}
