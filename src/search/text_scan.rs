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

/// A letter is rare if no more than one byte in this many is a symbol of its class.
const RARE: u64 = 8;

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

/// The letters of the patterns for a text in which some have several symbols.
struct ScannedLetters {
    classes: &'static LetterClasses,
    /// The classes, as far as the text has their symbols.
    in_text: TextLetters,
    /// Number of occurrences of each symbol in the text.
    counts: [u64; 256],
}

/// A letter of a pattern whose class has few symbols, which are rare in the text.
struct RareLetter<'l> {
    /// Its place in the pattern.
    at: usize,
    symbols: &'l [u8],
}

impl ScannedLetters {
    /// All positions in `raw` at which a pattern occurs whose letters stand for classes of symbols.
    /// If the pattern has a rare letter, only the places around its symbols are looked at.
    fn occurrences<'t>(
        &'t self,
        pattern: &'t [u8],
        raw: &'t [u8],
    ) -> Box<dyn Iterator<Item = usize> + 't> {
        let Some(last) = raw.len().checked_sub(pattern.len()) else {
            return Box::new(std::iter::empty());
        };
        let matches = move |at: &usize| {
            let window = &raw[*at..*at + pattern.len()];
            window
                .iter()
                .zip(pattern)
                .all(|(&symbol, &letter)| self.classes.matches(letter, symbol))
        };
        let Some(rare) = self.rare_letter(pattern) else {
            return Box::new((0..=last).filter(matches));
        };
        let places = &raw[rare.at..=rare.at + last];
        match *rare.symbols {
            [] => Box::new(std::iter::empty()),
            [a] => Box::new(memchr::memchr_iter(a, places).filter(matches)),
            [a, b] => Box::new(memchr::memchr2_iter(a, b, places).filter(matches)),
            [a, b, c, ..] => Box::new(memchr::memchr3_iter(a, b, c, places).filter(matches)),
        }
    }

    /// The rarest letter of a pattern whose class has up to three symbols, if it is rare.
    fn rare_letter(&self, pattern: &[u8]) -> Option<RareLetter<'_>> {
        let count = |symbols: &[u8]| -> u64 {
            symbols
                .iter()
                .map(|&symbol| self.counts[usize::from(symbol)])
                .sum()
        };
        let letters = pattern.iter().enumerate();
        let letters = letters.map(|(at, &letter)| RareLetter {
            at,
            symbols: self.in_text.symbols(letter),
        });
        let all: u64 = self.counts.iter().sum();
        letters
            .filter(|letter| letter.symbols.len() <= 3)
            .min_by_key(|letter| count(letter.symbols))
            .filter(|letter| count(letter.symbols) <= all / RARE)
    }
}

/// Plain bytes to scan, with the meaning of the patterns' letters.
pub(crate) struct ScannedText<'t> {
    raw: &'t [u8],
    /// `None` if all letters can be searched as they are.
    letters: Option<Box<ScannedLetters>>,
}

impl<'t> ScannedText<'t> {
    pub(super) fn new(raw: &'t [u8], letters: Option<&BatchLetters>) -> Self {
        let letters = letters.and_then(|letters| {
            let mut counts = [0_u64; 256];
            bwt::count(raw, &mut counts);
            let in_text = letters.in_text(|symbol| counts[usize::from(symbol)] > 0)?;
            Some(Box::new(ScannedLetters {
                classes: letters.classes,
                in_text,
                counts,
            }))
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
            Some(letters) if letters.in_text.branches(pattern) => {
                _ = letters.occurrences(pattern, raw).all(&mut found);
            }
            Some(letters) => {
                let pattern: Vec<u8> = letters.in_text.translated(pattern).collect();
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
            Some(letters) if letters.in_text.branches(pattern) => 4,
            _ => 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn rare_letters_lead_to_all_occurrences() {
        // Letters of which some are rare, in one case or both.
        let text: Vec<u8> = cases::random(30_000, 64)
            .iter()
            .map(|&n| {
                b"aaaaaaaaaaaaaaaaaaaaAAAAAAAAAAAAAAAAAAAAbbbbbbbbbbbbbbbbbbbbcCdZ"[usize::from(n)]
            })
            .collect();
        for pattern in [
            &b"ac"[..],
            b"aDa",
            b"BZ",
            b"aaab",
            b"ca",
            b"xa",
            b"zzzzzzzz",
        ] {
            let letters = BatchLetters::of_either_case(&[pattern]);
            for len in [text.len(), pattern.len(), pattern.len() - 1, 0] {
                let scanned = ScannedText::new(&text[..len], Some(&letters));
                let mut found = Vec::new();
                scanned.find(pattern, |at| {
                    found.push(at);
                    true
                });
                let windows = text[..len].windows(pattern.len());
                let wanted = windows
                    .enumerate()
                    .filter(|(_, window)| window.eq_ignore_ascii_case(pattern));
                let wanted: Vec<usize> = wanted.map(|(at, _)| at).collect();
                assert_eq!(found, wanted, "{}", pattern.escape_ascii());
            }
        }
    }
}
