//! Who sorts: workers, one for each block in hand, and the GPU sorters that they share.
//!
//! A worker takes a free GPU sorter for its block, or waits for one; where there are none, it sorts on the CPU. Each GPU
//! has two sorters, so that one copies while the other sorts. A sorter opens its GPU with its first block.
//!
//! With [`Device::Auto`], all GPUs of the machine are used, but not for small blocks, for which no driver is even loaded.
//! The CPU does not sort beside a GPU: one thread is slower by 30 to 100 times, so that a block it took would be waited
//! for at the end, and its cores have coding to do.
//!
//! A GPU sorter that fails, in the middle of a block or before, is dropped, and its block is sorted on the CPU; when none
//! is left, so are all others. The bytes are the same. One warning is given for all.

use crate::bwt::{Bwt, Sorter};
use crate::error::{Error, Result};
use crate::options::{Device, Options, Warn};
use crossbeam_channel::{Receiver, Sender, unbounded};
use rayon::ThreadPool;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Blocks in flight on each GPU: one is sorted while another is copied in or out.
#[cfg(feature = "cuda")]
const PER_GPU: usize = 2;

/// Bytes of the smallest block that is worth a GPU if any device will do.
#[cfg(feature = "cuda")]
const WORTH_A_GPU: u32 = 4 << 20;

/// Sorts blocks on another device than the CPU.
type Foreign = Box<dyn FnMut(&[u8], u32) -> Result<Bwt> + Send>;

/// Workers for blocks of up to `block_size` bytes.
///
/// # Errors
/// [`Error::Device`] where this build has no sorter for the device that is asked for.
pub(crate) fn workers(count: usize, block_size: u32, options: &Options) -> Result<Vec<Worker>> {
    let foreign = match options.chosen_device() {
        Device::Cpu => Vec::new(),
        Device::Auto => automatic(block_size),
        device @ Device::Cuda(_) => chosen(device)?,
    };
    Ok(sharing(count, foreign, options.warn()))
}

fn sharing(count: usize, foreign: Vec<Foreign>, warn: &Warn) -> Vec<Worker> {
    let shared = Arc::new(Shared::new(foreign, warn.clone()));
    (0..count).map(|_| Worker { shared: Arc::clone(&shared) }).collect()
}

#[cfg(feature = "cuda")]
fn automatic(block_size: u32) -> Vec<Foreign> {
    if block_size < WORTH_A_GPU {
        return Vec::new();
    }
    // Nothing to warn of: no GPU was asked for, and a machine without one is in order.
    let gpus = crate::gpu::devices().unwrap_or_default();
    let twice = [0; PER_GPU].iter().flat_map(|_| &gpus);
    twice.map(|gpu| opened_late(Device::Cuda(gpu.number))).collect()
}

#[cfg(not(feature = "cuda"))]
fn automatic(_block_size: u32) -> Vec<Foreign> {
    Vec::new()
}

#[cfg(feature = "cuda")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn chosen(device: Device) -> Result<Vec<Foreign>> {
    Ok((0..PER_GPU).map(|_| opened_late(device)).collect())
}

/// Without the feature this fails, and says why.
#[cfg(not(feature = "cuda"))]
fn chosen(device: Device) -> Result<Vec<Foreign>> {
    Sorter::new(device).map(|_| Vec::new())
}

/// A sorter that comes up with its first block.
#[cfg(feature = "cuda")]
fn opened_late(device: Device) -> Foreign {
    let mut opened = None;
    Box::new(move |block, sample_rate| {
        let sorter = match &mut opened {
            Some(sorter) => sorter,
            none => none.insert(Sorter::new(device)?),
        };
        sorter.sort(block, sample_rate)
    })
}

/// The GPU sorters that are free. Whoever takes one gives it back, or says that it is lost.
struct Shared {
    /// `None` stays in the channel once all are lost, so that nobody waits for them.
    free: (Sender<Option<Foreign>>, Receiver<Option<Foreign>>),
    left: AtomicUsize,
    told: AtomicUsize,
    warn: Warn,
}

impl Shared {
    fn new(foreign: Vec<Foreign>, warn: Warn) -> Self {
        let shared = Shared {
            free: unbounded(),
            left: AtomicUsize::new(foreign.len()),
            told: AtomicUsize::new(0),
            warn,
        };
        if foreign.is_empty() {
            shared.give(None);
        }
        foreign.into_iter().for_each(|sorter| shared.give(Some(sorter)));
        shared
    }

