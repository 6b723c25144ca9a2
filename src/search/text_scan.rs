//! Patterns in plain bytes, found by looking for each.

use super::letter_classes::{BatchLetters, LetterClasses, TextLetters};
use super::search_results::BatchMatches;
use crate::bwt;
use memchr::memmem;
use rayon::prelude::*;
use std::ops::Range;

/// All places at which `pattern` stands in `raw`, overlaps included.
pub fn occurrences<'t>(pattern: &'t [u8], raw: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let finder = memmem::Finder::new(pattern);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(raw.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}

/// The same, where letters of the pattern stand for classes of symbols.
fn class_occurrences<'t>(
    pattern: &'t [u8],
    raw: &'t [u8],
    classes: &'t LetterClasses,
) -> impl Iterator<Item = usize> + 't {
    let matches = move |window: &[u8]| {
        window.iter().zip(pattern).all(|(&symbol, &letter)| classes.matches(letter, symbol))
    };
    let windows = raw.windows(pattern.len()).enumerate();
    windows.filter(move |(_, window)| matches(window)).map(|(at, _)| at)
}

/// Plain bytes, and how patterns are looked for in them.
pub(crate) struct ScannedText<'t> {
    raw: &'t [u8],
    /// The classes of letters, and the symbols that the text has of them, where any letter is not
    /// looked for as it stands.
    letters: Option<(&'static LetterClasses, TextLetters)>,
}

impl<'t> ScannedText<'t> {
    pub fn new(raw: &'t [u8], letters: Option<&BatchLetters>) -> Self {
        let letters = letters.and_then(|letters| {
            let mut counts = [0_u64; 256];
            bwt::count(raw, &mut counts);
            let in_text = letters.in_text(|symbol| counts[usize::from(symbol)] > 0)?;
            Some((letters.classes, in_text))
        });
        ScannedText { raw, letters }
    }

    /// Calls `found` with each place of a pattern, in order, until it says that it has enough.
    fn find(&self, pattern: &[u8], found: impl FnMut(usize) -> bool) {
        self.find_in(0..self.raw.len(), pattern, found);
    }

    /// Finds them in a range, from whose start places count.
    pub fn find_in(
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

    /// Counts each pattern; with limits, also gives the first positions of each.
    pub fn find_all(&self, patterns: &[&[u8]], limits: Option<&[usize]>) -> BatchMatches {
        let find = |n: usize| {
            let limit = limits.map_or(0, |limits| limits[n]);
            let mut count = 0;
            let mut positions = Vec::new();
            self.find(patterns[n], |at| {
                count += 1;
                if positions.len() < limit {
                    positions.push(at as u64);
                }
                true
            });
            (count, positions)
        };
        let (counts, positions) = (0..patterns.len()).into_par_iter().map(find).unzip();
        BatchMatches { counts, positions }
    }

    /// The first `limit` positions of a pattern that occurs at least as often, if they lie within
    /// the first `bytes` of the text.
    pub fn first(&self, pattern: &[u8], limit: usize, bytes: u64) -> Option<Vec<u64>> {
        let end = self.raw.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut positions = Vec::new();
        self.find_in(0..end, pattern, |at| {
            positions.push(at as u64);
            positions.len() < limit
        });
        (positions.len() == limit).then_some(positions)
    }

    /// Bytes that are scanned for a pattern in the time of one step from a row to a sampled one.
    pub fn bytes_per_step(&self, pattern: &[u8]) -> u64 {
        match &self.letters {
            Some((_, in_text)) if in_text.branches(pattern) => 4,
            _ => 32,
        }
    }
}
