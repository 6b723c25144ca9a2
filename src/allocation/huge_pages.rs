//! Huge pages for large arrays: tables that are read at random, and memory that is pinned.
//!
//! A table of hundreds of megabytes read at random misses the TLB at nearly every step when its
//! pages are 4 KiB. Linux backs an allocation with 2 MiB pages if asked before the first touch;
//! elsewhere the arrays are plain ones. Zeroed memory comes from the kernel untouched, so the
//! threads that fill a table also share the cost of mapping it: each should begin with a part of
//! its own ([`parts`]), as those that touch one page at the same time wait for each other.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::{mem, ptr};

/// A type whose zero bits are a value, and which needs no drop.
///
/// # Safety
/// Only for types of which that is true, such as integers.
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

// SAFETY: two items for which zero bits are a value, and nothing else.
#[allow(unsafe_code)]
unsafe impl<T: Zero> Zero for [T; 2] {}

const HUGE_PAGE: usize = 2 << 20;
/// The least page that there is.
const PAGE: usize = 4 << 10;

/// The parts of an array that lie in one huge page each.
pub fn parts<T: Zero>(values: &mut [T]) -> impl Iterator<Item = &mut [T]> {
    let before = values.as_ptr().cast::<u8>().align_offset(HUGE_PAGE) / size_of::<T>();
    let (first, rest) = values.split_at_mut(before.min(values.len()));
    [first].into_iter().chain(rest.chunks_mut(HUGE_PAGE / size_of::<T>()))
}

/// Touches the pages of zeros, so that they are mapped.
#[allow(unsafe_code)]
pub fn touch_zeros<T: Zero>(zeros: &mut [T]) {
    for zero in zeros.iter_mut().step_by(PAGE / size_of::<T>()) {
        // SAFETY: zero bits are a value of every `Zero`, and none needs a drop.
        unsafe { ptr::write_volatile(zero, mem::zeroed()) };
    }
}

/// Advice only: where the kernel declines, the array works as well and is slower.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn ask_for<T>(start: *mut T, len: usize) {
    let (start, size) = (start.cast::<u8>(), len * size_of::<T>());
    if size < HUGE_PAGE {
        return;
    }
    // The kernel wants an address on a page boundary; 2 MiB boundaries are that for every page
    // size.
    let skipped = start.align_offset(HUGE_PAGE);
    let whole = size.saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: [start + skipped, start + skipped + whole) lies in the allocation, and this advice
    // changes how it is mapped but not what it holds.
    unsafe { libc::madvise(start.add(skipped.min(size)).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
pub fn ask_for<T>(_start: *mut T, _len: usize) {}
