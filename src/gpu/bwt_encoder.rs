//! BWT -> coded slices of static rANS on a GPU, the same bytes as the CPU's.
//!
//! The host has one thing to do in between: it chooses the models for the counts of symbols, by the
//! same function as for slices that the CPU codes. Only coded bytes are copied out.

use crate::coder::device_tables::ModelArrays;
use crate::coder::{CodedBwt, SliceLimits};
use crate::error::{Error, Result};
use crate::gpu::coder::context_maps::ContextMaps;
use crate::gpu::coder::encode_arrays::{EncodeArrays, EncodeShape, Encoding};
use crate::gpu::coder::{run_slices, slice_contexts, slice_encode};
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};

/// Codes BWTs on one GPU, on a stream of its own. Its memory grows with the largest block and is
/// kept. Several of them work side by side.
#[derive(Debug)]
pub struct BwtEncoder {
    gpu: Gpu,
    maps: ContextMaps,
    memory: GrowingArena,
    /// The BWT that is coded next, and then the coded slices in its place.
    bytes: (PinnedBuffer<u8>, usize),
    /// Counts of symbols, their tables, and where slices begin.
    words: PinnedBuffer<u32>,
}

/// What came of a BWT: the slices are still on the device.
#[derive(Debug)]
pub struct EncodedSlices {
    /// What all slices have in common.
    pub models: Vec<u8>,
    /// How many bytes each slice decodes to.
    pub raw_sizes: Vec<u32>,
    /// How many coded bytes each slice has.
    pub coded_sizes: Vec<u32>,
    /// How often each byte occurs in the BWT.
    pub byte_counts: [u32; 256],
    shape: EncodeShape,
}

impl BwtEncoder {
    /// An encoder on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] where there is none, or no driver, or it fails.
    pub fn new(number: u32) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let maps = ContextMaps::new(&gpu)?;
        let (bytes, words) = ((PinnedBuffer::default(), 0), PinnedBuffer::default());
        Ok(BwtEncoder { gpu, maps, memory: GrowingArena::default(), bytes, words })
    }

    /// Takes the memory for BWTs of up to `n` bytes, if that is not done yet.
    ///
    /// # Errors
    /// [`Error::Device`] where the GPU does not have it, [`Error::Io`] where the host does not.
    pub fn reserve(&mut self, n: u32, limits: SliceLimits) -> Result<()> {
        let shape = EncodeShape::new(n, limits);
        self.bytes.0.reserve(&self.gpu, n as usize)?;
        self.words.reserve(&self.gpu, HostWords::of(shape).all())?;
        allocate(&self.gpu, &mut self.memory, shape).map(drop)
    }

    /// Codes a BWT of 1 to 2^31 - 1 bytes.
    ///
    /// # Errors
    /// [`Error::Device`] where the memory of the GPU does not do, or the GPU fails. It may be used
    /// again, though after some failures all that follows fails too.
    pub fn encode(&mut self, bwt: &[u8], limits: SliceLimits) -> Result<CodedBwt> {
        self.load(bwt, limits)?;
        let encoded = self.encode_loaded(limits)?;
        self.take(encoded)
    }

    /// What was coded last, on the host.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn take(&mut self, encoded: EncodedSlices) -> Result<CodedBwt> {
        let mut coded = self.download(&encoded)?;
        let slice = |&size: &u32| coded.split_off(..size as usize).expect("their sum").to_vec();
        let slices = encoded.coded_sizes.iter().map(slice).collect();
        Ok(CodedBwt { models: encoded.models, raw_sizes: encoded.raw_sizes, slices })
    }

    /// Copies a BWT to the device.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn load(&mut self, bwt: &[u8], limits: SliceLimits) -> Result<()> {
        let n = u32::try_from(bwt.len()).ok().filter(|n| (1..1 << 31).contains(n));
        let n = n.ok_or(Error::Usage("a block holds 1 to 2^31 - 1 bytes".into()))?;
        self.bytes.1 = 0;
        self.reserve(n, limits)?;
        self.bytes.0.reserve(&self.gpu, bwt.len())?.copy_from_slice(bwt);
        let arrays = allocate(&self.gpu, &mut self.memory, EncodeShape::new(n, limits))?;
        self.bytes.0.upload(&self.gpu, arrays.bwt.first(n))?;
        let done = self.gpu.wait();
        self.bytes.1 = bwt.len();
        done
    }

    /// Takes a BWT from the rows of a sorted text on the same GPU, on which nothing is at work: all
    /// but the first, in place of which `last` stands, and the row `primary`.
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
        let (gpu, shape) = (&self.gpu, EncodeShape::new(n, limits));
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

    /// Codes the BWT that was loaded; it stays there.
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

    /// The coded slices, one behind the other.
    ///
    /// # Errors
    /// As [`BwtEncoder::encode`].
    pub fn download(&mut self, encoded: &EncodedSlices) -> Result<&[u8]> {
        let arrays = allocate(&self.gpu, &mut self.memory, encoded.shape)?;
        let size = encoded.coded_sizes.iter().sum();
        self.bytes.0.download(&self.gpu, arrays.coded.first(size), 0..size)?;
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
        let (gpu, at) = (&self.gpu, HostWords::of(shape));
        let arrays = allocate(gpu, &mut self.memory, shape)?;
        let encoding = Encoding::new(arrays, shape, self.maps.address());
        // What kernels read beside a BWT and words: whole words of memory.
        gpu.zero(arrays.bwt.part(shape.n..arrays.bwt.len()))?;
        gpu.zero(arrays.words)?;
        gpu.zero(arrays.slices)?;
        run_slices::find_slices(gpu, &encoding)?;
        slice_contexts::count_symbols(gpu, &encoding)?;
        self.words.download(gpu, arrays.counts, 0..at.tables)?;
        gpu.wait()?;
        let (mut models, words) = (Vec::new(), self.words.reserve(gpu, at.all())?);
        let counts = &words[..at.tables as usize];
        let byte_counts = *counts.last_chunk().expect("the bytes come last");
        let chosen = ModelArrays::choose(counts, &mut models);
        words[at.tables as usize..at.slices as usize].copy_from_slice(&chosen.tables);
        self.words.upload_part(gpu, arrays.tables, at.tables..at.slices)?;
        slice_encode::encode_slices(gpu, &encoding)?;
        self.words.download(gpu, arrays.slices.cast(), at.slices..at.starts)?;
        self.words.download(gpu, arrays.coded_starts, at.starts..at.count)?;
        self.words.download(gpu, arrays.slice_count, at.count..at.count + 1)?;
        gpu.wait()?;
        let sizes = at.sizes(self.words.first(at.all()), shape.n);
        let wrong = || Error::Device("a GPU gave slices that do not fit the block".into());
        let (raw_sizes, coded_sizes) = sizes.ok_or_else(wrong)?;
        Ok(EncodedSlices { models, raw_sizes, coded_sizes, byte_counts, shape })
    }
}

