//! Bytes of a Burrows-Wheeler transform <-> coded bytes, one segment at a time.
//!
//! A block's transform is cut into segments of 2^[`segment_log`] bytes, which are coded apart from
//! each other: by many threads at once, and one alone where a search needs only that. This module
//! is the door; it knows neither blocks nor files. The stages, each in its own file:
//!
//! ```text
//!   bytes -rle-> runs -mtf-> (length, place) -classes-> symbols of 16 -model-> slots -rans-> bytes
//!                                     context -----------------^
//! ```
//!
//! `modelled` is the loop that drives them. Between the stages only two bytes per run are stored.
//! [`Effort::Fast`] goes the same way with tables that are counted ahead, `counted`, in place of
//! models that learn. [`Effort::Best`] has another way, without a list, for the smallest size:
//!
//! ```text
//!   bytes -rle-> runs -mixed-> decisions by tree and number -mixing-> probabilities -binary-> bytes
//! ```
//!
//! # What a byte costs
//!
//! All costs are per run, and English has 2.3 bytes per run, DNA 1.4, markup 4 to 15, files full of
//! copies hundreds. Per run of English, on one core of a busy 3 GHz server:
//!
//! | effort             | encode | decode |
//! |--------------------|-------:|-------:|
//! | [`Effort::Fast`]   |  22 ns |  15 ns |
//! | [`Effort::Default`]|  31 ns |  25 ns |
//!
//! To encode, rans takes a seventh of it. To decode, the default effort runs some 300 instructions
//! in 90 cycles. What made them faster were chains cut through, along which one symbol waits for
//! another: two coder states in one register, so that places waited for run lengths (a fifth of the
//! time of a fast decoder); a division and a branch that nobody can foretell for each symbol
//! written (a fifth of a fast encoder's); contexts that need the run just decoded (they now are one
//! run late, for 0.05 % of the size); counts of the same symbol twice in a row. Four states in
//! place of two were tried and are slower, as are two segments decoded in one loop where cores are
//! shared by two threads. A segment's models take 500 kB, of which text touches a quarter, and stay
//! in the L2 cache. An encoder also needs two bytes per run and 600 kB; a decoder nothing else. The
//! models of [`Effort::Best`] take 6 MB, of which text touches a fifth, and text six or seven
//! decisions per run. Each is 210 instructions, a quarter of them to collect and to put back cells;
//! its cost is half the wait for what it depends on, and what it depends on is known early only if
//! the decision before it was foreseen.
//!
//! # Where the bytes are
//!
//! Of English, a third of the coded bytes are run lengths and two thirds say which symbol follows;
//! of machine code a sixth and five sixths. Three runs of four are one byte long. The place of the
//! next symbol is 1 for 34 % of the runs of English and above 15 for 3 %, but above 15 for 41 % of
//! those of machine code and 53 % of those of a database of fixed records.
//!
//! What ideal statistics would give was tried with as many as 16 mixed contexts per decision, whole
//! files at a time:
//!
//! - On English it makes a difference of 0.2 % whether the symbol is coded as its place in a
//!   move-to-front list, as the place to which the old one goes back, or directly: the history
//!   seems to hold no more.
//! - On binaries coding symbols directly is 1.5 % (code) to 12 % (spreadsheets) smaller than
//!   places: a place hides that the runs' symbols follow each other in patterns.
//! - Were the rows known at which the context of 2 to 5 bytes changes, the distance from the last
//!   one, as a context, would save nothing.
//! - Tables counted per segment are 1.5 % larger than two models that learn, if the context is the
//!   level of one average; they would be 0.6 % larger if contexts of byte and level were sorted
//!   into 32 kinds by how alike they are.
//! - Any single one of the 16 contexts could go at a cost below 0.2 %. The seven kept cost 0.3 %
//!   more than all; a refinement saves 0.2 %, a second one nothing; segments of 2^18 runs instead
//!   of the whole, 0.3 %.
//! - How cells learn matters less than how they are mixed: 12 bits and a count up to 15 instead of
//!   22 and 10 cost 0.05 %, one set of weights instead of three 0.2 %, of which a set that is
//!   common to all decisions saves 0.1 %.
//!
//! # Sources
//!
//! Runs and places through adaptive models by context are the way of libbsc's QLFC coder; that
//! recent averages make better contexts than last values was measured here. Each file names its own
//! sources. The layout is the chapter "Coded segment" of the format.

