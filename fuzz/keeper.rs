//! An allocator that keeps large blocks for the next execution.
//!
//! ASan maps and unmaps what is above 128 KiB each time, which takes longer than the execution of a small input. A kept block
//! stays as long as it was asked for, so that what is written beside it is noticed; what is used after it was freed is not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

/// The sizes of blocks that are kept, and how many.
const LARGE: std::ops::Range<usize> = 1 << 16..1 << 23;
const KEPT: usize = 64;

/// Addresses and layouts.
static BLOCKS: Mutex<[Option<(usize, Layout)>; KEPT]> = Mutex::new([None; KEPT]);

struct Keeper;

#[global_allocator]
static KEEPER: Keeper = Keeper;

/// A kept block of this layout.
fn take(layout: Layout) -> Option<*mut u8> {
    if !LARGE.contains(&layout.size()) {
        return None;
    }
    let mut blocks = BLOCKS.lock().ok()?;
    let found = blocks.iter_mut().find(|kept| kept.is_some_and(|(_, other)| other == layout))?;
    found.take().map(|(address, _)| address as *mut u8)
}

/// Keeps a block, if there is room.
fn keep(block: *mut u8, layout: Layout) -> bool {
    if !LARGE.contains(&layout.size()) {
        return false;
    }
    let Ok(mut blocks) = BLOCKS.lock() else { return false };
    let free = blocks.iter_mut().find(|kept| kept.is_none());
    free.map(|free| *free = Some((block as usize, layout))).is_some()
}

// SAFETY: all blocks are the system's, each with the layout that it was made with, and a kept one is given out once.
unsafe impl GlobalAlloc for Keeper {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(block) = take(layout) else { return unsafe { System.alloc_zeroed(layout) } };
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !keep(block, layout) {
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        unsafe { System.realloc(block, layout, size) }
    }
}
