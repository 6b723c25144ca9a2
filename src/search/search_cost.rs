//! Estimated cost of a search on disk, which decodes the slices that it needs, and in memory, for
//! which the block is decoded first. The choice between the two depends only on these estimates.
//!
//! Estimates are in nanoseconds of one thread. A search is assumed to find its pattern, which takes
//! longest. So a search estimated to be cheaper on disk is cheaper there. If there is memory to
//! keep the slices, both ways decode a slice once. The choice then depends on the cost of building
//! the index in memory and the cost of all queries to slices.

use crate::coder::Coding;

/// Decoding a coded byte of static rANS. A run takes 7 ns.
const DECODE_STATIC: f64 = 20.0;
/// Decoding a coded byte of context mixing. A run takes a hundred times as long as in static rANS.
const DECODE_MIXING: f64 = 1500.0;

/// Adding a byte to an FM-index, and touching new memory for the byte and the index.
const INDEX: f64 = 4.0;

/// Restoring a byte of a block whose slices are decoded.
const RESTORE: f64 = 10.0;

/// One query to a slice: it is sorted among others and counts up to 4 KiB.
const QUERY: f64 = 300.0;

/// Reading a slice and starting to decode it.
const SLICE: f64 = 10_000.0;

/// Factor by which walks must be estimated cheaper than restoring the block: a wrong estimate is to
/// cost little.
const SURELY: f64 = 1.2;

/// Part of its bytes by which a decoded slice with its counts is larger.
const COUNTS: f64 = 0.25;

/// Number of steps of a search that the text does not save: those until the interval is one row,
/// and those that the comparison with the text costs.
const UNTIL_ALONE: usize = 32;

/// Bytes of text that are restored in the time of one step.
const RESTORED: u64 = 2;

/// The queries of a search to a block on disk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchWork {
    /// Number of queries to slices, two for each symbol of a pattern.
    pub queries: u64,
    /// Number of steps of the longest pattern or walk. In each step, slices that are not kept are
    /// decoded again.
    pub rounds: u64,
    /// Number of queries that each wait for the one before, while other threads are idle.
    pub serial: u64,
    /// Number of walks to a sampled row. The queries of a walk wait for each other too.
    pub walks: u64,
}

/// A way to get the text around some rows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkWay {
    /// Walks decode each slice when they come to it.
    SliceBySlice,
    /// All slices are decoded first, side by side.
    AllSlices,
    /// The whole block is restored.
    Restored,
}

/// A block that can be searched on disk or in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockCost {
    pub text_size: u64,
    pub slices: u64,
    pub coded_size: u64,
    pub coding: Coding,
    /// Bytes of memory for decoded slices.
    pub room: u64,
    pub threads: u64,
    /// The mean number of steps from a row to a sampled one.
    pub steps_to_sample: u64,
}

impl BlockCost {
    /// Cost of decoding all slices.
    fn decode_all(&self) -> f64 {
        let byte = match self.coding {
            Coding::StaticRans => DECODE_STATIC,
            Coding::ContextMixing => DECODE_MIXING,
        };
        self.coded_size as f64 * byte
    }

    /// Returns true if work pays on disk. `spent` is the estimated cost of earlier work there. Work
    /// that needs few slices always pays, since there may be too little memory to decode the block.
    pub(crate) fn pays_on_disk(&self, work: SearchWork, spent: f64) -> bool {
        self.asks_few(work) || spent + self.on_disk(work) < self.in_memory()
    }

    /// Returns true if the work needs no more slices than the block has. A query of a walk counts
    /// twice, since nothing else is decoded at the same time.
    pub(crate) fn asks_few(&self, work: SearchWork) -> bool {
        work.queries
            .saturating_add(self.serial(work).saturating_mul(2))
            <= self.slices
    }

    /// Returns true if ranges of `size` bytes in all are read on disk rather than from the restored
    /// block. Their walks advance side by side and take less memory.
    pub(crate) fn pays_for_ranges(&self, size: u64, ranges: u64) -> bool {
        let work = SearchWork {
            serial: size,
            walks: ranges,
            ..SearchWork::default()
        };
        if self.coding == Coding::ContextMixing {
            return self.asks_few(work);
        }
        let slice = SLICE + self.decode_all() / self.slices.max(1) as f64;
        let restored = self.decode_all() + self.text_size as f64 * RESTORE;
        self.serial(work) as f64 * (slice + QUERY) < restored
    }

