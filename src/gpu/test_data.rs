//! Helpers that GPU tests share in builds with and without CUDA: printed lines, random numbers, and
//! locks for networks and for most of a GPU's memory.

use crate::base::error::{Error, Result};
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prints a line that is also shown when tests pass.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Lock that a test holds while it has networks of NCCL. Each network waits for all of its kernels,
/// and the kernels of two networks on the same GPUs may start in a different order on each GPU.
pub(crate) fn one_network() -> MutexGuard<'static, ()> {
    static NETWORK: Mutex<()> = Mutex::new(());
    NETWORK
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Lock that a test holds while it uses most of a GPU's memory.
pub(crate) fn most_memory() -> MutexGuard<'static, ()> {
    static MEMORY: Mutex<()> = Mutex::new(());
    MEMORY
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if a GPU had too little memory.
pub(crate) fn lacks_memory<T>(done: &Result<T>) -> bool {
    matches!(done, Err(Error::Device(e)) if e.contains("OUT_OF_MEMORY"))
}

/// Random numbers that are the same on every run.
pub(crate) fn random(len: usize, below: u64, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    };
    (0..len).map(|_| next() % below).collect()
}
