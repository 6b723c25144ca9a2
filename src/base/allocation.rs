//! Large allocations, whose failure is an ordinary error.
//!
//! Their size depends on the input, so each returns `None` if there is no memory for it. The small
//! allocations of bwz and of other crates are ordinary ones: if one fails, Rust aborts the process.
//! A program that reports this in its own words has its own global allocator, and
//! [`failure_is_handled`] tells it which kind of request failed. `huge_pages` asks the kernel for 2
//! MiB pages for the large arrays.

mod huge_pages;

pub(crate) use huge_pages::Zero;
#[cfg(any(feature = "cuda", test))]
pub(crate) use huge_pages::{parts, touch_zeros};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;

thread_local! {
    static HANDLED: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread is in an allocation whose failure bwz handles, with an
/// [`Error`](crate::Error) that names it. This is for a global allocator that ends the process if
/// the system has no more memory, as the command's does: it must answer such a request with a null
/// pointer.
///
/// ```
/// assert!(!bwz::failure_is_handled());
/// ```
#[must_use]
pub fn failure_is_handled() -> bool {
    HANDLED.get()
}

/// Runs `allocate`, which handles its own failure.
pub(crate) fn handled<T>(allocate: impl FnOnce() -> T) -> T {
    HANDLED.set(true);
    let done = allocate();
    HANDLED.set(false);
    done
}

/// An empty vector with capacity for `len` values, or `None` if there is no memory for it.
pub(crate) fn with_capacity<T>(len: usize) -> Option<Vec<T>> {
    let mut values = Vec::new();
    handled(|| values.try_reserve_exact(len)).ok()?;
    huge_pages::ask_for(values.as_mut_ptr(), values.capacity());
    Some(values)
}

/// A vector of `len` copies of `value`, or `None` if there is no memory for it.
pub(crate) fn filled<T: Copy>(value: T, len: usize) -> Option<Vec<T>> {
    let mut values = with_capacity(len)?;
    values.resize(len, value);
    Some(values)
}

/// A vector of `len` zeros, or `None` if there is no memory for it (a `Vec` would abort the
/// process).
#[allow(unsafe_code)]
pub(crate) fn zeroed<T: Zero>(len: usize) -> Option<Vec<T>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<T>(len).ok()?;
    // SAFETY: `len` is not 0 and no T is of size 0, so neither is the layout.
    let start = handled(|| unsafe { alloc_zeroed(layout) });
    if start.is_null() {
        return None;
    }
    huge_pages::ask_for(start.cast::<T>(), len);
    // SAFETY: `start` was allocated by the global allocator with the layout of `len` elements of
    // T, which are all initialised because zero bits are a value of every `Zero`.
    Some(unsafe { Vec::from_raw_parts(start.cast::<T>(), len, len) })
}

/// Reserves capacity for at least `more` values behind those of a vector, or returns `None` if
/// there is no memory for it.
pub(crate) fn reserve<T>(values: &mut Vec<T>, more: usize) -> Option<()> {
    handled(|| values.try_reserve(more)).ok()
}

/// A copy of `values`, or `None` if there is no memory for it.
pub(crate) fn copied<T: Copy>(values: &[T]) -> Option<Vec<T>> {
    let mut copy = with_capacity(values.len())?;
    copy.extend_from_slice(values);
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_an_array_and_touched_zeros_stay_zeros() {
        for len in [0, 1, 1000, 1 << 20, (5 << 20) + 7] {
            check_parts::<u8>(len);
            check_parts::<u32>(len);
            check_parts::<u64>(len);
        }
    }

    fn check_parts<T: Zero + PartialEq + Default>(len: usize) {
        let mut zeros = zeroed::<T>(len).unwrap();
        assert_eq!(
            parts(&mut zeros)
                .map(|part| part.len())
                .sum::<usize>(),
            len
        );
        let later = parts(&mut zeros).skip(1);
        later.for_each(|part| assert_eq!(part.as_ptr().align_offset(2 << 20), 0));
        parts(&mut zeros).for_each(touch_zeros);
        assert!(zeros.iter().all(|zero| *zero == T::default()));
    }

    #[test]
    fn what_cannot_be_had_is_none() {
        assert_eq!(copied(&[7; 1000]), filled(7, 1000));
        assert_eq!(with_capacity::<u64>(usize::MAX / 16), None);
        assert_eq!(filled(7_u8, usize::MAX / 2), None);
        assert!(!failure_is_handled());
    }
}
