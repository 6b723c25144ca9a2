//! What the models know about a run before it is coded: its context.
//!
//! Three things predict a run. How long its symbol's runs have been of late and how far back the
//! symbol went, both smoothed per symbol; the same smoothed over all symbols, which tells a quiet
//! stretch of the transform from a noisy one; and the place before. Averages are kept in
//! sixteenths, move by a quarter, and enter a context as a `level`, their binary logarithm. Encoder
//! and decoder keep the same [`Memory`].
//!
//! What is about all symbols is one run late, so that a decoder can look cells up before the last run and place are
//! decoded. It costs 0.05 % of the size.

use super::model::Contexts;
use super::rle::Run;

/// Contexts of a symbol's own: 256 symbols, 8 levels.
pub const OWN: usize = 256 * 8;
/// Contexts of what happens around a run.
pub const AROUND_RUN: usize = 8 * 4 * 8 * 8;
pub const AROUND_PLACE: usize = 8 * 4 * 8 * 4;

/// The bit from which on a second context holds the level of the symbol's own average; in a first one it is bit 0.
pub const SECOND_RUN_LEVEL: usize = 0;
pub const SECOND_PLACE_LEVEL: usize = 2;

/// Contexts for the width of a very long run.
pub const WIDTH: usize = 2 * 32;

/// Two smoothed numbers, of runs and of places, each less one, in sixteenths.
///
/// They share a word, and move in one step: places in the upper half.
#[derive(Debug, Clone, Copy, Default)]
pub struct Averages(u32);

impl Averages {
    const MOST: u32 = 40;

    #[inline(always)]
    fn add(&mut self, both: u32) {
        self.0 = (3 * self.0 + both + 0x2_0002) >> 2 & 0x3FFF_3FFF;
    }

    /// Adds a run and a place, each less one.
    #[inline(always)]
    pub fn add_both(&mut self, run: u32, place: u32) {
        self.add(number(run) | number(place) << 16);
    }

    /// Of runs and of places.
    #[inline(always)]
    pub fn both(self) -> [usize; 2] {
        [(self.0 & 1023) as usize, (self.0 >> 16 & 1023) as usize]
    }

    /// Levels of both: that of runs in bits 0 to 2, that of places in bits 8 to 10.
    #[inline(always)]
    fn levels(self) -> u16 {
        let [run, place] = self.both();
        u16::from(LEVELS[run]) | u16::from(LEVELS[place]) << 8
    }
}

#[inline(always)]
fn number(n: u32) -> u32 {
    16 * n.min(Averages::MOST)
}

/// The level of each average.
static LEVELS: [u8; 1024] = {
    let mut levels = [7; 1024];
    let mut average = 0;
    while average < 127 {
        levels[average] = (average as u32 + 1).ilog2() as u8;
        average += 1;
    }
    levels
};

/// All that was coded so far, as far as it matters.
#[derive(Debug)]
pub struct Memory {
    own: [Averages; 256],
    /// The levels of those.
    levels: [u16; 256],
    /// Of all runs but the last, which waits in `last`: the next one is decoded beside it.
    all: Averages,
    last: u32,
    /// What these make of the second contexts of runs and of places.
    around_run: usize,
    around_place: usize,
    /// The width of each symbol's last very long run, and of the last one of all.
    own_width: [u8; 256],
    last_width: u8,
}

impl Memory {
    pub fn new() -> Self {
        Memory {
            own: [Averages::default(); 256],
            levels: [0; 256],
            all: Averages::default(),
            last: 0,
            around_run: 0,
            around_place: 0,
            own_width: [0; 256],
            last_width: 0,
        }
    }

    /// Contexts for the length of a run of `symbol`.
    #[inline(always)]
    pub fn of_run(&self, symbol: u8) -> Contexts {
        let levels = usize::from(self.levels[usize::from(symbol)]);
        Contexts { first: usize::from(symbol) << 3 | levels & 7, second: self.around_run | levels }
    }

    /// Contexts for the place of a symbol after its `run`.
    #[inline(always)]
    pub fn of_place(&self, run: Run) -> Contexts {
        let level = usize::from(self.levels[usize::from(run.symbol)] >> 8);
        let len = run.len.ilog2().min(3) as usize;
        Contexts {
            first: usize::from(run.symbol) << 3 | level,
            second: self.around_place | level << SECOND_PLACE_LEVEL | len,
        }
    }

    /// Adds a run and the place of its symbol, which is at least 1.
    #[inline(always)]
    pub fn add(&mut self, run: Run, place: u32) {
        let both = number(run.len - 1) | number(place - 1) << 16;
        let own = &mut self.own[usize::from(run.symbol)];
        own.add(both);
        self.levels[usize::from(run.symbol)] = own.levels();
        self.all.add(self.last);
        let levels = usize::from(self.all.levels());
        let last_place = (self.last as usize >> 20).min(3);
        self.around_run = last_place << 6 | (levels & 7) << 3;
        self.around_place = (levels >> 8) << 7 | last_place << 5;
        self.last = both;
    }

    /// Contexts for how wide a very long run is, which takes one or two symbols.
    pub fn of_width(&self, symbol: u8, stage: usize) -> Contexts {
        Contexts {
            first: stage << 5 | usize::from(self.own_width[usize::from(symbol)]),
            second: stage << 5 | usize::from(self.last_width),
        }
    }

    pub fn add_width(&mut self, symbol: u8, width: u32) {
        self.own_width[usize::from(symbol)] = width as u8;
        self.last_width = width as u8;
    }
}
