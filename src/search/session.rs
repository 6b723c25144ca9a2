//! State of a search from one batch to the next: threads, GPUs, and the kept parts of blocks.

use super::kept_blocks::KeptBlocks;
use super::loaded_index::GpuLease;
use super::searching_gpu::SearchingGpu;
use crate::base::error::Result;
use crate::engine::decode::SliceGpus;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::engine::thread_pool;
use crate::options::Options;
use crate::options::events::Listener;
use rayon::ThreadPool;
use std::sync::Arc;
use std::time::Duration;

/// State kept from one batch to the next.
pub(crate) struct Session {
    pub threads: Arc<ThreadPool>,
    /// GPUs that decode blocks.
    pub decoders: Arc<SliceGpus>,
    /// The GPU that searches blocks in memory.
    gpus: DevicePool<SearchingGpu>,
    /// Number of threads that search if no GPU does.
    thread_count: usize,
    /// Hears one warning, about the first block that does not fit in memory.
    pub listener: Listener,
    pub kept: KeptBlocks,
}

impl Session {
    /// Creates a session that keeps up to `budget` bytes of decoded blocks.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for but this build has no CUDA.
    pub(crate) fn new(options: &Options, budget: u64) -> Result<Self> {
        // Blocks take turns on one GPU.
        let opener = Opener::new(options.device, 1, 1, SearchingGpu::open)?;
        let thread_count = options.thread_count();
        let listener = options.run.listener.of_first_warning();
        let decoders = Arc::new(SliceGpus::new(options, listener.clone())?);
        let gpus = DevicePool::new(opener, Rates::SEARCH, thread_count, listener);
        let threads = Arc::new(thread_pool::pool(options)?);
        let listener = options.run.listener.of_first_warning();
        let kept = KeptBlocks::new(budget);
        Ok(Session {
            threads,
            decoders,
            gpus,
            thread_count,
            listener,
            kept,
        })
    }

    /// Announces patterns of `symbols` symbols in all, for blocks of up to `largest` bytes. If no
    /// block will stay on disk, a GPU may be opened now.
    pub(crate) fn expect(&mut self, symbols: u64, largest: u64) {
        self.kept.expect(symbols);
        if self.kept.symbols().surely_pay(largest) {
            self.gpus.expect(symbols);
        }
    }

    /// Leases a GPU for patterns of `symbols` symbols, if that pays. The symbols count once for
    /// each block in memory; blocks on disk are not searched on a GPU.
    pub(crate) fn lease(&self, symbols: u64) -> GpuLease<'_> {
        if symbols == 0 {
            return None;
        }
        self.gpus.expect(symbols);
        self.gpus.lease(symbols, self.thread_count)
    }

    /// Reports that the CPU has searched blocks in memory for patterns of `symbols` symbols.
    pub(crate) fn done_on_cpu(&self, symbols: u64, took: Duration) {
        if symbols > 0 {
            self.gpus
                .done_on_cpu(symbols, self.thread_count, took);
        }
    }
}
