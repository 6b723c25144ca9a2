//! The device that searches decoded blocks: the CPU, or a GPU where one was asked for or pays.
//!
//! With [`Device::Auto`] no driver is even loaded until the CPU has searched, or is about to
//! search, for longer than a GPU takes to come up. A GPU that is missing or fails costs one warning
//! and time: the CPU searches that block again, and all others. What a GPU found is not checked.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::events::Listener;
use crate::fm_index::FmIndex;
use crate::gpu;
use crate::options::Options;
use std::ops::Range;

/// Symbols that a thread of the CPU searches in half a second.
const WORTH_A_GPU: u64 = 10_000_000;

/// Searches in memory, on the device of the options.
pub struct SearchDevice {
    gpu: Option<gpu::Searcher>,
    device: Device,
    listener: Listener,
    /// Symbols that are left to the CPU; none if a GPU was opened, or could not be.
    patience: Option<u64>,
}

impl SearchDevice {
    pub fn new(options: &Options) -> Self {
        let device = options.chosen_device();
        let patience = match device {
            Device::Auto => Some(WORTH_A_GPU * options.thread_count() as u64),
            Device::Cpu => None,
            Device::Cuda(_) => Some(0),
        };
        SearchDevice { gpu: None, device, listener: options.listener().clone(), patience }
    }

    /// One for a thread of many.
    pub fn cpu() -> Self {
        let listener = Listener::default();
        SearchDevice { gpu: None, device: Device::Cpu, listener, patience: None }
    }

    /// Whether a GPU searches the symbols, so many, that are searched next. It comes up with this.
    ///
    /// # Errors
    /// [`Error::Device`] where a GPU is asked for that this build cannot have.
    pub fn is_gpu_for(&mut self, symbols: u64) -> Result<bool> {
        if let Some(patience) = self.patience
            && symbols > 0
        {
            self.patience = patience.checked_sub(symbols);
            if self.patience.is_none() {
                self.open()?;
            }
        }
        Ok(self.gpu.is_some())
    }

    fn open(&mut self) -> Result<()> {
        let (number, asked) = match self.device {
            Device::Cuda(number) => (number, true),
            // Nothing to warn of where there is none: a machine without one is in order.
            _ => (0, false),
        };
        match gpu::Searcher::new(number) {
            Ok(gpu) => self.gpu = Some(gpu),
            Err(e) if asked && !gpu::is_built() => return Err(e),
            Err(e) if asked => self.warn(&e),
            Err(_) => {}
        }
        Ok(())
    }

    /// As [`FmIndex::search`].
    pub fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        index: &FmIndex,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) {
        if self.on_gpu(|gpu| index.search_on(gpu, patterns, intervals)).is_none() {
            index.search(patterns, intervals);
        }
    }

    /// As [`FmIndex::positions`].
    pub fn positions(&mut self, index: &FmIndex, rows: &[u32]) -> Result<Vec<u32>> {
        let found = self.on_gpu(|gpu| index.positions_on(gpu, rows));
        found.map_or_else(|| index.positions(rows), Ok)
    }

    /// Does `work` on the GPU. `None` where the CPU has to do this: where there is no GPU; where it
    /// fails, and then the CPU does all that follows too; and where it finds the index in
    /// contradiction with itself, which the CPU judges.
    fn on_gpu<T>(&mut self, work: impl FnOnce(&mut gpu::Searcher) -> Result<T>) -> Option<T> {
        let done = work(self.gpu.as_mut()?);
        if let Err(failure @ Error::Device(_)) = &done {
            self.warn(failure);
            self.gpu = None;
        }
        done.ok()
    }

    fn warn(&self, failure: &Error) {
        self.listener.warn(format!("{failure}; searching on the CPU"));
    }
}
