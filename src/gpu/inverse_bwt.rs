//! Inverts a BWT with samples into the block on a GPU: copy in, invert, copy out.
//!
//! The copies go piece by piece on a second stream. One piece is copied in while the piece before
//! it is counted, and one piece of text is copied out while the next is assembled.
//!
//! A text may also stay on the device ([`GpuInverse::invert_coded_to`]). It is then copied to
//! memory of the caller, and its CRC-32 is computed where it is.
//!
//! A block too large for pinned memory goes in and out by portions
//! ([`GpuInverse::invert_portions`]).

use super::bwt_decoder::BwtDecoder;
use crate::base::error::{Error, Flaw, Result};
use crate::coder::CodedBwt;
use crate::gpu::block::text_checksum;
use crate::gpu::interface::{MOST_INVERTED, MOST_PINNED};
use crate::gpu::inverse::{InverseArrays, InverseShape, InverseSteps, RowWidth};
use crate::gpu::runtime::{Array, DeviceSpan, Gpu, GrowingArena, PinnedBuffer, Staging};
use std::mem;
use std::ops::Range;
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
    samples: PinnedBuffer<u64>,
    /// Buffers for portions, once they are needed.
    staging: Option<Staging>,
    /// Maximum bytes of a portion, and of slices that are decoded at a time.
    portion: u64,
    most_decoded: u64,
    /// True if rows have 64 bits even if 32 would do.
    #[cfg(test)]
    is_wide: bool,
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
    /// Queues the copy of the part, and the computation of the text's CRC-32, the first of two
    /// words. If the part is the whole text, that is of the copy.
    fn take(&self, gpu: &Gpu, text: Array<u8>, checksum: Array<u32>) -> Result<()> {
        gpu.zero(checksum)?;
        let to = self
            .span
            .part(self.at..self.at + self.len as usize);
        gpu.copy(text.part(self.from..self.from + self.len), to)?;
        let checked = if to.len() == text.len() { to } else { text };
        text_checksum::checksum(gpu, checked, checksum.first(1))
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
            staging: None,
            portion: Staging::PORTION,
            most_decoded: MOST_DECODED,
            #[cfg(test)]
            is_wide: false,
        })
    }

    /// Makes it invert every block with rows of 64 bits.
    #[cfg(test)]
    pub fn with_wide_rows(mut self) -> Self {
        self.is_wide = true;
        self
    }

    /// Makes it copy smaller portions, and decode as many bytes at a time.
    #[cfg(test)]
    pub fn with_portions(mut self, portion: u64) -> Self {
        (self.portion, self.most_decoded) = (portion, portion);
        self
    }

    /// Allocates the memory for blocks of up to `n` bytes with up to `samples` samples, unless this
    /// is done already.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU has too little memory, [`Error::Io`] if the host has.
    pub fn reserve(&mut self, n: u32, samples: u32) -> Result<()> {
        self.input(n as usize)?;
        self.reserve_device(n.into(), samples)
    }

    /// Allocates the memory for blocks of up to `n` bytes that go in and out by portions.
    ///
    /// # Errors
    /// As [`GpuInverse::reserve`].
    pub fn reserve_portions(&mut self, n: u64, samples: u32) -> Result<()> {
        self.staging()?.reserve(n)?;
        self.reserve_device(n, samples)
    }

    fn reserve_device(&mut self, n: u64, samples: u32) -> Result<()> {
        self.samples
            .reserve(&self.gpu, samples as usize)?;
        let shape = InverseShape {
            n,
            width: RowWidth::of(n),
            primary: 1,
            samples,
            log_rate: 0,
        };
        self.memory.fit(&self.gpu, |arena| {
            InverseArrays::allocate(&self.gpu, arena, shape)
        })?;
        Ok(())
    }

    fn staging(&mut self) -> Result<&mut Staging> {
        if self.staging.is_none() {
            self.staging = Some(Staging::open(self.number, self.portion)?);
        }
        Ok(self.staging.as_mut().expect("it was opened"))
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
    pub fn invert_input(&mut self, sample_rate: u32, samples: &[u64]) -> Result<&[u8]> {
        let len = std::mem::take(&mut self.bytes.1);
        let shape = self.shape(len as u64, sample_rate, samples)?;
        self.finish(shape, samples, Source::Host, Sink::Host)?;
        Ok(self.bytes.0.first(len))
    }

    /// Inverts a BWT that `decoder`, on the same GPU, decodes from coded slices. Gives the time at
    /// which the decoding ended, and the text. Returns `None` if a slice is damaged. The BWT does
    /// not leave the device.
    ///
    /// # Errors
    /// Those of [`Self::invert_input`] and of [`BwtDecoder::decode`].
    pub fn invert_coded<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        sample_rate: u32,
        samples: &[u64],
    ) -> Result<Option<(Instant, &[u8])>> {
        let n = coded.raw_size();
        let len = n as usize;
        let shape = self.shape(n, sample_rate, samples)?;
        self.input(len)?;
        let Some(decoded) = self.decode(decoder, coded, shape)? else {
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
    /// [`Error::Usage`] if the text has more than [`MOST_PINNED`] bytes.
    ///
    /// # Panics
    /// If the target is on another GPU, or is not within its memory or the text.
    pub(crate) fn invert_coded_to<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        sample_rate: u32,
        samples: &[u64],
        target: &TextTarget,
    ) -> Result<Option<(Instant, u32)>> {
        assert!(
            target.span.number() == self.number,
            "the memory of another GPU"
        );
        let n = coded.raw_size();
        if n > MOST_PINNED {
            let what = format!("the text of a block above {MOST_PINNED} bytes goes to the host");
            return Err(Error::Usage(what.into()));
        }
        let shape = self.shape(n, sample_rate, samples)?;
        let Some(decoded) = self.decode(decoder, coded, shape)? else {
            return Ok(None);
        };
        self.finish(shape, samples, Source::Device, Sink::Device(target))?;
        let checksum = self.samples.first(2)[1] as u32;
        Ok(Some((decoded, checksum)))
    }

    /// Decodes coded slices to the BWT's place on the device. Gives the time at which that ended.
    /// Returns `None` if a slice is damaged.
    fn decode<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        shape: InverseShape,
    ) -> Result<Option<Instant>> {
        let gpu = &self.gpu;
        let arrays = self
            .memory
            .fit(gpu, |arena| InverseArrays::allocate(gpu, arena, shape))?;
        // The allocation is ordered on this stream, so the decoder's stream may use it only after
        // this wait.
        gpu.wait()?;
        let bwt = arrays.bytes.long_part(0..shape.n);
        let sound = decoder.decode_to(coded, &mut self.bytes.0, bwt)?;
        Ok(sound.then(Instant::now))
    }

    /// Inverts a BWT of `n` bytes, of which `fill` writes the bytes of a range. `take` is given the
    /// text, range by range. Neither needs pinned memory of the block's size.
    ///
    /// # Errors
    /// As [`Self::invert_input`]. `take` may have been given a wrong text before the samples are
    /// found to contradict the BWT.
    pub fn invert_portions(
        &mut self,
        n: u64,
        sample_rate: u32,
        samples: &[u64],
        mut fill: impl FnMut(Range<u64>, &mut [u8]),
        take: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<()> {
        let shape = self.shape(n, sample_rate, samples)?;
        let mut bring = |gpu: &Gpu, staging: &mut Staging, bytes: Array<u8>, piece: Range<u64>| {
            let from = piece.start;
            let fill = |part: Range<u64>, room: &mut [u8]| {
                fill(from + part.start..from + part.end, room);
            };
            staging.upload(gpu, bytes.long_part(piece), fill)
        };
        self.finish_portions(shape, samples, &mut bring, take)
    }

    /// Inverts a BWT that `decoder`, on the same GPU, decodes from coded slices, and gives `take`
    /// the text, range by range. Gives the time at which the decoding ended, or `None` if a slice
    /// is damaged.
    ///
    /// # Errors
    /// Those of [`Self::invert_portions`] and of [`BwtDecoder::decode`].
    pub fn invert_coded_portions<S: AsRef<[u8]>>(
        &mut self,
        decoder: &mut BwtDecoder,
        coded: &CodedBwt<S>,
        sample_rate: u32,
        samples: &[u64],
        take: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<Option<Instant>> {
        let shape = self.shape(coded.raw_size(), sample_rate, samples)?;
        let gpu = &self.gpu;
        let arrays = self
            .memory
            .fit(gpu, |arena| InverseArrays::allocate(gpu, arena, shape))?;
        gpu.wait()?;
        let most = self.most_decoded;
        if !decode_parts(decoder, coded, most, &mut self.bytes.0, arrays.bytes)? {
            return Ok(None);
        }
        let decoded = Instant::now();
        self.finish_portions(shape, samples, &mut |_, _, _, _| Ok(()), take)?;
        Ok(Some(decoded))
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
        samples: &[u64],
        from: Source,
        to: Sink,
    ) -> Result<()> {
        let contradictory = self.run(shape, samples, from, to);
        let contradictory = self.copies.ended(self.gpu.ended(contradictory))?;
        agreement(contradictory)
    }

    /// Inverts a BWT whose pieces `bring` copies to the device, and gives the text to `take`.
    fn finish_portions(
        &mut self,
        shape: InverseShape,
        samples: &[u64],
        bring: &mut impl FnMut(&Gpu, &mut Staging, Array<u8>, Range<u64>) -> Result<()>,
        take: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<()> {
        self.staging()?;
        let mut staging = self.staging.take().expect("it was opened");
        let contradictory = self.run_portions(shape, samples, &mut staging, bring, take);
        let contradictory = staging.ended(self.gpu.ended(contradictory));
        self.staging = Some(staging);
        agreement(contradictory?)
    }

    fn run_portions(
        &mut self,
        shape: InverseShape,
        samples: &[u64],
        staging: &mut Staging,
        bring: &mut impl FnMut(&Gpu, &mut Staging, Array<u8>, Range<u64>) -> Result<()>,
        mut take: impl FnMut(Range<u64>, &[u8]),
    ) -> Result<bool> {
        let gpu = &self.gpu;
        let arrays = self
            .memory
            .fit(gpu, |arena| InverseArrays::allocate(gpu, arena, shape))?;
        self.samples
            .reserve(gpu, samples.len())?
            .copy_from_slice(samples);
        self.samples.upload(gpu, arrays.samples)?;
        // The streams of the copies may use memory that was allocated on this one only after it.
        gpu.wait()?;
        let mut inverse = InverseSteps::start(gpu, arrays, shape)?;
        for piece in shape.pieces() {
            bring(gpu, staging, arrays.bytes, piece.clone())?;
            inverse.take(gpu, piece)?;
        }
        inverse.link(gpu)?;
        for piece in shape.pieces() {
            let places = inverse.place(gpu, piece)?;
            let from = places.start - 1;
            staging.download(gpu, arrays.text.long_part(places), |part, bytes| {
                take(from + part.start..from + part.end, bytes);
            })?;
        }
        inverse.check(gpu)?;
        self.samples
            .download(gpu, arrays.contradictions.cast(), 0..1)?;
        gpu.wait()?;
        Ok(self.samples.first(1)[0] != 0)
    }

    /// Copies in, inverts and copies out. Returns true if the samples contradict the BWT.
    fn run(
        &mut self,
        shape: InverseShape,
        samples: &[u64],
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
                let part = arrays.bytes.long_part(piece.clone());
                self.bytes
                    .0
                    .upload_part(copies, part, narrow(&piece))?;
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
                    let text = arrays.text.long_part(places.clone());
                    let range = narrow(&(places.start - 1..places.end - 1));
                    self.bytes.0.download(copies, text, range)?;
                }
            }
            Sink::Device(target) => {
                let places = inverse.place(gpu, 0..shape.n)?;
                let text = arrays.text.long_part(places);
                target.take(gpu, text, arrays.checksum)?;
                self.samples
                    .download(gpu, arrays.checksum.cast(), 1..2)?;
            }
        }
        inverse.check(gpu)?;
        self.samples
            .download(gpu, arrays.contradictions.cast(), 0..1)?;
        gpu.wait()?;
        copies.wait()?;
        Ok(self.samples.first(1)[0] != 0)
    }

    /// Checks the shape of a BWT, whose fields may come from a hostile file.
    fn shape(&self, n: u64, sample_rate: u32, samples: &[u64]) -> Result<InverseShape> {
        if !(1..=MOST_INVERTED).contains(&n) {
            let what = format!("a GPU inverts blocks of 1 to {MOST_INVERTED} bytes");
            return Err(Error::Usage(what.into()));
        }
        let fits = sample_rate.is_power_of_two()
            && samples.len() as u64 == n.div_ceil(sample_rate.into())
            && samples.iter().all(|row| (1..=n).contains(row));
        if !fits {
            return Err(Flaw::WRONG_SAMPLES.into());
        }
        Ok(InverseShape {
            n,
            width: self.width(n),
            primary: samples[0],
            samples: samples.len() as u32,
            log_rate: sample_rate.ilog2(),
        })
    }

    #[cfg(not(test))]
    fn width(&self, n: u64) -> RowWidth {
        RowWidth::of(n)
    }

    #[cfg(test)]
    fn width(&self, n: u64) -> RowWidth {
        match self.is_wide {
            true => RowWidth::Wide,
            false => RowWidth::of(n),
        }
    }
}

