//! Matches that cross the boundary of two blocks. They must be found too, since a user does not
//! know where blocks end.
//!
//! A match belongs to the block in which it starts. Let m be the length of the pattern. A match
//! that does not end in its block lies in a window around the end of the block: the last m - 1
//! bytes of the block and the m - 1 bytes behind it. The latter may span several short blocks. So
//! each match is found once: in a block or at one boundary.
//!
//! The ends of blocks are collected until there are enough of them, and then their windows are
//! searched. Memory is bounded by this amount and the longest pattern. Patterns of about the same
//! length share their windows. A few patterns are searched one by one in each window. Many patterns
//! are searched in an index of all windows, which costs little beside the search of the blocks.

use super::letter_classes::BatchLetters;
use super::loaded_index::LoadedIndex;
use super::memory_policy::MANY;
use super::open_block::OpenIndex;
use super::search_results::{Matches, WantedPositions};
use super::text_scan::ScannedText;
use crate::base::error::Result;
use crate::base::positions::NarrowLimits;
use crate::bwt::Sorter;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of ends of blocks, or of windows, that are searched together.
const ENOUGH: usize = 4 << 20;

/// Maximum number of blocks whose ends are searched together, however short they are: each of them
/// takes some memory in addition to its bytes.
const MOST_BLOCKS: usize = if cfg!(test) { 1 << 10 } else { 1 << 15 };

/// Number of patterns that are searched together in an index of windows.
const AT_A_TIME: usize = 1 << 16;

/// Number of rows of an index of windows that are located together.
const ROWS: usize = 1 << 20;

/// Sample rate of an index of windows.
const RATE: u32 = 8;

/// The first and the last bytes of a block: one byte fewer than the longest pattern at each end, or
/// the whole block if it is shorter.
#[derive(Debug)]
pub(super) struct Edges {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Position just behind the block.
    pub end: u64,
}

impl Edges {
    /// Bytes of both ends.
    fn size(&self) -> usize {
        self.head.len() + self.tail.len()
    }
}

/// The search at the boundaries of consecutive blocks.
pub(super) struct Boundaries<'p> {
    patterns: &'p [&'p [u8]],
    /// Meaning of the patterns' letters, unless all letters stand for themselves.
    letters: Option<&'p BatchLetters>,
    /// The positions to return for each pattern.
    wanted: WantedPositions,
    /// Ends of the blocks whose boundaries are not yet searched, and of the block before them.
    edges: Vec<Edges>,
    /// Bytes in `edges`.
    size: usize,
    /// Number of blocks in `edges` that the last search left.
    left: usize,
    /// Value of [`ENOUGH`], smaller in tests.
    enough: usize,
    /// Matches by the number of their pattern.
    found: HashMap<usize, Matches>,
}

