//! Batches of patterns on their way to a GPU and back: packed into pinned memory, copied, searched,
//! and the intervals copied back.
//!
//! Batches take turns on a few streams, so that one is packed by the processor while another is
//! copied and a third is searched. Results come in the order of the patterns. Memory per stream: a
//! batch of [`BATCH_BYTES`] of pattern text, or of one longer pattern, and 12 bytes for each of up
//! to [`BATCH_ITEMS`] patterns, which is 19 MiB on either side. Indexes stay on the device as long
//! as they are there on the host, and half of its memory is free. Each is as large as on the host:
//! 2.3 to 8 bits per symbol of text for up to 16 symbols, else 12 to 24, 2 or less for the k-mer
//! table, and 1.1 bits and 32 per sample where positions are asked for.

use crate::error::Result;
use crate::gpu::interface::{IndexArrays, SampleArrays};
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};
use crate::gpu::search::{
    self, BATCH_BYTES, BATCH_ITEMS, CHUNK, DeviceIndex, NO_POS, batch, fill_starts, pack,
};
use rayon::prelude::*;
use std::ops::Range;

/// Streams: a batch is packed, a batch copied, a batch searched.
const STREAMS: usize = 3;

/// Indexes are kept beside a new one while one of so many parts of the GPU's memory stays free.
const FREE_SHARE: usize = 2;

/// An index may take all but one of so many parts of it.
const HOLD_SHARE: usize = 4;

/// Searches on one GPU. Its memory is kept for the next batches, and so are the indexes that were
/// searched: the blocks of a file take turns with each batch.
#[derive(Debug)]
pub struct Searcher {
    streams: Vec<BatchStream>,
    /// Bytes of memory that the GPU has in all.
    memory: usize,
    /// The last one was searched last.
    indexes: Vec<DeviceIndex>,
}

/// A stream, and a batch on it.
#[derive(Debug)]
struct BatchStream {
    gpu: Gpu,
    text: PinnedBuffer<u8>,
    input: PinnedBuffer<u32>,
    output: PinnedBuffer<u32>,
    memory: GrowingArena,
    /// Which items are under way.
    items: Range<usize>,
}

impl Searcher {
    /// A searcher on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where there is none, or no driver, or it fails.
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

