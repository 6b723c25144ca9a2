//! Runs and places <-> slots of the entropy coder: the models and the contexts put together.
//!
//! Each number is a class (see `classes`), which a [`Blend`] codes in its context, and extra bits:
//! the top eight through blends of their own, the rest as they are.

use super::adaptive_cdf::{Blend, Contexts};
use super::cdf_simd::{Lanes, Usual};
use super::exp_golomb::{self, DIRECT, Parts, WIDE, WIDE_WIDTH};
use super::initial_cdfs;
use super::rans::{Decoder, Encoder, Lane, Slots};
use super::rle::Run;
use super::run_context::{
    AROUND_PLACE, AROUND_RUN, Memory, OWN, OWN_LEVELS, PLACE_LEVELS, RUN_LEVELS, WIDTH,
};
use crate::error::Flaw;
use std::sync::LazyLock;

/// Bits that are coded as they are, at most this many in one symbol.
const PLAIN: u32 = 8;

/// All that adapts, with cells in pairs or alone.
#[derive(Clone)]
pub struct Models {
    run: Blend<OWN, AROUND_RUN>,
    place: Blend<OWN, AROUND_PLACE>,
    extra: [Extra; 2],
    width: Blend<WIDTH, WIDTH>,
}

/// The extra bits of one lane: the top four by width and symbol, the next four by width and the
/// top.
#[derive(Clone)]
struct Extra {
    top: Blend<{ 16 * 256 }, 16>,
    next: Blend<{ 16 * 16 }, 16>,
}

/// What every segment starts with, made once and copied: a short segment waits for little else.
static START: LazyLock<Models> = LazyLock::new(Models::start);

impl Models {
    pub fn new() -> Self {
        START.clone()
    }

    fn start() -> Self {
        let extra = || Extra {
            top: Blend::flat(|at| at >> 8, |width| width),
            next: Blend::flat(|at| (at >> 4).saturating_sub(4), |width| width.saturating_sub(4)),
        };
        Models {
            run: Blend::new(
                |at| initial_cdfs::OWN_RUNS[at % OWN_LEVELS],
                |at| initial_cdfs::RUNS[(at % 16).min(RUN_LEVELS - 1)],
                initial_cdfs::PACES_OF_RUNS,
            ),
            place: Blend::new(
                |at| initial_cdfs::OWN_PLACES[at % OWN_LEVELS],
                |at| initial_cdfs::PLACES[at / 4 % PLACE_LEVELS],
                initial_cdfs::PACES_OF_PLACES,
            ),
            extra: [extra(), extra()],
            width: Blend::flat(|_| 4, |_| 4),
        }
    }
}

impl Models {
    #[inline(always)]
    pub fn put_run<L: Lanes>(&mut self, coder: &mut Encoder, memory: &mut Memory, run: Run) {
        let parts = exp_golomb::split(run.len - 1);
        let at = memory.of_run(run.symbol);
        coder.put(Lane::Run, self.run.encode::<L>(at, parts.class));
        if parts.class >= DIRECT {
            self.put_wide_run(coder, memory, run.symbol, parts);
        }
    }

    #[inline(always)]
    pub fn put_place<L: Lanes>(
        &mut self,
        coder: &mut Encoder,
        memory: &Memory,
        run: Run,
        place: u32,
    ) {
        let parts = exp_golomb::split(place - 1);
        let at = memory.of_place(run);
        coder.put(Lane::Place, self.place.encode::<L>(at, parts.class));
        if parts.class >= DIRECT {
            self.put_extra(coder, Lane::Place, run.symbol, parts);
        }
    }

    #[cold]
    fn put_wide_run(&mut self, coder: &mut Encoder, memory: &mut Memory, symbol: u8, parts: Parts) {
        if parts.class == WIDE {
            let excess = (parts.width - WIDE_WIDTH) as usize;
            let at = memory.of_width(symbol, 0);
            coder.put(Lane::Run, self.width.encode::<Usual>(at, excess.min(15)));
            if excess >= 15 {
                let at = memory.of_width(symbol, 1);
                coder.put(Lane::Run, self.width.encode::<Usual>(at, excess - 15));
            }
            memory.add_width(symbol, parts.width);
        }
        self.put_extra(coder, Lane::Run, symbol, parts);
    }

