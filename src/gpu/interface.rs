//! Plain data that goes into the GPU code and comes out of it. Builds without CUDA (`absent`) use
//! it too.

use crate::coder::CodedBwt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Largest block that a GPU sorts, in bytes. Positions have 32 bits, and the largest number means
/// "none".
pub const MOST_SORTED: u32 = u32::MAX - 1;

/// Largest block that a GPU codes, in bytes. The runs of a block are numbered in 32 bits, and a run
/// that is cut by the end of a slice has two numbers. This leaves room for a million slices.
pub const MOST_BYTES: u32 = u32::MAX - (1 << 20);

/// Largest block that a GPU inverts, in bytes. Above [`MOST_BYTES`] its rows have 64 bits, and a
/// link from node to node has 24 bits for a node.
pub const MOST_INVERTED: u64 = (1 << 34) - 1;

/// Largest block for which the host's memory is pinned while a GPU inverts it, in bytes. Pinning
/// more takes longer than copying by portions. The text of a larger block never stays on the GPU,
/// whose kernel for checksums has 32-bit lengths.
pub const MOST_PINNED: u64 = 1 << 30;

/// Largest text whose LCP array a GPU builds, or that it sorts by a published method of one GPU, in
/// bytes. Positions have 31 bits there.
pub const MOST_NARROW: u32 = i32::MAX as u32;

/// Largest block that a GPU searches, in bytes. The rows are counted in 32 bits, and so are the
/// bytes and counters up to the end of the last line, which are some hundred more.
pub const MOST_SEARCHED: u32 = u32::MAX - 1024;

/// A BWT that was encoded in parts.
#[derive(Debug)]
pub struct JointlyEncoded {
    /// All slices.
    pub coded: CodedBwt,
    /// Number of occurrences of each byte in the BWT.
    pub byte_counts: [u64; 256],
}

/// The CUDA version and the architectures of the kernels in this build.
#[derive(Debug)]
#[non_exhaustive]
pub struct Built {
    /// Version of the compiler.
    pub cuda: &'static str,
    /// Compute capabilities with machine code, such as 90 for 9.0.
    pub archs: &'static [u32],
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Device number, as in `cuda:0`.
    pub number: u32,
    /// Name that the driver reports.
    pub name: String,
    /// Device memory in bytes.
    pub memory: u64,
    /// Compute capability: major and minor version.
    pub capability: (u32, u32),
}

/// A sorted block. `bwt::Bwt` explains the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedBlock {
    /// The last column without the sentinel.
    pub bytes: Vec<u8>,
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: Vec<u32>,
}

/// [`SortedBlock`] borrowed from the memory of the sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortedBlockView<'a> {
    /// The last column without the sentinel.
    pub bytes: &'a [u8],
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: &'a [u32],
}

/// Statistics of the last sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Times at which the sort began, the block was on the device, the block was sorted, and the
    /// result was on the host.
    pub times: Option<[Instant; 4]>,
    /// Bytes of device memory in use.
    pub memory: usize,
    /// Milliseconds on the device from the copied block to its BWT, without copies.
    pub milliseconds: f32,
    /// Number of suffixes still unsorted after each round.
    pub rounds: Vec<u32>,
}

/// A text sorted by several GPUs. `bwt::Bwt` explains the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedText {
    /// The last column without the sentinel.
    pub bytes: Vec<u8>,
    /// The rows of the suffixes at multiples of the sample rate.
    pub samples: Vec<u64>,
}

/// Statistics of the last sort by several GPUs.
#[derive(Clone, Debug, Default)]
pub struct JointReport {
    /// Time from the text to its rows in pinned memory, of the slowest GPU.
    pub whole: Duration,
    /// Time of the sort without copies from and to the host, of the slowest GPU.
    pub sorting: Duration,
    /// Bytes that all GPUs have sent to others, and the longest time that one GPU spent on it.
    pub transferred: Transferred,
    /// Bytes of device memory in use on all GPUs.
    pub memory: usize,
    /// Number of suffixes still unsorted after each round. With accelerated sampling: number of
    /// symbols in the string of each level that all GPUs sort.
    pub left: Vec<u64>,
}

impl JointReport {
    /// Adds the report of one of the GPUs.
    pub fn add(&mut self, other: &JointReport) {
        self.whole = self.whole.max(other.whole);
        self.sorting = self.sorting.max(other.sorting);
        self.transferred.bytes += other.transferred.bytes;
        self.transferred.time = self.transferred.time.max(other.transferred.time);
        self.transferred.copying = self
            .transferred
            .copying
            .max(other.transferred.copying);
        self.memory += other.memory;
        self.left.clone_from(&other.left);
    }
}

