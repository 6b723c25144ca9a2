//! The memory that one block needs in each stage.

use crate::coder::Coding;

/// Bytes per raw byte of a block in its hard stage. Sorting takes 6: the block, its BWT, and 4 of
/// workspace. Restoring takes 5 (its BWT, and 4 of table), and its samples may take 1.
///
/// The filters come before and after that and take no more. Taking lines apart takes at most 6: the
/// block, its text, and 4 of values. Looking for matches takes at most 4: the block, and up to
/// 2 1/2 of positions while they are linked; then 1 and the matches. The memory kept for sorting is
/// freed before that. Undoing filters takes 2 beside the table that is kept.
const WORKING: u64 = 6;

/// Bytes per raw byte of a block that is sorted with positions of 64 bits: 8 of workspace. Most
/// such blocks are cut in parts and take 6, but that is known only when they are sorted.
const SORTING_WIDE: u64 = 10;

/// Bytes per raw byte of a block that is restored with a table of 40-bit rows.
const RESTORING_WIDE: u64 = 7;

/// Bytes per raw byte of a block that is indexed: its BWT, and the index, which takes at most 3.
/// Its samples take the memory of its coded form.
const INDEXING: u64 = 4;

/// Bytes per raw byte of a block that is being coded: raw form, coded form and BWT. In static rANS,
/// if there are as many runs as bytes, the symbols take 4 in place of the coded form. They are
/// freed slice by slice.
const CODING: u64 = 3;
const CODING_STATIC: u64 = 6;

/// Bytes per raw byte of a block that is being decoded: raw form, coded form and BWT.
const DECODING: u64 = 3;

/// Bytes per sample of an indexed block: once in its transform, and once as the sorter returns it
/// or as the file stores it.
const SAMPLE: u64 = 8 + 4;

/// Bytes per thread and block for the counters of the inverse. They never take more than two bytes
/// per raw byte of the block.
const COUNTERS: u64 = 512 << 10;

/// The bytes that a block needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockNeed {
    /// Per raw byte of a block in its hard stage.
    working: u64,
    /// Per raw byte of a block that is coded or decoded.
    pub coded: u64,
    /// The distance between samples, if there are many; their bytes are added.
    sample_rate: Option<u32>,
}

impl BlockNeed {
    /// The need of a block that is sorted and coded. `wide` means positions of 64 bits.
    pub(super) fn to_encode(wide: bool, coding: Coding, index: Option<u32>) -> Self {
        let coded = match coding {
            Coding::StaticRans => CODING_STATIC,
            Coding::ContextMixing => CODING,
        };
        let working = if wide { SORTING_WIDE } else { WORKING };
        // At rate 0 there are as few samples as without an index.
        BlockNeed {
            working,
            coded,
            sample_rate: index.filter(|&rate| rate > 0),
        }
    }

    /// The need of a block that is also restored before it is written, while its text and its coded
    /// form are kept.
    pub(super) fn checked(self) -> Self {
        let working = self.working + 2;
        BlockNeed {
            working,
            coded: working,
            ..self
        }
    }

    /// The need of a block that is decoded, with any index.
    pub(super) fn to_decode(wide: bool) -> Self {
        let working = if wide { RESTORING_WIDE } else { WORKING };
        BlockNeed {
            working,
            coded: DECODING,
            sample_rate: None,
        }
    }

    /// The need of a block that is decoded to be searched, and not restored.
    pub(super) fn to_index() -> Self {
        BlockNeed {
            working: INDEXING,
            coded: DECODING,
            sample_rate: None,
        }
    }

    /// The bytes of the samples.
    pub(super) fn samples(self, block: u64) -> u64 {
        self.sample_rate
            .map_or(0, |rate| (SAMPLE * block).div_ceil(rate.into()))
    }

    /// The bytes of the hard stage with `threads` threads.
    pub(super) fn working(self, block: u64, threads: usize) -> u64 {
        let counters = (COUNTERS * threads as u64).min(2 * block);
        self.working * block + counters + self.samples(block)
    }

    /// The largest block whose hard stage, with `more` extra bytes per raw byte, fits in `left`
    /// bytes.
    pub(super) fn largest(self, left: u64, threads: usize, more: u64) -> u64 {
        let each = self.working + more;
        let large = self.fitting(left.saturating_sub(COUNTERS * threads as u64), each);
        large.max(self.fitting(left, each + 2))
    }

    /// The largest block that fits in `left` bytes with `each` bytes per raw byte, and its samples.
    fn fitting(self, left: u64, each: u64) -> u64 {
        let Some(rate) = self.sample_rate.map(u128::from) else {
            return left / each;
        };
        (u128::from(left) * rate / (u128::from(each) * rate + u128::from(SAMPLE))) as u64
    }
}
