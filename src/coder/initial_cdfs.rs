//! The initial state of adaptive CDFs, and their adaptation rates.
//!
//! A context of a run length or an MTF rank holds a quantised average (see `run_context`), and the
//! distribution given that average hardly depends on the data: text, markup, tables and code agree
//! within a few percent. CDFs therefore begin with measured distributions, and with the rate of a
//! CDF that has seen some symbols: second contexts are fewer, and their measured distributions fit
//! better. Segments are short, and this saves a fifth of what it costs that each starts anew.

use super::adaptive_cdf::{AdaptationRate, AdaptiveCdf};
use super::run_context::{QUANTISED_MTF_RANKS, QUANTISED_OWN, QUANTISED_RUN_LENGTHS};

/// Of 1024 numbers how many are in each bucket, by the quantised average. Rows sum to 1024.
type Shares<const N: usize> = [[u16; 16]; N];

#[rustfmt::skip]
const RUN_LENGTH_SHARES: Shares<QUANTISED_RUN_LENGTHS> = [
    [972, 29, 7, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
    [886, 97, 21, 6, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [807, 144, 39, 14, 6, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [704, 184, 66, 28, 14, 8, 5, 3, 2, 1, 3, 2, 1, 1, 1, 1],
    [561, 218, 96, 53, 29, 18, 11, 8, 5, 4, 9, 6, 3, 1, 1, 1],
    [468, 204, 111, 67, 41, 31, 21, 15, 11, 9, 18, 15, 7, 3, 1, 2],
    [366, 176, 110, 78, 52, 44, 31, 24, 20, 17, 39, 33, 19, 8, 3, 4],
    [285, 142, 95, 72, 55, 48, 35, 32, 27, 22, 66, 66, 42, 21, 8, 8],
    [213, 109, 69, 57, 45, 38, 32, 32, 27, 24, 80, 98, 89, 57, 30, 24],
    [151, 83, 50, 38, 31, 27, 26, 20, 19, 19, 68, 96, 109, 98, 90, 99],
    [101, 43, 26, 23, 14, 16, 12, 12, 7, 11, 36, 62, 89, 98, 124, 350],
];

#[rustfmt::skip]
const MTF_RANK_SHARES: Shares<QUANTISED_MTF_RANKS> = [
    [125, 33, 23, 13, 17, 19, 16, 15, 18, 10, 54, 72, 99, 157, 126, 227],
    [918, 73, 17, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [674, 223, 84, 17, 7, 4, 3, 2, 1, 1, 2, 2, 1, 1, 1, 1],
    [514, 279, 150, 32, 16, 9, 6, 4, 3, 2, 3, 2, 1, 1, 1, 1],
    [402, 282, 198, 51, 30, 18, 12, 8, 6, 3, 7, 3, 1, 1, 1, 1],
    [324, 245, 207, 74, 51, 35, 25, 18, 13, 7, 14, 6, 2, 1, 1, 1],
    [252, 189, 168, 103, 79, 60, 47, 36, 28, 16, 27, 12, 4, 1, 1, 1],
    [193, 150, 126, 111, 95, 78, 66, 55, 47, 26, 49, 20, 5, 1, 1, 1],
    [149, 122, 109, 101, 93, 84, 77, 68, 60, 36, 78, 34, 9, 2, 1, 1],
    [118, 98, 90, 85, 82, 79, 76, 72, 69, 49, 122, 62, 16, 4, 1, 1],
    [91, 74, 69, 66, 65, 64, 64, 66, 86, 54, 165, 114, 35, 8, 2, 1],
    [74, 57, 51, 49, 48, 48, 48, 49, 49, 48, 186, 206, 86, 20, 4, 1],
    [54, 40, 35, 34, 32, 31, 31, 31, 32, 32, 136, 268, 193, 60, 12, 3],
    [44, 29, 26, 23, 21, 21, 20, 19, 20, 19, 75, 170, 290, 183, 55, 9],
    [29, 19, 16, 15, 13, 12, 12, 11, 11, 11, 43, 87, 180, 317, 208, 40],
    [14, 9, 8, 7, 6, 6, 6, 5, 5, 5, 20, 39, 73, 149, 297, 375],
];

/// The initial second CDFs of run lengths and of MTF ranks, by the quantised average.
pub static RUN_LENGTHS: [AdaptiveCdf; QUANTISED_RUN_LENGTHS] = cdfs(&RUN_LENGTH_SHARES);
pub static MTF_RANKS: [AdaptiveCdf; QUANTISED_MTF_RANKS] = cdfs(&MTF_RANK_SHARES);

/// The initial first CDFs, by their coarser average: those of second ones in the middle of it.
pub static OWN_RUN_LENGTHS: [AdaptiveCdf; QUANTISED_OWN] = chosen(&RUN_LENGTHS, [0, 2, 5, 9]);
pub static OWN_MTF_RANKS: [AdaptiveCdf; QUANTISED_OWN] = chosen(&MTF_RANKS, [1, 2, 6, 14]);

/// The adaptation rates of first and second CDFs.
pub const RUN_LENGTH_RATES: [AdaptationRate; 2] =
    [AdaptationRate { first: 5461, least: 410 }, AdaptationRate { first: 1680, least: 262 }];
pub const MTF_RANK_RATES: [AdaptationRate; 2] =
    [AdaptationRate { first: 5461, least: 819 }, AdaptationRate { first: 1680, least: 410 }];

const fn cdfs<const N: usize>(shares: &Shares<N>) -> [AdaptiveCdf; N] {
    let mut cdfs = [AdaptiveCdf::flat(4); N];
    let mut at = 0;
    while at < N {
        cdfs[at] = AdaptiveCdf::of_shares(&shares[at]);
        at += 1;
    }
    cdfs
}

const fn chosen<const N: usize>(
    cdfs: &[AdaptiveCdf; N],
    rows: [usize; QUANTISED_OWN],
) -> [AdaptiveCdf; QUANTISED_OWN] {
    let mut own = [AdaptiveCdf::flat(4); QUANTISED_OWN];
    let mut at = 0;
    while at < QUANTISED_OWN {
        own[at] = cdfs[rows[at]];
        at += 1;
    }
    own
}
