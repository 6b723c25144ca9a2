//! Which columns are packed: those whose values look like noise, and do not stand elsewhere.
//!
//! What a column takes in its form is known of a sample, and what it takes packed of all values.
//! But it may be a copy of another column, of which the sort makes next to nothing: some of its
//! rows, which are so many values one after the other that the same ones do not come together by
//! chance, are looked for in all columns.

use super::column_values::{Group, count};
use super::packed_columns::MOST_LAYOUTS;
use super::packed_layout::Layout;
use super::packed_shape::Shape;
use super::predictions::hash;
use super::symbol_cost::Cost;
use super::value_cost::Sample;
use super::write_columns::Writer;
use crate::threads::Threads;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Columns of fewer bytes are not packed.
const LEAST_BYTES: usize = 12;

/// One part in so many has to be gained.
const LEAST_GAIN: Cost = 32;

/// Values that tell most columns apart, and what their layout may take beside them.
const FEW: usize = 256;
const OF_FEW: Cost = 128 * 16;

/// A value that is packed takes so much at least, and a row so much.
const LEAST_OF_VALUE: Cost = 4 * 16;
const LEAST_OF_ROW: Cost = 24 * 16;

/// Rows of a column that are looked for, and one part in how many may stand elsewhere.
const LOOKED_FOR: usize = 256;
const MOST_ELSEWHERE: usize = 5;

/// A column that may be packed.
pub(super) struct Candidate {
    shape: Shape,
    layout: Layout,
    /// Values of a row.
    in_row: usize,
}

impl Candidate {
    /// A column of few values, if it is one.
    pub fn of_few(writer: &Writer, column: &[Group]) -> Option<Self> {
        let own: Vec<&[u8]> = writer.own(column).collect();
        let bytes: usize = own.iter().map(|value| value.len()).sum();
        if bytes < LEAST_BYTES {
            return None;
        }
        let (shape, ..) = gaining(own.iter().copied(), Cost::MAX)?;
        let cost = Sample::new(own, shape.count()).as_text();
        Self::of(shape, cost)
    }

    /// A column whose `sample` takes `cost` in its form, if it is one.
    pub fn of_many(
        writer: &Writer,
        column: &[Group],
        sample: &[&[u8]],
        cost: Cost,
    ) -> Option<Self> {
        // More values never have fewer symbols, so that few of them tell most columns apart.
        let few = &sample[..sample.len().min(FEW)];
        let of_few = cost * few.len() as Cost / sample.len() as Cost;
        gaining(few.iter().copied(), of_few + OF_FEW)?;
        gaining(sample.iter().copied(), cost)?;
        let cost = cost * count(column) as Cost / sample.len() as Cost;
        let (shape, ..) = gaining(writer.own(column), cost)?;
        Self::of(shape, cost)
    }

    fn of(shape: Shape, cost: Cost) -> Option<Self> {
        let (layout, packed) = shape.layout()?;
        let of_value = packed / shape.count() as Cost;
        let in_row = LEAST_OF_ROW.div_ceil(of_value.max(LEAST_OF_VALUE)) as usize;
        let gains = packed + packed / LEAST_GAIN < cost && of_value >= LEAST_OF_VALUE;
        (gains && in_row <= shape.count()).then_some(Candidate { shape, layout, in_row })
    }
}

/// The shape of values, and what they take packed, where this is less than `cost`.
fn gaining<'v>(mut values: impl Iterator<Item = &'v [u8]>, cost: Cost) -> Option<(Shape, Cost)> {
    let mut shape = Shape::default();
    let all_fit = values.all(|value| shape.add(value));
    let (_, packed) = shape.layout().filter(|&(_, packed)| all_fit && packed < cost)?;
    Some((shape, packed))
}

/// Those of the candidates, each with its place among the columns, that do not stand elsewhere, and
/// their layouts: that of one before, where it suits. `tasks` are columns that are worked on
/// together.
pub(super) fn choose(
    writer: &Writer,
    columns: &[&[Group]],
    tasks: Vec<Range<usize>>,
    candidates: Vec<(usize, Candidate)>,
    pool: &Threads,
) -> Vec<(usize, Layout)> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<u32>> = pool.map(&candidates, |(at, candidate)| {
        let hashes: Vec<u32> = writer.own(columns[*at]).map(hash).collect();
        let rows = hashes.windows(candidate.in_row).map(row);
        let skipped = rows.len().saturating_sub(LOOKED_FOR) / 2;
        rows.skip(skipped).take(LOOKED_FOR).collect()
    });
    let met = Met::new(&rows, candidates.iter().map(|(_, candidate)| candidate.in_row));
    pool.map(tasks, |task| {
        let mut hashes = Vec::new();
        for column in &columns[task] {
            hashes.clear();
            hashes.extend(writer.own(column).map(hash));
            met.count(&hashes);
        }
    });
    let (mut chosen, mut layouts) = (Vec::new(), Vec::new());
    for ((at, Candidate { shape, layout, .. }), rows) in candidates.into_iter().zip(rows) {
        let elsewhere = rows.iter().filter(|&&row| met.times(row) > 1).count();
        if elsewhere * MOST_ELSEWHERE <= rows.len() {
            let known = layouts.iter().position(|known| shape.suits(known, &layout));
            if known.is_none() && layouts.len() < MOST_LAYOUTS {
                layouts.push(layout.clone());
            }
            chosen.push((at, known.map_or(layout, |known| layouts[known].clone())));
        }
    }
    chosen
}

/// The hash of values of a row, by theirs.
fn row(hashes: &[u32]) -> u32 {
    let more = |hash: u32, &value: &u32| (hash.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B1);
    hashes.iter().fold(hashes.len() as u32, more)
}

/// How often rows are there.
struct Met {
    rows: Vec<u32>,
    times: Vec<AtomicU32>,
    /// A bit for each row, of which others may have the same.
    bits: Vec<u64>,
    /// Whether there are rows of so many values.
    lengths: Vec<bool>,
}

impl Met {
    /// A row has one of 2^20 bits.
    const BITS: u32 = 20;

    fn new(rows: &[Vec<u32>], lengths: impl Iterator<Item = usize>) -> Self {
        let mut rows = rows.concat();
        rows.sort_unstable();
        rows.dedup();
        let times = rows.iter().map(|_| AtomicU32::new(0)).collect();
        let mut bits = vec![0; 1 << (Self::BITS - 6)];
        for row in &rows {
            let bit = row >> (32 - Self::BITS);
            bits[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        let mut known = Vec::new();
        for length in lengths {
            known.resize(known.len().max(length + 1), false);
            known[length] = true;
        }
        Met { rows, times, bits, lengths: known }
    }

    /// Counts the rows of a column, by the hashes of its values.
    fn count(&self, hashes: &[u32]) {
        let lengths = self.lengths.iter().enumerate().filter(|(_, is_one)| **is_one);
        for row in lengths.flat_map(|(length, _)| hashes.windows(length)).map(row) {
            let bit = row >> (32 - Self::BITS);
            if self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
                && let Ok(at) = self.rows.binary_search(&row)
            {
                self.times[at].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn times(&self, row: u32) -> u32 {
        let at = self.rows.binary_search(&row).expect("it is looked for");
        self.times[at].load(Ordering::Relaxed)
    }
}
