//! Faults of a GPU's memory, made on purpose: one bit is flipped after one step, which is a launch,
//! a call of CUB or a copy. For tests of what the checks of a GPU's result find.
//!
//! The bit is one of the arrays that the step was given: those whose address was asked for since
//! the step before ([`addressed`]). After a copy to the host it is one of the host's bytes. So most
//! flips hit something that is used; bits of all arenas would mostly hit memory that is not.
//!
//! Streams and arenas are those of the calling thread.

use super::gpu_stream::Gpu;
use cudarc::driver::result;
use std::cell::RefCell;

/// A bit that will be flipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Number of steps before the one after which it is flipped.
    pub after: u32,
    /// Random number that chooses the array and the byte.
    pub place: u64,
    /// Number of the bit in the byte.
    pub bit: u8,
}

/// Memory that a step was given.
#[derive(Clone, Copy, Debug)]
struct Memory {
    address: u64,
    size: usize,
    is_host: bool,
}

#[derive(Default)]
struct Faults {
    is_counting: bool,
    /// Address and size of each arena.
    arenas: Vec<(u64, usize)>,
    /// The arrays whose addresses were asked for since the last step.
    addressed: Vec<Memory>,
    /// The arrays of the last step that was given any.
    given: Vec<Memory>,
    /// Names of the steps so far.
    steps: Vec<&'static str>,
    fault: Option<Fault>,
}

thread_local!(static FAULTS: RefCell<Faults> = RefCell::default());

/// Begins to count steps. `fault` will happen, if there is one.
pub(crate) fn begin(fault: Option<Fault>) {
    FAULTS.with_borrow_mut(|faults| {
        faults.is_counting = true;
        faults.steps.clear();
        faults.addressed.clear();
        faults.given.clear();
        faults.fault = fault;
    });
}

/// Ends the counting. Gives the names of the steps in their order.
pub(crate) fn end() -> Vec<&'static str> {
    FAULTS.with_borrow_mut(|faults| {
        faults.is_counting = false;
        faults.fault = None;
        std::mem::take(&mut faults.steps)
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

/// Notes that the address of an array was asked for, most likely for the next step.
pub(super) fn addressed(address: u64, size: usize) {
    FAULTS.with_borrow_mut(|faults| {
        if faults.is_counting {
            faults.addressed.push(Memory {
                address,
                size,
                is_host: false,
            });
        }
    });
}

/// Counts a step on arrays that was queued on `gpu`.
pub(crate) fn queued(gpu: &Gpu, what: &'static str) {
    count(gpu, what, None);
}

/// Counts a copy to the host that was queued on `gpu`. The items must not be borrowed elsewhere
/// while it runs.
pub(super) fn copied_out<T>(gpu: &Gpu, what: &'static str, items: &mut [T]) {
    let memory = Memory {
        address: items.as_mut_ptr() as u64,
        size: size_of_val(items),
        is_host: true,
    };
    count(gpu, what, Some(memory));
}

fn count(gpu: &Gpu, what: &'static str, host: Option<Memory>) {
    let hit = FAULTS.with_borrow_mut(|faults| faults.count(what, host));
    if let Some((fault, memory)) = hit {
        flip(gpu, fault, memory);
    }
}

impl Faults {
    /// Counts a step. Returns the fault if it is due, and the memory that it hits.
    fn count(&mut self, what: &'static str, host: Option<Memory>) -> Option<(Fault, Memory)> {
        if !self.is_counting {
            return None;
        }
        self.steps.push(what);
        let given = std::mem::take(&mut self.addressed);
        let given: Vec<Memory> = given
            .into_iter()
            .filter(|memory| self.is_in_arena(memory))
            .collect();
        if !given.is_empty() {
            self.given = given;
        }
        let steps = self.steps.len();
        let fault = self
            .fault
            .take_if(|fault| fault.after as usize + 1 == steps)?;
        let hit = match host {
            Some(memory) => Some(memory),
            None if self.given.is_empty() => None,
            None => Some(self.given[(fault.place % self.given.len() as u64) as usize]),
        };
        Some((fault, hit?))
    }

    fn is_in_arena(&self, memory: &Memory) -> bool {
        let end = memory.address + memory.size as u64;
        memory.size > 0
            && self
                .arenas
                .iter()
                .any(|&(start, size)| start <= memory.address && end <= start + size as u64)
    }
}

/// Flips a bit once all queued work of the stream is done. If that work failed, there is nothing to
/// flip.
#[allow(unsafe_code)]
fn flip(gpu: &Gpu, fault: Fault, memory: Memory) {
    if gpu.stream().synchronize().is_err() || memory.size == 0 {
        return;
    }
    // The low bits have chosen the array.
    let offset = (fault.place >> 8) % memory.size as u64;
    let address = memory.address + offset;
    let mask = 1 << fault.bit;
    if memory.is_host {
        let byte = address as *mut u8;
        // SAFETY: a byte of the items that `copied_out` was given, which nobody else uses.
        unsafe { byte.write_volatile(byte.read_volatile() ^ mask) };
        return;
    }
    let mut byte = [0];
    // SAFETY: the address is within an arena, which is removed from the list before it is freed.
    let read = unsafe { result::memcpy_dtoh_sync(&mut byte, address) };
    if read.is_ok() {
        byte[0] ^= mask;
        // SAFETY: as above.
        let _ = unsafe { result::memcpy_htod_sync(address, &byte) };
    }
}
