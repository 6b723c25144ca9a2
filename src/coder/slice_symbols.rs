//! The encoder's first pass of static rANS: a slice -> its symbols, and their counts. FORMAT.md
//! chapter 14.
//!
//! The models are made from the counts of all slices of a block, so the symbols are kept until
//! `static_encoder` codes them. Cost: 9 ns per run, of which move-to-front takes half. Between the
//! passes a run takes 4 bytes, and each number with extra bits one more. No loop branches on extra
//! bits, since a processor would mispredict the branch for one run of six.

use super::context_tree::{CONTEXTS, OwnContexts, RANK_CONTEXTS, RANK_LEAVES, RUN_LEAVES};
use super::exp_golomb::{self, DIRECT};
use super::models::{SymbolCounts, extra_table, high_bits};
use super::mtf::{self, LONG, MtfStep, MtfSteps};
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::run_context::ModelState;
use crate::base::simd_dispatch::widest;
use std::sync::LazyLock;

/// A slice as its symbols, between the two passes of an encoder.
pub(super) struct SliceSymbols {
    pub runs: Vec<RunKey>,
    /// The numbers with extra bits: MTF ranks and run lengths, each less one. Run lengths are
    /// limited to [`LONG`].
    pub large_ranks: Vec<u8>,
    pub large_lens: Vec<u8>,
    /// The run lengths less one that are [`LONG`] or more.
    pub long: Vec<u32>,
    /// The bytes of the slice in the order of their first runs.
    pub list: Vec<u8>,
}

/// A run: its length in the lower half and its MTF rank in the upper half. Each half is 16 times
/// the leaf that it is coded by, plus its bucket, plus [`LARGE`] if it has extra bits.
pub(super) type RunKey = u32;
/// Bit of half a [`RunKey`] that says that there are extra bits.
pub(super) const LARGE: RunKey = 1 << 15;

impl SliceSymbols {
    /// Finds the symbols of a slice, and adds the number of occurrences of each to `counts`.
    pub(super) fn of(slice: &[u8], counts: &mut SymbolCounts) -> Self {
        let steps = mtf::encode(slice);
        widest!(
            symbols_of(
                steps: MtfSteps, counts: &mut SymbolCounts
            ) -> SliceSymbols
        )
    }
}

/// No vector instructions, but AVX2 processors have shifts of one instruction, which are used.
#[inline(always)]
fn symbols_of(steps: MtfSteps, counts: &mut SymbolCounts) -> SliceSymbols {
    let MtfSteps { steps, long, list } = steps;
    let runs = keys(&steps, &long);
    // In a loop of its own: in the loop of the contexts, the loads would wait for the addresses of
    // these stores.
    let by_run = counts.runs.as_flattened_mut();
    let by_rank = counts.ranks.as_flattened_mut();
    for &run in &runs {
        by_run[run as usize % (16 * RUN_LEAVES)] += 1;
        by_rank[(run >> 16) as usize % (16 * RANK_LEAVES)] += 1;
    }
    let large_ranks = large(steps.iter().map(|step| step.mtf_rank));
    let large_lens = large(steps.iter().map(|step| step.len));
    large_ranks
        .iter()
        .for_each(|&rank| count_extra(rank.into(), MtfRanks, counts));
    let short = large_lens
        .iter()
        .filter(|&&len| len < LONG)
        .map(|&len| len.into());
    let lens = short.chain(long.iter().copied());
    lens.for_each(|len| count_extra(len, RunLengths, counts));
    list.iter()
        .for_each(|&byte| counts.present[usize::from(byte)] = true);
    SliceSymbols {
        runs,
        large_ranks,
        large_lens,
        long,
        list,
    }
}

/// Parts of a [`RunKey`], by their sources.
struct KeyParts {
    /// As [`Contexts::own`](super::context_tree::Contexts), with 16 times the leaf of a run length.
    own: OwnContexts,
    /// By the context of an MTF rank.
    rank_leaves: [RunKey; RANK_CONTEXTS],
    /// By the run length less one.
    lens: [RunKey; 256],
    /// By the MTF rank less one.
    mtf_ranks: [RunKey; 256],
}

static KEY_PARTS: LazyLock<Box<KeyParts>> = LazyLock::new(|| {
    let bucket = |number: usize| {
        let large = if number < DIRECT { 0 } else { LARGE };
        exp_golomb::split(number as u32).bucket as RunKey | large
    };
    Box::new(KeyParts {
        own: CONTEXTS
            .own
            .map(|own| own & 0xffff_0000 | (own & 0xffff) << 4),
        rank_leaves: CONTEXTS
            .rank_leaves
            .map(|leaf| RunKey::from(leaf) << 20),
        lens: std::array::from_fn(bucket),
        mtf_ranks: std::array::from_fn(|rank| bucket(rank) << 16),
    })
});

#[inline(always)]
fn keys(steps: &[MtfStep], long: &[u32]) -> Vec<RunKey> {
    let parts = &**KEY_PARTS;
    let mut state = ModelState::new(&parts.own);
    let mut long = long.iter();
    let mut runs = vec![0; steps.len()];
    for (key, step) in runs.iter_mut().zip(steps) {
        let [run_leaf, rank_context] = state.contexts(step.byte);
        let len_key = run_leaf as RunKey | parts.lens[usize::from(step.len)];
        let rank_leaf = parts.rank_leaves[rank_context];
        *key = len_key | rank_leaf | parts.mtf_ranks[usize::from(step.mtf_rank)];
        let mut len = step.len;
        if len == LONG && long.next().is_some_and(|&len| len > LONG.into()) {
            len = 255;
        }
        state.add(step.byte, len, step.mtf_rank);
    }
    runs
}

/// The numbers that have extra bits.
#[inline(always)]
fn large(numbers: impl ExactSizeIterator<Item = u8>) -> Vec<u8> {
    let mut found = vec![0; numbers.len()];
    let mut count = 0;
    for number in numbers {
        // Written for every number; the count decides which stay.
        if let Some(room) = found.get_mut(count) {
            *room = number;
        }
        count += usize::from(number >= DIRECT as u8);
    }
    found[..count].to_vec()
}

/// Counts the highest extra bits of a number.
#[inline(always)]
fn count_extra(number: u32, stream: RansStream, counts: &mut SymbolCounts) {
    let split = exp_golomb::split(number);
    counts.extra[extra_table(stream, split.width)][high_bits(split)] += 1;
}
