//! The way back: who restores which block.
//!
//! The CPU restores a block on all threads that are free. What a GPU cannot make a text of, the CPU
//! judges, so that a damaged block has the same error on every device.
//!
//! With `--memory`, each block on its way back is taken to need 6 bytes per byte: the transform and
//! the CPU's table take 5, and a GPU's inverse, while it works or stands by, 1 for the copy from
//! which the GPU reads and to which it writes.

use super::crew::{Crew, Open};
use super::open;
use super::pace::Work;
use crate::bwt::{Bwt, InverseBwt};
use crate::error::{Error, Result};
use crate::events::{Listener, Step, Timed};
use crate::options::{Device, Options};
use crate::threads::Threads;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Puts the text of a transform in the place of its bytes, on a GPU, and tells when. Where it
/// fails, the transform is as before.
pub type Foreign = Box<dyn FnMut(&mut Bwt) -> Result<Vec<Timed>> + Send>;

/// All that inverts, shared by the workers.
pub(crate) struct Inverses {
    crew: Crew<Foreign>,
    cpu: InverseBwt,
    /// Blocks that the CPU is at.
    on_cpu: AtomicUsize,
}

impl Inverses {
    /// For up to `workers` blocks at a time, of up to `block_size` bytes.
    ///
    /// # Errors
    /// [`Error::Device`] where this build has nothing for the device that is asked for.
    pub fn new(workers: usize, block_size: u32, options: &Options) -> Result<Self> {
        let device = options.chosen_device();
        let open = opener(device, workers, block_size)?;
        Ok(Self::opening(open, device, workers, options.listener().clone()))
    }

    pub(super) fn opening(
        open: Option<Open<Foreign>>,
        device: Device,
        workers: usize,
        listener: Listener,
    ) -> Self {
        let crew = Crew::new(open, device, workers, listener, Work::INVERTING);
        Inverses { crew, cpu: InverseBwt::new(), on_cpu: AtomicUsize::new(0) }
    }

    /// A block of `len` bytes will be restored when it has its turn.
    pub fn expect(&self, len: u32) {
        self.crew.expect(len.into());
    }

    /// Restores the block of a transform, as [`crate::bwt::invert`] does: in `pool` if on the CPU.
    /// A GPU is waited for outside of it.
    pub fn invert(&self, mut bwt: Bwt, pool: &Threads) -> Result<(Vec<u8>, Vec<Timed>)> {
        let others = self.on_cpu.load(Ordering::Relaxed);
        let threads = (pool.count() / (others + 1)).max(1);
        if let Some(steps) = self.invert_on_gpu(&mut bwt, threads) {
            return Ok((bwt.bytes, steps));
        }
        let (len, from) = (bwt.bytes.len() as u64, Instant::now());
        self.on_cpu.fetch_add(1, Ordering::Relaxed);
        let text = pool.install(|| self.cpu.invert(bwt));
        self.on_cpu.fetch_sub(1, Ordering::Relaxed);
        self.crew.done_on_cpu(len, threads, from.elapsed());
        Ok((text?, vec![(Step::Invert(Device::Cpu), from, Instant::now())]))
    }

    /// `None` where the CPU is to do it.
    fn invert_on_gpu(&self, bwt: &mut Bwt, threads: usize) -> Option<Vec<Timed>> {
        let mut loan = self.crew.lend(bwt.bytes.len() as u64, threads)?;
        let done = loan.sorter()(bwt);
        if let Err(Error::Device(failure)) = &done {
            self.crew.warn(failure);
        } else {
            loan.give_back();
        }
        done.ok()
    }
}

/// What opens the GPUs of a device, if it may have any, for blocks of up to the given size.
fn opener(device: Device, workers: usize, block_size: u32) -> Result<Option<Open<Foreign>>> {
    open::opener(device, workers, move |number| open::inverse(number, block_size))
}
