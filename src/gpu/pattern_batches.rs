//! Searches batches of patterns on a GPU: they are packed into pinned memory, copied and searched,
//! and the intervals are copied back.
//!
//! Batches take turns on three streams, so that the processor packs one while another is copied and
//! a third is searched. Results come in the order of the patterns.
//!
//! Memory per stream: a batch of [`BATCH_BYTES`] of pattern text (or one longer pattern), and 12
//! bytes for each of up to [`BATCH_ITEMS`] patterns. That is 19 MiB on the host and as much on the
//! device.
//!
//! Indexes stay on the device as long as they exist on the host and half of the device's memory is
//! free. An index takes the memory that it takes on the host: 2.3 to 8 bits per symbol of text for
//! up to 16 symbols, else 12 to 24; at most 2 for the k-mer table; and, if positions are asked for,
//! 1.1 bits and 32 bits per sample.

use crate::base::error::Result;
use crate::gpu::interface::{IndexArrays, SampleArrays};
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};
use crate::gpu::search::{
    self, BATCH_BYTES, BATCH_ITEMS, CHUNK, DeviceIndex, NO_POS, batch, fill_starts, pack,
};
use rayon::prelude::*;
use std::ops::Range;

/// Number of streams: one batch is packed, one copied, one searched.
const STREAMS: usize = 3;

/// Old indexes are kept beside a new one while 1/`FREE_SHARE` of the GPU's memory stays free.
const FREE_SHARE: usize = 2;

/// An index may take all of the GPU's memory but 1/`HOLD_SHARE`.
const HOLD_SHARE: usize = 4;

/// Searches on one GPU. It keeps its memory for the next batches. It keeps the searched indexes
/// too, since the blocks of a file are searched in turn with each batch.
#[derive(Debug)]
pub struct GpuSearch {
    streams: Vec<BatchStream>,
    /// Total memory of the GPU in bytes.
    memory: usize,
    /// Indexes on the device, in the order of their last search.
    indexes: Vec<DeviceIndex>,
}

/// A stream and the batch on it.
#[derive(Debug)]
struct BatchStream {
    gpu: Gpu,
    text: PinnedBuffer<u8>,
    input: PinnedBuffer<u32>,
    output: PinnedBuffer<u32>,
    memory: GrowingArena,
    /// Range of the items in progress.
    items: Range<usize>,
}

impl GpuSearch {
    /// Opens GPU `number` for searches.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU or its driver is missing, or if the GPU
    /// fails.
    pub fn new(number: u32) -> Result<Self> {
        let stream = || {
            Ok(BatchStream {
                gpu: Gpu::open(number)?,
                text: PinnedBuffer::default(),
                input: PinnedBuffer::default(),
                output: PinnedBuffer::default(),
                memory: GrowingArena::default(),
                items: 0..0,
            })
        };
        let streams: Vec<BatchStream> = (0..STREAMS)
            .map(|_| stream())
            .collect::<Result<_>>()?;
        let memory = streams[0].gpu.all_memory()?;
        Ok(GpuSearch {
            streams,
            memory,
            indexes: Vec::new(),
        })
    }

