//! Search for patterns in an open block: the number of matches of each, and its first positions.
//!
//! The rows of an interval are not in the order of their positions. So the first positions of a
//! pattern are the smallest of the positions of all its rows. If a pattern occurs far more often
//! than it is to be located, its first positions are found by scanning the text instead. So is the
//! last position, from the end of the text.

use super::class_search::{self, BackwardSteps, ClassIntervals};
use super::letter_classes::{BatchLetters, TextLetters};
use super::loaded_index::{GpuLease, LoadedIndex};
use super::memory_policy;
use super::open_block::{OpenBlock, OpenIndex};
use super::sample_sweep;
use super::search_results::BatchMatches;
use super::searched_block::SearchedBlock;
use super::text_scan::ScannedText;
use crate::base::error::{Error, Result};
use crate::bwt::{self, CpuSorter};
use crate::options::events::Listener;
use rayon::prelude::*;
use std::ops::Range;

/// Rows located together may use 1/16 of the memory limit.
const ROWS_SHARE: u64 = 16;
/// Bytes of memory per row that is located.
const PER_ROW: u64 = 48;
/// Range of the number of rows that are located together.
const ROWS: Range<u64> = 1 << 14..1 << 24;

/// The search for a batch of patterns in a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockSearch<'s> {
    /// The patterns, none of them empty.
    pub patterns: &'s [&'s [u8]],
    /// Meaning of the patterns' letters, unless all letters stand for themselves.
    pub letters: Option<&'s BatchLetters>,
    /// Maximum number of positions of each pattern. `None` if the patterns are only counted.
    pub limits: Option<&'s [usize]>,
    /// The last position of each pattern is wanted, not the first ones. No limit is above 1.
    pub last: bool,
    /// Number of positions found before this block.
    pub held: u64,
    /// Number of blocks searched at a time.
    pub side_by_side: u64,
    /// Hears a warning if the memory does not suffice to decode a block.
    pub listener: &'s Listener,
}

impl<'a> OpenBlock<'a> {
    /// Counts each pattern. If there are limits, also locates it.
    pub(crate) fn find(
        self,
        block: &'a dyn SearchedBlock,
        search: &BlockSearch,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        let index = match self {
            OpenBlock::Indexed(index) => index,
            OpenBlock::Text(text) if memory_policy::is_scanned(&text, search.patterns.len()) => {
                let scanned = ScannedText::new(&text, search.letters);
                let found = scanned.find_all(search.patterns, search.limits, search.last);
                return Ok((OpenBlock::Text(text), found));
            }
            OpenBlock::Text(text) => OpenIndex::InMemory(sorted(&text, block)?),
        };
        let in_text = search
            .letters
            .and_then(|letters| letters.in_text(|c| index.has(c)));
        if in_text.is_some() || search.limits.is_some() {
            let (index, found) = index.find_rows(block, search, in_text.as_ref(), lease)?;
            return Ok((OpenBlock::Indexed(index), found));
        }
        let counts = match &index {
            OpenIndex::OnDisk(disk) => lengths(&disk.intervals(search.patterns)?),
            OpenIndex::InMemory(loaded) => loaded
                .counts(search.patterns, lease)
                .map_err(|e| block.file().locate(e))?,
        };
        Ok((
            OpenBlock::Indexed(index),
            BatchMatches {
                counts,
                positions: Vec::new(),
            },
        ))
    }
}

/// Sorts a text in memory into an index.
fn sorted(text: &[u8], block: &dyn SearchedBlock) -> Result<LoadedIndex> {
    let narrow = block.file().options.run.narrow;
    let bwt = CpuSorter::with(narrow).sort_on(1, text, bwt::sample_rate(text.len()))?;
    LoadedIndex::new(bwt, narrow)
}

fn lengths(intervals: &[Range<u64>]) -> Vec<u64> {
    intervals
        .par_iter()
        .map(|of| of.end - of.start)
        .collect()
}

impl<'a> OpenIndex<'a> {
    /// Finds the rows of each pattern. Counts them and, if there are limits, locates them.
    fn find_rows(
        self,
        block: &'a dyn SearchedBlock,
        search: &BlockSearch,
        in_text: Option<&TextLetters>,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        let intervals = self.all_intervals(search.patterns, in_text, lease)?;
        let mut counts = vec![0; search.patterns.len()];
        for (n, interval) in &intervals.all {
            counts[*n] += interval.end - interval.start;
        }
        let (index, mut found) = match search.limits {
            None => (
                self,
                BatchMatches {
                    counts,
                    positions: Vec::new(),
                },
            ),
            Some(limits) => {
                let rows = FoundRows {
                    intervals: intervals.all,
                    counts,
                };
                self.locate(block, search, limits, rows, lease)?
            }
        };
        if !intervals.too_many.is_empty() {
            scan_for(block, search, &intervals.too_many, &mut found)?;
        }
        Ok((index, found))
    }

