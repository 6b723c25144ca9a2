//! The pairs of positions, one of each set, whose suffixes agree for at least so many bases, and
//! which do not agree before them.
//!
//! Rows that agree for so many bases follow each other; the intervals of those that agree for more
//! are nested in them. They are walked from the inside out (M. I. Abouelhoda, S. Kurtz and E.
//! Ohlebusch, *Replacing suffix trees with enhanced suffix arrays*, 2004). An interval keeps lists
//! of its positions, for each set and each base before them (D. Gusfield, *Algorithms on strings,
//! trees and sequences*, 1997, section 7.12.3): where two intervals become one, all pairs of them
//! with different bases before agree exactly as far as the new one does. Threads walk stretches of
//! rows, which begin where neighbours agree for less.

use super::joined_text::JoinedText;
use super::result_budget::Budget;
use crate::allocation;
use crate::error::{Error, Result};
use crate::lcp::LcpArrays;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::iter::successors;

/// Stretches of rows for each thread: they take different times.
const STRETCHES: usize = 32;

/// Rows that are walked sooner than another thread is woken.
pub const FEW: usize = 1 << 10;

const NONE: u32 = u32::MAX;

/// Bases before a position: A, C, G, T, and none, from which all differ.
const BEFORE: usize = 5;
const NO_BASE_BEFORE: usize = 4;

/// A stretch of the text that both sets have and that cannot be made longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Positions in the text: of the second set, of the first.
    pub b: u32,
    pub a: u32,
    pub length: u32,
}

/// What is walked.
pub struct IntervalWalk<'t> {
    pub text: &'t JoinedText<'t>,
    pub arrays: &'t LcpArrays,
    /// Bases that a pair agrees for at least, 1 or more.
    pub least: u32,
    /// Whether only those pairs are wanted that stand once in the first set. Some others come out
    /// too then, but no more than there are positions.
    pub once: bool,
    pub budget: &'t Budget,
}

impl IntervalWalk<'_> {
    /// All pairs, in no order.
    pub fn pairs(&self, pool: &ThreadPool) -> Result<Vec<Pair>> {
        let rows = self.arrays.lcp.len();
        let no_memory = || Error::out_of_memory("for the matches");
        let mut next: Vec<u32> = allocation::zeroed(rows).ok_or_else(no_memory)?;
        let (mut rest, mut from, mut stretches) = (&mut next[..], 0, Vec::new());
        for end in cuts(&self.arrays.lcp, self.least, STRETCHES * pool.current_num_threads()) {
            let (stretch, behind) = rest.split_at_mut(end - from);
            stretches.push((from, stretch));
            (rest, from) = (behind, end);
        }
        let walked = |(from, next)| self.walk(from, next);
        let found: Result<Vec<Vec<Pair>>> = match rows <= FEW {
            true => stretches.into_iter().map(walked).collect(),
            false => pool.install(|| stretches.into_par_iter().map(walked).collect()),
        };
        let found = found?;
        let pairs = allocation::with_capacity(found.iter().map(Vec::len).sum());
        let mut pairs = pairs.ok_or_else(no_memory)?;
        found.into_iter().for_each(|some| pairs.extend(some));
        Ok(pairs)
    }

    /// The pairs in the rows from `from` on, for each of which `next` has an entry.
    fn walk(&self, from: usize, next: &mut [u32]) -> Result<Vec<Pair>> {
        let LcpArrays { suffixes, lcp } = self.arrays;
        let rows = from..from + next.len();
        let mut intervals = Intervals { walk: self, from, next, stack: Vec::new(), pairs: vec![] };
        let mut before = 0;
        for row in rows.clone() {
            let after = if row + 1 < rows.end { lcp[row + 1] } else { 0 };
            if before >= self.least || after >= self.least {
                let leaf = Lists::of(suffixes[row], (row - from) as u32, self.text);
                intervals.add(leaf, after)?;
            }
            before = after;
        }
        Ok(intervals.pairs)
    }
}

