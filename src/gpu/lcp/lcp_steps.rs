//! The LCP array of a text that is sorted: irreducible suffixes are compared, the others follow
//! from them in the order of the text, and the suffix array says where each belongs.
//!
//! Takes linear time beside comparing, which is O(n log n) at the worst, and 12 to 16 bytes per
//! suffix: less than sorting, whose memory it takes over. What the host gets of it is a byte for
//! each row and the few values that do not fit theirs, and 3 bytes for a position where that does,
//! since the bus takes longer than the kernels.

use super::irreducible::{HeadLists, Heads, begin_heads, finish_heads};
use super::lcp_rows::{
    SplitLcp, end_at_breaks, lcp_of_rows, longest_across, mark_rows, pack_suffixes, split_lcp,
};
use crate::error::Result;
use crate::gpu::interface::LcpRows;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::IrreducibleArgs;
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_PACKED, LCP_SPLIT};
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

/// The suffix array as it goes to the host.
#[derive(Clone, Copy)]
pub enum SuffixRows<'m> {
    /// A word for each.
    Words(Array<'m, u32>),
    /// Three words for each four.
    Packed(Array<'m, u32>),
}

/// The arrays of these steps.
pub struct LcpSteps<'m> {
    cub: Cub<'m>,
    lists: HeadLists<'m>,
    ends: Array<'m, u32>,
    lcp: Array<'m, u32>,
    longest: Array<'m, u32>,
    selected: Array<'m, u32>,
    starts: Array<'m, u32>,
    counts: Array<'m, u32>,
    /// Empty where positions take 4 bytes.
    packed: Array<'m, u32>,
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
            starts: arena.array(n.div_ceil(LCP_SPLIT) as usize),
            counts: arena.array(n.div_ceil(LCP_CHUNK) as usize),
            packed: arena.array(if n <= LCP_PACKED { 3 * n.div_ceil(4) as usize } else { 0 }),
        })
    }

    /// Queues the first steps.
    pub fn begin(&self, gpu: &Gpu, sorted: TextOnGpu) -> Result<IrreducibleArgs> {
        let TextOnGpu { text, sa, rows } = sorted;
        begin_heads(gpu, Heads { text, sa, rows }, &self.lists, self.ends)
    }

    /// Waits for these and queues the way to where all suffixes end to agree with those before
    /// them; bytes below `least` end what is in common. The last column is no longer needed then.
    pub fn compare(
        &self,
        gpu: &Gpu,
        begun: IrreducibleArgs,
        (text, least): (Array<u8>, u8),
    ) -> Result<()> {
        finish_heads(gpu, begun, &self.lists)?;
        self.cub.inclusive_max(gpu, self.ends)?;
        if least > 0 {
            end_at_breaks(gpu, &self.cub, text, least, self.lcp, self.ends)?;
        }
        Ok(())
    }

    /// Queues the suffix array in fewer bytes, where it fits.
    pub fn pack(&self, gpu: &Gpu, sa: Array<'m, u32>) -> Result<SuffixRows<'m>> {
        if self.packed.len() == 0 {
            return Ok(SuffixRows::Words(sa));
        }
        pack_suffixes(gpu, sa, self.packed)?;
        Ok(SuffixRows::Packed(self.packed))
    }

    /// Queues all of the LCP array as it goes to the host, behind `compare`. `made` is called for
    /// each chunk that is queued.
    pub fn split(
        &self,
        gpu: &Gpu,
        sorted: TextOnGpu<'m>,
        mut made: impl FnMut(usize) -> Result<()>,
    ) -> Result<SplitLcp<'m>> {
        let bytes = sorted.rows.first(sorted.sa.len());
        let split = SplitLcp { bytes, long: self.lcp, starts: self.starts, counts: self.counts };
        gpu.zero(self.counts)?;
        for chunk in 0..self.counts.len() {
            split_lcp(gpu, sorted.sa, self.ends, split, chunk)?;
            made(chunk as usize)?;
        }
        Ok(split)
    }

    /// The rows of the LCP array that are wanted, and no others: their suffixes and values. Waits
    /// to know how many they are.
    pub fn select(
        &self,
        gpu: &Gpu,
        (sorted, least): (TextOnGpu, u8),
        wanted: LcpRows,
    ) -> Result<[Array<'m, u32>; 2]> {
        let (n, sa) = (sorted.sa.len(), sorted.sa);
        self.compare(gpu, self.begin(gpu, sorted)?, (sorted.text, least))?;
        lcp_of_rows(gpu, sa, self.ends, self.lcp)?;
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
