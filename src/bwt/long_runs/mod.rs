//! Sorts a block that consists largely of long runs of one byte, through a shorter text without
//! them.
//!
//! Disk images, sparse files and padded archives have stretches of zeros of any length. The
//! suffixes inside these need no sorting. Suffixes that begin inside a run of c, with k times c in
//! front of them, are ordered by k, and for equal k by the text behind the run. So each long run is
//! replaced by one symbol for its length, followed by its last few bytes (`short_text`). libsais
//! sorts that text. The omitted suffixes are then put in their rows (`rows_inside`):
//!
//! - c^k followed by a smaller byte or by the end is smaller than c^(k + 1) followed by one: such a
//!   run *falls*. If a larger byte follows, the run *rises*, and the longer one is smaller. All
//!   falling runs come before all rising runs.
//! - So the symbols for lengths lie between the c of a falling run and the c of a rising run: first
//!   the lengths of falling runs in ascending order, then the lengths of rising runs in descending
//!   order. c itself becomes two symbols.
//! - The last part of each run has the same number of bytes, one less than the shortest long run,
//!   and is sorted among the short runs. Its rows give the order of the runs by the text behind
//!   them, which is the order for all k.
//! - The byte before a suffix inside a run is c, except for the suffix at the start of the run.
//!
//! This is the order of types on which suffix sorting by induction rests (P. Ko and S. Aluru,
//! 2003), for runs in place of single symbols.
//!
//! Time: one scan of the block, the time of libsais for the shorter text, a memset, and a
//! logarithmic step for each run and each sample in it. Memory: less than 6 bytes per byte.

mod rows_inside;
mod short_text;

use super::sort_limits::{LongRunLimits, no_memory};
use super::table_pool::TablePool;
use super::{Bwt, wide};
use crate::base::allocation;
use crate::base::error::Error;
use libsais::SuffixArrayConstruction;
pub(crate) use rows_inside::RowsInside;
use short_text::{SAMPLED, ShortText};

/// Sorts a block on the calling thread. Returns `None` if the block has too few long runs.
pub(crate) fn sort(
    block: &[u8],
    sample_rate: u32,
    limits: LongRunLimits,
    tables: &TablePool<i32>,
) -> Result<Option<Bwt>, Error> {
    if block.len() < limits.min_len {
        return Ok(None);
    }
    let Some(mut short) = ShortText::new(block, limits)? else { return Ok(None) };
    // The table has the length that other blocks need, so that they can use it again. Its untouched
    // pages take no memory.
    let sorted = tables.lend(block.len(), |table| {
        let suffixes = &mut table[..short.text.len()];
        SuffixArrayConstruction::for_text(&short.text[..])
            .in_borrowed_buffer(suffixes)
            .single_threaded()
            .run()
            .map_err(|_| no_memory())?;
        expand(block, sample_rate, &mut short, suffixes)
    });
    sorted.ok_or_else(no_memory)?.map(Some)
}

/// The transform of the block, from the sorted suffixes of the shorter text.
fn expand(
    block: &[u8],
    sample_rate: u32,
    short: &mut ShortText,
    suffixes: &[i32],
) -> Result<Bwt, Error> {
    let rate = sample_rate as usize;
    let mut samples = allocation::zeroed(block.len().div_ceil(rate)).ok_or_else(no_memory)?;
    let mut starts = Vec::new();
    let parts = short.parts(suffixes);
    for part in parts.iter().filter(|part| part.inside > 0) {
        let at = |n: usize| suffixes[n].cast_unsigned() as usize;
        let runs = part.suffixes.clone().filter_map(|n| short.run_before(at(n))).collect();
        let inside =
            RowsInside { runs, rises: part.rises, first: part.first_inside, kept: short.kept };
        starts.extend(inside.rows(rate, &mut samples));
    }
    // The suffix at position 0 may be one of the sorted suffixes.
    if let Some(first) = suffixes.iter().position(|&at| at == 0)
        && let Some(part) = parts.iter().find(|part| part.suffixes.contains(&first))
    {
        samples[0] = (part.first + first - part.suffixes.start) as u32;
    }
    let primary = samples[0] as usize;
    let place = |row: usize| row - usize::from(row > primary);
    let mut bytes = allocation::zeroed(block.len()).ok_or_else(no_memory)?;
    bytes[0] = block[block.len() - 1];
    short.mark_samples(block.len(), rate);
    for part in &parts {
        // Fresh memory is zero, and untouched pages take no memory.
        if part.byte > 0 && part.inside > 0 {
            let rows = part.first_inside..part.first_inside + part.inside;
            bytes[place(rows.start)..place(rows.end)].fill(part.byte);
        }
        for (row, &at) in (part.first..).zip(&suffixes[part.suffixes.clone()]) {
            let at = at.cast_unsigned() as usize;
            if at > 0 {
                let before = short.text[at - 1];
                bytes[place(row)] = short.bytes[usize::from(before & !SAMPLED)];
                if before & SAMPLED != 0 {
                    samples[short.pos(at) / rate] = row as u32;
                }
            }
        }
    }
    for (start, row) in starts {
        if start > 0 {
            bytes[place(row)] = block[start - 1];
        }
    }
    Ok(Bwt { bytes, sample_rate, samples: wide(samples) })
}

