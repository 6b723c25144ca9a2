//! Counts the bytes of a text, and estimates how much of it is repeated: the host side of
//! `kernels/block/byte_counts.cu`.

use super::is_padded;
use crate::base::error::Result;
use crate::gpu::runtime::tuning::{BYTE_COUNT_WORDS, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Minimum number of bytes that a CTA counts.
const COUNTED: u32 = 16384;
/// Maximum number of counting CTAs per multiprocessor.
const COUNTING: u32 = 2;

/// About one position in 2^`LOG_EVERY` is checked for repeats.
const LOG_EVERY: u32 = 8;
/// At most about 2^`LOG_MOST_LOOKED` positions are checked in all.
const LOG_MOST_LOOKED: u32 = 16;

/// Number of entries in a table of positions met: at least twice the number of positions checked.
fn table_size(n: u32) -> u32 {
    2 << (n.ilog2() + 1)
        .saturating_sub(LOG_EVERY)
        .min(LOG_MOST_LOOKED)
}

/// Number of words of `counts` for n bytes and their repeats.
pub(crate) fn words_with_tables(n: u32) -> usize {
    (BYTE_COUNT_WORDS + 2 * table_size(n)) as usize
}

/// Counts of a text.
#[derive(Debug)]
pub(crate) struct ByteCounts {
    /// Number of occurrences of each byte value.
    pub bytes: [u32; 256],
    /// Share of the text that occurred in it before, of [`RepeatEstimate::ALL`]. This is an
    /// estimate from few positions.
    pub repeats: RepeatEstimate,
}

/// Number of suffixes, of [`RepeatEstimate::ALL`], whose first bytes also begin an earlier suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatEstimate {
    /// Number that share [`REPEAT_SHORT`](crate::gpu::runtime::tuning::REPEAT_SHORT) bytes.
    pub short: u32,
    /// Number that share about [`REPEAT_LONG`](crate::gpu::runtime::tuning::REPEAT_LONG) bytes.
    pub long: u32,
}

impl RepeatEstimate {
    /// The number that stands for all suffixes.
    pub(crate) const ALL: u32 = 1024;
}

/// Counts the bytes of each value among the first n, and waits for the counts. `counts` has
/// [`BYTE_COUNT_WORDS`] words. If it has [`words_with_tables`] words, repeats are estimated too.
#[allow(unsafe_code)]
pub(crate) fn count_bytes(
    gpu: &Gpu,
    text: Array<u8>,
    n: u32,
    counts: Array<u32>,
) -> Result<ByteCounts> {
    let table_size = if counts.len() == BYTE_COUNT_WORDS {
        0
    } else {
        table_size(n)
    };
    assert!(is_padded(text, n) && counts.len() == BYTE_COUNT_WORDS + 2 * table_size);
    let log_every = LOG_EVERY.max((n.ilog2() + 1).saturating_sub(LOG_MOST_LOOKED));
    gpu.zero(counts)?;
    gpu.reset_counts();
    let ctas = n
        .div_ceil(COUNTED)
        .min(COUNTING * gpu.processors());
    let arguments = arguments![text, n, counts, table_size, log_every, gpu.host_flags()];
    // SAFETY: `text` has n items and its padding, and `counts` has two tables of `table_size` words
    // behind the counts.
    unsafe { gpu.launch("byte_counts/count_bytes", ctas, THREADS, arguments)? };
    let (short, long) = gpu.wait_for_counts()?;
    Ok(ByteCounts {
        bytes: gpu.byte_counts(),
        repeats: RepeatEstimate { short, long },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::runtime::tuning::TEXT_PADDING;
    use crate::gpu::testing::{gpu, memory, random, upload};

    #[test]
    fn counts_and_repeats() {
        let Some(gpu) = gpu() else { return };
        let bytes = |len, seed| -> Vec<u8> {
            random(len, 200, seed)
                .into_iter()
                .map(|byte| byte as u8)
                .collect()
        };
        let once = bytes(1_400_000, 1);
        let words = bytes(350_000, 2);
        // Half of the text consists of phrases that occur four times each.
        let phrases = words.chunks(700).cycle();
        let spread: Vec<u8> = once
            .chunks(700)
            .zip(phrases)
            .flat_map(|two| <[_; 2]>::from(two).concat())
            .collect();
        let half = RepeatEstimate::ALL / 2;
        let cases = [
            (once.clone(), 0, 0),
            (once.repeat(2), half, half),
            (spread, half * 3 / 4, 0),
            (vec![7; 1_000_000], 0, 0),
            (bytes(1000, 3), 0, 0),
        ];
        for (text, short, long) in cases {
            let n = text.len() as u32;
            let padded = [&text[..], &[0; TEXT_PADDING as usize]].concat();
            let mut memory = memory(&gpu, padded.len() + (2 << 20));
            let mut arena = memory.allocator();
            let text_there = upload(&gpu, &mut arena, &padded);
            let counts: Array<u32> = arena.array(words_with_tables(n));
            let found = count_bytes(&gpu, text_there, n, counts).unwrap();
            let each = |byte| text.iter().filter(|&&b| b == byte).count() as u32;
            assert_eq!(found.bytes, std::array::from_fn(|byte| each(byte as u8)));
            let near =
                |found: u32, expected: u32| found.abs_diff(expected) < RepeatEstimate::ALL / 20;
            let repeats = found.repeats;
            assert!(
                near(repeats.short, short) && near(repeats.long, long),
                "{n} bytes: {repeats:?}"
            );
            let counted = count_bytes(&gpu, text_there, n, counts.first(BYTE_COUNT_WORDS)).unwrap();
            assert_eq!(counted.repeats, RepeatEstimate { short: 0, long: 0 });
        }
    }
}
