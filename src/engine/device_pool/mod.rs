//! A pool of GPUs that are leased to the threads of one kind of work.
//!
//! | file | job |
//! |---|---|
//! | `open_gpus` | opens the first GPU alone, and others side by side when work needs them |
//! | `lease_queue` | the queue in which threads wait for a lease |
//! | `workload` | the estimate of whether the GPUs or the threads would finish a block first |
//! | `rates` | the speed of a kind of work |
//! | `simulation` | tests that compare the choice with either device alone |
//!
//! A user creates a [`DevicePool`] from an [`Opener`] and the [`Rates`] of the work. The opener
//! says what a GPU is opened as, such as a `SortingGpu`. The user announces work
//! ([`DevicePool::expect`]), asks for a [`Lease`] when it is the turn of that work, and does it by
//! [`Lease::run`]. If there is no lease, or if the GPU fails, the CPU does the work.
//!
//! # The choice
//! With [`Device::Auto`](crate::Device::Auto) no driver is loaded until enough blocks have come or
//! are announced: they must keep the threads busy for longer than a GPU takes to open. If the size
//! of the input is known, that may be before the first block is read. If no more
//! blocks may come, the time that the GPU takes to do them is added.
//!
//! GPUs are leased in the order in which blocks ask for them. A block waits for a GPU unless the
//! threads would be done sooner by a fifth. The estimate for the GPUs includes this block and the
//! blocks before it. The estimate for the threads includes this block, the blocks that they took
//! already, and the coding of all blocks that no GPU codes.
//!
//! While the first GPU is being opened, the threads take the blocks that they finish by then. They
//! take none if the GPU would do all known blocks sooner than they would. More GPUs are opened if
//! they save more time on the known blocks than opening takes; if the caller gave numbers of
//! GPUs, all of these are opened. Meanwhile the threads take no blocks. A waiting thread compares
//! again when anything changes.
//!
//! The speeds are guesses at first (`rates`) and are measured from then on.
//!
//! So a thread that could code does not sort while GPUs keep up with the coding. If a GPU is slow,
//! threads do almost all blocks. `workload` computes both estimates, and `simulation` compares the
//! choice with either device alone.
//!
//! # Failure
//! A GPU takes its memory when it is opened: enough for every block up to the largest. If there is
//! not enough for several leases, there are fewer. A block that needs more memory and does not get
//! it is done on the CPU. A lease whose GPU fails is not given again; the other leases of that GPU
//! are. After a wrong result no GPU is leased any more ([`DevicePool::give_up`]). One warning is
//! given for all failures of a pool; `engine` lists them.

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
pub(crate) struct DevicePool<G: Send + 'static> {
    queue: Arc<LeaseQueue<G>>,
    opening: Mutex<Opening<G>>,
    /// The threads that compute. Some of them rest while GPUs are opened.
    threads: Option<Threads>,
    /// Threads that close GPUs.
    closing: Mutex<Vec<JoinHandle<()>>>,
}

/// The opening of GPUs, which happens once.
struct Opening<G> {
    /// `None` if there is nothing to open, or if opening has begun.
    open: Option<OpenGpus<G>>,
    thread: Option<JoinHandle<()>>,
}

