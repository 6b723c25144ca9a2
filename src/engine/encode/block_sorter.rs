//! Sorts the texts of blocks: several GPUs together, one leased GPU, or the CPU.

use super::gpu_proof::Proof;
use super::joint_gpus::{JointGpus, JointTask};
use super::sorting_gpu::{GpuSorted, SortingGpu, SortingTask};
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::threads::Threads;
use crate::bwt::{self, Bwt, ByteSums, CpuSorter, could_be_of};
use crate::coder::SliceLimits;
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::gpu;
use crate::options::Options;
#[cfg(test)]
use crate::options::events::Listener;
use crate::options::events::{Step, Timed};
use std::ops::RangeInclusive;
use std::time::Instant;

/// Bytes of the blocks that all leases of one GPU sort together. A block has too few slices to fill
/// a GPU, so several blocks are coded in hardly more time than one.
const LEASED: u64 = 256 << 20;
/// Minimum and maximum number of leases per GPU.
const LEASES: RangeInclusive<u64> = 4..=8;

fn leases(block_size: u64) -> usize {
    (LEASED / block_size.max(1)).clamp(*LEASES.start(), *LEASES.end()) as usize
}

/// Number of blocks that may be on a GPU, or wait for one to be opened, while threads filter
/// others.
pub(super) fn blocks_on_gpus(block_size: u64, options: &Options) -> usize {
    let may_be = match options.device {
        Device::Cpu => false,
        Device::Auto => gpu::has_driver(),
        Device::Cuda(_) => gpu::is_built(),
    };
    if may_be { leases(block_size) } else { 0 }
}

/// Sorters on the CPU and on GPUs, shared by the threads that encode blocks.
pub(super) struct BlockSorter {
    pub gpus: DevicePool<SortingGpu>,
    pub(super) together: JointGpus,
    pub cpu: CpuSorter,
    pool: Threads,
    /// True if what GPUs made is restored before it is given out.
    proves: bool,
}

impl BlockSorter {
    /// Creates the sorters for up to `workers` blocks at a time, each of up to `block_size` bytes
    /// with samples at `sample_rate`. If `coded` is given, GPUs also code the blocks into slices of
    /// these limits.
    ///
    /// # Errors
    /// [`Error::Device`] if this build has no sorter for the device that is asked for.
    pub(super) fn new(
        workers: usize,
        block_size: u64,
        sample_rate: u32,
        coded: Option<SliceLimits>,
        pool: &Threads,
        options: &Options,
    ) -> Result<Self> {
        // Larger blocks go to the CPU.
        let most = block_size.min(gpu::MOST_SORTED.into()) as u32;
        // A block that the CPU restores in any case need not be restored twice.
        let proves = !options.trust_gpus && !options.verify;
        let task = SortingTask {
            block_size: most,
            sample_rate,
            limits: coded,
            proves,
            threads: options.thread_count(),
        };
        let open = move |number| SortingGpu::open(number, task);
        let opener = Opener::new(options.device, workers, leases(block_size), open)?;
        let rates = Rates {
            whole: coded.is_some(),
            ..Rates::SORT
        };
        let gpus = DevicePool::of(opener, rates, pool, options.run.listener.clone());
        let ranks = options.run.ranks.clone();
        match options.run.input_size {
            // Several blocks come, and several GPUs do not take them together.
            all if all > block_size && block_size <= LEASED && ranks.is_none() => {
                gpus.announce_and_open(all, block_size);
            }
            all => gpus.announce(all),
        }
        let together = JointGpus::new(options.device, ranks, coded);
        let cpu = CpuSorter::with(options.run.narrow);
        Ok(BlockSorter {
            gpus,
            together,
            cpu,
            pool: pool.clone(),
            proves,
        })
    }

    #[cfg(test)]
    pub(super) fn with(gpus: DevicePool<SortingGpu>, pool: Threads) -> Self {
        let together = JointGpus::new(Device::Cpu, None, None);
        BlockSorter {
            gpus,
            together,
            cpu: CpuSorter::new(),
            pool,
            proves: false,
        }
    }

    /// Creates the sorters of GPUs that are open from the start and used for every block.
    #[cfg(test)]
    pub(super) fn of(gpus: Vec<SortingGpu>, listener: Listener) -> Self {
        let gpus = DevicePool::new(Opener::of(gpus), Rates::SORT, 4, listener);
        BlockSorter::with(gpus, Threads::Calling)
    }

    /// Announces that a block of `len` bytes will be sorted when it has its turn. `is_alone` is
    /// true if it may be alone in its stream.
    pub(super) fn expect(&self, len: usize, is_alone: bool) {
        if !self.together.take(len as u64, is_alone) {
            self.gpus.expect(len as u64);
        }
    }

