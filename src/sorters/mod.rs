//! Who sorts which block, and who restores it (`inverses`): the CPU's threads, or the GPUs
//! (`crew`), whose sorters and inverses all workers share (`desk`). What is said of sorting here
//! holds for both.
//!
//! # The choice
//! With [`Device::Auto`] a block is sorted wherever that is expected to be done first, by the paces
//! measured so far (`pace`). The CPU needs what one of its threads needs for the block, or all of
//! them for a block that is alone. A GPU needs the time until it is open, that for the blocks
//! before this one, and that for the block. Who waits for a GPU asks again whenever something
//! changes. The threads have other work too: what must be done before blocks that have come are
//! even here, such as decoding. A block that the CPU took first would delay all of that, so it
//! counts on the CPU's side.
//!
//! So the CPU sorts small blocks from the first moment, while the GPU comes up, and again where a
//! GPU is slow or has much to do. Large blocks wait for the GPU from the first on, even while it
//! comes up: one thread takes seconds for each, in which a GPU sorts a hundred, and the file is
//! written in order, so that a single one on the CPU would be waited for. The threads have the
//! coding to do meanwhile. Nothing is lost by it against the CPU alone or the GPU alone: each block
//! goes where the better of the two would be done with it.
//!
//! No driver is even loaded until so many blocks have come that the work is seen to last longer
//! than a GPU takes to come up. They come ahead of their turn, so that the GPU is up, or coming up,
//! when the first is to be sorted.
//!
//! # Failure
//! A GPU sorter that fails, in the middle of a block or before, is dropped, and its block is sorted
//! on the CPU; when none is left, so are all others. The bytes are the same. One warning is given
//! for all. Sorters take the memory of their GPU when they are opened, for the largest block to
//! come, so that none fails for want of it in the middle; where it does not do for several at a
//! time, there are fewer. A transform whose bytes are not those of the block counts as a failure
//! too.
//!
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU; it is
//! counted like that one, which may have to take over.

mod crew;
mod desk;
mod inverses;
mod open;
mod pace;
#[cfg(test)]
mod tests;

use crate::bwt::{Bwt, CpuSorter, could_be_of};
use crate::error::{Error, Result};
use crate::events::{Listener, Step, Timed};
use crate::options::{Device, Options};
use crate::threads::Threads;
use crew::{Crew, Open};
pub(crate) use inverses::Inverses;
use pace::Work;
use std::time::Instant;

/// Sorts blocks on a GPU, with the given sample rate.
type Foreign = Box<dyn FnMut(&[u8], u32) -> Result<Sorted> + Send>;

/// A sorted block, and when what was done to it.
struct Sorted {
    bwt: Bwt,
    steps: Vec<Timed>,
}

/// All that sorts, shared by the workers.
pub(crate) struct Sorters {
    crew: Crew<Foreign>,
    cpu: CpuSorter,
}

impl Sorters {
    /// For up to `workers` blocks at a time, of up to `block_size` bytes with samples at
    /// `sample_rate`.
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

    fn opening(
        open: Option<Open<Foreign>>,
        device: Device,
        workers: usize,
        listener: Listener,
    ) -> Self {
        let crew = Crew::new(open, device, workers, listener, Work::SORTING);
        Sorters { crew, cpu: CpuSorter::new() }
    }

    /// A block of `len` bytes will be sorted when it has its turn.
    pub fn expect(&self, len: usize) {
        self.crew.expect(len as u64);
    }

    /// Frees the memory that is kept for the next blocks on the CPU.
    pub fn free(&self) {
        self.cpu.free();
    }

    /// Sorts a block, on up to `threads` threads if on the CPU. That happens in `pool`; a GPU is
    /// waited for outside of it.
    pub fn sort(
        &self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<(Bwt, Vec<Timed>)> {
        if let Some(Sorted { bwt, steps }) = self.sort_on_gpu(block, sample_rate, threads, pool)? {
            return Ok((bwt, steps));
        }
        pool.install(|| {
            let from = Instant::now();
            let bwt = self.cpu.sort_on(threads, block, sample_rate)?;
            if threads == 1 {
                self.crew.done_on_cpu(block.len() as u64, threads, from.elapsed());
            }
            Ok((bwt, vec![(Step::Sort(Device::Cpu), from, Instant::now())]))
        })
    }

    /// `None` where the CPU is to sort it.
    fn sort_on_gpu(
        &self,
        block: &[u8],
        rate: u32,
        threads: usize,
        pool: &Threads,
    ) -> Result<Option<Sorted>> {
        let Some(mut loan) = self.crew.lend(block.len() as u64, threads) else { return Ok(None) };
        match loan.sorter()(block, rate) {
            Err(Error::Device(failure)) => {
                self.crew.warn(&failure);
                Ok(None)
            }
            Ok(Sorted { bwt, .. }) if !pool.install(|| could_be_of(&bwt, block)) => {
                self.crew.warn("a GPU gave a transform that is not the block's");
                Ok(None)
            }
            done => {
                loan.give_back();
                done.map(Some)
            }
        }
    }
}

/// What opens the GPUs of a device, if it may have any, for blocks of the size and sample rate
/// given.
fn opener(device: Device, workers: usize, largest: (u32, u32)) -> Result<Option<Open<Foreign>>> {
    open::opener(device, workers, move |number| open::sorter(number, largest))
}
