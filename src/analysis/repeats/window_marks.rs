//! A bit for each position, set by several threads; and the ranges that the marked windows cover.

use crate::base::allocation;
use crate::base::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits that are 0 until they are set.
#[derive(Default)]
pub(super) struct WindowMarks(Vec<AtomicU64>);

impl WindowMarks {
    /// Creates `len` bits.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no memory for them.
    pub(super) fn new(len: usize) -> Result<Self> {
        // The system provides the memory at the first mark, so several threads share that work.
        let words = allocation::zeroed(len.div_ceil(64));
        let no_memory = || Error::out_of_memory("for the windows");
        words.map(WindowMarks).ok_or_else(no_memory)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_set(&self, at: usize) -> bool {
        self.0[at / 64].load(Ordering::Relaxed) >> (at % 64) & 1 == 1
    }

    pub(super) fn set(&self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let count = (range.end - at).min(64 - at % 64);
            let bits = (u64::MAX >> (64 - count)) << (at % 64);
            self.0[at / 64].fetch_or(bits, Ordering::Relaxed);
            at += count;
        }
    }

    /// True if no bit of a range is set.
    pub(super) fn are_clear(&self, range: Range<usize>) -> bool {
        let mut at = range.start;
        while at < range.end {
            let count = (range.end - at).min(64 - at % 64);
            if self.0[at / 64].load(Ordering::Relaxed) >> (at % 64) << (64 - count) != 0 {
                return false;
            }
            at += count;
        }
        true
    }

    /// Sets the bits that are set in `other`. Its first bit corresponds to bit `from` of these
    /// marks.
    pub(super) fn add(&self, from: usize, other: &WindowMarks) {
        debug_assert!(from.is_multiple_of(64));
        for (mine, other) in self.0[from / 64..].iter().zip(&other.0) {
            mine.fetch_or(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Sets the bits that are set in `other`, whose bit `from` corresponds to the first bit here.
    pub(super) fn add_from(&self, from: usize, other: &WindowMarks) {
        debug_assert!(from.is_multiple_of(64));
        for (mine, other) in self.0.iter().zip(&other.0[from / 64..]) {
            mine.fetch_or(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The units covered by the marked windows of `len` units that begin in `range`, as ranges that
    /// do not touch.
    pub(super) fn covered(
        &self,
        range: Range<usize>,
        len: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let start = self.next_set(at..range.end)?;
            at = self.next_clear(start..range.end);
            // The next marked window that begins inside or just behind this range extends it.
            while let Some(next) = self.next_set(at..range.end.min(at + len)) {
                at = self.next_clear(next..range.end);
            }
            Some(start..at - 1 + len)
        })
    }

    fn next_set(&self, range: Range<usize>) -> Option<usize> {
        self.next(range, 0)
    }

    /// The first clear bit, or the end of the range.
    fn next_clear(&self, range: Range<usize>) -> usize {
        let end = range.end;
        self.next(range, u64::MAX).unwrap_or(end)
    }

    /// The first bit that is set after each word is XORed with `flipped`.
    fn next(&self, range: Range<usize>, flipped: u64) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            let word = (self.0[at / 64].load(Ordering::Relaxed) ^ flipped) >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros() as usize;
                return (found < range.end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }
}

/// The parts of `ranges` that are in none of `others`. Both are in ascending order.
pub(super) fn subtract(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    let mut next = 0;
    for range in ranges {
        let mut start = range.start;
        while let Some(other) = others
            .get(next)
            .filter(|other| other.start < range.end)
        {
            if other.start > start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
            if other.end >= range.end {
                break;
            }
            next += 1;
        }
        if start < range.end {
            left.push(start..range.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use std::slice;

    #[test]
    fn ranges_of_bits_are_set_and_found() {
        for (range, len) in [(0..1, 1), (63..65, 3), (5..200, 10), (64..128, 1)] {
            let marks = WindowMarks::new(300).unwrap();
            marks.set(range.clone());
            assert!((0..300).all(|at| marks.is_set(at) == range.contains(&at)));
            assert!(marks.are_clear(0..range.start) && marks.are_clear(range.end..300));
            assert!(!marks.are_clear(range.end - 1..300) && !marks.are_clear(0..range.start + 1));
            let covered: Vec<_> = marks.covered(0..300, len).collect();
            assert_eq!(covered, vec![range.start..range.end - 1 + len]);
        }
    }

    #[test]
    fn windows_that_touch_are_one_range() {
        let marks = WindowMarks::new(300).unwrap();
        [10, 20, 31, 90, 99]
            .iter()
            .for_each(|&at| marks.set(at..at + 1));
        let covered: Vec<_> = marks.covered(0..300, 10).collect();
        assert_eq!(covered, [10..30, 31..41, 90..109]);
        assert_eq!(
            marks.covered(20..90, 10).collect::<Vec<_>>(),
            [20..30, 31..41]
        );
    }

    #[test]
    fn covered_units_are_the_naive_ones() {
        let random = cases::random(2000, 256);
        for (share, len) in [
            (1, 1),
            (1, 7),
            (40, 2),
            (40, 90),
            (250, 3),
            (255, 1),
            (255, 64),
        ] {
            let is_marked = |at: usize| u32::from(random[at]) < share || (128..330).contains(&at);
            let marks = WindowMarks::new(2000).unwrap();
            (0..2000)
                .filter(|&at| is_marked(at))
                .for_each(|at| marks.set(at..at + 1));
            for range in [0..2000, 3..1999, 64..1920, 130..200] {
                let mut units = vec![false; 2000 + len];
                let marked = range.clone().filter(|&at| is_marked(at));
                marked.for_each(|at| units[at..at + len].fill(true));
                let mut found = vec![false; 2000 + len];
                let mut last = None;
                for covered in marks.covered(range.clone(), len) {
                    assert!(last < Some(covered.start), "ranges touch");
                    last = Some(covered.end);
                    found[covered].fill(true);
                }
                assert!(
                    units == found,
                    "{share} of 256, windows of {len}, {range:?}"
                );
            }
        }
    }

    #[test]
    fn ranges_are_subtracted() {
        let ranges = [0..10, 20..30, 40..50];
        assert_eq!(subtract(&ranges, &[]), ranges);
        assert_eq!(subtract(&ranges, slice::from_ref(&(5..45))), [0..5, 45..50]);
        assert_eq!(
            subtract(&ranges, &[2..3, 4..5, 12..13, 20..30]),
            [0..2, 3..4, 5..10, 40..50]
        );
        assert_eq!(subtract(&ranges, slice::from_ref(&(0..60))), []);
    }
}
