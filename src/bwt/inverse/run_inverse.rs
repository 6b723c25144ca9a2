//! The inverse of a BWT that is mostly one byte, such as that of a block with long runs.
//!
//! The rows that begin with the frequent byte c form groups, by the number of c that they begin
//! with. The groups of falling runs go down from the top of c's rows, and those of rising runs go
//! up from the bottom, each next to the one before (`bwt::long_runs` explains this). The next group
//! has as many rows as this one has a c in the BWT, and the other rows of this one are starts of
//! runs. Many groups of nothing but c are skipped at once. So the length of each run is found
//! without a walk through it ([`Side`]), and the walk through the text, one byte a step, goes from
//! the last bytes of a run to its start in one step ([`RunInverse`]).
//!
//! Time: a scan of the BWT, and about 10 ns for each byte outside of the runs. Memory: 8 bytes for
//! each of these bytes and 100 for each run, which is less than 4 per byte of the block.

use super::super::fenwick::FenwickTree;
use super::super::long_runs::RowsInside;
use super::super::{Bwt, narrow};
use super::counters::{LColumn, counts};
use crate::base::cache_lines::prefetch;
use crate::base::error::Flaw;
use crate::base::tasks::Executor;
use crate::coder;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of bytes at the end of each run that are walked one by one; runs of up to this length are
/// walked as a whole.
pub(super) const KEPT: usize = 31;

/// Minimum size in bytes: shorter blocks are restored fast enough.
pub(super) const MIN_LEN: usize = if cfg!(fuzzing) { 1 << 8 } else { 1 << 16 };

/// Minimum number of rows per sample: with more samples, lanes would take more memory than is
/// saved.
pub(super) const MIN_RATE: u32 = 64;

/// Number of lanes in lock step.
const GROUP: usize = 32;

/// A BWT without the rows inside of long runs.
pub(super) struct RunInverse {
    byte: u8,
    kept: usize,
    /// The rows that are left out.
    inside: Range<usize>,
    /// The left-out rows at which a run starts, ascending.
    heads: Vec<RunHead>,
    /// The falling runs, as indices of heads, in the order of the text that follows them.
    falling: Vec<u32>,
    /// The rising runs, as indices of heads, in the order of the text that follows them.
    rising: Vec<u32>,
    /// The first row of rising runs.
    middle: usize,
    /// The first row of each byte.
    starts: [u32; 256],
    primary: usize,
    /// Number of rows that are not left out.
    rows: usize,
}

/// The byte that makes up two thirds of `bytes`, if a sample of them has one for three fifths.
/// Counting all bytes would take a tenth of the time of the inverse.
fn mostly(bytes: &[u8]) -> Option<u8> {
    const SAMPLES: usize = 1 << 12;
    let step = (bytes.len() / SAMPLES).max(1);
    let mut counts = [0; 256];
    bytes.iter().step_by(step).for_each(|&byte| counts[usize::from(byte)] += 1);
    let byte = (0..=255).max_by_key(|&byte| counts[usize::from(byte)])?;
    (5 * counts[usize::from(byte)] > 3 * bytes.len().div_ceil(step)).then_some(byte)
}

/// The row of the suffix at the start of a run.
struct RunHead {
    row: usize,
    len: usize,
    rises: bool,
    number: usize,
}

/// The runs that fall, or those that rise.
struct Side {
    /// The edge at which the rows inside of runs begin, from the top of the byte's rows for falling
    /// runs and from the bottom for rising ones.
    from: usize,
    /// The edge at which they end.
    to: usize,
    count: usize,
    heads: Vec<RunHead>,
}

impl RunInverse {
    /// Looks for long runs. Returns `None` if they are less than two thirds of the block, or if
    /// this cannot be the BWT of a text.
    pub(super) fn new(bwt: &Bwt, kept: usize, on: Executor) -> Option<Self> {
        let byte = mostly(&bwt.bytes)?;
        let counts = counts(&bwt.bytes, on);
        let mut row = 1;
        let counts = counts.map(|count| count as u32);
        let starts = counts.map(|count| {
            row += count;
            row - count
        });
        let first = starts[usize::from(byte)] as usize;
        let rows = first..first + counts[usize::from(byte)] as usize;
        let column = LColumn { bytes: &bwt.bytes, primary: bwt.samples[0] as usize };
        let side = |rises| Side::new(column, byte, &rows, rises, kept);
        let mut sides = on.map([false, true], side).into_iter();
        let falls = sides.next()??;
        let rises = sides.next()??;
        let inside = falls.from..rises.from;
        let left = bwt.bytes.len() + 1 - inside.len();
        let mut heads: Vec<RunHead> = falls.heads.into_iter().chain(rises.heads).collect();
        if falls.to != rises.to || 3 * (left + heads.len()) > bwt.bytes.len() {
            return None;
        }
        heads.sort_unstable_by_key(|head| head.row);
        let mut falling = vec![0; falls.count];
        let mut rising = vec![0; rises.count];
        for (n, head) in heads.iter().enumerate() {
            let side = if head.rises { &mut rising } else { &mut falling };
            side[head.number] = n as u32;
        }
        let primary = column.primary;
        let middle = falls.to;
        Some(RunInverse {
            byte,
            kept,
            inside,
            heads,
            falling,
            rising,
            middle,
            starts,
            primary,
            rows: left,
        })
    }

