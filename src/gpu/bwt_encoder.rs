//! Encodes a BWT into slices of static rANS on a GPU, with the same bytes as the CPU encoder.
//!
//! The host has one step in between: it chooses the models from the counts of symbols, by the
//! function that the CPU encoder uses too. Only coded bytes are copied to the host.

use crate::base::error::{Error, Result};
use crate::coder::device_tables::ModelArrays;
use crate::coder::{CodedBwt, SliceLimits};
use crate::gpu::coder::context_maps::ContextMaps;
use crate::gpu::coder::encode_arrays::{EncodeArrays, EncodeShape, Encoding};
use crate::gpu::coder::{run_slices, slice_contexts, slice_encode};
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};

/// Encodes BWTs on one GPU, on its own stream. Its memory grows to fit the largest block and is
/// kept. Several encoders can use one GPU at the same time.
#[derive(Debug)]
pub struct BwtEncoder {
    gpu: Gpu,
    maps: ContextMaps,
    memory: GrowingArena,
    /// The next BWT and its length; later the coded slices in its place.
    bytes: (PinnedBuffer<u8>, usize),
    /// Counts of symbols, the tables made from them, and the starts of slices.
    words: PinnedBuffer<u32>,
}

/// Result of encoding a BWT. The coded bytes are still on the device.
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
    shape: EncodeShape,
}

