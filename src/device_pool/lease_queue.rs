//! The queue in which threads wait for a GPU: free ones are leased in the order of the requests,
//! and one that failed does not come back.
//!
//! A thread waits until a GPU is free, until there will never be one again, or until the CPU would
//! be done sooner.

use super::rates::Rates;
use crate::error::{Error, Result};
use crate::events::Listener;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Seconds from the first call of the driver to a GPU that works: the context, the kernels, the
/// memory.
const OPENING: f64 = 0.5;

/// Leases that there are taken to be until the GPUs are open.
const EXPECTED: f64 = 2.0;

/// How often a waiting thread compares again: where opening takes longer than expected, nothing
/// else wakes it up.
const RECHECK: Duration = Duration::from_millis(50);

pub(crate) struct LeaseQueue<G> {
    state: Mutex<QueueState<G>>,
    changed: Condvar,
    listener: Listener,
    /// A GPU does the work for as long as there is one; else the device that is done first.
    gpu_only: bool,
    /// Of the CPU, for all blocks together.
    threads: usize,
}

struct QueueState<G> {
    gpus: Gpus,
    free: Vec<G>,
    leased: usize,
    /// Requests by number: they are served in that order, since the file is written in order.
    waiting: BTreeSet<u64>,
    requests: u64,
    /// Bytes of blocks that are on a GPU or wait for one.
    queued: u64,
    rates: Rates,
    /// All blocks that have come or will come here, and their bytes.
    expected: u64,
    expected_bytes: u64,
    warned: bool,
}

/// What has become of the GPUs as a whole.
#[derive(Clone, Copy, PartialEq)]
enum Gpus {
    Closed,
    OpeningSince(Instant),
    /// No more come than there are.
    Opened,
}

