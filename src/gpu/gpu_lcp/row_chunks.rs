//! Copies rows to the host, chunk by chunk through a few pieces of pinned memory. The next chunks
//! are copied while one is received. The rows of the suffix array come first, then those of the LCP
//! array, each chunk with the values that do not fit into a byte.

use crate::base::error::{Error, Result};
use crate::gpu::lcp::{SplitLcp, SuffixRows};
use crate::gpu::lcp_chunk::{LONG, LcpChunk, NO_VALUES, TILE};
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_LONG_BYTE, LCP_NO_VALUES, LCP_SPLIT};
use crate::gpu::runtime::{Gpu, Pause, PinnedBuffer};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::ops::Range;
use std::sync::mpsc::{self, TryRecvError};

/// Number of chunks that are being copied or received.
const SLOTS: usize = 4;

/// Bytes of pinned memory for the rows of any text.
pub(super) const PINNED: u64 =
    SLOTS as u64 * (5 * LCP_CHUNK as u64 + 4 * (LCP_CHUNK / LCP_SPLIT) as u64);

const _: () = assert!(LCP_SPLIT as usize == TILE && LCP_LONG_BYTE == LONG as u32);
const _: () = assert!(LCP_NO_VALUES == NO_VALUES);

/// Function that receives the rows.
pub(super) type Receiver<'r> = dyn FnMut(LcpChunk) -> Result<()> + Send + 'r;

/// Pinned memory for a few chunks.
#[derive(Debug)]
pub(super) struct RowChunks([ChunkSlot; SLOTS]);

#[derive(Debug)]
struct ChunkSlot {
    /// Suffixes, or LCP values that do not fit into a byte.
    words: PinnedBuffer<u32>,
    bytes: PinnedBuffer<u8>,
    starts: PinnedBuffer<u32>,
    arrived: CudaEvent,
}

/// An LCP array, and for each chunk the number of values that do not fit into a byte.
pub(super) type CountedLcp<'m> = (SplitLcp<'m>, Vec<u32>);

impl RowChunks {
    pub(super) fn new(copies: &Gpu) -> Result<Self> {
        let slot = || -> Result<ChunkSlot> {
            let (words, bytes, starts) = Default::default();
            let arrived = copies.check(copies.context().new_event(Some(CU_EVENT_DEFAULT)))?;
            Ok(ChunkSlot {
                words,
                bytes,
                starts,
                arrived,
            })
        };
        Ok(RowChunks([slot()?, slot()?, slot()?, slot()?]))
    }

    /// Allocates the memory for the rows of a text of n bytes, unless this is done already.
    pub(super) fn reserve(&mut self, copies: &Gpu, n: u32) -> Result<()> {
        let rows = n.min(LCP_CHUNK) as usize;
        for slot in self.0.iter_mut().take(2 * count(n)) {
            slot.words.reserve(copies, rows)?;
            slot.bytes.reserve(copies, rows)?;
            slot.starts.reserve(copies, rows.div_ceil(TILE))?;
        }
        Ok(())
    }

    /// Queues the copies of the first suffixes.
    pub(super) fn begin(&mut self, copies: &Gpu, n: u32, suffixes: SuffixRows) -> Result<()> {
        for (chunk, slot) in self.0.iter_mut().enumerate().take(count(n)) {
            slot.queue(copies, |slot| {
                slot.suffixes(copies, suffixes, rows(n, chunk))
            })?;
        }
        Ok(())
    }