mod adaptive_cdf;
mod adaptive_models;
mod adaptive_rans;
mod cdf_simd;
mod context_mixing;
mod exp_golomb;
mod frequency_table;
mod initial_cdfs;
mod logistic_mixer;
mod mixer_simd;
mod mtf;
pub(crate) mod range_coder;
mod rans;
mod rle;
mod run_context;
mod segments;
mod static_rans;
mod symbol_tree;

use crate::error::Flaw;
pub(crate) use rle::{count as count_runs, run_before, run_end};
pub(crate) use segments::{Task, current_pool, decode_segments_on, encode_segments_on};
pub use segments::{decode_segments, encode_segments, segment_log};

/// First byte of a coded segment whose bytes follow as they are.
const STORED: u8 = 0;
/// First byte of a coded segment whose symbols and runs follow.
const MODELLED: u8 = 1;
/// First byte of a coded segment whose symbols' weights and mixed decisions follow.
const MIXED: u8 = 2;
/// As [`MODELLED`], with tables that come first in place of models that learn.
const COUNTED: u8 = 3;

/// What coding may cost for what it saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Throughput first.
    Fast,
    /// The best trade.
    #[default]
    Default,
    /// Size first.
    Best,
}

/// Tables are a tenth of a segment of so many runs. Shorter ones are coded fast enough by models.
const COUNTABLE_RUNS: usize = if cfg!(fuzzing) { 1 } else { 1 << 13 };

/// Whether decoding this segment takes the large models of [`Effort::Best`]: 6 MiB, where others
/// take less than 1.
pub fn needs_large_models(coded: &[u8]) -> bool {
    coded.first() == Some(&MIXED)
}

/// The most bytes that [`encode`] appends for a segment of `n` bytes.
pub const fn max_coded_len(n: usize) -> usize {
    n + 1
}

/// Appends the coded form of `segment`, which has 1 to 2^31 - 1 bytes.
pub fn encode(segment: &[u8], effort: Effort, out: &mut Vec<u8>) {
    out.append(&mut encode_as(kind(segment, effort), segment));
}

/// The kind that suits `segment`.
fn kind(segment: &[u8], effort: Effort) -> u8 {
    match effort {
        Effort::Fast if rle::count(segment) >= COUNTABLE_RUNS => COUNTED,
        Effort::Fast | Effort::Default => MODELLED,
        Effort::Best => MIXED,
    }
}

/// As one kind, or stored where that is not shorter.
pub(crate) fn encode_as(kind: u8, segment: &[u8]) -> Vec<u8> {
    let coded = match kind {
        COUNTED => static_rans::encode(segment),
        MODELLED => adaptive_rans::encode(segment),
        _ => context_mixing::encode(segment),
    };
    match coded {
        Some(coded) => [&[kind], &coded[..]].concat(),
        None => [&[STORED], segment].concat(),
    }
}

