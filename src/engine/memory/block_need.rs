//! What one block needs of memory in each stage.

use crate::coder::Coding;

/// Bytes per raw byte of a block being sorted (itself, its BWT, 4 of workspace); restoring one
/// takes 5 (its BWT, 4 of table), and 1 that its samples may take. The filters come before and
/// after that and take no more: to take lines apart at most 6 (the block, its text, 4 of values),
/// to look for matches as many (the block, 4 3/4 of table while it is made, then 2 3/4 and matches;
/// what is kept to sort with is freed), to undo them 2 beside the table that is kept.
const WORKING: u64 = 6;

/// The same of a block that is sorted with positions in 64 bits: 8 of workspace. Most are cut in
/// parts and take 6, but which shows only then.
const SORTING_WIDE: u64 = 10;

/// The same of a block whose rows take 40 bits in the table that restores it.
const RESTORING_WIDE: u64 = 7;

/// The same of a block of which an index is made: its BWT and the index, which takes 3 at most,
/// with its samples in the room that its coded form had.
const INDEXING: u64 = 4;

/// Bytes per raw byte of a block that is being coded: raw and coded form, its BWT. In static rANS,
/// where there are as many runs as bytes, instead of the coded form its symbols, which take 4 and
/// are freed slice by slice.
const CODING: u64 = 3;
const CODING_STATIC: u64 = 6;

/// Bytes per raw byte of a block that is being decoded: raw and coded form, its BWT.
const DECODING: u64 = 3;

/// Bytes of each sample of a block that is indexed, in its transform, and as it comes from the
/// sorter or goes into the file.
const SAMPLE: u64 = 8 + 4;

/// What the inverse takes for counters: this per thread and block, but never more than two bytes
/// per byte.
const COUNTERS: u64 = 512 << 10;

/// Bytes that a block takes.
#[derive(Clone, Copy, Debug)]
pub struct BlockNeed {
    /// Per raw byte of one in its hard stage.
    working: u64,
    /// Per raw byte of one that is coded or decoded.
    pub coded: u64,
    /// The distance of samples besides, where there are many.
    sample_rate: Option<u32>,
}

impl BlockNeed {
    /// That of a block that is sorted, with positions in 64 bits where it is wide, and coded so.
    pub fn to_encode(wide: bool, coding: Coding, index: Option<u32>) -> Self {
        let coded = match coding {
            Coding::StaticRans => CODING_STATIC,
            Coding::ContextMixing => CODING,
        };
        let working = if wide { SORTING_WIDE } else { WORKING };
        // At rate 0 there are as few as without an index.
        BlockNeed { working, coded, sample_rate: index.filter(|&rate| rate > 0) }
    }

    /// The same where each is restored before it is written, while its text and its coded form are
    /// kept.
    pub fn checked(self) -> Self {
        let working = self.working + 2;
        BlockNeed { working, coded: working, ..self }
    }

    /// That of a block that is decoded, whatever its index.
    pub fn to_decode(wide: bool) -> Self {
        let working = if wide { RESTORING_WIDE } else { WORKING };
        BlockNeed { working, coded: DECODING, sample_rate: None }
    }

    /// That of a block that is decoded to be searched, but not restored.
    pub fn to_index() -> Self {
        BlockNeed { working: INDEXING, coded: DECODING, sample_rate: None }
    }

    /// What the samples take.
    pub fn samples(self, block: u64) -> u64 {
        self.sample_rate.map_or(0, |rate| (SAMPLE * block).div_ceil(rate.into()))
    }

    /// What the hard stage takes, with so many threads.
    pub fn working(self, block: u64, threads: usize) -> u64 {
        let counters = (COUNTERS * threads as u64).min(2 * block);
        self.working * block + counters + self.samples(block)
    }

    /// The largest block whose hard stage, and `more` bytes per byte, take no more than `left`.
    pub fn largest(self, left: u64, threads: usize, more: u64) -> u64 {
        let each = self.working + more;
        let large = self.fitting(left.saturating_sub(COUNTERS * threads as u64), each);
        large.max(self.fitting(left, each + 2))
    }

    /// The largest block that takes `each` byte per byte, and its samples.
    fn fitting(self, left: u64, each: u64) -> u64 {
        let Some(rate) = self.sample_rate.map(u128::from) else { return left / each };
        (u128::from(left) * rate / (u128::from(each) * rate + u128::from(SAMPLE))) as u64
    }
}
