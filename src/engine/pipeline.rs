//! Ordered stages over threads; knows nothing of compression.
//!
//! Two stages of workers, connected by channels, take items in any order and give the results back
//! in the order in which the items came. An item carries its own one-shot reply channel; the
//! receiving ends wait in a queue in input order, so there are no sequence numbers and no reorder
//! buffer. The queue's length bounds all items in flight, but for those that the source holds.
//!
//! Every worker ends when its channel is disconnected; items still queued when the pipeline is
//! dropped are not worked on. A worker that panics drops its reply; the panic is raised again where
//! the reply was awaited, so that no item is ever passed over.

use crossbeam_channel::{Receiver, RecvError, Sender, bounded, select};
use std::collections::VecDeque;
use std::io;
use std::iter;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

struct Job<I, O, E> {
    input: I,
    reply: Sender<Result<O, E>>,
}

/// Workers that turn `A` into `C` through two stages, and the results that are still owed.
pub(crate) struct Pipeline<A, C, E> {
    announce: Box<dyn Fn(&A) + Send>,
    jobs: Option<Sender<Job<A, C, E>>>,
    replies: VecDeque<Receiver<Result<C, E>>>,
    depth: usize,
    abandoned: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

impl<A, C, E> Pipeline<A, C, E>
where
    A: Send + 'static,
    C: Send + 'static,
    E: Send + 'static,
{
    /// Starts `firsts` workers of the first stage and `seconds` of the second. At most `depth`
    /// items are in flight. `announce` is called with each item when it comes, ahead of its turn.
    pub fn start<B: Send + 'static>(
        depth: usize,
        announce: impl Fn(&A) + Send + 'static,
        firsts: usize,
        first: impl Fn(A) -> Result<B, E> + Clone + Send + 'static,
        seconds: usize,
        second: impl Fn(B) -> Result<C, E> + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, to_first) = bounded::<Job<A, C, E>>(depth);
        let (from_first, to_second) = bounded::<Job<B, C, E>>(depth);
        let abandoned = Arc::new(AtomicBool::new(false));
        let mut pipeline = Pipeline {
            announce: Box::new(announce),
            jobs: Some(jobs),
            replies: VecDeque::new(),
            depth,
            abandoned,
            workers: Vec::new(),
        };
        // Many workers of one stage could leave no threads for the next one and for the reader.
        let kept = KeptThreads::of(2);
        for work in iter::repeat_n(first, firsts) {
            let next = from_first.clone();
            let started =
                pipeline.spawn(to_first.clone(), move |Job { input, reply }| match work(input) {
                    Ok(input) => drop(next.send(Job { input, reply })),
                    Err(e) => drop(reply.send(Err(e))),
                });
            if !pipeline.goes_on(started, 0)? {
                break;
            }
        }
        // If a thread below fails to start, the workers above must see their channel end.
        drop((to_first, from_first));
        let in_first = pipeline.workers.len();
        drop(kept);
        let _kept = KeptThreads::of(1);
        for work in iter::repeat_n(second, seconds) {
            let started = pipeline.spawn(to_second.clone(), move |Job { input, reply }| {
                drop(reply.send(work(input)));
            });
            if !pipeline.goes_on(started, in_first)? {
                break;
            }
        }
        Ok(pipeline)
    }

    /// Returns true if a stage may start another worker. `workers_before` is the number of workers
    /// of the stages before it. If the system gives no more threads, one worker is enough for a
    /// stage.
    fn goes_on(&self, started: io::Result<()>, workers_before: usize) -> io::Result<bool> {
        match started {
            Err(_) if self.workers.len() > workers_before => Ok(false),
            started => started.map(|()| true),
        }
    }

    /// Starts a worker that takes `jobs` until there are no more or the pipeline is dropped.
    fn spawn<I: Send + 'static>(
        &mut self,
        jobs: Receiver<Job<I, C, E>>,
        mut work: impl FnMut(Job<I, C, E>) + Send + 'static,
    ) -> io::Result<()> {
        let abandoned = Arc::clone(&self.abandoned);
        let worker = thread::Builder::new().name("bwz".into()).spawn(move || {
            jobs.into_iter().take_while(|_| !abandoned.load(Ordering::Relaxed)).for_each(&mut work);
        });
        let worker = worker.map_err(no_thread)?;
        self.workers.push(worker);
        Ok(())
    }

    /// Returns true if a result must be taken before another item is given.
    pub fn is_full(&self) -> bool {
        self.replies.len() >= self.depth
    }

    /// Returns true if the oldest result can be had without waiting.
    pub fn is_ready(&self) -> bool {
        self.replies.front().is_some_and(|reply| !reply.is_empty())
    }

    /// Gives the next item. An item that has failed already takes its turn like any other.
    pub fn submit(&mut self, item: Result<A, E>) {
        let (reply, result) = bounded(1);
        self.replies.push_back(result);
        match (item, &self.jobs) {
            (Ok(input), Some(jobs)) => {
                (self.announce)(&input);
                drop(jobs.send(Job { input, reply }));
            }
            (Ok(_), None) => unreachable!("no item comes to a pipeline that is closed"),
            (Err(e), _) => drop(reply.send(Err(e))),
        }
    }

    /// Closes the input, since no more items come. The first stage's workers end once they have
    /// done the items they were given.
    pub fn close(&mut self) {
        self.jobs = None;
    }

    /// Waits for the oldest result. Returns `None` if none is owed.
    pub fn next(&mut self) -> Option<Result<C, E>> {
        let oldest = self.replies.pop_front()?;
        Some(self.received(oldest.recv()))
    }

    /// Passes `items` through the stages, and gives every result to `sink` in order. A thread of
    /// its own reads them.
    ///
    /// An error is returned only after the reading thread has ended, which may take long if `items`
    /// waits for its source. `failed` is called at once, and may end that wait.
    pub fn run(
        mut self,
        mut items: impl Iterator<Item = Result<A, E>> + Send,
        mut sink: impl FnMut(C) -> Result<(), E>,
        failed: impl FnOnce(),
    ) -> Result<(), E>
    where
        E: From<io::Error>,
    {
        thread::scope(|scope| {
            let (to_here, items_in) = bounded(0);
            let reader = thread::Builder::new().name("bwz-reader".into());
            let read = move || _ = items.try_for_each(|item| to_here.send(item));
            reader.spawn_scoped(scope, read).map_err(no_thread)?;
            let end = self.pass(&items_in, &mut sink);
            if end.is_err() {
                failed();
            }
            end
        })
    }

    /// Takes `items` until there are no more, and gives every result to `sink`.
    fn pass(
        &mut self,
        items: &Receiver<Result<A, E>>,
        sink: &mut impl FnMut(C) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut open = true;
        while open || !self.replies.is_empty() {
            match self.wait(open.then_some(items)) {
                Awaited::Item(item) => self.submit(item),
                Awaited::Closed => {
                    self.close();
                    open = false;
                }
                Awaited::Result(result) => sink(result?)?,
            }
        }
        Ok(())
    }

    /// Waits for an item, if there is room and `items` has more, or for the oldest result.
    fn wait(
        &mut self,
        items: Option<&Receiver<Result<A, E>>>,
    ) -> Awaited<Result<A, E>, Result<C, E>> {
        match (items.filter(|_| !self.is_full()), self.replies.front()) {
            (Some(items), None) => items.recv().map_or(Awaited::Closed, Awaited::Item),
            (Some(items), Some(oldest)) => select! {
                recv(items) -> item => item.map_or(Awaited::Closed, Awaited::Item),
                recv(oldest) -> result => {
                    self.replies.pop_front();
                    Awaited::Result(self.received(result))
                }
            },
            (None, _) => self.next().map_or(Awaited::Closed, Awaited::Result),
        }
    }

    /// Returns a reply, or raises the panic of the worker that lost it.
    fn received(&mut self, reply: Result<Result<C, E>, RecvError>) -> Result<C, E> {
        let Ok(result) = reply else {
            self.jobs = None;
            self.replies.clear();
            for worker in self.workers.drain(..) {
                if let Err(cause) = worker.join() {
                    panic::resume_unwind(cause);
                }
            }
            unreachable!("a reply is lost only by a worker that panicked");
        };
        result
    }
}

