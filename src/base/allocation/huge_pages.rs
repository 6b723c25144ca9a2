//! Huge pages for large arrays: tables that are read at random, and pinned memory.
//!
//! With pages of 4 KiB, random reads of a table of hundreds of megabytes miss the TLB at nearly
//! every step. Linux backs an allocation with pages of 2 MiB if it is asked before the first touch;
//! on other systems the arrays have ordinary pages. The kernel maps zeroed memory at the first
//! touch, so the threads that fill a table share the cost of mapping it.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// A type for which zero bits are a valid value, and which needs no drop.
///
/// # Safety
/// Only for types of which both are true, such as integers.
#[allow(unsafe_code)]
pub unsafe trait Zero {}

macro_rules! zero {
    ($($integer:ty),*) => { $(
        // SAFETY: an integer, for which zero bits are 0.
        #[allow(unsafe_code)]
        unsafe impl Zero for $integer {}
    )* };
}
zero!(u8, u16, i32, i64, u32, u64, AtomicU8, AtomicU32, AtomicU64);

// SAFETY: two values, for each of which zero bits are valid, and nothing else.
#[allow(unsafe_code)]
unsafe impl<T: Zero> Zero for [T; 2] {}

const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages. This is only advice: if the kernel declines, the array is slower but right.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(super) fn ask_for<T>(start: *mut T, len: usize) {
    let start = start.cast::<u8>();
    let size = len * size_of::<T>();
    if size < HUGE_PAGE {
        return;
    }
    // The kernel needs an address on a page boundary; a 2 MiB boundary is one for every page size.
    let skipped = start.align_offset(HUGE_PAGE);
    let whole = size.saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: [start + skipped, start + skipped + whole) lies in the allocation, and this advice
    // changes only how it is mapped, not its contents.
    unsafe {
        libc::madvise(
            start.add(skipped.min(size)).cast(),
            whole,
            libc::MADV_HUGEPAGE,
        )
    };
}

#[cfg(not(target_os = "linux"))]
pub fn ask_for<T>(_start: *mut T, _len: usize) {}
