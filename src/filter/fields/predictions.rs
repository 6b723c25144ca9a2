//! Prediction of a value by the key, which is another value of its line.
//!
//! The predicted value is the last one beside the same key. For a new key, the key itself is the
//! prediction; for numbers, the last number of the column is.
//!
//! Keys are not stored. Keys of the same hash share an entry, in the encoder and the decoder.

use crate::base::allocation;
use crate::base::error::Flaw;
use std::ops::Range;

/// Maximum number of entries of an array, as a power of two.
const MOST_BITS: u32 = 16;

/// Maximum number of entries of all arrays of a block. An entry takes 8 bytes.
const MOST_ENTRIES: usize = 1 << 22;

/// Number of array entries that the block may still use.
pub(super) struct Room(usize);

impl Room {
    pub(super) fn new() -> Self {
        Room(MOST_ENTRIES)
    }

    /// Takes the array of a column of `count` values. Returns false if there is no room for it.
    pub(super) fn take(&mut self, count: usize) -> bool {
        let left = self.0.checked_sub(1 << bits(count));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Maximum number of bytes of the arrays that are still to come, for columns of `values`
    /// values.
    pub(super) fn bytes_left(&self, values: usize) -> usize {
        ENTRY * self.0.min(values.saturating_mul(2))
    }
}

/// Size of an array's entry, in bytes.
const ENTRY: usize = 8;

/// Returns the size of the array of a column of `count` values, in bytes.
pub(super) fn array_bytes(count: usize) -> usize {
    ENTRY << bits(count)
}

/// Returns the number of entries of the array of a column of `count` values, as a power of two.
fn bits(count: usize) -> u32 {
    count
        .next_power_of_two()
        .ilog2()
        .clamp(1, MOST_BITS)
}

/// Array of the last values, by the hash of the key.
#[derive(Debug, Default)]
pub(super) struct Predictions<T> {
    table: Vec<T>,
    shift: u32,
}

/// Entry of a key without a value.
pub(super) const NOWHERE: Range<u32> = u32::MAX..u32::MAX;

/// Entry of a key without a number.
pub(super) const NO_NUMBER: i64 = i64::MIN;

impl<T: Clone> Predictions<T> {
    /// Creates the array of a column of `count` values, 2 or more. All entries are `none`.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn new(count: usize, none: T) -> Result<Self, Flaw> {
        let bits = bits(count);
        let mut table = allocation::with_capacity(1 << bits).ok_or(Flaw::NO_MEMORY)?;
        table.resize(1 << bits, none);
        Ok(Predictions {
            table,
            shift: 32 - bits,
        })
    }

    /// Returns the last value beside `key`, or beside another key of its hash.
    pub(super) fn last(&mut self, key: &[u8]) -> &mut T {
        let place = self.place(hash(key));
        self.at(place)
    }

    /// Returns the index of a key's entry, by its [`hash`].
    pub(super) fn place(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    /// Returns the entry at an index.
    pub(super) fn at(&mut self, place: usize) -> &mut T {
        &mut self.table[place]
    }
}

/// Hashes a value, four bytes at a time. The result is the same as byte by byte.
pub(super) fn hash(value: &[u8]) -> u32 {
    const FACTOR: u32 = 0x9E37_79B1;
    const POWERS: [u32; 4] = [
        FACTOR.wrapping_pow(4),
        FACTOR.wrapping_pow(3),
        FACTOR.wrapping_pow(2),
        FACTOR,
    ];
    let (fours, rest) = value.as_chunks::<4>();
    let hash = fours.iter().fold(0_u32, |hash, four| {
        let [a, b, c, d] =
            std::array::from_fn(|n| (1 + u32::from(four[n])).wrapping_mul(POWERS[n]));
        hash.wrapping_mul(POWERS[0])
            .wrapping_add(a.wrapping_add(b))
            .wrapping_add(c.wrapping_add(d))
    });
    rest.iter().fold(hash, |hash, &byte| {
        hash.wrapping_add(1 + u32::from(byte))
            .wrapping_mul(FACTOR)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_of_one_byte_after_the_other() {
        let value: Vec<u8> = (0..40_u8)
            .map(|n| n.wrapping_mul(37) ^ 0xA5)
            .collect();
        for len in 0..value.len() {
            let one_by_one = value[..len].iter().fold(0_u32, |hash, &byte| {
                hash.wrapping_add(1 + u32::from(byte))
                    .wrapping_mul(0x9E37_79B1)
            });
            assert_eq!(hash(&value[..len]), one_by_one);
        }
    }
}
