//! The search of texts that are in memory: first minimizers, then their groups, then the windows of
//! these.
//!
//! Only minimizers whose hash occurs again are kept. A table of bits finds them, so that little
//! more is sorted than is repeated. If they need more memory than there is, the texts are scanned
//! several times, each time for a part of all hashes.

use super::equal_windows::{Comparison, Frequent, Marks, TABLE_ENTRY};
use super::rolling_hash::random_base;
use super::texts::{Segment, Texts};
use super::window_minimizers::{Minimizer, PeriodicRun, Winnowed, Winnowing, winnow};
use crate::base::allocation;
use crate::base::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Windows per winnowing task.
const TASK: usize = 1 << 20;

/// Bits of the table per minimizer, for each of the two tables.
const BITS: usize = 8;

/// Bytes per minimizer: itself, its copy for sorting, its bits, and the unused part of growing
/// vectors.
const MINIMIZER: usize = 16 + 16 + 2 * BITS / 8 + 16;

/// Bytes that are used for minimizers if necessary, even if the memory limit is lower.
const LEAST: usize = MINIMIZER << 12;

/// 2^64 divided by the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A search of texts for equal windows of `len` units.
pub(super) struct TextSearch<'a> {
    pub texts: &'a Texts<'a>,
    pub len: usize,
    /// Memory budget in bytes, without the texts and the marks. It may be exceeded if a search
    /// needs more.
    pub memory: usize,
    /// Called with the number of units scanned since the last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// Bytes that a search of `units` units is expected to take, without the texts and the marks.
pub(super) fn expected_memory(units: u64, len: usize) -> u64 {
    let spread = super::window_minimizers::spread(len) as u64;
    // In a random text, one phrase in (spread + 1) / 2 is a minimizer.
    (units * 2 / (spread + 1)).max(1) * MINIMIZER as u64
}

/// A segment, and a range of windows that begin in it.
type WindowStretch<'a> = (Segment<'a>, Range<usize>);

impl<'a> TextSearch<'a> {
    /// Marks the windows that are equal to earlier ones, and returns the one with the most copies.
    ///
    /// Windows that are marked already are known to be equal to windows elsewhere.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no memory.
    pub(super) fn run(&self, marks: &Marks) -> Result<Option<Frequent>> {
        self.run_by(random_base(), marks)
    }

    /// Runs as [`run`](Self::run), with hashes of a given base.
    pub(super) fn run_by(&self, base: u64, marks: &Marks) -> Result<Option<Frequent>> {
        let winnowing = Winnowing::new(self.len, base);
        let tasks = self.tasks();
        let units: u64 = tasks
            .iter()
            .flatten()
            .map(|(_, windows)| windows.len() as u64)
            .sum();
        let expected = expected_memory(units, self.len);
        let mut slices = expected
            .div_ceil(self.memory.max(LEAST) as u64)
            .next_power_of_two();
        loop {
            if let Some(frequent) = self.run_in_slices(slices, &winnowing, &tasks, marks)? {
                return Ok(frequent);
            }
            slices *= 2;
        }
    }

    /// Searches with `slices` parts of all hashes, one after the other. `None` if one of the parts
    /// has too many minimizers.
    fn run_in_slices(
        &self,
        slices: u64,
        winnowing: &Winnowing,
        tasks: &[Vec<WindowStretch>],
        marks: &Marks,
    ) -> Result<Option<Option<Frequent>>> {
        let most = AtomicUsize::new(0);
        let mut frequent = None;
        let mut runs = Vec::new();
        for slice in 0..slices {
            let is_wanted = |hash: u64| mixed(hash) % slices == slice;
            let Some(found) = self.minimizers(winnowing, tasks, is_wanted, slices) else {
                return Ok(None);
            };
            let (minimizers, new_runs) = found?;
            self.mark_runs(&new_runs, marks);
            let comparison = self.comparison(winnowing, marks, &new_runs, &most);
            frequent = frequent.max(compare(&comparison, &minimizers));
            runs.extend(new_runs);
        }
        self.finish_runs(&runs, marks);
        Ok(Some(frequent))
    }

