//! BWT merge: sorts one block on several threads, by merging the BWTs of its two parts.
//!
//! The text is A B. The suffixes of B do not depend on A, so B is sorted alone. The suffixes of A
//! are compared beyond the end of A, so A is sorted together with the first few bytes of B, the
//! overlap. If no string that starts in A equals these bytes, no comparison goes further. `split`
//! finds the shortest such overlap, or another place to cut. Both parts can be cut again, for more
//! threads.
//!
//! Merging needs the rank of each suffix of A in B: the number of suffixes of B that are smaller.
//! Prefixing both sides with a symbol keeps their order. So the rank of a suffix follows from the
//! rank of the next shorter one by a step of backward search in the BWT of B (`suffix_ranks`, with
//! the counts of `lf_counts`). The ranks say how the rows of A and B interleave (`interleave`), and
//! `combine` puts the right number of bytes of A before each byte of B. No step depends on the
//! length of common prefixes: the time is O(n) for any data. The steps wait for memory. With the
//! BWT and the counts of the frequent symbols on huge pages and in few cache lines, two threads
//! take 11 to 15 ns for each suffix of A.
//!
//! P. Ferragina, T. Gagie and G. Manzini, *Lightweight data indexing and compression in external
//! memory*, Algorithmica 63, 2012 (LATIN 2010), merge the transforms of a long text's pieces like
//! this.
//!
//! | file | job |
//! |---|---|
//! | `split` | where to cut a block, and how long the overlap is |
//! | `lf_counts` | a BWT with counts, for steps of backward search |
//! | `suffix_ranks` | the rank in B of each suffix of A |
//! | `interleave` | ranks -> the order in which the rows of A and B interleave |
//! | `combine` | two BWTs and their interleave -> one BWT |
//!
//! Memory: 6 bytes per byte, as on one thread. While the parts are sorted, this is the block, two
//! transforms and two workspaces. While they are merged, it is at most 5 1/2: the block, two
//! transforms, 1 byte for the ranks, and first up to 2 1/2 for the counts of B, then 1 for the
//! merged transform. The overlap adds 6 bytes for each of its bytes. It is at most 1/40 of the
//! block, and mostly nothing.

mod combine;
mod interleave;
mod lf_counts;
mod split;
mod suffix_ranks;

use super::Bwt;
use super::sort_limits::MergeLimits;
use crate::base::error::Error;