    /// Rebuilds the block, with a table of an entry for each row.
    pub(super) fn rebuild(
        &self,
        bwt: Bwt,
        table: &mut [u32],
        on: Executor,
    ) -> Result<Vec<u8>, Flaw> {
        let steps = &mut table.as_chunks_mut::<2>().0[..self.rows + self.heads.len()];
        on.run(|| self.fill(&bwt, steps));
        let Bwt { bytes: mut text, sample_rate, samples } = bwt;
        let ends: Vec<AtomicUsize> = self.heads.iter().map(|_| AtomicUsize::new(0)).collect();
        let samples = narrow(&samples);
        let mut lanes = self.lanes(&mut text, sample_rate as usize, &samples);
        let walked = on.map(lanes.chunks_mut(GROUP), |lanes| self.walk(steps, &ends, lanes));
        walked.into_iter().collect::<Result<(), Flaw>>()?;
        self.check(sample_rate as usize, &samples, &ends).map(|()| text)
    }

    /// Fills, for each row that is not left out and then for each start of a run, the entry of the
    /// row before it in the text, and the byte between them.
    fn fill(&self, bwt: &Bwt, steps: &mut [[u32; 2]]) {
        let mut next = self.starts;
        let (shallow, starts) = steps.split_at_mut(self.rows);
        let (above, below) = shallow.split_at_mut(self.inside.start);
        above.iter_mut().zip(0..).for_each(|(entry, row)| *entry = self.step(bwt, row, &mut next));
        for (entry, head) in starts.iter_mut().zip(&self.heads) {
            *entry = self.step(bwt, head.row, &mut next);
        }
        // The other rows inside of runs have the runs' byte.
        next[usize::from(self.byte)] += (self.inside.len() - self.heads.len()) as u32;
        let rows = self.inside.end..;
        below.iter_mut().zip(rows).for_each(|(entry, row)| *entry = self.step(bwt, row, &mut next));
    }

    fn step(&self, bwt: &Bwt, row: usize, next: &mut [u32; 256]) -> [u32; 2] {
        if row == self.primary {
            return [0; 2];
        }
        let byte = bwt.bytes[row - usize::from(row > self.primary)];
        let before = next[usize::from(byte)];
        next[usize::from(byte)] += 1;
        [self.step_to(before as usize), byte.into()]
    }

    /// The entry of a row, or that of the start of its run if the row is inside of one.
    fn step_to(&self, row: usize) -> u32 {
        if let Some(&head) = row.checked_sub(self.inside.start).and_then(|n| self.falling.get(n)) {
            return self.rows as u32 + head;
        }
        let first_rising = self.inside.end - self.rising.len();
        if row < self.inside.end
            && let Some(&head) = row.checked_sub(first_rising).and_then(|n| self.rising.get(n))
        {
            return self.rows as u32 + head;
        }
        self.entry(row).unwrap_or(0)
    }

    /// The entry of a row, unless it is inside of a run and not its start.
    fn entry(&self, row: usize) -> Option<u32> {
        if !self.inside.contains(&row) {
            let left_out = if row < self.inside.start { 0 } else { self.inside.len() };
            return Some((row - left_out) as u32);
        }
        let head = self.heads.binary_search_by_key(&row, |head| head.row).ok()?;
        Some((self.rows + head) as u32)
    }

