//! Backward search of patterns whose letters stand for classes of symbols: a step takes a search on
//! with each symbol of the class, as far as rows are left.
//!
//! There are never more branches than different strings of the text that match what was searched
//! so far. Where a pattern has too many all the same, it is given back: the text of the block is
//! looked through for it.

use super::letter_classes::TextLetters;
use crate::base::error::Result;
use std::ops::Range;

/// Branches that are followed together.
const MOST: usize = 1 << 17;

/// Patterns that are searched together.
const AT_A_TIME: usize = 1 << 13;

/// An index that makes steps of backward search.
pub(crate) trait BackwardSteps {
    /// All rows.
    fn rows(&self) -> Range<u64>;

    /// True if the text has a symbol.
    fn has(&self, symbol: u8) -> bool;

    /// The intervals of cP from those of P, for each symbol c and interval.
    fn steps(&self, asked: &[(u8, Range<u64>)]) -> Result<Vec<Range<u64>>>;
}

/// The rows of some patterns.
#[derive(Debug, Default)]
pub(crate) struct ClassIntervals {
    /// Numbers of patterns, and intervals, of which a pattern may have several or none.
    pub all: Vec<(usize, Range<u64>)>,
    /// Patterns that have too many branches.
    pub too_many: Vec<usize>,
}

/// A search under way: the pattern's number, what is left of it, and the interval of what is not.
struct Branch<'p> {
    number: usize,
    left: &'p [u8],
    interval: Range<u64>,
}

/// Searches for patterns, none of them empty.
pub(crate) fn search(
    index: &impl BackwardSteps,
    patterns: &[&[u8]],
    letters: &TextLetters,
) -> Result<ClassIntervals> {
    search_up_to(MOST, index, patterns, letters)
}

fn search_up_to(
    most: usize,
    index: &impl BackwardSteps,
    patterns: &[&[u8]],
    letters: &TextLetters,
) -> Result<ClassIntervals> {
    let mut found = ClassIntervals::default();
    let starts = (0..patterns.len()).step_by(AT_A_TIME);
    let mut pending: Vec<Range<usize>> =
        starts.map(|start| start..patterns.len().min(start + AT_A_TIME)).collect();
    while let Some(range) = pending.pop() {
        let start = range.start;
        match follow(most, index, &patterns[range.clone()], letters)? {
            Some(all) => {
                found.all.extend(all.into_iter().map(|branch| (start + branch.0, branch.1)));
            }
            None if range.len() == 1 => found.too_many.push(start),
            None => {
                let middle = start + range.len() / 2;
                pending.extend([start..middle, middle..range.end]);
            }
        }
    }
    Ok(found)
}

/// The intervals of patterns, or `None` where these have too many branches together.
#[allow(clippy::type_complexity, reason = "numbers of patterns, and intervals")]
fn follow(
    most: usize,
    index: &impl BackwardSteps,
    patterns: &[&[u8]],
    letters: &TextLetters,
) -> Result<Option<Vec<(usize, Range<u64>)>>> {
    let all = patterns.iter().enumerate();
    let mut branches: Vec<Branch> =
        all.map(|(number, left)| Branch { number, left, interval: index.rows() }).collect();
    let mut found = Vec::new();
    while !branches.is_empty() {
        let mut asked = Vec::new();
        let mut next = Vec::new();
        for Branch { number, left, interval } in branches {
            let Some((&letter, left)) = left.split_last() else {
                found.push((number, interval));
                continue;
            };
            for &symbol in letters.symbols(letter) {
                asked.push((symbol, interval.clone()));
                next.push(Branch { number, left, interval: 0..0 });
            }
        }
        if asked.len() + found.len() > most {
            return Ok(None);
        }
        for (branch, interval) in next.iter_mut().zip(index.steps(&asked)?) {
            branch.interval = interval;
        }
        next.retain(|branch| !branch.interval.is_empty());
        branches = next;
    }
    Ok(Some(found))
}
