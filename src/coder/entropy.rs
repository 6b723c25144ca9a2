//! Runs and places <-> coded bytes: the models, the contexts and the entropy coder put together.
//!
//! For each run its length is coded, then, unless the segment is full, the place of its symbol.
//! Each number is a class (see `classes`), which a [`Blend`] codes in its context, and extra bits:
//! the top eight through blends of their own, the rest as they are.
//!
//! Cost per run on one core: about 26 ns, in either direction, for two symbols of the model.

use super::classes::{self, DIRECT, Parts, WIDE, WIDE_WIDTH};
use super::context::{AROUND_PLACE, AROUND_RUN, Memory, OWN, WIDTH};
use super::model::{Blend, Cell, Contexts};
use super::mtf::List;
use super::rans::{Decoder, Encoder, Lane, SLOT_BITS, Slots};
use super::rle::{self, Run};
use crate::error::Flaw;

/// Runs per batch of the entropy coder. A batch costs about 6 bytes; its symbols fit in the L2
/// cache.
const BATCH: usize = 1 << 15;
/// Bits that are coded as they are, at most this many in one symbol.
const PLAIN: u32 = 8;

/// All that adapts.
struct Models {
    memory: Memory,
    run: Blend<OWN, AROUND_RUN>,
    place: Blend<OWN, AROUND_PLACE>,
    extra: [Extra; 2],
    width: Blend<WIDTH, WIDTH>,
}

/// The extra bits of one lane: the top four by width and symbol, the next four by width and the
/// top.
struct Extra {
    top: Blend<{ 16 * 256 }, 16>,
    next: Blend<{ 16 * 16 }, 16>,
}

impl Models {
    fn new() -> Self {
        let extra = || Extra { top: Blend::new(Cell::FLAT), next: Blend::new(Cell::FLAT) };
        Models {
            memory: Memory::new(),
            run: Blend::new(Cell::FALLING),
            place: Blend::new(Cell::FALLING),
            extra: [extra(), extra()],
            width: Blend::new(Cell::FALLING),
        }
    }
}

/// Appends the coded runs of `segment`, or gives up and returns `None` once `out` is longer than
/// `limit`. `places` has the last run's first, as `mtf::encode` gives them.
pub fn encode(segment: &[u8], mut places: Vec<u8>, out: &mut Vec<u8>, limit: usize) -> Option<()> {
    let mut writer = Writer { models: Models::new(), coder: Encoder::default() };
    let mut pos = 0;
    while pos < segment.len() {
        for _ in 0..BATCH {
            let run = rle::read(segment, pos);
            pos += run.len as usize;
            writer.run(run);
            if pos == segment.len() {
                break;
            }
            writer.place(run, places.pop().expect("a place for each run").into());
        }
        writer.coder.flush(out);
        if out.len() > limit {
            return None;
        }
    }
    Some(())
}

/// Fills `out` with the runs that `coded` holds; `symbols` are those of the segment by first
/// appearance.
pub fn decode(coded: &[u8], symbols: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let mut list = List::of(symbols);
    let mut reader = Reader { models: Models::new(), coder: Decoder::new(coded) };
    let mut pos = 0;
    let mut symbol = list.front();
    while pos < out.len() {
        reader.coder.begin()?;
        for _ in 0..BATCH {
            let run = reader.run(symbol)?;
            pos =
                rle::write(out, pos, run).ok_or(Flaw("a segment holds a run that does not fit"))?;
            if pos == out.len() {
                break;
            }
            // The next symbol is known before the place is.
            symbol = list.second();
            let place = reader.place(run);
            if place as usize >= symbols.len() {
                return Err(Flaw("a segment puts a symbol behind the end of its list"));
            }
            list.put_back(place as u8);
        }
    }
    reader.coder.finish()
}

struct Writer {
    models: Models,
    coder: Encoder,
}

impl Writer {
    #[inline(always)]
    fn run(&mut self, run: Run) {
        let parts = classes::split(run.len - 1);
        let at = self.models.memory.of_run(run.symbol);
        self.coder.put(Lane::Run, self.models.run.encode(at, parts.class));
        if parts.class >= DIRECT {
            self.wide_run(run.symbol, parts);
        }
        self.models.memory.add_run(run);
    }

    #[inline(always)]
    fn place(&mut self, run: Run, place: u32) {
        let parts = classes::split(place - 1);
        let at = self.models.memory.of_place(run);
        self.coder.put(Lane::Place, self.models.place.encode(at, parts.class));
        if parts.class >= DIRECT {
            self.extra(Lane::Place, run.symbol, parts);
        }
        self.models.memory.add_place(run.symbol, place);
    }

