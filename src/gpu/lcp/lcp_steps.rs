//! The LCP array of a text that is sorted: irreducible suffixes are compared, the others follow
//! from them in the order of the text, and the suffix array says where each belongs.
//!
//! Takes linear time beside comparing, which is O(n log n) at the worst, and 12 to 13 bytes per
//! suffix: less than sorting, whose memory it takes over. What the host gets of it is a byte for
//! each row and the few values that do not fit theirs, since the bus takes longer than the kernels.

use super::irreducible::{HeadLists, Heads, compare_heads};
use super::lcp_rows::{end_at_breaks, lcp_of_rows, longest_across, mark_rows, split_long};
use crate::error::Result;
use crate::gpu::interface::LcpRows;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::LCP_CHUNK;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu};

/// What a sort leaves on the device.
#[derive(Clone, Copy)]
pub struct TextOnGpu<'m> {
    /// n bytes and their padding.
    pub text: Array<'m, u8>,
    pub sa: Array<'m, u32>,
    /// The last column: n + 1 rows.
    pub rows: Array<'m, u8>,
}

/// The LCP array as it goes to the host.
#[derive(Clone, Copy)]
pub struct SplitLcp<'m> {
    /// Each value in a byte, or 255 where it is no less.
    pub bytes: Array<'m, u8>,
    /// The values from 255 on, in their order.
    pub long: Array<'m, u32>,
    /// How many of them are of each chunk of rows.
    pub counts: Array<'m, u32>,
}

/// The arrays of these steps.
pub struct LcpSteps<'m> {
    cub: Cub<'m>,
    lists: HeadLists<'m>,
    ends: Array<'m, u32>,
    lcp: Array<'m, u32>,
    longest: Array<'m, u32>,
    selected: Array<'m, u32>,
    counts: Array<'m, u32>,
}

impl<'m> LcpSteps<'m> {
    pub fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
        Ok(LcpSteps {
            cub: Cub::allocate(gpu, arena, n)?,
            lists: HeadLists::allocate(arena, n),
            ends: arena.array(n as usize),
            lcp: arena.array(n as usize),
            longest: arena.array(1),
            selected: arena.array(1),
            counts: arena.array(n.div_ceil(LCP_CHUNK) as usize),
        })
    }

    /// Queues the way to the LCP array; bytes below `least` end what is in common. The last column
    /// is no longer needed then.
    pub fn lcp(&self, gpu: &Gpu, sorted: TextOnGpu, least: u8) -> Result<Array<'m, u32>> {
        let TextOnGpu { text, sa, rows } = sorted;
        compare_heads(gpu, Heads { text, sa, rows }, &self.lists, self.ends)?;
        self.cub.inclusive_max(gpu, self.ends)?;
        if least > 0 {
            end_at_breaks(gpu, &self.cub, text, least, self.lcp, self.ends)?;
        }
        lcp_of_rows(gpu, sa, self.ends, self.lcp)?;
        Ok(self.lcp)
    }

    /// Queues the split of the LCP array. The text is no longer needed then either.
    pub fn split(&self, gpu: &Gpu, sorted: TextOnGpu<'m>) -> Result<SplitLcp<'m>> {
        let (lcp, long) = (self.lcp, self.ends);
        let n = lcp.len();
        let (bytes, flags) = (sorted.rows.first(n), sorted.text.first(n));
        split_long(gpu, lcp, bytes, flags, self.counts)?;
        self.cub.select(gpu, lcp, flags, long, self.selected)?;
        Ok(SplitLcp { bytes, long, counts: self.counts })
    }

    /// The rows of the LCP array that are wanted, and no others: their suffixes and values. Waits
    /// to know how many they are.
    pub fn select(
        &self,
        gpu: &Gpu,
        sorted: TextOnGpu,
        wanted: LcpRows,
    ) -> Result<[Array<'m, u32>; 2]> {
        let (n, sa) = (sorted.sa.len(), sorted.sa);
        let (least, border) = match wanted {
            LcpRows::AtLeast(least) => (least, 0),
            LcpRows::LongestAcross(border) => (0, border),
        };
        // Nothing lies before position 0.
        longest_across(gpu, sa, self.lcp, border, self.longest)?;
        let flags = sorted.rows.first(n);
        mark_rows(gpu, self.lcp, least, self.longest, flags)?;
        let (suffixes, lcp) = (self.ends, self.lists.spare());
        self.cub.select(gpu, sa, flags, suffixes, self.selected)?;
        self.cub.select(gpu, self.lcp, flags, lcp, self.selected)?;
        let count = gpu.read(self.selected)?[0];
        Ok([suffixes.first(count), lcp.first(count)])
    }
}
