//! Encodes a BWT into slices of static rANS on a GPU, with the same bytes as the CPU encoder.
//!
//! The host has one step in between: it chooses the models from the counts of symbols, by the
//! function that the CPU encoder uses too. Only coded bytes are copied to the host.

use crate::base::error::{Error, Result};
use crate::base::threads;
use crate::coder::device_tables::ModelArrays;
use crate::coder::{CodedBwt, SliceLimits};
use crate::gpu::coder::context_maps::ContextMaps;
use crate::gpu::coder::encode_arrays::{EncodeArrays, EncodeShape, Encoding};
use crate::gpu::coder::{run_slices, slice_contexts, slice_encode};
use crate::gpu::interface::MOST_PINNED;
use crate::gpu::runtime::{
    ArenaAllocator, Array, Gpu, GrowingArena, PinnedBuffer, Staging, measure,
};
use std::time::Instant;

/// Encodes BWTs on one GPU, on its own stream. Its memory grows to fit the largest block and is
/// kept. Several encoders can use one GPU at the same time.
#[derive(Debug)]
pub struct BwtEncoder {
    memory: GrowingArena,
    /// Length of the BWT that was loaded, or 0.
    loaded: usize,
    /// The shape of a part whose symbols were counted.
    part: Option<EncodeShape>,
    steps: EncodeSteps,
}

/// The stream of an encoder, and its memory on the host.
#[derive(Debug)]
struct EncodeSteps {
    gpu: Gpu,
    maps: ContextMaps,
    /// The next BWT; later the coded slices in its place.
    bytes: PinnedBuffer<u8>,
    /// Counts of symbols, the tables made from them, and the starts of slices.
    words: PinnedBuffer<u32>,
}

/// Result of encoding a BWT.
#[derive(Debug)]
pub struct EncodedSlices {
    /// Models that all slices share.
    pub models: Vec<u8>,
    /// Decoded size of each slice, in bytes.
    pub raw_sizes: Vec<u32>,
    /// Coded size of each slice, in bytes.
    pub coded_sizes: Vec<u32>,
    /// Number of occurrences of each byte in the BWT.
    pub byte_counts: [u32; 256],
    /// Time at which the encoding ended.
    pub ended: Instant,
    shape: EncodeShape,
    /// True if the coded bytes are in the encoder's pinned memory, and not on the device.
    on_host: bool,
}

impl EncodedSlices {
    /// Size of all coded slices in bytes.
    fn size(&self) -> u32 {
        self.coded_sizes.iter().sum()
    }
}

/// The rows of a text that was sorted on the same GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedRows<'m> {
    /// The last column, without its first row.
    pub rows: Array<'m, u8>,
    /// The row of the whole text, which is left out of the BWT.
    pub primary: u32,
    /// The first row: the last byte of the text.
    pub last: u8,
}

