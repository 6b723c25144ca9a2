//! Rows on their way to the host: chunk by chunk through a few pieces of pinned memory, so that the
//! next chunks come while one is taken.

use crate::error::{Error, Result};
use crate::gpu::interface::LcpChunk;
use crate::gpu::lcp::SplitLcp;
use crate::gpu::runtime::tuning::LCP_CHUNK;
use crate::gpu::runtime::{Array, Gpu, PinnedBuffer};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::ops::Range;

/// Chunks that are on their way or taken.
const SLOTS: usize = 4;

/// Bytes of pinned memory for the rows of any text.
pub const PINNED: u64 = SLOTS as u64 * 5 * LCP_CHUNK as u64;

/// Who takes the rows.
pub type Receiver<'r> = dyn FnMut(LcpChunk) -> Result<()> + Send + 'r;

/// Pinned memory for a few chunks.
#[derive(Debug)]
pub struct RowChunks([ChunkSlot; SLOTS]);

#[derive(Debug)]
struct ChunkSlot {
    words: PinnedBuffer<u32>,
    bytes: PinnedBuffer<u8>,
    arrived: CudaEvent,
}

impl RowChunks {
    pub fn new(copies: &Gpu) -> Result<Self> {
        let slot = || -> Result<ChunkSlot> {
            let (words, bytes) = (PinnedBuffer::default(), PinnedBuffer::default());
            let arrived = copies.check(copies.context().new_event(Some(CU_EVENT_DEFAULT)))?;
            Ok(ChunkSlot { words, bytes, arrived })
        };
        Ok(RowChunks([slot()?, slot()?, slot()?, slot()?]))
    }

    /// Takes the memory for the rows of a text of n bytes, if that is not done yet.
    pub fn reserve(&mut self, copies: &Gpu, n: u32) -> Result<()> {
        let rows = n.min(LCP_CHUNK) as usize;
        for slot in self.0.iter_mut().take(n.div_ceil(LCP_CHUNK) as usize) {
            slot.words.reserve(copies, rows)?;
            slot.bytes.reserve(copies, rows)?;
        }
        Ok(())
    }

    /// Copies all of a suffix array.
    pub fn suffixes(&mut self, copies: &Gpu, sa: Array<u32>, receive: &mut Receiver) -> Result<()> {
        let n = sa.len();
        let queue = |slot: &mut ChunkSlot, rows: Range<u32>| {
            slot.words.download(copies, sa.part(rows.clone()), 0..rows.end - rows.start)
        };
        self.each(copies, n, queue, |slot, rows| {
            let suffixes = slot.words.first(rows.len());
            receive(LcpChunk::Suffixes { first: rows.start as usize, suffixes })
        })
    }

    /// Copies all of an LCP array, of which each chunk has so many long values.
    pub fn lcp(
        &mut self,
        copies: &Gpu,
        split: SplitLcp,
        counts: &[u32],
        receive: &mut Receiver,
    ) -> Result<()> {
        let n = split.bytes.len();
        let ends: Option<Vec<u32>> = counts
            .iter()
            .scan(0_u32, |end, &count| {
                *end = end.saturating_add(count);
                Some((count <= LCP_CHUNK && *end <= n).then_some(*end))
            })
            .collect();
        let ends = ends.ok_or(Error::Device("a GPU counted more values than there are".into()))?;
        let long = |rows: &Range<u32>| {
            let chunk = (rows.start / LCP_CHUNK) as usize;
            ends[chunk] - counts[chunk]..ends[chunk]
        };
        let queue = |slot: &mut ChunkSlot, rows: Range<u32>| {
            let (long, len) = (long(&rows), rows.end - rows.start);
            slot.words.download(copies, split.long.part(long.clone()), 0..long.end - long.start)?;
            slot.bytes.download(copies, split.bytes.part(rows), 0..len)
        };
        self.each(copies, n, queue, |slot, rows| {
            let (bytes, long) = (slot.bytes.first(rows.len()), slot.words.first(long(&rows).len()));
            receive(LcpChunk::Lcp { first: rows.start as usize, bytes, long })
        })
    }

    /// Queues a chunk of rows after the other, and takes each when it is there: as late as may be,
    /// so that the others are on their way meanwhile.
    fn each(
        &mut self,
        copies: &Gpu,
        n: u32,
        queue: impl Fn(&mut ChunkSlot, Range<u32>) -> Result<()>,
        mut take: impl FnMut(&ChunkSlot, Range<u32>) -> Result<()>,
    ) -> Result<()> {
        let count = n.div_ceil(LCP_CHUNK) as usize;
        let rows = |chunk: usize| {
            let from = chunk as u32 * LCP_CHUNK;
            from..n.min(from.saturating_add(LCP_CHUNK))
        };
        for next in 0..count + SLOTS {
            let slot = &mut self.0[next % SLOTS];
            if let Some(chunk) = next.checked_sub(SLOTS).filter(|&chunk| chunk < count) {
                copies.check(slot.arrived.synchronize())?;
                take(slot, rows(chunk))?;
            }
            if next < count {
                queue(slot, rows(next))?;
                copies.check(slot.arrived.record(copies.stream()))?;
            }
        }
        Ok(())
    }
}
