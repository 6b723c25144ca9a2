//! The minimizers of all windows, which bring equal windows together (winnowing, of Schleimer,
//! Wilkerson and Aiken).
//!
//! A window of N units has `spread` phrases of N - `spread` + 1 units. Its minimizer is the
//! leftmost phrase with the least hash. Equal windows have equal minimizers, at the same distance
//! from their starts. So a window whose minimizer is unique is unique too. One minimizer represents
//! all windows around it that have it: there is one every `spread` / 2 units on average.
//!
//! If a text repeats itself at a short distance, it has a minimizer at each such distance.
//! Minimizers are left out as a [`PeriodicRun`] if all of their windows are equal to the windows of
//! the minimizer before. So periodic texts do not cost more than others. A unit costs two steps of
//! a rolling hash and three of the minima (van Herk, Gil and Werman).

use super::rolling_hash::RollingHash;
use super::texts::{Segment, unit};
use std::ops::Range;

/// Maximum number of phrases of a window, which fits the distances of a [`Minimizer`].
const MOST_SPREAD: usize = 4000;

/// Below this length in units, each window is its own minimizer: windows with equal short phrases
/// are hardly ever equal.
const SHORT: usize = 24;

/// Limit of the positions of minimizers.
pub(super) const MOST_UNITS: u64 = 1 << 38;

/// The parameters of winnowing, the same for all texts of a search.
#[derive(Clone, Copy)]
pub(super) struct Winnowing {
    /// Units of a window.
    pub len: usize,
    /// Phrases of a window.
    pub spread: usize,
    /// The hash of phrases.
    pub hash: RollingHash,
}

impl Winnowing {
    pub(super) fn new(len: usize, base: u64) -> Self {
        let spread = spread(len);
        Winnowing {
            len,
            spread,
            hash: RollingHash::new(base, len + 1 - spread),
        }
    }
}

/// Number of phrases of a window of `len` units.
pub(super) fn spread(len: usize) -> usize {
    if len < SHORT {
        1
    } else {
        (len / 2).min(MOST_SPREAD)
    }
}

/// A minimizer and the windows around it that have it. The order is by hash, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Minimizer {
    pub hash: u64,
    /// From the highest bit: the position, the distances to the starts of the first and the last
    /// window before it, and a bit that is set if a run follows.
    packed: u64,
}

impl Minimizer {
    fn new(hash: u64, at: usize, windows: &Range<usize>) -> Self {
        let far = (at - windows.start) as u64;
        let near = (at + 1 - windows.end) as u64;
        Minimizer {
            hash,
            packed: (at as u64) << 25 | far << 13 | near << 1,
        }
    }

    /// Start of the phrase.
    pub(super) fn at(self) -> usize {
        (self.packed >> 25) as usize
    }

    /// Distances from the starts of its windows to the phrase.
    pub(super) fn distances(self) -> Range<usize> {
        (self.packed >> 1 & 0xFFF) as usize..(self.packed >> 13 & 0xFFF) as usize + 1
    }

    /// True if the minimizers of a [`PeriodicRun`] follow.
    pub(super) fn is_repeated(self) -> bool {
        self.packed & 1 == 1
    }
}

/// Windows that are equal to those `period` units before. Their minimizers are left out.
#[derive(Clone, Debug)]
pub(super) struct PeriodicRun {
    /// The minimizer of the first period, which is not left out.
    pub minimizer: usize,
    pub windows: Range<usize>,
    pub period: usize,
}

impl PeriodicRun {
    /// The windows of the first period.
    pub(super) fn first(&self) -> Range<usize> {
        self.windows.start - self.period..self.windows.start
    }

    /// Number of repetitions of the first period.
    pub(super) fn times(&self) -> usize {
        self.windows.len() / self.period
    }
}

/// The minimizers and runs of a stretch of text.
#[derive(Default)]
pub(super) struct Winnowed {
    pub minimizers: Vec<Minimizer>,
    pub runs: Vec<PeriodicRun>,
}

/// Finds the minimizers of the windows that begin in `windows`. Only hashes that are `wanted`
/// count.
pub(super) fn winnow<const WIDTH: usize>(
    segment: Segment,
    windows: Range<usize>,
    winnowing: &Winnowing,
    wanted: impl Fn(u64) -> bool,
    found: &mut Winnowed,
) {
    if windows.is_empty() {
        return;
    }
    let spread = winnowing.spread;
    let mut hashes = Hashes::<WIDTH>::new(segment, winnowing);
    let mut emitter = Emitter {
        segment,
        width: WIDTH,
        winnowing,
        wanted,
        found,
        last: None,
        period: None,
    };
    let mut block = Vec::with_capacity(spread);
    let mut next = Vec::with_capacity(spread);
    let mut least_from = vec![0; spread];
    let phrases = windows.end + spread - 1;
    hashes.fill(&mut block, windows.start..windows.start + spread);
    let mut owner: Option<Owner> = None;
    for start in windows.clone().step_by(spread) {
        let behind = start + spread;
        hashes.fill(&mut next, behind..phrases.min(behind + spread));
        suffix_minima(&block, &mut least_from);
        let mut least = u64::MAX;
        let mut least_at = 0;
        for (n, &from) in least_from
            .iter()
            .enumerate()
            .take(windows.end - start)
        {
            if n > 0 && next[n - 1] < least {
                (least, least_at) = (next[n - 1], n - 1);
            }
            let (hash, at) = match block[from] {
                hash if hash <= least => (hash, start + from),
                _ => (least, behind + least_at),
            };
            match &mut owner {
                Some(owner) if owner.at == at => owner.windows.end += 1,
                _ => {
                    let begun = Owner {
                        hash,
                        at,
                        windows: start + n..start + n + 1,
                    };
                    owner
                        .replace(begun)
                        .into_iter()
                        .for_each(|done| emitter.emit(done));
                }
            }
        }
        std::mem::swap(&mut block, &mut next);
    }
    owner
        .into_iter()
        .for_each(|done| emitter.emit(done));
}

