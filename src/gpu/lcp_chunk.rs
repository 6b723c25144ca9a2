//! Rows of a suffix array and its LCP array as a GPU sends them, in a packed form.
//!
//! The bus takes longer than the kernels, so the values are packed. A position takes 3 bytes if the
//! text has at most 2^24 bytes, else 4. An LCP value takes 1 byte, or 1 and 4 if it is long.

use crate::base::error::{Error, Result};
use rayon::prelude::*;

/// Rows per tile. The long values of a tile are stored together.
pub(super) const TILE: usize = 1024;

/// Start given for a tile without long values.
pub(super) const NO_VALUES: u32 = u32::MAX;

/// Byte given for an LCP value of 255 or more.
pub(super) const LONG: u8 = u8::MAX;

/// Number of tiles that a thread takes at a time.
const TILES: usize = 64;

/// A chunk of rows from a GPU, in the memory of a sorter. All suffixes come first, in one of two
/// forms, then the LCP array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpChunk<'a> {
    /// Positions of the suffixes from row `first` on.
    Suffixes {
        /// The first of these rows.
        first: usize,
        /// One position per row.
        suffixes: &'a [u32],
    },
    /// Positions with 3 bytes each, little-endian, so that three words hold four positions.
    Packed {
        /// The first of these rows.
        first: usize,
        /// Number of rows.
        len: usize,
        /// Their positions.
        words: &'a [u32],
    },
    /// Length of the common prefix of each row and the row before it, from row `first` on.
    Lcp {
        /// The first of these rows.
        first: usize,
        /// One value per row, or 255 if the value is at least 255.
        bytes: &'a [u8],
        /// Start of each tile's values in `long`, or `NO_VALUES`. A tile has 1024 rows. Empty if no
        /// tile has long values.
        starts: &'a [u32],
        /// The long values; those of a tile are in row order.
        long: &'a [u32],
    },
}

impl LcpChunk<'_> {
    /// Writes the values to their rows, on all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Device`] if a tile has fewer long values than bytes of 255.
    ///
    /// # Panics
    /// If either array is too short.
    pub fn write(self, suffixes: &mut [u32], lcp: &mut [u32]) -> Result<()> {
        let size = TILES * TILE;
        match self {
            LcpChunk::Suffixes {
                first,
                suffixes: from,
            } => {
                let to = suffixes[first..][..from.len()].par_chunks_mut(size);
                to.zip(from.par_chunks(size))
                    .for_each(|(to, from)| to.copy_from_slice(from));
                Ok(())
            }
            LcpChunk::Packed { first, len, words } => {
                let to = suffixes[first..][..len].par_chunks_mut(size);
                to.zip(words.par_chunks(size / 4 * 3))
                    .for_each(|(to, words)| unpack(words, to));
                Ok(())
            }
            LcpChunk::Lcp {
                first,
                bytes,
                starts,
                long,
            } => {
                let to = lcp[first..][..bytes.len()].par_chunks_mut(size);
                to.zip(bytes.par_chunks(size))
                    .enumerate()
                    .try_for_each(|(n, (to, bytes))| {
                        to.iter_mut()
                            .zip(bytes)
                            .for_each(|(value, &byte)| *value = byte.into());
                        let starts = starts.iter().skip(n * TILES);
                        let tiles = to.chunks_mut(TILE).zip(starts);
                        let mut tiles = tiles.filter(|(_, start)| **start != NO_VALUES);
                        tiles.try_for_each(|(to, &start)| {
                            replace(long.get(start as usize..).unwrap_or(&[]), to)
                        })
                    })
            }
        }
    }
}

/// Unpacks four positions from every three words.
fn unpack(words: &[u32], positions: &mut [u32]) {
    for (to, from) in positions.chunks_mut(4).zip(words.chunks_exact(3)) {
        let [a, b, c] = [from[0], from[1], from[2]];
        let four = [a, a >> 24 | b << 8, b >> 16 | c << 16, c >> 8].map(|word| word & 0xFF_FFFF);
        match to {
            [first, second, third, fourth] => [*first, *second, *third, *fourth] = four,
            last => last.copy_from_slice(&four[..last.len()]),
        }
    }
}

/// Replaces each 255 by the next value of `long`.
fn replace(long: &[u32], values: &mut [u32]) -> Result<()> {
    let mut long = long.iter();
    for value in values
        .iter_mut()
        .filter(|value| **value == u32::from(LONG))
    {
        let short = || Error::Device("a GPU gave fewer long values than it counted".into());
        *value = *long.next().ok_or_else(short)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// Random values of `bits` bits.
    fn values(len: usize, bits: u32) -> Vec<u32> {
        let word = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap());
        let value = |four| u32::try_from(u64::from(word(four)) >> (32 - bits)).unwrap();
        cases::random(4 * len, 256)
            .chunks_exact(4)
            .map(value)
            .collect()
    }

    #[test]
    fn positions_are_those_that_were_packed() {
        for len in [1, 2, 3, 4, 5, 65_536, 65_539, 200_000] {
            let expected = values(len, 24);
            let mut bytes: Vec<u8> = expected
                .iter()
                .flat_map(|v| v.to_le_bytes()[..3].to_vec())
                .collect();
            bytes.resize(len.div_ceil(4) * 12, 0xAA);
            let words: Vec<u32> = bytes
                .chunks_exact(4)
                .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
                .collect();
            let mut found = vec![7; len + 6];
            LcpChunk::Packed {
                first: 5,
                len,
                words: &words,
            }
            .write(&mut found, &mut [])
            .unwrap();
            assert!(found[5..len + 5] == expected, "{len} positions");
            assert_eq!((found[4], found[len + 5]), (7, 7));
        }
    }

    #[test]
    fn values_are_those_that_were_split() {
        for bits in [32, 12, 8, 4, 0] {
            for len in [0, 1, 254, 1024, 1025, 65_535, 65_536, 65_537, 200_000] {
                let expected = values(len, bits);
                let bytes: Vec<u8> = expected
                    .iter()
                    .map(|&v| u8::try_from(v).unwrap_or(LONG))
                    .collect();
                // Tiles may lie in any order.
                let mut starts = vec![0; len.div_ceil(TILE)];
                let mut long = Vec::new();
                for (start, tile) in starts.iter_mut().zip(expected.chunks(TILE)).rev() {
                    let before = long.len();
                    long.extend(
                        tile.iter()
                            .filter(|&&value| value >= u32::from(LONG)),
                    );
                    *start = if long.len() > before {
                        before as u32
                    } else {
                        NO_VALUES
                    };
                }
                let mut found = vec![7; len];
                let mut damaged = vec![7; len];
                let chunk = |long| LcpChunk::Lcp {
                    first: 0,
                    bytes: &bytes,
                    starts: &starts,
                    long,
                };
                chunk(&long).write(&mut [], &mut found).unwrap();
                assert!(found == expected, "{len} values of {bits} bits");
                if let Some((_, fewer)) = long.split_last() {
                    let failed = chunk(fewer).write(&mut [], &mut damaged);
                    assert!(matches!(failed, Err(Error::Device(_))));
                }
            }
        }
    }
}