    /// Queues all copies that `begin` has not queued, and receives each chunk when it has arrived.
    /// It waits for a chunk as late as possible, so that the others are copied meanwhile. `made`
    /// gets the LCP array once it is complete; if it is never made, this function ends.
    pub(super) fn finish<'m>(
        &mut self,
        copies: &Gpu,
        n: u32,
        suffixes: SuffixRows,
        made: &mpsc::Receiver<CountedLcp<'m>>,
        receive: &mut Receiver,
    ) -> Result<()> {
        let chunks = count(n);
        let mut lcp = None;
        let mut queued = chunks.min(SLOTS);
        for taken in 0..2 * chunks {
            while queued < (taken + SLOTS).min(2 * chunks) {
                let slot = &mut self.0[queued % SLOTS];
                let rows = rows(n, queued % chunks);
                if queued < chunks {
                    slot.queue(copies, |slot| slot.suffixes(copies, suffixes, rows))?;
                } else {
                    // It only waits for the array if there is no chunk to receive.
                    lcp = lcp.or_else(|| {
                        if queued > taken {
                            made.try_recv().ok()
                        } else {
                            soon(made)
                        }
                    });
                    match &lcp {
                        Some(lcp) => slot.queue(copies, |slot| slot.lcp(copies, lcp, rows))?,
                        None if queued > taken => break,
                        None => return Ok(()),
                    }
                }
                queued += 1;
            }
            let slot = &self.0[taken % SLOTS];
            let rows = rows(n, taken % chunks);
            copies.check(slot.arrived.synchronize())?;
            receive(match &lcp {
                Some((_, counts)) if taken >= chunks => slot.lcp_rows(rows, counts),
                _ => slot.suffix_rows(suffixes, rows),
            })?;
        }
        Ok(())
    }
}

/// Waits for a message by polling, since waking a thread takes longer than most waits. Returns
/// `None` if the sender is gone.
fn soon<T>(coming: &mpsc::Receiver<T>) -> Option<T> {
    for looks in 0.. {
        match coming.try_recv() {
            Ok(found) => return Some(found),
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => Pause::Yield.after(looks),
        };
    }
    None
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
        let first = rows.start as usize;
        let len = rows.len();
        match suffixes {
            SuffixRows::Words(_) => LcpChunk::Suffixes {
                first,
                suffixes: self.words.first(len),
            },
            SuffixRows::Packed(_) => {
                let words = self.words.first(packed(&rows).len());
                LcpChunk::Packed { first, len, words }
            }
        }
    }

    /// Queues the bytes of a chunk; if some values do not fit, also these and their starts.
    fn lcp(&mut self, copies: &Gpu, lcp: &CountedLcp, rows: Range<u32>) -> Result<()> {
        let (
            SplitLcp {
                bytes,
                long,
                starts,
                ..
            },
            counts,
        ) = lcp;
        let len = rows.len() as u32;
        let count = counts[chunk_of(&rows)];
        if count > len {
            return Err(Error::Device(
                "a GPU counted more values than there are".into(),
            ));
        }
        self.bytes
            .download(copies, bytes.part(rows.clone()), 0..len)?;
        if count == 0 {
            return Ok(());
        }
        self.words
            .download(copies, long.part(rows.start..rows.start + count), 0..count)?;
        let tiles = rows.start / LCP_SPLIT..rows.end.div_ceil(LCP_SPLIT);
        let len = tiles.len() as u32;
        self.starts
            .download(copies, starts.part(tiles), 0..len)
    }

    fn lcp_rows(&self, rows: Range<u32>, counts: &[u32]) -> LcpChunk<'_> {
        let first = rows.start as usize;
        let len = rows.len();
        let count = counts[chunk_of(&rows)];
        let tiles = if count > 0 { len.div_ceil(TILE) } else { 0 };
        let starts = self.starts.first(tiles);
        let long = self.words.first(count as usize);
        LcpChunk::Lcp {
            first,
            bytes: self.bytes.first(len),
            starts,
            long,
        }
    }
}

/// Number of chunks in the rows of a text of n bytes.
fn count(n: u32) -> usize {
    n.div_ceil(LCP_CHUNK) as usize
}

/// Rows of a chunk.
fn rows(n: u32, chunk: usize) -> Range<u32> {
    let from = chunk as u32 * LCP_CHUNK;
    from..n.min(from.saturating_add(LCP_CHUNK))
}

/// Number of the chunk with these rows.
fn chunk_of(rows: &Range<u32>) -> usize {
    (rows.start / LCP_CHUNK) as usize
}

/// Range of the words that hold the packed suffixes of a chunk.
fn packed(rows: &Range<u32>) -> Range<u32> {
    rows.start / 4 * 3..rows.end.div_ceil(4) * 3
}