/// Sorts a block on up to `threads` threads. The result is that of `sort_on_one_thread`, which
/// sorts on one thread.
pub(crate) fn sort<F>(
    block: &[u8],
    sample_rate: u32,
    threads: usize,
    limits: MergeLimits,
    sort_on_one_thread: F,
) -> Result<Bwt, Error>
where
    F: Fn(&[u8], u32) -> Result<Bwt, Error> + Copy + Sync,
{
    // Parts that fit in 31 bits take less memory than a sort of the whole block.
    let wide = block.len() > limits.narrow.sorted;
    let min_rate = if wide {
        limits.wide_min_rate
    } else {
        limits.min_rate
    };
    let worth_it =
        (threads > 1 || wide) && block.len() >= limits.min_len && sample_rate >= min_rate;
    let split = if worth_it {
        split::find(block, sample_rate as usize, limits)
    } else {
        None
    };
    let Some(split) = split else {
        return sort_on_one_thread(block, sample_rate);
    };
    let sort_part =
        |part: &[u8], threads| sort(part, sample_rate, threads, limits, sort_on_one_thread);
    let (a, b) = rayon::join(
        || sort_part(&block[..split.at + split.overlap], threads.div_ceil(2)),
        || sort_part(&block[split.at..], threads / 2),
    );
    match block.len() <= limits.narrow.others {
        true => combine::combine::<u32>(block, split, a?, &b?, limits),
        false => combine::combine::<u64>(block, split, a?, &b?, limits),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CpuSorter, cases, naive};
    use super::*;
    use crate::base::positions::NarrowLimits;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Sorts with merging and without, on each of the pools. Returns true if the block was cut.
    fn check(name: &str, block: &[u8], sample_rate: u32, limits: MergeLimits) -> bool {
        let expected = CpuSorter::new()
            .sort_on_one_thread(block, sample_rate)
            .unwrap();
        check_against(&expected, name, block, limits)
    }

    fn check_against(expected: &Bwt, name: &str, block: &[u8], limits: MergeLimits) -> bool {
        let mut parts = 0;
        for threads in [2, 3, 8] {
            let sorted_alone = AtomicUsize::new(0);
            let on_one_thread = |part: &[u8], rate| {
                sorted_alone.fetch_add(1, Ordering::Relaxed);
                CpuSorter::new().sort_on_one_thread(part, rate)
            };
            let sorted = sort(block, expected.sample_rate, threads, limits, on_one_thread).unwrap();
            let rate = expected.sample_rate;
            assert!(
                sorted == *expected,
                "{name}, rate {rate}, {threads} threads"
            );
            parts += sorted_alone.into_inner();
        }
        parts > 3
    }

    #[test]
    fn sorts_as_the_oracle_does() {
        for pool in naive::pools() {
            for (name, block) in naive::blocks() {
                for rate in [2, 8, 64, 1024, 1 << 30] {
                    let expected = naive::sort(&block, rate);
                    for narrow in [NarrowLimits::USUAL, NarrowLimits::LOWEST] {
                        let limits = MergeLimits {
                            narrow,
                            ..MergeLimits::LOWEST
                        };
                        pool.install(|| check_against(&expected, &name, &block, limits));
                    }
                }
            }
        }
    }

    #[test]
    fn sorts_small_alphabets_as_on_one_thread() {
        let mut tried = 0;
        let mut cut = 0;
        let source = cases::random(1 << 20, 1 << 16);
        let mut sizes = source.iter().map(|&b| usize::from(b)).cycle();
        for round in 0..3000 {
            let len = 16 + sizes.next().unwrap() * if round % 9 == 0 { 16 } else { 1 };
            let alphabet = [1, 2, 3, 4, 7, 16, 64, 256][sizes.next().unwrap() % 8];
            let start = (round * 7919 + sizes.next().unwrap()) % ((1 << 20) - len);
            let spread = |&b: &u8| (usize::from(b) % alphabet * (255 / alphabet.min(255))) as u8;
            let mut block: Vec<u8> = source[start..start + len]
                .iter()
                .map(spread)
                .collect();
            // Copies make long matches: within A, within B, between A and B, and across the cut.
            for _ in 0..round % 4 {
                let copied = 1 + sizes.next().unwrap() % (len / 2);
                let from = sizes.next().unwrap() * 7;
                let to = sizes.next().unwrap() * 13;
                let from = from % (len - copied);
                let to = to % (len - copied);
                block.copy_within(from..from + copied, to);
            }
            let rate = 2 << (sizes.next().unwrap() % 5);
            let lane_len = 1 << (sizes.next().unwrap() % 6);
            let narrow = [NarrowLimits::USUAL, NarrowLimits::LOWEST][round % 2];
            let limits = MergeLimits {
                lane_len,
                narrow,
                ..MergeLimits::LOWEST
            };
            tried += 1;
            cut += usize::from(check(&format!("round {round}"), &block, rate, limits));
        }
        assert!(cut > tried / 3, "{cut} of {tried}");
    }

    #[test]
    fn sorts_shapes_as_on_one_thread() {
        for size in [4_000, 70_000, 300_000] {
            for (name, block) in cases::shapes(size) {
                if !block.is_empty() {
                    let limits = MergeLimits {
                        overlap_share: 64,
                        lane_len: 256,
                        ..MergeLimits::LOWEST
                    };
                    check(&name, &block, 1024, limits);
                }
            }
        }
    }

    #[test]
    fn sorts_parts_of_other_symbols() {
        let low = cases::random(40_000, 100);
        let high = cases::random(40_000, 100);
        let high: Vec<u8> = high.iter().map(|&b| b + 100).collect();
        for block in [[&low[..], &high].concat(), [&high[..], &low].concat()] {
            assert!(check(
                "parts",
                &block,
                1024,
                MergeLimits {
                    lane_len: 256,
                    ..MergeLimits::LOWEST
                }
            ));
        }
    }
}
