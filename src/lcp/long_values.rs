//! LCP values as a GPU sends them: a byte for each, and apart from these the few that are larger.

use crate::error::{Error, Result};
use rayon::prelude::*;

/// Stands for a value that is as large or larger.
const LONG: u8 = u8::MAX;

/// Values that a thread takes at a time.
const PIECE: usize = 1 << 16;

/// Writes a value for each byte: the byte itself, or the next of `long`.
///
/// # Errors
/// [`Error::Device`] where these are not as many as the bytes say.
pub fn widen(bytes: &[u8], long: &[u32], values: &mut [u32]) -> Result<()> {
    let pieces = values.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE));
    let counts: Vec<usize> = bytes.par_chunks(PIECE).map(count_long).collect();
    if counts.iter().sum::<usize>() != long.len() {
        return Err(Error::Device("a GPU gave other long values than it counted".into()));
    }
    let mut left = long;
    let split = counts.into_iter().map(|count| {
        let (these, behind) = left.split_at(count);
        left = behind;
        these
    });
    let long: Vec<&[u32]> = split.collect();
    pieces.zip(long).for_each(|((values, bytes), long)| {
        values.iter_mut().zip(bytes).for_each(|(value, &byte)| *value = byte.into());
        let of_long = values.iter_mut().zip(bytes).filter(|(_, byte)| **byte == LONG);
        long.iter().zip(of_long).for_each(|(&long, (value, _))| *value = long);
    });
    Ok(())
}

fn count_long(bytes: &[u8]) -> usize {
    // By sums of a byte each, which a processor makes many of at a time.
    let count = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(byte == LONG)).sum::<u8>();
    bytes.chunks(LONG as usize).map(|bytes| usize::from(count(bytes))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn values_are_those_that_were_split() {
        let random = cases::random(4 * 200_000, 256);
        for least_bits in [0, 20, 24, 28, 32] {
            let word = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap());
            let value = |four| u32::try_from(u64::from(word(four)) >> least_bits).unwrap();
            let expected: Vec<u32> = random.chunks_exact(4).map(value).collect();
            for len in [0, 1, 254, 65_535, 65_536, 65_537, expected.len()] {
                let expected = &expected[..len];
                let bytes: Vec<u8> =
                    expected.iter().map(|&v| u8::try_from(v).unwrap_or(LONG)).collect();
                let is_long = |value: &&u32| **value >= u32::from(LONG);
                let long: Vec<u32> = expected.iter().filter(is_long).copied().collect();
                let mut values = vec![7; len];
                widen(&bytes, &long, &mut values).unwrap();
                assert!(values == expected, "{len} values, {} of them long", long.len());
                let more = [&long[..], &[300]].concat();
                assert!(matches!(widen(&bytes, &more, &mut values), Err(Error::Device(_))));
                if !long.is_empty() {
                    assert!(matches!(widen(&bytes, &[], &mut values), Err(Error::Device(_))));
                }
            }
        }
    }
}