impl<'p> Boundaries<'p> {
    /// Creates a search that counts, and locates the wanted positions.
    pub(super) fn new(
        patterns: &'p [&'p [u8]],
        letters: Option<&'p BatchLetters>,
        wanted: WantedPositions,
    ) -> Self {
        let found = HashMap::new();
        Boundaries {
            patterns,
            letters,
            wanted,
            edges: Vec::new(),
            size: 0,
            left: 0,
            enough: ENOUGH,
            found,
        }
    }

    /// Adds the next block. Searches if enough blocks are collected.
    pub(super) fn add(&mut self, edges: Edges) -> Result<()> {
        self.size += edges.size();
        self.edges.push(edges);
        match self.size >= self.enough || self.edges.len() >= self.left + MOST_BLOCKS {
            true => self.search(self.known()),
            false => Ok(()),
        }
    }

    /// Searches the remaining boundaries. Returns the matches of each pattern that crosses one, by
    /// the number of the pattern. Positions ascend.
    pub(super) fn finish(mut self) -> Result<HashMap<usize, Matches>> {
        self.search(self.edges.len().saturating_sub(1))?;
        Ok(self.found)
    }

    /// Number of boundaries behind which all bytes that a match may reach are known.
    fn known(&self) -> usize {
        let longest = self
            .patterns
            .iter()
            .map(|p| p.len())
            .max()
            .unwrap_or(1);
        let mut behind = 0;
        let open = self.edges.iter().rev().take_while(|edges| {
            behind += edges.head.len();
            behind < longest - 1
        });
        (self.edges.len() - open.count()).saturating_sub(1)
    }

    /// Searches the first `boundaries` boundaries, and drops the blocks before them.
    fn search(&mut self, boundaries: usize) -> Result<()> {
        if boundaries == 0 {
            self.left = self.edges.len();
            return Ok(());
        }
        let lengths = self
            .patterns
            .par_iter()
            .map(|p| 1_u64 << p.len().ilog2());
        let lengths = lengths.reduce(|| 0, |a, b| a | b);
        // A pattern of one byte crosses no boundary.
        for log in (1..u64::BITS).filter(|log| lengths >> log & 1 == 1) {
            self.search_lengths(log, boundaries)?;
        }
        let forgotten = self.edges.drain(..boundaries);
        self.size -= forgotten.map(|edges| edges.size()).sum::<usize>();
        self.left = self.edges.len();
        Ok(())
    }

    /// Searches for the patterns of 2^log to 2^(log + 1) - 1 bytes.
    fn search_lengths(&mut self, log: u32, boundaries: usize) -> Result<()> {
        let numbers = (0..self.patterns.len()).into_par_iter();
        let numbers: Vec<usize> = numbers
            .filter(|&n| self.patterns[n].len().ilog2() == log)
            .collect();
        let longest = numbers
            .par_iter()
            .map(|&n| self.patterns[n].len())
            .max()
            .unwrap_or(1);
        let mut next = 1;
        while next <= boundaries {
            let mut windows = Windows::default();
            while next <= boundaries && windows.bytes.len() < self.enough {
                windows.add(&self.edges[next - 1..], longest - 1);
                next += 1;
            }
            let many = numbers.len() >= MANY && 2 * longest <= self.enough;
            match many && !windows.bytes.is_empty() {
                true => self.search_index(&numbers, &windows)?,
                false => self.scan(&numbers, &windows),
            }
        }
        Ok(())
    }

    /// Scans each window for each pattern.
    fn scan(&mut self, numbers: &[usize], windows: &Windows) {
        let texts = ScannedText::new(&windows.bytes, self.letters);
        let find = |&n: &usize| {
            let pattern = self.patterns[n];
            let in_window = |window: &Window| -> Vec<u64> {
                let around = window.around(pattern.len());
                let mut all = Vec::new();
                texts.find_in(around.clone(), pattern, |at| {
                    all.push(window.pos_of(around.start + at));
                    true
                });
                all
            };
            (
                n,
                windows
                    .all
                    .iter()
                    .flat_map(in_window)
                    .collect::<Vec<u64>>(),
            )
        };
        let found: Vec<_> = numbers
            .par_iter()
            .map(find)
            .filter(|(_, all)| !all.is_empty())
            .collect();
        found
            .into_iter()
            .for_each(|(n, positions)| self.note(n, positions));
    }

    /// Searches for the patterns in an index of the windows.
    fn search_index(&mut self, numbers: &[usize], windows: &Windows) -> Result<()> {
        let bwt = Sorter::Cpu.sort(&windows.bytes, RATE)?;
        let index = OpenIndex::InMemory(LoadedIndex::new(bwt, NarrowLimits::USUAL)?);
        // Hardly any pattern is found, so only nonempty intervals are kept.
        let mut found = Vec::new();
        let mut too_many = Vec::new();
        for numbers in numbers.chunks(AT_A_TIME) {
            let patterns: Vec<&[u8]> = numbers
                .par_iter()
                .map(|&n| self.patterns[n])
                .collect();
            let intervals = index.rows_of(&patterns, self.letters, &mut None)?;
            let all = intervals
                .all
                .into_iter()
                .map(|(n, interval)| (numbers[n], interval));
            found.extend(all.filter(|(_, interval)| !interval.is_empty()));
            too_many.extend(intervals.too_many.into_iter().map(|n| numbers[n]));
        }
        // A pattern whose letters stand for classes may have several intervals.
        found.sort_by_key(|(n, _)| *n);
        let mut found = found.into_iter().peekable();
        while found.peek().is_some() {
            let mut rows: Vec<u64> = Vec::new();
            let mut some: Vec<(usize, usize)> = Vec::new();
            let is_last = |some: &[(usize, usize)], n| some.last().is_some_and(|last| last.0 == n);
            while let Some((n, interval)) =
                found.next_if(|(n, _)| rows.len() < ROWS || is_last(&some, *n))
            {
                let count = (interval.end - interval.start) as usize;
                match some.last_mut() {
                    Some(last) if last.0 == n => last.1 += count,
                    _ => some.push((n, count)),
                }
                rows.extend(interval);
            }
            let mut places = index.positions(&rows, &mut None)?.into_iter();
            for (n, count) in some {
                let len = self.patterns[n].len();
                let places = places.by_ref().take(count);
                let crossing = places.filter_map(|at| windows.crossing(at as usize, len));
                self.note(n, crossing.collect());
            }
        }
        self.scan(&too_many, windows);
        Ok(())
    }

    /// Adds matches of pattern `n`. Their positions are behind those that it already has.
    fn note(&mut self, n: usize, mut positions: Vec<u64>) {
        if positions.is_empty() {
            return;
        }
        let matches = self.found.entry(n).or_default();
        matches.count += positions.len() as u64;
        positions.sort_unstable();
        matches.positions.append(&mut positions);
        self.wanted.keep(&mut matches.positions);
    }
}

