//! The GPUs as one crew: opened in the background when there is need, and asked for whatever is
//! worth it.

use super::desk::{Choice, Desk, Loan};
use super::pace::Work;
use crate::events::Listener;
use crate::options::Device;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Opens GPUs and adds their sorters, or inverses, to a desk.
pub type Open<S> = Box<dyn FnOnce(&Desk<S>) + Send>;

/// The GPUs that one kind of work may be done on, each by way of an `S`.
pub struct Crew<S> {
    device: Device,
    desk: Arc<Desk<S>>,
    pub(super) opener: Mutex<Opener<S>>,
}

pub enum Opener<S> {
    /// Before there was need; `None` where there is no GPU to open.
    Waiting(Option<Open<S>>),
    Running(JoinHandle<()>),
}

impl<S: Send + 'static> Crew<S> {
    /// For up to `workers` blocks at a time.
    pub fn new(
        open: Option<Open<S>>,
        device: Device,
        workers: usize,
        listener: Listener,
        work: Work,
    ) -> Self {
        let opener = Mutex::new(Opener::Waiting(open));
        Crew { device, desk: Arc::new(Desk::new(listener, work, workers)), opener }
    }

    /// A block of `len` bytes has come and will have its turn: GPUs may be opened for it and those
    /// that came before.
    pub fn expect(&self, len: u64) {
        let must_open = match self.device {
            Device::Cpu => false,
            Device::Auto => self.desk.expect(len),
            Device::Cuda(_) => self.desk.must_open(len, Choice::Gpu),
        };
        if must_open {
            self.open();
        }
    }

    /// Lends a GPU's sorter for a block of `len` bytes. `None` where the CPU is to do it, on
    /// `threads` threads.
    pub fn lend(&self, len: u64, threads: usize) -> Option<Loan<'_, S>> {
        let choice = match self.device {
            Device::Cpu => return None,
            Device::Auto => Choice::First { threads },
            Device::Cuda(_) => Choice::Gpu,
        };
        if self.desk.must_open(len, choice) {
            self.open();
        }
        self.desk.lend(len, choice)
    }

    /// Says what is wrong with a GPU: once, whatever else goes wrong.
    pub fn warn(&self, failure: &str) {
        self.desk.warn(failure);
    }

    /// The CPU has done so many bytes on that many threads.
    pub fn done_on_cpu(&self, len: u64, threads: usize, took: Duration) {
        self.desk.done_on_cpu(len, threads, took);
    }

    /// Opens the GPUs in the background.
    fn open(&self) {
        let mut opener = self.opener.lock().unwrap_or_else(PoisonError::into_inner);
        let Opener::Waiting(open) = &mut *opener else { return };
        let Some(open) = open.take() else { return self.desk.opened() };
        let desk = Arc::clone(&self.desk);
        let opening = move || {
            let _opened = Opened(&desk);
            open(&desk);
        };
        match thread::Builder::new().name("bwz-gpu".into()).spawn(opening) {
            Ok(thread) => *opener = Opener::Running(thread),
            Err(e) => {
                self.desk.opened();
                self.desk.warn(&format!("cannot start a thread: {e}"));
            }
        }
    }
}

/// Lets those go on who wait for a GPU, even where opening it panics.
struct Opened<'a, S>(&'a Desk<S>);

impl<S> Drop for Opened<'_, S> {
    fn drop(&mut self) {
        self.0.opened();
    }
}

impl<S> Drop for Crew<S> {
    /// No thread outlives what it works for.
    fn drop(&mut self) {
        let opener = self.opener.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Opener::Running(thread) = std::mem::replace(opener, Opener::Waiting(None)) {
            let _ = thread.join();
        }
    }
}
