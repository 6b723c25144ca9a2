//! The memory that this process allocates, as seen by its allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct Watched;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

fn more(size: usize) {
    PEAK.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
    LARGEST.fetch_max(size, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// The result of `work`, its time, and its peak memory in bytes above the level at its start.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Duration, usize) {
    let started = Instant::now();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let done = work();
    (
        done,
        started.elapsed(),
        PEAK.load(Relaxed).saturating_sub(before),
    )
}

/// Size of the largest allocation that any thread makes during `work`, in bytes.
pub fn largest_allocation(work: impl FnOnce()) -> usize {
    LARGEST.store(0, Relaxed);
    work();
    LARGEST.load(Relaxed)
}
