//! Decodes slices of static rANS into a BWT on a GPU.
//!
//! It accepts the same input as the CPU decoder and gives the same bytes. It only finds that a
//! slice is damaged; the CPU decoder, which finds the same damage, gives the error message.

use crate::base::error::{Error, Flaw, Result};
use crate::coder::CodedBwt;
use crate::coder::device_tables::ModelArrays;
use crate::gpu::coder::context_maps::ContextMaps;
use crate::gpu::coder::slice_decode::{self, DecodeArrays};
use crate::gpu::interface::MOST_BYTES;
use crate::gpu::runtime::kernel_structs::CodedSlice;
use crate::gpu::runtime::{Array, Gpu, GrowingArena, PinnedBuffer};

/// Decodes BWTs on one GPU, on its own stream. Its memory grows to fit the largest block and is
/// kept. Several decoders can use one GPU at the same time.
#[derive(Debug)]
pub struct BwtDecoder {
    gpu: Gpu,
    maps: ContextMaps,
    memory: GrowingArena,
    /// Memory of the BWT, unless the caller gives other memory.
    bwt: GrowingArena,
    /// The coded slices, and later the BWT, unless the caller lends pinned memory.
    bytes: PinnedBuffer<u8>,
    /// The tables, and later an error number for each slice.
    words: PinnedBuffer<u32>,
    alphabet: PinnedBuffer<u8>,
    slices: PinnedBuffer<CodedSlice>,
    shape: DecodeShape,
}

/// Size of the loaded slices.
#[derive(Clone, Copy, Debug, Default)]
struct DecodeShape {
    slices: u32,
    coded: u32,
    n: u32,
}

/// A BWT has at most one slice for each 4096 bytes or part of them. FORMAT.md section 4.1.
const LEAST_SLICE: u32 = 4096;

