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
use super::symbol_cost::{BYTE, Cost};
use super::value_cost::Sample;
use super::write_columns::Writer;
use crate::base::threads::Threads;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Columns of fewer bytes are not packed.
const LEAST_BYTES: usize = 12;

/// One part in so many has to be gained.
const LEAST_GAIN: Cost = 32;

/// All columns together have to gain a byte for so many values of the block, which are all looked
/// at before any is packed.
const VALUES_OF_BYTE: usize = 1 << 14;

/// Values that tell most columns apart, and what their layout may take beside them.
const FEW: usize = 256;
const OF_FEW: Cost = 16 * BYTE;

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
    gain: Cost,
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
        let cost = Sample::new(own, shape.count).as_text();
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
        let of_value = packed / shape.count as Cost;
        let in_row = LEAST_OF_ROW.div_ceil(of_value.max(LEAST_OF_VALUE)) as usize;
        let gains = packed + packed / LEAST_GAIN < cost && of_value >= LEAST_OF_VALUE;
        let gain = cost.saturating_sub(packed);
        (gains && in_row <= shape.count).then_some(Candidate { shape, layout, gain, in_row })
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
    let gain: Cost = candidates.iter().map(|(_, candidate)| candidate.gain).sum();
    let values: usize = columns.iter().map(|column| count(column)).sum();
    if candidates.is_empty() || gain < BYTE * (values / VALUES_OF_BYTE) as Cost {
        return Vec::new();
    }
    let rows: Vec<Vec<Row>> = pool.map(&candidates, |(at, candidate)| {
        let hashes: Vec<u32> = writer.own(columns[*at]).map(hash).collect();
        let rows = hashes.windows(candidate.in_row).map(Row::of);
        let skipped = rows.len().saturating_sub(LOOKED_FOR) / 2;
        rows.skip(skipped).take(LOOKED_FOR).collect()
    });
    let met = Met::new(&rows, candidates.iter().map(|(_, candidate)| candidate.in_row));
    pool.map(tasks, |task| {
        let mut hashes = Vec::new();
        for column in &columns[task] {
            hashes.clear();
            // This visits the groups in loops of their own; `extend` asks for one after the other.
            writer.own(column).for_each(|value| hashes.push(hash(value)));
            met.count(&hashes);
        }
    });
    let mut chosen = Vec::new();
    let mut layouts = Vec::new();
    for ((at, Candidate { shape, layout, .. }), rows) in candidates.into_iter().zip(rows) {
        let elsewhere = rows.iter().filter(|row| met.times(row) > 1).count();
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

/// Values one after the other, by their hashes.
struct Row {
    first: u32,
    all: u32,
}

impl Row {
    fn of(hashes: &[u32]) -> Self {
        let more =
            |hash: u32, &value: &u32| (hash.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B1);
        Row { first: hashes[0], all: hashes.iter().fold(hashes.len() as u32, more) }
    }
}

/// How often rows are there.
struct Met {
    rows: Vec<u32>,
    times: Vec<AtomicU32>,
    /// A bit for the first value of each row, of which other values may have the same: by it most
    /// values are known to begin none.
    firsts: Vec<u64>,
    /// How many values rows have.
    lengths: Vec<usize>,
}

impl Met {
    /// A value has one of 2^18 bits.
    const BITS: u32 = 18;

    fn new(rows: &[Vec<Row>], lengths: impl Iterator<Item = usize>) -> Self {
        let mut known = Vec::new();
        let mut firsts = vec![0; 1 << (Self::BITS - 6)];
        for Row { first, all } in rows.iter().flatten() {
            known.push(*all);
            let bit = first >> (32 - Self::BITS);
            firsts[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        known.sort_unstable();
        known.dedup();
        let times = known.iter().map(|_| AtomicU32::new(0)).collect();
        let mut lengths: Vec<usize> = lengths.collect();
        lengths.sort_unstable();
        lengths.dedup();
        Met { rows: known, times, firsts, lengths }
    }

    /// Counts the rows of a column, by the hashes of its values.
    fn count(&self, hashes: &[u32]) {
        for (at, first) in hashes.iter().enumerate() {
            let bit = first >> (32 - Self::BITS);
            if self.firsts[(bit / 64) as usize] >> (bit % 64) & 1 == 1 {
                let rows = self.lengths.iter().filter_map(|&length| hashes.get(at..at + length));
                rows.filter_map(|row| self.find(&Row::of(row))).for_each(|times| {
                    times.fetch_add(1, Ordering::Relaxed);
                });
            }
        }
    }

    fn find(&self, row: &Row) -> Option<&AtomicU32> {
        self.rows.binary_search(&row.all).ok().map(|at| &self.times[at])
    }

    fn times(&self, row: &Row) -> u32 {
        self.find(row).expect("it is looked for").load(Ordering::Relaxed)
    }
}