    #[cold]
    fn wide_run(&mut self, symbol: u8, parts: Parts) {
        if parts.class == WIDE {
            let excess = (parts.width - WIDE_WIDTH) as usize;
            let at = self.models.memory.of_width(symbol, 0);
            self.coder.put(Lane::Run, self.models.width.encode(at, excess.min(15)));
            if excess >= 15 {
                let at = self.models.memory.of_width(symbol, 1);
                self.coder.put(Lane::Run, self.models.width.encode(at, excess - 15));
            }
            self.models.memory.add_width(symbol, parts.width);
        }
        self.extra(Lane::Run, symbol, parts);
    }

    fn extra(&mut self, lane: Lane, symbol: u8, parts: Parts) {
        let models = &mut self.models.extra[lane as usize];
        let mut left = parts.width.saturating_sub(4);
        let top = (parts.extra >> left) as usize;
        self.coder.put(lane, models.top.encode(of_top(parts.width, symbol), top));
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let next = (parts.extra >> left & ((1 << bits) - 1)) as usize;
            self.coder.put(lane, models.next.encode(of_next(parts.width, top), next));
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            self.coder.put(lane, plain_slots(parts.extra >> left & ((1 << bits) - 1), bits));
        }
    }
}

struct Reader<'a> {
    models: Models,
    coder: Decoder<'a>,
}

impl Reader<'_> {
    #[inline(always)]
    fn run(&mut self, symbol: u8) -> Result<Run, Flaw> {
        let at = self.models.memory.of_run(symbol);
        let class = symbol_of(&mut self.coder, Lane::Run, &mut self.models.run, at);
        let number = if class < DIRECT as u32 { class } else { self.wide_run(symbol, class)? };
        let run = Run { symbol, len: number + 1 };
        self.models.memory.add_run(run);
        Ok(run)
    }

    #[inline(always)]
    fn place(&mut self, run: Run) -> u32 {
        let at = self.models.memory.of_place(run);
        let class = symbol_of(&mut self.coder, Lane::Place, &mut self.models.place, at);
        let number = match class < DIRECT as u32 {
            true => class,
            false => self.extra(Lane::Place, run.symbol, class - 8),
        };
        self.models.memory.add_place(run.symbol, number + 1);
        number + 1
    }

    #[cold]
    fn wide_run(&mut self, symbol: u8, class: u32) -> Result<u32, Flaw> {
        let mut width = class - 8;
        if class == WIDE as u32 {
            width += self.excess(symbol);
        }
        if width > 30 {
            return Err(Flaw("a segment holds a run longer than any segment"));
        }
        if class == WIDE as u32 {
            self.models.memory.add_width(symbol, width);
        }
        Ok(self.extra(Lane::Run, symbol, width))
    }

    fn excess(&mut self, symbol: u8) -> u32 {
        let mut excess = 0;
        for stage in 0..2 {
            let at = self.models.memory.of_width(symbol, stage);
            let more = symbol_of(&mut self.coder, Lane::Run, &mut self.models.width, at);
            excess += more;
            if more < 15 {
                break;
            }
        }
        excess
    }

    fn extra(&mut self, lane: Lane, symbol: u8, width: u32) -> u32 {
        let models = &mut self.models.extra[lane as usize];
        let mut left = width.saturating_sub(4);
        let at = of_top(width, symbol);
        let top = symbol_of(&mut self.coder, lane, &mut models.top, at);
        let mut extra = top & ((1 << width.min(4)) - 1);
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let at = of_next(width, top as usize);
            let next = symbol_of(&mut self.coder, lane, &mut models.next, at);
            extra = extra << bits | next & ((1 << bits) - 1);
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            let value = self.coder.slot(lane) >> (SLOT_BITS - bits);
            self.coder.take(lane, plain_slots(value, bits));
            extra = extra << bits | value;
        }
        classes::join(width, extra)
    }
}

/// Decodes one symbol.
#[inline(always)]
fn symbol_of<const A: usize, const B: usize>(
    coder: &mut Decoder,
    lane: Lane,
    model: &mut Blend<A, B>,
    at: Contexts,
) -> u32 {
    let (symbol, slots) = model.decode(at, coder.slot(lane));
    coder.take(lane, slots);
    symbol as u32
}

fn of_top(width: u32, symbol: u8) -> Contexts {
    let width = width.min(15) as usize;
    Contexts { first: width << 8 | usize::from(symbol), second: width, weight: width }
}

fn of_next(width: u32, top: usize) -> Contexts {
    let width = width.min(15) as usize;
    Contexts { first: width << 4 | top, second: width, weight: width }
}

fn plain_slots(value: u32, bits: u32) -> Slots {
    Slots { start: value << (SLOT_BITS - bits), freq: 1 << (SLOT_BITS - bits) }
}