impl BwtEncoder {
    /// Creates an encoder on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let maps = ContextMaps::new(&gpu)?;
        let bytes = PinnedBuffer::default();
        let words = PinnedBuffer::default();
        Ok(BwtEncoder {
            memory: GrowingArena::default(),
            loaded: 0,
            part: None,
            steps: EncodeSteps {
                gpu,
                maps,
                bytes,
                words,
            },
        })
    }

    /// Allocates the memory for BWTs of up to `n` bytes, unless this is done already.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory, [`Error::Io`] if the host has.
    pub fn reserve(&mut self, n: u32, limits: SliceLimits) -> Result<()> {
        self.reserve_beside(0, n, limits)
    }

    /// Allocates the memory for BWTs of up to `n` bytes that are encoded in other memory of the
    /// device if they fit in `size` bytes.
    pub(super) fn reserve_beside(
        &mut self,
        size: usize,
        n: u32,
        limits: SliceLimits,
    ) -> Result<()> {
        let shape = EncodeShape::new(n, limits)?;
        let EncodeSteps {
            gpu, bytes, words, ..
        } = &mut self.steps;
        // The coded slices of a larger block are mostly shorter, and the memory can still grow.
        bytes.reserve(gpu, n.min(MOST_PINNED as u32) as usize)?;
        words.reserve(gpu, HostWords::of(shape).all())?;
        match measured(gpu, shape)? <= size {
            true => Ok(()),
            false => allocate(gpu, &mut self.memory, shape).map(drop),
        }
    }

    /// Encodes a BWT of 1 to [`MOST_BYTES`](crate::gpu::MOST_BYTES) bytes.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory or fails. The encoder can be used again,
    /// but after some failures every later call fails too.
    pub fn encode(&mut self, bwt: &[u8], limits: SliceLimits) -> Result<CodedBwt> {
        self.load(bwt, limits)?;
        let encoded = self.encode_loaded(limits)?;
        self.take(encoded, 1)
    }

    /// Copies the slices that were encoded last to the host, on up to `threads` threads if they are
    /// large.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn take(&mut self, encoded: EncodedSlices, threads: usize) -> Result<CodedBwt> {
        let bytes = self.download(&encoded)?;
        let slices = owned(&pieces(bytes, &encoded.coded_sizes), threads);
        Ok(CodedBwt {
            models: encoded.models,
            raw_sizes: encoded.raw_sizes,
            slices,
        })
    }

    /// Copies a BWT to the device.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn load(&mut self, bwt: &[u8], limits: SliceLimits) -> Result<()> {
        let too_long = |_| Error::Usage("a GPU codes fewer than 2^32 bytes".into());
        let n = u32::try_from(bwt.len()).map_err(too_long)?;
        self.loaded = 0;
        self.reserve(n, limits)?;
        let EncodeSteps { gpu, bytes, .. } = &mut self.steps;
        bytes
            .reserve(gpu, bwt.len())?
            .copy_from_slice(bwt);
        let arrays = allocate(gpu, &mut self.memory, EncodeShape::new(n, limits)?)?;
        bytes.upload(gpu, arrays.bwt.first(n))?;
        let done = gpu.wait();
        self.loaded = bwt.len();
        done
    }

    /// Encodes the BWT of a text that was sorted on the same GPU, which must be idle. The slices
    /// are copied to the host's pinned memory. The work is done in `memory` if it is large enough.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub(super) fn encode_rows(
        &mut self,
        sorted: SortedRows,
        memory: Array<u8>,
        limits: SliceLimits,
    ) -> Result<EncodedSlices> {
        let shape = EncodeShape::new(sorted.rows.len() - 1, limits)?;
        self.loaded = 0;
        self.reserve_beside(memory.size(), shape.n, limits)?;
        let steps = &mut self.steps;
        let encoded = if measured(&steps.gpu, shape)? <= memory.size() {
            let mut arena = ArenaAllocator::within(memory);
            let arrays = EncodeArrays::allocate(&steps.gpu, &mut arena, shape)?;
            steps.encode_rows(sorted, arrays, shape)
        } else {
            let arrays = allocate(&steps.gpu, &mut self.memory, shape)?;
            steps.encode_rows(sorted, arrays, shape)
        };
        self.steps.gpu.ended(encoded)
    }

    /// Encodes the loaded BWT, which stays loaded.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn encode_loaded(&mut self, limits: SliceLimits) -> Result<EncodedSlices> {
        if self.loaded == 0 {
            return Err(Error::Usage("no BWT was loaded".into()));
        }
        let shape = EncodeShape::new(self.loaded as u32, limits)?;
        let steps = &mut self.steps;
        let arrays = allocate(&steps.gpu, &mut self.memory, shape);
        let encoded = arrays.and_then(|arrays| steps.run(arrays, shape));
        self.steps.gpu.ended(encoded)
    }

    /// Copies a part of a BWT to the device, on up to `threads` threads, and counts its symbols as
    /// [`ModelArrays::choose`] takes them. A slice has as many runs as the limits say.
    pub(super) fn count_part(
        &mut self,
        bwt: &[u8],
        limits: SliceLimits,
        staging: &mut Staging,
        threads: usize,
    ) -> Result<Vec<u32>> {
        let too_long = |_| Error::Usage("a part has fewer than 2^32 bytes".into());
        let n = u32::try_from(bwt.len()).map_err(too_long)?;
        let shape = EncodeShape::new(n, limits)?.of_part();
        self.part = None;
        let steps = &mut self.steps;
        let arrays = allocate(&steps.gpu, &mut self.memory, shape)?;
        // The stream of the copies may use the memory only after it is allocated on this one.
        steps.gpu.wait()?;
        let uploaded = staging.upload(&steps.gpu, arrays.bwt.first(n), |range, room| {
            let part = &bwt[range.start as usize..range.end as usize];
            threads::copy_portion(room, part, threads);
        });
        staging.ended(uploaded)?;
        let encoding = Encoding::new(arrays, shape, steps.maps.address());
        let counted = steps.count(&encoding);
        steps.gpu.ended(counted)?;
        self.part = Some(shape);
        Ok(steps.words.first(ModelArrays::COUNTS).to_vec())
    }

    /// Encodes the part that was counted last by the counts and the tables of the whole BWT. Gives
    /// the decoded sizes of its slices, and the coded slices.
    pub(super) fn encode_part(
        &mut self,
        counts: &[u32],
        tables: &[u32],
        threads: usize,
    ) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
        let not_counted = || Error::Usage("no part was counted".into());
        let shape = self.part.take().ok_or_else(not_counted)?;
        let steps = &mut self.steps;
        let arrays = allocate(&steps.gpu, &mut self.memory, shape)?;
        let encoding = Encoding::new(arrays, shape, steps.maps.address());
        let encoded = steps.encode_part(&encoding, counts, tables);
        let (raw_sizes, coded_sizes) = steps.gpu.ended(encoded)?;
        let bytes = steps
            .bytes
            .first(coded_sizes.iter().sum::<u32>() as usize);
        let slices = owned(&pieces(bytes, &coded_sizes), threads);
        Ok((raw_sizes, slices))
    }

    /// Copies the coded slices to the host, one behind the other.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn download(&mut self, encoded: &EncodedSlices) -> Result<&[u8]> {
        if !encoded.on_host {
            let steps = &mut self.steps;
            let arrays = allocate(&steps.gpu, &mut self.memory, encoded.shape)?;
            steps.download(arrays, encoded.size())?;
        }
        Ok(self.steps.bytes.first(encoded.size() as usize))
    }

    /// Bytes of device memory in use.
    pub fn memory(&self) -> usize {
        self.memory.len()
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.steps.gpu.fail_after(launches);
    }
}