/// Returns the error of a thread that cannot be started.
pub(crate) fn no_thread(e: io::Error) -> io::Error {
    let said = format!(
        "cannot start a thread: the system allows this process no more threads (ulimit -u, or the \
         pids.max of its cgroup), or no memory for one (ulimit -v); raise that limit, or use fewer \
         threads (-T1): {e}"
    );
    io::Error::new(e.kind(), said)
}

/// Threads that wait until this is dropped. Other threads then find room.
pub(crate) struct KeptThreads(Option<Sender<()>>, Vec<JoinHandle<()>>);

impl KeptThreads {
    /// Keeps `count` threads, or as many as can be started.
    pub fn of(count: usize) -> Self {
        let (release, released) = bounded::<()>(0);
        let mut kept = KeptThreads(Some(release), Vec::new());
        for _ in 0..count {
            let released = released.clone();
            let thread = thread::Builder::new().name("bwz-kept".into());
            match thread.spawn(move || _ = released.recv()) {
                Ok(thread) => kept.1.push(thread),
                Err(_) => break,
            }
        }
        kept
    }
}

impl Drop for KeptThreads {
    fn drop(&mut self) {
        self.0 = None;
        for thread in self.1.drain(..) {
            let _ = thread.join();
        }
    }
}

enum Awaited<I, R> {
    Item(I),
    Closed,
    Result(R),
}

