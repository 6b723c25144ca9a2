//! Tests that measure their whole process: its memory, its largest allocation, its time.
//!
//! Each of them holds [`ALONE`], so that no other runs meanwhile.

mod allocation;
#[path = "../common/mod.rs"]
mod common;
mod damaged;
mod hostile;
mod hostile_sides;
mod small;
mod watched_memory;

use std::sync::{Mutex, MutexGuard, PoisonError};

static ALONE: Mutex<()> = Mutex::new(());

/// Waits until no other test of this program runs. One that failed does not hold up the others.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
