//! The queue in which threads wait for a GPU, opened once for each of its leases: free ones are
//! given in the order of the requests. One whose GPU failed does not come back, and none does where
//! one was wrong.
//!
//! A thread waits until one is free, until there will never be one again, or until the CPU would
//! be done sooner.

use super::rates::{HAS_OPENED, Rates, opens_here_in};
use super::workload::Workload;
use crate::base::error::{Error, Result};
use crate::options::events::Listener;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting thread compares again: where opening takes longer than expected, nothing
/// else wakes it up.
const RECHECK: Duration = Duration::from_millis(50);

pub(crate) struct LeaseQueue<G> {
    state: Mutex<QueueState<G>>,
    changed: Condvar,
    listener: Listener,
    /// A GPU does the work for as long as there is one; else whoever is done sooner.
    gpu_only: bool,
}

struct QueueState<G> {
    workload: Workload,
    free: Vec<G>,
    /// Whether GPUs may be opened, which happens once.
    can_open: bool,
    /// No GPU is leased any more, and none comes back: all work is done, or one was wrong.
    ended: bool,
    warned: bool,
}

impl<G> LeaseQueue<G> {
    /// For blocks that are coded on so many threads; `can_open` says whether GPUs may be opened.
    pub fn new(
        can_open: bool,
        gpu_only: bool,
        rates: Rates,
        threads: usize,
        listener: Listener,
    ) -> Self {
        let workload = Workload::new(rates, threads, opens_here_in());
        let free = Vec::new();
        let state = QueueState { workload, free, can_open, ended: false, warned: false };
        LeaseQueue { state: Mutex::new(state), changed: Condvar::new(), listener, gpu_only }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks of so many bytes will come, with those that did.
    pub fn announce(&self, all: u64) {
        self.state().workload.announce(all);
    }

    /// A block of `len` bytes has come. True once, when GPUs are to be opened: where all blocks
    /// that are known of keep the threads busy for longer than a GPU takes to open, or a GPU has to
    /// do them.
    pub fn expect(&self, len: u64) -> bool {
        let mut state = self.state();
        state.workload.expect(len);
        let fits = len <= state.workload.rates.most;
        fits && (self.gpu_only || state.workload.opening_pays()) && state.begin_opening()
    }

    /// The same for a block of `len` bytes that has its turn: where it alone takes that long on
    /// `threads` threads of the CPU, or a GPU has to do it.
    pub fn must_open(&self, len: u64, threads: usize) -> bool {
        let mut state = self.state();
        let fits = len <= state.workload.rates.most;
        let pays = state.workload.opening_pays_for(len, threads);
        fits && (self.gpu_only || pays) && state.begin_opening()
    }

    /// The threads have coded or decoded a block of `len` bytes, which took so much time of one.
    pub fn coded(&self, len: u64, took: Duration) {
        self.state().workload.coded(len, took);
        self.changed.notify_all();
    }

    /// A GPU was opened, for one more lease.
    pub fn add(&self, gpu: G) {
        HAS_OPENED.store(true, Ordering::Relaxed);
        let mut state = self.state();
        if state.ended {
            return;
        }
        state.free.push(gpu);
        state.workload.leases += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// No more GPUs are opened or leased, and none comes back. Gives those that are free.
    pub fn end(&self) -> Vec<G> {
        let mut state = self.state();
        (state.ended, state.can_open) = (true, false);
        state.workload.leases -= state.free.len();
        self.changed.notify_all();
        mem::take(&mut state.free)
    }

    pub fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// No more GPUs come.
    pub fn opened(&self) {
        self.state().workload.opening = None;
        self.changed.notify_all();
    }

    /// Leases a GPU for a block of `len` bytes, after waiting for it. `None` where the CPU is to do
    /// the block, on `threads` threads; [`LeaseQueue::done_on_cpu`] says when it has.
    pub fn lease(&self, len: u64, threads: usize) -> Option<Lease<'_, G>> {
        let mut state = self.state();
        let request = state.workload.ask(len);
        let most = state.workload.rates.most;
        while !state.ended && len <= most && self.waits(&state, request, threads) {
            if let Some(gpu) = state.serve(request) {
                drop(state);
                // The next in the queue may be served too.
                self.changed.notify_all();
                let since = Instant::now();
                return Some(Lease { queue: self, gpu: Some(gpu), len, threads, since });
            }
            let waited = self.changed.wait_timeout(state, RECHECK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.workload.give_up(request, threads);
        drop(state);
        self.changed.notify_all();
        if self.gpu_only && len > most {
            self.warn(&format!("a block of {len} bytes is above the {most} that a GPU takes"));
        }
        None
    }

    /// Whether a GPU is open, or is being opened.
    pub fn may_lease(&self) -> bool {
        let state = self.state();
        state.workload.leases > 0 || state.workload.opening.is_some()
    }

    /// Whether a block waits for a GPU rather than go to the CPU.
    fn waits(&self, state: &QueueState<G>, request: u64, threads: usize) -> bool {
        match self.gpu_only {
            true => state.workload.leases > 0 || state.workload.opening.is_some(),
            false => state.workload.gpus_are_sooner(request, threads, Instant::now()),
        }
    }

    /// The CPU has done a block on that many threads.
    pub fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.state().workload.end_on_cpu(len, threads, took);
        self.changed.notify_all();
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        let verb = self.state().workload.rates.verb;
        self.warn_once(format!("{failure}; {verb} on the CPU"));
    }

    /// Says what is wrong with GPUs that were to do a block together.
    pub fn warn_of_several(&self, failure: &str) {
        let verb = self.state().workload.rates.verb;
        self.warn_once(format!("{failure}; {verb} on one GPU or the CPU"));
    }

    /// Says which GPUs could not be opened, where others could or none.
    pub fn warn_of_unopened(&self, failures: &str, others: bool) {
        let verb = self.state().workload.rates.verb;
        match others {
            true => self.warn_once(format!("{failures}; {verb} on the other GPUs")),
            false => self.warn(failures),
        }
    }

    fn warn_once(&self, what: String) {
        if !mem::replace(&mut self.state().warned, true) {
            self.listener.warn(what);
        }
    }
}

impl<G> QueueState<G> {
    /// True the first time.
    fn begin_opening(&mut self) -> bool {
        let begins = mem::take(&mut self.can_open);
        if begins {
            self.workload.opening = Some(Instant::now());
        }
        begins
    }

    /// A free GPU, for the first in the queue alone.
    fn serve(&mut self, request: u64) -> Option<G> {
        if self.workload.first() != Some(request) {
            return None;
        }
        let gpu = self.free.pop()?;
        self.workload.begin_lease(request);
        Some(gpu)
    }
}

/// The use of a GPU by one thread, beside other leases of that GPU. Dropping it gives it back.
pub(crate) struct Lease<'a, G> {
    queue: &'a LeaseQueue<G>,
    /// `None` while it works, and when it has failed.
    gpu: Option<G>,
    len: u64,
    /// Of the CPU, should the GPU fail.
    threads: usize,
    since: Instant,
}

impl<G> Lease<'_, G> {
    /// Does `work` on the GPU. `None` where the GPU fails, then or before: it has been warned of,
    /// it is not leased again, and the CPU has to do the work.
    pub fn run<T>(&mut self, work: impl FnOnce(&mut G) -> Result<T>) -> Option<Result<T>> {
        // A GPU on which the work panics is gone too.
        let mut gpu = self.gpu.take()?;
        let done = work(&mut gpu);
        if let Err(Error::Device(failure)) = &done {
            self.queue.warn(failure);
            return None;
        }
        self.gpu = Some(gpu);
        Some(done)
    }
}

impl<G> Drop for Lease<'_, G> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        let comes_back = self.gpu.is_some() && !state.ended;
        state.workload.end_lease(self.len, comes_back.then(|| self.since.elapsed()));
        if self.gpu.is_none() {
            state.workload.begin_on_cpu(self.len, self.threads);
        }
        state.free.extend(self.gpu.take_if(|_| comes_back));
        drop(state);
        self.queue.changed.notify_all();
    }
}
