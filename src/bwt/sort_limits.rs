//! Limits that decide how the CPU sorts a block: the usual ones, and the lowest ones, with which
//! tests and fuzzing sort blocks of any kind by each method. Also the error of all methods if
//! memory is short.

use crate::base::error::Error;
use crate::base::positions::NarrowLimits;

/// Limits of the blocks that are sorted by prefix-free parsing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParsingLimits {
    /// Minimum size in bytes.
    pub min_len: usize,
    /// Minimum number of strings of two dozen bytes per distinct one.
    pub repeats: usize,
    /// Average number of bytes between two phrases, if the block has the usual amount of repeats.
    pub spacing: u32,
    /// Minimum number of bytes of the block per phrase.
    pub phrase_share: usize,
    /// Minimum number of bytes of the block per byte of the dictionary: a larger dictionary takes
    /// longer than libsais.
    pub dictionary_share: usize,
    /// Maximum sum of the squares of the lengths of different phrases, per byte of the block. All
    /// suffixes of a phrase are compared with their neighbours, so this bounds the time.
    pub squares: usize,
}

impl ParsingLimits {
    /// With these, memory is less than 6 bytes per byte: the block, its BWT, 12 for each phrase, 5
    /// for each byte of the dictionary, and the workspace that libsais needs for large alphabets.
    pub(crate) const USUAL: ParsingLimits = ParsingLimits {
        min_len: 1 << 20,
        repeats: 4,
        spacing: 8,
        phrase_share: 6,
        dictionary_share: 4,
        squares: 64,
    };

    /// Nearly all blocks of any kind, however long that takes.
    pub(crate) const LOWEST: ParsingLimits = ParsingLimits {
        min_len: 1,
        squares: usize::MAX,
        phrase_share: 1,
        dictionary_share: 0,
        ..ParsingLimits::USUAL
    };
}

/// Limits of the blocks that are cut and merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergeLimits {
    /// Minimum size in bytes of a block that is cut.
    pub min_len: usize,
    /// Minimum number of rows per sample: each sample takes a search.
    pub min_rate: u32,
    /// Minimum ratio of the block's size to that of an overlap.
    pub overlap_share: usize,
    /// Number of suffixes of A in a lane, which has a start of its own.
    pub lane_len: usize,
    /// Larger blocks are cut even for one thread.
    pub narrow: NarrowLimits,
    /// Value of `min_rate` for blocks that are cut because of `narrow`: the usual sample distance
    /// of an index.
    pub wide_min_rate: u32,
}

impl MergeLimits {
    /// Smaller blocks take a few hundredths of a second uncut.
    pub(crate) const USUAL: MergeLimits = MergeLimits {
        min_len: 2 << 20,
        min_rate: 1 << 12,
        overlap_share: 256,
        lane_len: 1 << 13,
        narrow: NarrowLimits::USUAL,
        wide_min_rate: 1 << 8,
    };

    /// Nearly all blocks of any kind.
    pub(crate) const LOWEST: MergeLimits = MergeLimits {
        min_len: 16,
        min_rate: 2,
        overlap_share: 8,
        lane_len: 4,
        narrow: NarrowLimits::USUAL,
        wide_min_rate: 2,
    };
}

/// The error if there is not enough memory to sort a block by any method.
pub(crate) fn no_memory() -> Error {
    Error::out_of_memory(
        "to sort a block, which takes 6 times its size, or up to 10 times if it is above 2 GiB",
    )
}
