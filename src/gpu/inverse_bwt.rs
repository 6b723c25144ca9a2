//! Inverts a BWT with samples into the block on a GPU: copy in, invert, copy out.
//!
//! The copies go piece by piece on a second stream. One piece is copied in while the piece before
//! it is counted, and one piece of text is copied out while the next is assembled.
//!
//! A text may also stay on the device ([`GpuInverse::invert_coded_to`]). It is then copied to
//! memory of the caller, and its CRC-32 is computed where it is.

use super::bwt_decoder::BwtDecoder;
use crate::base::error::{Error, Flaw, Result};
use crate::coder::CodedBwt;
use crate::gpu::block::text_checksum;
use crate::gpu::inverse::{InverseArrays, InverseShape, InverseSteps};
use crate::gpu::runtime::{Array, DeviceSpan, Gpu, GrowingArena, PinnedBuffer};
use std::mem;
use std::time::Instant;

/// Inverts BWTs on one GPU, on two streams of its own. Its memory grows to fit the largest block
/// and is kept.
///
/// Several inverses can use one GPU at the same time. While one inverts, others copy. While one
/// waits for its longest walk through the rows, the random accesses of the others fill the time.
#[derive(Debug)]
pub struct GpuInverse {
    number: u32,
    gpu: Gpu,
    /// Stream of the copies.
    copies: Gpu,
    memory: GrowingArena,
    /// The BWT and its length; later the text in its place.
    bytes: (PinnedBuffer<u8>, usize),
    /// The samples; later the flag that tells if they fit the BWT.
    samples: PinnedBuffer<u32>,
}

/// Location of a BWT before it is inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Host,
    Device,
}

/// Part of a text that a GPU restores, and its place in device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextTarget<'a> {
    /// First byte of the part, and its length.
    pub from: u32,
    pub len: u32,
    /// Memory on the GPU that inverts.
    pub span: &'a DeviceSpan,
    /// Offset of the part's place in the memory.
    pub at: usize,
}

impl TextTarget<'_> {
    /// Queues the copy of the part, and the computation of the text's CRC-32. If the part is the
    /// whole text, that is of the copy.
    fn take(&self, gpu: &Gpu, text: Array<u8>, checksum: Array<u32>) -> Result<()> {
        let to = self
            .span
            .part(self.at..self.at + self.len as usize);
        gpu.copy(text.part(self.from..self.from + self.len), to)?;
        let checked = if to.len() == text.len() { to } else { text };
        text_checksum::checksum(gpu, checked, checksum)
    }
}

/// Location of a text after it is inverted.
#[derive(Clone, Copy, Debug)]
enum Sink<'a> {
    Host,
    Device(&'a TextTarget<'a>),
}

impl GpuInverse {
    /// Creates an inverse on GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if the GPU fails.
    pub fn new(number: u32) -> Result<Self> {
        let gpu = Gpu::open(number)?;
        let copies = Gpu::open(number)?;
        let bytes = (PinnedBuffer::default(), 0);
        let samples = PinnedBuffer::default();
        Ok(GpuInverse {
            number,
            gpu,
            copies,
            memory: GrowingArena::default(),
            bytes,
            samples,
        })
    }

    /// Allocates the memory for blocks of up to `n` bytes with up to `samples` samples, unless this
    /// is done already.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory, [`Error::Io`] if the host has.
    pub fn reserve(&mut self, n: u32, samples: u32) -> Result<()> {
        self.input(n as usize)?;
        self.samples
            .reserve(&self.gpu, samples as usize)?;
        let shape = InverseShape {
            n,
            primary: 1,
            samples,
            log_rate: 0,
        };
        self.memory.fit(&self.gpu, |arena| {
            InverseArrays::allocate(&self.gpu, arena, shape)
        })?;
        Ok(())
    }

    /// Returns pinned memory for a BWT of `len` bytes, which [`GpuInverse::invert_input`] inverts.
    ///
    /// # Errors
    /// [`Error::Io`] if the host cannot pin enough memory.
    pub fn input(&mut self, len: usize) -> Result<&mut [u8]> {
        self.bytes.1 = 0;
        let room = self.bytes.0.reserve(&self.gpu, len)?;
        self.bytes.1 = len;
        Ok(room)
    }

    /// Inverts the BWT that [`GpuInverse::input`] holds. The text takes its place in memory.
    /// `samples[k]` is the row of the suffix at k * `sample_rate`.
    ///
    /// # Errors
    /// [`Error::Format`], without a place in the file, if BWT and samples are not those of a text.
    /// [`Error::Device`] if the GPU has too little memory or fails. The inverse can be used again,
    /// but after some failures every later call fails too.
    pub fn invert_input(&mut self, sample_rate: u32, samples: &[u32]) -> Result<&[u8]> {
        let len = std::mem::take(&mut self.bytes.1);
        let shape = shape(len, sample_rate, samples)?;
        self.finish(shape, samples, Source::Host, Sink::Host)?;
        Ok(self.bytes.0.first(len))
    }

    /// Inverts a BWT that `decoder`, on the same GPU, decodes from coded slices. Gives the time at
    /// which the decoding ended, and the text. Returns `None` if a slice is damaged. The BWT does
    /// not leave the device.
    ///
    /// # Errors
    /// Those of [`Self::invert_input`] and of [`BwtDecoder::decode`].
    pub fn invert_coded(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt,
        sample_rate: u32,
        samples: &[u32],
    ) -> Result<Option<(Instant, &[u8])>> {
        let len = bwt_len(coded);
        self.input(len)?;
        let Some((shape, decoded)) = self.decode(decoder, coded, sample_rate, samples)? else {
            return Ok(None);
        };
        self.finish(shape, samples, Source::Device, Sink::Host)?;
        Ok(Some((decoded, self.bytes.0.first(len))))
    }