    fn put_extra(&mut self, coder: &mut Encoder, lane: Lane, symbol: u8, parts: Parts) {
        let models = &mut self.extra[lane as usize];
        let mut left = parts.width.saturating_sub(4);
        let top = (parts.extra >> left) as usize;
        coder.put(lane, models.top.encode::<Usual>(of_top(parts.width, symbol), top));
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let next = (parts.extra >> left & ((1 << bits) - 1)) as usize;
            coder.put(lane, models.next.encode::<Usual>(of_next(parts.width, top), next));
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            coder.put(lane, Slots::plain(parts.extra >> left & ((1 << bits) - 1), bits));
        }
    }
}

impl Models {
    #[inline(always)]
    pub fn take_run<L: Lanes>(
        &mut self,
        coder: &mut Decoder,
        memory: &mut Memory,
        symbol: u8,
    ) -> Result<Run, Flaw> {
        let at = memory.of_run(symbol);
        let class = self.run.take::<L>(coder, Lane::Run, at);
        let mut number = class;
        if class >= DIRECT as u32 {
            // The coder goes there and back by value, so that it stays in registers elsewhere.
            (number, *coder) = self.take_wide_run(*coder, memory, symbol, class)?;
        }
        Ok(Run { symbol, len: number + 1 })
    }

    #[inline(always)]
    pub fn take_place<L: Lanes>(&mut self, coder: &mut Decoder, memory: &Memory, run: Run) -> u32 {
        let at = memory.of_place(run);
        let class = self.place.take::<L>(coder, Lane::Place, at);
        let mut number = class;
        if class >= DIRECT as u32 {
            (number, *coder) = self.take_extra::<L>(*coder, Lane::Place, run.symbol, class - 8);
        }
        number + 1
    }

    #[cold]
    fn take_wide_run<'a>(
        &mut self,
        mut coder: Decoder<'a>,
        memory: &mut Memory,
        symbol: u8,
        class: u32,
    ) -> Result<(u32, Decoder<'a>), Flaw> {
        let mut width = class - 8;
        if class == WIDE as u32 {
            width += self.take_excess(&mut coder, memory, symbol);
        }
        if width > 30 {
            return Err(Flaw("a segment holds a run longer than any segment"));
        }
        if class == WIDE as u32 {
            memory.add_width(symbol, width);
        }
        Ok(self.take_extra::<Usual>(coder, Lane::Run, symbol, width))
    }

    fn take_excess(&mut self, coder: &mut Decoder, memory: &Memory, symbol: u8) -> u32 {
        let mut excess = 0;
        for stage in 0..2 {
            let at = memory.of_width(symbol, stage);
            let more = self.width.take::<Usual>(coder, Lane::Run, at);
            excess += more;
            if more < 15 {
                break;
            }
        }
        excess
    }

    #[inline(always)]
    fn take_extra<'a, L: Lanes>(
        &mut self,
        mut coder: Decoder<'a>,
        lane: Lane,
        symbol: u8,
        width: u32,
    ) -> (u32, Decoder<'a>) {
        let models = &mut self.extra[lane as usize];
        let mut left = width.saturating_sub(4);
        let at = of_top(width, symbol);
        let top = models.top.take::<L>(&mut coder, lane, at);
        let mut extra = top & ((1 << width.min(4)) - 1);
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let at = of_next(width, top as usize);
            let next = models.next.take::<L>(&mut coder, lane, at);
            extra = extra << bits | next & ((1 << bits) - 1);
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            extra = extra << bits | coder.take_plain(lane, bits);
        }
        (exp_golomb::join(width, extra), coder)
    }
}

impl<const A: usize, const B: usize> Blend<A, B> {
    /// Decodes one symbol.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, coder: &mut Decoder, lane: Lane, at: Contexts) -> u32 {
        let (symbol, slots) = self.decode::<L>(at, coder.slot(lane));
        coder.take(lane, slots);
        symbol as u32
    }
}

fn of_top(width: u32, symbol: u8) -> Contexts {
    let width = width.min(15) as usize;
    Contexts { first: width << 8 | usize::from(symbol), second: width }
}

fn of_next(width: u32, top: usize) -> Contexts {
    let width = width.min(15) as usize;
    Contexts { first: width << 4 | top, second: width }
}
