//! Restores blocks from their transforms, on the CPU or on a leased GPU.
//!
//! The CPU restores a block on all threads that are free. If a GPU cannot invert a transform, the
//! CPU inverts it again, so that a damaged block has the same error on every device.
//!
//! With `--memory`, each block being restored is counted with 6 bytes per byte. The transform and
//! the CPU's table take 5. A GPU's inverse, in use or not, takes 1 for the copy that the GPU reads
//! from and writes to.

use super::coded_transform::CodedTransform;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Flaw, Result};
use crate::base::positions::NarrowLimits;
use crate::base::tasks::Executor;
use crate::base::threads::Threads;
use crate::bwt::{self, Bwt, CpuInverse};
#[cfg(test)]
use crate::coder;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::gpu;
#[cfg(test)]
use crate::options::events::Listener;
use crate::options::events::{Step, Timed};
use crate::options::{DEFAULT_SAMPLE_RATE, Options};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Number of leases per GPU. Decoding a block takes ten times as long as inverting it, and a block
/// has so few slices that many blocks are decoded in the time of one.
const LEASES: usize = 8;

/// Minimum number of threads among which the CPU divides the work on a block.
const LEAST_SHARE: usize = 4;

/// Restores the text of a transform on a GPU, and says when each step was done.
pub(crate) type GpuInvert = Box<dyn FnMut(InvertJob) -> Result<Vec<Timed>> + Send>;

/// A transform, and the memory for its text.
pub(crate) enum InvertJob<'a> {
    /// The text replaces the transform's bytes. If that fails, the bytes are unchanged.
    Bwt(&'a mut Bwt),
    /// A coded transform, and memory of the text's length.
    Coded(&'a CodedTransform, &'a mut [u8]),
}

#[cfg(test)]
impl<'a> InvertJob<'a> {
    /// Does the job on the CPU, and returns the text in its memory.
    pub fn on_cpu(self) -> Result<&'a mut [u8]> {
        match self {
            InvertJob::Bwt(bwt) => {
                bwt.bytes = crate::bwt::invert(bwt.clone())?;
                Ok(&mut bwt.bytes)
            }
            InvertJob::Coded(CodedTransform { coded, sample_rate, samples }, text) => {
                let decoder = coder::SliceDecoder::new(coder::Coding::StaticRans, &coded.models)?;
                let sizes = &coded.raw_sizes;
                let mut bytes = vec![0; text.len()];
                coder::decode_slices(&decoder, sizes, &coded.slices, &mut bytes)?;
                let sample_rate = *sample_rate;
                let samples = bwt::wide(samples.clone());
                text.copy_from_slice(&crate::bwt::invert(Bwt { bytes, sample_rate, samples })?);
                Ok(text)
            }
        }
    }
}

/// Inverters on the CPU and on GPUs, shared by the workers.
pub(crate) struct BlockInverter {
    /// GPUs that may decode and invert. A block that will come is announced, and then a GPU is
    /// leased for it.
    pub gpus: DevicePool<GpuInvert>,
    cpu: CpuInverse,
    /// Number of blocks that the CPU is restoring now.
    on_cpu: AtomicUsize,
}

impl BlockInverter {
    /// Creates the inverters for up to `workers` blocks at a time, each of up to `block_size`
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if this build has no inverse for the device that is
    /// asked for.
    pub fn new(workers: usize, block_size: u64, pool: &Threads, options: &Options) -> Result<Self> {
        // Larger blocks go to the CPU.
        let most = block_size.min(gpu::MOST_BYTES.into()) as u32;
        let make = move |number| gpu_invert(number, most);
        let opener = Opener::new(options.device, workers, LEASES, make)?;
        let gpus = DevicePool::of(opener, Rates::INVERT, pool, options.run.listener.clone());
        Ok(BlockInverter::with(gpus, options.run.narrow))
    }

    fn with(gpus: DevicePool<GpuInvert>, narrow: NarrowLimits) -> Self {
        BlockInverter { gpus, cpu: CpuInverse::new(narrow), on_cpu: AtomicUsize::new(0) }
    }

