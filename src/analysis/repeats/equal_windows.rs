//! Which windows are equal, among those whose minimizers are.
//!
//! The minimizers of one hash, a group, are gone through in the order of their positions. Each is
//! extended to both sides against the first few of its group (representatives): that tells at once
//! which of its windows are equal to theirs. Windows that are left are looked up in a table of
//! windows by their hash, which is of the group alone. What is equal is always compared byte by
//! byte; hashes that are equal by chance or on purpose only cost time.

use super::rolling_hash::RollingHash;
use super::texts::{Spot, Texts, unit};
use super::window_marks::WindowMarks;
use super::window_minimizers::Minimizer;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimizers of a group that others are extended against.
const REPRESENTATIVES: usize = 4;

/// Bytes that a window takes in the table while that grows.
pub(super) const TABLE_ENTRY: usize = 64;

/// A window and how many copies it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frequent {
    pub copies: usize,
    pub at: Reverse<usize>,
}

/// What is found of each window.
pub(super) struct Marks {
    /// It is equal to an earlier one.
    pub copies: WindowMarks,
    /// It is the first of windows that are equal.
    pub originals: WindowMarks,
}

/// Compares the windows of groups.
pub(super) struct Comparison<'a> {
    pub texts: &'a Texts<'a>,
    /// Units of a window.
    pub len: usize,
    /// Distances that a window may have from its minimizer.
    pub spread: usize,
    /// The hash of windows.
    pub hash: RollingHash,
    pub marks: &'a Marks,
    /// How often the minimizers that say so are repeated.
    pub times: HashMap<usize, usize>,
    /// Windows in the table at a time.
    pub table_len: usize,
    /// The most copies of a window found so far.
    pub most: &'a AtomicUsize,
}

/// A minimizer that later ones are extended against.
struct Representative<'a> {
    at: usize,
    spot: Spot<'a>,
    /// How many copies the window at each distance has; empty where nobody counts.
    copies: Vec<usize>,
}

/// The windows of a group that are no copies of those of representatives, by their hash or, where
/// that is another window's, a number behind it.
type Table = HashMap<u64, TableEntry, BuildHasherDefault<HashItself>>;

struct TableEntry {
    at: usize,
    copies: usize,
}

/// Distances that nothing is known of yet.
type Pending = Vec<Range<usize>>;

/// What is gathered while one group is gone through.
#[derive(Default)]
struct WindowGroup<'a> {
    representatives: Vec<Representative<'a>>,
    table: Table,
    is_counted: bool,
}

impl<'a> Comparison<'a> {
    /// Marks the windows of groups, which are sorted; gives the one with the most copies, if any
    /// may have more than others elsewhere.
    pub fn compare(&self, minimizers: &[Minimizer]) -> Option<Frequent> {
        let groups = minimizers.chunk_by(|a, b| a.hash == b.hash);
        groups.filter_map(|group| self.group(group)).max()
    }

    fn group(&self, minimizers: &[Minimizer]) -> Option<Frequent> {
        let windows: usize = minimizers.iter().map(|minimizer| minimizer.distances().len()).sum();
        let most: usize = minimizers.iter().map(|minimizer| self.times(*minimizer)).sum();
        let is_counted = most >= self.most.load(Ordering::Relaxed).max(2);
        // A table that would be too large holds a part of the windows at a time.
        let passes = windows.div_ceil(self.table_len.max(1)) as u64;
        let frequent = (0..passes).filter_map(|pass| {
            let mut group = WindowGroup { is_counted, ..WindowGroup::default() };
            minimizers.iter().for_each(|&minimizer| {
                self.add(&mut group, minimizer, |hash| hash % passes == pass);
            });
            group.most_frequent()
        });
        let frequent = frequent.max()?;
        self.most.fetch_max(frequent.copies, Ordering::Relaxed);
        Some(frequent)
    }

    /// How many minimizers this one stands for.
    fn times(&self, minimizer: Minimizer) -> usize {
        match minimizer.is_repeated() {
            true => 1 + self.times[&minimizer.at()],
            false => 1,
        }
    }

    /// Compares the windows of a minimizer with those of the group so far, and adds it to them.
    fn add(
        &self,
        group: &mut WindowGroup<'a>,
        minimizer: Minimizer,
        in_table: impl Fn(u64) -> bool,
    ) {
        let at = minimizer.at();
        let spot = self.texts.spot(minimizer.at());
        let times = if group.is_counted { self.times(minimizer) } else { 0 };
        let mut pending = self.pending(minimizer);
        for other in &mut group.representatives {
            if pending.is_empty() {
                return;
            }
            let covered = self.equal_distances(other.spot, spot, &minimizer.distances());
            take(&mut pending, covered, |distances| {
                if spot.segment.is_target && other.at < at {
                    self.mark(other.at, at, &distances);
                    other.count(&distances, times);
                } else if spot.segment.is_target {
                    // Two stretches of a text share a minimizer, but no window.
                    other.count(&distances, times.saturating_sub(1));
                }
            });
        }
        if pending.is_empty() {
            return;
        }
        if group.representatives.len() == REPRESENTATIVES {
            pending.iter().for_each(|distances| {
                self.look_up(&mut group.table, spot, at, distances, times, &in_table);
            });
        } else if spot.segment.is_source {
            let counted = if group.is_counted { self.spread } else { 0 };
            let mut new = Representative { at, spot, copies: vec![0; counted] };
            if spot.segment.is_target {
                pending.iter().for_each(|distances| new.count(distances, times.saturating_sub(1)));
            }
            group.representatives.push(new);
        }
    }

