//! Work in order over threads; knows nothing of compression.
//!
//! Several workers take items from a channel in any order and give the results back in the order in
//! which the items came. An item carries its own one-shot reply channel; the receiving ends wait in
//! a queue in input order, so there are no sequence numbers and no reorder buffer. The queue's
//! length bounds all items in flight, but for those that the source holds.
//!
//! Every worker ends when its channel is disconnected; items still queued when the pipeline is
//! dropped are not worked on. A worker that panics drops its reply; the panic is raised again where
//! the reply was awaited, so that no item is ever passed over.

use crate::base::threads::{self, job_thread};
use crossbeam_channel::{Receiver, RecvError, Sender, bounded};
use std::collections::VecDeque;
use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The work of a pipeline, shared by its workers.
pub(crate) trait Work: Send + Sync + 'static {
    type Item: Send + 'static;
    type Done: Send + 'static;
    type Error: From<io::Error> + Send + 'static;

    /// Takes note of an item that has come, ahead of its turn.
    fn announce(&self, item: &Self::Item);

    /// Does the work on one item.
    fn work(&self, item: Self::Item) -> Result<Self::Done, Self::Error>;

    /// Takes note that no more items come.
    fn close(&self);

    /// Takes note that nobody wants the items any more. Workers that wait for something give up.
    fn abandon(&self);
}

/// The result of an item, or its error.
type Outcome<W> = Result<<W as Work>::Done, <W as Work>::Error>;

/// An item, or the error of its source.
type Source<W> = Result<<W as Work>::Item, <W as Work>::Error>;

struct Job<W: Work> {
    item: W::Item,
    reply: Sender<Outcome<W>>,
}

/// Workers, and the results that are still owed.
pub(crate) struct Pipeline<W: Work> {
    work: Arc<W>,
    jobs: Option<Sender<Job<W>>>,
    replies: VecDeque<Receiver<Outcome<W>>>,
    depth: usize,
    abandoned: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

impl<W: Work> Pipeline<W> {
    /// Starts `workers` workers, or fewer if the system gives no more threads. At most `depth`
    /// items are in flight.
    ///
    /// # Errors
    /// An error if not even one thread can be started.
    pub(crate) fn start(depth: usize, workers: usize, work: W) -> io::Result<Self> {
        let (jobs, to_do) = bounded::<Job<W>>(depth);
        let mut pipeline = Pipeline {
            work: Arc::new(work),
            jobs: Some(jobs),
            replies: VecDeque::new(),
            depth,
            abandoned: Arc::new(AtomicBool::new(false)),
            workers: Vec::new(),
        };
        // Many workers could leave no thread for the reader.
        let _kept = KeptThreads::of(1);
        threads::started(|| pipeline.start_worker(to_do.clone()))?;
        for _ in 1..workers.min(depth) {
            if pipeline.start_worker(to_do.clone()).is_err() {
                break;
            }
        }
        Ok(pipeline)
    }

    /// Starts a worker that takes jobs until there are no more or the pipeline is dropped.
    fn start_worker(&mut self, jobs: Receiver<Job<W>>) -> io::Result<()> {
        let abandoned = Arc::clone(&self.abandoned);
        let work = Arc::clone(&self.work);
        let worker = thread::Builder::new()
            .name("bwz".into())
            .spawn(move || {
                for Job { item, reply } in jobs {
                    if abandoned.load(Ordering::Relaxed) {
                        break;
                    }
                    drop(reply.send(work.work(item)));
                }
            });
        self.workers.push(worker.map_err(no_thread)?);
        Ok(())
    }

    /// Returns true if a result must be taken before another item is given.
    pub(crate) fn is_full(&self) -> bool {
        self.replies.len() >= self.depth
    }

    /// Returns true if the oldest result can be had without waiting.
    pub(crate) fn is_ready(&self) -> bool {
        self.replies
            .front()
            .is_some_and(|reply| !reply.is_empty())
    }