#[cfg(test)]
mod tests {
    use super::super::{CpuSorter, cases, naive};
    use super::*;

    fn any(long: usize) -> LongRunLimits {
        LongRunLimits { long, ..LongRunLimits::LOWEST }
    }

    fn check(name: &str, block: &[u8], expected: &Bwt, limits: LongRunLimits) -> bool {
        let sorted = sort(block, expected.sample_rate, limits, &TablePool::new()).unwrap();
        let rate = expected.sample_rate;
        assert!(sorted.as_ref().is_none_or(|s| s == expected), "{name}, rate {rate}, {limits:?}");
        sorted.is_some()
    }

    #[test]
    fn sorts_as_the_oracle_does() {
        for (name, block) in naive::blocks() {
            for rate in [2, 8, 64, 1 << 30] {
                let expected = naive::sort(&block, rate);
                for long in [2, 3, 32] {
                    check(&name, &block, &expected, any(long));
                }
            }
        }
    }

    /// Runs with few different bytes, lengths and neighbours, so that all orders occur.
    #[test]
    fn sorts_runs_as_libsais_does() {
        let source = cases::random(1 << 20, 256);
        let mut numbers = source.iter().map(|&b| usize::from(b)).cycle();
        let mut number = |below: usize| numbers.next().unwrap() % below;
        let mut sorted = 0;
        for round in 0..3000 {
            let alphabet = 1 + number(4);
            let lengths = 1 + number(40);
            let count = 1 + number(50);
            let high = number(2) * 252;
            let mut block = Vec::new();
            for _ in 0..count {
                let byte = (high + number(alphabet)) as u8;
                block.extend(std::iter::repeat_n(byte, 1 + number(lengths)));
            }
            let long = 2 + number(12);
            let rate = 2 << number(6);
            let expected = CpuSorter::new().sort_on_one_thread(&block, rate).unwrap();
            sorted += usize::from(check(&format!("round {round}"), &block, &expected, any(long)));
        }
        assert!(sorted > 2000, "{sorted} of 3000");
    }

    #[test]
    fn takes_blocks_that_are_mostly_runs() {
        let text = cases::text(1 << 16);
        let tables = TablePool::new();
        let usual = |block: &[u8], rate| sort(block, rate, LongRunLimits::USUAL, &tables).unwrap();
        for byte in [0, b'e', 255] {
            let mut block = Vec::new();
            for (n, piece) in text.chunks(5000).enumerate() {
                block.extend(std::iter::repeat_n(byte, 31 + n * n * 1000 % 70_001));
                block.extend(piece);
            }
            for rate in [256, 1 << 15] {
                let expected = CpuSorter::new().sort_on_one_thread(&block, rate).unwrap();
                assert!(usual(&block, rate).is_some_and(|sorted| sorted == expected), "{byte}");
            }
        }
        let run = vec![7; 1 << 18];
        let expected = CpuSorter::new().sort_on_one_thread(&run, 1 << 15).unwrap();
        assert_eq!(usual(&run, 1 << 15), Some(expected));
        assert_eq!(usual(&run[1..], 1 << 15), None, "short");
        assert_eq!(usual(&text.repeat(8), 1 << 15), None, "no runs");
    }
}