impl<G> LeaseQueue<G> {
    /// For the blocks that come to so many threads; `can_open` says whether GPUs may be opened.
    pub fn new(
        can_open: bool,
        gpu_only: bool,
        rates: Rates,
        threads: usize,
        listener: Listener,
    ) -> Self {
        let state = QueueState {
            gpus: if can_open { Gpus::Closed } else { Gpus::Opened },
            free: Vec::new(),
            leased: 0,
            waiting: BTreeSet::new(),
            requests: 0,
            queued: 0,
            rates,
            expected: 0,
            expected_bytes: 0,
            warned: false,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        LeaseQueue { state, changed, listener, gpu_only, threads }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of `len` bytes will come when it has its turn. True once, when GPUs are to be
    /// opened: where all blocks that come keep the threads busy for longer than a GPU takes to
    /// open, or a GPU has to do them.
    pub fn expect(&self, len: u64) -> bool {
        let mut state = self.state();
        state.expected += 1;
        state.expected_bytes += len;
        let pays = self.all_stages(&state, state.expected) > OPENING;
        (self.gpu_only || pays) && state.begin_opening()
    }

    /// The same for a block of `len` bytes that has its turn: where it alone takes that long on
    /// `threads` threads of the CPU, or a GPU has to do it.
    pub fn must_open(&self, len: u64, threads: usize) -> bool {
        let mut state = self.state();
        let pays = state.on_cpu(len, threads) > OPENING;
        (self.gpu_only || pays) && state.begin_opening()
    }

    /// A GPU was opened.
    pub fn add(&self, gpu: G) {
        self.state().free.push(gpu);
        self.changed.notify_all();
    }

    /// No more GPUs come.
    pub fn opened(&self) {
        self.state().gpus = Gpus::Opened;
        self.changed.notify_all();
    }

    /// Leases a GPU for a block of `len` bytes, after waiting for it. `None` where the CPU is to do
    /// the block, on `threads` threads.
    pub fn lease(&self, len: u64, threads: usize) -> Option<Lease<'_, G>> {
        let mut state = self.state();
        let request = state.join_queue(len);
        while self.waits(&state, len, threads) {
            if let Some(gpu) = state.serve(request) {
                drop(state);
                // The next in the queue may be served too.
                self.changed.notify_all();
                return Some(Lease { queue: self, gpu: Some(gpu), len, since: Instant::now() });
            }
            let waited = self.changed.wait_timeout(state, RECHECK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.remove(&request);
        state.queued -= len;
        drop(state);
        self.changed.notify_all();
        None
    }

    /// The CPU has done so many bytes on that many threads.
    pub fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.state().rates.cpu.add(len, took.as_secs_f64() * gain(threads));
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        let verb = self.state().rates.verb;
        self.warn_once(format!("{failure}; {verb} on the CPU"));
    }

    /// Says which GPUs could not be opened.
    pub fn warn_of_unopened(&self, failures: &str) {
        let state = self.state();
        let (verb, left) = (state.rates.verb, !state.free.is_empty() || state.leased > 0);
        drop(state);
        match left {
            true => self.warn_once(format!("{failures}; {verb} on the other GPUs")),
            false => self.warn(failures),
        }
    }

    fn warn_once(&self, what: String) {
        if !std::mem::replace(&mut self.state().warned, true) {
            self.listener.warn(what);
        }
    }

    /// Whether a block waits for a GPU rather than go to the CPU.
    fn waits(&self, state: &QueueState<G>, len: u64, threads: usize) -> bool {
        let none = state.free.is_empty() && state.leased == 0;
        if none && !matches!(state.gpus, Gpus::OpeningSince(_)) {
            return false;
        }
        let to_come = state.expected.saturating_sub(state.requests);
        self.gpu_only
            || state.on_gpu(len) < state.on_cpu(len, threads) + self.all_stages(state, to_come)
    }

    /// Seconds that the threads have to do with so many blocks.
    fn all_stages(&self, state: &QueueState<G>, blocks: u64) -> f64 {
        let mean = state.expected_bytes as f64 / state.expected.max(1) as f64;
        blocks as f64 * mean / (state.rates.pipeline * self.threads as f64)
    }
}

/// What several threads are taken to gain. They get into each other's way: the more there are, the
/// less each of them does.
fn gain(threads: usize) -> f64 {
    (threads as f64).sqrt()
}

impl<G> QueueState<G> {
    /// True the first time.
    fn begin_opening(&mut self) -> bool {
        let closed = self.gpus == Gpus::Closed;
        if closed {
            self.gpus = Gpus::OpeningSince(Instant::now());
        }
        closed
    }

    fn join_queue(&mut self, len: u64) -> u64 {
        self.queued += len;
        self.requests += 1;
        self.waiting.insert(self.requests);
        self.requests
    }

    /// A free GPU, for the first in the queue alone.
    fn serve(&mut self, request: u64) -> Option<G> {
        if self.waiting.first() != Some(&request) {
            return None;
        }
        let gpu = self.free.pop()?;
        self.waiting.remove(&request);
        self.leased += 1;
        Some(gpu)
    }

    /// Seconds in which `threads` threads of the CPU would do a block, if they had nothing else to
    /// do.
    fn on_cpu(&self, len: u64, threads: usize) -> f64 {
        self.rates.cpu.seconds(len) / gain(threads)
    }

    /// Seconds until a block that is in the queue already would be done on a GPU.
    fn on_gpu(&self, len: u64) -> f64 {
        let leases = (self.free.len() + self.leased) as f64;
        let (leases, until_open) = match self.gpus {
            Gpus::OpeningSince(start) if leases == 0.0 => {
                let passed = start.elapsed().as_secs_f64();
                // When it takes longer than it should, it may take as long again.
                (EXPECTED, if passed < OPENING { OPENING - passed } else { passed })
            }
            _ => (leases.max(1.0), 0.0),
        };
        let before = self.rates.gpu.seconds(self.queued - len) / leases;
        until_open + self.rates.gpu.seconds(len) + before
    }
}

/// A GPU that one thread uses now. Dropping the lease gives it back.
pub(crate) struct Lease<'a, G> {
    queue: &'a LeaseQueue<G>,
    /// `None` while it works, and when it has failed.
    gpu: Option<G>,
    len: u64,
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
        if let Some(gpu) = self.gpu.take() {
            state.rates.gpu.add(self.len, self.since.elapsed().as_secs_f64());
            state.free.push(gpu);
        }
        state.leased -= 1;
        state.queued -= self.len;
        drop(state);
        self.queue.changed.notify_all();
    }
}