    /// The distances of windows that are not known as copies yet.
    fn pending(&self, minimizer: Minimizer) -> Pending {
        let at = minimizer.at();
        let distances = minimizer.distances();
        let copies = &self.marks.copies;
        if copies.are_clear(at + 1 - distances.end..at + 1 - distances.start) {
            return vec![distances];
        }
        let unknown = distances.filter(|distance| !copies.is_set(at - distance));
        unknown.map(|distance| distance..distance + 1).collect()
    }

    /// The distances at which the windows of two minimizers are equal.
    fn equal_distances(&self, a: Spot, b: Spot, wanted: &Range<usize>) -> Range<usize> {
        let from = self.texts.common_from(a, b, self.len - wanted.start);
        let start = wanted.start.max(self.len - from);
        if start >= wanted.end {
            return 0..0;
        }
        let before = self.texts.common_before(a, b, wanted.end - 1);
        start..wanted.end.min(before + 1)
    }

    fn mark(&self, original: usize, copy: usize, distances: &Range<usize>) {
        let windows = |at: usize| at + 1 - distances.end..at + 1 - distances.start;
        self.marks.copies.set(windows(copy));
        self.marks.originals.set(windows(original));
    }

    /// Looks windows up in the table, and adds those of sources that are not there.
    fn look_up(
        &self,
        table: &mut Table,
        spot: Spot,
        at: usize,
        distances: &Range<usize>,
        times: usize,
        in_table: impl Fn(u64) -> bool,
    ) {
        let mut chain = Chain::default();
        for (window, hash) in self.hashes(spot, at + 1 - distances.end..at + 1 - distances.start) {
            if !in_table(hash) {
                chain = Chain::default();
                continue;
            }
            let mut key = hash;
            loop {
                match table.get_mut(&key) {
                    None if spot.segment.is_source => {
                        let copies =
                            if spot.segment.is_target { times.saturating_sub(1) } else { 0 };
                        table.insert(key, TableEntry { at: window, copies });
                        break;
                    }
                    None => break,
                    Some(entry) if chain.is_equal(self, entry.at, window) => {
                        if spot.segment.is_target {
                            self.mark(entry.at, window, &(0..1));
                            entry.copies += times;
                        }
                        break;
                    }
                    Some(_) => key = key.wrapping_add(1),
                }
            }
        }
    }

    /// Windows in a row with their hashes.
    fn hashes(&self, spot: Spot<'a>, windows: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let width = self.texts.width;
        let text = spot.segment.text;
        let start = spot.segment.start;
        let unit = move |at: usize| match width {
            1 => unit::<1>(text, at - start),
            2 => unit::<2>(text, at - start),
            _ => unit::<4>(text, at - start),
        };
        let first = windows.start;
        let mut hash = 0;
        windows.map(move |window| {
            hash = match window == first {
                true => self.hash.of(|n| unit(window + n)),
                false => self.hash.roll(hash, unit(window - 1), unit(window + self.len - 1)),
            };
            (window, hash)
        })
    }
}

/// Two windows that were found equal: of those behind them only the last units may differ.
#[derive(Default)]
struct Chain(Option<(usize, usize)>);

impl Chain {
    fn is_equal(&mut self, comparison: &Comparison, a: usize, b: usize) -> bool {
        let texts = comparison.texts;
        let len = comparison.len;
        let is_equal = match self.0 {
            Some((last_a, last_b)) if (last_a + 1, last_b + 1) == (a, b) => {
                texts.are_equal(a + len - 1, b + len - 1, 1)
            }
            _ => texts.are_equal(a, b, len),
        };
        if is_equal {
            self.0 = Some((a, b));
        }
        is_equal
    }
}

/// Takes `covered` out of `pending`, and calls `with` for each piece of it that was there.
fn take(pending: &mut Pending, covered: Range<usize>, mut with: impl FnMut(Range<usize>)) {
    if covered.is_empty() {
        return;
    }
    let mut left = Vec::new();
    for range in pending.drain(..) {
        let both = range.start.max(covered.start)..range.end.min(covered.end);
        if both.is_empty() {
            left.push(range);
            continue;
        }
        let around = [range.start..both.start, both.end..range.end];
        left.extend(around.into_iter().filter(|part| !part.is_empty()));
        with(both);
    }
    *pending = left;
}

impl Representative<'_> {
    /// Counts copies of windows, if anybody counts.
    fn count(&mut self, distances: &Range<usize>, times: usize) {
        if let Some(copies) = self.copies.get_mut(distances.clone()) {
            copies.iter_mut().for_each(|copies| *copies += times);
        }
    }
}

impl WindowGroup<'_> {
    fn most_frequent(&self) -> Option<Frequent> {
        let of_representatives = self.representatives.iter().flat_map(|representative| {
            let at = representative.at;
            let copies = &representative.copies;
            let copies = copies.iter().enumerate().filter(|(_, copies)| **copies > 0);
            copies.map(move |(n, &copies)| Frequent { copies, at: Reverse(at - n) })
        });
        let of_table = self.table.values();
        let of_table =
            of_table.map(|entry| Frequent { copies: entry.copies, at: Reverse(entry.at) });
        of_representatives.chain(of_table).filter(|frequent| frequent.copies > 0).max()
    }
}

/// The keys are hashes already.
#[derive(Default)]
struct HashItself(u64);

impl Hasher for HashItself {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("the keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
