//! Cache lines: arrays on huge pages that begin at a cache line, so that an entry of one line is
//! not split between two, and operations on a line.

use crate::base::allocation::{self, Zero};
use std::ops::{Deref, DerefMut};

/// Size of a cache line in bytes.
pub(crate) const LINE: usize = 64;

/// An array whose first element is the first of a cache line.
#[derive(Debug)]
pub(crate) struct CacheLines<T> {
    items: Vec<T>,
    start: usize,
}

impl<T: Zero> CacheLines<T> {
    /// An array of `len` zeros, or `None` if there is no memory for it.
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        // The elements are not of a type with this alignment: for such a type the allocator clears
        // the pages itself, before they can become huge.
        let items: Vec<T> = allocation::zeroed(len + LINE / size_of::<T>())?;
        let start = items.as_ptr().align_offset(LINE);
        Some(CacheLines { items, start })
    }
}

impl<T> Deref for CacheLines<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items[self.start..]
    }
}

impl<T> DerefMut for CacheLines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..]
    }
}

/// A bit for each byte of a line, set if the byte is `c`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn equal(line: &[u8; LINE], c: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let quarter = |n: usize| {
        // SAFETY: SSE2 is part of x86-64, and the 16 bytes from 16 n on are within the line.
        let mask = unsafe {
            let bytes = _mm_loadu_si128(line.as_ptr().add(16 * n).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c.cast_signed())))
        };
        u64::from(mask.cast_unsigned()) << (16 * n)
    };
    quarter(0) | quarter(1) | quarter(2) | quarter(3)
}

/// A bit for each byte of a line, set if the byte is `c`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn equal(line: &[u8; LINE], c: u8) -> u64 {
    line.iter()
        .rev()
        .fold(0, |mask, &b| mask << 1 | u64::from(b == c))
}

/// Prefetches the cache line of `items[index]`. An index out of range is harmless.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that a program can see, and never faults at any address;
        // SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
