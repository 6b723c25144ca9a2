//! BWT bytes <-> coded bytes, one slice at a time.
//!
//! A block's BWT is cut into slices, which are coded independently: many threads work in parallel,
//! and a search decodes only the slices that it needs. This module knows neither blocks nor files.
//! There are two codings; a slice that would not be shorter in its block's coding is stored.
//!
//! A *byte* is one of the BWT, here as in FORMAT.md. A *symbol* is the unit of an entropy coder: a
//! bucket, extra bits, a byte of the list, or 0 or 1 (a binary symbol). In `bwt` and `fm_index` a
//! symbol is one of the text, as in every book on them.
//!
//! Static rANS is the coding of [`Effort::Fast`] and [`Effort::Default`], on CPUs and GPUs. Its
//! tables are made from counts before coding and stored once per block:
//!
//! ```text
//!   bytes -rle-> runs -mtf-> lengths and MTF ranks -exp_golomb-> buckets and extra bits
//!         -run_context-> contexts -context_tree-> leaves -models-> slots -rans-> bytes
//! ```
//!
//! Context mixing, for [`Effort::Best`], gives the smallest size. It has no move-to-front:
//!
//! ```text
//!   bytes -rle-> runs -byte_tree-> binary symbols
//!         -logistic_mixer-> probabilities -range_coder-> bytes
//! ```
//!
//! A slice in static rANS is two states of 4 bytes and words of 2 bytes, which also code the list
//! of its bytes. A slice in context mixing is 32 bytes for the byte values present, half a byte for
//! each of these, and the output of the range coder. FORMAT.md decodes one of each by hand (14.9,
//! 15.9).
//!
//! | file | job |
//! |---|---|
//! | `slice_cuts`, `slices` | a BWT -> slices -> coded slices in parallel, and back |
//! | `rle`, `run_borders` | bytes <-> runs |
//! | `mtf`, `list_head` | runs <-> MTF ranks, by the list of the bytes of a slice |
//! | `exp_golomb` | lengths and ranks <-> buckets and extra bits |
//! | `run_context`, `context_tree` | contexts, and their classes |
//! | `slice_symbols`, `static_encoder` | encoding a slice in static rANS, in two passes |
//! | `static_rans` | decoding it |
//! | `models`, `default_tables`, `table_cost`, `frequency_table` | its tables, as they are stored |
//! | `rans`, `slot_search` | its entropy coder |
//! | `device_tables` | its tables in the form for a GPU |
//! | `context_mixing`, `byte_tree` | a slice in context mixing, both ways |
//! | `logistic_mixer`, `mixer_simd` | its probabilities |
//! | `range_coder`, `bit_models` | its entropy coder, which also codes models, tables and lists |
//!
//! # Cost
//!
//! All costs are per run. English has 2.3 bytes per run, DNA 1.4, markup 4 to 15, files full of
//! copies hundreds. The models of static rANS take 50 kB, of which text uses a third, and stay in
//! the L1 and L2 caches.
//!
//! The models of context mixing take 6 MB for each slice; 5 MB are estimates, of which text uses a
//! fifth. Text has six or seven binary symbols per run, each of 210 instructions, a quarter of
//! which load and store estimates. Half of the time is waiting: the contexts of a binary symbol are
//! known early only if the processor predicts the one before.
//!
//! The measurements behind these choices are in `benches/results/2026-11-static-coding.md` and
//! `benches/results/2026-11-coder-notes.md`.
//!
//! # Sources
//!
//! Coding run lengths and MTF ranks by context is the method of libbsc's QLFC coder; here the
//! contexts are moving averages instead of last values. Contexts share clustered tables as in
//! brotli and JPEG XL. Each file names its own sources. The layout is in chapters 11 and 13 to 15
//! of `format/FORMAT.md`.

mod bit_models;
mod byte_tree;
mod context_mixing;
mod context_tree;
mod default_tables;
#[cfg(feature = "cuda")]
pub(crate) mod device_tables;
mod exp_golomb;
mod frequency_table;
mod list_head;
mod logistic_mixer;
mod mixer_simd;
mod models;
mod mtf;
pub(crate) mod range_coder;
mod rans;
mod rle;
mod run_borders;
mod run_context;
mod slice_cuts;
mod slice_symbols;
mod slices;
mod slot_search;
mod static_encoder;
mod static_rans;
mod table_cost;

