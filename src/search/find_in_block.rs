//! Search for patterns in an open block: the number of matches of each, and its first positions.
//!
//! The rows of an interval are not in the order of their positions. So the first positions of a
//! pattern are the smallest of the positions of all its rows. If a pattern occurs far more often
//! than it is to be located, its first positions are found by scanning the text instead.

use super::class_search::{self, BackwardSteps, ClassIntervals};
use super::file_block::FileBlock;
use super::letter_classes::{BatchLetters, TextLetters};
use super::loaded_index::{GpuLease, LoadedIndex};
use super::sample_sweep;
use super::search_results::BatchMatches;
use super::searched_block::{MANY, SearchedBlock};
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
    /// Number of positions found before this block.
    pub held: u64,
    /// Number of blocks searched at a time.
    pub side_by_side: u64,
    /// Hears a warning if the memory does not suffice to decode a block.
    pub listener: &'s Listener,
}

/// Bytes of a block that are restored in the time of one step from a row to a sampled one.
const RESTORED_PER_STEP: u64 = 1;

impl<'a> SearchedBlock<'a> {
    /// Counts each pattern. If there are limits, also locates it.
    pub fn find(
        self,
        file_block: &'a FileBlock<'a>,
        search: &BlockSearch,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        match self {
            SearchedBlock::Plain(raw) if search.patterns.len() < MANY || raw.is_empty() => {
                let text = ScannedText::new(&raw, search.letters);
                let found = text.find_all(search.patterns, search.limits);
                Ok((SearchedBlock::Plain(raw), found))
            }
            SearchedBlock::Plain(raw) => {
                let narrow = file_block.options.run.narrow;
                let sorter = CpuSorter::with(narrow);
                let bwt = sorter.sort_on(1, &raw, bwt::sample_rate(raw.len()))?;
                let block = SearchedBlock::InMemory(LoadedIndex::new(bwt, narrow)?);
                block.find_by_index(file_block, search, lease)
            }
            block => block.find_by_index(file_block, search, lease),
        }
    }

    fn find_by_index(
        self,
        file_block: &'a FileBlock<'a>,
        search: &BlockSearch,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        let in_text = search.letters.and_then(|letters| letters.in_text(|c| self.has(c)));
        if in_text.is_none() && search.limits.is_none() {
            let counts = self.counts(file_block, search.patterns, lease)?;
            return Ok((self, BatchMatches { counts, positions: Vec::new() }));
        }
        let intervals = self.all_intervals(search.patterns, in_text.as_ref(), lease)?;
        let mut counts = vec![0; search.patterns.len()];
        for (n, interval) in &intervals.all {
            counts[*n] += interval.end - interval.start;
        }
        let (block, mut found) = match search.limits {
            None => (self, BatchMatches { counts, positions: Vec::new() }),
            Some(limits) => {
                let rows = FoundRows { intervals: intervals.all, counts };
                self.locate(file_block, search, limits, rows, lease)?
            }
        };
        if !intervals.too_many.is_empty() {
            scan_for(file_block, search, &intervals.too_many, &mut found)?;
        }
        Ok((block, found))
    }

    /// The rows of patterns in a block that has an index.
    pub fn rows_of(
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
        Ok(ClassIntervals { all, too_many: Vec::new() })
    }

    fn has(&self, symbol: u8) -> bool {
        match self {
            SearchedBlock::OnDisk(block, _) => block.has(symbol),
            SearchedBlock::InMemory(index) => index.has(symbol),
            SearchedBlock::Plain(raw) => raw.contains(&symbol),
        }
    }

    fn counts(
        &self,
        file_block: &FileBlock,
        patterns: &[&[u8]],
        lease: &mut GpuLease,
    ) -> Result<Vec<u64>> {
        if let SearchedBlock::InMemory(index) = self {
            return index.count(patterns, lease).map_err(|e| file_block.locate(e));
        }
        let intervals = self.intervals(patterns, lease)?;
        Ok(intervals.par_iter().map(|of| of.end - of.start).collect())
    }

