//! Who searches decoded blocks: the CPU, or a GPU where one was asked for or pays.
//!
//! With [`Device::Auto`] no driver is even loaded until the CPU has searched, or is about to
//! search, for longer than a GPU takes to come up. A GPU that is missing or fails costs one warning
//! and time: the CPU searches that batch again, and all others. What is found is the same.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::events::Listener;
use crate::fm_index::{FmIndex, Searcher};
use crate::gpu;
use crate::options::Options;
use std::ops::Range;

/// What a thread of the CPU searches in half a second, in symbols.
const WORTH_A_GPU: u64 = 10_000_000;

/// Searches in memory, on the device of the options.
pub struct Finder {
    searcher: Searcher,
    device: Device,
    listener: Listener,
    /// Symbols that are left to the CPU; none if a GPU was opened, or could not be.
    patience: Option<u64>,
}

impl Finder {
    pub fn new(options: &Options) -> Self {
        let patience = match options.chosen_device() {
            Device::Auto => Some(WORTH_A_GPU * options.thread_count() as u64),
            Device::Cpu => None,
            Device::Cuda(_) => Some(0),
        };
        let (device, listener) = (options.chosen_device(), options.listener().clone());
        Finder { searcher: Searcher::Cpu, device, listener, patience }
    }

    /// One for a thread of many.
    pub fn cpu() -> Self {
        let listener = Listener::default();
        Finder { searcher: Searcher::Cpu, device: Device::Cpu, listener, patience: None }
    }

    /// Says that so many symbols are about to be searched, and whether a GPU does that. It comes up
    /// with this.
    ///
    /// # Errors
    /// [`Error::Device`] where a GPU is asked for that this build cannot have.
    pub fn takes(&mut self, symbols: u64) -> Result<bool> {
        if let Some(patience) = self.patience
            && symbols > 0
        {
            self.patience = patience.checked_sub(symbols);
            if self.patience.is_none() {
                self.open()?;
            }
        }
        Ok(!matches!(self.searcher, Searcher::Cpu))
    }

    fn open(&mut self) -> Result<()> {
        let (device, asked) = match self.device {
            // Nothing to warn of where there is none: a machine without one is in order.
            Device::Auto => (Device::Cuda(0), false),
            device => (device, true),
        };
        match Searcher::new(device) {
            Ok(searcher) => self.searcher = searcher,
            Err(e) if asked && !gpu::is_built() => return Err(e),
            Err(e) if asked => self.warn(&e),
            Err(_) => {}
        }
        Ok(())
    }

    /// As [`Searcher::search`].
    pub fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &FmIndex,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        self.attempt(|searcher| searcher.search(index, patterns, intervals))
    }

    /// As [`Searcher::positions`].
    pub fn positions(&mut self, index: &FmIndex, rows: &[u32]) -> Result<Vec<u32>> {
        self.attempt(|searcher| searcher.positions(index, rows))
    }

    /// Does `work`, and where a GPU fails does it again on the CPU, as all that follows.
    fn attempt<T>(&mut self, mut work: impl FnMut(&mut Searcher) -> Result<T>) -> Result<T> {
        match work(&mut self.searcher) {
            Err(failure @ Error::Device(_)) => {
                self.warn(&failure);
                self.searcher = Searcher::Cpu;
                work(&mut self.searcher)
            }
            done => done,
        }
    }

    fn warn(&self, failure: &Error) {
        self.listener.warn(format!("{failure}; searching on the CPU"));
    }
}