use crate::base::error::Flaw;
pub(crate) use bit_models::{BitTree, NumberModel};
pub(crate) use rle::{run_before, run_end};
pub(crate) use slice_cuts::SliceCuts;
pub use slice_cuts::SliceLimits;
pub use slices::{CodedBwt, SliceDecoder, decode_slices, encode_slices};
pub(crate) use slices::{decode_slices_on, encode_slices_on, static_cuts};

const ENDS_EARLY: Flaw = Flaw("coded bytes end too early");
const LEFT_OVER: Flaw = Flaw("a slice's coded bytes do not end with its runs");
const MODELS_LEFT_OVER: Flaw = Flaw("coded bytes are left over after the models of slices");

/// The trade-off of coding between speed and size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Like the default, but with slices half as long, or a quarter as long above 64 MiB. A block
    /// that is alone keeps more threads and GPUs busy, and is 0.1 to 0.8 % larger.
    Fast,
    /// The best trade-off between both.
    #[default]
    Default,
    /// The smallest size, by context mixing.
    Best,
}

/// The coding of all slices of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// By tables that are made from counts before coding.
    StaticRans = 0,
    /// By adaptive models, 6 MB for each slice.
    ContextMixing = 1,
}

impl From<Effort> for Coding {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Fast | Effort::Default => Coding::StaticRans,
            Effort::Best => Coding::ContextMixing,
        }
    }
}

/// Runs of a slice of sequences that are searched, at least.
const LEAST_RUNS: usize = 1 << 13;

impl SliceLimits {
    /// Limits for blocks of up to `block_size` bytes that are not searched.
    ///
    /// A slice starts with a coded list of its bytes and knows nothing of the runs before it, which
    /// costs some 60 bytes; large blocks have enough slices for all threads. A GPU decodes all
    /// slices of a block at once, and takes as long as the longest one needs.
    pub fn new(block_size: usize, effort: Effort) -> Self {
        let runs = match effort {
            Effort::Fast => 1 << 15,
            Effort::Default if block_size > 64 << 20 => 1 << 17,
            Effort::Default => 1 << 16,
            Effort::Best => 3 << 18,
        };
        SliceLimits {
            runs,
            bytes: 1 << 24,
        }
    }

    /// Limits for blocks that are searched. Each step of a search decodes one or two slices, which
    /// takes time per run; an index takes some 400 bytes for each slice.
    pub fn searched() -> Self {
        SliceLimits {
            runs: 5 << 13,
            bytes: 1 << 20,
        }
    }