    /// The cheapest way for walks of `steps` steps in all, by `threads` threads. Slices are kept as
    /// far as there is room. Those of a walk are decoded one after the other, unless all are
    /// decoded beforehand; `are_decoded` says that they are.
    pub(crate) fn walks(&self, steps: u64, threads: u64, are_decoded: bool) -> WalkWay {
        let slices = self.slices.max(1) as f64;
        let steps = steps as f64;
        let threads = threads.max(1) as f64;
        let size = self.text_size as f64;
        let slice = SLICE + (self.decode_all() + size * INDEX) / slices;
        let kept = (self.room as f64 / size.max(1.0)).min(1.0);
        let different = slices * (1.0 - (-steps / slices).exp());
        let one_by_one = (kept * different + (1.0 - kept) * steps) * slice;
        let all = match self.room as f64 >= size * (1.0 + COUNTS) {
            true if are_decoded => 0.0,
            true => slices * slice / threads,
            false => f64::INFINITY,
        };
        // One thread inverts the transform of a block.
        let restored = self.decode_all() / threads + size * RESTORE;
        if (one_by_one.min(all) + steps * QUERY) * SURELY >= restored {
            WalkWay::Restored
        } else if all < one_by_one {
            WalkWay::AllSlices
        } else {
            WalkWay::SliceBySlice
        }
    }

    /// Returns true if `rows` rows are located by walks from all samples, not from each row.
    pub(crate) fn is_swept(&self, rows: u64) -> bool {
        rows.saturating_mul(self.steps_to_sample) > self.text_size
    }

    /// The work of locating `rows` rows.
    pub(crate) fn locating(&self, rows: u64) -> SearchWork {
        let queries = rows
            .saturating_mul(self.steps_to_sample)
            .min(self.text_size);
        SearchWork {
            queries,
            rounds: 2 * self.steps_to_sample,
            ..SearchWork::default()
        }
    }

    /// Number of queries that each wait for the one before.
    fn serial(&self, work: SearchWork) -> u64 {
        work.serial
            .saturating_add(work.walks.saturating_mul(self.steps_to_sample))
    }

    /// Cost of decoding the block and building its index.
    fn in_memory(&self) -> f64 {
        self.decode_all() + self.text_size as f64 * INDEX
    }

    /// Cost of the work on disk.
    pub(crate) fn on_disk(&self, work: SearchWork) -> f64 {
        let slices = self.slices.max(1) as f64;
        let queries = work.queries as f64;
        let kept = (self.room as f64 / self.text_size.max(1) as f64).min(1.0);
        // Expected number of distinct slices needed, if each query goes to a random slice.
        let different = slices * (1.0 - (-queries / slices).exp());
        let anew = queries.min(slices * work.rounds as f64);
        let slice = SLICE + self.decode_all() / slices;
        let shared = (kept * different + (1.0 - kept) * anew) * slice + queries * QUERY;
        let threads = self.threads.min(self.slices).max(1) as f64;
        // Each step of a search waits for one slice, at most once for each slice of the block.
        let chain = work.rounds.min(self.slices) as f64 * slice * threads;
        shared.max(chain) + self.serial(work) as f64 * (slice + QUERY) * threads
    }
}

/// Returns true if patterns of `symbols` symbols pay for the index in memory of a block of
/// `text_size` bytes, whatever its coding. With that many symbols, a search on disk would decode
/// all slices too.
pub(super) fn surely_in_memory(symbols: u64, text_size: u64) -> bool {
    2.0 * symbols as f64 * QUERY >= text_size as f64 * INDEX
}

/// Number of steps that the block's text saves for a pattern that occurs `count` times in it. A
/// pattern that does not occur saves none: its search mostly ends before the interval is one row.
pub(super) fn saved_by_text(pattern: &[u8], count: u64) -> u64 {
    if count == 1 {
        pattern.len().saturating_sub(UNTIL_ALONE) as u64
    } else {
        0
    }
}

