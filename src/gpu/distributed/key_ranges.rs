//! Suffixes of a text divided among GPUs by their first keys: the host side of
//! `kernels/distributed/key_ranges.cu`.

use crate::base::error::{Error, Result};
use crate::gpu::block::is_padded;
use crate::gpu::runtime::tuning::{KEY_TILE, RANGE_BITS, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};
use std::ops::Range;

/// Maximum number of CTAs per multiprocessor that count keys.
const COUNTING: u32 = 4;
/// Number of values of the first bits of a key.
pub(super) const FIRST_BITS: usize = 1 << RANGE_BITS;

/// A text of n bytes, with its padding, and the code of its symbols.
#[derive(Clone, Copy)]
pub(super) struct CodedText<'m> {
    pub bytes: Array<'m, u8>,
    pub n: u32,
    pub code_table: Array<'m, u32>,
}

/// Share of one of several GPUs: the suffixes whose keys have their first bits in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    pub bits: Range<u32>,
    /// Rows of these suffixes.
    pub rows: Range<u32>,
}

/// Returns a range for each GPU, given the number of keys with each value of the first bits. The
/// ranges are as even as is possible with whole values.
pub(super) fn key_ranges(counts: &[u64], gpus: usize) -> Vec<KeyRange> {
    let before: Vec<u64> = [0]
        .into_iter()
        .chain(counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }))
        .collect();
    let n = before[counts.len()];
    let last = counts.len();
    let border = |gpu: usize| {
        if gpu == 0 || gpu == gpus {
            return if gpu == 0 { 0 } else { last };
        }
        let wanted = n * gpu as u64 / gpus as u64;
        let above = before.partition_point(|&rows| rows < wanted);
        let below = above.saturating_sub(1);
        if wanted - before[below] < before[above] - wanted {
            below
        } else {
            above
        }
    };
    let range = |gpu: usize| {
        let low = border(gpu);
        let high = border(gpu + 1);
        KeyRange {
            bits: low as u32..high as u32,
            rows: before[low] as u32..before[high] as u32,
        }
    };
    (0..gpus).map(range).collect()
}

/// Returns the number of keys with each value of their first bits, among the suffixes that begin in
/// the tiles of GPU `number` of `gpus`.
#[allow(unsafe_code)]
pub(super) fn count_keys(
    gpu: &Gpu,
    text: CodedText,
    number: usize,
    gpus: usize,
    counts: Array<u32>,
) -> Result<Vec<u64>> {
    let CodedText {
        bytes,
        n,
        code_table,
    } = text;
    assert!(is_padded(bytes, n) && counts.len() as usize == FIRST_BITS);
    let tiles = u64::from(n.div_ceil(KEY_TILE));
    let [first, end] = [number, number + 1].map(|q| (tiles * q as u64 / gpus as u64) as u32);
    gpu.zero(counts)?;
    let arguments = arguments![bytes, n, code_table, first, end, counts];
    let ctas = (end - first).min(COUNTING * gpu.processors());
    // SAFETY: the text has n bytes and its padding, and there is a count for each value of the
    // bits.
    unsafe { gpu.launch("key_ranges/count_keys", ctas, THREADS, arguments)? };
    Ok(gpu
        .read(counts)?
        .into_iter()
        .map(u64::from)
        .collect())
}

/// Collects the suffixes of a range with their keys. There must be exactly as many as the arrays
/// have room for. `cursor` has one word.
///
/// # Errors
/// [`Error::Device`] if their number is another, or if the GPU fails.
#[allow(unsafe_code)]
pub(super) fn range_keys(
    gpu: &Gpu,
    text: CodedText,
    bits: Range<u32>,
    keys: Array<u64>,
    suffixes: Array<u32>,
    cursor: Array<u32>,
) -> Result<()> {
    let CodedText {
        bytes,
        n,
        code_table,
    } = text;
    assert!(is_padded(bytes, n) && keys.len() == suffixes.len() && cursor.len() == 1);
    gpu.zero(cursor)?;
    let Range {
        start: low,
        end: high,
    } = bits;
    let room = keys.len();
    let arguments = arguments![
        bytes, n, code_table, low, high, cursor, room, keys, suffixes
    ];
    // SAFETY: the text has n bytes and its padding; items for which the arrays have no room are
    // left out.
    unsafe {
        gpu.launch(
            "key_ranges/range_keys",
            n.div_ceil(KEY_TILE),
            THREADS,
            arguments,
        )?;
    }
    match gpu.read(cursor)?[0] == keys.len() {
        true => Ok(()),
        false => Err(Error::Device(
            "GPUs disagree on how they part a text".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_as_even_as_whole_bits() {
        let rows = |counts: &[u64], gpus| -> Vec<Range<u32>> {
            key_ranges(counts, gpus)
                .into_iter()
                .map(|range| range.rows)
                .collect()
        };
        assert_eq!(rows(&[3, 0, 3, 2], 2), [0..3, 3..8]);
        assert_eq!(rows(&[1, 1, 1, 1, 1], 2), [0..2, 2..5]);
        assert_eq!(rows(&[0, 0, 9, 0], 3), [0..0, 0..9, 9..9]);
        assert_eq!(rows(&[2, 2], 4), [0..2, 2..2, 2..4, 4..4]);
    }

    #[test]
    fn ranges_have_all_bits_and_rows_once() {
        let counts: Vec<u64> = (0..FIRST_BITS as u64)
            .map(|i| i * i % 97 * (i % 3))
            .collect();
        let n: u64 = counts.iter().sum();
        for gpus in 1..=64 {
            let ranges = key_ranges(&counts, gpus);
            let mut end = (0, 0);
            for KeyRange { bits, rows } in &ranges {
                assert_eq!((bits.start, rows.start), end);
                let own: u64 = counts[bits.start as usize..bits.end as usize]
                    .iter()
                    .sum();
                assert_eq!(u64::from(rows.end - rows.start), own);
                end = (bits.end, rows.end);
            }
            assert_eq!(end, (FIRST_BITS as u32, n as u32));
        }
    }
}