/// The bytes around some boundaries, one window after the other.
#[derive(Default)]
struct Windows {
    bytes: Vec<u8>,
    all: Vec<Window>,
}

/// The range of a window in [`Windows::bytes`], and the place of its boundary there.
struct Window {
    start: usize,
    boundary: usize,
    end: usize,
    /// Position of the boundary in the section.
    pos: u64,
}

impl Windows {
    /// Adds the window of the boundary behind the first of `edges`, with up to `reach` bytes on
    /// each side.
    fn add(&mut self, edges: &[Edges], reach: usize) {
        let [Edges { tail, end, .. }, behind @ ..] = edges else {
            return;
        };
        let start = self.bytes.len();
        self.bytes
            .extend_from_slice(&tail[tail.len().saturating_sub(reach)..]);
        let boundary = self.bytes.len();
        for next in behind {
            let missing = boundary + reach - self.bytes.len();
            if missing == 0 {
                break;
            }
            self.bytes
                .extend_from_slice(&next.head[..missing.min(next.head.len())]);
        }
        self.all.push(Window {
            start,
            boundary,
            end: self.bytes.len(),
            pos: *end,
        });
    }

    /// Returns the position of a match of `len` bytes at `at`, if the match crosses the boundary of
    /// its window.
    fn crossing(&self, at: usize, len: usize) -> Option<u64> {
        let window = &self.all[self
            .all
            .partition_point(|window| window.end <= at)];
        let crosses =
            at < window.boundary && (window.boundary + 1..=window.end).contains(&(at + len));
        crosses.then(|| window.pos_of(at))
    }
}

impl Window {
    /// The part of the window in which a pattern of `len` bytes can cross the boundary.
    fn around(&self, len: usize) -> Range<usize> {
        self.start
            .max((self.boundary + 1).saturating_sub(len))
            ..self.end.min(self.boundary + len - 1)
    }

