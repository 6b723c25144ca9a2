//! The LCP array of a text that is sorted: irreducible suffixes are compared, the others follow
//! from them in the order of the text, and the suffix array says where each belongs.
//!
//! Where most suffixes differ from those before them in their first bytes, these are compared of
//! all, and only what goes on is treated so.
//!
//! Takes linear time beside comparing, which is O(n log n) at the worst, and 13 to 17 bytes per
//! suffix: less than sorting, whose memory it takes over. What the host gets of it is a byte for
//! each row and the few values that do not fit theirs, and 3 bytes for a position where that does,
//! since the bus takes longer than the kernels.

use super::irreducible::{FirstBytes, HeadLists, Heads, begin_heads, finish_heads};
use super::lcp_rows::{
    CommonEnds, SplitLcp, end_at_breaks, lcp_of_rows, mark_rows, pack_suffixes, split_lcp,
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
    /// Whether most suffixes are taken to differ soon from those before them. What is made is the
    /// same, in another time.
    pub differs_soon: bool,
}

/// The suffix array as it goes to the host.
#[derive(Clone, Copy)]
pub enum SuffixRows<'m> {
    /// A word for each.
    Words(Array<'m, u32>),
    /// Three words for each four.
    Packed(Array<'m, u32>),
}

/// Rows that are wanted, and no others, at the front of arrays for all.
#[derive(Clone, Copy)]
pub struct SelectedRows<'m> {
    pub suffixes: Array<'m, u32>,
    pub lcp: Array<'m, u32>,
    /// How many they are.
    pub count: Array<'m, u32>,
}

/// The arrays of these steps.
pub struct LcpSteps<'m> {
    cub: Cub<'m>,
    lists: HeadLists<'m>,
    ends: Array<'m, u32>,
    lcp: Array<'m, u32>,
    /// A byte for each row: what is known of it, then what of its value goes to the host.
    bytes: Array<'m, u8>,
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
            bytes: arena.array(n as usize),
            longest: arena.array(1),
            selected: arena.array(1),
            starts: arena.array(n.div_ceil(LCP_SPLIT) as usize),
            counts: arena.array(n.div_ceil(LCP_CHUNK) as usize),
            packed: arena.array(if n <= LCP_PACKED { 3 * n.div_ceil(4) as usize } else { 0 }),
        })
    }

    /// Queues the first steps. Bytes below `least` end what is in common.
    pub fn begin(&self, gpu: &Gpu, sorted: TextOnGpu, least: u8) -> Result<IrreducibleArgs> {
        let TextOnGpu { text, sa, rows, differs_soon } = sorted;
        let first = differs_soon.then_some(FirstBytes { known: self.bytes, least });
        begin_heads(gpu, Heads { text, sa, rows }, &self.lists, self.ends, first)
    }

    /// Waits for these and queues the way to where all suffixes end to agree with those before
    /// them, as far as that is not known.
    pub fn compare(
        &self,
        gpu: &Gpu,
        begun: IrreducibleArgs,
        sorted: TextOnGpu,
        least: u8,
    ) -> Result<CommonEnds<'m>> {
        finish_heads(gpu, begun, &self.lists)?;
        self.cub.inclusive_max(gpu, self.ends)?;
        if least > 0 {
            end_at_breaks(gpu, &self.cub, sorted.text, least, self.lcp, self.ends)?;
        }
        Ok(CommonEnds { ends: self.ends, known: sorted.differs_soon.then_some(self.bytes) })
    }

    /// Queues the suffix array in fewer bytes, where it fits.
    pub fn pack(&self, gpu: &Gpu, sa: Array<'m, u32>) -> Result<SuffixRows<'m>> {
        if self.packed.len() == 0 {
            return Ok(SuffixRows::Words(sa));
        }
        pack_suffixes(gpu, sa, self.packed)?;
        Ok(SuffixRows::Packed(self.packed))
    }

    /// Queues all of the LCP array as it goes to the host, behind `compare`.
    pub fn split(&self, gpu: &Gpu, sa: Array<'m, u32>, common: CommonEnds) -> Result<SplitLcp<'m>> {
        let (bytes, long) = (self.bytes, self.lcp);
        let split = SplitLcp { bytes, long, starts: self.starts, counts: self.counts };
        split_lcp(gpu, sa, common, split)?;
        Ok(split)
    }

    /// Queues the selection of the rows that are wanted.
    pub fn select(
        &self,
        gpu: &Gpu,
        (sorted, least): (TextOnGpu, u8),
        wanted: LcpRows,
    ) -> Result<SelectedRows<'m>> {
        let (n, sa) = (sorted.sa.len(), sorted.sa);
        let begun = self.begin(gpu, sorted, least)?;
        let common = self.compare(gpu, begun, sorted, least)?;
        let (least, border) = match wanted {
            LcpRows::AtLeast(least) => (least, 0),
            LcpRows::LongestAcross(border) => (0, border),
        };
        let longest = self.longest;
        lcp_of_rows(gpu, sa, common, border, (self.lcp, longest))?;
        let flags = sorted.rows.first(n);
        mark_rows(gpu, self.lcp, least, longest, flags)?;
        let (suffixes, lcp, count) = (self.ends, self.lists.spare(), self.selected);
        self.cub.select(gpu, sa, flags, suffixes, count)?;
        self.cub.select(gpu, self.lcp, flags, lcp, count)?;
        Ok(SelectedRows { suffixes, lcp, count })
    }
}
