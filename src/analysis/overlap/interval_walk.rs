//! Pairs of positions, one of each set, whose suffixes agree for at least a given number of bases,
//! and which are preceded by different bases.
//!
//! Rows that agree for at least a given number of bases form an interval, and the intervals of rows
//! that agree for more are nested in it. The walk goes from the inner intervals to the outer (M. I.
//! Abouelhoda, S. Kurtz and E. Ohlebusch, *Replacing suffix trees with enhanced suffix arrays*,
//! 2004). An interval keeps lists of its positions, one list for each set and each base before them
//! (D. Gusfield, *Algorithms on strings, trees and sequences*, 1997, section 7.12.3). When two
//! intervals become one, all pairs of their positions with different bases before agree exactly for
//! the depth of the new interval.
//!
//! Threads walk stretches of rows. A stretch begins between neighbours that agree for less than the
//! given number.

use super::joined_text::JoinedText;
use super::result_budget::Budget;
use crate::analysis::lcp::LcpArrays;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::iter::successors;

/// Number of stretches of rows per thread. There are many because they take different times.
const STRETCHES: usize = 32;

/// Maximum number of rows that are walked sooner than another thread is woken.
pub(super) const FEW: usize = 1 << 10;

const NONE: u32 = u32::MAX;

/// Number of values for the base before a position: A, C, G, T, and none, which differs from all.
const BEFORE: usize = 5;
/// Number of the value for no base.
const NO_BASE_BEFORE: usize = 4;

/// A string that both sets have and that cannot be made longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// Position in the text, of the second set.
    pub b: u32,
    /// Position in the text, of the first set.
    pub a: u32,
    pub length: u32,
}

/// A walk of the rows of a text.
pub(super) struct IntervalWalk<'t> {
    pub text: &'t JoinedText<'t>,
    pub arrays: &'t LcpArrays,
    /// Minimum number of bases for which a pair agrees, 1 or more.
    pub least: u32,
    /// True if only pairs are wanted that occur once in the first set. A few others are returned
    /// too, but no more than there are positions.
    pub once: bool,
    pub budget: &'t Budget,
}

impl IntervalWalk<'_> {
    /// Finds all pairs, in no order.
    pub(super) fn pairs(&self, pool: &ThreadPool) -> Result<Vec<Pair>> {
        let rows = self.arrays.lcp.len();
        let no_memory = || Error::out_of_memory("for the matches");
        let mut next: Vec<u32> = allocation::zeroed(rows).ok_or_else(no_memory)?;
        let mut rest = &mut next[..];
        let mut from = 0;
        let mut stretches = Vec::new();
        for end in cuts(
            &self.arrays.lcp,
            self.least,
            STRETCHES * pool.current_num_threads(),
        ) {
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
        found
            .into_iter()
            .for_each(|some| pairs.extend(some));
        Ok(pairs)
    }

    /// Finds the pairs in the rows from `from` on. `next` has an entry for each of these rows.
    fn walk(&self, from: usize, next: &mut [u32]) -> Result<Vec<Pair>> {
        let LcpArrays { suffixes, lcp } = self.arrays;
        let rows = from..from + next.len();
        let mut intervals = Intervals {
            walk: self,
            from,
            next,
            stack: Vec::new(),
            pairs: vec![],
        };
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

/// Cuts the rows into about `count` stretches, between neighbours that agree for less than `least`.
/// Returns the ends of the stretches.
pub(super) fn cuts(lcp: &[u32], least: u32, count: usize) -> Vec<usize> {
    let size = lcp.len().div_ceil(count).max(1);
    let mut ends = Vec::new();
    let mut from = 0;
    while from < lcp.len() {
        let at_least = (from + size).min(lcp.len());
        let more = lcp[at_least..]
            .iter()
            .position(|&lcp| lcp < least);
        from = more.map_or(lcp.len(), |more| at_least + more);
        ends.push(from);
    }
    ends
}

/// Rows of an interval, as lists for each set and each base before. [`Intervals::next`] links the
/// rows of a list.
#[derive(Clone, Copy)]
struct Lists {
    ends: [[(u32, u32); BEFORE]; 2],
    /// Number of positions of the first set.
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
        let mut lists = Lists {
            ends: [[(NONE, NONE); BEFORE]; 2],
            first: u32::from(set == 0),
        };
        lists.ends[set][before] = (row, row);
        lists
    }
}

/// An interval whose end is not reached yet. The rows added to it agree for `depth` bases.
struct Interval {
    depth: u32,
    lists: Lists,
}

struct Intervals<'w> {
    walk: &'w IntervalWalk<'w>,
    from: usize,
    /// For each row, the next row in its list.
    next: &'w mut [u32],
    stack: Vec<Interval>,
    pairs: Vec<Pair>,
}

impl Intervals<'_> {
    /// Adds a row that agrees with the row after it for `after` bases.
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
        self.walk.budget.push(
            &mut self.stack,
            Interval {
                depth: after,
                lists,
            },
        )
    }

    /// Unites two intervals, whose rows agree for `depth` bases.
    fn unite(&mut self, mut one: Lists, other: Lists, depth: u32) -> Result<Lists> {
        let first = one.first.saturating_add(other.first);
        if !self.walk.once || first == 1 {
            self.pair(&one, &other, depth)?;
            self.pair(&other, &one, depth)?;
        }
        for (one, other) in one
            .ends
            .iter_mut()
            .flatten()
            .zip(other.ends.iter().flatten())
        {
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

    /// Adds the pairs of the first set's rows in `a` with the second set's rows in `b`.
    fn pair(&mut self, a: &Lists, b: &Lists, depth: u32) -> Result<()> {
        for (base, list) in a.ends[0]
            .iter()
            .enumerate()
            .filter(|(_, list)| list.0 != NONE)
        {
            for (other, with) in b.ends[1]
                .iter()
                .enumerate()
                .filter(|(_, list)| list.0 != NONE)
            {
                if base != other || base == NO_BASE_BEFORE {
                    self.pair_lists(*list, *with, depth)?;
                }
            }
        }
        Ok(())
    }

    fn pair_lists(&mut self, a: (u32, u32), b: (u32, u32), length: u32) -> Result<()> {
        let Intervals {
            walk,
            from,
            next,
            pairs,
            ..
        } = self;
        let suffixes = &walk.arrays.suffixes[*from..];
        for a in rows(a.0, a.1, next) {
            for b in rows(b.0, b.1, next) {
                let a = suffixes[a as usize];
                let b = suffixes[b as usize];
                walk.budget.push(pairs, Pair { b, a, length })?;
            }
        }
        Ok(())
    }
}

/// Returns the rows of a list, from its first to its last.
fn rows(first: u32, last: u32, next: &[u32]) -> impl Iterator<Item = u32> {
    successors(Some(first), move |&row| {
        (row != last).then(|| next[row as usize])
    })
}
