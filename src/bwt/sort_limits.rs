//! Which blocks the CPU sorts in which way: the usual limits, and the lowest ones, with which tests
//! and fuzzing sort blocks of any kind. And the error of all ways where memory is short.

use crate::error::Error;
use crate::positions::NarrowLimits;

/// The blocks that are sorted by way of a text without their long runs.
#[derive(Clone, Copy, Debug)]
pub struct LongRunLimits {
    /// Shorter blocks are not: their sort takes less time than 2^16 buckets.
    pub min_len: usize,
    /// Runs of so many bytes are long.
    pub long: usize,
    /// The shorter text is at most one in so many bytes of the block.
    pub share: usize,
    /// There is at most one long run for so many bytes.
    pub apart: usize,
}

impl LongRunLimits {
    /// With these there are less than 6 bytes per byte: the block, its transform, 6 for each of the
    /// half that is left, and for each run and each sample in one 8 to 80.
    pub const USUAL: LongRunLimits =
        LongRunLimits { min_len: 1 << 18, long: 32, share: 2, apart: 256 };

    /// Nearly all blocks, whatever they are like.
    pub const LOWEST: LongRunLimits = LongRunLimits { min_len: 1, long: 2, share: 1, apart: 1 };
}

/// The blocks that are sorted by prefix-free parsing.
#[derive(Clone, Copy, Debug)]
pub struct ParsingLimits {
    /// Shorter blocks are not.
    pub min_len: usize,
    /// Of strings of two dozen bytes, one in so many or less may be different from all before.
    pub repeats: usize,
    /// The bytes between two phrases, on average, if the block has the usual amount of repeats.
    pub spacing: u32,
    /// The block has at most one phrase for so many bytes.
    pub phrase_share: usize,
    /// The dictionary has at most one byte for so many of the block: with a larger one this takes
    /// longer than libsais does.
    pub dictionary_share: usize,
    /// The squares of the lengths of different phrases sum up to at most so many times the length
    /// of the block. All suffixes of a phrase are compared to their neighbours, so this bounds the
    /// time.
    pub squares: usize,
}

impl ParsingLimits {
    /// With these there are less than 6 bytes per byte: the block, its BWT, 12 for each phrase, 5
    /// for each byte of the dictionary, and what libsais takes to sort large alphabets.
    pub const USUAL: ParsingLimits = ParsingLimits {
        min_len: 1 << 20,
        repeats: 4,
        spacing: 8,
        phrase_share: 6,
        dictionary_share: 4,
        squares: 64,
    };

    /// Nearly all blocks, whatever they are like and however long that takes.
    pub const LOWEST: ParsingLimits = ParsingLimits {
        min_len: 1,
        squares: usize::MAX,
        phrase_share: 1,
        dictionary_share: 0,
        ..ParsingLimits::USUAL
    };
}

/// The blocks that are cut and merged.
#[derive(Clone, Copy, Debug)]
pub struct MergeLimits {
    /// Blocks that are shorter are not cut.
    pub min_len: usize,
    /// Blocks with more samples than one in so many rows are not cut: each takes a search.
    pub min_rate: u32,
    /// Overlaps have up to one in so many of the bytes of the block.
    pub overlap_share: usize,
    /// The suffixes of A that are followed from a start of their own.
    pub lane_len: usize,
    /// Larger blocks are cut even for one thread.
    pub narrow: NarrowLimits,
    /// Blocks that are cut for that reason need no fewer samples than the index's usual.
    pub wide_min_rate: u32,
}

impl MergeLimits {
    /// Shorter blocks take a few hundredths of a second as they are.
    pub const USUAL: MergeLimits = MergeLimits {
        min_len: 2 << 20,
        min_rate: 1 << 12,
        overlap_share: 256,
        lane_len: 1 << 13,
        narrow: NarrowLimits::USUAL,
        wide_min_rate: 1 << 8,
    };

    /// Nearly all blocks, whatever they are like.
    pub const LOWEST: MergeLimits = MergeLimits {
        min_len: 16,
        min_rate: 2,
        overlap_share: 8,
        lane_len: 4,
        narrow: NarrowLimits::USUAL,
        wide_min_rate: 2,
    };
}

/// There is not enough memory to sort a block, in whatever way.
pub fn no_memory() -> Error {
    Error::out_of_memory(
        "to sort a block, which takes 6 times its size, or up to 10 \
         times where it is above 2 GiB",
    )
}