impl<G: Send + 'static> DevicePool<G> {
    /// Creates a pool for blocks that are coded on `threads` threads.
    pub(crate) fn new(opener: Opener<G>, rates: Rates, threads: usize, listener: Listener) -> Self {
        let Opener { gpu_only, open } = opener;
        let queue = LeaseQueue::new(open.is_some(), gpu_only, rates, threads, listener);
        let opening = Mutex::new(Opening { open, thread: None });
        DevicePool {
            queue: Arc::new(queue),
            opening,
            threads: None,
            closing: Mutex::default(),
        }
    }

    /// Creates a pool for blocks that are coded by `threads`. Some of them rest while GPUs are
    /// opened.
    pub(crate) fn of(
        opener: Opener<G>,
        rates: Rates,
        threads: &Threads,
        listener: Listener,
    ) -> Self {
        let mut pool = DevicePool::new(opener, rates, threads.count(), listener);
        pool.threads = Some(threads.clone());
        pool
    }

    /// Announces that blocks of `all` bytes will come in total, as far as is known, with those that
    /// came already.
    pub(crate) fn announce(&self, all: u64) {
        self.queue.account(|work| work.announce(all));
    }

    /// Announces as [`Self::announce`] does, before the first block is read. If the blocks, of up
    /// to `len` bytes each, will need GPUs, these are opened while it is read.
    pub(crate) fn announce_and_open(&self, all: u64, len: u64) {
        let mut state = self.queue.state();
        state.workload.announce(all);
        let pays = all > 0 && (self.queue.gpu_only || state.workload.opening_pays());
        if state.workload.fits(len) && pays && state.begin_opening() {
            drop(state);
            self.open();
        }
    }

    /// Registers a block of `len` bytes that has come. GPUs are opened, once, if all known blocks
    /// keep the threads busy for longer than that takes, or if a GPU must do them.
    pub(crate) fn expect(&self, len: u64) {
        let mut state = self.queue.state();
        state.workload.expect(len);
        let pays = self.queue.gpu_only || state.workload.opening_pays();
        let opens = state.workload.fits(len) && pays && state.begin_opening();
        drop(state);
        self.queue.compare();
        if opens {
            self.open();
        }
    }

    /// Leases a GPU for a block of `len` bytes, after waiting for it. Returns `None` if the CPU is
    /// to do the block, on `threads` threads. The caller then reports the end by
    /// [`DevicePool::done_on_cpu`].
    ///
    /// GPUs are opened, once, if this block alone takes the threads longer than that, or if a GPU
    /// must do it.
    pub(crate) fn lease(&self, len: u64, threads: usize) -> Option<Lease<'_, G>> {
        let mut state = self.queue.state();
        let pays = self.queue.gpu_only || state.workload.opening_pays_for(len, threads);
        let opens = state.workload.fits(len) && pays && state.begin_opening();
        drop(state);
        if opens {
            self.open();
        }
        self.queue.lease(len, threads)
    }

    /// Reports that the threads coded or decoded a block of `len` bytes, in `took` of one thread's
    /// time.
    pub(crate) fn coded(&self, len: u64, took: Duration) {
        self.queue.account(|work| work.coded(len, took));
    }

    /// Reports that the CPU has done a block of `len` bytes on `threads` threads.
    pub(crate) fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.queue
            .account(|work| work.end_on_cpu(len, threads, took));
    }

    /// Warns of a failed GPU. Only the first warning of a pool is given.
    pub(crate) fn warn(&self, failure: &str) {
        self.queue.warn(failure);
    }

    /// Gives up all GPUs after a wrong result, with a warning. The next wrong result might not be
    /// noticed.
    pub(crate) fn give_up(&self, failure: &str) {
        self.warn(failure);
        self.end();
    }

    /// Warns as [`Self::warn`] does, and says that one GPU or the CPU takes over.
    pub(crate) fn warn_of_several(&self, failure: &str) {
        self.queue.warn_of_several(failure);
    }

    /// Opens the GPUs in the background.
    fn open(&self) {
        let mut opening = self
            .opening
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(open) = opening.open.take() else {
            return;
        };
        let queue = Arc::clone(&self.queue);
        if let Some(threads) = &self.threads {
            let (opened, until) = crossbeam_channel::bounded(0);
            self.queue.state().resting = Some(opened);
            threads.rest(resting(threads.count()), &until);
        }
        let work = move || {
            let _opened = Opened(&queue);
            open(&queue);
        };
        match thread::Builder::new()
            .name("bwz-gpu".into())
            .spawn(work)
        {
            Ok(thread) => opening.thread = Some(thread),
            Err(e) => {
                self.queue.opened();
                self.queue
                    .warn(&format!("cannot start a thread: {e}"));
            }
        }
    }

    /// Begins to close the open GPUs, since no more work comes. Closing takes time, so each is
    /// closed by a thread of its own, and the end of the pool waits for them.
    pub(crate) fn end(&self) {
        let mut closing = self
            .closing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for gpu in self.queue.end() {
            // If no thread can be started, this thread closes the GPU.
            closing.extend(thread::Builder::new().spawn(|| drop(gpu)));
        }
    }

    /// True if a block may be done on a GPU. False once all opened GPUs have failed.
    pub(crate) fn has_gpus(&self) -> bool {
        let opening = self
            .opening
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        opening.open.is_some() || opening.thread.is_some() && self.may_lease()
    }

    /// True if a GPU is open, or is being opened.
    pub(crate) fn may_lease(&self) -> bool {
        self.queue.state().workload.may_lease()
    }

    /// True if opening GPUs has begun.
    #[cfg(test)]
    pub(crate) fn has_begun_opening(&self) -> bool {
        self.opening.lock().unwrap().thread.is_some()
    }
}

/// Number of threads, out of `threads`, that rest while GPUs are opened. Opening takes twice as
/// long if all processors are busy: 0.4 s in place of 0.2 s on an H200 with 16 processors.
fn resting(threads: usize) -> usize {
    const MOST: usize = 2;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    if threads + MOST > processors {
        (threads / 8).min(MOST)
    } else {
        0
    }
}

/// Wakes the threads that wait for a GPU, even if opening it panics.
struct Opened<'a, G>(&'a LeaseQueue<G>);

impl<G> Drop for Opened<'_, G> {
    fn drop(&mut self) {
        self.0.opened();
    }
}

impl<G: Send + 'static> Drop for DevicePool<G> {
    /// Ends the pool. No thread outlives the work it serves.
    fn drop(&mut self) {
        self.end();
        let opening = self
            .opening
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let closing = self
            .closing
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for thread in opening
            .thread
            .take()
            .into_iter()
            .chain(closing.drain(..))
        {
            let _ = thread.join();
        }
    }
}