    /// Inverts as [`Self::invert_coded`] does, and copies the text or a part of it to other memory
    /// of this GPU. Gives the time at which the decoding ended, and the CRC-32 of the whole text.
    ///
    /// # Errors
    /// Those of [`Self::invert_coded`]. The memory of the target may then be written in part.
    ///
    /// # Panics
    /// If the target is on another GPU, or is not within its memory or the text.
    pub(crate) fn invert_coded_to<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        sample_rate: u32,
        samples: &[u32],
        target: &TextTarget,
    ) -> Result<Option<(Instant, u32)>> {
        assert!(
            target.span.number() == self.number,
            "the memory of another GPU"
        );
        let Some((shape, decoded)) = self.decode(decoder, coded, sample_rate, samples)? else {
            return Ok(None);
        };
        self.finish(shape, samples, Source::Device, Sink::Device(target))?;
        Ok(Some((decoded, self.samples.first(2)[1])))
    }

    /// Decodes coded slices to the BWT's place on the device. Gives the time at which that ended.
    /// Returns `None` if a slice is damaged.
    fn decode<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        sample_rate: u32,
        samples: &[u32],
    ) -> Result<Option<(InverseShape, Instant)>> {
        let shape = shape(bwt_len(coded), sample_rate, samples)?;
        let gpu = &self.gpu;
        let arrays = self
            .memory
            .fit(gpu, |arena| InverseArrays::allocate(gpu, arena, shape))?;
        // The allocation is ordered on this stream, so the decoder's stream may use it only after
        // this wait.
        gpu.wait()?;
        let bwt = arrays.bytes.first(shape.n);
        let sound = decoder.decode_to(coded, &mut self.bytes.0, bwt)?;
        Ok(sound.then(|| (shape, Instant::now())))
    }

    /// Exchanges its memory on the device and its pinned memory for other memory. All streams that
    /// use either must be idle.
    pub(super) fn swap_memory(&mut self, memory: &mut GrowingArena, bytes: &mut PinnedBuffer<u8>) {
        self.bytes.1 = 0;
        mem::swap(&mut self.memory, memory);
        mem::swap(&mut self.bytes.0, bytes);
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

    /// Inverts a BWT and copies the text to its sink. For a text on the device, its CRC-32 is then
    /// the second word of `samples`.
    fn finish(
        &mut self,
        shape: InverseShape,
        samples: &[u32],
        from: Source,
        to: Sink,
    ) -> Result<()> {
        let contradictory = self.run(shape, samples, from, to);
        let contradictory = self.copies.ended(self.gpu.ended(contradictory))?;
        if contradictory {
            Err(Flaw::WRONG_SAMPLES.into())
        } else {
            Ok(())
        }
    }

    /// Copies in, inverts and copies out. Returns true if the samples contradict the BWT.
    fn run(
        &mut self,
        shape: InverseShape,
        samples: &[u32],
        from: Source,
        to: Sink,
    ) -> Result<bool> {
        let gpu = &self.gpu;
        let copies = &self.copies;
        let arrays = self
            .memory
            .fit(gpu, |arena| InverseArrays::allocate(gpu, arena, shape))?;
        self.samples
            .reserve(gpu, samples.len())?
            .copy_from_slice(samples);
        self.samples.upload(gpu, arrays.samples)?;
        let mut inverse = InverseSteps::start(gpu, arrays, shape)?;
        for piece in shape.pieces() {
            if from == Source::Host {
                let part = arrays.bytes.part(piece.clone());
                self.bytes
                    .0
                    .upload_part(copies, part, piece.clone())?;
                gpu.wait_for(copies)?;
            }
            inverse.take(gpu, piece)?;
        }
        inverse.link(gpu)?;
        match to {
            Sink::Host => {
                for piece in shape.pieces() {
                    let places = inverse.place(gpu, piece)?;
                    copies.wait_for(gpu)?;
                    let text = arrays.text.part(places.clone());
                    self.bytes
                        .0
                        .download(copies, text, places.start - 1..places.end - 1)?;
                }
            }
            Sink::Device(target) => {
                let places = inverse.place(gpu, 0..shape.n)?;
                let text = arrays.text.part(places);
                target.take(gpu, text, arrays.checksum)?;
                self.samples
                    .download(gpu, arrays.checksum, 1..2)?;
            }
        }
        inverse.check(gpu)?;
        self.samples
            .download(gpu, arrays.contradictions, 0..1)?;
        gpu.wait()?;
        copies.wait()?;
        Ok(self.samples.first(1)[0] != 0)
    }
}

/// Number of bytes of a BWT, as its slices say.
fn bwt_len<S>(coded: &CodedBwt<S>) -> usize {
    coded
        .raw_sizes
        .iter()
        .map(|&size| size as usize)
        .sum()
}

/// Checks the shape of a BWT, whose fields may come from a hostile file.
fn shape(len: usize, sample_rate: u32, samples: &[u32]) -> Result<InverseShape> {
    let n = u32::try_from(len)
        .ok()
        .filter(|n| (1..=i32::MAX as u32).contains(n));
    let n = n.ok_or(Error::Usage("a block holds 1 to 2^31 - 1 bytes".into()))?;
    let fits = sample_rate.is_power_of_two()
        && samples.len() == n.div_ceil(sample_rate) as usize
        && samples.iter().all(|row| (1..=n).contains(row));
    if !fits {
        return Err(Flaw::WRONG_SAMPLES.into());
    }
    let count = samples.len() as u32;
    Ok(InverseShape {
        n,
        primary: samples[0],
        samples: count,
        log_rate: sample_rate.ilog2(),
    })
}

#[cfg(test)]
mod tests;