impl<A, C, E> Drop for Pipeline<A, C, E> {
    /// Lets the workers finish the items in their hands: no thread outlives its pipeline.
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.jobs = None;
        for worker in self.workers.drain(..) {
            drop(worker.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The failure in these tests: the number of its item.
    #[derive(Debug, PartialEq)]
    struct At(u32);

    impl From<io::Error> for At {
        fn from(_: io::Error) -> Self {
            At(u32::MAX)
        }
    }

    fn step(fails_at: Option<u32>) -> impl Fn(u32) -> Result<u32, At> + Clone + Send {
        move |n| {
            if n % 7 == 3 {
                thread::sleep(Duration::from_micros(200));
            }
            if Some(n) == fails_at { Err(At(n)) } else { Ok(n) }
        }
    }

    /// Runs the items 0..items, with failures at the given numbers in the reader, either stage and
    /// the sink. Returns the results that arrived, and the end.
    fn outcome(workers: usize, items: u32, fails: [Option<u32>; 4]) -> (Vec<u32>, Result<(), At>) {
        let [reader, first, second, sink] = fails;
        let first = step(first);
        let second = step(second);
        let pipeline =
            Pipeline::start(workers + 2, |_| (), workers, first, workers, second).unwrap();
        let source = (0..items).map(|n| if Some(n) == reader { Err(At(n)) } else { Ok(n) });
        let mut seen = Vec::new();
        let mut failed = false;
        let take = |n| {
            if Some(n) == sink {
                return Err(At(n));
            }
            seen.push(n);
            Ok(())
        };
        let end = pipeline.run(source, take, || failed = true);
        assert_eq!(failed, end.is_err());
        (seen, end)
    }

    #[test]
    fn results_come_in_order() {
        for workers in [1, 2, 7] {
            for items in [0, 1, 5, 500] {
                let (seen, end) = outcome(workers, items, [None; 4]);
                assert_eq!((seen, end), ((0..items).collect(), Ok(())));
            }
        }
    }

    #[test]
    fn an_error_anywhere_surfaces_once_after_what_came_before() {
        for place in 0..4 {
            for at in [0, 1, 63, 199] {
                let mut fails = [None; 4];
                fails[place] = Some(at);
                let (seen, end) = outcome(3, 200, fails);
                assert_eq!((seen, end), ((0..at).collect(), Err(At(at))));
            }
        }
    }

    #[test]
    fn an_error_can_end_a_source_that_waits() {
        for place in [0, 1, 3] {
            let mut fails = [None; 4];
            fails[place] = Some(2);
            let [_, first, second, sink] = fails;
            let pipeline = Pipeline::start(4, |_| (), 1, step(first), 1, step(second)).unwrap();
            let (stop, stopped) = bounded::<()>(0);
            // Gives 0 to 2, then waits until `stop` is dropped.
            let fails_at_2 = place == 0;
            let source = (0..4).map(move |n| match n {
                2 if fails_at_2 => Err(At(2)),
                3 => stopped.recv().map_or(Ok(3), |()| unreachable!()),
                _ => Ok(n),
            });
            let end = pipeline.run(
                source,
                |n| if Some(n) == sink { Err(At(n)) } else { Ok(()) },
                || drop(stop),
            );
            assert_eq!(end, Err(At(2)), "{place}");
        }
    }

    #[test]
    fn a_pipeline_dropped_full_ends_its_workers() {
        let mut pipeline = Pipeline::start(4, |_| (), 1, step(None), 1, step(None)).unwrap();
        while !pipeline.is_full() {
            pipeline.submit(Ok(3));
        }
        drop(pipeline);
    }

    #[test]
    fn what_the_first_stage_holds_is_let_go_of_while_results_are_owed() {
        /// Sends a message when it is dropped.
        struct Held(crossbeam_channel::Sender<()>);
        impl Drop for Held {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let (dropped, seen) = bounded(1);
        let held = Arc::new(Held(dropped));
        let first = move |n: u32| {
            let _ = &held;
            Ok::<_, At>(n)
        };
        let mut pipeline = Pipeline::start(4, |_| (), 2, first, 1, step(None)).unwrap();
        (0..3).for_each(|n| pipeline.submit(Ok(n)));
        assert!(seen.is_empty());
        pipeline.close();
        seen.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!([(); 3].map(|()| pipeline.next().unwrap().unwrap()), [0, 1, 2]);
    }

    #[test]
    fn a_panic_in_a_worker_reaches_the_caller() {
        for at in [0, 9] {
            let work = move |n: u32| {
                if n == at { panic!("worker") } else { Ok::<_, At>(n) }
            };
            let caught = panic::catch_unwind(|| {
                let pipeline = Pipeline::start(4, |_| (), 2, work, 2, step(None)).unwrap();
                pipeline.run((0..20).map(Ok), |_| Ok(()), || ())
            });
            assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "worker");
        }
    }
}