impl EncodeSteps {
    /// Encodes the BWT of sorted rows, and copies the slices to the host.
    fn encode_rows(
        &mut self,
        sorted: SortedRows,
        arrays: EncodeArrays,
        shape: EncodeShape,
    ) -> Result<EncodedSlices> {
        let SortedRows {
            rows,
            primary,
            last,
        } = sorted;
        let n = shape.n;
        assert!((1..=n).contains(&primary));
        let gpu = &self.gpu;
        self.bytes.reserve(gpu, 1)?[0] = last;
        self.bytes.upload(gpu, arrays.bwt.first(1))?;
        for (from, to) in [(1..primary, 1..primary), (primary + 1..n + 1, primary..n)] {
            if !from.is_empty() {
                gpu.copy(rows.part(from), arrays.bwt.part(to))?;
            }
        }
        gpu.wait()?;
        let mut encoded = self.run(arrays, shape)?;
        self.download(arrays, encoded.size())?;
        encoded.on_host = true;
        Ok(encoded)
    }

    /// Copies `size` coded bytes to the host.
    fn download(&mut self, arrays: EncodeArrays, size: u32) -> Result<()> {
        self.bytes.reserve(&self.gpu, size as usize)?;
        self.bytes
            .download(&self.gpu, arrays.coded.first(size), 0..size)?;
        self.gpu.wait()
    }

