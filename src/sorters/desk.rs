//! The desk at which workers get GPU sorters: free ones are lent, broken ones do not come back.
//!
//! Whoever waits here waits for one of three things: a sorter is free, there will never be one again, or the CPU would
//! by now be the sooner.

use super::pace::Pace;
use crate::bwt::Bwt;
use crate::error::Result;
use crate::events::{Listener, Timed};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sorts blocks on a GPU, with the given sample rate.
pub type Foreign = Box<dyn FnMut(&[u8], u32) -> Result<Sorted> + Send>;

/// A sorted block, and when what was done to it.
pub struct Sorted {
    pub bwt: Bwt,
    pub steps: Vec<Timed>,
}

/// Seconds from the first call of the driver to a GPU that sorts: the context, the kernels, the memory.
const OPENING: f64 = 0.5;

/// Sorters that a GPU is taken to have until it has them.
const EXPECTED: f64 = 2.0;

/// Where opening takes longer than it should, nothing but time tells those who wait.
const LOOK_UP: Duration = Duration::from_millis(50);

pub struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    listener: Listener,
}

struct State {
    gpus: Gpus,
    free: Vec<Foreign>,
    lent: usize,
    /// Who waits, by the order in which they came: in that order they are served, as the file is written in order.
    waiting: BTreeSet<u64>,
    came: u64,
    /// Bytes of blocks that are on a GPU or wait for one.
    queued: u64,
    cpu: Pace,
    gpu: Pace,
    /// Seconds that the CPU's threads have sorted for in all.
    cpu_worked: f64,
    warned: bool,
}

/// What has become of the GPUs as a whole.
#[derive(Clone, Copy, PartialEq)]
enum Gpus {
    Closed,
    OpeningSince(Instant),
    /// No more sorters come than there are.
    Opened,
}

/// Where a block may be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// On a GPU for as long as there is one.
    Gpu,
    /// Wherever it is done first. The CPU takes so many threads for it.
    First { threads: usize },
}

impl Desk {
    pub fn new(listener: Listener) -> Self {
        let state = State {
            gpus: Gpus::Closed,
            free: Vec::new(),
            lent: 0,
            waiting: BTreeSet::new(),
            came: 0,
            queued: 0,
            cpu: Pace::CPU,
            gpu: Pace::GPU,
            cpu_worked: 0.0,
            warned: false,
        };
        Desk { state: Mutex::new(state), changed: Condvar::new(), listener }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True once, when GPUs are to be opened: where the CPU's `workers` would go on with a block of `len` bytes for longer
    /// than they would have had to wait for a GPU.
    pub fn must_open(&self, len: u64, choice: Choice, workers: usize) -> bool {
        let mut state = self.state();
        let worth_it = match choice {
            Choice::Gpu => true,
            Choice::First { threads } => {
                state.cpu_worked / workers as f64 + state.on_cpu(len, threads) > OPENING
            }
        };
        let must = worth_it && state.gpus == Gpus::Closed;
        if must {
            state.gpus = Gpus::OpeningSince(Instant::now());
        }
        must
    }

    /// A sorter was opened.
    #[cfg(any(feature = "cuda", test))]
    pub fn add(&self, sorter: Foreign) {
        self.state().free.push(sorter);
        self.changed.notify_all();
    }

    /// No more sorters are to come.
    pub fn opened(&self) {
        self.state().gpus = Gpus::Opened;
        self.changed.notify_all();
    }

    /// Lends a sorter for a block of `len` bytes, after waiting for it. `None` where the CPU is to sort the block.
    pub fn lend(&self, len: u64, choice: Choice) -> Option<Loan<'_>> {
        let mut state = self.state();
        let ticket = state.join_queue(len);
        while state.may_wait(len, choice) {
            if let Some(sorter) = state.serve(ticket) {
                drop(state);
                // The next in the queue may be served too.
                self.changed.notify_all();
                return Some(Loan { desk: self, sorter: Some(sorter), len, since: Instant::now() });
            }
            let waited = self.changed.wait_timeout(state, LOOK_UP);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.remove(&ticket);
        state.queued -= len;
        drop(state);
        self.changed.notify_all();
        None
    }

    /// The CPU has sorted so many bytes on one thread.
    pub fn sorted_on_cpu(&self, len: u64, took: Duration) {
        let mut state = self.state();
        state.cpu.add(len, took.as_secs_f64());
        state.cpu_worked += took.as_secs_f64();
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        let first = !std::mem::replace(&mut self.state().warned, true);
        if first {
            self.listener.warn(format!("{failure}; sorting on the CPU"));
        }
    }
}

impl State {
    fn join_queue(&mut self, len: u64) -> u64 {
        self.queued += len;
        self.came += 1;
        self.waiting.insert(self.came);
        self.came
    }

    /// A free sorter, for the first in the queue alone.
    fn serve(&mut self, ticket: u64) -> Option<Foreign> {
        if self.waiting.first() != Some(&ticket) {
            return None;
        }
        let sorter = self.free.pop()?;
        self.waiting.remove(&ticket);
        self.lent += 1;
        Some(sorter)
    }

    fn may_wait(&self, len: u64, choice: Choice) -> bool {
        let some = !self.free.is_empty() || self.lent > 0;
        match choice {
            _ if !some && matches!(self.gpus, Gpus::Closed | Gpus::Opened) => false,
            Choice::Gpu => true,
            Choice::First { threads } => self.on_gpu(len) < self.on_cpu(len, threads),
        }
    }

    /// Seconds until a block would be sorted by `threads` threads of the CPU. They get into each other's way: the more
    /// there are, the less each of them does.
    fn on_cpu(&self, len: u64, threads: usize) -> f64 {
        self.cpu.seconds(len) / (threads as f64).sqrt()
    }

    /// Seconds until a block that is in the queue already would be sorted on a GPU.
    fn on_gpu(&self, len: u64) -> f64 {
        let sorters = (self.free.len() + self.lent) as f64;
        let (sorters, until_open) = match self.gpus {
            Gpus::OpeningSince(start) if sorters == 0.0 => {
                let passed = start.elapsed().as_secs_f64();
                // When it takes longer than it should, it may take as long again.
                (EXPECTED, if passed < OPENING { OPENING - passed } else { passed })
            }
            _ => (sorters.max(1.0), 0.0),
        };
        until_open + self.gpu.seconds(len) + self.gpu.seconds(self.queued - len) / sorters
    }
}

/// A sorter out of the desk. Dropping it means that it broke.
pub struct Loan<'a> {
    desk: &'a Desk,
    sorter: Option<Foreign>,
    len: u64,
    since: Instant,
}

impl Loan<'_> {
    pub fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<Sorted> {
        let sorter = self.sorter.as_mut().expect("it is here until it is given back");
        sorter(block, sample_rate)
    }

    /// Gives it back for others to use.
    pub fn give_back(mut self) {
        let mut state = self.desk.state();
        state.gpu.add(self.len, self.since.elapsed().as_secs_f64());
        state.free.extend(self.sorter.take());
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.lent -= 1;
        state.queued -= self.len;
        drop(state);
        self.desk.changed.notify_all();
    }
}
