//! An allocator that keeps large blocks for the next execution.
//!
//! ASan maps and unmaps what is above 128 KiB each time, which takes longer than the execution of a
//! small input. A kept block stays as long as it was asked for, so that what is written beside it
//! is noticed; what is used after it was freed is not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::Mutex;

/// The sizes of blocks that are kept, and how many.
const LARGE: std::ops::Range<usize> = 1 << 16..1 << 23;
const KEPT: usize = 64;

/// Addresses and layouts, the one that was kept last in front.
static BLOCKS: Mutex<VecDeque<(usize, Layout)>> = Mutex::new(VecDeque::new());

struct Keeper;

#[global_allocator]
static KEEPER: Keeper = Keeper;

/// A kept block of this layout.
fn take(layout: Layout) -> Option<*mut u8> {
    if !LARGE.contains(&layout.size()) {
        return None;
    }
    let mut blocks = BLOCKS.lock().ok()?;
    let found = blocks
        .iter()
        .position(|(_, other)| *other == layout)?;
    blocks
        .remove(found)
        .map(|(address, _)| address as *mut u8)
}

/// Keeps a block, and gives the one that must go for it.
fn keep(block: *mut u8, layout: Layout) -> Option<(*mut u8, Layout)> {
    if !LARGE.contains(&layout.size()) {
        return Some((block, layout));
    }
    let Ok(mut blocks) = BLOCKS.lock() else {
        return Some((block, layout));
    };
    blocks.push_front((block as usize, layout));
    if blocks.len() <= KEPT {
        return None;
    }
    blocks
        .pop_back()
        .map(|(address, layout)| (address as *mut u8, layout))
}

// SAFETY: all blocks are the system's, each with the layout that it was made with, and a kept one
// is given out once.
unsafe impl GlobalAlloc for Keeper {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(block) = take(layout) else {
            return unsafe { System.alloc_zeroed(layout) };
        };
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some((block, layout)) = keep(block, layout) {
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        unsafe { System.realloc(block, layout, size) }
    }
}
