//! A block on disk: its index is in memory, and its slices are decoded when a search needs them.
//!
//! rank(c, at) is the count of c above the slice that holds `at`, which is in the block's index,
//! plus the count within that slice. At first the two ends of an interval are mostly in two slices,
//! and soon in one. So a pattern of m symbols costs at most 2 (m - 1) slices; its last symbol costs
//! none. `disk_batch` lets many patterns share their slices.
//!
//! Memory: the counts, 1 KiB per slice, or 2 KiB for a block of more than 4 GiB; and a cache of
//! decoded slices, which take 2.3 or 4 bits per symbol if the slice has few distinct symbols. The
//! slices are kept from one batch to the next.

use super::block_front::BlockFront;
use super::disk_samples::DiskSamples;
use super::disk_tables::DiskTables;
use super::file_block::FileBlock;
use super::search_cost::{BlockCost, WalkWay};
use super::searched_block::SearchedBlock;
use super::slice_cache::{BlockSymbols, DecodedSlice, SliceCache};
use crate::base::allocation;
use crate::base::error::{Error, Flaw, Result};
use crate::fm_index;
use crate::frame::{Shape, checksum_holds};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A block of which only the index is in memory.
pub(crate) struct DiskBlock<'a> {
    file: &'a FileBlock<'a>,
    /// Bytes of the searched text.
    searched_size: usize,
    shape: Shape,
    tables: DiskTables,
    /// First row of the suffixes that start with each byte, and the end of all rows.
    starts: Box<[u64; 257]>,
    symbols: BlockSymbols,
    pub cost: BlockCost,
    /// Estimated cost of all work done on it, in this and earlier batches.
    pub spent: f64,
    /// Read at the first use.
    samples: OnceLock<DiskSamples>,
    /// Set once all slices are decoded and kept.
    are_decoded: OnceLock<()>,
    cache: Mutex<SliceCache>,
}

/// An indexed block that may be opened on disk: its sizes have been read.
pub(crate) struct UnopenedBlock<'a> {
    block: &'a dyn SearchedBlock,
    front: Arc<BlockFront>,
    pub cost: BlockCost,
}

impl<'a> UnopenedBlock<'a> {
    /// Reads the sizes of a block, which will keep decoded slices of up to `room` bytes. Returns
    /// `None` if it has no index of its searched text, or the options do not trust the index.
    pub(super) fn read(block: &'a dyn SearchedBlock, room: u64) -> Result<Option<Self>> {
        let Some(transform) = block.trusted_index()? else {
            return Ok(None);
        };
        let shape = transform.shape;
        let file = block.file();
        shape.sample_rate().map_err(|e| file.locate(e))?;
        let front = match transform.front {
            Some(front) => front,
            None => Arc::new(BlockFront::read(file, shape).map_err(|e| file.locate(e))?),
        };
        let cost = BlockCost {
            text_size: front.text_size,
            slices: front.sizes.raw.len() as u64,
            coded_size: file.info.coded.end - file.info.coded.start,
            coding: shape.coding,
            room,
            threads: file.options.thread_count() as u64,
            steps_to_sample: 1 << shape.sample_rate_log >> 1,
        };
        Ok(Some(UnopenedBlock { block, front, cost }))
    }

    /// Reads the index of the block.
    pub(super) fn open(self) -> Result<DiskBlock<'a>> {
        let UnopenedBlock { block, front, cost } = self;
        let file = block.file();
        let shape = front.shape;
        let tables = DiskTables::new(file, front).map_err(|e| file.locate(e))?;
        let symbols = tables
            .index()
            .counts
            .rows()
            .map(|(symbol, _)| symbol)
            .collect();
        let slices = tables.starts.len() - 1;
        Ok(DiskBlock {
            file,
            searched_size: block.size(),
            shape,
            starts: fm_index::starts(&tables.above.all(slices)),
            symbols: BlockSymbols::new(symbols),
            cost,
            spent: 0.0,
            tables,
            samples: OnceLock::new(),
            are_decoded: OnceLock::new(),
            cache: Mutex::new(SliceCache::new(cost.room)),
        })
    }
}