    /// The text, cut at all samples that have an entry.
    fn lanes<'t>(&self, text: &'t mut [u8], rate: usize, samples: &[u32]) -> Vec<RunLane<'t>> {
        let mut lanes = Vec::new();
        let mut rest = text;
        let mut from = 0;
        let mut first = self.entry(samples[0] as usize);
        for (n, &row) in samples.iter().enumerate().skip(1) {
            let Some(entry) = self.entry(row as usize) else { continue };
            let (lane, behind) = rest.split_at_mut(n * rate - from);
            lanes.push(RunLane { text: lane, from, entry, first });
            (rest, from, first) = (behind, n * rate, Some(entry));
        }
        lanes.push(RunLane { text: rest, from, entry: 0, first });
        lanes
    }

    /// Writes the text of some lanes.
    fn walk(
        &self,
        steps: &[[u32; 2]],
        ends: &[AtomicUsize],
        lanes: &mut [RunLane],
    ) -> Result<(), Flaw> {
        let mut active: Vec<&mut RunLane> = lanes.iter_mut().collect();
        let mut flaw = Ok(());
        while !active.is_empty() && flaw.is_ok() {
            active.retain_mut(|lane| match self.advance(steps, ends, lane) {
                Ok(goes_on) => goes_on,
                Err(found) => {
                    flaw = Err(found);
                    false
                }
            });
        }
        flaw
    }

    /// Moves a lane by a byte, or to the start of a run. Returns false if it is finished.
    #[inline(always)]
    fn advance(
        &self,
        steps: &[[u32; 2]],
        ends: &[AtomicUsize],
        lane: &mut RunLane,
    ) -> Result<bool, Flaw> {
        let [before, byte] = steps[lane.entry as usize];
        lane.entry = before;
        // The other lanes take their steps while this lane's next entry is fetched.
        prefetch(steps, before as usize);
        if let Some(head) = (before as usize).checked_sub(self.rows) {
            let len = self.heads[head].len - self.kept;
            let end = lane.text.len();
            let run = end.checked_sub(len).ok_or(Flaw::WRONG_SAMPLES)?;
            let run = lane.text.split_off_mut(run..).expect("its end");
            run.fill(self.byte);
            ends[head].store(lane.from + end + self.kept, Ordering::Relaxed);
        } else {
            *lane.text.split_off_last_mut().ok_or(Flaw::WRONG_SAMPLES)? = byte as u8;
        }
        if lane.text.is_empty() && lane.first != Some(lane.entry) {
            return Err(Flaw::WRONG_SAMPLES);
        }
        Ok(!lane.text.is_empty())
    }

    /// Checks the samples inside of runs, at which no lane ends.
    fn check(&self, rate: usize, samples: &[u32], ends: &[AtomicUsize]) -> Result<(), Flaw> {
        let mut expected = vec![0; samples.len()];
        let sides = [(&self.falling, false, self.inside.start), (&self.rising, true, self.middle)];
        for (side, rises, first) in sides {
            let run = |&head: &u32| {
                let end = &ends[head as usize];
                let len = self.heads[head as usize].len;
                let end = end.load(Ordering::Relaxed);
                Some(end.checked_sub(len)?..end)
            };
            let runs = side.iter().map(run).collect::<Option<_>>().ok_or(Flaw::WRONG_SAMPLES)?;
            RowsInside { runs, rises, first, kept: self.kept }.rows(rate, &mut expected);
        }
        let is_wrong = |(&row, &expected): (&u32, &u32)| {
            self.inside.contains(&(row as usize)) && row != expected
        };
        if samples.iter().zip(&expected).any(is_wrong) { Err(Flaw::WRONG_SAMPLES) } else { Ok(()) }
    }
}

/// A part of the text that is walked from its end.
struct RunLane<'t> {
    /// The bytes that are not written yet.
    text: &'t mut [u8],
    /// Its position in the block.
    from: usize,
    /// The entry that it has reached.
    entry: u32,
    /// The entry that it must end at.
    first: Option<u32>,
}

impl Side {
    /// Visits the groups of the rows that begin with `byte`. Returns `None` if they cannot be those
    /// of a BWT.
    fn new(
        column: LColumn,
        byte: u8,
        rows: &Range<usize>,
        rises: bool,
        kept: usize,
    ) -> Option<Side> {
        let all = column.bytes.len() + 1;
        let outside = if rises { rows.end..all } else { 0..rows.start };
        let mut edge = if rises { rows.end } else { rows.start };
        let group = |edge: usize, size: usize| {
            let (start, end) =
                if rises { (edge.checked_sub(size)?, edge) } else { (edge, edge + size) };
            (rows.start <= start && end <= rows.end).then_some(start..end)
        };
        let behind = |group: &Range<usize>| if rises { group.start } else { group.end };
        let count = |rows: Range<usize>| column.of(rows).iter().filter(|&&b| b == byte).count();
        let mut size = count(outside);
        for _ in 0..kept {
            let group = group(edge, size)?;
            edge = behind(&group);
            size = count(group);
        }
        let from = edge;
        let runs = size;
        let mut numbers = FenwickTree::full(size);
        let mut heads = Vec::<RunHead>::with_capacity(size);
        let mut len = kept + 1;
        while size > 0 {
            let clear = clear(column, byte, rows, edge, rises) / size;
            edge = if rises { edge - clear * size } else { edge + clear * size };
            len += clear;
            let group = group(edge, size)?;
            let known = heads.len();
            let mut row = group.start;
            loop {
                row += self::clear(column, byte, &group, row, false);
                if row == group.end {
                    break;
                }
                let number = numbers.nth(row - group.start);
                heads.push(RunHead { row, len, rises, number });
                row += 1;
            }
            heads[known..].iter().for_each(|head| numbers.remove(head.number));
            size -= heads.len() - known;
            edge = behind(&group);
            len += 1;
        }
        Some(Side { from, to: edge, count: runs, heads })
    }
}

/// Number of consecutive `rows` from an edge on, up or down, that have `byte` in the BWT, with no
/// other byte in between.
fn clear(column: LColumn, byte: u8, rows: &Range<usize>, edge: usize, up: bool) -> usize {
    let primary = column.primary;
    if up {
        let start = if primary < edge { rows.start.max(primary + 1) } else { rows.start };
        coder::run_before(column.of(start..edge), byte)
    } else {
        let end = if edge <= primary { rows.end.min(primary) } else { rows.end };
        let part = column.of(edge..end);
        if part.first() == Some(&byte) { coder::run_end(part, 0) } else { 0 }
    }
}
