//! Opens GPUs: all that the machine has, side by side, or the one that was asked for.

use super::crew::Open;
use super::desk::Desk;
use super::{Foreign, Sorted, inverses};
use crate::bwt::{self, Bwt};
use crate::error::Result;
use crate::events::Step;
use crate::gpu::{self, Algorithm};
use crate::options::{DEFAULT_SAMPLE_RATE, Device};
use std::thread;
use std::time::Instant;

/// Blocks in flight on each GPU: one is worked on while another is copied in or out. More would
/// only take memory and the time to get it: the threads that code are slower than one GPU.
const PER_GPU: usize = 2;

/// What opens the GPUs of a device, if it may have any: it adds to a desk what `make` makes of
/// their numbers, no more than there are `workers` to use it.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) where a GPU is asked for that this build has no CUDA
/// for.
pub fn opener<S: Send + 'static>(
    device: Device,
    workers: usize,
    make: impl Fn(u32) -> Result<S> + Send + Sync + 'static,
) -> Result<Option<Open<S>>> {
    if !gpu::is_built() {
        return bwt::Sorter::new(device).map(|_| None);
    }
    let open: Open<S> = Box::new(move |desk| open(desk, device, workers, &make));
    Ok((device != Device::Cpu).then_some(open))
}

fn open<S: Send>(
    desk: &Desk<S>,
    device: Device,
    workers: usize,
    make: &(impl Fn(u32) -> Result<S> + Sync),
) {
    let numbers: Vec<u32> = match device {
        Device::Cuda(number) => vec![number],
        // Nothing to warn of: no GPU was asked for, and a machine without one is in order.
        _ => gpu::devices().unwrap_or_default().iter().map(|gpu| gpu.number).collect(),
    };
    let each = PER_GPU.min(workers.div_ceil(numbers.len().max(1)));
    thread::scope(|scope| {
        for number in numbers.into_iter().take(workers) {
            let open = move || open_one(desk, each, || make(number));
            if let Err(e) = thread::Builder::new().name("bwz-gpu".into()).spawn_scoped(scope, open)
            {
                desk.warn(&format!("cannot start a thread: {e}"));
            }
        }
    });
}

fn open_one<S>(desk: &Desk<S>, count: usize, make: impl Fn() -> Result<S>) {
    for n in 0..count {
        match make() {
            Ok(sorter) => desk.add(sorter),
            Err(e) if n == 0 => return desk.warn(&e.to_string()),
            // What is open works; its GPU has no room for more.
            Err(_) => return,
        }
    }
}

/// A sorter on a GPU, with memory for blocks of the size and sample rate given.
pub fn sorter(number: u32, (block_size, sample_rate): (u32, u32)) -> Result<Foreign> {
    let mut sorter = gpu::Sorter::new(number, Algorithm::Default)?;
    sorter.reserve(block_size, sample_rate)?;
    Ok(Box::new(move |block, sample_rate| {
        let began = Instant::now();
        sorter.input(block.len())?.copy_from_slice(block);
        let sorted = sorter.sort_input(sample_rate)?;
        let mut bytes = bwt::zeroed(block.len())?;
        bytes.copy_from_slice(sorted.bytes);
        let samples = sorted.samples.to_vec();
        let ended = Instant::now();
        let [_, from, to, _] = sorter.report().times.unwrap_or([began, began, ended, ended]);
        let steps = vec![
            (Step::CopyIn, began, from),
            (Step::Sort(Device::Cuda(number)), from, to),
            (Step::CopyOut, to, ended),
        ];
        Ok(Sorted { bwt: Bwt { bytes, sample_rate, samples }, steps })
    }))
}

/// An inverse on a GPU, with memory for blocks of the given size and for the samples of a usual
/// index.
pub fn inverse(number: u32, block_size: u32) -> Result<inverses::Foreign> {
    let mut inverse = gpu::InverseBwt::new(number)?;
    inverse.reserve(block_size, block_size.div_ceil(DEFAULT_SAMPLE_RATE))?;
    Ok(Box::new(move |bwt| {
        let began = Instant::now();
        inverse.input(bwt.bytes.len())?.copy_from_slice(&bwt.bytes);
        let from = Instant::now();
        let text = inverse.invert_input(bwt.sample_rate, &bwt.samples)?;
        let to = Instant::now();
        bwt.bytes.copy_from_slice(text);
        Ok(vec![
            (Step::CopyIn, began, from),
            (Step::Invert(Device::Cuda(number)), from, to),
            (Step::CopyOut, to, Instant::now()),
        ])
    }))
}
