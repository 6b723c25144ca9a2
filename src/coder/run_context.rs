//! The contexts of run lengths and MTF ranks: what the models know before these are coded.
//!
//! Three things predict a run. First, how long its symbol's runs have been of late and which MTF
//! ranks the symbol got, both as moving averages per symbol; second, the same averages over all
//! symbols, which tell a quiet stretch of the BWT from a noisy one; third, the MTF rank before. The
//! averages are of square roots, so that one long run does not hide the runs before it. They move
//! by a quarter and are quantised to be part of a context. Beside the symbol itself 4 quantised
//! values are best, as rare contexts learn little; without it 11 or 16. Encoder and decoder keep
//! the same [`ModelState`].
//!
//! The averages over all symbols are one run late, so that a decoder can look CDFs up before it has
//! decoded the last run length and MTF rank. It costs 0.05 % of the size.

use super::adaptive_cdf::ContextPair;
use super::rle::BwtRun;

/// How many quantised values a symbol's own averages have: few beside the symbol itself, which
/// second contexts do not hold, and more in those.
pub const QUANTISED_OWN: usize = 4;
pub const QUANTISED_RUN_LENGTHS: usize = 11;
pub const QUANTISED_MTF_RANKS: usize = 16;

/// First contexts: 256 symbols, and their quantised average.
pub const OWN_CONTEXTS: usize = 256 * QUANTISED_OWN;
/// Second contexts of run lengths: what happens around a run, with the quantised average of its
/// symbol's run lengths in bits 0 to 3.
pub const AROUND_RUN_CONTEXTS: usize = 16 * 8 * 8 * 4;
/// Second contexts of MTF ranks, with the quantised average of the symbol's MTF ranks in bits 2 to
/// 5.
pub const AROUND_MTF_RANK_CONTEXTS: usize = 4 * 16 * 4 * 8;

/// Contexts of the exp-Golomb width of a very long run.
pub const WIDTH_CONTEXTS: usize = 2 * 32;

/// Two moving averages, of run lengths and of MTF ranks, each less one.
///
/// They share a word and move in one step: MTF ranks in the upper half. Both stay below 1024.
#[derive(Debug, Clone, Copy, Default)]
pub struct Averages(u32);

impl Averages {
    #[inline(always)]
    fn add(&mut self, both: u32) {
        self.0 = (3 * self.0 + both + 0x2_0002) >> 2 & 0x3FFF_3FFF;
    }

    /// Adds a run length and an MTF rank, each less one.
    #[inline(always)]
    pub fn add_both(&mut self, run_length: u32, mtf_rank: u32) {
        self.add(scaled_roots(run_length, mtf_rank));
    }

    /// The tables' entries for the average run length and for the average MTF rank.
    #[inline(always)]
    fn both<T: Copy>(self, run_lengths: &[T; 1024], mtf_ranks: &[T; 1024]) -> [T; 2] {
        [run_lengths[(self.0 & 1023) as usize], mtf_ranks[(self.0 >> 16 & 1023) as usize]]
    }

    /// Both, quantised to [`QUANTISED_RUN_LENGTHS`] and [`QUANTISED_MTF_RANKS`] values.
    #[inline(always)]
    pub fn quantised(self) -> [u8; 2] {
        self.both(&RUN_LENGTH_QUANTISER, &MTF_RANK_QUANTISER)
    }
}

/// What averages are taken of: 40 times the square root of a number plus one, less 40.
static SCALED_ROOTS: [u16; 256] = {
    let mut roots = [0; 256];
    let mut number = 0;
    while number < 256 {
        roots[number] = (1600 * (number as u32 + 1)).isqrt() as u16 - 40;
        number += 1;
    }
    roots
};

/// Those of a run length and an MTF rank, each less one, in a word as [`Averages`] has it.
#[inline(always)]
fn scaled_roots(run_length: u32, mtf_rank: u32) -> u32 {
    let of = |n: u32| u32::from(SCALED_ROOTS[n.min(255) as usize]);
    of(run_length) | of(mtf_rank) << 16
}

/// The quantised value of each average: how many of these limits it reaches.
const fn quantiser<const N: usize>(limits: [u16; N]) -> [u8; 1024] {
    let mut quantised = [0; 1024];
    let mut average = 0;
    while average < 1024 {
        let mut reached = 0;
        while reached < N && limits[reached] <= average as u16 {
            reached += 1;
        }
        quantised[average] = reached as u8;
        average += 1;
    }
    quantised
}

static RUN_LENGTH_QUANTISER: [u8; 1024] = quantiser([2, 4, 7, 15, 23, 34, 52, 80, 160, 280]);
static MTF_RANK_QUANTISER: [u8; 1024] =
    quantiser([1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290]);

