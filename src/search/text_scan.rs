//! Search for patterns in plain bytes, by a scan for each pattern.

use super::letter_classes::{BatchLetters, LetterClasses, TextLetters};
use super::search_results::BatchMatches;
use crate::bwt;
use memchr::memmem;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes at the end of a text that are scanned first for a last occurrence.
const TAIL: usize = 1 << 16;
/// Factor by which more is scanned, if there is none.
const TAIL_GROWTH: usize = 8;

/// All positions at which `pattern` occurs in `raw`, overlaps included.
pub(super) fn occurrences<'t>(
    pattern: &'t [u8],
    raw: &'t [u8],
) -> impl Iterator<Item = usize> + 't {
    let finder = memmem::Finder::new(pattern);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(raw.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}

/// All positions at which a pattern occurs whose letters stand for classes of symbols.
fn class_occurrences<'t>(
    pattern: &'t [u8],
    raw: &'t [u8],
    classes: &'t LetterClasses,
) -> impl Iterator<Item = usize> + 't {
    let matches = move |window: &[u8]| {
        window
            .iter()
            .zip(pattern)
            .all(|(&symbol, &letter)| classes.matches(letter, symbol))
    };
    let windows = raw.windows(pattern.len()).enumerate();
    windows
        .filter(move |(_, window)| matches(window))
        .map(|(at, _)| at)
}

/// Plain bytes to scan, with the meaning of the patterns' letters.
pub(crate) struct ScannedText<'t> {
    raw: &'t [u8],
    /// The classes of letters, and their symbols in the text. `None` if all letters can be searched
    /// as they are.
    letters: Option<(&'static LetterClasses, TextLetters)>,
}

impl<'t> ScannedText<'t> {
    pub(super) fn new(raw: &'t [u8], letters: Option<&BatchLetters>) -> Self {
        let letters = letters.and_then(|letters| {
            let mut counts = [0_u64; 256];
            bwt::count(raw, &mut counts);
            let in_text = letters.in_text(|symbol| counts[usize::from(symbol)] > 0)?;
            Some((letters.classes, in_text))
        });
        ScannedText { raw, letters }
    }

    /// Calls `found` with each position of a pattern, in order, until it returns false.
    fn find(&self, pattern: &[u8], found: impl FnMut(usize) -> bool) {
        self.find_in(0..self.raw.len(), pattern, found);
    }

    /// Like `find`, within a range. Positions count from the start of the range.
    pub(super) fn find_in(
        &self,
        range: Range<usize>,
        pattern: &[u8],
        mut found: impl FnMut(usize) -> bool,
    ) {
        let raw = &self.raw[range];
        match &self.letters {
            None => _ = occurrences(pattern, raw).all(&mut found),
            Some((classes, in_text)) if in_text.branches(pattern) => {
                _ = class_occurrences(pattern, raw, classes).all(&mut found);
            }
            Some((_, in_text)) => {
                let pattern: Vec<u8> = in_text.translated(pattern).collect();
                _ = occurrences(&pattern, raw).all(&mut found);
            }
        }
    }

    /// Counts each pattern. If there are limits, also returns the first positions of each, or the
    /// `last` one.
    pub(super) fn find_all(
        &self,
        patterns: &[&[u8]],
        limits: Option<&[usize]>,
        last: bool,
    ) -> BatchMatches {
        let find = |n: usize| {
            let limit = limits.map_or(0, |limits| limits[n]);
            let mut count = 0;
            let mut positions = Vec::new();
            self.find(patterns[n], |at| {
                count += 1;
                if last {
                    positions.clear();
                }
                if positions.len() < limit {
                    positions.push(at as u64);
                }
                true
            });
            (count, positions)
        };
        let (counts, positions) = (0..patterns.len())
            .into_par_iter()
            .map(find)
            .unzip();
        BatchMatches { counts, positions }
    }

    /// Returns the first `limit` positions of a pattern, if it occurs as often as that within the
    /// first `bytes` bytes of the text.
    pub(super) fn first(&self, pattern: &[u8], limit: usize, bytes: u64) -> Option<Vec<u64>> {
        let end = self
            .raw
            .len()
            .min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut positions = Vec::new();
        self.find_in(0..end, pattern, |at| {
            positions.push(at as u64);
            positions.len() < limit
        });
        (positions.len() == limit).then_some(positions)
    }

    /// Returns the last position of a pattern, if it begins within the last `bytes` bytes of the
    /// text.
    pub(super) fn last(&self, pattern: &[u8], bytes: u64) -> Option<Vec<u64>> {
        let len = self.raw.len();
        let most = len.min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut size = most.min(TAIL.max(pattern.len()));
        loop {
            let start = len - size;
            let mut last = None;
            self.find_in(start..len, pattern, |at| {
                last = Some((start + at) as u64);
                true
            });
            if last.is_some() || size == most {
                return last.map(|at| vec![at]);
            }
            size = most.min(size.saturating_mul(TAIL_GROWTH));
        }
    }

    /// Bytes that are scanned for a pattern in the time of one step from a row to a sampled one.
    pub(super) fn bytes_per_step(&self, pattern: &[u8]) -> u64 {
        match &self.letters {
            Some((_, in_text)) if in_text.branches(pattern) => 4,
            _ => 32,
        }
    }
}
