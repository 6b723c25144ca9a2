//! The LCP array, which of its rows are wanted, and its bytes for the way to the host: the host
//! side of `kernels/lcp/lcp_rows.cu`.

use crate::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_PACKED, LCP_SPLIT, THREADS};
use crate::gpu::runtime::{Array, Gpu};

/// CTAs of a multiprocessor that look for the longest.
const CTAS: u32 = 8;

/// The LCP array as it goes to the host.
#[derive(Clone, Copy)]
pub struct SplitLcp<'m> {
    /// Each value in a byte, or 255 where it is no less.
    pub bytes: Array<'m, u8>,
    /// The values from 255 on. Those of a chunk of rows begin where it does.
    pub long: Array<'m, u32>,
    /// Where in their chunk those of each tile of rows begin, or `LCP_NO_VALUES`.
    pub starts: Array<'m, u32>,
    /// How many of them are of each chunk.
    pub counts: Array<'m, u32>,
}

/// Ends what suffixes have in common before bytes below `least`. `marks` has n words to work in.
#[allow(unsafe_code)]
pub fn end_at_breaks(
    gpu: &Gpu,
    cub: &Cub,
    text: Array<u8>,
    least: u8,
    marks: Array<u32>,
    ends: Array<u32>,
) -> Result<()> {
    let n = ends.len();
    assert!(text.len() >= n && marks.len() == n);
    let arguments = [text.into(), n.into(), u32::from(least).into(), marks.into()];
    // SAFETY: all three have n items.
    unsafe { gpu.each("lcp_rows/mark_breaks", n, &arguments)? };
    cub.inclusive_max(gpu, marks)?;
    // SAFETY: as above.
    unsafe { gpu.each("lcp_rows/end_at_breaks", n, &[marks.into(), n.into(), ends.into()]) }
}

/// Writes the LCP array from where each suffix ends to agree with the one before it.
#[allow(unsafe_code)]
pub fn lcp_of_rows(gpu: &Gpu, sa: Array<u32>, ends: Array<u32>, lcp: Array<u32>) -> Result<()> {
    let n = sa.len();
    assert!(ends.len() == n && lcp.len() == n);
    let arguments = [sa.into(), ends.into(), n.into(), lcp.into()];
    // SAFETY: all have n items, those of `sa` below n.
    unsafe { gpu.each("lcp_rows/lcp_of_rows", n, &arguments) }
}

/// Packs positions into 3 bytes each, four into three words.
#[allow(unsafe_code)]
pub fn pack_suffixes(gpu: &Gpu, sa: Array<u32>, words: Array<u32>) -> Result<()> {
    let n = sa.len();
    assert!(n <= LCP_PACKED && words.len() == 3 * n.div_ceil(4));
    // SAFETY: `sa` has n items, and `words` three for each four of them.
    unsafe {
        gpu.each("lcp_rows/pack_suffixes", n.div_ceil(4), &[sa.into(), n.into(), words.into()])
    }
}

/// Writes a chunk of the LCP array as it goes to the host, from where each suffix ends to agree
/// with the one before it. Its count is 0 at first.
#[allow(unsafe_code)]
pub fn split_lcp(
    gpu: &Gpu,
    sa: Array<u32>,
    ends: Array<u32>,
    split: SplitLcp,
    chunk: u32,
) -> Result<()> {
    let (n, SplitLcp { bytes, long, starts, counts }) = (sa.len(), split);
    assert!(ends.len() == n && bytes.len() == n && long.len() == n && chunk < counts.len());
    assert!(starts.len() == n.div_ceil(LCP_SPLIT) && counts.len() == n.div_ceil(LCP_CHUNK));
    let first = chunk * (LCP_CHUNK / LCP_SPLIT);
    let ctas = (starts.len() - first).min(LCP_CHUNK / LCP_SPLIT);
    let arguments = [
        sa.into(),
        ends.into(),
        n.into(),
        bytes.into(),
        long.into(),
        starts.into(),
        counts.into(),
        first.into(),
    ];
    // SAFETY: the arrays have n items, those of `sa` below n, and one for each tile and each chunk.
    unsafe { gpu.launch("lcp_rows/split_lcp", ctas, THREADS, &arguments) }
}

/// Finds the largest LCP of suffixes on both sides of the position `border`; 0 where there is none.
#[allow(unsafe_code)]
pub fn longest_across(
    gpu: &Gpu,
    sa: Array<u32>,
    lcp: Array<u32>,
    border: u32,
    longest: Array<u32>,
) -> Result<()> {
    let n = sa.len();
    assert!(lcp.len() == n && longest.len() == 1);
    gpu.zero(longest)?;
    let ctas = n.div_ceil(THREADS).min(CTAS * gpu.processors());
    let arguments = [sa.into(), lcp.into(), n.into(), border.into(), longest.into()];
    // SAFETY: both arrays have n items, and `longest` one.
    unsafe { gpu.launch("lcp_rows/longest_across", ctas, THREADS, &arguments) }
}

/// Flags the rows that agree with a neighbour for at least `least` bytes, or as many as `longest`
/// says.
#[allow(unsafe_code)]
pub fn mark_rows(
    gpu: &Gpu,
    lcp: Array<u32>,
    least: u32,
    longest: Array<u32>,
    flags: Array<u8>,
) -> Result<()> {
    let n = lcp.len();
    assert!(flags.len() == n && longest.len() == 1);
    let arguments = [lcp.into(), n.into(), least.into(), longest.into(), flags.into()];
    // SAFETY: both arrays have n items, and `longest` one.
    unsafe { gpu.each("lcp_rows/mark_rows", n, &arguments) }
}
