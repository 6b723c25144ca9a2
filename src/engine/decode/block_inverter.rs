//! Inverts the transforms of blocks, on the CPU or on a leased GPU.
//!
//! The CPU inverts a transform on all threads that are free. If a GPU cannot invert it, the CPU
//! inverts it again, so that a damaged block has the same error on every device. `restore` has the
//! steps from the inverted text to the raw bytes.
//!
//! With `--memory`, each block being inverted is counted with 6 bytes per byte. The transform and
//! the CPU's table take 5. A GPU's inverse, in use or not, takes 1 for the copy that the GPU reads
//! from and writes to.

use super::inverting_gpu::{InvertJob, InvertingGpu};
use crate::base::device::Device;
use crate::base::error::Result;
use crate::base::positions::NarrowLimits;
use crate::base::threads::Threads;
use crate::bwt::{Bwt, CpuInverse};
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::gpu;
use crate::options::Options;
#[cfg(test)]
use crate::options::events::Listener;
use crate::options::events::{Step, Timed};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Number of leases per GPU. Decoding a block takes ten times as long as inverting it, and a block
/// has so few slices that many blocks are decoded in the time of one.
pub(super) const LEASES: usize = 8;

/// Number of leases per GPU for blocks above [`gpu::MOST_PINNED`]. Such a block fills a GPU; while
/// it is copied, the GPU may work on another.
const LEASES_OF_LARGE: usize = 2;

/// Minimum number of threads among which the CPU divides the work on a transform.
const LEAST_SHARE: usize = 4;

/// Bytes of a GPU's memory per byte of a very large block.
const BYTES_OF_BLOCK: u64 = 15;

/// Largest block of up to `block_size` bytes that every GPU of a device has the memory for. Blocks
/// of up to [`gpu::MOST_PINNED`] are taken to fit, since asking the driver takes long.
fn most_on_gpu(block_size: u64, device: Device) -> u64 {
    let is_on_gpus = gpu::is_built() && device != Device::Cpu;
    if block_size <= gpu::MOST_PINNED || !is_on_gpus {
        return block_size;
    }
    let gpus = gpu::devices().unwrap_or_default();
    let least = gpus.iter().map(|gpu| gpu.memory).min();
    let holds = least.unwrap_or_default() / BYTES_OF_BLOCK;
    block_size.min(holds.clamp(gpu::MOST_PINNED, gpu::MOST_INVERTED))
}

/// Inverters on the CPU and on GPUs, shared by the threads that decode blocks.
pub(super) struct BlockInverter {
    /// GPUs that may decode and invert. A block that will come is announced, and then a GPU is
    /// leased for it.
    pub gpus: DevicePool<InvertingGpu>,
    pub cpu: CpuInverse,
    /// Number of transforms that the CPU is inverting now.
    on_cpu: AtomicUsize,
    pool: Threads,
}

impl BlockInverter {
    /// Creates the inverters for up to `workers` blocks at a time, each of up to `block_size`
    /// bytes. There are `leases` leases per GPU, or fewer if the blocks are very large. `open` is
    /// [`InvertingGpu::open`] or like it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if this build has no inverse for the device that is
    /// asked for.
    pub(super) fn new(
        workers: usize,
        block_size: u64,
        leases: usize,
        open: impl Fn(u32, u64, usize) -> Result<InvertingGpu> + Send + Sync + 'static,
        pool: &Threads,
        options: &Options,
    ) -> Result<Self> {
        // Larger blocks go to the CPU.
        let most = most_on_gpu(block_size, options.device);
        let threads = options.thread_count();
        let open = move |number| open(number, most, threads);
        let leases = match block_size > gpu::MOST_PINNED {
            true => LEASES_OF_LARGE,
            false => leases,
        };
        let opener = Opener::new(options.device, workers, leases, open)?;
        let rates = Rates {
            most: Rates::INVERT.most.min(most.max(gpu::MOST_PINNED)),
            ..Rates::INVERT
        };
        let gpus = DevicePool::of(opener, rates, pool, options.run.listener.clone());
        Ok(BlockInverter::with(gpus, pool.clone(), options.run.narrow))
    }

    fn with(gpus: DevicePool<InvertingGpu>, pool: Threads, narrow: NarrowLimits) -> Self {
        BlockInverter {
            gpus,
            cpu: CpuInverse::new(narrow),
            on_cpu: AtomicUsize::new(0),
            pool,
        }
    }

    /// Creates the inverters of GPUs that are open from the start and used for every block.
    #[cfg(test)]
    pub(super) fn of(gpus: Vec<InvertingGpu>, pool: Threads, listener: Listener) -> Self {
        let gpus = DevicePool::new(Opener::of(gpus), Rates::INVERT, 4, listener);
        BlockInverter::with(gpus, pool, NarrowLimits::USUAL)
    }

    /// Number of threads that the CPU would have for one more transform.
    pub(super) fn threads(&self) -> usize {
        (self.pool.count() / (self.on_cpu.load(Ordering::Relaxed) + 1)).max(1)
    }

    /// Inverts a transform to its text, as [`crate::bwt::invert`] does, and says when each step was
    /// done. The caller must not be a thread of the pool, which does the work on the CPU.
    pub(super) fn invert(&self, mut bwt: Bwt) -> Result<(Vec<u8>, Vec<Timed>)> {
        let threads = self.threads();
        let lease = self.gpus.lease(bwt.bytes.len() as u64, threads);
        let done =
            lease.and_then(|mut lease| lease.run(|gpu| gpu.invert(InvertJob::Bwt(&mut bwt))));
        match done {
            Some(Ok(steps)) => Ok((bwt.bytes, steps)),
            _ => self.invert_on_cpu(bwt, threads),
        }
    }

    /// Inverts a transform on the CPU. The block got no lease when it was compared with `threads`
    /// threads, or its GPU failed.
    pub(super) fn invert_on_cpu(&self, bwt: Bwt, threads: usize) -> Result<(Vec<u8>, Vec<Timed>)> {
        let len = bwt.bytes.len() as u64;
        let from = Instant::now();
        // Other blocks may end before this one, so it is divided among more threads.
        let share = self
            .threads()
            .max(LEAST_SHARE.min(self.pool.count()));
        self.on_cpu.fetch_add(1, Ordering::Relaxed);
        let text = self
            .cpu
            .invert_on(self.pool.executor().among(share), bwt);
        self.on_cpu.fetch_sub(1, Ordering::Relaxed);
        self.gpus
            .done_on_cpu(len, threads, from.elapsed());
        Ok((
            text?,
            vec![(Step::Invert(Device::Cpu), from, Instant::now())],
        ))
    }
}
