//! Who sorts which block: the CPU's threads, or the GPUs, whose sorters all workers share (`desk`).
//!
//! # The choice
//! With [`Device::Auto`] a block is sorted wherever that is expected to be done first, by the paces measured so far
//! (`pace`). The CPU needs what one of its threads needs for the block, or all of them for a block that is alone. A GPU
//! needs the time until it is open, that for the blocks before this one, and that for the block. Who waits for a GPU asks
//! again whenever something changes.
//!
//! So the CPU sorts small blocks from the first moment, while the GPU comes up, and again where a GPU is slow or has much
//! to do. Large blocks wait for the GPU from the first on, even while it comes up: one thread takes seconds for each, in
//! which a GPU sorts a hundred, and the file is written in order, so that a single one on the CPU would be waited for.
//! The threads have the coding to do meanwhile. Nothing is lost by it against the CPU alone or the GPU alone: each block
//! goes where the better of the two would be done with it.
//!
//! No driver is even loaded until the work has lasted, or is seen to last, longer than a GPU takes to come up. That costs
//! inputs of many short blocks, which nobody knows the number of, up to this half second against opening it at once.
//!
//! # Failure
//! A GPU sorter that fails, in the middle of a block or before, is dropped, and its block is sorted on the CPU; when none
//! is left, so are all others. The bytes are the same. One warning is given for all. Sorters take the memory of their GPU
//! when they are opened, for the largest block to come, so that none fails for want of it in the middle; where it does not
//! do for several at a time, there are fewer.
//!
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU; it is counted like that one,
//! which may have to take over.

mod desk;
#[cfg(feature = "cuda")]
mod open;
mod pace;
#[cfg(test)]
mod tests;

use crate::bwt::{Bwt, CpuSorter};
use crate::error::{Error, Result};
use crate::events::{Listener, Step, Timed};
use crate::options::{Device, Options};
use desk::{Choice, Desk, Sorted};
use rayon::ThreadPool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Opens GPUs and adds their sorters to a desk.
type Open = Box<dyn FnOnce(&Desk) + Send>;

/// All that sorts, shared by the workers.
pub(crate) struct Sorters {
    device: Device,
    workers: usize,
    cpu: CpuSorter,
    desk: Arc<Desk>,
    opener: Mutex<Opener>,
}

enum Opener {
    /// Before there was need; `None` where there is no GPU to open.
    Waiting(Option<Open>),
    Running(JoinHandle<()>),
}

impl Sorters {
    /// For up to `workers` blocks at a time, of up to `block_size` bytes with samples at `sample_rate`.
    ///
    /// # Errors
    /// [`Error::Device`] where this build has no sorter for the device that is asked for.
    pub fn new(
        workers: usize,
        block_size: u32,
        sample_rate: u32,
        options: &Options,
    ) -> Result<Self> {
        let device = options.chosen_device();
        let open = opener(device, workers, (block_size, sample_rate))?;
        Ok(Self::opening(open, device, workers, options.listener().clone()))
    }

    fn opening(open: Option<Open>, device: Device, workers: usize, listener: Listener) -> Self {
        let opener = Mutex::new(Opener::Waiting(open));
        Sorters {
            device,
            workers,
            cpu: CpuSorter::new(),
            desk: Arc::new(Desk::new(listener)),
            opener,
        }
    }

    /// Frees the memory that is kept for the next blocks on the CPU.
    pub fn free(&self) {
        self.cpu.free();
    }

    /// Sorts a block, on up to `threads` threads if on the CPU. That happens in `pool`; a GPU is waited for outside of it.
    pub fn sort(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &ThreadPool,
    ) -> Result<(Bwt, Vec<Timed>)> {
        if let Some(Sorted { bwt, steps }) = self.sort_on_gpu(block, sample_rate, threads)? {
            return Ok((bwt, steps));
        }
        pool.install(|| {
            let from = Instant::now();
            let bwt = self.cpu.sort_on(threads, block, sample_rate)?;
            if threads == 1 {
                self.desk.sorted_on_cpu(block.len() as u64, from.elapsed());
            }
            Ok((bwt, vec![(Step::Sort(Device::Cpu), from, Instant::now())]))
        })
    }

    /// `None` where the CPU is to sort it.
    fn sort_on_gpu(&self, block: &[u8], rate: u32, threads: usize) -> Result<Option<Sorted>> {
        let len = block.len() as u64;
        let choice = match self.device {
            Device::Cpu => return Ok(None),
            Device::Auto => Choice::First { threads },
            Device::Cuda(_) => Choice::Gpu,
        };
        if self.desk.must_open(len, choice, self.workers) {
            self.open();
        }
        let Some(mut loan) = self.desk.lend(len, choice) else { return Ok(None) };
        match loan.sort(block, rate) {
            Err(Error::Device(failure)) => {
                self.desk.warn(&failure);
                Ok(None)
            }
            done => {
                loan.give_back();
                done.map(Some)
            }
        }
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
struct Opened<'a>(&'a Desk);

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.opened();
    }
}

impl Drop for Sorters {
    /// No thread outlives what it works for.
    fn drop(&mut self) {
        let opener = self.opener.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Opener::Running(thread) = std::mem::replace(opener, Opener::Waiting(None)) {
            let _ = thread.join();
        }
    }
}

/// What opens the GPUs of a device, if it may have any, for blocks of the size and sample rate given.
#[cfg(feature = "cuda")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn opener(device: Device, workers: usize, largest: (u32, u32)) -> Result<Option<Open>> {
    let open: Open = Box::new(move |desk| open::open(desk, device, workers, largest));
    Ok((device != Device::Cpu).then_some(open))
}

/// Without the feature there are none, and asking for one fails.
#[cfg(not(feature = "cuda"))]
fn opener(device: Device, _workers: usize, _largest: (u32, u32)) -> Result<Option<Open>> {
    crate::bwt::Sorter::new(device).map(|_| None)
}