    /// Warns that a GPU was wrong, and uses none any more: the next error may not be found.
    pub(super) fn give_up(&self, failure: &str) {
        self.gpus.give_up(failure);
        self.together.give_up();
    }

    /// Sorts a text, and says when each step was done. Several GPUs sort it if it is alone in its
    /// stream or no GPU alone has the memory for it. Otherwise, or if they fail, one GPU or the CPU
    /// sorts it. The caller must not be a thread of the pool, since a GPU is waited for.
    pub(super) fn sort(
        &self,
        text: &[u8],
        sample_rate: u32,
        is_alone: bool,
    ) -> Result<(Sorted, Vec<Timed>)> {
        if self.together.take(text.len() as u64, is_alone) {
            let task = JointTask {
                sample_rate,
                proves: self.proves,
                pool: &self.pool,
            };
            match self.together.sort(text, task) {
                Ok(Some(done)) if self.is_right(&done, text)? => {
                    return Ok((done.sorted, done.steps));
                }
                Ok(Some(_)) => self.give_up(WRONG),
                Ok(None) => (),
                Err(Error::Device(failure)) => self.gpus.warn_of_several(&failure),
                Err(other) => return Err(other),
            }
        }
        let threads = self.threads(is_alone);
        let lease = self.gpus.lease(text.len() as u64, threads);
        // The lease ends with this statement, before anything waits for the pool.
        let sorted = lease.and_then(|mut lease| lease.run(|gpu| gpu.sort(text, sample_rate)));
        if let Some(done) = sorted.transpose()? {
            if self.is_right(&done, text)? {
                return Ok((done.sorted, done.steps));
            }
            self.give_up(WRONG);
        }
        self.pool.install(|| {
            let from = Instant::now();
            let bwt = self.cpu.sort_on(threads, text, sample_rate);
            self.gpus
                .done_on_cpu(text.len() as u64, threads, from.elapsed());
            Ok((
                Sorted::Bwt(bwt?),
                vec![(Step::Sort(Device::Cpu), from, Instant::now())],
            ))
        })
    }

    /// Makes it prove what GPUs made.
    #[cfg(test)]
    pub(super) fn proving(mut self) -> Self {
        self.proves = true;
        self
    }

    /// True if the result of GPUs is that of the text, or, if it was not to be proved, could be.
    /// The CPU proves what no GPU had the memory for.
    fn is_right(&self, done: &GpuSorted, text: &[u8]) -> Result<bool> {
        match (done.proof, &done.sorted) {
            (Proof::Restored, _) => Ok(true),
            (Proof::Differs, _) => Ok(false),
            (Proof::Missing, Sorted::Bwt(bwt)) if self.proves => {
                self.pool.install(|| restores(bwt, text))
            }
            (Proof::Missing, sorted) => Ok(self
                .pool
                .install(|| could_be(sorted, done.counts, text))),
        }
    }

    /// Sorts a text on the CPU, though no turn of it was announced.
    pub(super) fn sort_again(&self, text: &[u8], sample_rate: u32, is_alone: bool) -> Result<Bwt> {
        let threads = self.threads(is_alone);
        self.pool
            .install(|| self.cpu.sort_on(threads, text, sample_rate))
    }

    /// Number of threads of the CPU that sort a block.
    fn threads(&self, is_alone: bool) -> usize {
        if is_alone { self.pool.count() } else { 1 }
    }
}

/// Returns true if the transform is inverted to the text.
fn restores(bwt: &Bwt, text: &[u8]) -> Result<bool> {
    match bwt.copy().and_then(bwt::invert) {
        Ok(restored) => Ok(restored == text),
        Err(Error::Format { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

const WRONG: &str = "a GPU gave a transform that is not the block's";

/// Returns true if the result of a GPU could be that of the text. `counts` says how often the GPU
/// found each byte in a transform that it coded.
pub(super) fn could_be(sorted: &Sorted, counts: Option<[u64; 256]>, text: &[u8]) -> bool {
    match sorted {
        Sorted::Bwt(bwt) => could_be_of(bwt, text),
        Sorted::Coded(coded) => coded_could_be_of(coded, counts, text),
    }
}

/// Does the check of [`could_be_of`] for a coded transform, with the byte counts that the GPU took
/// of it.
fn coded_could_be_of(coded: &CodedTransform, counts: Option<[u64; 256]>, text: &[u8]) -> bool {
    let CodedTransform {
        coded,
        sample_rate,
        samples,
    } = coded;
    let rows = 1..=text.len() as u64;
    coded.raw_size() == text.len() as u64
        && counts.is_some_and(|counts| ByteSums::of_counts(&counts) == ByteSums::of(text))
        && samples.len() == text.len().div_ceil(*sample_rate as usize)
        && samples.iter().all(|row| rows.contains(row))
}

#[cfg(test)]
mod tests;
