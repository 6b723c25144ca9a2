//! What tests of GPUs share in builds with and without CUDA: lines that are shown,
//! numbers, and whose turn it is.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A line that is shown also where tests pass.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Held by a test while it has networks of NCCL. Each waits for all of its kernels, and those of
/// two networks on the same GPUs may come in another order on one of them than on the other.
pub fn one_network() -> MutexGuard<'static, ()> {
    static NETWORK: Mutex<()> = Mutex::new(());
    NETWORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers that are the same on every run.
pub fn random(len: usize, below: u64, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    };
    (0..len).map(|_| next() % below).collect()
}
