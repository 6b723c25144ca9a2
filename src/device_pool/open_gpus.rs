//! Opens GPUs: all that the machine has, side by side, or the one that was asked for.

use super::lease_queue::LeaseQueue;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu;
use std::thread;

/// Leases of each GPU: one block is worked on while another is copied in or out. More would only
/// take memory and the time to get it: the threads that code are slower than one GPU.
const PER_GPU: usize = 2;

const NO_CUDA: &str = "this build of bwz has no CUDA: \
    build it with the feature cuda, or let the device be auto or cpu";

/// Opens GPUs and adds what they are opened as to a queue.
pub(crate) type OpenGpus<G> = Box<dyn FnOnce(&LeaseQueue<G>) + Send>;

/// The GPUs that a pool may open.
pub(crate) struct Opener<G> {
    /// A GPU was asked for, so that the CPU takes part only where none works.
    pub gpu_only: bool,
    /// `None` where there is none to open.
    pub open: Option<OpenGpus<G>>,
}

impl<G: Send + 'static> Opener<G> {
    /// Opens the GPUs of `device` by `make`, given their numbers; no more of them than there are
    /// `workers` to use them.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where a GPU is asked for that this build has no CUDA
    /// for.
    pub fn new(
        device: Device,
        workers: usize,
        make: impl Fn(u32) -> Result<G> + Send + Sync + 'static,
    ) -> Result<Self> {
        let gpu_only = matches!(device, Device::Cuda(_));
        if gpu_only && !gpu::is_built() {
            return Err(Error::Device(NO_CUDA.into()));
        }
        if !gpu::is_built() || device == Device::Cpu {
            return Ok(Opener { gpu_only, open: None });
        }
        let open: OpenGpus<G> = Box::new(move |queue| open(queue, device, workers, &make));
        Ok(Opener { gpu_only, open: Some(open) })
    }
}

fn open<G: Send>(
    queue: &LeaseQueue<G>,
    device: Device,
    workers: usize,
    make: &(impl Fn(u32) -> Result<G> + Sync),
) {
    let numbers: Vec<u32> = match device {
        Device::Cuda(number) => vec![number],
        // Nothing to warn of: no GPU was asked for, and a machine without one is in order.
        _ => gpu::devices().unwrap_or_default().iter().map(|gpu| gpu.number).collect(),
    };
    let each = PER_GPU.min(workers.div_ceil(numbers.len().max(1)));
    thread::scope(|scope| {
        for number in numbers.into_iter().take(workers) {
            let open = move || open_one(queue, each, || make(number));
            if let Err(e) = thread::Builder::new().name("bwz-gpu".into()).spawn_scoped(scope, open)
            {
                queue.warn(&format!("cannot start a thread: {e}"));
            }
        }
    });
}

fn open_one<G>(queue: &LeaseQueue<G>, count: usize, make: impl Fn() -> Result<G>) {
    for n in 0..count {
        match make() {
            Ok(gpu) => queue.add(gpu),
            Err(e) if n == 0 => return queue.warn(&e.to_string()),
            // What is open works; its GPU has no room for more.
            Err(_) => return,
        }
    }
}
