//! The keyed positions of a text, for [`super::match_finder`]: its content-defined positions, each
//! with the one before that has the same key of 24 bytes.
//!
//! Each stretch of the text has its positions hashed by one task. Then each share of the hashes is
//! sorted by one task, which links equal ones. One byte in 16 is a position on average; one takes
//! 20 bytes of memory while the links are made, and 8 after.

use crate::base::allocation;
use crate::base::content_defined::{self, STRETCH, hash};
use crate::base::error::Flaw;
use crate::base::threads::{Threads, stretches};
use std::iter;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a key.
pub(super) const KEY: usize = 24;
/// Minimum distance between positions in bytes.
const APART: usize = 4;
/// Least bytes of a stretch per position that is kept. Half of the average distance, so that the
/// memory for positions is bounded.
const BYTES_PER_POSITION: usize = 8;
/// Number of shares of the hashes.
const SHARES: usize = 64;
/// Stands for no position.
const NONE: u32 = u32::MAX;

/// The keyed positions of a text, numbered in order.
pub(super) struct KeyedPositions {
    places: Vec<u32>,
    /// For each position, the number of the last one before it with the same key.
    previous: Vec<AtomicU32>,
}

impl KeyedPositions {
    /// The keyed positions of `text`.
    pub(super) fn new(text: &[u8], pool: &Threads) -> Result<Self, Flaw> {
        let hashed = pool.map(stretches(text.len(), STRETCH), |stretch| {
            Hashed::new(text, stretch)
        });
        let hashed = hashed
            .into_iter()
            .collect::<Result<Vec<_>, Flaw>>()?;
        let count = hashed
            .iter()
            .map(|hashed| hashed.places.len())
            .sum();
        let mut places = allocation::with_capacity(count).ok_or(Flaw::NO_MEMORY)?;
        let mut previous = allocation::with_capacity(count).ok_or(Flaw::NO_MEMORY)?;
        previous.resize_with(count, || AtomicU32::new(NONE));
        hashed
            .iter()
            .for_each(|hashed| places.extend(&hashed.places));
        let linked = pool.map(0..SHARES, |share| link(&hashed, share, &previous));
        linked.into_iter().collect::<Result<(), Flaw>>()?;
        Ok(KeyedPositions { places, previous })
    }

    /// The number of the first position that is not before `at`.
    pub(super) fn first_from(&self, at: usize) -> usize {
        self.places
            .partition_point(|&place| (place as usize) < at)
    }

    /// The position with this number, or `None` behind the last one.
    pub(super) fn get(&self, number: usize) -> Option<usize> {
        self.places
            .get(number)
            .map(|&place| place as usize)
    }

    /// The positions with the key of this one before it, the last one first.
    pub(super) fn before(&self, number: usize) -> impl Iterator<Item = usize> {
        let previous = |number: usize| match self.previous[number].load(Ordering::Relaxed) {
            NONE => None,
            number => Some(number as usize),
        };
        iter::successors(previous(number), move |&number| previous(number))
            .map(|number| self.places[number] as usize)
    }
}

/// The positions of a stretch and the hashes of their keys.
struct Hashed {
    places: Vec<u32>,
    /// For each key the upper bits of its hash, above the position's number in this stretch. They
    /// are sorted by shares, and are in order within a share.
    keys: Vec<u64>,
    /// The end of the keys of each share.
    ends: [usize; SHARES],
}

impl Hashed {
    fn new(text: &[u8], stretch: Range<usize>) -> Result<Self, Flaw> {
        let most = stretch.len() / BYTES_PER_POSITION;
        let mut places = allocation::with_capacity(most).ok_or(Flaw::NO_MEMORY)?;
        content_defined::for_each_frequent(text, stretch, APART, |at| {
            if places.len() < most {
                places.push(at as u32);
            }
        });
        let mut hashes = allocation::with_capacity(places.len()).ok_or(Flaw::NO_MEMORY)?;
        hashes.extend(
            places
                .iter()
                .map(|&at| hash(&text[at as usize..][..KEY])),
        );
        let share = |hash: u64| (hash >> (64 - SHARES.ilog2())) as usize;
        let mut next = [0; SHARES];
        hashes
            .iter()
            .for_each(|&hash| next[share(hash)] += 1);
        let mut count = 0;
        next.iter_mut()
            .for_each(|next| count += mem::replace(next, count));
        let mut keys = allocation::zeroed(count).ok_or(Flaw::NO_MEMORY)?;
        for (n, &hash) in hashes.iter().enumerate() {
            let next = &mut next[share(hash)];
            keys[*next] = hash << SHARES.ilog2() >> 32 << 32 | n as u64;
            *next += 1;
        }
        Ok(Hashed {
            places,
            keys,
            ends: next,
        })
    }

    fn share(&self, share: usize) -> &[u64] {
        let start = share
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[share]]
    }
}

/// Links the positions of one share of the hashes.
fn link(hashed: &[Hashed], share: usize, previous: &[AtomicU32]) -> Result<(), Flaw> {
    let count = hashed
        .iter()
        .map(|hashed| hashed.share(share).len())
        .sum();
    let mut keys: Vec<u64> = allocation::with_capacity(count).ok_or(Flaw::NO_MEMORY)?;
    let mut first = 0;
    for hashed in hashed {
        keys.extend(hashed.share(share).iter().map(|key| key + first));
        first += hashed.places.len() as u64;
    }
    keys.sort_unstable();
    for pair in keys.windows(2) {
        if pair[0] >> 32 == pair[1] >> 32 {
            previous[pair[1] as u32 as usize].store(pair[0] as u32, Ordering::Relaxed);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use std::collections::HashMap;

    #[test]
    fn each_position_leads_to_all_before_with_its_key() {
        let random = cases::random(STRETCH / 2, 256);
        let texts = [random.repeat(5), cases::text(2 * STRETCH), b"abc".to_vec()];
        for text in texts {
            let positions = KeyedPositions::new(&text, &Threads::Calling).unwrap();
            let mut by_key: HashMap<&[u8], Vec<usize>> = HashMap::new();
            let mut count = 0;
            while let Some(at) = positions.get(count) {
                assert_eq!(positions.first_from(at), count);
                let same = by_key.entry(&text[at..at + KEY]).or_default();
                assert!(
                    positions
                        .before(count)
                        .eq(same.iter().rev().copied())
                );
                same.push(at);
                count += 1;
            }
            assert_eq!(positions.first_from(text.len()), count);
            assert!(count >= text.len() / 24);
        }
    }
}