    /// Gives the next item. An item that has failed already takes its turn like any other.
    pub(crate) fn submit(&mut self, item: Source<W>) {
        let (reply, result) = bounded(1);
        self.replies.push_back(result);
        match (item, &self.jobs) {
            (Ok(item), Some(jobs)) => {
                self.work.announce(&item);
                drop(jobs.send(Job { item, reply }));
            }
            (Ok(_), None) => unreachable!("no item comes to a pipeline that is closed"),
            (Err(e), _) => drop(reply.send(Err(e))),
        }
    }

    /// Closes the input, since no more items come.
    pub(crate) fn close(&mut self) {
        self.jobs = None;
        self.work.close();
    }

    /// Waits for the oldest result. Returns `None` if none is owed.
    pub(crate) fn next(&mut self) -> Option<Outcome<W>> {
        let oldest = self.replies.pop_front()?;
        match oldest.recv() {
            Ok(result) => Some(result),
            Err(RecvError) => self.raise_panic(),
        }
    }

    /// Has the workers do all `items`, and gives every result to `sink` in order. A thread of
    /// its own reads the items and gives them to the workers, so that a slow sink does not keep it
    /// from reading.
    ///
    /// An error is returned only after the reading thread has ended, which may take long if `items`
    /// waits for its source. `failed` is called at once, and may end that wait.
    pub(crate) fn run(
        mut self,
        items: impl Iterator<Item = Source<W>> + Send,
        mut sink: impl FnMut(W::Done) -> Result<(), W::Error>,
        failed: impl FnOnce(),
    ) -> Result<(), W::Error> {
        let jobs = self
            .jobs
            .take()
            .expect("a pipeline that is run is open");
        let end = thread::scope(|scope| {
            let (owed, replies) = bounded(self.depth - 1);
            let reader = job_thread(scope, "bwz-reader").map_err(no_thread)?;
            let work = &*self.work;
            let read = move || submit_all(work, items, jobs, &owed);
            drop(reader.send(Box::new(read)));
            drop(reader);
            let end = sink_all(replies, &mut sink);
            if !matches!(end, Ok(All::Sunk)) {
                failed();
            }
            end
        });
        match end? {
            All::Sunk => Ok(()),
            All::Lost => self.raise_panic(),
        }
    }

    /// Raises the panic of the worker that lost a reply.
    fn raise_panic(&mut self) -> ! {
        self.abandoned.store(true, Ordering::Relaxed);
        self.work.abandon();
        self.jobs = None;
        self.replies.clear();
        let ends: Vec<_> = self
            .workers
            .drain(..)
            .map(JoinHandle::join)
            .collect();
        let cause = ends.into_iter().find_map(Result::err);
        panic::resume_unwind(cause.expect("a reply is lost only by a worker that panicked"));
    }
}

/// The end of a run without an error.
enum All {
    /// The sink has taken every result.
    Sunk,
    /// A worker has panicked.
    Lost,
}

/// Gives `items` to the workers. While `owed` is full, it waits until the sink has taken a result.
/// It ends early if nobody takes the replies any more.
fn submit_all<W: Work>(
    work: &W,
    items: impl Iterator<Item = Source<W>>,
    jobs: Sender<Job<W>>,
    owed: &Sender<Receiver<Outcome<W>>>,
) {
    let _closed = ClosedAtEnd(work);
    for item in items {
        let (reply, result) = bounded(1);
        if owed.send(result).is_err() {
            break;
        }
        match item {
            Ok(item) => {
                work.announce(&item);
                drop(jobs.send(Job { item, reply }));
            }
            Err(e) => drop(reply.send(Err(e))),
        }
    }
    drop(jobs);
}

/// Gives each result to `sink`, in the order of their items.
fn sink_all<D, E>(
    replies: Receiver<Receiver<Result<D, E>>>,
    sink: &mut impl FnMut(D) -> Result<(), E>,
) -> Result<All, E> {
    for reply in replies {
        let Ok(result) = reply.recv() else {
            return Ok(All::Lost);
        };
        sink(result?)?;
    }
    Ok(All::Sunk)
}

/// Closes the input of some work when it is dropped, also if the source of its items panics.
struct ClosedAtEnd<'a, W: Work>(&'a W);

