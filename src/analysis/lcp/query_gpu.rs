//! The GPU that answers many queries at a time, if the options allow it and it pays. The CPU
//! answers some of them too.

use crate::base::error::{Error, Result};
use crate::base::spot_checks::spots;
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

#[cfg(test)]
type Lie = Box<dyn FnMut(&mut [u32]) + Send>;

/// A GPU that answers queries.
pub(super) enum AnsweringGpu {
    Cuda(Box<ExtensionQueries>),
    /// A test's stand-in for a GPU, which changes the answers of the CPU.
    #[cfg(test)]
    Fake(Lie),
}

impl AnsweringGpu {
    fn open(number: u32) -> Result<Self> {
        Ok(AnsweringGpu::Cuda(Box::new(ExtensionQueries::new(number)?)))
    }
}

/// A GPU for queries of one set of values, which it keeps in its memory. Clones share it.
#[derive(Clone)]
pub(super) struct QueryGpu {
    gpus: Arc<DevicePool<AnsweringGpu>>,
    /// Identifies these values: no other values have this id.
    id: u64,
}

impl QueryGpu {
    /// Creates the GPU for one set of values. It is opened when queries need it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for and this build has no CUDA.
    pub(super) fn new(options: &Options) -> Result<Self> {
        let opener = Opener::new(options.device, 1, 1, AnsweringGpu::open)?;
        Ok(Self::with(opener, options))
    }

    fn with(opener: Opener<AnsweringGpu>, options: &Options) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let threads = options.thread_count();
        let listener = options.run.listener.clone();
        let gpus = DevicePool::new(opener, Rates::EXTENSIONS, threads, listener);
        QueryGpu {
            gpus: Arc::new(gpus),
            id: IDS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Answers queries: on the GPU by `on_gpu`, which is given the id of the values, or on the CPU
    /// by `on_cpu`, on as many threads as the options say. The CPU answers some of the GPU's
    /// queries too. If an answer differs, it answers all.
    pub(super) fn answer<Q: Sync>(
        &self,
        queries: &[Q],
        found: &mut [u32],
        options: &Options,
        on_gpu: Option<impl FnOnce(&mut ExtensionQueries, u64, &mut [u32]) -> Result<()>>,
        on_cpu: impl Fn(&Q) -> u32 + Sync,
    ) -> Result<()> {
        let by_gpu = match on_gpu {
            Some(on_gpu) => self.answer_on_gpu(queries, found, on_gpu, &on_cpu)?,
            None => false,
        };
        match by_gpu {
            true => Ok(()),
            false => self.answer_on_cpu(queries, found, options, on_cpu),
        }
    }

    /// Returns false if the CPU has to answer the queries.
    fn answer_on_gpu<Q>(
        &self,
        queries: &[Q],
        found: &mut [u32],
        on_gpu: impl FnOnce(&mut ExtensionQueries, u64, &mut [u32]) -> Result<()>,
        on_cpu: impl Fn(&Q) -> u32,
    ) -> Result<bool> {
        self.gpus.expect(queries.len() as u64);
        let Some(mut lease) = self.gpus.lease(queries.len() as u64, 1) else {
            return Ok(false);
        };
        let done = lease.run(|gpu| {
            match gpu {
                AnsweringGpu::Cuda(gpu) => on_gpu(gpu, self.id, found)?,
                #[cfg(test)]
                AnsweringGpu::Fake(lie) => {
                    for (found, query) in found.iter_mut().zip(queries) {
                        *found = on_cpu(query);
                    }
                    lie(found);
                }
            }
            match spots(queries.len()).all(|n| found[n] == on_cpu(&queries[n])) {
                true => Ok(()),
                false => Err(Error::Device("a GPU gave a wrong minimum".into())),
            }
        });
        done.transpose().map(|done| done.is_some())
    }

    fn answer_on_cpu<Q: Sync>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::events::Event;
    use std::sync::Mutex;

    #[test]
    fn wrong_answers_of_a_gpu_are_found() {
        let queries: Vec<u32> = (0..10_000).collect();
        let expected: Vec<u32> = queries.iter().map(|query| 3 * query).collect();
        let lies: [fn(&mut [u32]); 3] = [
            |_| (),
            |found| found.iter_mut().for_each(|found| *found += 1),
            |found| found[5_000..6_000].fill(5),
        ];
        for (warnings, lie) in [0, 1, 1].into_iter().zip(lies) {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let listener = Arc::clone(&heard);
            let options = Options::new().threads(2).on_event(move |event| {
                if let Event::Warning(what) = event {
                    listener.lock().unwrap().push(what);
                }
            });
            let gpu = AnsweringGpu::Fake(Box::new(lie));
            let gpu = QueryGpu::with(Opener::of(vec![gpu]), &options);
            for _ in 0..2 {
                let mut found = vec![0; queries.len()];
                let on_gpu = |_: &mut ExtensionQueries, _, _: &mut [u32]| unreachable!();
                gpu.answer(&queries, &mut found, &options, Some(on_gpu), |query| {
                    3 * query
                })
                .unwrap();
                assert!(found == expected);
            }
            assert_eq!(heard.lock().unwrap().len(), warnings);
        }
    }
}
