//! Cuts a block into phrases, and finds which of them are equal.

use super::super::sort_limits::{ParsingLimits, no_memory};
use crate::base::allocation;
use crate::base::error::Error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a window, whose hash decides if a phrase starts with it.
pub(super) const WINDOW: usize = 8;

/// Bytes or phrases per task.
const TASK: usize = if cfg!(any(test, fuzzing)) {
    100
} else {
    1 << 16
};

/// Number of phrases that are looked up together.
const BATCH: usize = 32;

/// Maximum number of slots that are tried for a phrase before the table counts as full.
const PROBES: usize = 200;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of a hash.
#[inline(always)]
pub(super) fn stir(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ MULTIPLIER) * u128::from(MULTIPLIER);
    (product as u64) ^ (product >> 64) as u64
}

/// A block and its cuts.
pub(super) struct Phrases<'a> {
    block: &'a [u8],
    /// The first byte of each phrase. The first is 0.
    starts: Vec<u32>,
}

impl<'a> Phrases<'a> {
    /// Cuts a block, or returns `None` if the phrases exceed the limits.
    pub(super) fn cut(
        block: &'a [u8],
        spacing: u32,
        limits: ParsingLimits,
    ) -> Result<Option<Self>, Error> {
        let places = block.windows(WINDOW).len();
        let parts: Vec<Vec<u32>> = (0..places.div_ceil(TASK))
            .into_par_iter()
            .map_init(
                || vec![0; TASK],
                |cuts, task| {
                    let mut len = 0;
                    for at in (task * TASK).max(1)..places.min((task + 1) * TASK) {
                        // Written always: the condition is as good as random, so a branch would be
                        // mispredicted often.
                        cuts[len] = at as u32;
                        len += usize::from(starts_phrase(block, at, spacing));
                    }
                    cuts[..len].to_vec()
                },
            )
            .collect();
        let len = 1 + parts.iter().map(Vec::len).sum::<usize>();
        if len > block.len() / limits.phrase_share {
            return Ok(None);
        }
        let mut starts = allocation::with_capacity(len).ok_or_else(no_memory)?;
        starts.push(0);
        parts
            .iter()
            .for_each(|part| starts.extend_from_slice(part));
        Ok(Some(Phrases { block, starts }))
    }

    /// Number of phrases.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Length of the block in bytes.
    pub(super) fn bytes_in_block(&self) -> usize {
        self.block.len()
    }

    /// A phrase, including the window that starts the next one. The last phrase has no such window.
    #[inline]
    pub(super) fn bytes(&self, phrase: usize) -> &'a [u8] {
        let end = self
            .starts
            .get(phrase + 1)
            .map_or(self.block.len(), |&s| s as usize + WINDOW);
        &self.block[self.starts[phrase] as usize..end]
    }

    /// The phrase that the byte at `pos` belongs to, and its offset there.
    pub(super) fn find(&self, pos: usize) -> (usize, usize) {
        let phrase = self
            .starts
            .partition_point(|&start| start as usize <= pos)
            - 1;
        (phrase, pos - self.starts[phrase] as usize)
    }

    /// For each phrase the index of an equal one, the same for all that are equal. `None` if too
    /// many are different.
    ///
    /// All threads fill one table. The thread that is first decides which of several equal phrases
    /// gives the index.
    pub(super) fn find_equal(&self) -> Result<Option<Vec<u32>>, Error> {
        let slots = (self.len() / 4).max(1024).next_power_of_two();
        let table = allocation::zeroed::<AtomicU64>(slots).ok_or_else(no_memory)?;
        let mut equal = allocation::zeroed::<u32>(self.len()).ok_or_else(no_memory)?;
        let tasks = equal.par_chunks_mut(TASK).enumerate();
        let all = tasks.try_for_each(|(task, equal)| {
            for (batch, equal) in equal.chunks_mut(BATCH).enumerate() {
                self.find_batch(&table, task * TASK + batch * BATCH, equal)?;
            }
            Some(())
        });
        Ok(all.map(|()| equal))
    }

    /// Looks up some phrases from `first` on. All their slots are read before one is needed, so
    /// that there is one wait for memory.
    fn find_batch(&self, table: &[AtomicU64], first: usize, equal: &mut [u32]) -> Option<()> {
        let mut hashes = [0; BATCH];
        let mut touched = 0;
        for (phrase, hash) in (first..).zip(&mut hashes[..equal.len()]) {
            *hash = hash_of(self.bytes(phrase));
            touched |= table[*hash as usize & (table.len() - 1)].load(Ordering::Relaxed);
        }
        std::hint::black_box(touched);
        for (phrase, (equal, hash)) in (first..).zip(equal.iter_mut().zip(hashes)) {
            *equal = self.find_or_insert(table, phrase, hash)?;
        }
        Some(())
    }

    /// The index of a phrase in the table that is equal to this one, which may be itself.
    fn find_or_insert(&self, table: &[AtomicU64], phrase: usize, hash: u64) -> Option<u32> {
        let bytes = self.bytes(phrase);
        let mut at = hash as usize;
        // The upper half of the hash, and the index of the phrase plus one.
        let mine = hash >> 32 << 32 | (phrase as u64 + 1);
        for _ in 0..PROBES {
            let slot = &table[at & (table.len() - 1)];
            let mut found = slot.load(Ordering::Relaxed);
            if found == 0 {
                match slot.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Some(phrase as u32),
                    Err(theirs) => found = theirs,
                }
            }
            let other = found as u32 - 1;
            if found >> 32 == hash >> 32 && self.bytes(other as usize) == bytes {
                return Some(other);
            }
            at = at.wrapping_add(1);
        }
        None
    }
}

#[inline(always)]
fn starts_phrase(block: &[u8], at: usize, spacing: u32) -> bool {
    let window = block[at..at + WINDOW]
        .try_into()
        .map_or(0, u64::from_le_bytes);
    (window.wrapping_mul(MULTIPLIER) >> 32) as u32 <= u32::MAX / spacing
}

fn hash_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |h, word| {
        stir(h, u64::from_le_bytes(*word))
    });
    let rest = rest
        .iter()
        .fold(0, |word, &byte| word << 8 | u64::from(byte));
    stir(hash, rest)
}