impl<W: Work> Drop for ClosedAtEnd<'_, W> {
    fn drop(&mut self) {
        self.0.close();
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
    pub(crate) fn of(count: usize) -> Self {
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

impl<W: Work> Drop for Pipeline<W> {
    /// Lets the workers finish the items in their hands: no thread outlives its pipeline.
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.work.abandon();
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

    /// Work on numbers that fails or panics at one of them, and tells what it takes note of.
    struct Numbers {
        fails_at: Option<u32>,
        panics_at: Option<u32>,
        notes: Sender<&'static str>,
    }

    impl Numbers {
        fn new(fails_at: Option<u32>) -> Self {
            Numbers {
                fails_at,
                panics_at: None,
                notes: bounded(0).0,
            }
        }
    }

    impl Work for Numbers {
        type Item = u32;
        type Done = u32;
        type Error = At;

        fn announce(&self, _: &u32) {
            let _ = self.notes.send("announced");
        }

        fn work(&self, n: u32) -> Result<u32, At> {
            if n % 7 == 3 {
                thread::sleep(Duration::from_micros(200));
            }
            assert!(self.panics_at != Some(n), "on purpose");
            if self.fails_at == Some(n) {
                Err(At(n))
            } else {
                Ok(n)
            }
        }

        fn close(&self) {
            let _ = self.notes.send("closed");
        }

        fn abandon(&self) {
            let _ = self.notes.send("abandoned");
        }
    }

    /// Runs the items 0..items, with failures at the given numbers in the reader, the work and the
    /// sink. Returns the results that arrived, and the end.
    fn outcome(workers: usize, items: u32, fails: [Option<u32>; 3]) -> (Vec<u32>, Result<(), At>) {
        let [reader, work, sink] = fails;
        let pipeline = Pipeline::start(workers + 2, workers, Numbers::new(work)).unwrap();
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
                let (seen, end) = outcome(workers, items, [None; 3]);
                assert_eq!((seen, end), ((0..items).collect(), Ok(())));
            }
        }
    }

    #[test]
    fn an_error_anywhere_surfaces_once_after_what_came_before() {
        for place in 0..3 {
            for at in [0, 1, 63, 199] {
                let mut fails = [None; 3];
                fails[place] = Some(at);
                let (seen, end) = outcome(3, 200, fails);
                assert_eq!((seen, end), ((0..at).collect(), Err(At(at))));
            }
        }
    }

    #[test]
    fn an_error_can_end_a_source_that_waits() {
        for place in 0..3 {
            let mut fails = [None; 3];
            fails[place] = Some(2);
            let [_, work, sink] = fails;
            let pipeline = Pipeline::start(4, 1, Numbers::new(work)).unwrap();
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
        let mut pipeline = Pipeline::start(4, 1, Numbers::new(None)).unwrap();
        while !pipeline.is_full() {
            pipeline.submit(Ok(3));
        }
        drop(pipeline);
    }

    #[test]
    fn the_work_takes_note_of_items_before_their_turn_and_of_their_end() {
        let (notes, noted) = bounded(9);
        let mut pipeline = Pipeline::start(
            4,
            2,
            Numbers {
                notes,
                ..Numbers::new(None)
            },
        )
        .unwrap();
        pipeline.submit(Ok(0));
        pipeline.submit(Ok(1));
        pipeline.close();
        assert_eq!([(); 2].map(|()| pipeline.next().unwrap().unwrap()), [0, 1]);
        assert!(pipeline.next().is_none());
        drop(pipeline);
        let noted: Vec<_> = noted.iter().collect();
        assert_eq!(noted, ["announced", "announced", "closed", "abandoned"]);
    }

    #[test]
    fn a_panic_in_a_worker_reaches_the_caller() {
        for at in [0, 9] {
            let work = Numbers {
                panics_at: Some(at),
                ..Numbers::new(None)
            };
            let caught = panic::catch_unwind(|| {
                let pipeline = Pipeline::start(4, 2, work).unwrap();
                pipeline.run((0..20).map(Ok), |_| Ok(()), || ())
            });
            assert_eq!(
                *caught
                    .unwrap_err()
                    .downcast_ref::<&str>()
                    .unwrap(),
                "on purpose"
            );
        }
    }
}