    /// Finds the interval of each pattern in the index with these arrays, and sets the pattern's
    /// entry of `found` to `result(interval)`. The arrays are copied to the device unless they are
    /// there.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU has too little memory or fails.
    ///
    /// # Panics
    /// If the numbers of entries and patterns differ.
    pub(crate) fn search<P: AsRef<[u8]> + Sync, T: Send>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        found: &mut [T],
        result: impl Fn(Range<u32>) -> T + Sync,
    ) -> Result<()> {
        assert_eq!(patterns.len(), found.len(), "an entry for each pattern");
        let index = self.load(arrays)?;
        let longest = arrays.len + 1;
        let mut take = |stream: &BatchStream| {
            let rows = stream.output.first(2 * stream.items.len());
            let found = &mut found[stream.items.clone()];
            let chunks = found
                .par_chunks_mut(CHUNK)
                .zip(rows.par_chunks(2 * CHUNK));
            chunks.for_each(|(found, rows)| {
                for (found, ends) in found.iter_mut().zip(rows.chunks_exact(2)) {
                    *found = result(ends[0]..ends[1]);
                }
            });
        };
        let mut turns = Turns::default();
        while let Some(items) = turns.next(|from| batch(&patterns[from..], longest)) {
            let stream = &mut self.streams[turns.stream()];
            turns.done = stream.finish(&mut take).and_then(|()| {
                let packed = stream.upload_patterns(items.clone(), &patterns[items], longest)?;
                let PackedPatterns {
                    gpu,
                    text,
                    starts,
                    rows,
                    output,
                } = packed;
                search::intervals(gpu, &index, text, starts, rows)?;
                output.download(gpu, rows, 0..rows.len())
            });
        }
        self.finish(turns, index, take)
    }

    /// Finds the positions of some rows in the index with these arrays and samples. Returns `None`
    /// if the samples contradict the index.
    ///
    /// # Errors
    /// As [`GpuSearch::search`].
    ///
    /// # Panics
    /// If a row is not in the index.
    pub(crate) fn positions(
        &mut self,
        arrays: &IndexArrays,
        samples: &SampleArrays,
        rows: &[u32],
    ) -> Result<Option<Vec<u32>>> {
        assert!(
            rows.par_iter()
                .all(|&row| row as usize <= arrays.len),
            "no row of the index"
        );
        let mut index = self.load(arrays)?;
        if !index.has_samples(samples) {
            let add = |gpu: &Gpu| index.add_samples(gpu, samples);
            self.with_room(DeviceIndex::samples_size(samples)?, add)?;
        }
        let mut positions = vec![0; rows.len()];
        let take = |stream: &BatchStream| {
            let found = stream.output.first(stream.items.len());
            positions[stream.items.clone()].copy_from_slice(found);
        };
        self.locate(index, rows, take)?;
        Ok((!positions.contains(&NO_POS)).then_some(positions))
    }

    /// Locates rows, and calls `take` with each stream that has positions of some of them.
    fn locate(
        &mut self,
        index: DeviceIndex,
        rows: &[u32],
        mut take: impl FnMut(&BatchStream),
    ) -> Result<()> {
        let mut turns = Turns::default();
        while let Some(items) = turns.next(|from| BATCH_ITEMS.min(rows.len() - from)) {
            let stream = &mut self.streams[turns.stream()];
            turns.done = stream.finish(&mut take).and_then(|()| {
                let UploadedRows {
                    gpu,
                    rows,
                    positions,
                    output,
                } = stream.upload_rows(items.clone(), &rows[items])?;
                search::positions(gpu, &index, rows, positions)?;
                output.download(gpu, positions, 0..positions.len())
            });
        }
        self.finish(turns, index, take)
    }

    /// Number of indexes on the device.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.indexes.len()
    }

    /// Returns true if indexes may be kept, with some memory to spare.
    #[cfg(test)]
    pub fn is_mostly_free(&self) -> bool {
        self.streams[0].gpu.free_memory().unwrap() > self.memory / 5 * 3
    }

    /// Makes the GPU report that it has no memory to spare.
    #[cfg(test)]
    pub fn make_scarce(&self) {
        self.streams[0].gpu.make_scarce();
    }

    /// Makes the launch after the next `launches` fail on each stream.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.streams
            .iter()
            .for_each(|stream| stream.gpu.fail_after(launches));
    }

    /// Returns true if an index may take the memory that it needs on the GPU.
    pub(crate) fn can_hold(&self, arrays: &IndexArrays) -> Result<bool> {
        Ok(DeviceIndex::size(arrays)? <= self.memory - self.memory / HOLD_SHARE)
    }

    /// Takes the index with these arrays from the kept ones, or copies it to the device.
    fn load(&mut self, arrays: &IndexArrays) -> Result<DeviceIndex> {
        self.indexes.retain(DeviceIndex::is_wanted);
        let there = self
            .indexes
            .iter()
            .position(|index| index.is_of(arrays));
        match there.map(|at| self.indexes.remove(at)) {
            Some(index) if index.has_kmers_of(arrays) => Ok(index),
            without_kmers => {
                drop(without_kmers);
                let new = |gpu: &Gpu| DeviceIndex::new(gpu, arrays);
                self.with_room(DeviceIndex::size(arrays)?, new)
            }
        }
    }

    /// Runs `copy`, which takes `bytes` of device memory. If memory is scarce, the indexes searched
    /// most recently are dropped first: blocks are searched in turn, so these will be needed last.
    fn with_room<T>(&mut self, bytes: usize, mut copy: impl FnMut(&Gpu) -> Result<T>) -> Result<T> {
        let gpu = &self.streams[0].gpu;
        while !self.indexes.is_empty()
            && gpu.free_memory()?.saturating_sub(bytes) < self.memory / FREE_SHARE
        {
            self.indexes.pop();
            // Its memory is only freed once the stream reaches this point.
            gpu.wait()?;
        }
        match copy(gpu) {
            Err(_) if !self.indexes.is_empty() => {
                self.indexes.clear();
                gpu.wait()?;
                copy(gpu)
            }
            done => done,
        }
    }

    /// Takes the results that are not yet taken, those of the oldest batch first, and keeps the
    /// index.
    fn finish(
        &mut self,
        turns: Turns,
        index: DeviceIndex,
        mut take: impl FnMut(&BatchStream),
    ) -> Result<()> {
        let mut done = turns.done;
        for turn in turns.begun..turns.begun + STREAMS {
            done = done.and_then(|()| self.streams[turn % STREAMS].finish(&mut take));
        }
        if done.is_err() {
            // No stream may still be at work when the next search begins. Errors of these waits are
            // ignored, since `done` has the first error.
            for stream in &mut self.streams {
                stream.items = 0..0;
                let _ = stream.gpu.wait();
            }
        }
        self.indexes.push(index);
        done
    }
}