/// Maximum number of bytes that are decoded at a time. Twice as many slices as a GPU decodes side
/// by side have about as many.
const MOST_DECODED: u64 = 2 << 30;

/// Decodes slices to the beginning of `bytes`, up to `most` bytes at a time. Returns true if all
/// are sound.
fn decode_parts<S: AsRef<[u8]>>(
    decoder: &mut BwtDecoder,
    coded: &CodedBwt<S>,
    most: u64,
    pinned: &mut PinnedBuffer<u8>,
    bytes: Array<u8>,
) -> Result<bool> {
    if coded.slices.len() != coded.raw_sizes.len() {
        return Err(Flaw::WRONG_SLICES.into());
    }
    let mut from = 0;
    let mut start = 0;
    while from < coded.slices.len() {
        let mut end = start;
        let mut fits = |size: &u32| {
            end += u64::from(*size);
            end - start <= most
        };
        let sizes = coded.raw_sizes[from..].iter();
        let count = sizes
            .take_while(|&size| fits(size))
            .count()
            .max(1);
        let slices = coded.slices[from..from + count]
            .iter()
            .map(AsRef::as_ref);
        let part = CodedBwt {
            models: coded.models.clone(),
            raw_sizes: coded.raw_sizes[from..from + count].to_vec(),
            slices: slices.collect::<Vec<&[u8]>>(),
        };
        let end = start + part.raw_size();
        if !decoder.decode_to(&part, pinned, bytes.long_part(start..end))? {
            return Ok(false);
        }
        (from, start) = (from + count, end);
    }
    Ok(true)
}

/// A range of pinned memory, which is below 2^32.
fn narrow(range: &Range<u64>) -> Range<u32> {
    let number = |n: u64| u32::try_from(n).expect("a block in pinned memory is below 2^32 bytes");
    number(range.start)..number(range.end)
}

/// Returns an error if the samples contradict the BWT.
fn agreement(contradictory: bool) -> Result<()> {
    match contradictory {
        true => Err(Flaw::WRONG_SAMPLES.into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