/// Amount of data that a GPU has sent to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Bytes sent.
    pub bytes: u64,
    /// Time from the first send until everything was received, without copies from and to the host.
    pub time: Duration,
    /// Time of the transfers without the wait for GPUs that came later to the exchange. NCCL does
    /// not separate the two, so with NCCL this equals `time`.
    pub copying: Duration,
}

/// Selection of rows of an LCP array. A row's value here is the longer of the common prefixes with
/// the row before it and the row after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpRows {
    /// Rows whose common prefix has at least this many bytes, and at least 1.
    AtLeast(u32),
    /// Rows whose common prefix is as long as the longest between two suffixes of which one starts
    /// before this position and one does not, and at least 1.
    LongestAcross(u32),
}

/// Rows of a suffix array and its LCP array, in the memory of a sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LcpView<'a> {
    /// Positions of suffixes.
    pub suffixes: &'a [u32],
    /// Length of the common prefix of each suffix and the one before it.
    pub lcp: &'a [u32],
}

/// Statistics of the last text whose LCP array was built.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LcpReport {
    /// Milliseconds on the device to sort it, without copies.
    pub sorting: f32,
    /// Milliseconds on the device from the sorted text to the LCP array and its wanted rows.
    pub lcp: f32,
    /// Bytes of device memory in use.
    pub memory: usize,
}

/// Values for range-minimum queries. The values of an LCP array come with the row of each position.
#[derive(Clone, Copy, Debug)]
pub struct MinimaArrays<'a> {
    /// Number that no other values in this process have.
    pub id: u64,
    /// The values.
    pub values: &'a [u32],
    /// The row of each position, or empty.
    pub rows: &'a [u32],
}

/// Arrays of an FM-index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexArrays<'a> {
    /// Identity of the index in this process. The device copy is dropped once the index is gone.
    pub id: &'a Arc<()>,
    /// Number of bytes in the block.
    pub len: usize,
    /// The primary index.
    pub primary: u32,
    /// First row of each byte, and at the end the number of rows.
    pub starts: &'a [u32; 257],
    /// Code or column of counters of each byte; 255 if it has none.
    pub codes: &'a [u8; 256],
    /// Absolute counters.
    pub supers: &'a [u32],
    /// Rank structure; its counters are relative to `supers`.
    pub rank: RankArrays<'a>,
    /// Intervals of short strings, if the index has a k-mer table.
    pub kmers: Option<KmerArrays<'a>>,
}

/// Layout of the BWT.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RankArrays<'a> {
    /// Bit planes of 4, 8 or 16 symbols.
    BitSliced {
        /// Number of planes: 2, 3 or 4.
        planes: usize,
        /// 16 words per line.
        lines: &'a [u32],
        /// The symbol of each code.
        symbols: &'a [u8; 16],
        /// Positions of all symbols without a code, ascending.
        places: &'a [u32],
        /// The symbol at each of these positions.
        rare_symbols: &'a [u8],
        /// Positions of `places`, grouped by symbol.
        by_symbol: &'a [u32],
        /// End of each symbol's group in `by_symbol`.
        ends: &'a [u32; 256],
    },
    /// The bytes, with counters at fixed distances (at *borders*).
    Bytes {
        /// The BWT.
        bytes: &'a [u8],
        /// Offset of the first byte in its line.
        skew: usize,
        /// Logarithm of the number of lines between two borders.
        log: usize,
        /// Number of counters per border.
        stride: usize,
        /// Counters of all borders.
        counters: &'a [u16],
    },
}

/// K-mer table: the intervals of all strings of `length` frequent symbols.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KmerArrays<'a> {
    /// Number of symbols per string.
    pub length: usize,
    /// Number of frequent symbols.
    pub sigma: usize,
    /// Digit of each byte; 255 if it is not frequent.
    pub codes: &'a [u8; 256],
    /// Both ends of the interval of each string.
    pub intervals: &'a [[u32; 2]],
}

/// Sampled rows of an FM-index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleArrays<'a> {
    /// Distance between sampled positions.
    pub rate: u32,
    /// One bit per row, set if the row is sampled.
    pub marks: &'a [u64],
    /// Number of sampled rows before each group of 512 rows.
    pub ranks: &'a [u32],
    /// Number of the sample at each sampled row.
    pub numbers: &'a [u32],
}
