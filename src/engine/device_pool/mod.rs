//! Who may use which GPU now: a pool of GPUs that leases them to the threads of one kind of work.
//!
//! A user makes a [`DevicePool`] of an [`Opener`], which says what a GPU is opened as (a sorter, an
//! inverse or a searcher), and of the [`Rates`] of the work. It says which work will come
//! ([`DevicePool::expect`]), asks for a [`Lease`] when that has its turn, and does it by
//! [`Lease::run`]. Where there is no lease, or the GPU fails, the CPU does the work.
//!
//! # The choice
//! With [`Device::Auto`](crate::Device::Auto) no driver is loaded until so many blocks have come,
//! or are announced, that they keep the threads busy for longer than a GPU takes to open, and to do
//! them where no more may come. GPUs are leased in the order in which blocks ask for them. A block
//! waits for a GPU unless the threads would be done sooner by a fifth: the GPUs have the blocks
//! before it to do, and it; the threads have to code the blocks that no GPU codes, to do the blocks
//! that they took already, and it. While the first GPU is opened, they take what they do by then,
//! or nothing where it would do all that is known of sooner than they; while more are opened beside
//! it, nothing. Whoever waits compares again when anything changes. The speeds are guesses at first
//! (`rates`) and measured from then on.
//!
//! So a thread that could code does not sort while GPUs keep up with the coding, and threads do all
//! blocks but few where a GPU is slow; what is expected of both is `workload`, and `simulation`
//! compares it with either alone.
//!
//! # Failure
//! A GPU takes its memory when it is opened: what every block up to the largest needs. Where there
//! is not enough for several leases, there are fewer. A block that needs more and does not get it
//! is done on the CPU. A lease whose GPU fails is not given again, while the other leases of that
//! GPU are; where one was wrong no GPU is leased any more ([`DevicePool::give_up`]). One warning is
//! given for all failures of a pool; `sorters` lists them.

mod lease_queue;
mod open_gpus;
mod rates;
#[cfg(test)]
mod simulation;
mod workload;

use crate::base::threads::Threads;
use crate::options::events::Listener;
pub(crate) use lease_queue::Lease;
use lease_queue::LeaseQueue;
pub(crate) use open_gpus::{OpenGpus, Opener, gpu_numbers};
pub(crate) use rates::Rates;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The GPUs of one kind of work, each opened as a `G`.
pub(crate) struct DevicePool<G> {
    queue: Arc<LeaseQueue<G>>,
    opening: Mutex<Opening<G>>,
    /// The threads that compute; some rest while GPUs are opened.
    threads: Option<Threads>,
}

/// Opening GPUs, which happens once.
struct Opening<G> {
    /// `None` where there is nothing to open, or it was begun.
    open: Option<OpenGpus<G>>,
    thread: Option<JoinHandle<()>>,
}

impl<G: Send + 'static> DevicePool<G> {
    /// For blocks that are coded on so many threads.
    pub fn new(opener: Opener<G>, rates: Rates, threads: usize, listener: Listener) -> Self {
        let Opener { gpu_only, open } = opener;
        let queue = LeaseQueue::new(open.is_some(), gpu_only, rates, threads, listener);
        let opening = Mutex::new(Opening { open, thread: None });
        DevicePool { queue: Arc::new(queue), opening, threads: None }
    }

    /// For blocks that are coded by `threads`, some of which rest while GPUs are opened.
    pub fn of(opener: Opener<G>, rates: Rates, threads: &Threads, listener: Listener) -> Self {
        let mut pool = DevicePool::new(opener, rates, threads.count(), listener);
        pool.threads = Some(threads.clone());
        pool
    }

    /// Blocks of so many bytes will come, with those that did, as far as is known.
    pub fn announce(&self, all: u64) {
        self.queue.announce(all);
    }

    /// A block of `len` bytes has come and will have its turn: GPUs may be opened for it and those
    /// that came before.
    pub fn expect(&self, len: u64) {
        if self.queue.expect(len) {
            self.open();
        }
    }

    /// Leases a GPU for a block of `len` bytes, after waiting for it. `None` where the CPU is to do
    /// it, on `threads` threads; [`DevicePool::done_on_cpu`] says when it has.
    pub fn lease(&self, len: u64, threads: usize) -> Option<Lease<'_, G>> {
        if self.queue.must_open(len, threads) {
            self.open();
        }
        self.queue.lease(len, threads)
    }

    /// The threads have coded or decoded a block of `len` bytes, which took so much time of one.
    pub fn coded(&self, len: u64, took: Duration) {
        self.queue.coded(len, took);
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        self.queue.warn(failure);
    }

    /// A GPU was wrong, and the next time that may not be found: says so, and lets go of all.
    pub fn give_up(&self, failure: &str) {
        self.warn(failure);
        self.end();
    }

    /// As [`Self::warn`] where one GPU or the CPU takes over.
    pub fn warn_of_several(&self, failure: &str) {
        self.queue.warn_of_several(failure);
    }

    /// The CPU has done a block of `len` bytes on that many threads.
    pub fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.queue.done_on_cpu(len, threads, took);
    }

    /// Opens the GPUs in the background.
    fn open(&self) {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = opening.open.take() else { return };
        let queue = Arc::clone(&self.queue);
        let (ended, until) = crossbeam_channel::bounded(0);
        if let Some(threads) = &self.threads {
            threads.rest(resting(threads.count()), &until);
        }
        let work = move || {
            let _opened = Opened(&queue);
            open(&queue);
            drop(ended);
        };
        match thread::Builder::new().name("bwz-gpu".into()).spawn(work) {
            Ok(thread) => opening.thread = Some(thread),
            Err(e) => {
                self.queue.opened();
                self.queue.warn(&format!("cannot start a thread: {e}"));
            }
        }
    }

    /// No more work comes to them: lets go of the GPUs that are open, side by side, as each takes
    /// time.
    pub fn end(&self) {
        let gpus = self.queue.end();
        thread::scope(|scope| {
            for gpu in gpus {
                // Where no thread can be had, this one lets go of it.
                drop(thread::Builder::new().spawn_scoped(scope, || drop(gpu)));
            }
        });
    }

    /// Whether a block may be done on a GPU: not where all that were opened have failed.
    pub fn has_gpus(&self) -> bool {
        let opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        opening.open.is_some() || opening.thread.is_some() && self.queue.may_lease()
    }

    /// Whether a GPU is open, or is being opened.
    pub fn may_lease(&self) -> bool {
        self.queue.may_lease()
    }

    /// Whether opening GPUs has begun.
    #[cfg(test)]
    pub fn has_begun_opening(&self) -> bool {
        self.opening.lock().unwrap().thread.is_some()
    }
}

/// How many of so many threads rest while GPUs are opened, which takes twice as long where all
/// processors are busy: 0.4 s and not 0.2 on an H200 with 16 of them.
fn resting(threads: usize) -> usize {
    const MOST: usize = 2;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    if threads + MOST > processors { (threads / 8).min(MOST) } else { 0 }
}

/// Lets those go on who wait for a GPU, even where opening it panics.
struct Opened<'a, G>(&'a LeaseQueue<G>);

impl<G> Drop for Opened<'_, G> {
    fn drop(&mut self) {
        self.0.opened();
    }
}

impl<G> Drop for DevicePool<G> {
    /// No thread outlives what it works for.
    fn drop(&mut self) {
        drop(self.queue.end());
        let opening = self.opening.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.thread.take() {
            let _ = thread.join();
        }
    }
}