/// Fills `out` with the segment whose coded form is all of `coded`.
///
/// Any input at all gives a segment or a [`Flaw`], in time that `out` bounds. Where it is a flaw,
/// `out` holds anything.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (kind, body) = coded.split_first().ok_or(Flaw("a segment has no coded bytes"))?;
    match *kind {
        STORED if body.len() == out.len() => {
            out.copy_from_slice(body);
            Ok(())
        }
        STORED => Err(Flaw("a stored segment has the wrong length")),
        MODELLED => adaptive_rans::decode(body, out),
        COUNTED => static_rans::decode(body, out),
        MIXED => context_mixing::decode(body, out),
        _ => Err(Flaw("a segment is of an unknown kind")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bytes everywhere: xorshift.
    fn random(len: usize, mut seed: u64) -> Vec<u8> {
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 32) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    const KINDS: [u8; 3] = [MODELLED, MIXED, COUNTED];

    /// All kinds; gives what the default one coded.
    fn round_trip(segment: &[u8]) -> Vec<u8> {
        let [coded, ..] = KINDS.map(|kind| round_trip_as(kind, segment));
        coded
    }

    fn round_trip_as(kind: u8, segment: &[u8]) -> Vec<u8> {
        let coded = encode_as(kind, segment);
        assert!(!coded.is_empty() && coded.len() <= max_coded_len(segment.len()));
        let mut out = vec![0xee; segment.len()];
        assert_eq!(decode(&coded, &mut out), Ok(()));
        assert!(out == segment, "{} bytes came back changed", segment.len());
        coded
    }

    /// Text-like bytes: few symbols, many short runs, some long.
    fn runs(len: usize, seed: u64) -> Vec<u8> {
        let noise = random(2 * len + 2, seed);
        let pairs = noise.chunks(2).flat_map(|pair| {
            let times = 1 + usize::from(pair[1] % 16 / 11) * usize::from(pair[1] % 37);
            std::iter::repeat_n(pair[0] % 11 * (pair[0] % 7), times)
        });
        pairs.take(len).collect()
    }

    #[test]
    fn short_lengths() {
        // Each takes some milliseconds, which go into fresh models.
        for len in (1..=20).chain((21..=300).step_by(13)) {
            round_trip(&vec![b'a'; len]);
            round_trip(&b"ab".repeat(len)[..len]);
            round_trip(&random(len, 7));
            round_trip(&runs(len, 8));
        }
    }

    #[test]
    fn hostile_shapes() {
        let all: Vec<u8> = (0..=255).collect();
        let down: Vec<u8> = all.iter().rev().copied().collect();
        round_trip(&all);
        round_trip(&[&all[..], &down].concat().repeat(300));
        round_trip(&all.repeat(1000));
        round_trip(&random(300_000, 3));
        round_trip(&[random(100_000, 3), vec![0; 100_000], random(100_000, 4)].concat());
        round_trip(&[vec![9; 70_000], runs(500_000, 5)].concat());
    }

    #[test]
    fn runs_around_powers_of_two() {
        for log in 1..=22 {
            for len in [(1 << log) - 1, 1 << log, (1 << log) + 1] {
                round_trip(&[&vec![1; len][..], &[2, 3], &vec![1; len]].concat());
            }
        }
    }

    #[test]
    fn random_bytes_are_stored_and_runs_are_not() {
        assert_eq!(round_trip(&random(5000, 1)).len(), 5001);
        assert!(round_trip(&runs(200_000, 2)).len() < 120_000);
        assert!(round_trip(&vec![0; 5_000_000]).len() < 20);
    }

    #[test]
    fn every_truncation_is_a_flaw() {
        let segment = runs(1500, 4);
        for coded in KINDS.map(|kind| round_trip_as(kind, &segment)) {
            let mut out = vec![0; segment.len()];
            for len in 0..coded.len() {
                assert!(decode(&coded[..len], &mut out).is_err(), "{len} bytes of {}", coded.len());
            }
            assert!(decode(&[&coded[..], &[0]].concat(), &mut out).is_err());
            assert!(decode(&[&coded[..], &[0; 2]].concat(), &mut out).is_err());
        }
    }

    #[test]
    fn wrong_lengths_are_flaws() {
        let segment = runs(3000, 4);
        for coded in KINDS.map(|kind| round_trip_as(kind, &segment)) {
            // Not 3001: the last bits of a range coder may hold one likely run more.
            for len in [0, 1, 2999, 3020, 100_000] {
                assert!(decode(&coded, &mut vec![0; len]).is_err(), "{len}");
            }
        }
    }

    #[test]
    fn any_damage_is_survived() {
        let segment = runs(600, 6);
        let mut out = vec![0; segment.len()];
        for coded in KINDS.map(|kind| round_trip_as(kind, &segment)) {
            for bit in 0..coded.len() * 8 {
                let mut damaged = coded.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let _ = decode(&damaged, &mut out);
            }
            for seed in 1..1000 {
                let mut noise = random(40 + seed as usize % 400, seed);
                noise[0] = coded[0];
                let _ = decode(&noise, &mut out);
            }
        }
    }

    #[test]
    fn efforts_have_their_kinds() {
        let (long, short) = (runs(100_000, 1), runs(1000, 1));
        let coded = |segment, effort| {
            let mut out = b"before".to_vec();
            encode(segment, effort, &mut out);
            out.strip_prefix(b"before").expect("what was there before")[0]
        };
        let efforts = [Effort::Fast, Effort::Default, Effort::Best];
        assert_eq!(efforts.map(|effort| coded(&long, effort)), [COUNTED, MODELLED, MIXED]);
        assert_eq!(efforts.map(|effort| coded(&short, effort)), [MODELLED, MODELLED, MIXED]);
    }

    #[test]
    fn segment_sizes_follow_the_runs() {
        assert_eq!(segment_log(&[], Effort::Default), 20);
        assert_eq!(segment_log(&random(1 << 20, 1), Effort::Default), 20);
        assert_eq!(segment_log(&vec![0; 1 << 22], Effort::Default), 25);
        let runs_of_64: Vec<u8> = (0..1 << 22).map(|i| (i / 64) as u8).collect();
        assert_eq!(segment_log(&runs_of_64, Effort::Default), 24);
        assert_eq!(segment_log(&runs_of_64, Effort::Best), 25);
    }
}
