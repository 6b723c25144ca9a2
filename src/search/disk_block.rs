//! Search in a block that stays on disk: each step decodes the one or two slices that it asks of.
//!
//! rank(c, at) is the count of c above the slice that holds `at`, which the block's index has,
//! and a count within that slice. The ends of an interval are mostly in two slices at first,
//! which are decoded side by side, and in one soon. A pattern of m symbols costs at most 2 (m - 1)
//! slices; its last symbol costs none.
//!
//! Memory: the counts, 1 KiB per slice, or 2 above 4 GiB, and a cache of decoded slices.

use super::disk_samples::DiskSamples;
use super::disk_tables::DiskTables;
use super::file_block::FileBlock;
use crate::error::{Flaw, Result};
use crate::fm_index::{self, CONTRADICTION};
use crate::frame::{Shape, checksum_holds, histogram};
use rayon::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A block of which only its index is in memory.
pub(crate) struct DiskBlock<'a, R> {
    file_block: &'a FileBlock<'a, R>,
    text_size: u64,
    shape: Shape,
    tables: DiskTables,
    starts: Box<[u64; 257]>,
    /// Read when they are first wanted.
    samples: OnceLock<DiskSamples>,
    cache: Mutex<Cache>,
}

/// Decoded slices, of which the oldest goes first.
struct Cache {
    slices: HashMap<usize, Arc<Vec<u8>>>,
    order: VecDeque<usize>,
    /// Their bytes, and how many of them are kept at most.
    size: u64,
    most: u64,
}

/// Slices that are kept whatever their size.
const KEPT: usize = 4;

impl<'a, R: Read + Seek + Send> DiskBlock<'a, R> {
    /// Reads the index of a block of `raw_size` bytes that has one of what is searched; `None`
    /// where the block has fewer slices than `least`.
    pub fn open(
        file_block: &'a FileBlock<'a, R>,
        raw_size: u64,
        shape: Shape,
        least: u64,
    ) -> Result<Option<Self>> {
        shape.sample_rate().map_err(|e| file_block.locate(e))?;
        let tables = DiskTables::read(file_block, raw_size, shape, least);
        let Some(tables) = tables.map_err(|e| file_block.locate(e))? else { return Ok(None) };
        let options = file_block.options;
        let most = options.memory_limit() / 4 / options.thread_count() as u64;
        let (slices, order) = (HashMap::new(), VecDeque::new());
        Ok(Some(DiskBlock {
            file_block,
            text_size: tables.text_size,
            shape,
            starts: fm_index::starts(&tables.above.all(tables.starts.len() - 1)),
            tables,
            samples: OnceLock::new(),
            cache: Mutex::new(Cache { slices, order, size: 0, most }),
        }))
    }

    /// The rows of the suffixes that start with `pattern`.
    pub fn interval(&self, pattern: &[u8]) -> Result<Range<u64>> {
        let mut interval = 0..self.text_size + 1;
        for &c in pattern.iter().rev() {
            interval = self.step(c, interval)?;
            if interval.is_empty() {
                break;
            }
        }
        Ok(interval)
    }

    /// The positions of some rows, in the same order.
    pub fn positions(&self, rows: &[u64]) -> Result<Vec<u64>> {
        let samples = self.samples()?;
        rows.par_iter().map(|&row| self.position(samples, row)).collect()
    }

