//! The contexts of run lengths and MTF ranks: the data known before these are coded. FORMAT.md
//! section 14.3.
//!
//! Two things predict a run. The first is the recent history of its byte: moving averages of the
//! lengths of the byte's runs and of the MTF ranks that it got, and the last such rank. The second,
//! for MTF ranks only, is the average rank over all bytes, which tells a quiet part of the BWT from
//! a noisy one. The averages are of square roots, so that one long run does not hide the runs
//! before it. They move by a quarter and are quantised. Encoder and decoder keep the same
//! [`ModelState`].
//!
//! The average over all bytes lags one run behind, and neither number of a run is a context of the
//! other, so that a decoder can compute both contexts at once, in parallel with decoding the run
//! before. This costs 0.05 % of the size. Using the neighbourhood for run lengths too would save
//! 0.07 %, but take as much time as all their other contexts.

use super::context_tree::{OwnContexts, RANK_CONTEXTS};

/// Number of quantised values of a byte's average run length.
pub(super) const QUANTISED_RUN_LENGTHS: usize = 11;
/// Number of quantised values of a byte's average MTF rank.
pub(super) const QUANTISED_MTF_RANKS: usize = 16;

/// The roots that are averaged, by number: 40 times the square root of the number plus one, less
/// 40, plus 2 so that averages are rounded. For run lengths the number is the length less one.
pub(super) static ROUNDED_ROOTS: [u32; 256] = {
    let mut roots = [0; 256];
    let mut number = 0;
    while number < 256 {
        roots[number] = (1600 * (number as u32 + 1)).isqrt() - 40 + 2;
        number += 1;
    }
    roots
};

/// Two values for each MTF rank less one. From bit 16 on: its rounded root. From bit 28 on: its
/// quantised value as the last rank of its byte, which is the number itself from 0 to 3, then grows
/// with powers of two up to 7.
pub(super) static MTF_RANKS: [u32; 256] = {
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

/// The lowest bit of the quantised rank in [`MTF_RANKS`]: above all sums of roots.
pub(super) const LAST_RANK_BIT: u32 = 28;

/// The quantised value of each average: the number of `limits` that it reaches, times `factor`.
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

/// A byte's average run length, quantised to [`QUANTISED_RUN_LENGTHS`] values and shifted to its
/// bits in the key of [`OwnContexts`].
pub(super) static OWN_BY_RUN_LENGTH: [u16; 1024] =
    quantiser([2, 4, 7, 15, 23, 34, 52, 80, 160, 280], 128);
/// A byte's average MTF rank, quantised to [`QUANTISED_MTF_RANKS`] values and shifted to its bits
/// in the key of [`OwnContexts`].
pub(super) static OWN_BY_MTF_RANK: [u16; 1024] = quantiser(
    [1, 3, 8, 14, 20, 26, 34, 44, 56, 68, 84, 105, 140, 190, 290],
    8,
);

/// The average over all bytes, quantised to 8 values.
pub(super) static ALL_BY_MTF_RANK: [u16; 1024] = quantiser([2, 3, 9, 20, 40, 80, 260], 1);

/// The state of the contexts after the runs of a slice so far.
#[derive(Debug)]
pub(super) struct ModelState<'a> {
    /// On the heap, so that the fields below stay in registers.
    bytes: Box<[ByteState; 256]>,
    own_contexts: &'a OwnContexts,
    /// The average of all MTF ranks but the last, which is in `last`, since the next rank is
    /// decoded at the same time.
    all: u32,
    last: u32,
    around: u32,
}

/// The state of one byte value.
#[derive(Debug, Clone, Copy)]
struct ByteState {
    /// The averages of its run lengths and, from bit 16 on, of its MTF ranks. Both stay below 1024.
    averages: u32,
    /// Its entry in `own_contexts`.
    own: u32,
}

impl<'a> ModelState<'a> {
    pub(super) fn new(own_contexts: &'a OwnContexts) -> Self {
        let bytes = Box::new(
            [ByteState {
                averages: 0,
                own: own_contexts[0],
            }; 256],
        );
        ModelState {
            bytes,
            own_contexts,
            all: 0,
            last: 2,
            around: 0,
        }
    }

    /// The context of the length of a run of `byte`, as in `own_contexts`, and the context of the
    /// MTF rank after it.
    #[inline(always)]
    pub(super) fn contexts(&self, byte: u8) -> [usize; 2] {
        let own = self.bytes[usize::from(byte)].own;
        [
            (own & 0xffff) as usize,
            ((own >> 16) + self.around) as usize % RANK_CONTEXTS,
        ]
    }

    /// Adds a run of `byte` and the MTF rank after it, each less one. A length of 255 stands for
    /// longer runs.
    #[inline(always)]
    pub(super) fn add(&mut self, byte: u8, run_length: u8, mtf_rank: u8) {
        let ranked = MTF_RANKS[usize::from(mtf_rank)];
        let both = ranked + ROUNDED_ROOTS[usize::from(run_length)];
        let state = &mut self.bytes[usize::from(byte)];
        let averages = (3 * state.averages + both) >> 2 & 0x03FF_03FF;
        let by_run = OWN_BY_RUN_LENGTH[(averages & 1023) as usize];
        let by_rank = OWN_BY_MTF_RANK[(averages >> 16) as usize % 1024];
        let key = u32::from(by_run | by_rank) | ranked >> LAST_RANK_BIT;
        *state = ByteState {
            averages,
            own: self.own_contexts[key as usize % 2048],
        };
        self.all = (3 * self.all + self.last) >> 2;
        self.around = ALL_BY_MTF_RANK[(self.all & 1023) as usize].into();
        self.last = ranked >> 16 & 0xfff;
    }
}
