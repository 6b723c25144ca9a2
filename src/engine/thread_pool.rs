//! The pool of threads that the options ask for, and the blocks that need none.

use super::pipeline::{KeptThreads, no_thread};
use crate::base::device::Device;
use crate::base::error::Result;
use crate::base::threads::SMALL;
use crate::options::Options;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::io;
use std::thread;
use std::time::Duration;

/// Returns true if a lone block of `len` bytes is left to the calling thread. It is not if the
/// options ask for a GPU.
pub(crate) fn calling_does(len: u64, options: &Options) -> bool {
    len <= SMALL && !matches!(options.device, Device::Cuda(_))
}

/// Number of threads of the smallest pipeline: one that works, and one that reads.
const PIPELINE: usize = 2;

/// A thread that has been waited for takes up its place in the system for a moment longer.
const SETTLING: Duration = Duration::from_millis(100);

/// Creates a pool of as many threads as the options say. Nearly all long computations run in it, so
/// that hardly more threads compute at a time; large copies to and from GPUs are made outside it.
///
/// If the system refuses to start the threads, the pool has half as many, or half of these, and so
/// on. A few threads are kept free for a pipeline beside it.
pub(crate) fn pool(options: &Options) -> Result<ThreadPool> {
    let kept = KeptThreads::of(PIPELINE);
    let asked = options.thread_count();
    let mut count = asked;
    loop {
        match pool_of(count) {
            Ok(pool) if count == asked => return Ok(pool),
            Ok(pool) => {
                drop(kept);
                thread::sleep(SETTLING);
                return Ok(pool);
            }
            Err(_) if count > 1 => count = count.div_ceil(2).min(count - 1),
            Err(e) => return Err(no_thread(io::Error::other(e)).into()),
        }
        thread::sleep(SETTLING);
    }
}

/// Creates a pool of `count` threads. If not all can be started, those that were have ended when
/// this returns, so that others may start.
fn pool_of(count: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    let mut started = Vec::new();
    let builder = ThreadPoolBuilder::new().num_threads(count);
    let pool = builder
        .spawn_handler(|worker| {
            let thread = thread::Builder::new().name(format!("bwz-{}", worker.index()));
            started.push(thread.spawn(|| worker.run())?);
            Ok(())
        })
        .build();
    if pool.is_err() {
        started
            .into_iter()
            .for_each(|thread| _ = thread.join());
    }
    pool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bounded_by_the_machine_and_the_work() {
        let most = Options::most_threads();
        assert!((64..=crate::MAX_THREADS).contains(&most));
        let cases = [
            (1, u64::MAX, 1),
            (2, u64::MAX, 2),
            (64, u64::MAX, 64),
            (1024, u64::MAX, most),
            (65_536, u64::MAX, most),
            (usize::MAX, u64::MAX, most),
            (usize::MAX, 0, 1),
            (usize::MAX, 3, 1),
            (usize::MAX, 64 << 10, 1),
            (usize::MAX, (64 << 10) + 1, 2),
            (8, 1 << 20, 8),
            (32, 1 << 20, 16),
        ];
        for (asked, bytes, expected) in cases {
            let options = Options::new().threads(asked).for_work(bytes);
            assert_eq!(
                options.thread_count(),
                expected,
                "{asked} threads for {bytes} bytes"
            );
        }
        assert!(
            pool(&Options::new().threads(1 << 31))
                .unwrap()
                .current_num_threads()
                <= most
        );
    }
}
