//! Combines two BWTs, whose rows interleave in a known way, into one BWT.

use super::super::Bwt;
use super::super::sort_limits::{MergeLimits, no_memory};
use super::interleave::{self, TASK};
use super::lf_counts::{self, LfCounts};
use super::split::Split;
use super::suffix_ranks::{self, Ranks};
use crate::base::allocation;
use crate::base::error::Error;
use crate::base::positions::Row;
use rayon::prelude::*;
use std::ops::Range;

/// Returns the number of bytes of the transform of A between counts. The counts serve one step for
/// each byte of the overlap, which mostly has a few dozen.
const fn interval(overlap: usize) -> usize {
    match overlap {
        _ if cfg!(any(test, fuzzing)) => 50,
        0..1024 => 1 << 16,
        _ => 1 << 12,
    }
}

/// Merges the transforms of the two parts of a block.
pub(super) fn combine<R: Row>(
    block: &[u8],
    split: Split,
    a: Bwt,
    b: &Bwt,
    limits: MergeLimits,
) -> Result<Bwt, Error> {
    let sample_rate = a.sample_rate;
    let a = BwtOfA::new::<R>(block, split, a);
    let counts = LfCounts::<R>::new(&b.bytes).ok_or_else(no_memory)?;
    let ranks = suffix_ranks::rank_all(&block[..split.at], sample_rate, &counts, b, limits)
        .ok_or_else(no_memory)?;
    drop(counts);
    let merge = Merge::new(&a, b, &ranks);
    let samples = merge.samples();
    let bytes = merge.bytes(block.len()).ok_or_else(no_memory)?;
    Ok(Bwt {
        bytes,
        sample_rate,
        samples,
    })
}

/// The transform of A and its overlap, without the rows of the overlap.
struct BwtOfA {
    /// The bytes before the suffixes at positions 1..=h.
    bytes: Vec<u8>,
    /// The rows of the sampled suffixes among those at positions 0..h, counted from 0.
    samples: Vec<u64>,
}

impl BwtOfA {
    fn new<R: Row>(block: &[u8], split: Split, a: Bwt) -> Self {
        let primary = a.samples[0] as usize;
        let stored = |row: usize| row - usize::from(row > primary);
        let interval = interval(split.overlap);
        let starts = lf_counts::starts::<R>(&a.bytes, interval);
        // From the sentinel's row, through the rows of the overlap, to the row of position h.
        let mut rows = vec![0];
        let mut row = 0;
        for &c in block[split.at..][..split.overlap].iter().rev() {
            let at = stored(row);
            let last = &a.bytes[at / interval * interval..at];
            let count = last.iter().filter(|&&b| b == c).count();
            row = starts[at / interval][usize::from(c)].get() + count;
            rows.push(row);
        }
        let row_of_b = row;
        rows.sort_unstable();
        let samples = a.samples[..split.at / a.sample_rate as usize]
            .iter()
            .map(|&sample| sample - rows.partition_point(|&row| row < sample as usize) as u64)
            .collect();
        let mut bytes = a.bytes;
        let out = rows
            .iter()
            .filter(|&&row| row != row_of_b)
            .map(|&row| stored(row));
        remove(&mut bytes, out);
        BwtOfA { bytes, samples }
    }
}

/// Removes some bytes. Their indices are in ascending order.
fn remove(bytes: &mut Vec<u8>, mut out: impl Iterator<Item = usize>) {
    let Some(mut end) = out.next() else { return };
    let mut last = end;
    for next in out.chain([bytes.len()]) {
        bytes.copy_within(last + 1..next, end);
        end += next - last - 1;
        last = next;
    }
    bytes.truncate(end);
}

/// The data from which the merged transform is built.
struct Merge<'a> {
    a: &'a BwtOfA,
    b: &'a Bwt,
    /// The ranks of the sampled suffixes of A in B.
    sampled: &'a [u64],
    /// The ranks of all of A, by task.
    ranks: Vec<Vec<&'a [u16]>>,
    /// For each task, the bytes of A before its first row.
    starts: Vec<usize>,
}

impl<'a> Merge<'a> {
    fn new<R: Row>(a: &'a BwtOfA, b: &'a Bwt, Ranks { logs, sampled }: &'a Ranks<R>) -> Self {
        let ranks = interleave::by_task(logs);
        let mut starts = vec![0];
        for ranks in &ranks {
            let of_task: usize = ranks.iter().map(|ranks| ranks.len()).sum();
            starts.push(starts[starts.len() - 1] + of_task);
        }
        Merge {
            a,
            b,
            sampled,
            ranks,
            starts,
        }
    }