    /// Encodes the BWT in its array.
    fn run(&mut self, arrays: EncodeArrays, shape: EncodeShape) -> Result<EncodedSlices> {
        let encoding = Encoding::new(arrays, shape, self.maps.address());
        self.count(&encoding)?;
        let mut models = Vec::new();
        let counts = self.words.first(ModelArrays::COUNTS);
        let byte_counts = *counts.last_chunk().expect("the bytes come last");
        let chosen = ModelArrays::choose(counts, &mut models);
        let (raw_sizes, coded_sizes) = self.encode(&encoding, &chosen.tables)?;
        Ok(EncodedSlices {
            models,
            raw_sizes,
            coded_sizes,
            byte_counts,
            ended: Instant::now(),
            shape,
            on_host: false,
        })
    }

    /// Finds the slices, and counts the symbols of their runs into the first words.
    fn count(&mut self, encoding: &Encoding) -> Result<()> {
        let gpu = &self.gpu;
        let Encoding { arrays, shape, .. } = encoding;
        // Kernels read whole words, which may reach past the BWT and the coded words.
        gpu.zero(arrays.bwt.part(shape.n..arrays.bwt.len()))?;
        gpu.zero(arrays.words)?;
        gpu.zero(arrays.slices)?;
        run_slices::find_slices(gpu, encoding)?;
        slice_contexts::count_symbols(gpu, encoding)?;
        let at = HostWords::of(*shape);
        self.words.reserve(gpu, at.all())?;
        self.words
            .download(gpu, arrays.counts, 0..at.tables)?;
        gpu.wait()
    }

    /// Encodes the slices of a part, and copies them to the host. A list of first symbols depends
    /// on the bytes that occur anywhere in the BWT.
    fn encode_part(
        &mut self,
        encoding: &Encoding,
        counts: &[u32],
        tables: &[u32],
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let arrays = encoding.arrays;
        let all = HostWords::of(encoding.shape).all();
        let words = self.words.reserve(&self.gpu, all)?;
        words[..counts.len()].copy_from_slice(counts);
        self.words.upload(&self.gpu, arrays.counts)?;
        let (raw_sizes, coded_sizes) = self.encode(encoding, tables)?;
        self.download(arrays, coded_sizes.iter().sum())?;
        Ok((raw_sizes, coded_sizes))
    }

    /// Encodes the slices by these tables. Gives the raw and the coded size of each.
    fn encode(&mut self, encoding: &Encoding, tables: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
        let gpu = &self.gpu;
        let Encoding { arrays, shape, .. } = encoding;
        let at = HostWords::of(*shape);
        let words = self.words.reserve(gpu, at.all())?;
        words[at.tables as usize..at.slices as usize].copy_from_slice(tables);
        self.words
            .upload_part(gpu, arrays.tables, at.tables..at.slices)?;
        slice_encode::encode_slices(gpu, encoding)?;
        self.words
            .download(gpu, arrays.slices.cast(), at.slices..at.starts)?;
        self.words
            .download(gpu, arrays.coded_starts, at.starts..at.count)?;
        self.words
            .download(gpu, arrays.slice_count, at.count..at.count + 1)?;
        gpu.wait()?;
        let sizes = at.sizes(self.words.first(at.all()), shape.n);
        let wrong = || Error::Device("a GPU gave slices that do not fit the block".into());
        sizes.ok_or_else(wrong)
    }
}

/// Offsets in the host's words. The counts of symbols come first, at 0.
struct HostWords {
    tables: u32,
    slices: u32,
    starts: u32,
    count: u32,
}

