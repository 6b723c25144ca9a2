//! The executor: the threads that compute, and the distribution of work over them.

use crate::base::tasks::{self, Task};
use crossbeam_channel::Receiver;
use rayon::ThreadPool;
use std::convert::Infallible;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum size in bytes of a lone block that the calling thread works on by itself: starting other
/// threads would take longer.
pub(crate) const SMALL: u64 = 64 << 10;

/// The threads that compute.
#[derive(Clone)]
pub(crate) enum Threads {
    Calling,
    Pool(Arc<ThreadPool>),
}

impl Threads {
    pub fn count(&self) -> usize {
        match self {
            Threads::Calling => 1,
            Threads::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Does `work` on one of the threads; its parallel parts use all of them.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Threads::Calling => work(),
            Threads::Pool(pool) => pool.install(work),
        }
    }

    /// Keeps `count` threads of a pool from computing until all senders of `until` are dropped.
    pub fn rest(&self, count: usize, until: &Receiver<Infallible>) {
        if let Threads::Pool(pool) = self {
            for until in iter::repeat_n(until.clone(), count) {
                pool.spawn(move || _ = until.recv());
            }
        }
    }

    /// Does `work` with each item on the threads, starting with the first item, and waits until all
    /// are done. Returns the time that it took, summed over the threads.
    ///
    /// Only a thread outside the pool may call this. A pool thread that waits for a part of its
    /// work would do other work in the meantime, for example all of another block. Its own block
    /// would be finished only after that one. Blocks that are worked on side by side would finish
    /// at the same time, and most threads would be idle at the end.
    pub fn each<T: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) + Sync,
    ) -> Duration {
        let nanoseconds = AtomicU64::new(0);
        let work = |item| {
            let from = Instant::now();
            work(item);
            nanoseconds.fetch_add(from.elapsed().as_nanos() as u64, Ordering::Relaxed);
        };
        let work = &work;
        match self {
            Threads::Calling => items.into_iter().for_each(work),
            Threads::Pool(pool) => pool.in_place_scope(|scope| {
                items.into_iter().for_each(|item| scope.spawn(move |_| work(item)));
            }),
        }
        Duration::from_nanos(nanoseconds.into_inner())
    }

    /// Does `work` with each item as [`Threads::each`] does; the results are in the items' order.
    pub fn map<T: Send, R: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        tasks::map_with(|tasks| _ = self.execute(tasks), items, work)
    }

    /// Does all tasks as [`Threads::each`] does.
    pub fn execute(&self, tasks: Vec<Task>) -> Duration {
        self.each(tasks, |task| task())
    }
}

/// Copies bytes. For 1 GiB or more it uses up to `threads` threads (at most 8). The caller must not
/// be a thread of a pool. Most of the time goes into memory that is touched for the first time.
pub(crate) fn copy(to: &mut [u8], from: &[u8], threads: usize) {
    const LARGE: usize = 1 << 30;
    const PIECE: usize = 16 << 20;
    match to.len() < LARGE {
        true => to.copy_from_slice(from),
        false => copy_in_pieces(to, from, PIECE, threads.min(8)),
    }
}

fn copy_in_pieces(to: &mut [u8], from: &[u8], size: usize, threads: usize) {
    assert_eq!(to.len(), from.len(), "room for what is copied");
    let pieces = Mutex::new(to.chunks_mut(size).zip(from.chunks(size)));
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((to, from)) = next() {
            to.copy_from_slice(from);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, the other threads do its share.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

/// The ranges of `size` bytes that make up `len` bytes; the last may be shorter.
pub(crate) fn stretches(len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(size).map(move |start| start..len.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn pool(threads: usize) -> Threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        Threads::Pool(pool.into())
    }

    #[test]
    fn all_items_are_done_and_begun_in_order() {
        for threads in [1, 4] {
            let pool = pool(threads);
            let done = Mutex::new(Vec::new());
            pool.each(0..100, |item| done.lock().unwrap().push(item));
            assert!(pool.map(0..100, |item| 2 * item).into_iter().eq((0..200).step_by(2)));
            let mut done = done.into_inner().unwrap();
            if threads > 1 {
                done.sort_unstable();
            }
            assert!(done.into_iter().eq(0..100), "{threads} threads");
        }
    }

    #[test]
    fn all_pieces_are_copied() {
        for (len, size, threads) in [(0, 5, 1), (99, 10, 1), (99, 10, 4), (100, 10, 20), (7, 9, 3)]
        {
            let from: Vec<u8> = (0..len).collect();
            let mut to = vec![0xEE; from.len()];
            copy_in_pieces(&mut to, &from, size, threads);
            assert_eq!(to, from);
            copy(&mut to, &vec![3; from.len()], threads);
            assert!(to.iter().all(|&byte| byte == 3));
        }
    }

    #[test]
    fn a_panic_reaches_whoever_waits() {
        let pool = pool(2);
        let work = || pool.each(0..9, |item| assert!(item != 5, "on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
    }
}
