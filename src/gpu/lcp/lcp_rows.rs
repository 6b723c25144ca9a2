//! Makes the LCP array, selects wanted rows, and packs values for the way to the host: the host
//! side of `kernels/lcp/lcp_rows.cu`.

use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_PACKED, LCP_SPLIT, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Number of CTAs per multiprocessor that write an LCP array and find its maximum.
const CTAS: u32 = 8;

/// The LCP array in its packed form for the host.
#[derive(Clone, Copy)]
pub(crate) struct SplitLcp<'m> {
    /// One byte per value, or 255 if the value is at least 255.
    pub bytes: Array<'m, u8>,
    /// The values of at least 255. Those of a chunk of rows begin at the chunk's first row.
    pub long: Array<'m, u32>,
    /// Start of each tile's values within those of its chunk, or `LCP_NO_VALUES`.
    pub starts: Array<'m, u32>,
    /// Number of long values in each chunk.
    pub counts: Array<'m, u32>,
}

/// Ends common prefixes before bytes below `least`. `marks` has n words of workspace.
#[allow(unsafe_code)]
pub(super) fn end_at_breaks(
    gpu: &Gpu,
    cub: &Cub,
    text: Array<u8>,
    least: u8,
    marks: Array<u32>,
    ends: Array<u32>,
) -> Result<()> {
    let n = ends.len();
    assert!(text.len() >= n && marks.len() == n);
    // SAFETY: all three have n items.
    unsafe {
        gpu.each(
            "lcp_rows/mark_breaks",
            n,
            arguments![text, n, u32::from(least), marks],
        )?
    };
    cub.inclusive_max(gpu, marks)?;
    // SAFETY: as above.
    unsafe { gpu.each("lcp_rows/end_at_breaks", n, arguments![marks, n, ends]) }
}

/// Ends of the common prefixes of suffixes and their predecessors, or their known lengths.
#[derive(Clone, Copy)]
pub(crate) struct CommonEnds<'m> {
    /// For each position, the end of the common prefix that begins there.
    pub ends: Array<'m, u32>,
    /// For each row, the length of its common prefix, or 255 if `ends` has it.
    pub known: Option<Array<'m, u8>>,
}

impl CommonEnds<'_> {
    /// Device address of the known lengths of n rows; 0 if there are none.
    fn known(self, n: u32) -> u64 {
        assert!(self.ends.len() == n && self.known.is_none_or(|known| known.len() == n));
        self.known.map_or(0, Array::address)
    }
}

/// Writes the LCP array. Also finds the largest value between suffixes on both sides of the
/// position `border`; 0 if there is none.
#[allow(unsafe_code)]
pub(super) fn lcp_of_rows(
    gpu: &Gpu,
    sa: Array<u32>,
    common: CommonEnds,
    border: u32,
    lcp: Array<u32>,
    longest: Array<u32>,
) -> Result<()> {
    let n = sa.len();
    assert!(lcp.len() == n && longest.len() == 1);
    gpu.zero(longest)?;
    let ctas = n.div_ceil(THREADS).min(CTAS * gpu.processors());
    let ends = common.ends;
    let known = common.known(n);
    let arguments = arguments![sa, ends, known, n, border, lcp, longest];
    // SAFETY: the arrays have n items, those of `sa` are below n, and `longest` has one. `known`
    // may be 0.
    unsafe { gpu.launch("lcp_rows/lcp_of_rows", ctas, THREADS, arguments) }
}

/// Packs positions into 3 bytes each, so that three words hold four.
#[allow(unsafe_code)]
pub(super) fn pack_suffixes(gpu: &Gpu, sa: Array<u32>, words: Array<u32>) -> Result<()> {
    let n = sa.len();
    assert!(n <= LCP_PACKED && words.len() == 3 * n.div_ceil(4));
    // SAFETY: `sa` has n items, and `words` has three for each four of them.
    unsafe {
        gpu.each(
            "lcp_rows/pack_suffixes",
            n.div_ceil(4),
            arguments![sa, n, words],
        )
    }
}

/// Writes the LCP array in its packed form for the host.
#[allow(unsafe_code)]
pub(super) fn split_lcp(
    gpu: &Gpu,
    sa: Array<u32>,
    common: CommonEnds,
    split: SplitLcp,
) -> Result<()> {
    let n = sa.len();
    let SplitLcp {
        bytes,
        long,
        starts,
        counts,
    } = split;
    assert!(bytes.len() == n && long.len() == n);
    assert!(starts.len() == n.div_ceil(LCP_SPLIT) && counts.len() == n.div_ceil(LCP_CHUNK));
    gpu.zero(counts)?;
    let ends = common.ends;
    let known = common.known(n);
    let arguments = arguments![sa, ends, known, n, bytes, long, starts, counts];
    // SAFETY: the arrays have n items, those of `sa` are below n, or one for each tile and each
    // chunk. `known` may be 0.
    unsafe { gpu.launch("lcp_rows/split_lcp", starts.len(), THREADS, arguments) }
}

/// Flags the rows that share at least `least` bytes with a neighbour, and at least `longest` bytes.
#[allow(unsafe_code)]
pub(super) fn mark_rows(
    gpu: &Gpu,
    lcp: Array<u32>,
    least: u32,
    longest: Array<u32>,
    flags: Array<u8>,
) -> Result<()> {
    let n = lcp.len();
    assert!(flags.len() == n && longest.len() == 1);
    // SAFETY: both arrays have n items, and `longest` has one.
    unsafe {
        gpu.each(
            "lcp_rows/mark_rows",
            n,
            arguments![lcp, n, least, longest, flags],
        )
    }
}
