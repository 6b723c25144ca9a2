//! Finds the equal windows among those with equal minimizers.
//!
//! The minimizers of one hash are a group. They are visited in the order of their positions. Each
//! is extended to both sides and compared with the first few of its group (the representatives).
//! This finds at once which of its windows are equal to theirs. The other windows are looked up by
//! their hash in a table that belongs to the group alone. Windows are always compared byte by byte
//! before they count as equal. Hashes that collide, by chance or on purpose, only cost time.

use super::rolling_hash::RollingHash;
use super::texts::{Spot, Texts, unit};
use super::window_marks::WindowMarks;
use super::window_minimizers::Minimizer;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of representatives of a group.
const REPRESENTATIVES: usize = 4;

/// Bytes per window in the table while the table grows.
pub(super) const TABLE_ENTRY: usize = 64;

/// A window and its number of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frequent {
    pub copies: usize,
    pub at: Reverse<usize>,
}

/// The results for each window.
pub(super) struct Marks {
    /// Set if the window is equal to an earlier one.
    pub copies: WindowMarks,
    /// Set if the window is the first of several equal ones.
    pub originals: WindowMarks,
}

/// Compares the windows of groups.
pub(super) struct Comparison<'a> {
    pub texts: &'a Texts<'a>,
    /// Units of a window.
    pub len: usize,
    /// Number of distances that a window may have from its minimizer.
    pub spread: usize,
    /// The hash of windows.
    pub hash: RollingHash,
    pub marks: &'a Marks,
    /// Number of repetitions of each minimizer that is marked as repeated.
    pub times: HashMap<usize, usize>,
    /// Maximum number of windows in the table at a time.
    pub table_len: usize,
    /// The highest number of copies of a window so far.
    pub most: &'a AtomicUsize,
}

/// A minimizer with which later ones of its group are compared.
struct Representative<'a> {
    at: usize,
    spot: Spot<'a>,
    /// Number of copies of the window at each distance. Empty if copies are not counted.
    copies: Vec<usize>,
}

/// The windows of a group that are no copies of the representatives' windows. The key is the hash
/// of the window, or the next free number if another window has that key.
type Table = HashMap<u64, TableEntry, BuildHasherDefault<HashItself>>;

struct TableEntry {
    at: usize,
    copies: usize,
}

/// Distances whose windows have not been compared yet.
type Pending = Vec<Range<usize>>;

/// The state while one group is visited.
#[derive(Default)]
struct WindowGroup<'a> {
    representatives: Vec<Representative<'a>>,
    table: Table,
    is_counted: bool,
}

impl<'a> Comparison<'a> {
    /// Marks the windows of groups; `minimizers` is sorted. Returns the window with the most
    /// copies, if it may have more than windows of other calls.
    pub(super) fn compare(&self, minimizers: &[Minimizer]) -> Option<Frequent> {
        let groups = minimizers.chunk_by(|a, b| a.hash == b.hash);
        groups.filter_map(|group| self.group(group)).max()
    }

    fn group(&self, minimizers: &[Minimizer]) -> Option<Frequent> {
        let windows: usize = minimizers
            .iter()
            .map(|minimizer| minimizer.distances().len())
            .sum();
        let most: usize = minimizers
            .iter()
            .map(|minimizer| self.times(*minimizer))
            .sum();
        let is_counted = most >= self.most.load(Ordering::Relaxed).max(2);
        // If the table would be too large, each pass holds only a part of the windows.
        let passes = windows.div_ceil(self.table_len.max(1)) as u64;
        let frequent = (0..passes).filter_map(|pass| {
            let mut group = WindowGroup {
                is_counted,
                ..WindowGroup::default()
            };
            minimizers.iter().for_each(|&minimizer| {
                self.add(&mut group, minimizer, |hash| hash % passes == pass);
            });
            group.most_frequent()
        });
        let frequent = frequent.max()?;
        self.most
            .fetch_max(frequent.copies, Ordering::Relaxed);
        Some(frequent)
    }

    /// Number of minimizers that this one represents, itself included.
    fn times(&self, minimizer: Minimizer) -> usize {
        match minimizer.is_repeated() {
            true => 1 + self.times[&minimizer.at()],
            false => 1,
        }
    }

    /// Compares the windows of a minimizer with those of the group so far, and adds it to the
    /// group.
    fn add(
        &self,
        group: &mut WindowGroup<'a>,
        minimizer: Minimizer,
        in_table: impl Fn(u64) -> bool,
    ) {
        let at = minimizer.at();
        let spot = self.texts.spot(minimizer.at());
        let times = if group.is_counted {
            self.times(minimizer)
        } else {
            0
        };
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
            let mut new = Representative {
                at,
                spot,
                copies: vec![0; counted],
            };
            if spot.segment.is_target {
                pending
                    .iter()
                    .for_each(|distances| new.count(distances, times.saturating_sub(1)));
            }
            group.representatives.push(new);
        }
    }

    /// The distances of windows that are not yet known to be copies.
    fn pending(&self, minimizer: Minimizer) -> Pending {
        let at = minimizer.at();
        let distances = minimizer.distances();
        let copies = &self.marks.copies;
        if copies.are_clear(at + 1 - distances.end..at + 1 - distances.start) {
            return vec![distances];
        }
        let unknown = distances.filter(|distance| !copies.is_set(at - distance));
        unknown
            .map(|distance| distance..distance + 1)
            .collect()
    }

    /// The distances at which the windows of two minimizers are equal.
    fn equal_distances(&self, a: Spot, b: Spot, wanted: &Range<usize>) -> Range<usize> {
        let from = self
            .texts
            .common_from(a, b, self.len - wanted.start);
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

    /// Looks windows up in the table, and adds those of sources that are missing.
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
                        let copies = if spot.segment.is_target {
                            times.saturating_sub(1)
                        } else {
                            0
                        };
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

    /// Consecutive windows with their hashes.
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
                false => self
                    .hash
                    .roll(hash, unit(window - 1), unit(window + self.len - 1)),
            };
            (window, hash)
        })
    }
}

/// The last two windows that were found equal. Of the next two windows, only the last units can
/// differ.
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

/// Removes `covered` from `pending`, and calls `with` for each removed piece.
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
    /// Counts copies of windows, if copies are counted.
    fn count(&mut self, distances: &Range<usize>, times: usize) {
        if let Some(copies) = self.copies.get_mut(distances.clone()) {
            copies
                .iter_mut()
                .for_each(|copies| *copies += times);
        }
    }
}

impl WindowGroup<'_> {
    fn most_frequent(&self) -> Option<Frequent> {
        let of_representatives = self
            .representatives
            .iter()
            .flat_map(|representative| {
                let at = representative.at;
                let copies = &representative.copies;
                let copies = copies
                    .iter()
                    .enumerate()
                    .filter(|(_, copies)| **copies > 0);
                copies.map(move |(n, &copies)| Frequent {
                    copies,
                    at: Reverse(at - n),
                })
            });
        let of_table = self.table.values();
        let of_table = of_table.map(|entry| Frequent {
            copies: entry.copies,
            at: Reverse(entry.at),
        });
        of_representatives
            .chain(of_table)
            .filter(|frequent| frequent.copies > 0)
            .max()
    }
}

/// A hasher for keys that are hashes already.
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
