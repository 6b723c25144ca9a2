//! Plain data that goes into the GPU code and comes out of it. A build without CUDA has it too
//! (`absent`).

use crate::error::{Error, Result};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest block that a GPU sorts, by [`Algorithm::Default`]: positions have 32 bits there, and
/// the largest number stands for none.
pub const MOST_SORTED: u32 = u32::MAX - 1;

/// The largest block that a GPU sorts otherwise, codes or restores: positions have 31 bits there.
pub const MOST_BYTES: u32 = i32::MAX as u32;

/// The largest block that a GPU searches: 32 bits count its rows, and the bytes and the counters up
/// to the end of its last line, which are some hundred more.
pub const MOST_SEARCHED: u32 = u32::MAX - 1024;

/// The CUDA version and the architectures of the kernels in this build.
#[derive(Debug)]
pub struct Built {
    /// Version of the compiler.
    pub cuda: &'static str,
    /// Compute capabilities with machine code, such as 90 for 9.0.
    pub archs: &'static [u32],
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, as in `cuda:0`.
    pub number: u32,
    /// Its name, as the driver has it.
    pub name: String,
    /// Its memory in bytes.
    pub memory: u64,
    /// Its compute capability.
    pub capability: (u32, u32),
}

/// How suffixes are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Whatever is fastest: coded symbols, then ranks of chosen positions; or as `SkewPd`, block by
    /// block.
    #[default]
    Default,
    /// Prefix doubling, each group sorted by its size.
    Ls,
    /// The skew algorithm, with recursion.
    Skew,
    /// The skew algorithm, with prefix doubling in place of recursion.
    SkewPd,
}

impl Algorithm {
    /// All of them with their names.
    pub const ALL: [(&'static str, Algorithm); 4] = [
        ("default", Algorithm::Default),
        ("ls", Algorithm::Ls),
        ("skew", Algorithm::Skew),
        ("skew-pd", Algorithm::SkewPd),
    ];

    /// The largest block that it sorts.
    pub fn most_bytes(self) -> u32 {
        if self == Algorithm::Default { MOST_SORTED } else { MOST_BYTES }
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, algorithm)| algorithm)
            .ok_or_else(|| Error::Usage("it is none of default, ls, skew and skew-pd".into()))
    }
}

/// What comes out of a sort; `bwt::Bwt` says what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedBlock {
    /// The last column without the sentinel.
    pub bytes: Vec<u8>,
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: Vec<u32>,
}

/// [`SortedBlock`], in the memory of the sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortedBlockView<'a> {
    /// The last column without the sentinel.
    pub bytes: &'a [u8],
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: &'a [u32],
}

/// How the last sort went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// When it began, was copied to the device, was sorted and was copied back.
    pub times: Option<[Instant; 4]>,
    /// Bytes of device memory in use.
    pub memory: usize,
    /// Milliseconds on the device from the copied block to its transform, without copies.
    pub milliseconds: f32,
    /// Suffixes left to sort after each round.
    pub rounds: Vec<u32>,
}

/// What comes out where several GPUs sort a text; `bwt::Bwt` says what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedText {
    /// The last column without the sentinel.
    pub bytes: Vec<u8>,
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: Vec<u64>,
}

/// How the last sort by several GPUs went.
#[derive(Clone, Debug, Default)]
pub struct JointReport {
    /// From the text to its rows in pinned memory, of the GPU that took longest.
    pub whole: Duration,
    /// The same without copies from and to the host.
    pub sorting: Duration,
    /// What all GPUs have sent to others, and the most time that one of them spent on it.
    pub transferred: Transferred,
    /// Bytes of device memory in use on all of them.
    pub memory: usize,
    /// Suffixes left to sort after each round; by accelerated sampling, the symbols of the string
    /// of each level that all of them sort.
    pub left: Vec<u64>,
}

impl JointReport {
    /// Adds the report of one of the GPUs.
    pub fn add(&mut self, other: &JointReport) {
        self.whole = self.whole.max(other.whole);
        self.sorting = self.sorting.max(other.sorting);
        self.transferred.bytes += other.transferred.bytes;
        self.transferred.time = self.transferred.time.max(other.transferred.time);
        self.transferred.copying = self.transferred.copying.max(other.transferred.copying);
        self.memory += other.memory;
        self.left.clone_from(&other.left);
    }
}