    /// Limits for blocks that are searched by their sequences, in a text of `text_size` bytes.
    ///
    /// Few symbols make the index of a slice small, about 30 bytes. Each base of a region that is
    /// extracted takes a slice, since a step leads anywhere in the block. Slices are longer above
    /// 128 MiB of text, where the tables of short ones would take more than they save.
    pub fn of_sequences(text_size: usize) -> Self {
        let searched = Self::searched();
        let runs = (text_size >> 14).clamp(LEAST_RUNS, searched.runs);
        SliceLimits { runs, ..searched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random bytes by xorshift, the same on every machine.
    fn random(len: usize, mut seed: u64) -> Vec<u8> {
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 32) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    const CODINGS: [Coding; 2] = [Coding::StaticRans, Coding::ContextMixing];
    const ONE: SliceLimits = SliceLimits {
        runs: usize::MAX,
        bytes: usize::MAX,
    };

    /// Codes `bwt` in both codings, whole and in small slices, and returns it coded whole by static
    /// rANS.
    fn round_trip(bwt: &[u8]) -> CodedBwt {
        let [coded, _] = CODINGS.map(|coding| {
            round_trip_as(
                coding,
                bwt,
                SliceLimits {
                    runs: 1000,
                    bytes: 30_000,
                },
            );
            round_trip_as(coding, bwt, ONE)
        });
        coded
    }

    fn round_trip_as(coding: Coding, bwt: &[u8], limits: SliceLimits) -> CodedBwt {
        let coded = encode_slices(bwt, limits, coding);
        for (slice, &size) in coded.slices.iter().zip(&coded.raw_sizes) {
            assert!(!slice.is_empty() && slice.len() <= size as usize);
        }
        let decoder = SliceDecoder::new(coding, &coded.models).unwrap();
        let mut out = vec![0xee; bwt.len()];
        assert_eq!(
            decode_slices(&decoder, &coded.raw_sizes, &coded.slices, &mut out),
            Ok(())
        );
        assert!(out == bwt, "{} bytes came back changed", bwt.len());
        coded
    }

    /// One slice and its decoder.
    fn one(coding: Coding, slice: &[u8]) -> (SliceDecoder, Vec<u8>) {
        let mut coded = round_trip_as(coding, slice, ONE);
        (
            SliceDecoder::new(coding, &coded.models).unwrap(),
            coded.slices.remove(0),
        )
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
        // Each length takes some milliseconds, mostly for fresh models.
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
        let size = |bwt: &[u8]| round_trip(bwt).slices[0].len();
        assert_eq!(size(&random(5000, 1)), 5000);
        assert!(size(&runs(200_000, 2)) < 120_000);
        assert!(size(&vec![0; 5_000_000]) < 20);
    }

    #[test]
    fn models_of_little_data_are_small() {
        let models = |bwt: &[u8]| round_trip(bwt).models.len();
        assert!(models(b"a") < 20, "{}", models(b"a"));
        let text = models(&runs(3000, 1));
        assert!(text < 120, "{text}");
    }

    #[test]
    fn every_truncation_is_a_flaw() {
        let slice = runs(1500, 4);
        for (decoder, coded) in CODINGS.map(|coding| one(coding, &slice)) {
            let mut out = vec![0; slice.len()];
            for len in 0..coded.len() {
                assert!(decoder.decode(&coded[..len], &mut out).is_err(), "{len}");
            }
            assert!(
                decoder
                    .decode(&[&coded[..], &[0]].concat(), &mut out)
                    .is_err()
            );
            assert!(
                decoder
                    .decode(&[&coded[..], &[0; 2]].concat(), &mut out)
                    .is_err()
            );
        }
    }

    #[test]
    fn wrong_lengths_are_flaws() {
        let slice = runs(3000, 4);
        for (decoder, coded) in CODINGS.map(|coding| one(coding, &slice)) {
            // Not 3001: the last bits of a range coder may hold one likely run more.
            for len in [0, 1, 2999, 3020, 100_000] {
                assert!(decoder.decode(&coded, &mut vec![0; len]).is_err(), "{len}");
            }
        }
    }

    #[test]
    fn any_damage_is_survived() {
        let slice = runs(600, 6);
        let mut out = vec![0; slice.len()];
        for (decoder, coded) in CODINGS.map(|coding| one(coding, &slice)) {
            for bit in 0..coded.len() * 8 {
                let mut damaged = coded.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let _ = decoder.decode(&damaged, &mut out);
            }
            for seed in 1..1000 {
                let _ = decoder.decode(&random(40 + seed as usize % 400, seed), &mut out);
            }
        }
    }

    #[test]
    fn slices_of_sequences_are_short_and_not_too_many() {
        let runs = |text_size| SliceLimits::of_sequences(text_size).runs;
        assert_eq!(runs(0), LEAST_RUNS);
        assert_eq!(runs(128 << 20), LEAST_RUNS);
        assert_eq!(runs(256 << 20), 2 * LEAST_RUNS);
        assert_eq!(runs(1 << 40), SliceLimits::searched().runs);
    }

    #[test]
    fn slices_have_runs_alike() {
        let limits = SliceLimits {
            runs: 1000,
            bytes: 1 << 20,
        };
        let sizes = |bwt: &[u8]| encode_slices(bwt, limits, Coding::StaticRans).raw_sizes;
        let text = runs(50_000, 3);
        let mut rest = &text[..];
        let sizes_of_text = sizes(&text);
        let counts: Vec<usize> = sizes_of_text
            .iter()
            .map(|&size| rle::count(rest.split_off(..size as usize).unwrap()))
            .collect();
        assert!(
            rest.is_empty()
                && counts
                    .iter()
                    .all(|&count| count > 900 && count <= 1000)
        );
        assert_eq!(sizes(&vec![7; 5 << 19]), [1 << 20, 1 << 20, 1 << 19]);
    }
}