/// Returns true if restoring a block for its text pays. `saved` is the number of steps that the
/// text would have saved so far. `come` is the number of symbols of patterns that have come, and
/// `expected` the number of all; the latter may be the size of a file that holds more than
/// patterns. If `expected` is 0, as many symbols are assumed to come as have come. A wrong guess
/// costs one restoration of the block.
pub(super) fn text_pays(text_size: u64, saved: u64, come: u64, expected: u64) -> bool {
    let to_come = if expected == 0 {
        come
    } else {
        expected.saturating_sub(come)
    };
    let saved = u128::from(saved) * u128::from(to_come) / u128::from(come.max(1));
    saved >= u128::from(text_size / RESTORED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of DNA, with memory for all of its slices.
    fn dna(text_size: u64) -> BlockCost {
        let slices = text_size.div_ceil(60_000);
        let coded_size = text_size / 4;
        let coding = Coding::StaticRans;
        let threads = 4;
        let room = u64::MAX;
        BlockCost {
            text_size,
            slices,
            coded_size,
            coding,
            room,
            threads,
            steps_to_sample: 16,
        }
    }

    fn patterns(count: u64, len: u64) -> SearchWork {
        SearchWork {
            queries: 2 * count * len,
            rounds: len,
            ..SearchWork::default()
        }
    }

    fn stays(block: BlockCost, work: SearchWork) -> bool {
        block.pays_on_disk(work, 0.0)
    }

    #[test]
    fn few_patterns_stay_on_disk_and_many_do_not() {
        for text_size in [8 << 20, 300 << 20, 3_100_000_000] {
            assert!(
                stays(dna(text_size), patterns(text_size >> 20, 60)),
                "{text_size}"
            );
            assert!(
                !stays(dna(text_size), patterns(text_size >> 9, 60)),
                "{text_size}"
            );
        }
        assert!(stays(dna(3_100_000_000), patterns(2000, 100)));
        assert!(!stays(dna(8 << 20), patterns(2_000_000, 100)));
    }

    #[test]
    fn what_is_surely_done_in_memory_does_not_stay_on_disk() {
        for text_size in [1 << 20, 300 << 20, 3_100_000_000] {
            let count = (1..)
                .map(|n| 1 << n)
                .find(|&n| surely_in_memory(n * 60, text_size))
                .unwrap();
            assert!(!stays(dna(text_size), patterns(count, 60)), "{text_size}");
            assert!(!surely_in_memory(count * 60 / 4, text_size), "{text_size}");
        }
    }

    #[test]
    fn slices_that_are_not_kept_are_decoded_again() {
        let all = dna(300 << 20);
        let little = BlockCost {
            room: 1 << 20,
            ..all
        };
        assert!(stays(all, patterns(1000, 60)) && !stays(little, patterns(1000, 60)));
        assert!(stays(little, patterns(10, 60)));
        // A few longer patterns are no more work, as far as the cache is concerned.
        assert!(little.on_disk(patterns(1000, 60)) > 10.0 * all.on_disk(patterns(1000, 60)));
    }

    #[test]
    fn what_one_thread_does_counts_for_all() {
        let block = dna(300 << 20);
        let walk = SearchWork {
            serial: 100,
            ..SearchWork::default()
        };
        let more = BlockCost {
            threads: 16,
            ..block
        };
        // One pattern in a small block takes longer than decoding the block on many threads.
        let small = BlockCost {
            threads: 16,
            ..dna(8 << 20)
        };
        assert!(stays(dna(16 << 20), patterns(1, 100)) && !stays(small, patterns(1, 100)));
        assert!(more.on_disk(walk) > 3.0 * block.on_disk(walk));
        assert!(more.in_memory() == block.in_memory());
    }

    #[test]
    fn short_ranges_are_read_on_disk() {
        let small = BlockCost {
            slices: 3000,
            ..dna(32 << 20)
        };
        assert!(small.pays_for_ranges(3000, 1) && !small.pays_for_ranges(1 << 20, 1));
        let large = dna(3_100_000_000);
        assert!(large.pays_for_ranges(40_000, 1) && !large.pays_for_ranges(40 << 20, 1));
        // One slice of context mixing takes longer than everything else.
        let mixing = BlockCost {
            coding: Coding::ContextMixing,
            ..small
        };
        assert!(mixing.pays_for_ranges(1000, 1) && !mixing.pays_for_ranges(3000, 1));
    }

    #[test]
    fn few_walks_go_slice_by_slice_and_many_restore_the_block() {
        let block = BlockCost {
            slices: 190,
            coded_size: 3_600_000,
            ..dna(32 << 20)
        };
        assert_eq!(block.walks(3, 1, false), WalkWay::SliceBySlice);
        assert_eq!(block.walks(600, 1, false), WalkWay::SliceBySlice);
        assert_eq!(block.walks(600, 4, false), WalkWay::AllSlices);
        assert_eq!(block.walks(600, 4, true), WalkWay::AllSlices);
        assert_eq!(block.walks(10_000_000, 4, true), WalkWay::Restored);
        let little_room = BlockCost {
            room: 32 << 20,
            ..block
        };
        assert_ne!(little_room.walks(600, 4, false), WalkWay::AllSlices);
    }

    #[test]
    fn the_text_pays_when_enough_is_still_to_come() {
        assert!(saved_by_text(&[b'A'; 100], 1) > 0);
        assert_eq!(saved_by_text(&[b'A'; 100], 2) + saved_by_text(b"AC", 1), 0);
        let pays = |saved, come, expected| text_pays(1000 * RESTORED, saved, come, expected);
        // A tenth of all patterns has come.
        assert!(pays(120, 100, 1000) && !pays(100, 100, 1000));
        // All patterns have come.
        assert!(!pays(5000, 1000, 1000) && !pays(5000, 1001, 1000));
        // The number of patterns is not known.
        assert!(pays(1000, 100, 0) && !pays(999, 100, 0) && !pays(0, 0, 0));
    }

    #[test]
    fn batches_add_up_but_few_patterns_always_stay() {
        let block = dna(300 << 20);
        let most = patterns(9000, 60);
        assert!(block.pays_on_disk(most, 0.0));
        assert!(!block.pays_on_disk(most, block.in_memory()));
        assert!(block.pays_on_disk(patterns(10, 60), 10.0 * block.in_memory()));
    }
}
