//! The GPU that answers many queries at a time, where the options allow it and that pays.

use crate::device_pool::{DevicePool, Opener, Rates};
use crate::error::Result;
use crate::gpu::ExtensionQueries;
use crate::options::Options;
use crate::threads;
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Queries that a thread takes at a time.
const QUERIES: usize = 1 << 12;

/// A GPU for the queries of some values, which it keeps. Clones share it.
#[derive(Clone)]
pub struct QueryGpu {
    gpus: Arc<DevicePool<ExtensionQueries>>,
    /// What no other values have.
    id: u64,
}

impl QueryGpu {
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where a GPU is asked for that this build has no CUDA
    /// for.
    pub fn new(options: &Options) -> Result<Self> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let opener = Opener::new(options.device, 1, 1, ExtensionQueries::new)?;
        let (threads, listener) = (options.thread_count(), options.listener.clone());
        let gpus = Arc::new(DevicePool::new(opener, Rates::EXTENSIONS, threads, listener));
        Ok(QueryGpu { gpus, id: IDS.fetch_add(1, Ordering::Relaxed) })
    }

    /// Answers so many queries by `work`, which is given the id of the values. False where the CPU
    /// has to answer them.
    pub fn answer(
        &self,
        queries: usize,
        work: impl FnOnce(&mut ExtensionQueries, u64) -> Result<()>,
    ) -> Result<bool> {
        self.gpus.expect(queries as u64);
        let lease = self.gpus.lease(queries as u64, 1);
        let done = lease.and_then(|mut lease| lease.run(|gpu| work(gpu, self.id)));
        done.transpose().map(|done| done.is_some())
    }

    /// Answers queries on as many threads as the options say, where [`QueryGpu::answer`] did not.
    pub fn answer_on_cpu<Q: Sync>(
        &self,
        queries: &[Q],
        found: &mut [u32],
        options: &Options,
        answer: impl Fn(&Q) -> u32 + Sync,
    ) -> Result<()> {
        let from = Instant::now();
        threads::pool(options)?.install(|| {
            let parts = found.par_chunks_mut(QUERIES).zip(queries.par_chunks(QUERIES));
            parts.for_each(|(found, queries)| {
                for (found, query) in found.iter_mut().zip(queries) {
                    *found = answer(query);
                }
            });
        });
        self.gpus.done_on_cpu(queries.len() as u64, 1, from.elapsed());
        Ok(())
    }
}

impl fmt::Debug for QueryGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryGpu").field("id", &self.id).finish_non_exhaustive()
    }
}