    /// Stretches of about [`TASK`] windows. The segments of one task have the same kind: source,
    /// target or both.
    fn tasks(&self) -> Vec<Vec<WindowStretch<'a>>> {
        let mut tasks: Vec<Vec<WindowStretch>> = Vec::new();
        let mut left = 0;
        for (segment, windows) in self.texts.windows(self.len) {
            let mut start = windows.start;
            while start < windows.end {
                let role = |segment: &Segment| (segment.is_source, segment.is_target);
                let is_other = |task: &Vec<WindowStretch>| role(&task[0].0) != role(&segment);
                if left == 0 || tasks.last().is_none_or(is_other) {
                    tasks.push(Vec::new());
                    left = TASK.max(8 * self.len);
                }
                let end = windows.end.min(start + left);
                tasks
                    .last_mut()
                    .expect("just pushed")
                    .push((segment, start..end));
                left -= end - start;
                start = end;
            }
        }
        tasks
    }

    /// The minimizers of one part of all hashes whose hash occurs again, in order, and all runs.
    /// `None` if there are too many.
    #[allow(clippy::type_complexity)]
    fn minimizers(
        &self,
        winnowing: &Winnowing,
        tasks: &[Vec<WindowStretch>],
        is_wanted: impl Fn(u64) -> bool + Sync,
        slices: u64,
    ) -> Option<Result<(Vec<Minimizer>, Vec<PeriodicRun>)>> {
        /// A search is not cut into more slices than this; the memory limit does not apply then.
        const MOST_SLICES: u64 = 1 << 20;
        let most = self.memory.max(LEAST) / MINIMIZER;
        let most = if slices < MOST_SLICES {
            most
        } else {
            usize::MAX
        };
        let count = AtomicUsize::new(0);
        let winnow_task = |task: &Vec<WindowStretch>| {
            let mut found = Winnowed::default();
            for (segment, windows) in task {
                if count.load(Ordering::Relaxed) > most {
                    return None;
                }
                let segment = *segment;
                let windows = windows.clone();
                (self.progress)(windows.len() as u64);
                match self.texts.width {
                    1 => winnow::<1>(segment, windows, winnowing, &is_wanted, &mut found),
                    2 => winnow::<2>(segment, windows, winnowing, &is_wanted, &mut found),
                    _ => winnow::<4>(segment, windows, winnowing, &is_wanted, &mut found),
                }
            }
            count.fetch_add(found.minimizers.len(), Ordering::Relaxed);
            Some(found)
        };
        let found: Option<Vec<Winnowed>> = tasks.par_iter().map(winnow_task).collect();
        let mut minimizers = Vec::new();
        let mut runs = Vec::new();
        for (task, found) in tasks.iter().zip(found?) {
            minimizers.push((task[0].0, found.minimizers));
            runs.extend(found.runs);
        }
        Some(repeated(minimizers).map(|minimizers| (minimizers, runs)))
    }

    fn comparison<'b>(
        &'b self,
        winnowing: &Winnowing,
        marks: &'b Marks,
        runs: &[PeriodicRun],
        most: &'b AtomicUsize,
    ) -> Comparison<'b> {
        let mut times = HashMap::new();
        for run in runs {
            *times.entry(run.minimizer).or_default() += run.times();
        }
        let threads = rayon::current_num_threads();
        Comparison {
            texts: self.texts,
            len: self.len,
            spread: winnowing.spread,
            hash: winnowing.hash.with_len(self.len),
            marks,
            times,
            table_len: (self.memory / threads / TABLE_ENTRY).max(1 << 12),
            most,
        }
    }

    /// Marks the windows of runs in segments that are both source and target.
    fn mark_runs(&self, runs: &[PeriodicRun], marks: &Marks) {
        for run in runs {
            let Segment {
                is_source,
                is_target,
                ..
            } = self.texts.segment(run.minimizer);
            if is_source && is_target {
                marks.copies.set(run.windows.clone());
            }
        }
    }

    /// Marks the rest of the runs, once everything else is known. A window of a run is a copy if
    /// its counterpart in the first period is. A window of the first period that is no copy is an
    /// original.
    fn finish_runs(&self, runs: &[PeriodicRun], marks: &Marks) {
        for run in runs {
            let Segment {
                is_source,
                is_target,
                ..
            } = self.texts.segment(run.minimizer);
            let copies = &marks.copies;
            if is_source && is_target {
                let originals = run
                    .first()
                    .filter(|&window| !copies.is_set(window));
                originals.for_each(|window| marks.originals.set(window..window + 1));
            } else if is_target {
                let equal = run
                    .windows
                    .clone()
                    .filter(|window| copies.is_set(window - run.period));
                equal.for_each(|window| copies.set(window..window + 1));
            }
        }
    }
}

