//! Opens GPUs: all that the machine has, side by side, or the one that was asked for.

use super::desk::{Desk, Foreign, Sorted};
use crate::bwt::{self, Bwt};
use crate::error::Result;
use crate::events::Step;
use crate::gpu::{self, Algorithm};
use crate::options::Device;
use std::thread;
use std::time::Instant;

/// Blocks in flight on each GPU: one is sorted while another is copied in or out. More would only take memory and the
/// time to get it: the threads that code are slower than one GPU.
const PER_GPU: usize = 2;

/// Adds the sorters of a device to the desk, no more than there are `workers` to use them. They have memory for blocks of
/// the size and sample rate in `largest`.
pub fn open(desk: &Desk, device: Device, workers: usize, largest: (u32, u32)) {
    let numbers: Vec<u32> = match device {
        Device::Cuda(number) => vec![number],
        // Nothing to warn of: no GPU was asked for, and a machine without one is in order.
        _ => gpu::devices().unwrap_or_default().iter().map(|gpu| gpu.number).collect(),
    };
    let each = PER_GPU.min(workers.div_ceil(numbers.len().max(1)));
    thread::scope(|scope| {
        for number in numbers.into_iter().take(workers) {
            let open = move || open_one(desk, number, each, largest);
            if let Err(e) = thread::Builder::new().name("bwz-gpu".into()).spawn_scoped(scope, open)
            {
                desk.warn(&format!("cannot start a thread: {e}"));
            }
        }
    });
}

fn open_one(desk: &Desk, number: u32, count: usize, largest: (u32, u32)) {
    for n in 0..count {
        match sorter(number, largest) {
            Ok(sorter) => desk.add(sorter),
            Err(e) if n == 0 => return desk.warn(&e.to_string()),
            // What is open works; its GPU has no room for more.
            Err(_) => return,
        }
    }
}

fn sorter(number: u32, (block_size, sample_rate): (u32, u32)) -> Result<Foreign> {
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