    /// The rows of patterns.
    pub(crate) fn rows_of(
        &self,
        patterns: &[&[u8]],
        letters: Option<&BatchLetters>,
        lease: &mut GpuLease,
    ) -> Result<ClassIntervals> {
        let in_text = letters.and_then(|letters| letters.in_text(|c| self.has(c)));
        self.all_intervals(patterns, in_text.as_ref(), lease)
    }

    fn all_intervals(
        &self,
        patterns: &[&[u8]],
        in_text: Option<&TextLetters>,
        lease: &mut GpuLease,
    ) -> Result<ClassIntervals> {
        if let Some(in_text) = in_text {
            return self.class_intervals(patterns, in_text, lease);
        }
        let all = self.intervals(patterns, lease)?;
        let all = all.into_iter().enumerate().collect();
        Ok(ClassIntervals {
            all,
            too_many: Vec::new(),
        })
    }

    fn has(&self, symbol: u8) -> bool {
        match self {
            OpenIndex::OnDisk(block) => block.has(symbol),
            OpenIndex::InMemory(index) => index.has(symbol),
        }
    }

    /// The rows of each pattern, whose letters stand for themselves.
    fn intervals(&self, patterns: &[&[u8]], lease: &mut GpuLease) -> Result<Vec<Range<u64>>> {
        match self {
            OpenIndex::OnDisk(block) => block.intervals(patterns),
            OpenIndex::InMemory(index) => Ok(index.intervals(patterns, lease)),
        }
    }

    /// The rows of patterns whose letters stand for classes. Patterns that do not branch are
    /// translated and searched like all others.
    fn class_intervals(
        &self,
        patterns: &[&[u8]],
        in_text: &TextLetters,
        lease: &mut GpuLease,
    ) -> Result<ClassIntervals> {
        let numbers = 0..patterns.len();
        let (branching, plain): (Vec<usize>, Vec<usize>) =
            numbers.partition(|&n| in_text.branches(patterns[n]));
        let size = plain.iter().map(|&n| patterns[n].len()).sum();
        let mut bytes = Vec::with_capacity(size);
        plain
            .iter()
            .for_each(|&n| bytes.extend(in_text.translated(patterns[n])));
        let mut rest = &bytes[..];
        let translated: Vec<&[u8]> = plain
            .iter()
            .map(|&n| {
                rest.split_off(..patterns[n].len())
                    .unwrap_or_default()
            })
            .collect();
        let found = self.intervals(&translated, lease)?;
        let mut all: Vec<_> = plain.into_iter().zip(found).collect();
        let some: Vec<&[u8]> = branching.iter().map(|&n| patterns[n]).collect();
        let found = match self {
            OpenIndex::OnDisk(block) => class_search::search(&**block, &some, in_text)?,
            OpenIndex::InMemory(index) => class_search::search(index, &some, in_text)?,
        };
        all.extend(
            found
                .all
                .into_iter()
                .map(|(n, interval)| (branching[n], interval)),
        );
        let too_many = found
            .too_many
            .into_iter()
            .map(|n| branching[n])
            .collect();
        Ok(ClassIntervals { all, too_many })
    }

    /// Locates the wanted occurrences of each pattern, up to its limit.
    fn locate(
        self,
        block: &'a dyn SearchedBlock,
        search: &BlockSearch,
        limits: &[usize],
        rows: FoundRows,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        let FoundRows {
            mut intervals,
            counts,
        } = rows;
        let wanted = counts.iter().zip(limits);
        let kept: u64 = wanted
            .map(|(&count, &limit)| count.min(limit as u64))
            .sum();
        let file = block.file();
        file.check_positions(search.held + kept)?;
        let in_text = self.found_in_text(block, search, limits, &counts)?;
        intervals.retain(|(n, interval)| {
            limits[*n] > 0 && in_text[*n].is_none() && !interval.is_empty()
        });
        let mut positions: Vec<_> = in_text
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect();
        let walked = intervals
            .iter()
            .map(|(_, interval)| interval.end - interval.start)
            .sum();
        let index = self.ready_for(block, walked, search.side_by_side, search.listener)?;
        if let OpenIndex::OnDisk(on_disk) = &index
            && on_disk.cost.is_swept(walked)
            && !search.last
        {
            sample_sweep::locate(on_disk, intervals, limits, &mut positions)?;
            finish(&mut positions, limits);
            return Ok((index, BatchMatches { counts, positions }));
        }
        let most = (file.options.memory_limit() / ROWS_SHARE / PER_ROW).clamp(ROWS.start, ROWS.end)
            as usize;
        let all = intervals
            .into_iter()
            .flat_map(|(n, interval)| interval.map(move |row| (n, row)));
        let mut all = all.peekable();
        while all.peek().is_some() {
            let (numbers, rows): (Vec<usize>, Vec<u64>) = all.by_ref().take(most).unzip();
            let found = index
                .positions(&rows, lease)
                .map_err(|e| file.locate(e))?;
            for (n, position) in numbers.into_iter().zip(found) {
                match search.last {
                    true => keep_last(&mut positions[n], position),
                    false => sample_sweep::add_first(&mut positions[n], position, limits[n]),
                }
            }
        }
        finish(&mut positions, limits);
        Ok((index, BatchMatches { counts, positions }))
    }