impl BwtEncoder {
    /// Creates an encoder on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let maps = ContextMaps::new(&gpu)?;
        let bytes = (PinnedBuffer::default(), 0);
        let words = PinnedBuffer::default();
        Ok(BwtEncoder {
            gpu,
            maps,
            memory: GrowingArena::default(),
            bytes,
            words,
        })
    }

    /// Allocates the memory for BWTs of up to `n` bytes, unless this is done already.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory, [`Error::Io`] if the host has.
    pub fn reserve(&mut self, n: u32, limits: SliceLimits) -> Result<()> {
        let shape = EncodeShape::new(n, limits);
        self.bytes.0.reserve(&self.gpu, n as usize)?;
        self.words
            .reserve(&self.gpu, HostWords::of(shape).all())?;
        allocate(&self.gpu, &mut self.memory, shape).map(drop)
    }

    /// Encodes a BWT of 1 to 2^31 - 1 bytes.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory or fails. The encoder can be used again,
    /// but after some failures every later call fails too.
    pub fn encode(&mut self, bwt: &[u8], limits: SliceLimits) -> Result<CodedBwt> {
        self.load(bwt, limits)?;
        let encoded = self.encode_loaded(limits)?;
        self.take(encoded)
    }

    /// Copies the slices that were encoded last to the host.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn take(&mut self, encoded: EncodedSlices) -> Result<CodedBwt> {
        let mut coded = self.download(&encoded)?;
        let slice = |&size: &u32| {
            coded
                .split_off(..size as usize)
                .expect("their sum")
                .to_vec()
        };
        let slices = encoded.coded_sizes.iter().map(slice).collect();
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
        let n = u32::try_from(bwt.len())
            .ok()
            .filter(|n| (1..1 << 31).contains(n));
        let n = n.ok_or(Error::Usage("a block holds 1 to 2^31 - 1 bytes".into()))?;
        self.bytes.1 = 0;
        self.reserve(n, limits)?;
        self.bytes
            .0
            .reserve(&self.gpu, bwt.len())?
            .copy_from_slice(bwt);
        let arrays = allocate(&self.gpu, &mut self.memory, EncodeShape::new(n, limits))?;
        self.bytes
            .0
            .upload(&self.gpu, arrays.bwt.first(n))?;
        let done = self.gpu.wait();
        self.bytes.1 = bwt.len();
        done
    }

    /// Loads a BWT from the rows of a text that was sorted on the same GPU, which must be idle. The
    /// first row is replaced by `last`, and the row `primary` is left out.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub(super) fn load_rows(
        &mut self,
        rows: Array<u8>,
        primary: u32,
        last: u8,
        limits: SliceLimits,
    ) -> Result<()> {
        let n = rows.len() - 1;
        assert!((1..=n).contains(&primary));
        self.bytes.1 = 0;
        self.reserve(n, limits)?;
        let gpu = &self.gpu;
        let shape = EncodeShape::new(n, limits);
        self.bytes.0.reserve(gpu, n as usize)?[0] = last;
        let bwt = allocate(gpu, &mut self.memory, shape)?.bwt;
        self.bytes.0.upload(gpu, bwt.first(1))?;
        for (from, to) in [(1..primary, 1..primary), (primary + 1..n + 1, primary..n)] {
            if !from.is_empty() {
                gpu.copy(rows.part(from), bwt.part(to))?;
            }
        }
        gpu.wait()?;
        self.bytes.1 = n as usize;
        Ok(())
    }

    /// Encodes the loaded BWT, which stays loaded.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn encode_loaded(&mut self, limits: SliceLimits) -> Result<EncodedSlices> {
        if self.bytes.1 == 0 {
            return Err(Error::Usage("no BWT was loaded".into()));
        }
        let shape = EncodeShape::new(self.bytes.1 as u32, limits);
        let encoded = self.run(shape);
        self.gpu.ended(encoded)
    }

    /// Copies the coded slices to the host, one behind the other.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn download(&mut self, encoded: &EncodedSlices) -> Result<&[u8]> {
        let arrays = allocate(&self.gpu, &mut self.memory, encoded.shape)?;
        let size = encoded.coded_sizes.iter().sum();
        self.bytes
            .0
            .download(&self.gpu, arrays.coded.first(size), 0..size)?;
        self.gpu.wait()?;
        Ok(self.bytes.0.first(size as usize))
    }

    /// Bytes of device memory in use.
    pub fn memory(&self) -> usize {
        self.memory.len()
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    fn run(&mut self, shape: EncodeShape) -> Result<EncodedSlices> {
        let gpu = &self.gpu;
        let at = HostWords::of(shape);
        let arrays = allocate(gpu, &mut self.memory, shape)?;
        let encoding = Encoding::new(arrays, shape, self.maps.address());
        // Kernels read whole words, which may reach past the BWT and the coded words.
        gpu.zero(arrays.bwt.part(shape.n..arrays.bwt.len()))?;
        gpu.zero(arrays.words)?;
        gpu.zero(arrays.slices)?;
        run_slices::find_slices(gpu, &encoding)?;
        slice_contexts::count_symbols(gpu, &encoding)?;
        self.words
            .download(gpu, arrays.counts, 0..at.tables)?;
        gpu.wait()?;
        let mut models = Vec::new();
        let words = self.words.reserve(gpu, at.all())?;
        let counts = &words[..at.tables as usize];
        let byte_counts = *counts.last_chunk().expect("the bytes come last");
        let chosen = ModelArrays::choose(counts, &mut models);
        words[at.tables as usize..at.slices as usize].copy_from_slice(&chosen.tables);
        self.words
            .upload_part(gpu, arrays.tables, at.tables..at.slices)?;
        slice_encode::encode_slices(gpu, &encoding)?;
        self.words
            .download(gpu, arrays.slices.cast(), at.slices..at.starts)?;
        self.words
            .download(gpu, arrays.coded_starts, at.starts..at.count)?;
        self.words
            .download(gpu, arrays.slice_count, at.count..at.count + 1)?;
        gpu.wait()?;
        let sizes = at.sizes(self.words.first(at.all()), shape.n);
        let wrong = || Error::Device("a GPU gave slices that do not fit the block".into());
        let (raw_sizes, coded_sizes) = sizes.ok_or_else(wrong)?;
        Ok(EncodedSlices {
            models,
            raw_sizes,
            coded_sizes,
            byte_counts,
            shape,
        })
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