    fn pos_of(&self, at: usize) -> u64 {
        self.pos - (self.boundary - at) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::text_scan::occurrences;
    use super::*;
    use crate::cases;

    /// The ends of blocks of `size` bytes, for patterns of up to `longest` bytes.
    fn cut(text: &[u8], size: usize, longest: usize) -> Vec<Edges> {
        let blocks = text
            .chunks(size)
            .zip((size as u64..).step_by(size));
        let kept = |block: &[u8]| block.len().min(longest - 1);
        blocks
            .map(|(block, end)| Edges {
                head: block[..kept(block)].to_vec(),
                tail: block[block.len() - kept(block)..].to_vec(),
                end: end.min(text.len() as u64),
            })
            .collect()
    }

    /// Finds the matches that cross the boundaries of blocks of `size` bytes. `enough` stands in
    /// for `ENOUGH`.
    fn search(text: &[u8], size: usize, patterns: &[&[u8]], enough: usize) -> Vec<Vec<u64>> {
        let longest = patterns.iter().map(|p| p.len()).max().unwrap();
        let mut boundaries = Boundaries {
            enough,
            ..Boundaries::new(patterns, None, WantedPositions::first(usize::MAX))
        };
        for edges in cut(text, size, longest) {
            boundaries.add(edges).unwrap();
            let kept: usize = boundaries
                .edges
                .iter()
                .map(|e| e.head.len() + e.tail.len())
                .sum();
            assert!(
                kept <= enough + 6 * longest,
                "{kept} bytes of blocks of {size}"
            );
        }
        let mut found = boundaries.finish().unwrap();
        let of = |n| found.remove(&n).unwrap_or_default();
        let all: Vec<Matches> = (0..patterns.len()).map(of).collect();
        assert!(
            all.iter()
                .all(|matches| matches.count == matches.positions.len() as u64)
        );
        all.into_iter()
            .map(|matches| matches.positions)
            .collect()
    }

    /// The positions at which a pattern crosses a boundary, found by a plain scan.
    fn plainly(text: &[u8], size: usize, pattern: &[u8]) -> Vec<u64> {
        let inside = |at: usize| at / size == (at + pattern.len() - 1) / size;
        let found = occurrences(pattern, text).filter(|&at| !inside(at));
        found.map(|at| at as u64).collect()
    }

    #[test]
    fn each_match_across_a_boundary_is_found_once() {
        let text = b"abaababaabaababaababaabaababaabaab";
        for size in 1..=text.len() {
            for len in 1..=12 {
                for pattern in text
                    .windows(len)
                    .map(<[u8]>::to_vec)
                    .chain([vec![b'a'; len]])
                {
                    let wanted = plainly(text, size, &pattern);
                    for enough in [1, 20, 1000] {
                        let found = search(text, size, &[&pattern, b"abababababab"], enough);
                        assert_eq!(found[0], wanted, "blocks of {size}, {pattern:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_patterns_are_found_as_few_are() {
        let text: Vec<u8> = cases::random(3000, 2)
            .iter()
            .map(|b| b"ab"[usize::from(*b)])
            .collect();
        let cut = |n: usize| &text[n % 2900..][..1 + n % 37];
        let patterns: Vec<&[u8]> = (0..20 * MANY).map(|n| cut(n * 7919)).collect();
        for size in [1, 10, 36, 500, 1700, 3000] {
            for enough in [100, 1000, ENOUGH] {
                let found = search(&text, size, &patterns, enough);
                for (pattern, found) in patterns.iter().zip(found) {
                    assert_eq!(found, plainly(&text, size, pattern), "{size}, {enough}");
                }
            }
        }
        let mut boundaries = Boundaries::new(&patterns, None, WantedPositions::first(2));
        super::tests::cut(&text, 10, 37)
            .into_iter()
            .for_each(|e| boundaries.add(e).unwrap());
        for (n, Matches { count, positions }) in boundaries.finish().unwrap() {
            let all = plainly(&text, 10, patterns[n]);
            assert_eq!(
                (count, &positions[..]),
                (all.len() as u64, &all[..all.len().min(2)])
            );
        }
    }
}
