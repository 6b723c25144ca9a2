//! Rows on their way to the host: chunk by chunk through a few pieces of pinned memory, so that the
//! next chunks come while one is taken. Those of the LCP array follow the last of the suffixes
//! without a gap where they are made by then.

use crate::error::{Error, Result};
use crate::gpu::lcp::{SplitLcp, SuffixRows};
use crate::gpu::lcp_chunk::{LONG, LcpChunk, TILE};
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_LONG_BYTE, LCP_SPLIT};
use crate::gpu::runtime::{Gpu, PinnedBuffer};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::ops::Range;

/// Chunks that are on their way or taken.
const SLOTS: usize = 4;

/// Bytes of pinned memory for the rows of any text.
pub const PINNED: u64 = SLOTS as u64 * (5 * LCP_CHUNK as u64 + 4 * (LCP_CHUNK / LCP_SPLIT) as u64);

const _: () = assert!(LCP_SPLIT as usize == TILE && LCP_LONG_BYTE == LONG as u32);

/// Who takes the rows.
pub type Receiver<'r> = dyn FnMut(LcpChunk) -> Result<()> + Send + 'r;

/// Pinned memory for a few chunks.
#[derive(Debug)]
pub struct RowChunks([ChunkSlot; SLOTS]);

#[derive(Debug)]
struct ChunkSlot {
    /// Suffixes, or LCP values that do not fit a byte.
    words: PinnedBuffer<u32>,
    bytes: PinnedBuffer<u8>,
    starts: PinnedBuffer<u32>,
    arrived: CudaEvent,
}

/// An LCP array on the device, and how many values of each chunk do not fit a byte.
pub struct CountedLcp<'m> {
    pub split: SplitLcp<'m>,
    pub counts: Vec<u32>,
}

impl RowChunks {
    pub fn new(copies: &Gpu) -> Result<Self> {
        let slot = || -> Result<ChunkSlot> {
            let (words, bytes, starts) = Default::default();
            let arrived = copies.check(copies.context().new_event(Some(CU_EVENT_DEFAULT)))?;
            Ok(ChunkSlot { words, bytes, starts, arrived })
        };
        Ok(RowChunks([slot()?, slot()?, slot()?, slot()?]))
    }

    /// Takes the memory for the rows of a text of n bytes, if that is not done yet.
    pub fn reserve(&mut self, copies: &Gpu, n: u32) -> Result<()> {
        let rows = n.min(LCP_CHUNK) as usize;
        for slot in self.0.iter_mut().take(2 * count(n)) {
            slot.words.reserve(copies, rows)?;
            slot.bytes.reserve(copies, rows)?;
            slot.starts.reserve(copies, rows.div_ceil(TILE))?;
        }
        Ok(())
    }

    /// Queues the first suffixes.
    pub fn begin(&mut self, copies: &Gpu, n: u32, suffixes: SuffixRows) -> Result<()> {
        for (chunk, slot) in self.0.iter_mut().enumerate().take(count(n)) {
            slot.queue(copies, |slot| slot.suffixes(copies, suffixes, rows(n, chunk)))?;
        }
        Ok(())
    }

    /// Queues all that comes after what `begin` has queued, and takes each chunk when it is there:
    /// as late as may be, so that the others are on their way meanwhile. `wait` gives the LCP
    /// array, or `None` where it fails, which ends all.
    pub fn finish<'m>(
        &mut self,
        copies: &Gpu,
        n: u32,
        suffixes: SuffixRows,
        wait: impl Fn() -> Option<CountedLcp<'m>>,
        receive: &mut Receiver,
    ) -> Result<()> {
        let (chunks, mut lcp) = (count(n), None);
        for next in 0..2 * chunks + SLOTS {
            let slot = &mut self.0[next % SLOTS];
            if let Some(chunk) = next.checked_sub(SLOTS).filter(|&chunk| chunk < 2 * chunks) {
                copies.check(slot.arrived.synchronize())?;
                receive(match (&lcp, chunk.checked_sub(chunks)) {
                    (Some(lcp), Some(chunk)) => slot.lcp_rows(lcp, rows(n, chunk)),
                    _ => slot.suffix_rows(suffixes, rows(n, chunk)),
                })?;
            }
            if (chunks.min(SLOTS)..chunks).contains(&next) {
                slot.queue(copies, |slot| slot.suffixes(copies, suffixes, rows(n, next)))?;
            } else if (chunks..2 * chunks).contains(&next) {
                if lcp.is_none() {
                    lcp = wait();
                }
                let Some(lcp) = &lcp else { return Ok(()) };
                slot.queue(copies, |slot| slot.lcp(copies, lcp, rows(n, next - chunks)))?;
            }
        }
        Ok(())
    }
}

impl ChunkSlot {
    fn queue(&mut self, copies: &Gpu, copy: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        copy(self)?;
        copies.check(self.arrived.record(copies.stream()))
    }

    fn suffixes(&mut self, copies: &Gpu, suffixes: SuffixRows, rows: Range<u32>) -> Result<()> {
        let part = match suffixes {
            SuffixRows::Words(sa) => sa.part(rows),
            SuffixRows::Packed(words) => words.part(packed(&rows)),
        };
        self.words.download(copies, part, 0..part.len())
    }

    fn suffix_rows(&self, suffixes: SuffixRows, rows: Range<u32>) -> LcpChunk<'_> {
        let (first, len) = (rows.start as usize, rows.len());
        match suffixes {
            SuffixRows::Words(_) => LcpChunk::Suffixes { first, suffixes: self.words.first(len) },
            SuffixRows::Packed(_) => {
                let words = self.words.first(packed(&rows).len());
                LcpChunk::Packed { first, len, words }
            }
        }
    }

    fn lcp(&mut self, copies: &Gpu, lcp: &CountedLcp, rows: Range<u32>) -> Result<()> {
        let SplitLcp { bytes, long, starts, .. } = lcp.split;
        let (count, tile) = (lcp.long(&rows), rows.start / LCP_SPLIT);
        if count > rows.len() {
            return Err(Error::Device("a GPU counted more values than there are".into()));
        }
        let (len, count) = (rows.len() as u32, count as u32);
        self.words.download(copies, long.part(rows.start..rows.start + count), 0..count)?;
        let tiles = len.div_ceil(LCP_SPLIT);
        self.starts.download(copies, starts.part(tile..tile + tiles), 0..tiles)?;
        self.bytes.download(copies, bytes.part(rows), 0..len)
    }

    fn lcp_rows(&self, lcp: &CountedLcp, rows: Range<u32>) -> LcpChunk<'_> {
        LcpChunk::Lcp {
            first: rows.start as usize,
            bytes: self.bytes.first(rows.len()),
            starts: self.starts.first(rows.len().div_ceil(TILE)),
            long: self.words.first(lcp.long(&rows)),
        }
    }
}

impl CountedLcp<'_> {
    /// How many values do not fit a byte of the chunk of these rows.
    fn long(&self, rows: &Range<u32>) -> usize {
        self.counts[(rows.start / LCP_CHUNK) as usize] as usize
    }
}

/// Chunks of the rows of a text of n bytes.
fn count(n: u32) -> usize {
    n.div_ceil(LCP_CHUNK) as usize
}

/// The rows of a chunk.
fn rows(n: u32, chunk: usize) -> Range<u32> {
    let from = chunk as u32 * LCP_CHUNK;
    from..n.min(from.saturating_add(LCP_CHUNK))
}

/// The words that hold the suffixes of a chunk, four in three words.
fn packed(rows: &Range<u32>) -> Range<u32> {
    rows.start / 4 * 3..rows.end.div_ceil(4) * 3
}
