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
pub struct Searcher {
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

impl Searcher {
    /// Creates a searcher on GPU `number`.
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
        let streams: Vec<BatchStream> = (0..STREAMS).map(|_| stream()).collect::<Result<_>>()?;
        let memory = streams[0].gpu.all_memory()?;
        Ok(Searcher { streams, memory, indexes: Vec::new() })
    }

    /// Finds the interval of each pattern in the index with these arrays. The arrays are copied to
    /// the device unless they are there.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU has too little memory or fails.
    ///
    /// # Panics
    /// If the numbers of intervals and patterns differ.
    pub(crate) fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        assert_eq!(patterns.len(), intervals.len(), "an interval for each pattern");
        self.each(arrays, patterns, |interval, rows| *interval = rows, intervals)
    }

    /// Counts the rows of each pattern's interval in the index with these arrays. An interval that
    /// ends before it begins counts as `u64::MAX`, which is more than any index has.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    ///
    /// # Panics
    /// If the numbers of counts and patterns differ.
    pub(crate) fn count<P: AsRef<[u8]> + Sync>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        counts: &mut [u64],
    ) -> Result<()> {
        assert_eq!(patterns.len(), counts.len(), "a count for each pattern");
        let count = |count: &mut u64, rows: Range<u32>| {
            *count = rows.end.checked_sub(rows.start).map_or(u64::MAX, u64::from);
        };
        self.each(arrays, patterns, count, counts)
    }

    /// Finds the interval of each pattern, and calls `take` with the pattern's entry of `places`
    /// and its interval.
    fn each<P: AsRef<[u8]> + Sync, T: Send>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        take: impl Fn(&mut T, Range<u32>) + Sync,
        places: &mut [T],
    ) -> Result<()> {
        let index = self.load(arrays)?;
        let longest = arrays.len + 1;
        self.run(
            index,
            |from| from..from + batch(&patterns[from..], longest),
            |stream, index| stream.search(index, &patterns[stream.items.clone()], longest),
            |stream| {
                let rows = stream.output.first(2 * stream.items.len());
                let places = &mut places[stream.items.clone()];
                let chunks = places.par_chunks_mut(CHUNK).zip(rows.par_chunks(2 * CHUNK));
                chunks.for_each(|(places, rows)| {
                    for (place, ends) in places.iter_mut().zip(rows.chunks_exact(2)) {
                        take(place, ends[0]..ends[1]);
                    }
                });
            },
        )
    }

    /// Finds the positions of some rows in the index with these arrays and samples. Returns `None`
    /// if the samples contradict the index.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    ///
    /// # Panics
    /// If a row is not in the index.
    pub(crate) fn positions(
        &mut self,
        arrays: &IndexArrays,
        samples: &SampleArrays,
        rows: &[u32],
    ) -> Result<Option<Vec<u32>>> {
        assert!(rows.par_iter().all(|&row| row as usize <= arrays.len), "no row of the index");
        let mut index = self.load(arrays)?;
        if !index.has_samples(samples) {
            let add = |gpu: &Gpu| index.add_samples(gpu, samples);
            self.with_room(DeviceIndex::samples_size(samples)?, add)?;
        }
        let mut positions = vec![0; rows.len()];
        self.run(
            index,
            |from| from..rows.len().min(from + BATCH_ITEMS),
            |stream, index| stream.locate(index, &rows[stream.items.clone()]),
            |stream| {
                let found = stream.output.first(stream.items.len());
                positions[stream.items.clone()].copy_from_slice(found);
            },
        )?;
        Ok((!positions.contains(&NO_POS)).then_some(positions))
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
        self.streams.iter().for_each(|stream| stream.gpu.fail_after(launches));
    }

    /// Returns true if an index may take the memory that it needs on the GPU.
    pub(crate) fn can_hold(&self, arrays: &IndexArrays) -> Result<bool> {
        Ok(DeviceIndex::size(arrays)? <= self.memory - self.memory / HOLD_SHARE)
    }

    /// Takes the index with these arrays from the kept ones, or copies it to the device.
    fn load(&mut self, arrays: &IndexArrays) -> Result<DeviceIndex> {
        self.indexes.retain(DeviceIndex::is_wanted);
        let there = self.indexes.iter().position(|index| index.is_of(arrays));
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

    /// Runs batches on the streams in turn, and then keeps the index. `next(from)` gives the range
    /// of items from `from` on, which is empty at the end. `queue` starts the items of a stream.
    /// `take` takes their results.
    fn run(
        &mut self,
        index: DeviceIndex,
        next: impl Fn(usize) -> Range<usize>,
        queue: impl Fn(&mut BatchStream, &DeviceIndex) -> Result<()>,
        mut take: impl FnMut(&BatchStream),
    ) -> Result<()> {
        let mut turns = || -> Result<()> {
            let mut turn = 0;
            let mut items = next(0);
            while !items.is_empty() {
                let stream = &mut self.streams[turn % STREAMS];
                stream.finish(&mut take)?;
                let end = items.end;
                stream.items = items;
                queue(stream, &index)?;
                items = next(end);
                turn += 1;
            }
            // The oldest batch comes first.
            (turn..turn + STREAMS)
                .try_for_each(|turn| self.streams[turn % STREAMS].finish(&mut take))
        };
        let done = turns();
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

    /// Queues the search of some patterns. Their intervals come to `output`.
    fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &DeviceIndex,
        patterns: &[P],
        longest: usize,
    ) -> Result<()> {
        let gpu = &self.gpu;
        let count = patterns.len();
        let starts = &mut self.input.reserve(gpu, BATCH_ITEMS + 1)?[..=count];
        let size = fill_starts(starts, patterns, longest);
        let room = size.max(BATCH_BYTES).next_multiple_of(8);
        pack(patterns, longest, starts, &mut self.text.reserve(gpu, room)?[..size]);
        self.output.reserve(gpu, 2 * BATCH_ITEMS)?;

        // The text of the patterns, the starts of the patterns, and both ends of their intervals.
        let (text, starts, rows): (Array<u8>, Array<u32>, Array<u32>) =
            self.memory.fit(gpu, |arena| {
                let items = BATCH_ITEMS + 1;
                let ends = 2 * BATCH_ITEMS;
                Ok((arena.array(room), arena.array(items), arena.array(ends)))
            })?;
        let starts = starts.first(count as u32 + 1);
        let rows = rows.first(2 * count as u32);
        if size > 0 {
            gpu.zero(text.part(size as u32 / 8 * 8..size.next_multiple_of(8) as u32))?;
            self.text.upload(gpu, text.first(size as u32))?;
        }
        self.input.upload(gpu, starts)?;
        search::intervals(gpu, index, text, starts, rows)?;
        self.output.download(gpu, rows, 0..rows.len())
    }

    /// Queues walks from some rows. Their positions come to `output`.
    fn locate(&mut self, index: &DeviceIndex, rows: &[u32]) -> Result<()> {
        let gpu = &self.gpu;
        let count = rows.len();
        self.input.reserve(gpu, BATCH_ITEMS + 1)?[..count].copy_from_slice(rows);
        self.output.reserve(gpu, 2 * BATCH_ITEMS)?;
        let two = self.memory.fit(gpu, |arena| Ok(arena.double_buffer(BATCH_ITEMS)))?;
        let two = two.first_items(count as u32);
        self.input.upload(gpu, two.current)?;
        search::positions(gpu, index, two.current, two.alternate)?;
        self.output.download(gpu, two.alternate, 0..count as u32)
    }
}
