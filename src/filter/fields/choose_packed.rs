//! Choice of the packed columns: their values look like noise, and occur nowhere else.
//!
//! The cost of a column in its form is estimated from a sample, and its packed cost is known from
//! all values. But the column may be a copy of another one, which costs next to nothing once
//! sorted. To find this, some of its rows are looked up in all columns. A row is a number of
//! consecutive values, large enough that equal rows do not occur by chance.

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

/// Columns of fewer bytes than this are not packed.
const LEAST_BYTES: usize = 12;

/// A packed column has to be smaller by at least one part in this number.
const LEAST_GAIN: Cost = 32;

/// All packed columns together have to gain one byte for this number of values of the block, since
/// all of these are read before any column is packed.
const VALUES_OF_BYTE: usize = 1 << 14;

/// Number of values by which most columns are rejected.
const FEW: usize = 256;
/// Allowance for the cost of the layout when only [`FEW`] values are packed.
const OF_FEW: Cost = 16 * BYTE;

/// Minimum cost of a packed value, 4 bits.
const LEAST_OF_VALUE: Cost = 4 * 16;
/// Minimum cost of a row of packed values, 24 bits.
const LEAST_OF_ROW: Cost = 24 * 16;

/// Number of rows of a column that are looked up.
const LOOKED_FOR: usize = 256;
/// At most one part in this number of these rows may occur elsewhere.
const MOST_ELSEWHERE: usize = 5;

/// A column that may be packed.
pub(super) struct Candidate {
    shape: Shape,
    layout: Layout,
    gain: Cost,
    /// Number of values in a row.
    in_row: usize,
}

impl Candidate {
    /// Returns the candidate of a column of few values, if it may be packed.
    pub(super) fn of_few(writer: &Writer, column: &[Group]) -> Option<Self> {
        let own: Vec<&[u8]> = writer.own(column).collect();
        let bytes: usize = own.iter().map(|value| value.len()).sum();
        if bytes < LEAST_BYTES {
            return None;
        }
        let (shape, ..) = gaining(own.iter().copied(), Cost::MAX)?;
        let cost = Sample::new(own, shape.count).as_text;
        Self::of(shape, cost)
    }

    /// Returns the candidate of a column, if it may be packed. Its `sample` costs `cost` in its
    /// form.
    pub(super) fn of_many(
        writer: &Writer,
        column: &[Group],
        sample: &[&[u8]],
        cost: Cost,
    ) -> Option<Self> {
        // More values never have fewer symbols, so a few values reject most columns.
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
        (gains && in_row <= shape.count).then_some(Candidate {
            shape,
            layout,
            gain,
            in_row,
        })
    }
}

/// Returns the shape of `values` and their packed cost if this is below `cost`.
fn gaining<'v>(mut values: impl Iterator<Item = &'v [u8]>, cost: Cost) -> Option<(Shape, Cost)> {
    let mut shape = Shape::default();
    let all_fit = values.all(|value| shape.add(value));
    let (_, packed) = shape
        .layout()
        .filter(|&(_, packed)| all_fit && packed < cost)?;
    Some((shape, packed))
}

/// Chooses the packed columns: the candidates whose rows do not occur elsewhere. Each candidate
/// comes with its index in `columns`.
///
/// Returns the index and the layout of each. A layout of a column before is used again if it suits
/// the values. Each of `tasks` is a range of columns that one thread reads.
pub(super) fn choose(
    writer: &Writer,
    columns: &[&[Group]],
    tasks: Vec<Range<usize>>,
    candidates: Vec<(usize, Candidate)>,
    pool: &Threads,
) -> Vec<(usize, Layout)> {
    let gain: Cost = candidates
        .iter()
        .map(|(_, candidate)| candidate.gain)
        .sum();
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
    let met = Met::new(
        &rows,
        candidates
            .iter()
            .map(|(_, candidate)| candidate.in_row),
    );
    pool.map(tasks, |task| {
        let mut hashes = Vec::new();
        for column in &columns[task] {
            hashes.clear();
            // `for_each` visits the groups in nested loops; `extend` would ask for one value at a
            // time.
            writer
                .own(column)
                .for_each(|value| hashes.push(hash(value)));
            met.count(&hashes);
        }
    });
    let mut chosen = Vec::new();
    let mut layouts = Vec::new();
    for ((at, Candidate { shape, layout, .. }), rows) in candidates.into_iter().zip(rows) {
        let elsewhere = rows
            .iter()
            .filter(|row| met.times(row) > 1)
            .count();
        if elsewhere * MOST_ELSEWHERE <= rows.len() {
            let known = layouts
                .iter()
                .position(|known| shape.suits(known, &layout));
            if known.is_none() && layouts.len() < MOST_LAYOUTS {
                layouts.push(layout.clone());
            }
            chosen.push((at, known.map_or(layout, |known| layouts[known].clone())));
        }
    }
    chosen
}

/// Consecutive values of a column, by their hashes.
struct Row {
    first: u32,
    all: u32,
}

impl Row {
    fn of(hashes: &[u32]) -> Self {
        let more =
            |hash: u32, &value: &u32| (hash.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B1);
        Row {
            first: hashes[0],
            all: hashes.iter().fold(hashes.len() as u32, more),
        }
    }
}

/// Number of occurrences of each row.
struct Met {
    rows: Vec<u32>,
    times: Vec<AtomicU32>,
    /// Filter of 2^18 bits, with the bit of each row's first value set. Other values may share the
    /// bit. Most values start no row, and the filter tells so.
    firsts: Vec<u64>,
    /// The different numbers of values in rows, ascending.
    lengths: Vec<usize>,
}

impl Met {
    /// Number of hash bits that select a bit of the filter.
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
        Met {
            rows: known,
            times,
            firsts,
            lengths,
        }
    }

    /// Counts the rows that occur in a column, by the hashes of its values.
    fn count(&self, hashes: &[u32]) {
        for (at, first) in hashes.iter().enumerate() {
            let bit = first >> (32 - Self::BITS);
            if self.firsts[(bit / 64) as usize] >> (bit % 64) & 1 == 1 {
                let rows = self
                    .lengths
                    .iter()
                    .filter_map(|&length| hashes.get(at..at + length));
                rows.filter_map(|row| self.find(&Row::of(row)))
                    .for_each(|times| {
                        times.fetch_add(1, Ordering::Relaxed);
                    });
            }
        }
    }

    fn find(&self, row: &Row) -> Option<&AtomicU32> {
        self.rows
            .binary_search(&row.all)
            .ok()
            .map(|at| &self.times[at])
    }

    fn times(&self, row: &Row) -> u32 {
        self.find(row)
            .expect("it is looked for")
            .load(Ordering::Relaxed)
    }
}
