//! The queue in which threads wait for a GPU. A GPU is opened once for each of its leases. Free
//! leases are given in the order of the requests. A lease whose GPU failed does not come back.
//! After a wrong result, no lease comes back.
//!
//! A thread waits until a lease is free, until there will never be one again, or until the CPU
//! would be done sooner.

use super::rates::{HAS_OPENED, Rates, opens_here_in};
use super::workload::Workload;
use crate::base::error::{Error, Result};
use crate::options::events::Listener;
use crossbeam_channel::Sender;
use std::convert::Infallible;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a waiting thread compares again. If opening takes longer than expected,
/// nothing else wakes the thread up.
const RECHECK: Duration = Duration::from_millis(50);

pub(crate) struct LeaseQueue<G> {
    state: Mutex<QueueState<G>>,
    changed: Condvar,
    listener: Listener,
    /// True if a GPU does the work as long as there is one. Otherwise the device that is done
    /// sooner does it.
    pub gpu_only: bool,
}

pub(super) struct QueueState<G> {
    pub workload: Workload,
    free: Vec<G>,
    /// True if GPUs may still be opened. This happens once.
    can_open: bool,
    /// Dropped when no GPU is being opened any more. Threads may rest until then.
    pub resting: Option<Sender<Infallible>>,
    /// No GPU is leased any more and none comes back: all work is done, or a result was wrong.
    ended: bool,
    warned: bool,
}

impl<G> LeaseQueue<G> {
    /// Creates the queue for blocks that are coded on `threads` threads. `can_open` is true if GPUs
    /// may be opened.
    pub(crate) fn new(
        can_open: bool,
        gpu_only: bool,
        rates: Rates,
        threads: usize,
        listener: Listener,
    ) -> Self {
        let workload = Workload::new(rates, threads, opens_here_in());
        let free = Vec::new();
        let state = QueueState {
            workload,
            free,
            can_open,
            resting: None,
            ended: false,
            warned: false,
        };
        LeaseQueue {
            state: Mutex::new(state),
            changed: Condvar::new(),
            listener,
            gpu_only,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, QueueState<G>> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an opened GPU, for one more lease.
    pub(crate) fn add(&self, gpu: G) {
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

    /// Ends the queue: no more GPUs are opened or leased, and none comes back. Returns the free
    /// ones.
    pub(crate) fn end(&self) -> Vec<G> {
        let mut state = self.state();
        (state.ended, state.can_open) = (true, false);
        state.workload.leases -= state.free.len();
        self.changed.notify_all();
        mem::take(&mut state.free)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Reports that no more GPUs are being opened.
    pub(crate) fn opened(&self) {
        self.state().rest_opening();
        self.changed.notify_all();
    }

    /// Waits until another GPU pays beside `gpus` open ones of `leases` leases each. Returns false
    /// if no GPU is needed any more.
    pub(crate) fn waits_for_work(&self, gpus: usize, leases: usize) -> bool {
        let mut state = self.state();
        while !state.ended && !state.workload.pays_beside(gpus, leases) {
            if state.workload.opening.is_some() {
                state.rest_opening();
                self.changed.notify_all();
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if !state.ended && gpus > 0 {
            state.workload.opening = Some(Instant::now());
        }
        !state.ended
    }

    /// Leases a GPU for a block of `len` bytes, after waiting for it. Returns `None` if the CPU is
    /// to do the block, on `threads` threads. The caller then reports the end by
    /// `DevicePool::done_on_cpu`.
    pub(crate) fn lease(&self, len: u64, threads: usize) -> Option<Lease<'_, G>> {
        let mut state = self.state();
        let request = state.workload.ask(len);
        let most = state.workload.rates.most;
        while !state.ended && len <= most && self.waits(&state, request, threads) {
            if let Some(gpu) = state.serve(request) {
                drop(state);
                // The next request in the queue may be served too.
                self.changed.notify_all();
                let since = Instant::now();
                return Some(Lease {
                    queue: self,
                    gpu: Some(gpu),
                    len,
                    threads,
                    since,
                });
            }
            let waited = self.changed.wait_timeout(state, RECHECK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.workload.give_up(request, threads);
        drop(state);
        self.changed.notify_all();
        if self.gpu_only && len > most {
            self.warn(&format!(
                "a block of {len} bytes is above the {most} that a GPU takes"
            ));
        }
        None
    }

    /// True if a block waits for a GPU rather than go to the CPU.
    fn waits(&self, state: &QueueState<G>, request: u64, threads: usize) -> bool {
        match self.gpu_only {
            true => state.workload.may_lease(),
            false => state
                .workload
                .gpus_are_sooner(request, threads, Instant::now()),
        }
    }

    /// Lets threads that wait compare again.
    pub(super) fn compare(&self) {
        self.changed.notify_all();
    }

    /// Changes the account of the work, and lets threads that wait compare again.
    pub(super) fn account(&self, change: impl FnOnce(&mut Workload)) {
        change(&mut self.state().workload);
        self.changed.notify_all();
    }

    /// Warns of a failed GPU. Only the first warning of a queue is given.
    pub(crate) fn warn(&self, failure: &str) {
        let verb = self.state().workload.rates.verb;
        self.warn_once(format!("{failure}; {verb} on the CPU"));
    }

    /// Warns of GPUs that failed to do a block together.
    pub(crate) fn warn_of_several(&self, failure: &str) {
        let verb = self.state().workload.rates.verb;
        self.warn_once(format!("{failure}; {verb} on one GPU or the CPU"));
    }

    /// Warns of GPUs that could not be opened. `others` is true if others could.
    pub(crate) fn warn_of_unopened(&self, failures: &str, others: bool) {
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
    /// Begins opening. True only the first time.
    pub(super) fn begin_opening(&mut self) -> bool {
        let begins = mem::take(&mut self.can_open);
        if begins {
            self.workload.opening = Some(Instant::now());
        }
        begins
    }

    /// Takes note that no GPU is being opened for now: the threads that rest meanwhile go on.
    fn rest_opening(&mut self) {
        self.workload.opening = None;
        self.resting = None;
    }

    /// A free GPU, if `request` is the first in the queue.
    fn serve(&mut self, request: u64) -> Option<G> {
        if self.workload.first() != Some(request) {
            return None;
        }
        let gpu = self.free.pop()?;
        self.workload.begin_lease(request);
        Some(gpu)
    }
}

/// One thread's use of a GPU, beside other leases of that GPU. Dropping it returns the GPU.
pub(crate) struct Lease<'a, G> {
    queue: &'a LeaseQueue<G>,
    /// `None` while the GPU works, and after it has failed.
    gpu: Option<G>,
    len: u64,
    /// Threads of the CPU that do the block if the GPU fails.
    threads: usize,
    since: Instant,
}

impl<G> Lease<'_, G> {
    /// Does `work` on the GPU. Returns `None` if the GPU fails, now or before. A warning has then
    /// been given, the GPU is not leased again, and the CPU has to do the work.
    pub(crate) fn run<T>(&mut self, work: impl FnOnce(&mut G) -> Result<T>) -> Option<Result<T>> {
        // A GPU on which the work panics is lost too.
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
        state
            .workload
            .end_lease(self.len, comes_back.then(|| self.since.elapsed()));
        if self.gpu.is_none() {
            state
                .workload
                .begin_on_cpu(self.len, self.threads);
        }
        state
            .free
            .extend(self.gpu.take_if(|_| comes_back));
        drop(state);
        self.queue.changed.notify_all();
    }
}