    fn samples(&self) -> Vec<u64> {
        let of_a = self
            .a
            .samples
            .iter()
            .zip(self.sampled)
            .map(|(row, rank)| row + rank);
        let mut samples: Vec<u64> = of_a.collect();
        let primary = self.b.samples[0];
        let first = self.sampled[0];
        let of_b = self.b.samples.par_iter().map(|&row| {
            let task = row as usize / TASK;
            let last = (row as usize % TASK) as u16;
            let not_above = |ranks: &&[u16]| ranks.iter().filter(|&&rank| rank <= last).count();
            let here: usize = self.ranks[task].iter().map(not_above).sum();
            // The ranks are those of the suffixes at 1..=h, but the samples are those at 0..h.
            let smaller = (self.starts[task] + here) as u64 + u64::from(first <= row)
                - u64::from(primary <= row);
            row + smaller
        });
        samples.par_extend(of_b);
        samples
    }

    fn bytes(&self, len: usize) -> Option<Vec<u8>> {
        let mut bytes = allocation::zeroed::<u8>(len)?;
        let rows_of_b = self.b.bytes.len() + 1;
        let bare = [self.b.samples[0] as usize, rows_of_b];
        let mut rest = &mut bytes[..];
        let mut tasks = Vec::with_capacity(self.ranks.len());
        for (task, ranks) in self.ranks.iter().enumerate() {
            let rows = task * TASK..(rows_of_b + 1).min((task + 1) * TASK);
            let start_b = rows.start
                - bare
                    .iter()
                    .filter(|&&row| row < rows.start)
                    .count();
            let of_a = self.starts[task + 1] - self.starts[task];
            let of_b = rows.len()
                - bare
                    .iter()
                    .filter(|row| rows.contains(row))
                    .count();
            let out = rest.split_off_mut(..of_a + of_b)?;
            let rows_of = RowMerge {
                a: &self.a.bytes[self.starts[task]..],
                b: &self.b.bytes[start_b..],
                out,
            };
            tasks.push((rows, ranks, rows_of));
        }
        tasks
            .into_par_iter()
            .for_each(|(rows, ranks, rows_of)| rows_of.all(rows, ranks, bare));
        Some(bytes)
    }
}

/// The remaining bytes of both sides, and the remaining output.
struct RowMerge<'a> {
    a: &'a [u8],
    b: &'a [u8],
    out: &'a mut [u8],
}

impl RowMerge<'_> {
    /// Merges some rows of B. Before each row go as many bytes of A as `ranks` has entries for it.
    /// Two rows have no byte in B: the row whose byte comes from A, and the place behind all rows.
    fn all(mut self, rows: Range<usize>, ranks: &[&[u16]], bare: [usize; 2]) {
        let mut gaps = vec![0; rows.len()];
        ranks
            .iter()
            .copied()
            .flatten()
            .for_each(|&rank| gaps[usize::from(rank)] += 1);
        let mut done = 0;
        for row in bare.into_iter().filter(|row| rows.contains(row)) {
            let at = row - rows.start;
            self.rows(&gaps[done..at]);
            self.take_a(gaps[at]);
            done = at + 1;
        }
        self.rows(&gaps[done..]);
        debug_assert!(self.out.is_empty());
    }

    fn take_a(&mut self, count: u32) {
        let count = count as usize;
        let (now, rest) = self.a.split_at(count);
        if let Some(place) = self.out.split_off_mut(..count) {
            place.copy_from_slice(now);
        }
        self.a = rest;
    }

    /// Merges rows of B with these gaps, each row after its gap.
    fn rows(&mut self, gaps: &[u32]) {
        // Most gaps are short: copying a few bytes too many is faster than predicting a length.
        const WIDE: usize = 16;
        let mut from = 0;
        let mut to = 0;
        for (&gap, &c) in gaps.iter().zip(self.b) {
            let gap = gap as usize;
            let a = &self.a[from..];
            let out = &mut self.out[to..];
            if let (Some(bytes), Some(place), 0..=WIDE) = (
                a.first_chunk::<WIDE>(),
                out.first_chunk_mut::<{ WIDE + 1 }>(),
                gap,
            ) {
                place[..WIDE].copy_from_slice(bytes);
                place[gap] = c;
            } else {
                out[..gap].copy_from_slice(&a[..gap]);
                out[gap] = c;
            }
            from += gap;
            to += gap + 1;
        }
        self.a = &self.a[from..];
        self.b = &self.b[gaps.len()..];
        let _ = self.out.split_off_mut(..to);
    }
}
