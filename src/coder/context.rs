//! What the models know about a run before it is coded: its context.
//!
//! Three things predict a run. How long its symbol's runs have been of late and how far back the
//! symbol went, both smoothed per symbol; the same smoothed over all symbols, which tells a quiet
//! stretch of the transform from a noisy one; and what was coded just before. Averages are kept in
//! sixteenths, move by a quarter, and enter a context as a `level`, their binary logarithm. Encoder
//! and decoder keep the same [`Memory`].

use super::model::Contexts;
use super::rle::Run;

/// Contexts of a symbol's own: 256 symbols, 8 levels.
pub const OWN: usize = 256 * 8;
/// Contexts of what happens around a run.
pub const AROUND_RUN: usize = 8 * 4 * 8 * 8;
pub const AROUND_PLACE: usize = 8 * 4 * 8 * 4;

/// Contexts for the width of a very long run.
pub const WIDTH: usize = 2 * 32;

/// A smoothed number, in sixteenths.
#[derive(Debug, Clone, Copy, Default)]
struct Average(u16);

impl Average {
    const MOST: u32 = 40;

    #[inline(always)]
    fn add(&mut self, number: u32) {
        let number = 16 * number.min(Self::MOST) as u16;
        self.0 = (3 * self.0 + number + 2) >> 2;
    }

    #[inline(always)]
    fn level(self) -> usize {
        (self.0 + 1).ilog2().min(7) as usize
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Averages {
    run: Average,
    place: Average,
}

/// All that was coded so far, as far as it matters.
#[derive(Debug)]
pub struct Memory {
    own: [Averages; 256],
    all: Averages,
    /// The last place less one, 3 for all above 3.
    last_place: usize,
    /// The width of each symbol's last very long run, and of the last one of all.
    own_width: [u8; 256],
    last_width: u8,
}

impl Memory {
    pub fn new() -> Self {
        Memory {
            own: [Averages::default(); 256],
            all: Averages::default(),
            last_place: 0,
            own_width: [0; 256],
            last_width: 0,
        }
    }

    /// Contexts for the length of a run of `symbol`.
    #[inline(always)]
    pub fn of_run(&self, symbol: u8) -> Contexts {
        let own = &self.own[usize::from(symbol)];
        let (run, place) = (own.run.level(), own.place.level());
        Contexts {
            first: usize::from(symbol) << 3 | run,
            second: place << 8 | self.last_place << 6 | self.all.run.level() << 3 | run,
            weight: run,
        }
    }

    /// Contexts for the place of a symbol after its `run`.
    #[inline(always)]
    pub fn of_place(&self, run: Run) -> Contexts {
        let place = self.own[usize::from(run.symbol)].place.level();
        let len = run.len.ilog2().min(3) as usize;
        Contexts {
            first: usize::from(run.symbol) << 3 | place,
            second: self.all.place.level() << 7 | self.last_place << 5 | place << 2 | len,
            weight: place,
        }
    }

    #[inline(always)]
    pub fn add_run(&mut self, run: Run) {
        self.own[usize::from(run.symbol)].run.add(run.len - 1);
        self.all.run.add(run.len - 1);
    }

    /// `place` is at least 1.
    #[inline(always)]
    pub fn add_place(&mut self, symbol: u8, place: u32) {
        self.own[usize::from(symbol)].place.add(place - 1);
        self.all.place.add(place - 1);
        self.last_place = (place - 1).min(3) as usize;
    }

    /// Contexts for how wide a very long run is, which takes one or two symbols.
    pub fn of_width(&self, symbol: u8, stage: usize) -> Contexts {
        Contexts {
            first: stage << 5 | usize::from(self.own_width[usize::from(symbol)]),
            second: stage << 5 | usize::from(self.last_width),
            weight: stage,
        }
    }

    pub fn add_width(&mut self, symbol: u8, width: u32) {
        self.own_width[usize::from(symbol)] = width as u8;
        self.last_width = width as u8;
    }
}