/// What a GPU has sent to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Bytes of words.
    pub bytes: u64,
    /// How long that took, from the first send until all was received, copies from and to the host
    /// not among it.
    pub time: Duration,
    /// The same without the wait for those that came later to the exchange. NCCL does not tell
    /// the two apart, so that with it both are the same.
    pub copying: Duration,
}

/// The rows of an LCP array that are wanted: those that agree with the row before or behind for so
/// many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpRows {
    /// At least so many, and at least 1.
    AtLeast(u32),
    /// As many as the longest of those have of which one lies before this position and one does
    /// not, and at least 1.
    LongestAcross(u32),
}

/// Rows of a suffix array and its LCP array, in the memory of a sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LcpView<'a> {
    /// Positions of suffixes.
    pub suffixes: &'a [u32],
    /// What each has in common with the one before it.
    pub lcp: &'a [u32],
}

/// How the last text went that was sorted for its LCP array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LcpReport {
    /// Milliseconds on the device to sort it, without copies.
    pub sorting: f32,
    /// The same from there to the LCP array, and its rows that are wanted.
    pub lcp: f32,
    /// Bytes of device memory in use.
    pub memory: usize,
}

/// Values whose range minima are asked for, and of those of an LCP array the row of each position.
#[derive(Clone, Copy, Debug)]
pub struct MinimaArrays<'a> {
    /// What no others of this process have.
    pub id: u64,
    /// The values.
    pub values: &'a [u32],
    /// The rows, or none.
    pub rows: &'a [u32],
}

/// The arrays of an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexArrays<'a> {
    /// What no other index of this process has; it ends with the index.
    pub id: &'a Arc<()>,
    /// Bytes of the block.
    pub len: usize,
    /// The primary index.
    pub primary: u32,
    /// The first row of each byte, and the number of rows.
    pub starts: &'a [u32; 257],
    /// Of each byte, its code or its column of counters; 255 where it has none.
    pub codes: &'a [u8; 256],
    /// Absolute counters.
    pub supers: &'a [u32],
    /// What they are relative to.
    pub rank: RankArrays<'a>,
    /// The intervals of short strings, if there are any.
    pub kmers: Option<KmerArrays<'a>>,
}

/// The layout of the transform.
#[derive(Clone, Copy, Debug)]
pub enum RankArrays<'a> {
    /// Bit planes of 4, 8 or 16 symbols.
    BitSliced {
        /// How many planes: 2, 3 or 4.
        planes: usize,
        /// 16 words for each line.
        lines: &'a [u32],
        /// The symbol of each code.
        symbols: &'a [u8; 16],
        /// The places of all symbols without a code, ascending.
        places: &'a [u32],
        /// The symbol at each of them.
        rare_symbols: &'a [u8],
        /// The same places, those of one symbol together.
        by_symbol: &'a [u32],
        /// Where those of each symbol end there.
        ends: &'a [u32; 256],
    },
    /// The bytes, with counters at borders.
    Bytes {
        /// The transform.
        bytes: &'a [u8],
        /// How far into its line the first byte lies.
        skew: usize,
        /// Lines from border to border, as a power of two.
        log: usize,
        /// Counters of a border.
        stride: usize,
        /// Counters of all borders.
        counters: &'a [u16],
    },
}

/// The intervals of all strings of `length` frequent symbols.
#[derive(Clone, Copy, Debug)]
pub struct KmerArrays<'a> {
    /// Symbols of a string.
    pub length: usize,
    /// Frequent symbols.
    pub sigma: usize,
    /// Of each byte, its digit; 255 where it is not frequent.
    pub codes: &'a [u8; 256],
    /// Both ends for each string.
    pub intervals: &'a [[u32; 2]],
}

/// The sampled rows of an index.
#[derive(Clone, Copy, Debug)]
pub struct SampleArrays<'a> {
    /// The distance between sampled positions.
    pub rate: u32,
    /// A bit for each row.
    pub marks: &'a [u64],
    /// How many are marked above each 512 rows.
    pub ranks: &'a [u32],
    /// Of each marked row, which sample it is.
    pub numbers: &'a [u32],
}