impl DiskBlock<'_> {
    /// Returns a range of the text.
    pub(crate) fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        Ok(self.extract_all(&[range])?.concat())
    }

    /// Returns a range of the text, if it lies within one of the two edges that the index stores.
    pub(crate) fn edge(&self, range: &Range<usize>) -> Option<&[u8]> {
        let index = self.tables.index();
        let edge = index.head.len();
        if range.end <= edge {
            return Some(&index.head[range.clone()]);
        }
        let skipped = self.searched_size - edge;
        if range.start >= skipped && range.end <= skipped + edge {
            return Some(&index.tail[range.start - skipped..range.end - skipped]);
        }
        None
    }

    /// Bytes of the text. The searched text may be only the first part of it.
    pub(crate) fn text_size(&self) -> usize {
        self.tables.text_size() as usize
    }

    /// The error for a flaw of the block.
    pub(crate) fn flaw(&self, flaw: Flaw) -> Error {
        self.file.flaw(flaw)
    }

    /// The rows of the suffixes that start with a byte.
    pub(crate) fn rows_of(&self, c: u8) -> Range<u64> {
        self.starts[usize::from(c)]..self.starts[usize::from(c) + 1]
    }

    /// Occurrences of `c`, a symbol of the block, before an offset in slice `k`. At offset 0 the
    /// slice is not needed.
    pub(crate) fn rank_in(
        &self,
        k: usize,
        slice: Option<&DecodedSlice>,
        c: u8,
        offset: usize,
    ) -> u64 {
        let within = slice.map_or(0, |slice| slice.rank(&self.symbols, c, offset));
        self.tables.above.get(k, c) + within
    }

    /// The slice that holds place `at` of the BWT, and the offset of `at` in it. The end of the
    /// block belongs to a slice behind the last one.
    pub(crate) fn split(&self, at: usize) -> (usize, usize) {
        let k = self
            .tables
            .starts
            .partition_point(|&start| start as usize <= at)
            - 1;
        (k, at - self.tables.starts[k] as usize)
    }

    /// Number of bytes of the transform above a row.
    pub(crate) fn stored(&self, row: u64) -> usize {
        row as usize - usize::from(row > self.tables.index().primary_index)
    }

    /// Place of the byte of a row in the transform. The row of the primary index has no byte. Any
    /// place will do for it, since no walk in an intact block continues from there.
    pub(crate) fn with_byte(&self, row: u64) -> usize {
        self.stored(row).min(self.text_size() - 1)
    }

    /// Returns the slices with these distinct numbers, decoded, from the cache or from the file.
    pub(crate) fn slices(&self, numbers: &[usize]) -> Result<Vec<Arc<DecodedSlice>>> {
        let cache = self.cache();
        let known: Vec<_> = numbers.iter().map(|&k| cache.get(k)).collect();
        drop(cache);
        let unknown = numbers
            .iter()
            .zip(&known)
            .filter(|(_, slice)| slice.is_none());
        let unknown: Vec<usize> = unknown.map(|(&k, _)| k).collect();
        if unknown.is_empty() {
            return Ok(known.into_iter().flatten().collect());
        }
        let mut decoded = self.decode(&unknown)?.into_iter();
        let slices = known
            .into_iter()
            .map(|slice| slice.or_else(|| decoded.next()));
        Ok(slices.flatten().collect())
    }

    fn cache(&self) -> MutexGuard<'_, SliceCache> {
        self.cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the block ready for `steps` steps of walks, on `threads` threads: if they go to most
    /// of its slices, all are decoded side by side. Returns false if restoring the block costs
    /// less than the walks.
    pub(crate) fn prepare_walks(&self, steps: u64, threads: u64) -> Result<bool> {
        let are_decoded = self.are_decoded.get().is_some();
        match self.cost.walks(steps, threads, are_decoded) {
            WalkWay::Restored => return Ok(false),
            WalkWay::SliceBySlice => {}
            WalkWay::AllSlices if are_decoded => {}
            WalkWay::AllSlices => {
                self.decode_all()?;
                let _ = self.are_decoded.set(());
            }
        }
        Ok(true)
    }

    /// Decodes all slices, for the cache.
    fn decode_all(&self) -> Result<()> {
        let offsets = &self.tables.offsets;
        let numbers: Vec<usize> = (0..offsets.len() - 1).collect();
        let start = offsets[0];
        let coded = self
            .file
            .input
            .read(start, offsets[numbers.len()] - start)?;
        numbers.par_chunks(2).try_for_each(|two| {
            let of = |&k: &usize| {
                let range = (offsets[k] - start) as usize..(offsets[k + 1] - start) as usize;
                self.with_checksum(k, coded[range].to_vec())
            };
            let coded: Vec<Vec<u8>> = two.iter().map(of).collect::<Result<_>>()?;
            self.decode_coded(two, &coded).map(drop)
        })
    }

    /// Reads slices from the file, decodes them and checks them.
    fn decode(&self, numbers: &[usize]) -> Result<Vec<Arc<DecodedSlice>>> {
        let coded = |&k: &usize| {
            let from = self.tables.offsets[k];
            let to = self.tables.offsets[k + 1];
            self.with_checksum(k, self.file.input.read(from, to - from)?)
        };
        let coded: Vec<Vec<u8>> = numbers.iter().map(coded).collect::<Result<_>>()?;
        self.decode_coded(numbers, &coded)
    }

    /// Returns the coded form of slice `k` if its checksum holds.
    fn with_checksum(&self, k: usize, coded: Vec<u8>) -> Result<Vec<u8>> {
        match checksum_holds(self.tables.index().slice_checksums[k], &coded) {
            true => Ok(coded),
            false => Err(self.flaw(Flaw("the checksum of a slice is wrong"))),
        }
    }

    /// Decodes slices whose coded forms were read, and checks them.
    fn decode_coded(&self, numbers: &[usize], coded: &[Vec<u8>]) -> Result<Vec<Arc<DecodedSlice>>> {
        let room = |&k: &usize| {
            let size = self.tables.starts[k + 1] - self.tables.starts[k];
            allocation::filled(0_u8, size as usize).ok_or_else(|| self.flaw(Flaw::NO_MEMORY))
        };
        let mut bytes: Vec<Vec<u8>> = numbers.iter().map(room).collect::<Result<_>>()?;
        let decoded = self.tables.decoder.decode_each(coded, &mut bytes);
        decoded.map_err(|flaw| self.flaw(flaw))?;
        self.file
            .input
            .slices_decoded(numbers.len() as u64);
        numbers
            .iter()
            .zip(bytes)
            .map(|(&k, bytes)| self.checked(k, bytes))
            .collect()
    }

    /// Checks that the bytes of slice `k` have the counts of the index, and caches the slice.
    fn checked(&self, k: usize, bytes: Vec<u8>) -> Result<Arc<DecodedSlice>> {
        let (slice, counts) = DecodedSlice::new(bytes, &self.symbols);
        let above = self.tables.above.all(k);
        let below = self.tables.above.all(k + 1);
        if (0..256).any(|c| u64::from(counts[c]) != below[c] - above[c]) {
            return Err(self.flaw(Flaw("the block's index does not match its slices")));
        }
        let slice = Arc::new(slice);
        self.cache().keep(k, &slice);
        Ok(slice)
    }

    /// Memory limit in bytes.
    pub(crate) fn memory_limit(&self) -> u64 {
        self.file.options.memory_limit()
    }

    /// Moves cached slices of this block from an earlier batch into its cache, as many as fit.
    pub(crate) fn with_slices(mut self, kept: SliceCache) -> Self {
        let cache = self
            .cache
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        *cache = kept.with_room(cache.room());
        self
    }

    /// Returns the cached slices.
    pub(crate) fn into_slices(self) -> SliceCache {
        self.cache
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The samples. They are read at the first use.
    pub(crate) fn samples(&self) -> Result<&DiskSamples> {
        if self.samples.get().is_none() {
            let read = self.read_samples()?;
            let _ = self.samples.set(read);
        }
        Ok(self.samples.get().expect("just set"))
    }

    fn read_samples(&self) -> Result<DiskSamples> {
        let Range { start, end } = self.tables.front.samples;
        let size = end - start;
        let wide = self.tables.wide;
        let text_size = self.tables.text_size();
        let count = self.shape.samples(text_size);
        let needed = size + DiskSamples::size(count as u64, text_size, wide);
        self.file
            .check_index_memory(needed)
            .map_err(|e| self.file.locate(e))?;
        let coded = self.file.input.read(start, size)?;
        let samples = || {
            self.tables.stored().check_samples(&coded)?;
            let rate = 1 << self.shape.sample_rate_log;
            DiskSamples::read(
                &coded,
                count,
                rate,
                self.text_size(),
                self.tables.index().primary_index,
                wide,
            )
        };
        samples().map_err(|flaw| self.file.flaw(flaw))
    }
}
