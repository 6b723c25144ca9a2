//! One leased GPU that inverts transforms, and decodes them if they are coded.

use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Flaw, Result};
use crate::base::threads;
use crate::bwt::{self, Bwt};
#[cfg(test)]
use crate::coder;
use crate::engine::coded_transform::CodedTransform;
use crate::gpu::{self, TextTarget};
use crate::options::DEFAULT_SAMPLE_RATE;
use crate::options::events::{Step, Timed};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A transform, and the memory for its text.
pub(super) enum InvertJob<'a> {
    /// The text replaces the transform's bytes. If that fails, the bytes are unchanged.
    Bwt(&'a mut Bwt),
    /// A coded transform, and memory of the text's length.
    Coded(&'a CodedTransform<&'a [u8]>, &'a mut [u8]),
    /// A coded transform of at most [`gpu::MOST_PINNED`] bytes whose text stays in the GPU's
    /// memory.
    ToDevice(&'a DeviceJob<'a>),
}

/// A coded transform, and the place of its text in the memory of the GPU.
pub(super) struct DeviceJob<'a> {
    pub transform: CodedTransform<&'a [u8]>,
    pub target: TextTarget<'a>,
    /// The CRC-32 that the text must have.
    pub checksum: u32,
}

#[cfg(test)]
impl<'a> InvertJob<'a> {
    /// Does the job on the CPU, and returns the text in its memory.
    pub(super) fn on_cpu(self) -> Result<&'a mut [u8]> {
        match self {
            InvertJob::Bwt(bwt) => {
                bwt.bytes = crate::bwt::invert(bwt.clone())?;
                Ok(&mut bwt.bytes)
            }
            InvertJob::Coded(
                CodedTransform {
                    coded,
                    sample_rate,
                    samples,
                },
                text,
            ) => {
                let decoder = coder::SliceDecoder::new(coder::Coding::StaticRans, &coded.models)?;
                let sizes = &coded.raw_sizes;
                let mut bytes = vec![0; text.len()];
                coder::decode_slices(&decoder, sizes, &coded.slices, &mut bytes)?;
                let sample_rate = *sample_rate;
                let samples = samples.clone();
                text.copy_from_slice(&crate::bwt::invert(Bwt {
                    bytes,
                    sample_rate,
                    samples,
                })?);
                Ok(text)
            }
            InvertJob::ToDevice(..) => panic!("it has no memory on the host"),
        }
    }
}

#[cfg(test)]
type FakeInverter = Box<dyn FnMut(InvertJob) -> Result<Vec<Timed>> + Send>;

/// GPUs with their memory that do nothing now, and are kept for later streams.
#[derive(Clone, Default)]
#[allow(clippy::vec_box, reason = "the boxes come from pools and go to pools")]
pub(super) struct KeptGpus(Arc<Mutex<Vec<Box<CudaInverter>>>>);

impl KeptGpus {
    fn take(&self) -> Option<Box<CudaInverter>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    /// Drops all of them.
    pub(super) fn clear(&self) {
        while self.take().is_some() {}
    }

    fn put(&self, gpu: Box<CudaInverter>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(gpu);
    }
}

/// A GPU that is kept when this is dropped, unless it has failed.
pub(super) struct KeptGpu {
    gpu: Option<Box<CudaInverter>>,
    kept: KeptGpus,
}

impl KeptGpu {
    fn run(&mut self, job: InvertJob) -> Result<Vec<Timed>> {
        let mut gpu = self
            .gpu
            .take()
            .ok_or(Error::Device("the GPU has failed".into()))?;
        let done = gpu.run(job);
        if !matches!(done, Err(Error::Device(_))) {
            self.gpu = Some(gpu);
        }
        done
    }
}

impl Drop for KeptGpu {
    fn drop(&mut self) {
        if let Some(gpu) = self.gpu.take() {
            self.kept.put(gpu);
        }
    }
}

