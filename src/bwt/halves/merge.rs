//! Two transforms and the gaps between them -> one transform.

use super::super::{Bwt, pages};
use super::occ::{self, Occ};
use super::ranks::{self, Ranks};
use super::{Limits, split::Split};
use crate::error::Error;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// Rows of B that are merged in one task.
const TASK: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// Bytes of the transform of A between counts, for as many steps as the overlap has bytes.
const INTERVAL: usize = if cfg!(test) { 50 } else { 1 << 12 };

/// Merges the transforms of the two parts of a block.
pub fn merge(block: &[u8], split: Split, a: Bwt, b: &Bwt, limits: Limits) -> Result<Bwt, Error> {
    let sample_rate = a.sample_rate;
    let a = Filtered::new(block, split, a);
    let occ = Occ::new(&b.bytes).ok_or_else(no_memory)?;
    let ranks =
        ranks::rank_all(&block[..split.at], sample_rate, &occ, b, limits).ok_or_else(no_memory)?;
    drop(occ);
    let mut merge = Merge::new(&a, b, ranks);
    let samples = merge.samples();
    let bytes = merge.bytes(block.len()).ok_or_else(no_memory)?;
    Ok(Bwt { bytes, sample_rate, samples })
}

/// The transform of A with its overlap, with the rows of the overlap taken out.
struct Filtered {
    /// The bytes before the suffixes at 1..=h.
    bytes: Vec<u8>,
    /// The rows of the sampled suffixes among those at 0..h, from 0.
    samples: Vec<u32>,
}

impl Filtered {
    fn new(block: &[u8], split: Split, a: Bwt) -> Self {
        let primary = a.samples[0] as usize;
        let stored = |row: usize| row - usize::from(row > primary);
        let starts = occ::starts(&a.bytes, INTERVAL);
        // From the sentinel's row through the rows of the overlap to that of h.
        let mut rows = vec![0];
        let mut row = 0;
        for &c in block[split.at..][..split.overlap].iter().rev() {
            let at = stored(row);
            let last = &a.bytes[at / INTERVAL * INTERVAL..at];
            let count = last.iter().filter(|&&b| b == c).count();
            row = starts[at / INTERVAL][usize::from(c)] as usize + count;
            rows.push(row);
        }
        let row_of_b = row;
        rows.sort_unstable();
        let samples = a.samples[..split.at / a.sample_rate as usize]
            .iter()
            .map(|&sample| sample - rows.partition_point(|&row| row < sample as usize) as u32)
            .collect();
        let mut bytes = a.bytes;
        let out = rows.iter().filter(|&&row| row != row_of_b).map(|&row| stored(row));
        remove(&mut bytes, out);
        Filtered { bytes, samples }
    }
}

/// Takes some bytes out, of which the indices are in order.
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

/// All that the merged transform is made of.
struct Merge<'a> {
    a: &'a Filtered,
    b: &'a Bwt,
    ranks: Ranks,
    /// For each task, the bytes of A before its first row.
    starts: Vec<usize>,
}

impl<'a> Merge<'a> {
    fn new(a: &'a Filtered, b: &'a Bwt, mut ranks: Ranks) -> Self {
        let sums: Vec<usize> =
            ranks.gaps.par_chunks_mut(TASK).map(|gaps| gaps.iter_mut().map(gap).sum()).collect();
        let mut starts = Vec::with_capacity(sums.len() + 1);
        let mut sum = 0;
        for (task, of_task) in sums.into_iter().enumerate() {
            starts.push(sum);
            let rows = task * TASK..(task + 1) * TASK;
            sum += of_task + 256 * carries_in(&ranks.carries, &rows).len();
        }
        starts.push(sum);
        Merge { a, b, ranks, starts }
    }

    fn samples(&mut self) -> Vec<u32> {
        let primary = self.b.samples[0];
        let first = self.ranks.sampled[0];
        let mut samples: Vec<u32> =
            self.a.samples.iter().zip(&self.ranks.sampled).map(|(row, rank)| row + rank).collect();
        for &row in &self.b.samples {
            let task = row as usize / TASK;
            let rows = task * TASK..row as usize + 1;
            let carries = 256 * carries_in(&self.ranks.carries, &rows).len();
            let gaps: usize = self.ranks.gaps[rows].iter_mut().map(gap).sum();
            // The gaps are those of the suffixes at 1..=h, and this is about those at 0..h.
            let smaller = (self.starts[task] + carries + gaps) as u32 + u32::from(first <= row)
                - u32::from(primary <= row);
            samples.push(row + smaller);
        }
        samples
    }

