//! Tasks, and the executor that does them. The caller of a parallel function chooses the executor;
//! the function hands it all tasks at once and goes on when all are done.

use rayon::ThreadPool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The work on one item, such as a slice.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// The threads that do tasks.
#[derive(Clone, Copy)]
pub(crate) struct Executor<'e> {
    /// Number of threads among which work is divided.
    pub threads: usize,
    place: Place<'e>,
    clock: Option<&'e TaskClock>,
}

#[derive(Clone, Copy)]
enum Place<'e> {
    CallingThread,
    /// The rayon pool of the calling thread, or rayon's global one.
    CurrentPool,
    /// A pool that the calling thread does not belong to.
    OtherPool(&'e ThreadPool),
}

/// The time that tasks took, summed over the threads.
#[derive(Debug, Default)]
pub(crate) struct TaskClock(AtomicU64);

impl TaskClock {
    /// Returns the sum.
    pub(crate) fn read(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn add(&self, since: Instant) {
        self.0
            .fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Executor<'static> {
    /// The executor that uses the calling thread.
    pub(crate) const CALLING: Executor<'static> = Executor {
        threads: 1,
        place: Place::CallingThread,
        clock: None,
    };

    /// The executor that uses the current rayon pool, which is created if there is none.
    pub(crate) fn current_pool() -> Self {
        let threads = rayon::current_num_threads();
        Executor {
            threads,
            place: Place::CurrentPool,
            clock: None,
        }
    }
}

impl<'e> Executor<'e> {
    /// The executor that uses a pool to which the calling thread does not belong.
    ///
    /// A pool thread that waits for a part of its work would do other work in the meantime, for
    /// example all of another block. Its own block would be finished only after that one. Blocks
    /// that are worked on side by side would finish at the same time, and most threads would be
    /// idle at the end.
    pub(crate) fn other_pool(pool: &'e ThreadPool) -> Self {
        let threads = pool.current_num_threads();
        Executor {
            threads,
            place: Place::OtherPool(pool),
            clock: None,
        }
    }

    /// Divides work among `threads` threads.
    pub(crate) fn among(self, threads: usize) -> Self {
        Executor { threads, ..self }
    }

    /// Adds the time of each task to `clock`.
    pub(crate) fn timed(self, clock: &'e TaskClock) -> Self {
        Executor {
            clock: Some(clock),
            ..self
        }
    }

    /// Does all tasks, beginning with the first.
    pub(crate) fn execute(self, tasks: Vec<Task>) {
        self.each(tasks, |task| task());
    }

    /// Does `work` with each item, beginning with the first.
    pub(crate) fn each<T: Send>(self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        let work = |item| {
            let since = Instant::now();
            work(item);
            if let Some(clock) = self.clock {
                clock.add(since);
            }
        };
        let work = &work;
        match self.place {
            Place::CallingThread => items.into_iter().for_each(work),
            Place::CurrentPool => {
                let items: Vec<T> = items.into_iter().collect();
                rayon::scope_fifo(|scope| {
                    items
                        .into_iter()
                        .for_each(|item| scope.spawn_fifo(move |_| work(item)));
                });
            }
            Place::OtherPool(pool) => pool.in_place_scope(|scope| {
                items
                    .into_iter()
                    .for_each(|item| scope.spawn(move |_| work(item)));
            }),
        }
    }

    /// Does `work` on one of the threads.
    pub(crate) fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        let mut result = None;
        self.execute(vec![Box::new(|| result = Some(work()))]);
        result.expect("each task is done")
    }

    /// Does `work` with each item; the results are in the items' order.
    pub(crate) fn map<T: Send, R: Send>(
        self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        let items: Vec<T> = items.into_iter().collect();
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let pairs = items.into_iter().zip(&mut results);
        self.each(pairs, |(item, out)| *out = Some(work(item)));
        results
            .into_iter()
            .map(|result| result.expect("each item is worked on"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    }

    #[test]
    fn all_items_are_done_and_begun_in_order() {
        let pools = [pool(1), pool(4)];
        let [one, four] = &pools;
        let executors = [
            Executor::CALLING,
            Executor::current_pool(),
            Executor::other_pool(one),
            Executor::other_pool(four),
        ];
        for executor in executors {
            let done = Mutex::new(Vec::new());
            executor.each(0..100, |item| done.lock().unwrap().push(item));
            assert!(
                executor
                    .map(0..100, |item| 2 * item)
                    .into_iter()
                    .eq((0..200).step_by(2))
            );
            assert_eq!(executor.run(|| 3), 3);
            let mut done = done.into_inner().unwrap();
            if executor.threads > 1 {
                done.sort_unstable();
            }
            assert!(done.into_iter().eq(0..100), "{} threads", executor.threads);
        }
    }

    #[test]
    fn the_clock_sums_the_time_of_all_tasks() {
        let pool = pool(4);
        let clock = TaskClock::default();
        let sleep = |time| std::thread::sleep(time);
        Executor::other_pool(&pool)
            .timed(&clock)
            .each([Duration::from_millis(20); 4], sleep);
        assert!(clock.read() >= Duration::from_millis(80));
    }

    #[test]
    fn a_panic_reaches_whoever_waits() {
        let pool = pool(2);
        let work =
            || Executor::other_pool(&pool).each(0..9, |item| assert!(item != 5, "on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
    }
}
