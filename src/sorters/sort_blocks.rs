//! Sorts blocks, on the CPU or on a leased GPU.

use crate::bwt::{self, Bwt, CpuSorter, could_be_of};
use crate::device::{Device, GpuSet};
use crate::device_pool::{DevicePool, Opener, Rates};
use crate::error::Result;
use crate::events::{Step, Timed};
use crate::gpu::{self, Algorithm};
use crate::options::Options;
use crate::threads::Threads;
use std::time::{Duration, Instant};

/// Sorts blocks on a GPU, with the given sample rate, and says when each step was done.
pub(super) type GpuSort = Box<dyn FnMut(&[u8], u32) -> Result<(Bwt, Vec<Timed>)> + Send>;

/// All that sorts, shared by the workers.
pub(crate) struct BlockSorter {
    pub(super) gpus: DevicePool<GpuSort>,
    cpu: CpuSorter,
}

impl BlockSorter {
    /// For up to `workers` blocks at a time, of up to `block_size` bytes with samples at
    /// `sample_rate`.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where this build has no sorter for the device that
    /// is asked for.
    pub fn new(
        workers: usize,
        block_size: u32,
        sample_rate: u32,
        options: &Options,
    ) -> Result<Self> {
        let opener = Opener::new(options.chosen_device(), workers, move |number| {
            gpu_sort(number, block_size, sample_rate)
        })?;
        let (rates, listener) = (Rates::SORT, options.listener().clone());
        let threads = options.thread_count();
        Ok(BlockSorter::with(DevicePool::new(opener, rates, threads, listener)))
    }

    pub(super) fn with(gpus: DevicePool<GpuSort>) -> Self {
        BlockSorter { gpus, cpu: CpuSorter::new() }
    }

    /// A block of `len` bytes will be sorted when it has its turn.
    pub fn expect(&self, len: usize) {
        self.gpus.expect(len as u64);
    }

    /// A block of `len` bytes was coded, which took so much time of one thread.
    pub fn coded(&self, len: usize, took: Duration) {
        self.gpus.coded(len as u64, took);
    }

    /// Frees the memory that is kept for the next blocks on the CPU.
    pub fn free(&self) {
        self.cpu.free();
    }

    /// Sorts a block, on up to `threads` threads if on the CPU. That happens in `pool`; a GPU is
    /// waited for outside of it.
    pub fn sort(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<(Bwt, Vec<Timed>)> {
        if let Some(sorted) = self.sort_on_gpu(block, sample_rate, threads, pool)? {
            return Ok(sorted);
        }
        pool.install(|| {
            let from = Instant::now();
            let bwt = self.cpu.sort_on(threads, block, sample_rate);
            self.gpus.done_on_cpu(block.len() as u64, threads, from.elapsed());
            Ok((bwt?, vec![(Step::Sort(Device::Cpu), from, Instant::now())]))
        })
    }

    /// `None` where the CPU is to sort it.
    fn sort_on_gpu(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<Option<(Bwt, Vec<Timed>)>> {
        let lease = self.gpus.lease(block.len() as u64, threads);
        // The lease ends with this, before anything waits for the pool.
        let sorted = lease.and_then(|mut lease| lease.run(|sort| sort(block, sample_rate)));
        let Some(sorted) = sorted.transpose()? else { return Ok(None) };
        if !pool.install(|| could_be_of(&sorted.0, block)) {
            self.gpus.warn("a GPU gave a transform that is not the block's");
            return Ok(None);
        }
        Ok(Some(sorted))
    }
}

/// A sorter on a GPU, with memory for blocks of the size and sample rate given.
fn gpu_sort(number: u32, block_size: u32, sample_rate: u32) -> Result<GpuSort> {
    let mut sorter = gpu::GpuSorter::new(number, Algorithm::Default)?;
    sorter.reserve(block_size, sample_rate)?;
    Ok(Box::new(move |block, sample_rate| {
        let began = Instant::now();
        sorter.input(block.len())?.copy_from_slice(block);
        let sorted = sorter.sort_input(sample_rate)?;
        let mut bytes = bwt::zeroed(block.len())?;
        bytes.copy_from_slice(sorted.bytes);
        let samples = sorted.samples.to_vec();
        let ended = Instant::now();
        let [_, from, to, _] = sorter.report().times.unwrap_or([began, began, ended, ended]);
        let steps = vec![
            (Step::CopyIn, began, from),
            (Step::Sort(Device::Cuda(GpuSet::one(number))), from, to),
            (Step::CopyOut, to, ended),
        ];
        Ok((Bwt { bytes, sample_rate, samples }, steps))
    }))
}
