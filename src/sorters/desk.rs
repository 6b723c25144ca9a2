//! The desk at which workers get GPU sorters, or inverses: free ones are lent, broken ones do not
//! come back.
//!
//! Whoever waits here waits for one of three things: one is free, there will never be one again, or
//! the CPU would by now be the sooner.

use super::pace::Work;
use crate::events::Listener;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Seconds from the first call of the driver to a GPU that works: the context, the kernels, the
/// memory.
const OPENING: f64 = 0.5;

/// Sorters that a GPU is taken to have until it has them.
const EXPECTED: f64 = 2.0;

/// Where opening takes longer than it should, nothing but time tells those who wait.
const LOOK_UP: Duration = Duration::from_millis(50);

pub struct Desk<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
    listener: Listener,
}

struct State<S> {
    /// Of the CPU, for all blocks together.
    threads: usize,
    gpus: Gpus,
    free: Vec<S>,
    lent: usize,
    /// Who waits, by the order in which they came: in that order they are served, as the file is
    /// written in order.
    waiting: BTreeSet<u64>,
    came: u64,
    /// Bytes of blocks that are on a GPU or wait for one.
    queued: u64,
    work: Work,
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
    /// No more sorters come than there are.
    Opened,
}

/// Where a block may be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// On a GPU for as long as there is one.
    Gpu,
    /// Wherever it is done first. The CPU takes so many threads for it.
    First { threads: usize },
}

impl<S> Desk<S> {
    /// For the blocks that come to so many threads.
    pub fn new(listener: Listener, work: Work, threads: usize) -> Self {
        let state = State {
            threads,
            gpus: Gpus::Closed,
            free: Vec::new(),
            lent: 0,
            waiting: BTreeSet::new(),
            came: 0,
            queued: 0,
            work,
            expected: 0,
            expected_bytes: 0,
            warned: false,
        };
        Desk { state: Mutex::new(state), changed: Condvar::new(), listener }
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of `len` bytes will come when it has its turn. True once, when GPUs are to be
    /// opened: where all that keeps the threads busy for longer than they would have to wait for a
    /// GPU.
    pub fn expect(&self, len: u64) -> bool {
        let mut state = self.state();
        state.expected += 1;
        state.expected_bytes += len;
        state.all_stages(state.expected) > OPENING && state.begin_opening()
    }

    /// The same for a block of `len` bytes that has its turn: where it alone takes the CPU so long,
    /// or a GPU has to do it.
    pub fn must_open(&self, len: u64, choice: Choice) -> bool {
        let mut state = self.state();
        let worth_it = match choice {
            Choice::Gpu => true,
            Choice::First { threads } => state.on_cpu(len, threads) > OPENING,
        };
        worth_it && state.begin_opening()
    }

    /// A sorter was opened.
    pub fn add(&self, sorter: S) {
        self.state().free.push(sorter);
        self.changed.notify_all();
    }

    /// No more sorters are to come.
    pub fn opened(&self) {
        self.state().gpus = Gpus::Opened;
        self.changed.notify_all();
    }

    /// Lends a sorter for a block of `len` bytes, after waiting for it. `None` where the CPU is to
    /// do the block.
    pub fn lend(&self, len: u64, choice: Choice) -> Option<Loan<'_, S>> {
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

    /// The CPU has done so many bytes on that many threads.
    pub fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.state().work.cpu.add(len, took.as_secs_f64() * gain(threads));
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.warned, true) {
            let instead = state.work.verb;
            drop(state);
            self.listener.warn(format!("{failure}; {instead} on the CPU"));
        }
    }
}

/// What several threads are taken to gain. They get into each other's way: the more there are, the
/// less each of them does.
fn gain(threads: usize) -> f64 {
    (threads as f64).sqrt()
}

impl<S> State<S> {
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
        self.came += 1;
        self.waiting.insert(self.came);
        self.came
    }

    /// A free sorter, for the first in the queue alone.
    fn serve(&mut self, ticket: u64) -> Option<S> {
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
            Choice::First { threads } => {
                let ahead = self.all_stages(self.expected.saturating_sub(self.came));
                self.on_gpu(len) < self.on_cpu(len, threads) + ahead
            }
        }
    }

    /// Seconds that the threads have to do with so many blocks.
    fn all_stages(&self, blocks: u64) -> f64 {
        let mean = self.expected_bytes as f64 / self.expected.max(1) as f64;
        blocks as f64 * mean / (self.work.whole * self.threads as f64)
    }

    /// Seconds in which `threads` threads of the CPU would do a block, if they had nothing else to
    /// do.
    fn on_cpu(&self, len: u64, threads: usize) -> f64 {
        self.work.cpu.seconds(len) / gain(threads)
    }

    /// Seconds until a block that is in the queue already would be done on a GPU.
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
        until_open + self.work.gpu.seconds(len) + self.work.gpu.seconds(self.queued - len) / sorters
    }
}

/// A sorter out of the desk. Dropping it means that it broke.
pub struct Loan<'a, S> {
    desk: &'a Desk<S>,
    sorter: Option<S>,
    len: u64,
    since: Instant,
}

impl<S> Loan<'_, S> {
    pub fn sorter(&mut self) -> &mut S {
        self.sorter.as_mut().expect("it is here until it is given back")
    }

    /// Gives it back for others to use.
    pub fn give_back(mut self) {
        let mut state = self.desk.state();
        state.work.gpu.add(self.len, self.since.elapsed().as_secs_f64());
        state.free.extend(self.sorter.take());
    }
}

impl<S> Drop for Loan<'_, S> {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.lent -= 1;
        state.queued -= self.len;
        drop(state);
        self.desk.changed.notify_all();
    }
}
