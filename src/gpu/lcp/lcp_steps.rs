//! Makes the LCP array of a sorted text. Only irreducible suffixes, which begin a run of the last
//! column, are compared. The values of the others follow from these in the order of the text, and
//! the suffix array tells the row of each.
//!
//! If most suffixes differ from their predecessors in the first bytes, these bytes are compared for
//! all rows first. Then only rows that agree for longer are treated as above.
//!
//! Time: linear, plus comparisons of O(n log n) at the worst. Memory: 13 to 17 bytes per suffix,
//! which is less than sorting needs, and lies in the memory of the sort. The host gets one byte per
//! row, the few values that do not fit into a byte, and 3 bytes per position if they fit, since the
//! bus takes longer than the kernels.

use super::irreducible::{FirstBytes, HeadLists, Heads, begin_heads, finish_heads};
use super::lcp_rows::{
    CommonEnds, SplitLcp, end_at_breaks, lcp_of_rows, mark_rows, pack_suffixes, split_lcp,
};
use crate::base::error::Result;
use crate::gpu::interface::LcpRows;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::IrreducibleArgs;
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_PACKED, LCP_SPLIT};
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu};

/// Result of a sort on the device.
#[derive(Clone, Copy)]
pub(crate) struct TextOnGpu<'m> {
    /// The text: n bytes and their padding.
    pub text: Array<'m, u8>,
    pub sa: Array<'m, u32>,
    /// The last column: n + 1 rows.
    pub rows: Array<'m, u8>,
    /// True if most suffixes are expected to differ soon from their predecessors. This changes the
    /// time, but not the result.
    pub differs_soon: bool,
    /// A common prefix ends before a byte below this.
    pub least: u8,
}

/// The suffix array in its form for the host.
#[derive(Clone, Copy)]
pub(crate) enum SuffixRows<'m> {
    /// One word per position.
    Words(Array<'m, u32>),
    /// Three words for every four positions.
    Packed(Array<'m, u32>),
}

/// The wanted rows, at the front of arrays that have room for all.
#[derive(Clone, Copy)]
pub(crate) struct SelectedRows<'m> {
    pub suffixes: Array<'m, u32>,
    pub lcp: Array<'m, u32>,
    /// Number of wanted rows.
    pub count: Array<'m, u32>,
}

/// Arrays of these steps.
pub(crate) struct LcpSteps<'m> {
    cub: Cub<'m>,
    lists: HeadLists<'m>,
    ends: Array<'m, u32>,
    lcp: Array<'m, u32>,
    /// One byte per row: its known length, and later the byte that goes to the host.
    bytes: Array<'m, u8>,
    longest: Array<'m, u32>,
    selected: Array<'m, u32>,
    starts: Array<'m, u32>,
    counts: Array<'m, u32>,
    /// Positions packed into 3 bytes each; empty if they take 4 bytes.
    packed: Array<'m, u32>,
}

impl<'m> LcpSteps<'m> {
    pub(crate) fn allocate(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, n: u32) -> Result<Self> {
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
            packed: arena.array(if n <= LCP_PACKED {
                3 * n.div_ceil(4) as usize
            } else {
                0
            }),
        })
    }

    /// Queues the first steps.
    pub(crate) fn begin(&self, gpu: &Gpu, sorted: TextOnGpu) -> Result<IrreducibleArgs> {
        let TextOnGpu {
            text,
            sa,
            rows,
            differs_soon,
            least,
        } = sorted;
        let first = differs_soon.then_some(FirstBytes {
            known: self.bytes,
            least,
        });
        begin_heads(gpu, Heads { text, sa, rows }, &self.lists, self.ends, first)
    }

    /// Waits for the first steps, and queues the search for the ends of all common prefixes whose
    /// lengths are not known.
    pub(crate) fn compare(
        &self,
        gpu: &Gpu,
        begun: IrreducibleArgs,
        sorted: TextOnGpu,
    ) -> Result<CommonEnds<'m>> {
        finish_heads(gpu, begun, &self.lists)?;
        self.cub.inclusive_max(gpu, self.ends)?;
        if sorted.least > 0 {
            end_at_breaks(
                gpu,
                &self.cub,
                sorted.text,
                sorted.least,
                self.lcp,
                self.ends,
            )?;
        }
        Ok(CommonEnds {
            ends: self.ends,
            known: sorted.differs_soon.then_some(self.bytes),
        })
    }

    /// Queues the packing of the suffix array, if its positions fit into 3 bytes.
    pub(crate) fn pack(&self, gpu: &Gpu, sa: Array<'m, u32>) -> Result<SuffixRows<'m>> {
        if self.packed.len() == 0 {
            return Ok(SuffixRows::Words(sa));
        }
        pack_suffixes(gpu, sa, self.packed)?;
        Ok(SuffixRows::Packed(self.packed))
    }

    /// Queues the packing of the whole LCP array, after `compare`.
    pub(crate) fn split(
        &self,
        gpu: &Gpu,
        sa: Array<'m, u32>,
        common: CommonEnds,
    ) -> Result<SplitLcp<'m>> {
        let bytes = self.bytes;
        let long = self.lcp;
        let split = SplitLcp {
            bytes,
            long,
            starts: self.starts,
            counts: self.counts,
        };
        split_lcp(gpu, sa, common, split)?;
        Ok(split)
    }

    /// Queues the selection of the wanted rows.
    pub(crate) fn select(
        &self,
        gpu: &Gpu,
        sorted: TextOnGpu,
        wanted: LcpRows,
    ) -> Result<SelectedRows<'m>> {
        let n = sorted.sa.len();
        let sa = sorted.sa;
        let begun = self.begin(gpu, sorted)?;
        let common = self.compare(gpu, begun, sorted)?;
        let (least, border) = match wanted {
            LcpRows::AtLeast(least) => (least, 0),
            LcpRows::LongestAcross(border) => (0, border),
        };
        let longest = self.longest;
        lcp_of_rows(gpu, sa, common, border, self.lcp, longest)?;
        let flags = sorted.rows.first(n);
        mark_rows(gpu, self.lcp, least, longest, flags)?;
        let suffixes = self.ends;
        let lcp = self.lists.spare();
        let count = self.selected;
        self.cub.select(gpu, sa, flags, suffixes, count)?;
        self.cub
            .select(gpu, self.lcp, flags, lcp, count)?;
        Ok(SelectedRows {
            suffixes,
            lcp,
            count,
        })
    }
}
