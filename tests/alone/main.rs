//! Tests that measure their whole process: its memory, its largest allocation, its time.
//!
//! Each test holds [`ALONE`], so that no other test runs at the same time.

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

/// Waits until no other test of this program runs. A failed test does not block the others.
fn alone() -> MutexGuard<'static, ()> {
    ALONE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}
