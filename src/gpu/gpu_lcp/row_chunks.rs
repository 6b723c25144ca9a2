//! Rows on their way to the host: chunk by chunk through a few pieces of pinned memory, so that the
//! next chunks come while one is taken. Those of the LCP array follow the last of the suffixes,
//! each when it is made, and the values that do not fit a byte follow these.

use crate::error::{Error, Result};
use crate::gpu::lcp::{SplitLcp, SuffixRows};
use crate::gpu::lcp_chunk::{LONG, LcpChunk, NO_VALUES, TILE};
use crate::gpu::runtime::tuning::{LCP_CHUNK, LCP_LONG_BYTE, LCP_NO_VALUES, LCP_SPLIT};
use crate::gpu::runtime::{Gpu, PinnedBuffer};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use std::ops::Range;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

/// Chunks that are on their way or taken.
const SLOTS: usize = 4;

/// Bytes of pinned memory for the rows of any text.
pub const PINNED: u64 = SLOTS as u64 * (5 * LCP_CHUNK as u64 + 4 * (LCP_CHUNK / LCP_SPLIT) as u64);

const _: () = assert!(LCP_SPLIT as usize == TILE && LCP_LONG_BYTE == LONG as u32);
const _: () = assert!(LCP_NO_VALUES == NO_VALUES);

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

/// An LCP array that is being made.
pub struct ComingLcp<'c, 'm> {
    /// The array, when all of it is queued.
    pub queued: mpsc::Receiver<SplitLcp<'m>>,
    /// When each chunk of it is made, from then on.
    pub made: &'c [CudaEvent],
    /// How many values of each chunk do not fit a byte.
    pub counted: mpsc::Receiver<Vec<u32>>,
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
        for slot in self.0.iter_mut().take(3 * count(n)) {
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
    /// as late as may be, so that the others are on their way meanwhile. Ends where the LCP array
    /// is not made.
    pub fn finish<'m>(
        &mut self,
        copies: &Gpu,
        suffixes: (u32, SuffixRows),
        coming: ComingLcp<'_, 'm>,
        receive: &mut Receiver,
    ) -> Result<()> {
        let (n, suffixes) = suffixes;
        let (chunks, mut lcp, mut counts) = (count(n), None, None);
        for next in 0..3 * chunks + SLOTS {
            let slot = &mut self.0[next % SLOTS];
            if let Some(chunk) = next.checked_sub(SLOTS).filter(|&chunk| chunk < 3 * chunks) {
                copies.check(slot.arrived.synchronize())?;
                let rows = rows(n, chunk % chunks);
                match chunk / chunks {
                    0 => receive(slot.suffix_rows(suffixes, rows))?,
                    1 => receive(slot.lcp_rows(rows))?,
                    _ => slot.long_rows(rows, counts.as_deref()).map_or(Ok(()), &mut *receive)?,
                }
            }
            let (kind, chunk) = (next / chunks, next % chunks);
            match kind {
                0 if chunk >= SLOTS => {
                    slot.queue(copies, |slot| slot.suffixes(copies, suffixes, rows(n, chunk)))?;
                }
                1 => {
                    lcp = lcp.or_else(|| coming.split());
                    let Some(split) = lcp else { return Ok(()) };
                    copies.check(copies.stream().wait(&coming.made[chunk]))?;
                    slot.queue(copies, |slot| slot.lcp(copies, split, rows(n, chunk)))?;
                }
                2 => {
                    counts = counts.or_else(|| coming.counts());
                    let (Some(split), Some(counts)) = (lcp, &counts) else { return Ok(()) };
                    let long = counts[chunk];
                    slot.queue(copies, |slot| slot.long(copies, split, rows(n, chunk), long))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'m> ComingLcp<'_, 'm> {
    fn split(&self) -> Option<SplitLcp<'m>> {
        soon(&self.queued)
    }

    fn counts(&self) -> Option<Vec<u32>> {
        soon(&self.counted)
    }
}

/// What comes, without sleep, since to be woken takes longer than most waits.
fn soon<T>(coming: &mpsc::Receiver<T>) -> Option<T> {
    loop {
        match coming.try_recv() {
            Ok(found) => return Some(found),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
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

    fn lcp(&mut self, copies: &Gpu, split: SplitLcp, rows: Range<u32>) -> Result<()> {
        let len = rows.len() as u32;
        self.bytes.download(copies, split.bytes.part(rows), 0..len)
    }

    fn lcp_rows(&self, rows: Range<u32>) -> LcpChunk<'_> {
        LcpChunk::Lcp { first: rows.start as usize, bytes: self.bytes.first(rows.len()) }
    }

    /// Nothing where the chunk has no long values.
    fn long(&mut self, copies: &Gpu, split: SplitLcp, rows: Range<u32>, count: u32) -> Result<()> {
        if count as usize > rows.len() {
            return Err(Error::Device("a GPU counted more values than there are".into()));
        }
        if count == 0 {
            return Ok(());
        }
        let SplitLcp { long, starts, .. } = split;
        self.words.download(copies, long.part(rows.start..rows.start + count), 0..count)?;
        let tiles = rows.start / LCP_SPLIT..rows.end.div_ceil(LCP_SPLIT);
        let len = tiles.len() as u32;
        self.starts.download(copies, starts.part(tiles), 0..len)
    }

    fn long_rows(&self, rows: Range<u32>, counts: Option<&[u32]>) -> Option<LcpChunk<'_>> {
        let count = *counts?.get((rows.start / LCP_CHUNK) as usize)?;
        let (first, len) = (rows.start as usize, rows.len());
        let (starts, long) =
            (self.starts.first(len.div_ceil(TILE)), self.words.first(count as usize));
        (count > 0).then_some(LcpChunk::Long { first, len, starts, long })
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