    /// Finds the interval of each pattern in the index with these arrays, which is copied to the
    /// device unless it is there.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the memory of the GPU does not do, or the GPU
    /// fails.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub(crate) fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        assert_eq!(patterns.len(), intervals.len(), "an interval for each pattern");
        self.each(arrays, patterns, |interval, rows| *interval = rows, intervals)
    }

    /// Counts the rows of each pattern's interval in the index with these arrays; more than there
    /// are where it ends before it begins.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    ///
    /// # Panics
    /// If there are not as many counts as patterns.
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

    /// Finds the interval of each pattern, and has it taken in its place.
    fn each<P: AsRef<[u8]> + Sync, T: Send>(
        &mut self,
        arrays: &IndexArrays,
        patterns: &[P],
        take: impl Fn(&mut T, Range<u32>) + Sync,
        places: &mut [T],
    ) -> Result<()> {
        let (index, longest) = (self.load(arrays)?, arrays.len + 1);
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

    /// The positions of some rows in the index with these arrays and samples; `None` where these
    /// contradict each other.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    ///
    /// # Panics
    /// If a row is none of the index.
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

    /// How many indexes are on the device.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.indexes.len()
    }

    /// Whether indexes may be kept, with some room to spare.
    #[cfg(test)]
    pub fn is_mostly_free(&self) -> bool {
        self.streams[0].gpu.free_memory().unwrap() > self.memory / 5 * 3
    }

    /// Has the GPU say that it has no memory to spare.
    #[cfg(test)]
    pub fn make_scarce(&self) {
        self.streams[0].gpu.make_scarce();
    }

    /// Makes the launch after the next `launches` fail on each stream.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.streams.iter().for_each(|stream| stream.gpu.fail_after(launches));
    }

    /// Whether the GPU has the memory for an index.
    pub(crate) fn can_hold(&self, arrays: &IndexArrays) -> Result<bool> {
        Ok(DeviceIndex::size(arrays)? <= self.memory - self.memory / HOLD_SHARE)
    }

    /// Takes the index with these arrays from those that are kept, or copies it to the device.
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

    /// Does what takes so many bytes of device memory. Where these are scarce, indexes give way
    /// that were searched last: blocks are searched in turn, so that these come last again.
    fn with_room<T>(&mut self, bytes: usize, mut copy: impl FnMut(&Gpu) -> Result<T>) -> Result<T> {
        let gpu = &self.streams[0].gpu;
        while !self.indexes.is_empty()
            && gpu.free_memory()?.saturating_sub(bytes) < self.memory / FREE_SHARE
        {
            self.indexes.pop();
            // Until then its memory is not free.
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

    /// Runs batches on the streams in turn, in an index that is kept then. `next(from)` says which
    /// items come from there on, none at the end; `queue` starts those of a stream; `take` takes
    /// what came of them.
    fn run(
        &mut self,
        index: DeviceIndex,
        next: impl Fn(usize) -> Range<usize>,
        queue: impl Fn(&mut BatchStream, &DeviceIndex) -> Result<()>,
        mut take: impl FnMut(&BatchStream),
    ) -> Result<()> {
        let mut turns = || -> Result<()> {
            let (mut turn, mut items) = (0, next(0));
            while !items.is_empty() {
                let stream = &mut self.streams[turn % STREAMS];
                stream.finish(&mut take)?;
                let end = items.end;
                stream.items = items;
                queue(stream, &index)?;
                items = next(end);
                turn += 1;
            }
            // The oldest comes first.
            (turn..turn + STREAMS)
                .try_for_each(|turn| self.streams[turn % STREAMS].finish(&mut take))
        };
        let done = turns();
        if done.is_err() {
            // Nothing may still be at work when the next search begins. What that says adds
            // nothing.
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
    /// Waits for the items under way, if there are any, and has them taken.
    fn finish(&mut self, take: &mut impl FnMut(&BatchStream)) -> Result<()> {
        if !self.items.is_empty() {
            self.gpu.wait()?;
            take(self);
            self.items = 0..0;
        }
        Ok(())
    }

    /// Queues the search of some patterns; their intervals come to `output`.
    fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &DeviceIndex,
        patterns: &[P],
        longest: usize,
    ) -> Result<()> {
        let (gpu, count) = (&self.gpu, patterns.len());
        let starts = &mut self.input.reserve(gpu, BATCH_ITEMS + 1)?[..=count];
        let size = fill_starts(starts, patterns, longest);
        let room = size.max(BATCH_BYTES).next_multiple_of(8);
        pack(patterns, longest, starts, &mut self.text.reserve(gpu, room)?[..size]);
        self.output.reserve(gpu, 2 * BATCH_ITEMS)?;

        // The text, where its patterns start, and both ends of their intervals.
        let (text, starts, rows): (Array<u8>, Array<u32>, Array<u32>) =
            self.memory.fit(gpu, |arena| {
                let (items, ends) = (BATCH_ITEMS + 1, 2 * BATCH_ITEMS);
                Ok((arena.array(room), arena.array(items), arena.array(ends)))
            })?;
        let (starts, rows) = (starts.first(count as u32 + 1), rows.first(2 * count as u32));
        if size > 0 {
            gpu.zero(text.part(size as u32 / 8 * 8..size.next_multiple_of(8) as u32))?;
            self.text.upload(gpu, text.first(size as u32))?;
        }
        self.input.upload(gpu, starts)?;
        search::intervals(gpu, index, text, starts, rows)?;
        self.output.download(gpu, rows, 0..rows.len())
    }

    /// Queues walks from some rows; their positions come to `output`.
    fn locate(&mut self, index: &DeviceIndex, rows: &[u32]) -> Result<()> {
        let (gpu, count) = (&self.gpu, rows.len());
        self.input.reserve(gpu, BATCH_ITEMS + 1)?[..count].copy_from_slice(rows);
        self.output.reserve(gpu, 2 * BATCH_ITEMS)?;
        let two = self.memory.fit(gpu, |arena| Ok(arena.double_buffer(BATCH_ITEMS)))?;
        let two = two.first_items(count as u32);
        self.input.upload(gpu, two.current)?;
        search::positions(gpu, index, two.current, two.alternate)?;
        self.output.download(gpu, two.alternate, 0..count as u32)
    }
}
