//! Hashes of long keys, kept for the other columns that the same value predicts: many of a line may
//! be predicted by one value, which is hashed once then.

use super::predictions::hash;
use super::short_moves::USUAL;
use std::ops::Range;

/// Slots whose keys are kept, from the last one on: as many as a key may be away.
const SLOTS: usize = 256;

/// A key that begins nowhere.
const NO_KEY: u32 = u32::MAX;

/// For each of the last slots where its value begins in the block, and the hash of that, if it was
/// long and asked for.
pub(super) struct KeptHashes(Box<[(u32, u32); SLOTS]>);

impl KeptHashes {
    /// None yet.
    pub fn new() -> Self {
        KeptHashes(Box::new([(NO_KEY, 0); SLOTS]))
    }

    /// The hash of the value of a slot of the line, which stands at `range` of the block.
    #[inline(always)]
    pub fn of(&mut self, slot: usize, block: &[u8], range: Range<usize>) -> u32 {
        match range.len() {
            0..=USUAL => hash(&block[range]),
            _ => self.of_long(slot, block, range),
        }
    }

    /// The same of one that is not short. No two such values begin at one place.
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
        let block: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
        let mut kept = KeptHashes::new();
        for (slot, start) in (0..1900).step_by(7).enumerate() {
            for len in [0, 3, 16, 17, 90] {
                let range = start..start + len;
                if len <= 16 || len == 17 + 73 * (slot % 2) {
                    assert_eq!(kept.of(slot, &block, range.clone()), hash(&block[range.clone()]));
                    assert_eq!(kept.of(slot, &block, range.clone()), hash(&block[range]));
                }
            }
        }
    }
}
