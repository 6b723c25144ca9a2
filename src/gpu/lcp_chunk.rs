//! Rows of a suffix array and its LCP array as they come from a GPU, in fewer bytes than the values
//! have, since the bus takes longer than the kernels: a position takes 3 bytes where the text has
//! no more than 2^24, and an LCP value one, or one and four.

use crate::error::{Error, Result};
use rayon::prelude::*;

/// Rows of a tile, whose long values lie together.
pub const TILE: usize = 1024;

/// Stands for the place of the long values of a tile that has none.
pub const NO_VALUES: u32 = u32::MAX;

/// Stands for a value that is as large or larger.
pub const LONG: u8 = u8::MAX;

/// Tiles that a thread takes at a time.
const TILES: usize = 64;

/// Rows on their way from a GPU, in the memory of a sorter: suffixes first, in one of two ways,
/// then the LCP array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpChunk<'a> {
    /// Positions of the suffixes from row `first` on.
    Suffixes {
        /// The first of these rows.
        first: usize,
        /// A position for each.
        suffixes: &'a [u32],
    },
    /// The same with 3 bytes for each, little-endian, so that four are in three words.
    Packed {
        /// The first of these rows.
        first: usize,
        /// How many they are.
        len: usize,
        /// Their positions.
        words: &'a [u32],
    },
    /// What each has in common with the one before it, from row `first` on.
    Lcp {
        /// The first of these rows.
        first: usize,
        /// A value for each, or 255 where that is no less.
        bytes: &'a [u8],
        /// Where the values are in `long` of each tile of 1024 rows, or `NO_VALUES`; nothing where
        /// there are none.
        starts: &'a [u32],
        /// The values for which 255 stands, those of a tile in their order.
        long: &'a [u32],
    },
}

impl LcpChunk<'_> {
    /// Writes the values to their rows, on all threads of this pool.
    ///
    /// # Errors
    /// [`Error::Device`] where a tile has fewer long values than its bytes say.
    ///
    /// # Panics
    /// If either array is too short.
    pub fn write(self, suffixes: &mut [u32], lcp: &mut [u32]) -> Result<()> {
        let size = TILES * TILE;
        match self {
            LcpChunk::Suffixes { first, suffixes: from } => {
                let to = suffixes[first..][..from.len()].par_chunks_mut(size);
                to.zip(from.par_chunks(size)).for_each(|(to, from)| to.copy_from_slice(from));
                Ok(())
            }
            LcpChunk::Packed { first, len, words } => {
                let to = suffixes[first..][..len].par_chunks_mut(size);
                to.zip(words.par_chunks(size / 4 * 3)).for_each(|(to, words)| unpack(words, to));
                Ok(())
            }
            LcpChunk::Lcp { first, bytes, starts, long } => {
                let to = lcp[first..][..bytes.len()].par_chunks_mut(size);
                to.zip(bytes.par_chunks(size)).enumerate().try_for_each(|(n, (to, bytes))| {
                    to.iter_mut().zip(bytes).for_each(|(value, &byte)| *value = byte.into());
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

/// Four positions of each three words.
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

/// Replaces each 255 by the next of `long`.
fn replace(long: &[u32], values: &mut [u32]) -> Result<()> {
    let mut long = long.iter();
    for value in values.iter_mut().filter(|value| **value == u32::from(LONG)) {
        let short = || Error::Device("a GPU gave fewer long values than it counted".into());
        *value = *long.next().ok_or_else(short)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// Random values of so many bits.
    fn values(len: usize, bits: u32) -> Vec<u32> {
        let word = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap());
        let value = |four| u32::try_from(u64::from(word(four)) >> (32 - bits)).unwrap();
        cases::random(4 * len, 256).chunks_exact(4).map(value).collect()
    }

    #[test]
    fn positions_are_those_that_were_packed() {
        for len in [1, 2, 3, 4, 5, 65_536, 65_539, 200_000] {
            let expected = values(len, 24);
            let mut bytes: Vec<u8> =
                expected.iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
            bytes.resize(len.div_ceil(4) * 12, 0xAA);
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
            let mut found = vec![7; len + 6];
            LcpChunk::Packed { first: 5, len, words: &words }.write(&mut found, &mut []).unwrap();
            assert!(found[5..len + 5] == expected, "{len} positions");
            assert_eq!((found[4], found[len + 5]), (7, 7));
        }
    }

    #[test]
    fn values_are_those_that_were_split() {
        for bits in [32, 12, 8, 4, 0] {
            for len in [0, 1, 254, 1024, 1025, 65_535, 65_536, 65_537, 200_000] {
                let expected = values(len, bits);
                let bytes: Vec<u8> =
                    expected.iter().map(|&v| u8::try_from(v).unwrap_or(LONG)).collect();
                // Tiles may lie in any order.
                let (mut starts, mut long) = (vec![0; len.div_ceil(TILE)], Vec::new());
                for (start, tile) in starts.iter_mut().zip(expected.chunks(TILE)).rev() {
                    let before = long.len();
                    long.extend(tile.iter().filter(|&&value| value >= u32::from(LONG)));
                    *start = if long.len() > before { before as u32 } else { NO_VALUES };
                }
                let (mut found, mut damaged) = (vec![7; len], vec![7; len]);
                let chunk = |long| LcpChunk::Lcp { first: 0, bytes: &bytes, starts: &starts, long };
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
