//! BWT bytes <-> coded bytes, one segment at a time.
//!
//! A block's BWT is cut into segments of 2^[`segment_log`] bytes, which are coded independently:
//! many threads work at once, and a search decodes only the segments it needs. This module knows
//! neither blocks nor files. A segment is coded in one of three ways, by its [`Effort`], or stored
//! where that is not longer.
//!
//! Adaptive rANS, [`Effort::Default`], has these stages, one file each; only two bytes per run are
//! stored between them. Static rANS, [`Effort::Fast`], has tables counted ahead in place of the
//! adaptive models.
//!
//! ```text
//!   bytes -rle-> runs -mtf-> lengths and MTF ranks -exp_golomb-> buckets and extra bits
//!         -adaptive_models, by run_context-> slots -rans-> bytes
//! ```
//!
//! Context mixing, [`Effort::Best`], gives the smallest size. It has no move-to-front:
//!
//! ```text
//!   bytes -rle-> runs -symbol_tree-> binary symbols
//!         -logistic_mixer-> probabilities -range_coder-> bytes
//! ```
//!
//! # Cost
//!
//! All costs are per run. English has 2.3 bytes per run, DNA 1.4, markup 4 to 15, files full of
//! copies hundreds. Per run of English, on one core of a busy 3 GHz server:
//!
//! | effort             | encode | decode |
//! |--------------------|-------:|-------:|
//! | [`Effort::Fast`]   |  22 ns |  15 ns |
//! | [`Effort::Default`]|  31 ns |  25 ns |
//!
//! Decoding at the default effort takes some 300 instructions in 90 cycles per run. Its speed comes
//! from short chains of symbols that wait for another: run lengths and MTF ranks have a rANS state
//! each, and contexts do not need the run just decoded. A segment's models take 500 kB, of which
//! text touches a quarter, and stay in the L2 cache. An encoder needs two bytes per run and 600 kB
//! more, a decoder nothing more.
//!
//! The models of [`Effort::Best`] take 6 MB, of which text touches a fifth. Text has six or seven
//! binary symbols per run, each of 210 instructions, a quarter of which load and store estimates.
//! Half of the time is waiting, since the contexts of a binary symbol are known early only where
//! the processor predicts the one before.
//!
//! The measurements behind these choices are in `benches/results/2026-11-coder-notes.md`.
//!
//! # Sources
//!
//! Run lengths and MTF ranks through adaptive models by context are the way of libbsc's QLFC coder;
//! the contexts are moving averages in place of last values. Each file names its own sources. The
//! layout is chapter 13 of `format/FORMAT.md`.

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
mod simd_dispatch;
mod static_rans;
mod symbol_tree;

use crate::error::Flaw;
pub(crate) use rle::{count as count_runs, run_before, run_end};
pub(crate) use segments::{Task, current_pool, decode_segments_with, encode_segments_with};
pub use segments::{decode_segments, encode_segments, segment_log};

/// The first byte of a coded segment, its kind: its bytes follow as they are.
const STORED: u8 = 0;
/// Symbols and batches of runs follow.
const ADAPTIVE_RANS: u8 = 1;
/// Which bytes are present, their leaf weights, and then binary symbols follow.
const CONTEXT_MIXING: u8 = 2;
/// Symbols, frequency tables and one batch of runs follow.
const STATIC_RANS: u8 = 3;

const ENDS_EARLY: Flaw = Flaw("a segment's coded bytes end too early");
const LEFT_OVER: Flaw = Flaw("a segment's coded bytes do not end where its runs do");

/// Speed or size: how a BWT is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// The fastest: static rANS.
    Fast,
    /// The best trade of both: adaptive rANS.
    #[default]
    Default,
    /// The smallest: context mixing.
    Best,
}

/// The tables of static rANS are a tenth of a coded segment of so many runs. Shorter segments get
/// adaptive rANS, which is fast enough for them.
const STATIC_RUNS: usize = if cfg!(fuzzing) { 1 } else { 1 << 13 };

/// Whether decoding this segment takes the large models of [`Effort::Best`]: 6 MiB, where others
/// take less than 1.
pub fn needs_large_models(coded: &[u8]) -> bool {
    coded.first() == Some(&CONTEXT_MIXING)
}

/// The most bytes that [`encode`] appends for a segment of `n` bytes.
pub const fn max_coded_len(n: usize) -> usize {
    n + 1
}

/// Appends the coded form of `segment`, which has 1 to 2^30 bytes.
pub fn encode(segment: &[u8], effort: Effort, out: &mut Vec<u8>) {
    out.append(&mut encode_as(kind(segment, effort), segment));
}

/// The kind for `segment`.
fn kind(segment: &[u8], effort: Effort) -> u8 {
    match effort {
        Effort::Fast if rle::count(segment) >= STATIC_RUNS => STATIC_RANS,
        Effort::Fast | Effort::Default => ADAPTIVE_RANS,
        Effort::Best => CONTEXT_MIXING,
    }
}

/// `segment` coded as this kind, or stored where that is not shorter.
pub(crate) fn encode_as(kind: u8, segment: &[u8]) -> Vec<u8> {
    let coded = match kind {
        STATIC_RANS => static_rans::encode(segment),
        ADAPTIVE_RANS => adaptive_rans::encode(segment),
        _ => context_mixing::encode(segment),
    };
    match coded {
        Some(coded) => [&[kind], &coded[..]].concat(),
        None => [&[STORED], segment].concat(),
    }
}

/// Fills `out` with the segment whose coded form is all of `coded`.
///
/// Any input gives a segment or a [`Flaw`], in time that the length of `out` bounds. After a flaw
/// `out` may hold anything.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (kind, body) = coded.split_first().ok_or(Flaw("a segment has no coded bytes"))?;
    match *kind {
        STORED if body.len() == out.len() => {
            out.copy_from_slice(body);
            Ok(())
        }
        STORED => Err(Flaw("a stored segment has the wrong length")),
        ADAPTIVE_RANS => adaptive_rans::decode(body, out),
        STATIC_RANS => static_rans::decode(body, out),
        CONTEXT_MIXING => context_mixing::decode(body, out),
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

    const KINDS: [u8; 3] = [ADAPTIVE_RANS, CONTEXT_MIXING, STATIC_RANS];

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
        assert_eq!(
            efforts.map(|effort| coded(&long, effort)),
            [STATIC_RANS, ADAPTIVE_RANS, CONTEXT_MIXING]
        );
        assert_eq!(
            efforts.map(|effort| coded(&short, effort)),
            [ADAPTIVE_RANS, ADAPTIVE_RANS, CONTEXT_MIXING]
        );
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
