//! Hashes of long keys, kept because one value may be the key of many columns of its line. Such a
//! value is hashed once.

use super::predictions::hash;
use super::short_moves::USUAL;
use std::ops::Range;

/// Number of slots whose hashes are kept, from the last one back. A key is at most this distance
/// away.
const SLOTS: usize = 256;

/// Start of no key.
const NO_KEY: u32 = u32::MAX;

/// For each of the last slots, the start of its value in the block, and the hash of this value.
/// Only values that were long and asked for have an entry.
pub(super) struct KeptHashes(Box<[(u32, u32); SLOTS]>);

impl KeptHashes {
    /// Creates a table without hashes.
    pub(super) fn new() -> Self {
        KeptHashes(Box::new([(NO_KEY, 0); SLOTS]))
    }

    /// Returns the hash of the value of a slot of the line. The value is at `range` of the block.
    #[inline(always)]
    pub(super) fn of(&mut self, slot: usize, block: &[u8], range: Range<usize>) -> u32 {
        match range.len() {
            0..=USUAL => hash(&block[range]),
            _ => self.of_long(slot, block, range),
        }
    }

    /// Returns the hash of a long value. No two long values have the same start.
    fn of_long(&mut self, slot: usize, block: &[u8], range: Range<usize>) -> u32 {
        let kept = &mut self.0[slot % SLOTS];
        if kept.0 != range.start as u32 {
            *kept = (range.start as u32, hash(&block[range]));
        }
        kept.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_values() {
        let block: Vec<u8> = (0..2000_u32)
            .map(|n| (n * n % 251) as u8)
            .collect();
        let mut kept = KeptHashes::new();
        for (slot, start) in (0..1900).step_by(7).enumerate() {
            for len in [0, 3, 16, 17, 90] {
                let range = start..start + len;
                if len <= 16 || len == 17 + 73 * (slot % 2) {
                    assert_eq!(
                        kept.of(slot, &block, range.clone()),
                        hash(&block[range.clone()])
                    );
                    assert_eq!(kept.of(slot, &block, range.clone()), hash(&block[range]));
                }
            }
        }
    }
}