    fn bytes(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut bytes = pages::zeroed::<u8>(len)?;
        let bare = [self.b.samples[0] as usize, self.b.bytes.len() + 1];
        let (a, b, carries) = (&self.a.bytes, &self.b.bytes, &self.ranks.carries);
        let mut rest = &mut bytes[..];
        let mut tasks = Vec::with_capacity(self.starts.len());
        for (task, gaps) in self.ranks.gaps.chunks_mut(TASK).enumerate() {
            let rows = task * TASK..task * TASK + gaps.len();
            let start_b = rows.start - bare.iter().filter(|&&row| row < rows.start).count();
            let of_a = self.starts[task + 1] - self.starts[task];
            let of_b = gaps.len() - bare.iter().filter(|row| rows.contains(row)).count();
            let out = rest.split_off_mut(..of_a + of_b)?;
            let weave = Weave { a: &a[self.starts[task]..], b: &b[start_b..], out };
            tasks.push((rows, gaps, weave));
        }
        tasks.into_par_iter().for_each(|(rows, gaps, weave)| weave.all(rows, gaps, carries, bare));
        Some(bytes)
    }
}

#[inline]
fn gap(gap: &mut AtomicU8) -> usize {
    usize::from(*gap.get_mut())
}

/// The carries of some rows.
fn carries_in<'a>(carries: &'a [u32], rows: &Range<usize>) -> &'a [u32] {
    let before = |end: usize| carries.partition_point(|&row| (row as usize) < end);
    &carries[before(rows.start)..before(rows.end)]
}

/// What is left of both sides and of the place for them.
struct Weave<'a> {
    a: &'a [u8],
    b: &'a [u8],
    out: &'a mut [u8],
}

impl Weave<'_> {
    /// Weaves some rows. Those with carries, and the `bare` ones, are taken one by one: the row whose
    /// byte comes from A, and the place behind the rows.
    fn all(mut self, rows: Range<usize>, gaps: &mut [AtomicU8], carries: &[u32], bare: [usize; 2]) {
        let carries = carries_in(carries, &rows);
        let bare_here = bare.into_iter().filter(|row| rows.contains(row));
        let mut special: Vec<usize> =
            carries.iter().map(|&row| row as usize).chain(bare_here).collect();
        special.sort_unstable();
        special.dedup();
        let mut done = 0;
        for row in special {
            let at = row - rows.start;
            self.rows(&mut gaps[done..at]);
            let carried = carries_in(carries, &(row..row + 1)).len();
            self.take_a(256 * carried + gap(&mut gaps[at]));
            if !bare.contains(&row) {
                self.take_b();
            }
            done = at + 1;
        }
        self.rows(&mut gaps[done..]);
        debug_assert!(self.out.is_empty());
    }

    fn take_a(&mut self, count: usize) {
        let (now, rest) = self.a.split_at(count);
        if let Some(place) = self.out.split_off_mut(..count) {
            place.copy_from_slice(now);
        }
        self.a = rest;
    }

    fn take_b(&mut self) {
        if let (Some(&c), Some(place)) = (self.b.split_off_first(), self.out.split_off_first_mut())
        {
            *place = c;
        }
    }

    /// The rows of B with these gaps, each after its gap.
    fn rows(&mut self, gaps: &mut [AtomicU8]) {
        // Most gaps are short: to copy some bytes too many is faster than to foretell a length.
        const WIDE: usize = 16;
        let (mut from, mut to) = (0, 0);
        for (gap, &c) in gaps.iter_mut().zip(self.b) {
            let gap = usize::from(*gap.get_mut());
            let (a, out) = (&self.a[from..], &mut self.out[to..]);
            if let (Some(bytes), Some(place), 0..=WIDE) =
                (a.first_chunk::<WIDE>(), out.first_chunk_mut::<{ WIDE + 1 }>(), gap)
            {
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

fn no_memory() -> Error {
    Error::out_of_memory("there is not enough memory to merge the halves of a block")
}