/// All that contexts hold of a symbol's own averages, by the average run length and by the average
/// MTF rank.
///
/// From bit 0 on: the first context of run lengths (2 bits), the second one (7 bits, the upper 3 of
/// them by MTF ranks), the first context of MTF ranks (2 bits) and the second one (4 bits).
static OWN_BY_RUN_LENGTH: [u16; 1024] =
    join([quantiser([2, 10, 58]), RUN_LENGTH_QUANTISER, [0; 1024]], [0, 2, 0]);
static OWN_BY_MTF_RANK: [u16; 1024] = join(
    [quantiser([1, 4, 12, 21, 42, 80, 270]), quantiser([4, 15, 60]), MTF_RANK_QUANTISER],
    [6, 9, 11],
);

/// The averages over all symbols, quantised to 8 values.
static ALL_BY_RUN_LENGTH: [u8; 1024] = quantiser([2, 4, 7, 15, 30, 68, 280]);
static ALL_BY_MTF_RANK: [u8; 1024] = quantiser([2, 3, 9, 20, 40, 80, 260]);

/// Tables side by side in one, each from the bit on that `shifts` gives.
const fn join(tables: [[u8; 1024]; 3], shifts: [u32; 3]) -> [u16; 1024] {
    let mut joined = [0; 1024];
    let mut at = 0;
    while at < 3 * 1024 {
        joined[at % 1024] |= (tables[at / 1024][at % 1024] as u16) << shifts[at / 1024];
        at += 1;
    }
    joined
}

/// What contexts need of all runs so far.
#[derive(Debug)]
pub struct ModelState {
    own: [Averages; 256],
    /// Those quantised, as [`OWN_BY_RUN_LENGTH`] lays them out.
    own_quantised: [u16; 256],
    /// Of all runs but the last, which is in `last`: the next one is decoded beside it.
    all: Averages,
    last: u32,
    last_mtf_rank: usize,
    /// What these contribute to the second contexts of run lengths and of MTF ranks.
    around_run: usize,
    around_mtf_rank: usize,
    /// The width of each symbol's last very long run, and of the last one of all.
    own_width: [u8; 256],
    last_width: u8,
}

impl ModelState {
    pub fn new() -> Self {
        ModelState {
            own: [Averages::default(); 256],
            own_quantised: [0; 256],
            all: Averages::default(),
            last: 0,
            last_mtf_rank: 0,
            around_run: 0,
            around_mtf_rank: 0,
            own_width: [0; 256],
            last_width: 0,
        }
    }

    /// Contexts for the length of a run of `symbol`.
    #[inline(always)]
    pub fn run_length_contexts(&self, symbol: u8) -> ContextPair {
        let own = usize::from(self.own_quantised[usize::from(symbol)]);
        ContextPair {
            first: usize::from(symbol) << 2 | own & 3,
            second: self.around_run | own >> 2 & 127,
        }
    }

    /// Contexts for the MTF rank of a symbol after its `run`.
    #[inline(always)]
    pub fn mtf_rank_contexts(&self, run: BwtRun) -> ContextPair {
        let own = usize::from(self.own_quantised[usize::from(run.symbol)]);
        let len = run.len.ilog2().min(3) as usize;
        ContextPair {
            first: usize::from(run.symbol) << 2 | own >> 9 & 3,
            second: self.around_mtf_rank | own >> 11 << 2 | len,
        }
    }

    /// Adds a run and the MTF rank of its symbol, which is at least 1.
    #[inline(always)]
    pub fn add(&mut self, run: BwtRun, mtf_rank: u32) {
        let own = &mut self.own[usize::from(run.symbol)];
        let both = scaled_roots(run.len - 1, mtf_rank - 1);
        own.add(both);
        let [by_run, by_mtf_rank] = own.both(&OWN_BY_RUN_LENGTH, &OWN_BY_MTF_RANK);
        self.own_quantised[usize::from(run.symbol)] = by_run | by_mtf_rank;
        self.all.add(self.last);
        let [by_run, by_mtf_rank] = self.all.both(&ALL_BY_RUN_LENGTH, &ALL_BY_MTF_RANK);
        self.around_run = usize::from(by_run) << 7 | self.last_mtf_rank << 10;
        self.around_mtf_rank = usize::from(by_mtf_rank) << 8 | self.last_mtf_rank << 6;
        self.last_mtf_rank = (mtf_rank as usize - 1).min(3);
        self.last = both;
    }

    /// Contexts for the width of a very long run, which takes one or two symbols.
    pub fn width_contexts(&self, symbol: u8, stage: usize) -> ContextPair {
        ContextPair {
            first: stage << 5 | usize::from(self.own_width[usize::from(symbol)]),
            second: stage << 5 | usize::from(self.last_width),
        }
    }

    pub fn add_width(&mut self, symbol: u8, width: u32) {
        self.own_width[usize::from(symbol)] = width as u8;
        self.last_width = width as u8;
    }
}