impl BwtDecoder {
    /// Creates a decoder on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let maps = ContextMaps::new(&gpu)?;
        Ok(BwtDecoder {
            gpu,
            maps,
            memory: GrowingArena::default(),
            bwt: GrowingArena::default(),
            bytes: PinnedBuffer::default(),
            words: PinnedBuffer::default(),
            alphabet: PinnedBuffer::default(),
            slices: PinnedBuffer::default(),
            shape: DecodeShape::default(),
        })
    }

    /// Allocates device memory for the slices of BWTs of up to `n` bytes, unless this is done
    /// already. Growing the memory block by block would make all work on the GPU wait each time.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory.
    pub fn reserve(&mut self, n: u32) -> Result<()> {
        let slices = n.div_ceil(LEAST_SLICE);
        allocate(
            &self.gpu,
            &mut self.memory,
            DecodeShape {
                slices,
                coded: n,
                n,
            },
        )
        .map(drop)
    }

    /// Decodes slices into a BWT. Returns `None` if a slice is damaged.
    ///
    /// # Errors
    /// [`Error::Format`], without a place in the file, if the models are damaged or the sizes do
    /// not fit. [`Error::Device`] if the GPU has too little memory or fails. The decoder can be
    /// used again, but after some failures every later call fails too.
    pub fn decode<S: AsRef<[u8]>>(&mut self, coded: &CodedBwt<S>) -> Result<Option<&[u8]>> {
        self.load(coded)?;
        match self
            .decode_loaded()?
            .iter()
            .all(|&flaw| flaw == 0)
        {
            true => self.download().map(Some),
            false => Ok(None),
        }
    }

    /// Copies coded slices to the device.
    ///
    /// # Errors
    /// As [`BwtDecoder::decode`].
    pub fn load<S: AsRef<[u8]>>(&mut self, coded: &CodedBwt<S>) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let done = self.load_by(coded, &mut bytes);
        self.bytes = bytes;
        done
    }

    /// Copies coded slices to the device by way of pinned memory that is lent.
    fn load_by<S: AsRef<[u8]>>(
        &mut self,
        coded: &CodedBwt<S>,
        bytes: &mut PinnedBuffer<u8>,
    ) -> Result<()> {
        self.shape = DecodeShape::default();
        let slices = places(coded)?;
        let last = slices.last().ok_or(Flaw::WRONG_SLICES)?;
        let shape = DecodeShape {
            slices: slices.len() as u32,
            coded: last.coded_start + last.coded_size,
            n: last.raw_start + last.raw_size,
        };
        let staged = self.stage(shape, coded, &slices, bytes);
        self.gpu.ended(staged)?;
        self.shape = shape;
        Ok(())
    }

    /// Decodes the loaded slices. Gives for each slice 0, or an error number as listed in
    /// `kernels/coder/slice_decode.cu`.
    ///
    /// # Errors
    /// As [`BwtDecoder::decode`].
    pub fn decode_loaded(&mut self) -> Result<&[u32]> {
        let n = self.shape.n as usize;
        let mut memory = std::mem::take(&mut self.bwt);
        let arena = memory.allocator(&self.gpu, n);
        let done = arena.and_then(|mut arena| self.run(arena.array(n)));
        self.bwt = memory;
        done.map(|()| self.words.first(self.shape.slices as usize))
    }

    /// Decodes slices into device memory of the same GPU, which must be idle. The slices are copied
    /// by way of the pinned `bytes`. Returns true if all slices are sound.
    ///
    /// # Errors
    /// As [`BwtDecoder::decode`].
    pub(super) fn decode_to<S: AsRef<[u8]>>(
        &mut self,
        coded: &CodedBwt<S>,
        bytes: &mut PinnedBuffer<u8>,
        bwt: Array<u8>,
    ) -> Result<bool> {
        self.load_by(coded, bytes)?;
        if self.shape.n != bwt.len() {
            return Err(Flaw::WRONG_SLICES.into());
        }
        self.run(bwt)?;
        Ok(self
            .words
            .first(self.shape.slices as usize)
            .iter()
            .all(|&flaw| flaw == 0))
    }

    /// Copies the decoded BWT to the host.
    ///
    /// # Errors
    /// As [`BwtDecoder::decode`].
    pub fn download(&mut self) -> Result<&[u8]> {
        let n = self.shape.n;
        self.bytes.reserve(&self.gpu, n as usize)?;
        let bwt = self
            .bwt
            .allocator(&self.gpu, n as usize)?
            .array(n as usize);
        self.bytes.download(&self.gpu, bwt, 0..n)?;
        self.gpu.wait()?;
        Ok(self.bytes.first(n as usize))
    }

    /// Makes the launch after the next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&self, launches: u32) {
        self.gpu.fail_after(launches);
    }

    /// Copies the slices, tables and alphabet to the device.
    fn stage<S: AsRef<[u8]>>(
        &mut self,
        shape: DecodeShape,
        coded: &CodedBwt<S>,
        slices: &[CodedSlice],
        bytes: &mut PinnedBuffer<u8>,
    ) -> Result<()> {
        let gpu = &self.gpu;
        let models = ModelArrays::read(&coded.models)?;
        let arrays = allocate(gpu, &mut self.memory, shape)?;
        let mut room = bytes.reserve(gpu, shape.coded as usize)?;
        for slice in coded.slices.iter().map(AsRef::as_ref) {
            room.split_off_mut(..slice.len())
                .expect("their sum")
                .copy_from_slice(slice);
        }
        self.words
            .reserve(gpu, models.tables.len())?
            .copy_from_slice(&models.tables);
        self.alphabet
            .reserve(gpu, 256)?
            .copy_from_slice(&models.alphabet);
        self.slices
            .reserve(gpu, slices.len())?
            .copy_from_slice(slices);
        bytes.upload(gpu, arrays.coded.first(shape.coded))?;
        gpu.zero(arrays.coded.part(shape.coded..arrays.coded.len()))?;
        self.words.upload(gpu, arrays.tables)?;
        self.alphabet.upload(gpu, arrays.alphabet)?;
        self.slices.upload(gpu, arrays.slices)?;
        gpu.wait()
    }

    fn run(&mut self, bwt: Array<u8>) -> Result<()> {
        let done = self.queue(bwt).and_then(|()| self.gpu.wait());
        self.gpu.ended(done)
    }

    fn queue(&mut self, bwt: Array<u8>) -> Result<()> {
        let gpu = &self.gpu;
        let count = self.shape.slices;
        if count == 0 {
            return Err(Error::Usage("no slices were loaded".into()));
        }
        let arrays = allocate(gpu, &mut self.memory, self.shape)?;
        let slices = self.slices.first(count as usize);
        slice_decode::decode_slices(gpu, &arrays, slices, self.maps.address(), bwt)?;
        self.words.reserve(gpu, count as usize)?;
        self.words.download(gpu, arrays.flaws, 0..count)
    }
}

/// The ranges of each slice: in the coded bytes and in the BWT.
fn places<S: AsRef<[u8]>>(coded: &CodedBwt<S>) -> Result<Vec<CodedSlice>> {
    let mut coded_start = 0_u32;
    let mut raw_start = 0_u32;
    let place = |(slice, &raw_size): (&S, &u32)| {
        let coded_size = u32::try_from(slice.as_ref().len()).ok();
        let coded_size =
            coded_size.filter(|&size| size > 0 && size <= raw_size && raw_size < 1 << 31);
        let coded_size = coded_size.ok_or(Flaw::WRONG_SLICES)?;
        let place = CodedSlice {
            coded_start,
            coded_size,
            raw_start,
            raw_size,
        };
        // A coded slice is never longer than its decoded bytes, so `coded_start` cannot overflow
        // either.
        raw_start = raw_start
            .checked_add(raw_size)
            .filter(|&n| n <= MOST_BYTES)
            .ok_or(Flaw::WRONG_SLICES)?;
        coded_start += coded_size;
        Ok(place)
    };
    if coded.slices.len() != coded.raw_sizes.len() {
        return Err(Flaw::WRONG_SLICES.into());
    }
    coded
        .slices
        .iter()
        .zip(&coded.raw_sizes)
        .map(place)
        .collect()
}

/// Allocates the arrays, from memory that grows if it is too small.
fn allocate<'m>(
    gpu: &Gpu,
    memory: &'m mut GrowingArena,
    shape: DecodeShape,
) -> Result<DecodeArrays<'m>> {
    let slices = shape.slices as usize;
    let coded = shape.coded as usize;
    memory.fit(gpu, |arena| {
        Ok(DecodeArrays::allocate(arena, slices, coded))
    })
}

#[cfg(test)]
mod tests;
