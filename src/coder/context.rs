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

/// The bit from which on a second context holds the level of the symbol's own average; in a first one it is bit 0.
pub const SECOND_RUN_LEVEL: usize = 0;
pub const SECOND_PLACE_LEVEL: usize = 2;

/// Contexts for the width of a very long run.
pub const WIDTH: usize = 2 * 32;

/// Two smoothed numbers, of runs and of places, each less one, in sixteenths.
///
/// They share a word, and move in one step: places in the upper half.
#[derive(Debug, Clone, Copy, Default)]
struct Averages(u32);

impl Averages {
    const MOST: u32 = 40;

    #[inline(always)]
    fn add(&mut self, both: u32) {
        self.0 = (3 * self.0 + both + 0x2_0002) >> 2 & 0x3FFF_3FFF;
    }

    #[inline(always)]
    fn run(self) -> usize {
        LEVELS[(self.0 & 1023) as usize].into()
    }

    #[inline(always)]
    fn place(self) -> usize {
        LEVELS[(self.0 >> 16 & 1023) as usize].into()
    }
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
    /// The run of these and the place of those: what a place's average waits for, a run's shall not.
    all_runs: Averages,
    all_places: Averages,
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
            all_runs: Averages::default(),
            all_places: Averages::default(),
            last_place: 0,
            own_width: [0; 256],
            last_width: 0,
        }
    }

    /// Contexts for the length of a run of `symbol`.
    #[inline(always)]
    pub fn of_run(&self, symbol: u8) -> Contexts {
        let own = &self.own[usize::from(symbol)];
        let (run, place) = (own.run(), own.place());
        Contexts {
            first: usize::from(symbol) << 3 | run,
            second: place << 8 | self.last_place << 6 | self.all_runs.run() << 3 | run,
        }
    }

    /// Contexts for the place of a symbol after its `run`.
    #[inline(always)]
    pub fn of_place(&self, run: Run) -> Contexts {
        let place = self.own[usize::from(run.symbol)].place();
        let len = run.len.ilog2().min(3) as usize;
        Contexts {
            first: usize::from(run.symbol) << 3 | place,
            second: self.all_places.place() << 7
                | self.last_place << 5
                | place << SECOND_PLACE_LEVEL
                | len,
        }
    }

    /// Adds a run and the place of its symbol, which is at least 1.
    #[inline(always)]
    pub fn add(&mut self, run: Run, place: u32) {
        let number = |n: u32| 16 * (n - 1).min(Averages::MOST);
        let (run_part, place_part) = (number(run.len), number(place) << 16);
        self.own[usize::from(run.symbol)].add(run_part | place_part);
        self.all_runs.add(run_part);
        self.all_places.add(place_part);
        self.last_place = (place - 1).min(3) as usize;
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
