//! The contexts of run lengths and MTF ranks: what is known before these are coded. FORMAT.md
//! section 14.3.
//!
//! Two things predict a run. First, how long its byte's runs have been of late and which MTF
//! ranks the byte got, both as moving averages per byte, and the last such rank; second, for
//! MTF ranks, the same average over all bytes, which tells a quiet stretch of the BWT from a
//! noisy one. The averages are of square roots, so that one long run does not hide the runs before
//! it. They move by a quarter and are quantised. Encoder and decoder keep the same [`ModelState`].
//!
//! What is known of all bytes is one run late, and neither number of a run is a context of the
//! other, so that a decoder finds both at once, beside those of the run before. It costs 0.05 % of
//! the size; what is around run lengths would save 0.07 %, and takes as much time as all else that
//! is known of them.

use super::context_tree::{OwnContexts, RANK_CONTEXTS};

/// How many quantised values a byte's own averages have.
pub const QUANTISED_RUN_LENGTHS: usize = 11;
pub const QUANTISED_MTF_RANKS: usize = 16;

/// What averages are taken of: 40 times the square root of a number plus one, less 40; and 2 more,
/// so that averages are rounded. Run lengths are less one.
pub static ROUNDED_ROOTS: [u32; 256] = {
    let mut roots = [0; 256];
    let mut number = 0;
    while number < 256 {
        roots[number] = (1600 * (number as u32 + 1)).isqrt() - 40 + 2;
        number += 1;
    }
    roots
};

/// Of an MTF rank, less one: from bit 16 on the same, and from bit 28 on quantised as the last one
/// of its byte: 0 to 3 themselves, then by powers of two up to 7.
pub static MTF_RANKS: [u32; 256] = {
    let mut ranks = [0; 256];
    let mut rank = 0;
    while rank < 256 {
        let quantised = match rank {
            0..4 => rank as u32,
            4..32 => 2 + (rank as u32).ilog2(),
            _ => 7,
        };
        ranks[rank] = quantised << LAST_RANK_BIT | ROUNDED_ROOTS[rank] << 16;
        rank += 1;
    }
    ranks
};

/// Where the quantised rank is in [`MTF_RANKS`]: above all sums of roots.
pub const LAST_RANK_BIT: u32 = 28;

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

/// A byte's averages, quantised to [`QUANTISED_RUN_LENGTHS`] and [`QUANTISED_MTF_RANKS`] values,
/// as the key of [`OwnContexts`] has them.
pub static OWN_BY_RUN_LENGTH: [u16; 1024] = quantiser([2, 4, 7, 15, 23, 34, 52, 80, 160, 280], 128);
pub static OWN_BY_MTF_RANK: [u16; 1024] =
    quantiser([1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290], 8);

/// The average over all bytes, quantised to 8 values.
pub static ALL_BY_MTF_RANK: [u16; 1024] = quantiser([2, 3, 9, 20, 40, 80, 260], 1);

/// What contexts need of the runs of a slice so far.
#[derive(Debug)]
pub struct ModelState<'a> {
    /// On the heap, so that what is below stays in registers.
    bytes: Box<[ByteState; 256]>,
    own_contexts: &'a OwnContexts,
    /// The average of all MTF ranks but the last, which is in `last`: the next one is decoded
    /// beside it.
    all: u32,
    last: u32,
    around: u32,
}

/// What is known of a byte.
#[derive(Debug, Clone, Copy)]
struct ByteState {
    /// The averages of its run lengths and, from bit 16 on, of its MTF ranks. Both stay below 1024.
    averages: u32,
    /// What `own_contexts` has for it.
    own: u32,
}

impl<'a> ModelState<'a> {
    pub fn new(own_contexts: &'a OwnContexts) -> Self {
        let bytes = Box::new([ByteState { averages: 0, own: own_contexts[0] }; 256]);
        ModelState { bytes, own_contexts, all: 0, last: 2, around: 0 }
    }

    /// What `own_contexts` has for the length of a run of `byte`, and the context of the MTF rank
    /// after it.
    #[inline(always)]
    pub fn contexts(&self, byte: u8) -> [usize; 2] {
        let own = self.bytes[usize::from(byte)].own;
        [(own & 0xffff) as usize, ((own >> 16) + self.around) as usize % RANK_CONTEXTS]
    }

    /// Adds a run of `byte` and the MTF rank after it, each less one; 255 stands for longer runs.
    #[inline(always)]
    pub fn add(&mut self, byte: u8, run_length: u8, mtf_rank: u8) {
        let ranked = MTF_RANKS[usize::from(mtf_rank)];
        let both = ranked + ROUNDED_ROOTS[usize::from(run_length)];
        let state = &mut self.bytes[usize::from(byte)];
        let averages = (3 * state.averages + both) >> 2 & 0x03FF_03FF;
        let by_run = OWN_BY_RUN_LENGTH[(averages & 1023) as usize];
        let by_rank = OWN_BY_MTF_RANK[(averages >> 16) as usize % 1024];
        let key = u32::from(by_run | by_rank) | ranked >> LAST_RANK_BIT;
        *state = ByteState { averages, own: self.own_contexts[key as usize % 2048] };
        self.all = (3 * self.all + self.last) >> 2;
        self.around = ALL_BY_MTF_RANK[(self.all & 1023) as usize].into();
        self.last = ranked >> 16 & 0xfff;
    }
}