    fn give(&self, sorter: Option<Foreign>) {
        let _ = self.free.0.send(sorter);
    }

    /// Waits for a sorter; `None` where all are lost.
    fn take(&self) -> Option<Foreign> {
        let taken = self.free.1.recv().ok().flatten();
        if taken.is_none() {
            self.give(None);
        }
        taken
    }

    /// Notes that a sorter was not given back because it failed, with the one warning.
    fn lose(&self, failure: &str) {
        if self.told.fetch_add(1, Ordering::Relaxed) == 0 {
            self.warn.tell(&format!("{failure}; sorting on the CPU"));
        }
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.give(None);
        }
    }
}

/// Lets the others go on where a sorter panics: it never comes back, and they might wait for it.
struct Unblock<'a>(&'a Shared);

impl Drop for Unblock<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.give(None);
        }
    }
}

/// Sorts one block at a time.
pub(crate) struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    /// Sorts a block. Computing on the CPU happens in `pool`; a GPU is waited for outside of it.
    pub fn sort(
        &mut self,
        block: &[u8],
        sample_rate: u32,
        threads: usize,
        pool: &ThreadPool,
    ) -> Result<Bwt> {
        if let Some(mut foreign) = self.shared.take() {
            let _unblock = Unblock(&self.shared);
            match foreign(block, sample_rate) {
                Err(Error::Device(failure)) => self.shared.lose(&failure),
                done => {
                    self.shared.give(Some(foreign));
                    return done;
                }
            }
        }
        pool.install(|| Sorter::Cpu.sort_on(threads, block, sample_rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn listening() -> (Options, Arc<Mutex<Vec<String>>>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let options = Options::new().on_warning(move |what| {
            listener.lock().unwrap().push(what.to_owned());
        });
        (options, heard)
    }

    fn pool() -> ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
    }

    /// A sorter that works so often, and then fails for good.
    fn breaking_after(mut blocks: u32) -> Foreign {
        Box::new(move |block, sample_rate| {
            blocks = blocks.checked_sub(1).ok_or(Error::Device("the GPU is on fire".into()))?;
            Sorter::Cpu.sort(block, sample_rate)
        })
    }

    #[test]
    fn failing_devices_cost_no_block_and_one_warning() {
        let (options, heard) = listening();
        let expected = Sorter::Cpu.sort(b"banana", 2).unwrap();
        let foreign = [0, 1, 3].map(breaking_after).into();
        let (workers, pool) = (sharing(4, foreign, options.warn()), pool());
        thread::scope(|scope| {
            for mut worker in workers {
                let (expected, pool) = (&expected, &pool);
                scope.spawn(move || {
                    for _ in 0..5 {
                        assert_eq!(worker.sort(b"banana", 2, 1, pool).unwrap(), *expected);
                    }
                });
            }
        });
        assert_eq!(*heard.lock().unwrap(), ["the GPU is on fire; sorting on the CPU"]);
    }

    #[test]
    fn other_errors_are_no_reason_to_try_again() {
        let (options, heard) = listening();
        let foreign: Foreign = Box::new(|_, _| Err(Error::out_of_memory("none left")));
        let mut workers = sharing(1, vec![foreign], options.warn());
        for _ in 0..2 {
            assert!(matches!(workers[0].sort(b"banana", 2, 1, &pool()), Err(Error::Io(_))));
        }
        assert!(heard.lock().unwrap().is_empty());
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let (options, _) = listening();
        let foreign: Foreign = Box::new(|_, _| panic!("on purpose"));
        let mut workers = sharing(2, vec![foreign], options.warn());
        let (mut last, mut first) = (workers.pop().unwrap(), workers.pop().unwrap());
        let ended = thread::spawn(move || first.sort(b"banana", 2, 1, &pool()).is_ok()).join();
        assert!(ended.is_err());
        assert!(last.sort(b"banana", 2, 1, &pool()).is_ok());
    }

    #[test]
    fn small_blocks_and_the_cpu_need_no_driver() {
        let small = workers(3, 1 << 20, &Options::new()).unwrap();
        let cpu = workers(3, 1 << 30, &Options::new().device(Device::Cpu)).unwrap();
        for workers in [small, cpu] {
            assert_eq!(workers.len(), 3);
            assert!(workers.iter().all(|worker| worker.shared.take().is_none()));
        }
    }
}