/// A GPU that inverts transforms.
pub(super) enum InvertingGpu {
    Cuda(Box<CudaInverter>),
    Kept(KeptGpu),
    /// A test's stand-in for a GPU.
    #[cfg(test)]
    Fake(FakeInverter),
}

impl InvertingGpu {
    /// Opens GPU `number`, with memory for blocks of up to `block_size` bytes and for the samples
    /// of a usual index. Up to `threads` threads copy very large blocks.
    pub(super) fn open(number: u32, block_size: u64, threads: usize) -> Result<Self> {
        let mut gpu = Box::new(CudaInverter::new(number)?);
        gpu.reserve(block_size, threads)?;
        Ok(InvertingGpu::Cuda(gpu))
    }

    /// Takes one of the kept GPUs, which all have this number, or opens it, as [`Self::open`] does.
    /// It is kept when it is dropped.
    pub(super) fn open_kept(
        number: u32,
        block_size: u64,
        threads: usize,
        kept: &KeptGpus,
    ) -> Result<Self> {
        let mut gpu = match kept.take() {
            Some(gpu) => gpu,
            None => Box::new(CudaInverter::new(number)?),
        };
        if gpu.reserve(block_size, threads).is_err() {
            // Those that are not in use may have the memory that is missing.
            kept.clear();
            gpu.reserve(block_size, threads)?;
        }
        Ok(InvertingGpu::Kept(KeptGpu {
            gpu: Some(gpu),
            kept: kept.clone(),
        }))
    }

    #[cfg(test)]
    pub(super) fn fake(
        invert: impl FnMut(InvertJob) -> Result<Vec<Timed>> + Send + 'static,
    ) -> Self {
        InvertingGpu::Fake(Box::new(invert))
    }

    /// Restores the text of a transform, and says when each step was done.
    pub(super) fn invert(&mut self, job: InvertJob) -> Result<Vec<Timed>> {
        match (self, job) {
            (InvertingGpu::Cuda(gpu), job) => gpu.run(job),
            (InvertingGpu::Kept(gpu), job) => gpu.run(job),
            #[cfg(test)]
            (InvertingGpu::Fake(invert), job) => invert(job),
        }
    }
}

/// A GPU with the memory for one block.
pub(super) struct CudaInverter {
    number: u32,
    inverse: gpu::GpuInverse,
    decoder: gpu::BwtDecoder,
    threads: usize,
}

impl CudaInverter {
    fn new(number: u32) -> Result<Self> {
        Ok(CudaInverter {
            number,
            inverse: gpu::GpuInverse::new(number)?,
            decoder: gpu::BwtDecoder::new(number)?,
            threads: 1,
        })
    }

    /// Takes the memory for blocks of up to `block_size` bytes, which up to `threads` threads copy
    /// if they are very large.
    fn reserve(&mut self, block_size: u64, threads: usize) -> Result<()> {
        self.threads = threads;
        let samples = block_size.div_ceil(DEFAULT_SAMPLE_RATE.into()) as u32;
        if block_size > gpu::MOST_PINNED {
            // Such blocks are alone on a GPU, and the decoder's memory grows to fit the first.
            return self.inverse.reserve_portions(block_size, samples);
        }
        self.inverse.reserve(block_size as u32, samples)?;
        self.decoder.reserve(block_size as u32)
    }

    fn run(&mut self, job: InvertJob) -> Result<Vec<Timed>> {
        match job {
            InvertJob::Bwt(bwt) => self.invert(bwt),
            InvertJob::Coded(coded, text) => self.decode_and_invert(coded, text),
            InvertJob::ToDevice(job) => self.invert_to_device(job),
        }
    }

    fn gpu(&self) -> Device {
        Device::Cuda(GpuSet::one(self.number))
    }

