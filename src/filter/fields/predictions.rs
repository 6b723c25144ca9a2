//! A value predicted by another of its line: by what stood here when that one was the same. Where
//! that one is new, it is itself the prediction, and for numbers the last number is.
//!
//! The array has no keys: values of the same hash share an entry, on both sides.

use crate::base::allocation;
use crate::base::error::Flaw;
use std::ops::Range;

/// Entries of an array at most, as a power of two.
const MOST_BITS: u32 = 16;

/// Entries of all arrays of a block at most, 8 bytes each.
const MOST_ENTRIES: usize = 1 << 22;

/// The entries of the arrays that a block may still have.
pub(super) struct Room(usize);

impl Room {
    pub fn new() -> Self {
        Room(MOST_ENTRIES)
    }

    /// Whether there is room for the array of one more column of `count` values, and takes it.
    pub fn take(&mut self, count: usize) -> bool {
        let left = self.0.checked_sub(1 << bits(count));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// The bytes of the arrays that are still to come at most, of columns of so many values.
    pub fn bytes_left(&self, values: usize) -> usize {
        ENTRY * self.0.min(values.saturating_mul(2))
    }
}

/// Bytes of an entry of an array.
const ENTRY: usize = 8;

/// The bytes of the array of a column of `count` values.
pub(super) fn array_bytes(count: usize) -> usize {
    ENTRY << bits(count)
}

/// The entries of the array of a column of `count` values, as a power of two.
fn bits(count: usize) -> u32 {
    count.next_power_of_two().ilog2().clamp(1, MOST_BITS)
}

/// What the last value was, by the hash of the other.
#[derive(Debug, Default)]
pub(super) struct Predictions<T> {
    table: Vec<T>,
    shift: u32,
}

/// Stands for where a value is that was not met yet.
pub(super) const NOWHERE: Range<u32> = u32::MAX..u32::MAX;

/// Stands for a number that was not met yet.
pub(super) const NO_NUMBER: i64 = i64::MIN;

impl<T: Clone> Predictions<T> {
    /// The table of a column of `count` values, 2 or more, with `none` for each.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub fn new(count: usize, none: T) -> Result<Self, Flaw> {
        let bits = bits(count);
        let mut table = allocation::with_capacity(1 << bits).ok_or(Flaw::NO_MEMORY)?;
        table.resize(1 << bits, none);
        Ok(Predictions { table, shift: 32 - bits })
    }

    /// The last value that was found beside `key`, or beside another of its hash.
    pub fn last(&mut self, key: &[u8]) -> &mut T {
        let place = self.place(hash(key));
        self.at(place)
    }

    /// The place of a key in the table, by its [`hash`].
    pub fn place(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    /// What [`last`](Self::last) gives, by its place.
    pub fn at(&mut self, place: usize) -> &mut T {
        &mut self.table[place]
    }
}

/// The hash of a value: of each byte after the other, or, which is the same, of four at once.
pub(super) fn hash(value: &[u8]) -> u32 {
    const FACTOR: u32 = 0x9E37_79B1;
    const POWERS: [u32; 4] =
        [FACTOR.wrapping_pow(4), FACTOR.wrapping_pow(3), FACTOR.wrapping_pow(2), FACTOR];
    let (fours, rest) = value.as_chunks::<4>();
    let hash = fours.iter().fold(0_u32, |hash, four| {
        let [a, b, c, d] =
            std::array::from_fn(|n| (1 + u32::from(four[n])).wrapping_mul(POWERS[n]));
        hash.wrapping_mul(POWERS[0]).wrapping_add(a.wrapping_add(b)).wrapping_add(c.wrapping_add(d))
    });
    rest.iter()
        .fold(hash, |hash, &byte| hash.wrapping_add(1 + u32::from(byte)).wrapping_mul(FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_of_one_byte_after_the_other() {
        let value: Vec<u8> = (0..40_u8).map(|n| n.wrapping_mul(37) ^ 0xA5).collect();
        for len in 0..value.len() {
            let one_by_one = value[..len].iter().fold(0_u32, |hash, &byte| {
                hash.wrapping_add(1 + u32::from(byte)).wrapping_mul(0x9E37_79B1)
            });
            assert_eq!(hash(&value[..len]), one_by_one);
        }
    }
}