/// Finds, for each number of a block, the index of the least number from there to the end; the
/// leftmost of several.
fn suffix_minima(block: &[u64], least_from: &mut [usize]) {
    let mut least = block.len() - 1;
    for n in (0..block.len()).rev() {
        if block[n] <= block[least] {
            least = n;
        }
        least_from[n] = least;
    }
}

/// The hashes of consecutive phrases.
struct Hashes<'a, const WIDTH: usize> {
    segment: Segment<'a>,
    hash: RollingHash,
    len: usize,
    /// Hash of the last phrase.
    current: Option<u64>,
}

impl<'a, const WIDTH: usize> Hashes<'a, WIDTH> {
    fn new(segment: Segment<'a>, winnowing: &Winnowing) -> Self {
        let len = winnowing.len + 1 - winnowing.spread;
        Hashes {
            segment,
            hash: winnowing.hash,
            len,
            current: None,
        }
    }

    /// Replaces `hashes` by the hashes of the phrases at `positions`, which continue the last
    /// call's.
    fn fill(&mut self, hashes: &mut Vec<u64>, positions: Range<usize>) {
        hashes.clear();
        let Segment { text, start, .. } = self.segment;
        for at in positions.start - start
            ..positions
                .end
                .saturating_sub(start)
                .max(positions.start - start)
        {
            let hash = match self.current {
                None => self.hash.of(|n| unit::<WIDTH>(text, at + n)),
                Some(hash) => {
                    let left = unit::<WIDTH>(text, at - 1);
                    let came = unit::<WIDTH>(text, at + self.len - 1);
                    self.hash.roll(hash, left, came)
                }
            };
            self.current = Some(hash);
            hashes.push(hash);
        }
    }
}

/// A minimizer whose windows are still being counted.
#[derive(Clone)]
struct Owner {
    hash: u64,
    at: usize,
    windows: Range<usize>,
}

/// Units that are equal to those `distance` before.
struct Period {
    distance: usize,
    units: Range<usize>,
}

/// Takes minimizers one after the other, and leaves out those that only repeat the last one.
struct Emitter<'a, F> {
    segment: Segment<'a>,
    width: usize,
    winnowing: &'a Winnowing,
    wanted: F,
    found: &'a mut Winnowed,
    last: Option<Owner>,
    period: Option<Period>,
}

impl<F: Fn(u64) -> bool> Emitter<'_, F> {
    fn emit(&mut self, owner: Owner) {
        if (self.wanted)(owner.hash) && !self.goes_on(&owner) {
            self.found
                .minimizers
                .push(Minimizer::new(owner.hash, owner.at, &owner.windows));
        }
        self.last = Some(owner);
    }

    /// True if all windows of `owner` are equal to those of the last minimizer. They then belong to
    /// a run.
    fn goes_on(&mut self, owner: &Owner) -> bool {
        let Some(last) = self
            .last
            .clone()
            .filter(|last| last.hash == owner.hash)
        else {
            return false;
        };
        let period = owner.at - last.at;
        let is_alike = last.windows.start + period == owner.windows.start
            && last.windows.end + period == owner.windows.end
            && last.windows.end == owner.windows.start;
        if !is_alike || !self.is_periodic(period, &owner.windows) {
            return false;
        }
        match self.found.runs.last_mut() {
            Some(run) if run.windows.end == owner.windows.start && run.period == period => {
                run.windows.end = owner.windows.end;
            }
            _ => {
                let windows = owner.windows.clone();
                self.found
                    .minimizers
                    .last_mut()
                    .expect("the last one was pushed")
                    .packed |= 1;
                self.found.runs.push(PeriodicRun {
                    minimizer: last.at,
                    windows,
                    period,
                });
            }
        }
        true
    }

    /// True if the units of these windows are equal to those a period before. Units that were
    /// compared for earlier windows are not compared again.
    fn is_periodic(&mut self, distance: usize, windows: &Range<usize>) -> bool {
        let end = windows.end - 1 + self.winnowing.len;
        let known = match &self.period {
            Some(Period {
                distance: known,
                units,
            }) if *known == distance
                && units.start <= windows.start
                && windows.start <= units.end =>
            {
                units.clone()
            }
            _ => windows.start..windows.start,
        };
        let byte = |position: usize| (position - self.segment.start) * self.width;
        let text = self.segment.text;
        let from = byte(known.end);
        let to = byte(end.max(known.end));
        let is_equal =
            text[from..to] == text[from - distance * self.width..to - distance * self.width];
        if is_equal {
            self.period = Some(Period {
                distance,
                units: known.start..end.max(known.end),
            });
        }
        is_equal
    }
}