    fn invert(&mut self, bwt: &mut Bwt) -> Result<Vec<Timed>> {
        let gpu = self.gpu();
        let began = Instant::now();
        let len = bwt.bytes.len();
        if len as u64 > gpu::MOST_PINNED {
            self.invert_by_portions(bwt)?;
            return Ok(vec![(Step::Invert(gpu), began, Instant::now())]);
        }
        self.inverse
            .input(len)?
            .copy_from_slice(&bwt.bytes);
        let from = Instant::now();
        let text = self
            .inverse
            .invert_input(bwt.sample_rate, &bwt.samples)?;
        let to = Instant::now();
        bwt.bytes.copy_from_slice(text);
        Ok(vec![
            (Step::CopyIn, began, from),
            (Step::Invert(gpu), from, to),
            (Step::CopyOut, to, Instant::now()),
        ])
    }

    /// Inverts a very large block. If that fails, its bytes are unchanged.
    fn invert_by_portions(&mut self, bwt: &mut Bwt) -> Result<()> {
        let threads = self.threads;
        let mut text = bwt::zeroed(bwt.bytes.len())?;
        let fill = |range: Range<u64>, room: &mut [u8]| {
            let part = &bwt.bytes[range.start as usize..range.end as usize];
            threads::copy_portion(room, part, threads);
        };
        let n = bwt.bytes.len() as u64;
        let rate = bwt.sample_rate;
        self.inverse
            .invert_portions(n, rate, &bwt.samples, fill, copy_to(&mut text, threads))?;
        bwt.bytes = text;
        Ok(())
    }

    fn decode_and_invert(
        &mut self,
        transform: &CodedTransform<&[u8]>,
        text: &mut [u8],
    ) -> Result<Vec<Timed>> {
        let gpu = self.gpu();
        let began = Instant::now();
        let CodedTransform {
            coded,
            sample_rate,
            samples,
        } = transform;
        let damaged = Flaw("a slice is damaged");
        if text.len() as u64 > gpu::MOST_PINNED {
            if coded.raw_size() != text.len() as u64 {
                return Err(Flaw::WRONG_SLICES.into());
            }
            let take = copy_to(text, self.threads);
            let decoder = &mut self.decoder;
            let decoded = self
                .inverse
                .invert_coded_portions(decoder, coded, *sample_rate, samples, take)?
                .ok_or(damaged)?;
            return Ok(vec![
                (Step::Decode(gpu), began, decoded),
                (Step::Invert(gpu), decoded, Instant::now()),
            ]);
        }
        let found = self
            .inverse
            .invert_coded(&mut self.decoder, coded, *sample_rate, samples)?;
        let (decoded, found) = found.ok_or(damaged)?;
        let to = Instant::now();
        text.copy_from_slice(found);
        Ok(vec![
            (Step::Decode(gpu), began, decoded),
            (Step::Invert(gpu), decoded, to),
            (Step::CopyOut, to, Instant::now()),
        ])
    }

    fn invert_to_device(&mut self, job: &DeviceJob) -> Result<Vec<Timed>> {
        let gpu = self.gpu();
        let began = Instant::now();
        let CodedTransform {
            coded,
            sample_rate,
            samples,
        } = &job.transform;
        let found = self.inverse.invert_coded_to(
            &mut self.decoder,
            coded,
            *sample_rate,
            samples,
            &job.target,
        )?;
        let (decoded, found) = found.ok_or(Flaw("a slice is damaged"))?;
        if found != job.checksum {
            return Err(Flaw::WRONG_RAW_BYTES.into());
        }
        Ok(vec![
            (Step::Decode(gpu), began, decoded),
            (Step::Invert(gpu), decoded, Instant::now()),
        ])
    }
}

/// Copies ranges of a text to their places.
fn copy_to(text: &mut [u8], threads: usize) -> impl FnMut(Range<u64>, &[u8]) {
    move |range, bytes| {
        let room = &mut text[range.start as usize..range.end as usize];
        threads::copy_portion(room, bytes, threads);
    }
}