/// The turns of the streams: each takes the next batch of items.
struct Turns {
    /// Number of turns that have begun.
    begun: usize,
    /// Number of items in these turns.
    items: usize,
    /// The error that ended the last turn, if there was one.
    done: Result<()>,
}

impl Default for Turns {
    fn default() -> Self {
        Turns {
            begun: 0,
            items: 0,
            done: Ok(()),
        }
    }
}

impl Turns {
    /// Begins the next turn, and returns its items. `batch(from)` is the number of items from
    /// `from` on. Returns `None` if there are no more, or after an error.
    fn next(&mut self, batch: impl Fn(usize) -> usize) -> Option<Range<usize>> {
        let from = self.items;
        let count = if self.done.is_ok() { batch(from) } else { 0 };
        if count == 0 {
            return None;
        }
        self.begun += 1;
        self.items += count;
        Some(from..self.items)
    }

    /// Number of the stream whose turn it is.
    fn stream(&self) -> usize {
        (self.begun - 1) % STREAMS
    }
}

/// A batch of patterns on the device, and the places for their intervals.
struct PackedPatterns<'s> {
    gpu: &'s Gpu,
    /// The text of the patterns.
    text: Array<'s, u8>,
    /// The starts of the patterns in the text.
    starts: Array<'s, u32>,
    /// Both ends of each interval.
    rows: Array<'s, u32>,
    output: &'s mut PinnedBuffer<u32>,
}

/// A batch of rows on the device, and the places for their positions.
struct UploadedRows<'s> {
    gpu: &'s Gpu,
    rows: Array<'s, u32>,
    positions: Array<'s, u32>,
    output: &'s mut PinnedBuffer<u32>,
}

impl BatchStream {
    /// Waits for the items in progress, if any, and calls `take`.
    fn finish(&mut self, take: &mut impl FnMut(&BatchStream)) -> Result<()> {
        if !self.items.is_empty() {
            self.gpu.wait()?;
            take(self);
            self.items = 0..0;
        }
        Ok(())
    }

    /// Packs patterns and queues their copy to the device. They are the `items` of this turn.
    fn upload_patterns<P: AsRef<[u8]> + Sync>(
        &mut self,
        items: Range<usize>,
        patterns: &[P],
        longest: usize,
    ) -> Result<PackedPatterns<'_>> {
        self.items = items;
        let BatchStream {
            gpu,
            text: packed,
            input,
            output,
            memory,
            ..
        } = self;
        let count = patterns.len();
        let starts = &mut input.reserve(gpu, BATCH_ITEMS + 1)?[..=count];
        let size = fill_starts(starts, patterns, longest);
        let room = size.max(BATCH_BYTES).next_multiple_of(8);
        pack(
            patterns,
            longest,
            starts,
            &mut packed.reserve(gpu, room)?[..size],
        );
        output.reserve(gpu, 2 * BATCH_ITEMS)?;

        let (text, starts, rows): (Array<u8>, Array<u32>, Array<u32>) =
            memory.fit(gpu, |arena| {
                let items = BATCH_ITEMS + 1;
                let ends = 2 * BATCH_ITEMS;
                Ok((arena.array(room), arena.array(items), arena.array(ends)))
            })?;
        let starts = starts.first(count as u32 + 1);
        let rows = rows.first(2 * count as u32);
        if size > 0 {
            gpu.zero(text.part(size as u32 / 8 * 8..size.next_multiple_of(8) as u32))?;
            packed.upload(gpu, text.first(size as u32))?;
        }
        input.upload(gpu, starts)?;
        Ok(PackedPatterns {
            gpu,
            text,
            starts,
            rows,
            output,
        })
    }

    /// Queues the copy of rows to the device. They are the `items` of this turn.
    fn upload_rows(&mut self, items: Range<usize>, rows: &[u32]) -> Result<UploadedRows<'_>> {
        self.items = items;
        let BatchStream {
            gpu,
            input,
            output,
            memory,
            ..
        } = self;
        let count = rows.len();
        input.reserve(gpu, BATCH_ITEMS + 1)?[..count].copy_from_slice(rows);
        output.reserve(gpu, 2 * BATCH_ITEMS)?;
        let two = memory.fit(gpu, |arena| Ok(arena.double_buffer(BATCH_ITEMS)))?;
        let two = two.first_items(count as u32);
        input.upload(gpu, two.current)?;
        Ok(UploadedRows {
            gpu,
            rows: two.current,
            positions: two.alternate,
            output,
        })
    }
}
