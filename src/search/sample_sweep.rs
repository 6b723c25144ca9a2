//! Locates many rows of a block on disk together, by walks between all samples.
//!
//! A walk from each sample to the one before it passes all rows between them. So each row of the
//! block is passed at most once, however many rows are wanted.
//!
//! The other way is a walk from each wanted row to the nearest sample, which takes on average half
//! the sample distance in steps. If these steps exceed the number of rows in the block, the sweep
//! takes less. The sweep begins with the first samples; if only the first positions are wanted, it
//! stops when they are found.

use super::disk_batch::RankQuery;
use super::disk_block::DiskBlock;
use crate::base::error::{Flaw, Result};
use std::cmp::Reverse;
use std::ops::Range;

/// Number of walks in the first round if not all positions are wanted.
const FIRST_WALKS: usize = 1 << 12;
/// Factor by which the number of walks grows from round to round.
const MORE_WALKS: usize = 8;

/// A walk in progress: its row and position, and the lowest position that it goes to.
struct SampleWalk {
    row: u64,
    pos: usize,
    lowest: usize,
}

/// An interval of rows wanted for a pattern.
struct WantedRows {
    rows: Range<u64>,
    pattern: usize,
    /// Index of the smallest interval that contains this one. Two intervals are nested if one
    /// string is a prefix of the other; otherwise they are disjoint.
    around: Option<usize>,
    /// Number of its rows that were passed.
    passed: u64,
}

/// Adds the positions of the rows of patterns, up to the limit of each.
pub(super) fn locate(
    block: &DiskBlock,
    intervals: Vec<(usize, Range<u64>)>,
    limits: &[usize],
    positions: &mut [Vec<u64>],
) -> Result<()> {
    let mut wanted = wanted_rows(intervals);
    let is_cut = |of: &WantedRows| of.rows.end - of.rows.start > limits[of.pattern] as u64;
    let some_are_cut = wanted.iter().any(is_cut);
    for of in &wanted {
        let all = of.rows.end - of.rows.start;
        let limit = limits[of.pattern] as u64;
        // A pattern whose letters stand for classes has several intervals.
        if all <= limit && positions[of.pattern].is_empty() {
            positions[of.pattern].reserve_exact(all as usize);
        }
    }
    let samples = block.samples()?;
    let rate = samples.rate() as usize;
    let len = block.text_size();
    let walks = len.div_ceil(rate) + 1;
    let most = block.together();
    let mut at_once = if some_are_cut {
        most.min(FIRST_WALKS)
    } else {
        most
    };
    let mut first = 0;
    while first < walks {
        let end = walks.min(first + at_once);
        let walk = |number: usize| {
            let (row, pos) = samples.behind(number * rate);
            SampleWalk {
                row,
                pos,
                lowest: number.checked_sub(1).map_or(0, |n| n * rate + 1),
            }
        };
        let some = (first..end).map(walk).collect();
        pass(block, some, |row, pos| {
            each_around(&mut wanted, row, |n| {
                add_first(&mut positions[n], pos, limits[n])
            });
        })?;
        let has_all = |of: &WantedRows| positions[of.pattern].len() >= limits[of.pattern];
        if some_are_cut
            && wanted
                .iter()
                .all(|of| has_all(of) || of.is_passed())
        {
            return Ok(());
        }
        first = end;
        at_once = most.min(at_once * MORE_WALKS);
    }
    match wanted.iter().all(WantedRows::is_passed) {
        true => Ok(()),
        false => Err(block.flaw(Flaw::WRONG_SAMPLES)),
    }
}

/// Adds a position to the list of first positions. Keeps only a few more than `limit` of them.
pub(super) fn add_first(first: &mut Vec<u64>, position: u64, limit: usize) {
    const BESIDE: usize = 1 << 10;
    first.push(position);
    if first.len() >= limit.saturating_mul(2).saturating_add(BESIDE) {
        first.select_nth_unstable(limit);
        first.truncate(limit);
    }
}

/// Takes all walks to their ends, and calls `passed` with each row passed and its position.
fn pass(
    block: &DiskBlock,
    mut walks: Vec<SampleWalk>,
    mut passed: impl FnMut(u64, u64),
) -> Result<()> {
    let mut queries = Vec::new();
    loop {
        walks.retain(|walk| {
            passed(walk.row, walk.pos as u64);
            walk.pos > walk.lowest
        });
        if walks.is_empty() {
            return Ok(());
        }
        for (number, walk) in walks.iter().enumerate() {
            queries.push(block.query(block.with_byte(walk.row), None, number));
        }
        block.answer(&mut queries)?;
        for RankQuery {
            number,
            symbol,
            rank,
            ..
        } in queries.drain(..)
        {
            let walk = &mut walks[number as usize];
            walk.row = block
                .rows_of(symbol.expect("it was asked for"))
                .start
                + rank;
            walk.pos -= 1;
        }
    }
}

/// Sorts intervals by their rows, each before those that it contains.
fn wanted_rows(mut intervals: Vec<(usize, Range<u64>)>) -> Vec<WantedRows> {
    intervals.sort_unstable_by_key(|(_, rows)| (rows.start, Reverse(rows.end)));
    let mut all: Vec<WantedRows> = Vec::with_capacity(intervals.len());
    let mut open: Vec<usize> = Vec::new();
    for (number, (pattern, rows)) in intervals.into_iter().enumerate() {
        while open
            .pop_if(|last| all[*last].rows.end <= rows.start)
            .is_some()
        {}
        let around = open.last().copied();
        open.push(number);
        all.push(WantedRows {
            rows,
            pattern,
            around,
            passed: 0,
        });
    }
    all
}

/// Calls `found` with the pattern of each interval that contains a row.
fn each_around(wanted: &mut [WantedRows], row: u64, mut found: impl FnMut(usize)) {
    let behind = wanted.partition_point(|of| of.rows.start <= row);
    let mut next = behind.checked_sub(1);
    while let Some(number) = next {
        let of = &mut wanted[number];
        if row < of.rows.end {
            of.passed += 1;
            found(of.pattern);
        }
        next = of.around;
    }
}

impl WantedRows {
    /// Returns true if each of its rows was passed once. This fails if the block contradicts its
    /// index.
    fn is_passed(&self) -> bool {
        self.passed == self.rows.end - self.rows.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_in_each_interval_that_holds_it() {
        let intervals = [2..9, 0..30, 2..9, 40..41, 4..5, 7..9, 10..12];
        let mut wanted = wanted_rows(intervals.iter().cloned().enumerate().collect());
        for row in 0..50 {
            let mut found = Vec::new();
            each_around(&mut wanted, row, |n| found.push(n));
            found.sort_unstable();
            let holds = |n: &usize| intervals[*n].contains(&row);
            assert!(
                found
                    .into_iter()
                    .eq((0..intervals.len()).filter(holds)),
                "{row}"
            );
        }
        assert!(wanted.iter().all(WantedRows::is_passed));
        each_around(&mut wanted, 40, |_| {});
        assert!(!wanted.iter().all(WantedRows::is_passed));
    }
}