    /// Creates the inverters of GPUs that are open from the start and used for every block.
    #[cfg(test)]
    pub fn of(gpus: Vec<GpuInvert>, listener: Listener) -> Self {
        BlockInverter::with(
            DevicePool::new(Opener::of(gpus), Rates::INVERT, 4, listener),
            NarrowLimits::USUAL,
        )
    }

    /// Frees the tables that the CPU keeps for its next blocks.
    pub fn free_tables(&self) {
        self.cpu.free_tables();
    }

    /// Lets go of the GPUs, since no more blocks come.
    pub fn end(&self) {
        self.gpus.end();
    }

    /// Number of threads of `pool` that the CPU would have for one more block.
    pub fn threads(&self, pool: &Threads) -> usize {
        (pool.count() / (self.on_cpu.load(Ordering::Relaxed) + 1)).max(1)
    }

    /// Restores the block of a transform, as [`crate::bwt::invert`] does. On the CPU the threads of
    /// `pool` do it; the caller must not be one of them.
    pub fn invert(&self, mut bwt: Bwt, pool: &Threads) -> Result<(Vec<u8>, Vec<Timed>)> {
        let threads = self.threads(pool);
        let lease = self.gpus.lease(bwt.bytes.len() as u64, threads);
        let done = lease.and_then(|mut lease| lease.run(|invert| invert(InvertJob::Bwt(&mut bwt))));
        match done {
            Some(Ok(steps)) => Ok((bwt.bytes, steps)),
            _ => self.invert_on_cpu(bwt, threads, pool),
        }
    }

    /// Restores a block on the CPU. The block got no lease when it was compared with `threads`
    /// threads, or its GPU failed.
    pub fn invert_on_cpu(
        &self,
        bwt: Bwt,
        threads: usize,
        pool: &Threads,
    ) -> Result<(Vec<u8>, Vec<Timed>)> {
        let len = bwt.bytes.len() as u64;
        let from = Instant::now();
        // Other blocks may end before this one, so it is divided among more threads.
        let share = self.threads(pool).max(LEAST_SHARE.min(pool.count()));
        self.on_cpu.fetch_add(1, Ordering::Relaxed);
        let on = Executor { threads: share, execute: &|tasks| _ = pool.execute(tasks) };
        let text = self.cpu.invert_on(on, bwt);
        self.on_cpu.fetch_sub(1, Ordering::Relaxed);
        self.gpus.done_on_cpu(len, threads, from.elapsed());
        Ok((text?, vec![(Step::Invert(Device::Cpu), from, Instant::now())]))
    }
}

/// Creates an inverse on a GPU, with memory for blocks of the given size and for the samples of a
/// usual index.
fn gpu_invert(number: u32, block_size: u32) -> Result<GpuInvert> {
    let mut inverse = gpu::GpuInverse::new(number)?;
    inverse.reserve(block_size, block_size.div_ceil(DEFAULT_SAMPLE_RATE))?;
    let mut decoder = gpu::BwtDecoder::new(number)?;
    decoder.reserve(block_size)?;
    let gpu = Device::Cuda(GpuSet::one(number));
    Ok(Box::new(move |job| {
        let began = Instant::now();
        match job {
            InvertJob::Bwt(bwt) => {
                inverse.input(bwt.bytes.len())?.copy_from_slice(&bwt.bytes);
                let from = Instant::now();
                let samples = bwt::narrow(&bwt.samples);
                let text = inverse.invert_input(bwt.sample_rate, &samples)?;
                let to = Instant::now();
                bwt.bytes.copy_from_slice(text);
                let copied = [(Step::CopyIn, began, from), (Step::CopyOut, to, Instant::now())];
                let [copied_in, copied_out] = copied;
                Ok(vec![copied_in, (Step::Invert(gpu), from, to), copied_out])
            }
            InvertJob::Coded(CodedTransform { coded, sample_rate, samples }, text) => {
                let found = inverse.invert_coded(&mut decoder, coded, *sample_rate, samples)?;
                let (decoded, found) = found.ok_or(Flaw("a slice is damaged"))?;
                let to = Instant::now();
                text.copy_from_slice(found);
                Ok(vec![
                    (Step::Decode(gpu), began, decoded),
                    (Step::Invert(gpu), decoded, to),
                    (Step::CopyOut, to, Instant::now()),
                ])
            }
        }
    }))
}