fn mixed(hash: u64) -> u64 {
    hash.wrapping_mul(MIX) >> 32
}

/// Compares the windows of all groups, several at a time.
fn compare(comparison: &Comparison, minimizers: &[Minimizer]) -> Option<Frequent> {
    /// Minimizers per task, or all minimizers of one group if it is larger.
    const GROUPS: usize = 1 << 13;
    let mut tasks = Vec::new();
    let mut left = minimizers;
    while let Some(last) = left.get(left.len().min(GROUPS).wrapping_sub(1)) {
        let end = left.partition_point(|minimizer| minimizer.hash <= last.hash);
        let (task, rest) = left.split_at(end);
        tasks.push(task);
        left = rest;
    }
    tasks
        .into_par_iter()
        .filter_map(|task| comparison.compare(task))
        .max()
}

/// The minimizers whose hash occurs in a source and in a later target, in order, and a few others.
/// The input is the minimizers of each task, with a segment of that task.
fn repeated(tasks: Vec<(Segment, Vec<Minimizer>)>) -> Result<Vec<Minimizer>> {
    let no_memory = || Error::out_of_memory("for the minimizers");
    let count: usize = tasks
        .iter()
        .map(|(_, minimizers)| minimizers.len())
        .sum();
    let bits = (count * BITS).next_power_of_two().max(64);
    let table = || allocation::zeroed::<AtomicU64>(bits / 64).ok_or_else(no_memory);
    let sources = table()?;
    let targets = table()?;
    let word_and_bit = |minimizer: &Minimizer| {
        let number = minimizer.hash.wrapping_mul(MIX) as usize >> (64 - bits.ilog2());
        (number / 64, 1 << (number % 64))
    };
    tasks
        .par_iter()
        .for_each(|(segment, minimizers)| {
            for minimizer in minimizers {
                let (word, bit) = word_and_bit(minimizer);
                let was_source =
                    segment.is_source && sources[word].fetch_or(bit, Ordering::Relaxed) & bit != 0;
                if segment.is_target && (was_source || !segment.is_source) {
                    targets[word].fetch_or(bit, Ordering::Relaxed);
                }
            }
        });
    let is_repeated = |minimizer: &Minimizer| {
        let (word, bit) = word_and_bit(minimizer);
        let both = sources[word].load(Ordering::Relaxed) & targets[word].load(Ordering::Relaxed);
        both & bit != 0 || minimizer.is_repeated()
    };
    let mut tasks = tasks;
    tasks
        .par_iter_mut()
        .for_each(|(_, minimizers)| minimizers.retain(is_repeated));
    let count = tasks
        .iter()
        .map(|(_, minimizers)| minimizers.len())
        .sum();
    let mut repeated = allocation::with_capacity(count).ok_or_else(no_memory)?;
    tasks
        .into_iter()
        .for_each(|(_, minimizers)| repeated.extend(minimizers));
    repeated.par_sort_unstable();
    Ok(repeated)
}
