//! Large zeroed arrays on huge pages, for tables that are read at random.
//!
//! A table of hundreds of megabytes read at random misses the TLB at nearly every step when its
//! pages are 4 KiB. Linux backs an allocation with 2 MiB pages if asked before the first touch;
//! elsewhere the arrays are plain ones. Memory comes from the kernel zeroed and untouched, so the
//! threads that fill a table also share the cost of mapping it.

use crate::allocation;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// A type whose zero bits are a value, and which needs no drop.
///
/// # Safety
/// Only for types of which that is true, such as integers.
#[allow(unsafe_code)]
pub(crate) unsafe trait Zero {}

macro_rules! zero {
    ($($integer:ty),*) => { $(
        // SAFETY: an integer, for which zero bits are 0.
        #[allow(unsafe_code)]
        unsafe impl Zero for $integer {}
    )* };
}
zero!(u8, u16, i32, u32, u64, AtomicU8, AtomicU32, AtomicU64);

/// `len` zeros, or `None` where the memory cannot be had (a `Vec` would abort the program).
#[allow(unsafe_code)]
pub(crate) fn zeroed<T: Zero>(len: usize) -> Option<Vec<T>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<T>(len).ok()?;
    // SAFETY: `len` is not 0 and no T is of size 0, so neither is the layout.
    let start = allocation::handled(|| unsafe { alloc_zeroed(layout) });
    if start.is_null() {
        return None;
    }
    ask_for_huge_pages(start, layout.size());
    // SAFETY: `start` was allocated by the global allocator with the layout of `len` elements of
    // T, which are all initialised because zero bits are a value of every `Zero`.
    Some(unsafe { Vec::from_raw_parts(start.cast::<T>(), len, len) })
}

/// Tables that are used again for the next block: for fresh ones the kernel would clear and map
/// every page anew, which is up to a fifth of the time that a block takes to be restored.
///
/// There are never more than were in use at a time.
#[derive(Debug)]
pub(crate) struct TablePool<T>(Mutex<Vec<Vec<T>>>);

impl<T: Zero> TablePool<T> {
    pub const fn new() -> Self {
        TablePool(Mutex::new(Vec::new()))
    }

    /// Lends a table of `len` values to `work`, with whatever was left in it; `None` where there is
    /// no memory for it.
    pub fn lend<R>(&self, len: usize, work: impl FnOnce(&mut [T]) -> R) -> Option<R> {
        let mut table = self.take(len).or_else(|| zeroed(len))?;
        let done = work(&mut table[..len]);
        self.all().push(table);
        Some(done)
    }

    /// Frees the tables that nobody uses.
    pub fn free(&self) {
        self.all().clear();
    }

    /// A table that is not much too long. The others go where there is none: memory is better had
    /// for the next one.
    fn take(&self, len: usize) -> Option<Vec<T>> {
        let mut tables = self.all();
        let fits = |table: &Vec<T>| (len..=len + len / 8).contains(&table.len());
        let found = tables.iter().position(fits).map(|n| tables.swap_remove(n));
        if found.is_none() {
            tables.clear();
        }
        found
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Advice only: where the kernel declines, the array works as well and is slower.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn ask_for_huge_pages(start: *mut u8, size: usize) {
    const HUGE_PAGE: usize = 2 << 20;
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
fn ask_for_huge_pages(_start: *mut u8, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_used_again_unless_it_is_too_short_or_much_too_long() {
        let tables = TablePool::<u32>::new();
        let first = |len| tables.lend(len, |table| std::mem::replace(&mut table[0], 7)).unwrap();
        assert_eq!([100, 100, 90, 101, 96, 50].map(first), [0, 7, 7, 0, 7, 0]);
        tables.free();
        assert_eq!([50, 50].map(first), [0, 7]);
    }

    #[test]
    fn tables_in_use_are_not_lent_twice() {
        let tables = TablePool::<u32>::new();
        let both = tables.lend(9, |a| tables.lend(9, |b| a.as_ptr() == b.as_ptr()));
        assert_eq!(both, Some(Some(false)));
        assert_eq!(tables.all().len(), 2);
    }
}