    /// Bytes of the text.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let index = &self.tables.index;
        let (searched, edge) = (self.file_block.searched_size(), index.head.len());
        if range.end <= edge {
            return Ok(index.head[range].to_vec());
        }
        if range.start >= searched - edge && range.end <= searched {
            let skipped = searched - edge;
            return Ok(index.tail[range.start - skipped..range.end - skipped].to_vec());
        }
        let (mut row, mut pos) = self.samples()?.behind(range.end);
        let mut bytes = vec![0; range.len()];
        while pos > range.start {
            let (byte, next) = self.lf(row)?;
            pos -= 1;
            row = next;
            if pos < range.end {
                bytes[pos - range.start] = byte;
            }
        }
        Ok(bytes)
    }

    /// Bytes of the text, of which the first may be all that is searched.
    pub fn text_size(&self) -> usize {
        self.text_size as usize
    }

    /// How many slices there are.
    pub fn slices(&self) -> u64 {
        self.tables.offsets.len() as u64 - 1
    }

    /// The mean number of steps from a row to a sampled one.
    pub fn steps_to_sample(&self) -> u64 {
        1 << self.shape.sample_rate_log >> 1
    }

    fn position(&self, samples: &DiskSamples, mut row: u64) -> Result<u64> {
        for steps in 0..=samples.rate() {
            if let Some(pos) = samples.pos(row) {
                let pos = pos + u64::from(steps);
                return if pos <= self.text_size { Ok(pos) } else { break };
            }
            row = self.lf(row)?.1;
        }
        Err(self.file_block.flaw(CONTRADICTION))
    }

    /// The byte before the suffix at a row, and the row of the suffix that starts with it.
    fn lf(&self, row: u64) -> Result<(u8, u64)> {
        // The primary index has no byte: any will do, since no walk of an intact block goes on from
        // there.
        let at = self.stored(row).min(self.text_size as usize - 1);
        let (k, offset) = self.split(at);
        let slice = self.slice(k)?;
        let byte = slice[offset];
        let before = count(&slice[..offset], byte);
        Ok((byte, self.starts[usize::from(byte)] + self.tables.above.get(k, byte) + before))
    }

    /// The interval of cP from that of P.
    fn step(&self, c: u8, interval: Range<u64>) -> Result<Range<u64>> {
        let (first, end) = (self.starts[usize::from(c)], self.starts[usize::from(c) + 1]);
        if interval == (0..self.text_size + 1) || first == end {
            return Ok(first..end);
        }
        let (lo, hi) = (self.stored(interval.start), self.stored(interval.end));
        let apart = self.split(lo).0 != self.split(hi).0;
        let (lo, hi) = if apart {
            rayon::join(|| self.rank(c, lo), || self.rank(c, hi))
        } else {
            (self.rank(c, lo), self.rank(c, hi))
        };
        Ok(first + lo?..first + hi?)
    }

    /// Occurrences of `c`, which occurs in the block, among the first `at` bytes of the transform.
    fn rank(&self, c: u8, at: usize) -> Result<u64> {
        let (k, offset) = self.split(at);
        let within = if offset == 0 { 0 } else { count(&self.slice(k)?[..offset], c) };
        Ok(self.tables.above.get(k, c) + within)
    }

    /// The slice that holds a place, and where in it. The end of the last slice begins one more.
    fn split(&self, at: usize) -> (usize, usize) {
        let k = self.tables.starts.partition_point(|&start| start as usize <= at) - 1;
        (k, at - self.tables.starts[k] as usize)
    }

    fn stored(&self, row: u64) -> usize {
        row as usize - usize::from(row > self.tables.index.primary_index)
    }

    /// A decoded slice, from the cache or the file.
    fn slice(&self, k: usize) -> Result<Arc<Vec<u8>>> {
        if let Some(slice) = self.cache().slices.get(&k) {
            return Ok(Arc::clone(slice));
        }
        let (from, to) = (self.tables.offsets[k], self.tables.offsets[k + 1]);
        let coded = self.file_block.input.read(from, to - from)?;
        let slice = self.decode(k, &coded).map_err(|flaw| self.file_block.flaw(flaw))?;
        self.file_block.input.slice_decoded();
        let slice = Arc::new(slice);
        self.cache().keep(k, Arc::clone(&slice));
        Ok(slice)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decode(&self, k: usize, coded: &[u8]) -> Result<Vec<u8>, Flaw> {
        if !checksum_holds(self.tables.index.slice_checksums[k], coded) {
            return Err(Flaw("the checksum of a slice is wrong"));
        }
        let size = self.tables.starts[k + 1] - self.tables.starts[k];
        let mut slice = vec![0; size as usize];
        self.tables.decoder.decode(coded, &mut slice)?;
        let counts = histogram(&slice);
        let (above, below) = (self.tables.above.all(k), self.tables.above.all(k + 1));
        if (0..256).all(|c| u64::from(counts[c]) == below[c] - above[c]) {
            return Ok(slice);
        }
        Err(Flaw("the block's index does not match its slices"))
    }

    fn samples(&self) -> Result<&DiskSamples> {
        if self.samples.get().is_none() {
            let read = self.read_samples()?;
            let _ = self.samples.set(read);
        }
        Ok(self.samples.get().expect("just set"))
    }

    fn read_samples(&self) -> Result<DiskSamples> {
        let (offset, size) = self.tables.samples_at;
        let count = self.shape.samples(self.text_size) as u64;
        let needed = size + DiskSamples::size(count, self.text_size, self.tables.wide);
        self.file_block.check_index_memory(needed).map_err(|e| self.file_block.locate(e))?;
        let coded = self.file_block.input.read(offset, size)?;
        let samples = || {
            self.tables.header.check_samples(&coded)?;
            let kept = (self.shape.samples(self.text_size), 1 << self.shape.sample_rate_log);
            let DiskTables { index, wide, .. } = &self.tables;
            DiskSamples::read(&coded, kept, self.text_size(), index.primary_index, *wide)
        };
        samples().map_err(|flaw| self.file_block.flaw(flaw))
    }
}

impl Cache {
    fn keep(&mut self, k: usize, slice: Arc<Vec<u8>>) {
        let size = slice.len() as u64;
        if self.slices.insert(k, slice).is_none() {
            self.order.push_back(k);
            self.size += size;
        }
        while self.size > self.most
            && self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.size -= self.slices.remove(&oldest).map_or(0, |slice| slice.len() as u64);
        }
    }
}

/// How often `c` stands in `bytes`.
fn count(bytes: &[u8], c: u8) -> u64 {
    memchr::memchr_iter(c, bytes).count() as u64
}