/// The ends of stretches of rows, at which neighbours agree for less than `least`.
pub fn cuts(lcp: &[u32], least: u32, count: usize) -> Vec<usize> {
    let size = lcp.len().div_ceil(count).max(1);
    let mut ends = Vec::new();
    let mut from = 0;
    while from < lcp.len() {
        let at_least = (from + size).min(lcp.len());
        let more = lcp[at_least..].iter().position(|&lcp| lcp < least);
        from = more.map_or(lcp.len(), |more| at_least + more);
        ends.push(from);
    }
    ends
}

/// The rows of an interval, as lists for each set and each base before. A row's next one is in
/// [`Intervals::next`].
#[derive(Clone, Copy)]
struct Lists {
    ends: [[(u32, u32); BEFORE]; 2],
    /// Positions of the first set.
    first: u32,
}

impl Lists {
    fn of(pos: u32, row: u32, text: &JoinedText) -> Self {
        let set = usize::from(pos >= text.first_end());
        let before = match text.before(pos) {
            b'A' => 0,
            b'C' => 1,
            b'G' => 2,
            b'T' => 3,
            _ => NO_BASE_BEFORE,
        };
        let mut lists = Lists { ends: [[(NONE, NONE); BEFORE]; 2], first: u32::from(set == 0) };
        lists.ends[set][before] = (row, row);
        lists
    }
}

/// An interval that is not at its end yet: what its rows so far agree for.
struct Interval {
    depth: u32,
    lists: Lists,
}

struct Intervals<'w> {
    walk: &'w IntervalWalk<'w>,
    from: usize,
    /// For each row, the next one in its list.
    next: &'w mut [u32],
    stack: Vec<Interval>,
    pairs: Vec<Pair>,
}

impl Intervals<'_> {
    /// Adds a row that agrees with the one after it for `after` bases.
    fn add(&mut self, row: Lists, after: u32) -> Result<()> {
        let mut lists = row;
        while let Some(top) = self.stack.pop_if(|top| top.depth > after) {
            lists = self.unite(top.lists, lists, top.depth)?;
        }
        if after < self.walk.least {
            return Ok(());
        }
        if let Some(top) = self.stack.pop_if(|top| top.depth == after) {
            lists = self.unite(top.lists, lists, after)?;
        }
        self.walk.budget.push(&mut self.stack, Interval { depth: after, lists })
    }

    /// Makes one of two, whose rows agree for `depth` bases.
    fn unite(&mut self, mut one: Lists, other: Lists, depth: u32) -> Result<Lists> {
        let first = one.first.saturating_add(other.first);
        if !self.walk.once || first == 1 {
            self.pair(&one, &other, depth)?;
            self.pair(&other, &one, depth)?;
        }
        for (one, other) in one.ends.iter_mut().flatten().zip(other.ends.iter().flatten()) {
            match (one.1, other.0) {
                (_, NONE) => {}
                (NONE, _) => *one = *other,
                (last, next) => {
                    self.next[last as usize] = next;
                    one.1 = other.1;
                }
            }
        }
        one.first = first;
        Ok(one)
    }

    /// The pairs of the first set's rows in `a` and the second one's in `b`.
    fn pair(&mut self, a: &Lists, b: &Lists, depth: u32) -> Result<()> {
        for (base, list) in a.ends[0].iter().enumerate().filter(|(_, list)| list.0 != NONE) {
            for (other, with) in b.ends[1].iter().enumerate().filter(|(_, list)| list.0 != NONE) {
                if base != other || base == NO_BASE_BEFORE {
                    self.pair_lists(*list, *with, depth)?;
                }
            }
        }
        Ok(())
    }

    fn pair_lists(&mut self, a: (u32, u32), b: (u32, u32), length: u32) -> Result<()> {
        let Intervals { walk, from, next, pairs, .. } = self;
        let suffixes = &walk.arrays.suffixes[*from..];
        for a in rows(a, next) {
            for b in rows(b, next) {
                let (a, b) = (suffixes[a as usize], suffixes[b as usize]);
                walk.budget.push(pairs, Pair { b, a, length })?;
            }
        }
        Ok(())
    }
}

/// The rows of a list, from its first to its last.
fn rows((first, last): (u32, u32), next: &[u32]) -> impl Iterator<Item = u32> {
    successors(Some(first), move |&row| (row != last).then(|| next[row as usize]))
}
