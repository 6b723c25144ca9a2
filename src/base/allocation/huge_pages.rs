//! Huge pages for large arrays: tables that are read at random, and pinned memory.
//!
//! With pages of 4 KiB, random reads of a table of hundreds of megabytes miss the TLB at nearly
//! every step. Linux backs an allocation with pages of 2 MiB if it is asked before the first touch;
//! on other systems the arrays have ordinary pages. The kernel maps zeroed memory at the first
//! touch, so the threads that fill a table share the cost of mapping it. Each thread should start
//! in its own part ([`parts`]), because threads that touch the same page at the same time wait for
//! each other.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
#[cfg(any(feature = "cuda", test))]
use std::{mem, ptr};

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
/// Size of the smallest page in bytes.
#[cfg(any(feature = "cuda", test))]
const PAGE: usize = 4 << 10;

/// The parts of an array, each of which lies in one huge page.
#[cfg(any(feature = "cuda", test))]
pub(crate) fn parts<T: Zero>(values: &mut [T]) -> impl Iterator<Item = &mut [T]> {
    let before = values
        .as_ptr()
        .cast::<u8>()
        .align_offset(HUGE_PAGE)
        / size_of::<T>();
    let (first, rest) = values.split_at_mut(before.min(values.len()));
    [first]
        .into_iter()
        .chain(rest.chunks_mut(HUGE_PAGE / size_of::<T>()))
}

/// Touches each page of an array of zeros, so that it is mapped.
#[cfg(any(feature = "cuda", test))]
#[allow(unsafe_code)]
pub(crate) fn touch_zeros<T: Zero>(zeros: &mut [T]) {
    for zero in zeros.iter_mut().step_by(PAGE / size_of::<T>()) {
        // SAFETY: zero bits are a valid value of every `Zero`, and none needs a drop.
        unsafe { ptr::write_volatile(zero, mem::zeroed()) };
    }
}

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