/// Where the host's words are: the counts, and then these.
struct HostWords {
    tables: u32,
    slices: u32,
    starts: u32,
    count: u32,
}

impl HostWords {
    fn of(shape: EncodeShape) -> Self {
        let (tables, items) = (ModelArrays::COUNTS as u32, shape.most_slices() + 1);
        let slices = tables + tables - 256;
        HostWords { tables, slices, starts: slices + 2 * items, count: slices + 3 * items }
    }

    fn all(&self) -> usize {
        self.count as usize + 1
    }

    /// The raw and the coded size of each slice of `n` bytes; `None` where what the GPU wrote is
    /// out of range.
    fn sizes(&self, words: &[u32], n: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        let count = words[self.count as usize] as usize;
        let starts = |from: u32, to: u32| words[from as usize..to as usize].iter().copied();
        // Pairs of a byte and a run.
        let raw = starts(self.slices, self.starts).step_by(2).take(count + 1);
        let coded = starts(self.starts, self.count).take(count + 1);
        Some((differences(raw, count, n)?, differences(coded, count, n)?))
    }
}

/// The `count` differences of what begins with 0 and grows to `n` at most.
fn differences(starts: impl Iterator<Item = u32>, count: usize, n: u32) -> Option<Vec<u32>> {
    let starts: Vec<u32> = starts.collect();
    let fits = starts.len() == count + 1 && starts[0] == 0 && starts[count] <= n;
    let steps = starts.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
    fits.then(|| steps.collect())?
}

/// Allocates all that a BWT takes from memory that is made large enough.
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
        let at = HostWords { tables: 0, slices: 0, starts: 6, count: 9 };
        // The last of three places for starts is not in use.
        let sound = [0, 1, 50, 2, 99, 99, 0, 20, 99, 1];
        assert_eq!(at.sizes(&sound, 60), Some((vec![50], vec![20])));
        for (word, wrong) in [(9, 3), (9, u32::MAX), (0, 51), (2, 61), (6, 1), (7, 61)] {
            let mut words = sound;
            words[word] = wrong;
            assert_eq!(at.sizes(&words, 60), None, "{wrong} at {word}");
        }
        assert_eq!(at.sizes(&[0, 1, 50, 2, 40, 99, 0, 20, 30, 2], 60), None, "backwards");
    }
}