    /// The rows of each pattern, whose letters stand for themselves.
    fn intervals(&self, patterns: &[&[u8]], lease: &mut GpuLease) -> Result<Vec<Range<u64>>> {
        match self {
            SearchedBlock::OnDisk(block, _) => block.intervals(patterns),
            SearchedBlock::InMemory(index) => Ok(index.search(patterns, lease)),
            SearchedBlock::Plain(_) => unreachable!("plain bytes have no rows"),
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
        plain.iter().for_each(|&n| bytes.extend(in_text.translated(patterns[n])));
        let mut rest = &bytes[..];
        let translated: Vec<&[u8]> = plain
            .iter()
            .map(|&n| rest.split_off(..patterns[n].len()).unwrap_or_default())
            .collect();
        let found = self.intervals(&translated, lease)?;
        let mut all: Vec<_> = plain.into_iter().zip(found).collect();
        let some: Vec<&[u8]> = branching.iter().map(|&n| patterns[n]).collect();
        let found = match self {
            SearchedBlock::OnDisk(block, _) => class_search::search(&**block, &some, in_text)?,
            SearchedBlock::InMemory(index) => class_search::search(index, &some, in_text)?,
            SearchedBlock::Plain(_) => unreachable!("plain bytes have no rows"),
        };
        all.extend(found.all.into_iter().map(|(n, interval)| (branching[n], interval)));
        let too_many = found.too_many.into_iter().map(|n| branching[n]).collect();
        Ok(ClassIntervals { all, too_many })
    }

    /// Locates the first occurrences of each pattern, up to its limit.
    fn locate(
        self,
        file_block: &'a FileBlock<'a>,
        search: &BlockSearch,
        limits: &[usize],
        rows: FoundRows,
        lease: &mut GpuLease,
    ) -> Result<(Self, BatchMatches)> {
        let FoundRows { mut intervals, counts } = rows;
        let wanted = counts.iter().zip(limits);
        let kept: u64 = wanted.map(|(&count, &limit)| count.min(limit as u64)).sum();
        file_block.check_positions(search.held + kept)?;
        let in_text = self.first_in_text(file_block, search, limits, &counts)?;
        intervals.retain(|(n, interval)| {
            limits[*n] > 0 && in_text[*n].is_none() && !interval.is_empty()
        });
        let mut positions: Vec<_> = in_text.into_iter().map(Option::unwrap_or_default).collect();
        let walked = intervals.iter().map(|(_, interval)| interval.end - interval.start).sum();
        let block = self.ready_for(file_block, walked, search.side_by_side, search.listener)?;
        if let SearchedBlock::OnDisk(on_disk, _) = &block
            && on_disk.cost.is_swept(walked)
        {
            sample_sweep::locate(on_disk, intervals, limits, &mut positions)?;
            finish(&mut positions, limits);
            return Ok((block, BatchMatches { counts, positions }));
        }
        let most = (file_block.options.memory_limit() / ROWS_SHARE / PER_ROW)
            .clamp(ROWS.start, ROWS.end) as usize;
        let all = intervals.into_iter().flat_map(|(n, interval)| interval.map(move |row| (n, row)));
        let mut all = all.peekable();
        while all.peek().is_some() {
            let (numbers, rows): (Vec<usize>, Vec<u64>) = all.by_ref().take(most).unzip();
            let found = block.positions(&rows, lease).map_err(|e| file_block.locate(e))?;
            for (n, position) in numbers.into_iter().zip(found) {
                sample_sweep::add_first(&mut positions[n], position, limits[n]);
            }
        }
        finish(&mut positions, limits);
        Ok((block, BatchMatches { counts, positions }))
    }

    /// Returns the first positions of the patterns that occur more often than their limit. Scans
    /// the text for them, instead of locating all occurrences to take the first ones. The result is
    /// `None` for a pattern whose rows are to be located.
    ///
    /// The text is restored only if locating all these rows costs more. A pattern is then scanned
    /// for only as long as locating its rows would take. So if all its occurrences are at the end
    /// of the text, its cost at most doubles.
    fn first_in_text(
        &self,
        file_block: &FileBlock,
        search: &BlockSearch,
        limits: &[usize],
        counts: &[u64],
    ) -> Result<Vec<Option<Vec<u64>>>> {
        let mut found = vec![None; counts.len()];
        let steps_to_sample = self.steps_to_sample();
        let is_cut = |n: &usize| limits[*n] > 0 && counts[*n] > limits[*n] as u64;
        let cut: Vec<usize> = (0..counts.len()).filter(is_cut).collect();
        let steps = |n: usize| counts[n].saturating_mul(steps_to_sample);
        let all_steps = cut.iter().fold(0_u64, |sum, &n| sum.saturating_add(steps(n)));
        let restored_steps = file_block.searched_size() as u64 / RESTORED_PER_STEP;
        if all_steps <= restored_steps || !self.may_be_restored(file_block, search.side_by_side) {
            return Ok(found);
        }
        let Some(text) = restored(file_block)? else { return Ok(found) };
        let text = ScannedText::new(&text, search.letters);
        let scan = |&n: &usize| {
            let bytes = steps(n).saturating_mul(text.bytes_per_step(search.patterns[n]));
            text.first(search.patterns[n], limits[n], bytes)
        };
        let scanned: Vec<_> = cut.par_iter().map(scan).collect();
        for (n, first) in cut.into_iter().zip(scanned) {
            found[n] = first;
        }
        Ok(found)
    }

    /// The position of each row, in the same order.
    pub fn positions(&self, rows: &[u64], lease: &mut GpuLease) -> Result<Vec<u64>> {
        match self {
            SearchedBlock::OnDisk(block, _) => block.positions(rows),
            SearchedBlock::InMemory(index) => index.positions(rows, lease),
            SearchedBlock::Plain(_) => unreachable!("plain bytes have no rows"),
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

/// Sorts the positions of each pattern and keeps the first ones, up to its limit.
fn finish(positions: &mut [Vec<u64>], limits: &[usize]) {
    positions.par_iter_mut().zip(limits).for_each(|(positions, &limit)| {
        positions.sort_unstable();
        positions.truncate(limit);
    });
}

/// The text of a block, or `None` if there is too little memory to restore it.
fn restored(file_block: &FileBlock) -> Result<Option<Vec<u8>>> {
    match file_block.restore() {
        Ok(raw) => file_block.text_of(raw).map(Some),
        Err(Error::Limit { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Scans the text of the block for the patterns with these numbers.
fn scan_for(
    file_block: &FileBlock,
    search: &BlockSearch,
    numbers: &[usize],
    found: &mut BatchMatches,
) -> Result<()> {
    let text = file_block.text_of(file_block.restore()?)?;
    let text = ScannedText::new(&text, search.letters);
    let patterns: Vec<&[u8]> = numbers.iter().map(|&n| search.patterns[n]).collect();
    let limits = search.limits.map(|limits| numbers.iter().map(|&n| limits[n]).collect::<Vec<_>>());
    let scanned = text.find_all(&patterns, limits.as_deref());
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