impl HostWords {
    fn of(shape: EncodeShape) -> Self {
        let tables = ModelArrays::COUNTS as u32;
        let items = shape.most_slices() + 1;
        let slices = tables + tables - 256;
        HostWords {
            tables,
            slices,
            starts: slices + 2 * items,
            count: slices + 3 * items,
        }
    }

    fn all(&self) -> usize {
        self.count as usize + 1
    }

    /// The raw and the coded size of each slice of `n` bytes. Returns `None` if a number that the
    /// GPU wrote is out of range.
    fn sizes(&self, words: &[u32], n: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        let count = words[self.count as usize] as usize;
        let starts = |from: u32, to: u32| words[from as usize..to as usize].iter().copied();
        // Each slice start is a pair: a byte and a run.
        let raw = starts(self.slices, self.starts)
            .step_by(2)
            .take(count + 1);
        let coded = starts(self.starts, self.count).take(count + 1);
        Some((differences(raw, count, n)?, differences(coded, count, n)?))
    }
}

/// The `count` differences of a sequence that begins with 0, never falls, and ends at `n` at most.
fn differences(starts: impl Iterator<Item = u32>, count: usize, n: u32) -> Option<Vec<u32>> {
    let starts: Vec<u32> = starts.collect();
    let fits = starts.len() == count + 1 && starts[0] == 0 && starts[count] <= n;
    let steps = starts
        .windows(2)
        .map(|pair| pair[1].checked_sub(pair[0]));
    fits.then(|| steps.collect())?
}

/// Allocates the arrays for a BWT, from memory that grows if it is too small.
fn allocate<'m>(
    gpu: &Gpu,
    memory: &'m mut GrowingArena,
    shape: EncodeShape,
) -> Result<EncodeArrays<'m>> {
    memory.fit(gpu, |arena| EncodeArrays::allocate(gpu, arena, shape))
}

/// The pieces of these sizes.
fn pieces<'b>(mut bytes: &'b [u8], sizes: &[u32]) -> Vec<&'b [u8]> {
    let mut piece = |&size: &u32| {
        let piece = bytes.split_off(..size as usize);
        piece.expect("their sum")
    };
    sizes.iter().map(&mut piece).collect()
}

/// Copies pieces to memory of their own, on up to `threads` threads (at most 8) if they are large
/// together.
fn owned(pieces: &[&[u8]], threads: usize) -> Vec<Vec<u8>> {
    const LARGE: usize = 64 << 20;
    let len: usize = pieces.iter().map(|piece| piece.len()).sum();
    let threads = if len < LARGE { 1 } else { threads.min(8) };
    let mut copies = vec![Vec::new(); pieces.len()];
    threads::in_turn(copies.iter_mut().zip(pieces), threads, |(copy, piece)| {
        *copy = piece.to_vec();
    });
    copies
}

/// Measures the bytes that the arrays take.
fn measured(gpu: &Gpu, shape: EncodeShape) -> Result<usize> {
    measure(|arena| EncodeArrays::allocate(gpu, arena, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_out_of_range_are_refused() {
        let at = HostWords {
            tables: 0,
            slices: 0,
            starts: 6,
            count: 9,
        };
        // Only two of the three entries for starts are in use.
        let sound = [0, 1, 50, 2, 99, 99, 0, 20, 99, 1];
        assert_eq!(at.sizes(&sound, 60), Some((vec![50], vec![20])));
        for (word, wrong) in [(9, 3), (9, u32::MAX), (0, 51), (2, 61), (6, 1), (7, 61)] {
            let mut words = sound;
            words[word] = wrong;
            assert_eq!(at.sizes(&words, 60), None, "{wrong} at {word}");
        }
        assert_eq!(
            at.sizes(&[0, 1, 50, 2, 40, 99, 0, 20, 30, 2], 60),
            None,
            "backwards"
        );
    }
}
