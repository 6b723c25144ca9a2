//! Backward search of patterns whose letters stand for classes of symbols.
//!
//! Each step extends an interval by every symbol of the letter's class. So a search branches: it
//! becomes one interval per symbol, and the empty ones are dropped. Its branches are never more
//! than the distinct strings of the text that match the part searched so far. A pattern that still
//! has too many branches is not searched: the caller scans the text of the block for it.
//!
//! Memory is bounded by the number of branches followed at a time.

use super::letter_classes::TextLetters;
use crate::base::error::Result;
use std::ops::Range;

/// Maximum number of branches followed together.
const MOST: usize = 1 << 17;

/// Number of patterns searched together.
const AT_A_TIME: usize = 1 << 13;

/// An index that performs steps of backward search.
pub(crate) trait BackwardSteps {
    /// All rows.
    fn rows(&self) -> Range<u64>;

    /// Returns true if the text contains the symbol.
    fn has(&self, symbol: u8) -> bool;

    /// Returns the interval of cP for each symbol c and interval of P.
    fn steps(&self, asked: &[(u8, Range<u64>)]) -> Result<Vec<Range<u64>>>;
}

/// Result of a search: the rows of each pattern.
#[derive(Debug, Default)]
pub(crate) struct ClassIntervals {
    /// Numbers of patterns, each with an interval of rows. A pattern may have several or none.
    pub all: Vec<(usize, Range<u64>)>,
    /// Numbers of the patterns that have too many branches.
    pub too_many: Vec<usize>,
}

/// One branch of a search in progress.
struct Branch<'p> {
    /// Number of the pattern.
    number: usize,
    /// The part of the pattern that is not yet searched.
    left: &'p [u8],
    /// Interval of the part that is searched.
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
    let mut pending: Vec<Range<usize>> = starts
        .map(|start| start..patterns.len().min(start + AT_A_TIME))
        .collect();
    while let Some(range) = pending.pop() {
        let start = range.start;
        match follow(most, index, &patterns[range.clone()], letters)? {
            Some(all) => {
                found.all.extend(
                    all.into_iter()
                        .map(|branch| (start + branch.0, branch.1)),
                );
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

/// Returns the intervals of the patterns, or `None` if together they have too many branches.
#[allow(clippy::type_complexity, reason = "numbers of patterns, and intervals")]
fn follow(
    most: usize,
    index: &impl BackwardSteps,
    patterns: &[&[u8]],
    letters: &TextLetters,
) -> Result<Option<Vec<(usize, Range<u64>)>>> {
    let all = patterns.iter().enumerate();
    let mut branches: Vec<Branch> = all
        .map(|(number, left)| Branch {
            number,
            left,
            interval: index.rows(),
        })
        .collect();
    let mut found = Vec::new();
    while !branches.is_empty() {
        let mut asked = Vec::new();
        let mut next = Vec::new();
        for Branch {
            number,
            left,
            interval,
        } in branches
        {
            let Some((&letter, left)) = left.split_last() else {
                found.push((number, interval));
                continue;
            };
            for &symbol in letters.symbols(letter) {
                asked.push((symbol, interval.clone()));
                next.push(Branch {
                    number,
                    left,
                    interval: 0..0,
                });
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
