//! Faults of a GPU's memory, made on purpose: one bit of one arena is flipped after one launch or
//! copy. For tests of what the checks of a GPU's result find.
//!
//! Streams and arenas are those of the calling thread.

use super::gpu_stream::Gpu;
use cudarc::driver::result;
use std::cell::RefCell;

/// A bit that will be flipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Number of launches and copies before it.
    pub after: u32,
    /// Number of a bit of all arenas, which is reduced modulo their size.
    pub bit: u64,
}

#[derive(Default)]
struct Faults {
    /// Address and size of each arena.
    arenas: Vec<(u64, usize)>,
    steps: u32,
    fault: Option<Fault>,
    /// The launch or copy after which the bit was flipped.
    hit: Option<&'static str>,
}

thread_local!(static FAULTS: RefCell<Faults> = RefCell::default());

/// Begins to count launches and copies. `fault` will happen, if there is one.
pub(crate) fn begin(fault: Option<Fault>) {
    FAULTS.with_borrow_mut(|faults| {
        faults.steps = 0;
        faults.fault = fault;
        faults.hit = None;
    });
}

/// Ends the counting. Gives the number of launches and copies, and the one after which the fault
/// happened.
pub(crate) fn end() -> (u32, Option<&'static str>) {
    FAULTS.with_borrow_mut(|faults| {
        faults.fault = None;
        (faults.steps, faults.hit)
    })
}

pub(super) fn add_arena(address: u64, size: usize) {
    FAULTS.with_borrow_mut(|faults| faults.arenas.push((address, size)));
}

pub(super) fn remove_arena(address: u64) {
    // The thread may be ending.
    let _ = FAULTS.try_with(|faults| {
        faults
            .borrow_mut()
            .arenas
            .retain(|&(other, _)| other != address);
    });
}

/// Counts a launch or copy that was queued on `gpu`.
pub(super) fn queued(gpu: &Gpu, what: &'static str) {
    let place = FAULTS.with_borrow_mut(|faults| {
        faults.steps += 1;
        let fault = faults
            .fault
            .take_if(|fault| fault.after + 1 == faults.steps)?;
        faults.hit = Some(what);
        let total: usize = faults.arenas.iter().map(|(_, size)| size).sum();
        let mut byte = (fault.bit / 8) as usize % total.max(1);
        for &(address, size) in &faults.arenas {
            match byte.checked_sub(size) {
                Some(behind) => byte = behind,
                None => return Some((address + byte as u64, fault.bit % 8)),
            }
        }
        None
    });
    if let Some((address, bit)) = place {
        flip(gpu, address, bit);
    }
}

/// Flips a bit once all queued work of the stream is done. If that work failed, there is nothing to
/// flip.
#[allow(unsafe_code)]
fn flip(gpu: &Gpu, address: u64, bit: u64) {
    if gpu.stream().synchronize().is_err() {
        return;
    }
    let mut byte = [0];
    // SAFETY: the address is within an arena, which is removed from the list before it is freed.
    let read = unsafe { result::memcpy_dtoh_sync(&mut byte, address) };
    if read.is_ok() {
        byte[0] ^= 1 << bit;
        // SAFETY: as above.
        let _ = unsafe { result::memcpy_htod_sync(address, &byte) };
    }
}
