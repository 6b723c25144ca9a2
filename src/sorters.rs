//! Who sorts: a worker for each block that is sorted at a time, some on GPUs and the rest on the CPU.
//!
//! With [`Device::Auto`], the GPUs of the machine get two workers each, so that one copies while another sorts, and
//! the CPU the others. Blocks go to whoever is free, so the CPU sorts from the first moment on, while a GPU takes
//! its quarter of a second to come up: a worker opens it with its first block. Blocks that are small stay on
//! the CPU, and no driver is loaded for them.
//!
//! Where a GPU is missing or fails, in the middle of a block or before, its worker sorts that block and all after it on
//! the CPU, which gives the same bytes. One warning is given for all workers together.

use crate::bwt::{Bwt, Sorter};
use crate::error::{Error, Result};
use crate::options::{Device, Options, Warn};
use rayon::ThreadPool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks in flight on each GPU: one is sorted while another is copied in or out.
#[cfg(feature = "cuda")]
const PER_GPU: usize = 2;

/// Bytes of the smallest block that is worth a GPU if any device will do.
#[cfg(feature = "cuda")]
const WORTH_A_GPU: u32 = 4 << 20;

/// Sorts blocks on another device than the CPU.
type Foreign = Box<dyn FnMut(&[u8], u32) -> Result<Bwt> + Send>;

/// The workers for blocks of up to `block_size` bytes, at most `most`.
///
/// # Errors
/// [`Error::Device`] where this build has no sorter for the device that is asked for.
pub(crate) fn workers(most: usize, block_size: u32, options: &Options) -> Result<Vec<Worker>> {
    let alarm = Alarm { told: Arc::default(), warn: options.warn().clone() };
    let foreign = match options.chosen_device() {
        Device::Cpu => Vec::new(),
        Device::Auto => automatic(block_size),
        device @ Device::Cuda(_) => chosen(device, most)?,
    };
    let alone = matches!(options.chosen_device(), Device::Cuda(_));
    let mut workers: Vec<Worker> = foreign
        .into_iter()
        .take(most)
        .map(|foreign| Worker { foreign: Some(foreign), alarm: alarm.clone() })
        .collect();
    while workers.is_empty() || (!alone && workers.len() < most) {
        workers.push(Worker { foreign: None, alarm: alarm.clone() });
    }
    Ok(workers)
}

#[cfg(feature = "cuda")]
fn automatic(block_size: u32) -> Vec<Foreign> {
    if block_size < WORTH_A_GPU {
        return Vec::new();
    }
    // Nothing to warn of: no GPU was asked for, and a machine without one is in order.
    let gpus = crate::gpu::devices().unwrap_or_default();
    let twice = gpus.iter().flat_map(|gpu| [gpu.number; PER_GPU]);
    twice.map(|number| opened_late(Device::Cuda(number))).collect()
}

#[cfg(not(feature = "cuda"))]
fn automatic(_block_size: u32) -> Vec<Foreign> {
    Vec::new()
}

#[cfg(feature = "cuda")]
fn chosen(device: Device, most: usize) -> Result<Vec<Foreign>> {
    Ok((0..PER_GPU.min(most)).map(|_| opened_late(device)).collect())
}

/// Without the feature this fails, and says why.
#[cfg(not(feature = "cuda"))]
fn chosen(device: Device, _most: usize) -> Result<Vec<Foreign>> {
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

/// Gives one warning, whoever calls first.
#[derive(Clone)]
struct Alarm {
    told: Arc<AtomicBool>,
    warn: Warn,
}

impl Alarm {
    fn ring(&self, failure: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            self.warn.tell(&format!("{failure}; sorting on the CPU"));
        }
    }
}

/// Sorts one block at a time.
pub(crate) struct Worker {
    foreign: Option<Foreign>,
    alarm: Alarm,
}

impl Worker {
    /// Sorts a block. Computing on the CPU happens in `pool`; a GPU is waited for outside of it.
    pub fn sort(&mut self, block: &[u8], sample_rate: u32, pool: &ThreadPool) -> Result<Bwt> {
        match self.foreign.as_mut().map(|sort| sort(block, sample_rate)) {
            None => {}
            Some(Err(Error::Device(failure))) => {
                self.alarm.ring(&failure);
                self.foreign = None;
            }
            Some(done) => return done,
        }
        pool.install(|| Sorter::Cpu.sort(block, sample_rate))
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

    /// A sorter that works so often, and then fails for good.
    fn breaking_after(mut blocks: u32) -> Foreign {
        Box::new(move |block, sample_rate| {
            blocks = blocks.checked_sub(1).ok_or(Error::Device("the GPU is on fire".into()))?;
            Sorter::Cpu.sort(block, sample_rate)
        })
    }

    #[test]
    fn a_failing_device_costs_no_block_and_one_warning() {
        let (options, heard) = listening();
        let alarm = Alarm { told: Arc::default(), warn: options.warn().clone() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let expected = Sorter::Cpu.sort(b"banana", 2).unwrap();
        for blocks in [0, 1, 3] {
            let foreign = Some(breaking_after(blocks));
            let mut worker = Worker { foreign, alarm: alarm.clone() };
            for _ in 0..5 {
                assert_eq!(worker.sort(b"banana", 2, &pool).unwrap(), expected);
            }
            assert!(worker.foreign.is_none());
        }
        assert_eq!(*heard.lock().unwrap(), ["the GPU is on fire; sorting on the CPU"]);
    }

    #[test]
    fn other_errors_are_no_reason_to_try_again() {
        let (options, heard) = listening();
        let alarm = Alarm { told: Arc::default(), warn: options.warn().clone() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let foreign: Foreign = Box::new(|_, _| Err(Error::out_of_memory("none left")));
        let mut worker = Worker { foreign: Some(foreign), alarm };
        assert!(matches!(worker.sort(b"banana", 2, &pool), Err(Error::Io(_))));
        assert!(heard.lock().unwrap().is_empty());
    }

    #[test]
    fn small_blocks_and_the_cpu_need_no_driver() {
        let small = workers(3, 1 << 20, &Options::new()).unwrap();
        let cpu = workers(3, 1 << 30, &Options::new().device(Device::Cpu)).unwrap();
        for workers in [small, cpu] {
            assert_eq!(workers.len(), 3);
            assert!(workers.iter().all(|worker| worker.foreign.is_none()));
        }
    }
}
