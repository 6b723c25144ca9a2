//! The GPU that answers many queries at a time, if the options allow it and it pays.

use crate::base::error::Result;
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::engine::thread_pool;
use crate::gpu::ExtensionQueries;
use crate::options::Options;
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of queries that a thread takes at a time.
const QUERIES: usize = 1 << 12;

/// A GPU for queries of one set of values, which it keeps in its memory. Clones share it.
#[derive(Clone)]
pub(super) struct QueryGpu {
    gpus: Arc<DevicePool<ExtensionQueries>>,
    /// Identifies these values: no other values have this id.
    id: u64,
}

impl QueryGpu {
    /// Creates the GPU for one set of values. It is opened when queries need it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for and this build has no CUDA.
    pub(super) fn new(options: &Options) -> Result<Self> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let opener = Opener::new(options.device, 1, 1, ExtensionQueries::new)?;
        let threads = options.thread_count();
        let listener = options.run.listener.clone();
        let gpus = Arc::new(DevicePool::new(
            opener,
            Rates::EXTENSIONS,
            threads,
            listener,
        ));
        Ok(QueryGpu {
            gpus,
            id: IDS.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// Answers `queries` queries by `work`, which is given the id of the values. Returns false if
    /// the CPU has to answer them.
    pub(super) fn answer(
        &self,
        queries: usize,
        work: impl FnOnce(&mut ExtensionQueries, u64) -> Result<()>,
    ) -> Result<bool> {
        self.gpus.expect(queries as u64);
        let lease = self.gpus.lease(queries as u64, 1);
        let done = lease.and_then(|mut lease| lease.run(|gpu| work(gpu, self.id)));
        done.transpose().map(|done| done.is_some())
    }

    /// Answers the queries that [`QueryGpu::answer`] did not, on as many threads as the options
    /// say.
    pub(super) fn answer_on_cpu<Q: Sync>(
        &self,
        queries: &[Q],
        found: &mut [u32],
        options: &Options,
        answer: impl Fn(&Q) -> u32 + Sync,
    ) -> Result<()> {
        let from = Instant::now();
        thread_pool::pool(options)?.install(|| {
            let parts = found
                .par_chunks_mut(QUERIES)
                .zip(queries.par_chunks(QUERIES));
            parts.for_each(|(found, queries)| {
                for (found, query) in found.iter_mut().zip(queries) {
                    *found = answer(query);
                }
            });
        });
        self.gpus
            .done_on_cpu(queries.len() as u64, 1, from.elapsed());
        Ok(())
    }
}

impl fmt::Debug for QueryGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryGpu")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
