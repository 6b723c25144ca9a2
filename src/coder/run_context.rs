//! The contexts of run lengths and MTF ranks: what is known before these are coded. FORMAT.md
//! chapter 15.
//!
//! Three things predict a run. First, how long its symbol's runs have been of late and which MTF
//! ranks the symbol got, both as moving averages per symbol, and the last such rank; second, the
//! same averages over all symbols, which tell a quiet stretch of the BWT from a noisy one; third,
//! the MTF rank before. The averages are of square roots, so that one long run does not hide the
//! runs before it. They move by a quarter and are quantised. Encoder and decoder keep the same
//! [`ModelState`].
//!
//! What is known of all symbols is one run late, and neither number of a run is a context of the
//! other, so that a decoder finds both at once, beside those of the run before. It costs 0.05 % of
//! the size.

use super::context_tree::Contexts;

/// How many quantised values a symbol's own averages have.
pub const QUANTISED_RUN_LENGTHS: usize = 11;
pub const QUANTISED_MTF_RANKS: usize = 16;

/// Two moving averages, of run lengths and of MTF ranks, each less one.
///
/// They share a word and move in one step: MTF ranks in the upper half. Both stay below 1024.
#[derive(Debug, Clone, Copy, Default)]
struct Averages(u32);

impl Averages {
    #[inline(always)]
    fn add(&mut self, both: u32) {
        self.0 = (3 * self.0 + both + 0x2_0002) >> 2 & 0x3FFF_3FFF;
    }

    /// The tables' entries for the average run length and for the average MTF rank.
    #[inline(always)]
    fn both<T: Copy>(self, run_lengths: &[T; 1024], mtf_ranks: &[T; 1024]) -> [T; 2] {
        [run_lengths[(self.0 & 1023) as usize], mtf_ranks[(self.0 >> 16 & 1023) as usize]]
    }
}

/// What averages are taken of: 40 times the square root of a number plus one, less 40.
pub static SCALED_ROOTS: [u16; 256] = {
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
fn scaled_roots(run_length: u32, mtf_rank: u8) -> u32 {
    let run_length = SCALED_ROOTS[run_length.min(255) as usize];
    u32::from(run_length) | u32::from(SCALED_ROOTS[usize::from(mtf_rank)]) << 16
}

/// The quantised value of each average, how many of these limits it reaches, times a factor.
const fn quantiser<const N: usize>(limits: [u16; N], factor: u16) -> [u16; 1024] {
    let mut quantised = [0; 1024];
    let mut average = 0;
    while average < 1024 {
        let mut reached = 0;
        while reached < N && limits[reached] <= average as u16 {
            reached += 1;
        }
        quantised[average] = reached as u16 * factor;
        average += 1;
    }
    quantised
}

/// A symbol's averages, quantised to [`QUANTISED_RUN_LENGTHS`] and [`QUANTISED_MTF_RANKS`] values,
/// as [`CONTEXTS`](super::context_tree::CONTEXTS) puts them into its key.
pub static OWN_BY_RUN_LENGTH: [u16; 1024] = quantiser([2, 4, 7, 15, 23, 34, 52, 80, 160, 280], 128);
pub static OWN_BY_MTF_RANK: [u16; 1024] =
    quantiser([1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290], 8);

/// The averages over all symbols, quantised to 8 values, beside 4 MTF ranks before.
pub static ALL_BY_RUN_LENGTH: [u16; 1024] = quantiser([2, 4, 7, 15, 30, 68, 280], 4);
pub static ALL_BY_MTF_RANK: [u16; 1024] = quantiser([2, 3, 9, 20, 40, 80, 260], 4);

/// The class of a symbol's last MTF rank, less one: 0 to 3 themselves, then by powers of two.
pub static LAST_CLASS: [u8; 256] = {
    let mut classes = [7; 256];
    let mut rank = 0;
    while rank < 32 {
        classes[rank] = if rank < 4 { rank } else { 2 + (rank as u32).ilog2() as usize } as u8;
        rank += 1;
    }
    classes
};

/// What contexts need of the runs of a slice so far.
#[derive(Debug)]
pub struct ModelState<'a> {
    averages: [Averages; 256],
    /// By symbol: its own classes, as `own_classes` has them.
    own: [u32; 256],
    own_classes: &'a [u32; 2048],
    /// Of all runs but the last, which is in `last`: the next one is decoded beside it.
    all: Averages,
    last: u32,
    last_mtf_rank: u16,
    /// What is around a run length and an MTF rank.
    around: [u16; 2],
}

impl<'a> ModelState<'a> {
    pub fn new(contexts: &'a Contexts) -> Self {
        ModelState {
            averages: [Averages::default(); 256],
            own: [contexts.own[0]; 256],
            own_classes: &contexts.own,
            all: Averages::default(),
            last: 0,
            last_mtf_rank: 0,
            around: [0; 2],
        }
    }

    /// The contexts of the length of a run of `symbol` and of the MTF rank after it: places in the
    /// maps to leaves.
    #[inline(always)]
    pub fn contexts(&self, symbol: u8) -> [usize; 2] {
        let own = self.own[usize::from(symbol)];
        let [run, rank] = self.around.map(usize::from);
        [(own & 0xffff) as usize + run, (own >> 16) as usize + rank]
    }

    /// Adds a run of `symbol` and the MTF rank after it, each less one.
    #[inline(always)]
    pub fn add(&mut self, symbol: u8, run_length: u32, mtf_rank: u8) {
        let averages = &mut self.averages[usize::from(symbol)];
        let both = scaled_roots(run_length, mtf_rank);
        averages.add(both);
        let [by_run, by_mtf_rank] = averages.both(&OWN_BY_RUN_LENGTH, &OWN_BY_MTF_RANK);
        let key = by_run | by_mtf_rank | u16::from(LAST_CLASS[usize::from(mtf_rank)]);
        self.own[usize::from(symbol)] = self.own_classes[usize::from(key) % 2048];
        self.all.add(self.last);
        let around = self.all.both(&ALL_BY_RUN_LENGTH, &ALL_BY_MTF_RANK);
        self.around = around.map(|average| average | self.last_mtf_rank);
        self.last_mtf_rank = u16::from(mtf_rank.min(3));
        self.last = both;
    }
}
