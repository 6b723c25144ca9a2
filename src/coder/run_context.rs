//! What the models know about a run before it is coded: its context.
//!
//! Three things predict a run. How long its symbol's runs have been of late and how far back the
//! symbol went, both smoothed per symbol; the same smoothed over all symbols, which tells a quiet
//! stretch of the transform from a noisy one; and the place before. What is averaged are square
//! roots, so that one long run does not hide what came before it. Averages move by a quarter, and
//! enter a context as a level. Beside the symbol itself 4 levels are best, as contexts that are
//! rare learn little; without it 11 or 16. Encoder and decoder keep the same [`Memory`].
//!
//! What is about all symbols is one run late, so that a decoder can look cells up before the last
//! run and place are decoded. It costs 0.05 % of the size.

use super::adaptive_cdf::Contexts;
use super::rle::Run;

/// Levels of a symbol's own averages: few beside the symbol itself, which second contexts do not
/// know, and more in those.
pub const OWN_LEVELS: usize = 4;
pub const RUN_LEVELS: usize = 11;
pub const PLACE_LEVELS: usize = 16;

/// Contexts of a symbol's own: 256 symbols, 4 levels.
pub const OWN: usize = 256 * OWN_LEVELS;
/// Contexts of what happens around a run, in bits 0 to 3 of which is the level of its symbol's
/// runs.
pub const AROUND_RUN: usize = 16 * 8 * 8 * 4;
/// The same for a place, with the level of its symbol's places in bits 2 to 5.
pub const AROUND_PLACE: usize = 4 * 16 * 4 * 8;

/// Contexts for the width of a very long run.
pub const WIDTH: usize = 2 * 32;

/// Two smoothed numbers, of runs and of places, each less one.
///
/// They share a word, and move in one step: places in the upper half. Both stay below 1024.
#[derive(Debug, Clone, Copy, Default)]
pub struct Averages(u32);

impl Averages {
    #[inline(always)]
    fn add(&mut self, both: u32) {
        self.0 = (3 * self.0 + both + 0x2_0002) >> 2 & 0x3FFF_3FFF;
    }

    /// Adds a run and a place, each less one.
    #[inline(always)]
    pub fn add_both(&mut self, run: u32, place: u32) {
        self.add(count(run, place));
    }

    /// What the tables say of the average of runs and of that of places.
    #[inline(always)]
    fn both<T: Copy>(self, of_runs: &[T; 1024], of_places: &[T; 1024]) -> [T; 2] {
        [of_runs[(self.0 & 1023) as usize], of_places[(self.0 >> 16 & 1023) as usize]]
    }

    /// The levels of both, below [`RUN_LEVELS`] and below [`PLACE_LEVELS`].
    #[inline(always)]
    pub fn levels(self) -> [u8; 2] {
        self.both(&LEVELS_OF_RUNS, &LEVELS_OF_PLACES)
    }
}

/// What numbers count for in averages: 40 times the square root of one more, less 40.
static COUNTS: [u16; 256] = {
    let mut counts = [0; 256];
    let mut number = 0;
    while number < 256 {
        counts[number] = (1600 * (number as u32 + 1)).isqrt() as u16 - 40;
        number += 1;
    }
    counts
};

/// A run and a place, each less one, for [`Averages`].
#[inline(always)]
fn count(run: u32, place: u32) -> u32 {
    let of = |n: u32| u32::from(COUNTS[n.min(255) as usize]);
    of(run) | of(place) << 16
}

/// The level of each average: how many of these limits it reaches.
const fn levels<const N: usize>(limits: [u16; N]) -> [u8; 1024] {
    let mut levels = [0; 1024];
    let mut average = 0;
    while average < 1024 {
        let mut level = 0;
        while level < N && limits[level] <= average as u16 {
            level += 1;
        }
        levels[average] = level as u8;
        average += 1;
    }
    levels
}

static LEVELS_OF_RUNS: [u8; 1024] = levels([2, 4, 7, 15, 23, 34, 52, 80, 160, 280]);
static LEVELS_OF_PLACES: [u8; 1024] =
    levels([1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290]);

/// All that contexts hold of a symbol's own averages, by the average of runs and by that of places.
///
/// From bit 0 on the first context of runs (2 bits), the second one (7, the upper 3 of them by
/// places), the first one of places (2) and the second one (4).
static OWN_RUNS: [u16; 1024] = join([levels([2, 10, 58]), LEVELS_OF_RUNS, [0; 1024]], [0, 2, 0]);
static OWN_PLACES: [u16; 1024] =
    join([levels([1, 4, 12, 21, 42, 80, 270]), levels([4, 15, 60]), LEVELS_OF_PLACES], [6, 9, 11]);

/// The levels of the averages over all symbols, below 8.
static ALL_RUNS: [u8; 1024] = levels([2, 4, 7, 15, 30, 68, 280]);
static ALL_PLACES: [u8; 1024] = levels([2, 3, 9, 20, 40, 80, 260]);

/// Side by side, each from one of these bits on.
const fn join(parts: [[u8; 1024]; 3], shifts: [u32; 3]) -> [u16; 1024] {
    let mut joined = [0; 1024];
    let mut at = 0;
    while at < 3 * 1024 {
        joined[at % 1024] |= (parts[at / 1024][at % 1024] as u16) << shifts[at / 1024];
        at += 1;
    }
    joined
}

/// All that was coded so far, as far as it matters.
#[derive(Debug)]
pub struct Memory {
    own: [Averages; 256],
    /// What contexts hold of those.
    levels: [u16; 256],
    /// Of all runs but the last, which waits in `last`: the next one is decoded beside it.
    all: Averages,
    last: u32,
    last_place: usize,
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
            last_place: 0,
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
        Contexts {
            first: usize::from(symbol) << 2 | levels & 3,
            second: self.around_run | levels >> 2 & 127,
        }
    }

    /// Contexts for the place of a symbol after its `run`.
    #[inline(always)]
    pub fn of_place(&self, run: Run) -> Contexts {
        let levels = usize::from(self.levels[usize::from(run.symbol)]);
        let len = run.len.ilog2().min(3) as usize;
        Contexts {
            first: usize::from(run.symbol) << 2 | levels >> 9 & 3,
            second: self.around_place | levels >> 11 << 2 | len,
        }
    }

    /// Adds a run and the place of its symbol, which is at least 1.
    #[inline(always)]
    pub fn add(&mut self, run: Run, place: u32) {
        let own = &mut self.own[usize::from(run.symbol)];
        let both = count(run.len - 1, place - 1);
        own.add(both);
        let [of_run, of_place] = own.both(&OWN_RUNS, &OWN_PLACES);
        self.levels[usize::from(run.symbol)] = of_run | of_place;
        self.all.add(self.last);
        let [of_run, of_place] = self.all.both(&ALL_RUNS, &ALL_PLACES);
        self.around_run = usize::from(of_run) << 7 | self.last_place << 10;
        self.around_place = usize::from(of_place) << 8 | self.last_place << 6;
        self.last_place = (place as usize - 1).min(3);
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