    /// Returns the first positions, or the last, of the patterns that occur more often than their
    /// limit. Scans the text for them, instead of locating all occurrences to take these. The
    /// result is `None` for a pattern whose rows are to be located.
    ///
    /// The text is restored only if locating all these rows costs more. A pattern is then scanned
    /// for only as long as locating its rows would take. So if all its occurrences are at the other
    /// end of the text, its cost at most doubles.
    fn found_in_text(
        &self,
        block: &dyn SearchedBlock,
        search: &BlockSearch,
        limits: &[usize],
        counts: &[u64],
    ) -> Result<Vec<Option<Vec<u64>>>> {
        let mut found = vec![None; counts.len()];
        let steps_to_sample = self.steps_to_sample();
        let is_cut = |n: &usize| limits[*n] > 0 && counts[*n] > limits[*n] as u64;
        let cut: Vec<usize> = (0..counts.len()).filter(is_cut).collect();
        let steps = |n: usize| counts[n].saturating_mul(steps_to_sample);
        let all_steps = cut
            .iter()
            .fold(0_u64, |sum, &n| sum.saturating_add(steps(n)));
        let fits = match self {
            OpenIndex::OnDisk(_) => true,
            OpenIndex::InMemory(index) => {
                let options = block.file().options;
                memory_policy::may_be_restored(index, search.side_by_side, options)
            }
        };
        if !fits || !memory_policy::text_is_scanned_first(block, all_steps) {
            return Ok(found);
        }
        let Some(text) = restored(block)? else {
            return Ok(found);
        };
        let text = ScannedText::new(&text, search.letters);
        let scan = |&n: &usize| {
            let bytes = steps(n).saturating_mul(text.bytes_per_step(search.patterns[n]));
            match search.last {
                true => text.last(search.patterns[n], bytes),
                false => text.first(search.patterns[n], limits[n], bytes),
            }
        };
        let scanned: Vec<_> = cut.par_iter().map(scan).collect();
        for (n, first) in cut.into_iter().zip(scanned) {
            found[n] = first;
        }
        Ok(found)
    }

    /// The position of each row, in the same order.
    pub(crate) fn positions(&self, rows: &[u64], lease: &mut GpuLease) -> Result<Vec<u64>> {
        match self {
            OpenIndex::OnDisk(block) => block.positions(rows),
            OpenIndex::InMemory(index) => index.positions(rows, lease),
        }
    }
}

/// The rows found for some patterns.
struct FoundRows {
    /// Numbers of patterns, each with an interval of its rows.
    intervals: Vec<(usize, Range<u64>)>,
    /// Number of rows of each pattern.
    counts: Vec<u64>,
}

/// Keeps the larger one of a position and of that which is held, if any.
fn keep_last(held: &mut Vec<u64>, position: u64) {
    match held.first_mut() {
        Some(last) => *last = position.max(*last),
        None => held.push(position),
    }
}

/// Sorts the positions of each pattern and keeps the first ones, up to its limit.
fn finish(positions: &mut [Vec<u64>], limits: &[usize]) {
    positions
        .par_iter_mut()
        .zip(limits)
        .for_each(|(positions, &limit)| {
            positions.sort_unstable();
            positions.truncate(limit);
        });
}

/// The text of a block, or `None` if there is too little memory to restore it.
fn restored(block: &dyn SearchedBlock) -> Result<Option<Vec<u8>>> {
    match block.file().restore() {
        Ok(raw) => block.text_of(raw).map(Some),
        Err(Error::Limit { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Scans the text of the block for the patterns with these numbers.
fn scan_for(
    block: &dyn SearchedBlock,
    search: &BlockSearch,
    numbers: &[usize],
    found: &mut BatchMatches,
) -> Result<()> {
    let text = block.restored_text()?;
    let text = ScannedText::new(&text, search.letters);
    let patterns: Vec<&[u8]> = numbers
        .iter()
        .map(|&n| search.patterns[n])
        .collect();
    let limits = search.limits.map(|limits| {
        numbers
            .iter()
            .map(|&n| limits[n])
            .collect::<Vec<_>>()
    });
    let scanned = text.find_all(&patterns, limits.as_deref(), search.last);
    for (&n, count) in numbers.iter().zip(scanned.counts) {
        found.counts[n] = count;
    }
    if limits.is_some() {
        for (&n, positions) in numbers.iter().zip(scanned.positions) {
            found.positions[n] = positions;
        }
    }
    Ok(())
}
