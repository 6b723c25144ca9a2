//! Content-defined positions, as in content-defined chunking, and tests for repeats that use them.
//!
//! A position is chosen by its 8 bytes, so that repeats have the same positions (`chosen_spans`).
//! [`hash`] makes a key of the bytes there. [`Look`] compares such keys to decide if a text
//! consists of versions of one text, and keeps the [`CommonPositions`] for a search for repeats.
//! [`deduplication_ratio`] estimates how often strings repeat, by a coarser sample.

use super::chosen_spans::{BATCH, KEYED, KeptApart, SPAN, find_both, find_common, find_frequent};
use crate::base::allocation;
use crate::base::threads::{Threads, stretches};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a string that is compared.
const KEY: usize = 24;

/// Distances that differ by less than this, in bytes, count as equal.
const NEAR: usize = 64;

/// Minimum mean distance between compared positions, in bytes. Usually it is eight times as large.
const MOST_SAMPLED: usize = 64;

/// The result of a first look at a text that is to be searched for repeats.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// True if much of the text repeats bytes far before it, at distances that hardly change.
    pub is_repetitive: bool,
    pub positions: CommonPositions,
}

impl Look {
    /// Looks at `text`. Returns `None` if there is no memory. This takes 1/16 to 1/11 byte of
    /// memory per byte, up to 1/4 byte more for odd texts, and 1/8 byte for the positions, which
    /// are kept.
    pub(crate) fn at(text: &[u8], pool: &Threads) -> Option<Self> {
        let mut positions = CommonPositions::new(text.len())?;
        let common = positions.spans.chunks_mut(STRETCH / SPAN);
        let stretches = stretches(text.len(), STRETCH).zip(common);
        let sampled = pool.map(stretches, |(range, common)| look_at(text, range, common));
        let sampled = sampled.into_iter().flatten();
        let is_repetitive = pool.install(|| repeats_itself(text.len(), sampled))?;
        Some(Look {
            is_repetitive,
            positions,
        })
    }
}

/// Returns true if much of `text` repeats bytes far before it, by the criterion of [`Look::at`].
pub(crate) fn is_repetitive(text: &[u8], pool: &Threads) -> Option<bool> {
    Look::at(text, pool).map(|look| look.is_repetitive)
}

/// Decides [`is_repetitive`] by the hashes at some positions of a text of `len` bytes.
fn repeats_itself(len: usize, sampled: impl Iterator<Item = (u64, u32)>) -> Option<bool> {
    let slots = (len >> 8).next_power_of_two().max(64);
    let mut seen = allocation::filled((0_u32, 0_u32), slots)?;
    let mut positions = 0;
    let mut repeated = 0;
    let mut near = 0;
    let mut recent = [0; 2];
    for (hash, at) in sampled {
        let print = hash as u32;
        let slot = &mut seen[(hash >> 32) as usize & (slots - 1)];
        if slot.0 == print {
            let distance = (at - slot.1) as usize;
            repeated += 1;
            near += usize::from(
                recent
                    .iter()
                    .any(|known| distance.abs_diff(*known) < NEAR),
            );
            recent = [distance, recent[0]];
        }
        *slot = (print, at);
        positions += 1;
    }
    Some(near * 8 > positions && near * 5 > repeated * 3)
}

/// The number of strings of `text` per distinct string, estimated from a sample, or `None` if the
/// sample is too small.
///
/// The sample has the strings that meet a condition on four bytes, which vector code checks. The
/// string in the middle of the text meets it.
pub(crate) fn deduplication_ratio(text: &[u8]) -> Option<usize> {
    /// Bytes of the text per task.
    const TASK: usize = 1 << 20;
    /// Minimum number of strings for an estimate.
    const FEWEST: usize = 500;
    let wanted = condition(*text.get(text.len() / 2..)?.first_chunk()?);
    let tasks = (0..text.len()).into_par_iter().step_by(TASK);
    let samples: Vec<StringSample> = tasks
        .map(|start| {
            let end = text.len().min(start + TASK + KEY + SPAN - 1);
            StringSample::of(&text[start..end], wanted)
        })
        .collect();
    let zeros = samples.iter().map(|sample| sample.zeros).max()?;
    let mut all: Vec<u64> = samples
        .into_iter()
        .flat_map(|sample| sample.hashes)
        .collect();
    all.retain(|hash| hash.leading_zeros() >= zeros);
    all.par_sort_unstable();
    let strings = all.len();
    all.dedup();
    (strings >= FEWEST).then(|| strings / all.len())
}

#[inline(always)]
fn condition([a, b, c, d]: [u8; 4]) -> u8 {
    let ab = a.wrapping_add(b).wrapping_add(b);
    let cd = c.wrapping_add(d).wrapping_add(d);
    ab.wrapping_add(cd << 2)
}

/// Hashes of the strings of a text that meet a condition.
struct StringSample {
    hashes: Vec<u64>,
    /// Hashes with fewer leading zeros are left out.
    zeros: u32,
}

impl StringSample {
    fn of(text: &[u8], wanted: u8) -> Self {
        let mut sample = StringSample {
            hashes: Vec::new(),
            zeros: 0,
        };
        let starts = 0..(text.len() + 1).saturating_sub(KEY + SPAN);
        for start in starts.step_by(SPAN) {
            let bytes: &[u8; SPAN + 3] = text[start..].first_chunk().expect("longer");
            let mut hits = [0_u8; SPAN];
            for (n, hit) in hits.iter_mut().enumerate() {
                *hit = u8::from(
                    condition([bytes[n], bytes[n + 1], bytes[n + 2], bytes[n + 3]]) == wanted,
                );
            }
            if hits.iter().fold(0, |any, hit| any | hit) == 0 {
                continue;
            }
            for (word, hits) in hits.as_chunks::<8>().0.iter().enumerate() {
                let mut hits = u64::from_le_bytes(*hits);
                while hits != 0 {
                    let at = start + 8 * word + hits.trailing_zeros() as usize / 8;
                    sample.add(hash(&text[at..at + KEY]));
                    hits &= hits - 1;
                }
            }
        }
        sample
    }

    fn add(&mut self, hash: u64) {
        /// Maximum number of hashes kept. A very frequent string is dropped first by this.
        const MOST: usize = 1 << 11;
        if hash.leading_zeros() < self.zeros {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() > MOST {
            self.zeros += 1;
            self.hashes
                .retain(|hash| hash.leading_zeros() >= self.zeros);
        }
    }
}

/// Bytes of a text whose positions are chosen in one task: whole batches.
pub(crate) const STRETCH: usize = 256 << 10;

/// The spans of a stretch of `text` whose positions have their keys within the text: their start
/// and their number.
fn spans(text: &[u8], stretch: &Range<usize>) -> (usize, usize) {
    let end = stretch
        .end
        .min(text.len().saturating_sub(SPAN + KEY));
    (
        stretch.start,
        end.saturating_sub(stretch.start).div_ceil(SPAN),
    )
}

/// The bytes that determine the positions of `spans` spans from `start` on.
fn bytes_of(text: &[u8], start: usize, spans: usize) -> &[u8] {
    &text[start..][..SPAN * spans + KEYED]
}

/// The common positions of a text, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct CommonPositions {
    /// The bits of each span.
    spans: Vec<u64>,
    /// For each batch of spans, true if its text has changed since its bits were found. Empty if
    /// nothing is known.
    changed: Vec<bool>,
}

/// Bytes of a batch of spans.
const BATCH_BYTES: usize = BATCH * SPAN;

impl CommonPositions {
    fn new(len: usize) -> Option<Self> {
        let spans = allocation::zeroed(len.div_ceil(SPAN))?;
        let changed = allocation::filled(false, len.div_ceil(BATCH_BYTES))?;
        Some(CommonPositions { spans, changed })
    }

    /// Marks a range of the text as changed. The length of the text is unchanged.
    pub(crate) fn forget(&mut self, changed: Range<usize>) {
        // The 8 bytes at a position before the range may reach into it.
        let first = changed.start.saturating_sub(KEYED - 1) / BATCH_BYTES;
        let batches = self.changed.iter_mut().enumerate();
        let batches = batches
            .take(changed.end.div_ceil(BATCH_BYTES))
            .skip(first);
        batches.for_each(|(_, changed)| *changed = true);
    }

    /// Reads the bits of spans of one batch, from `start` on.
    fn read(&self, text: &[u8], start: usize, spans: &mut [u64]) {
        match self.changed.get(start / BATCH_BYTES) {
            Some(false) => spans.copy_from_slice(&self.spans[start / SPAN..][..spans.len()]),
            _ => find_common(bytes_of(text, start, spans.len()), spans),
        }
    }

    /// Calls `visit` with the common positions in a stretch of `text`. Each is at least `apart`
    /// bytes (at most 64) after the last one, and is followed by at least 24 bytes.
    pub(crate) fn for_each(
        &self,
        text: &[u8],
        stretch: Range<usize>,
        apart: usize,
        visit: impl FnMut(usize),
    ) {
        let read = |start, spans: &mut [u64]| self.read(text, start, spans);
        for_each(text, stretch, apart, read, visit);
    }
}

/// Calls `visit` with the frequent positions in a stretch of `text`, twice as many as the common
/// ones. Each is at least `apart` bytes (at most 64) after the last one, and is followed by at
/// least 24 bytes.
pub(crate) fn for_each_frequent(
    text: &[u8],
    stretch: Range<usize>,
    apart: usize,
    visit: impl FnMut(usize),
) {
    let find = |start, spans: &mut [u64]| find_frequent(bytes_of(text, start, spans.len()), spans);
    for_each(text, stretch, apart, find, visit);
}

/// Calls `visit` with the positions in a stretch of `text` whose bits `read` gives, for spans of
/// one batch from a position on.
fn for_each(
    text: &[u8],
    stretch: Range<usize>,
    apart: usize,
    read: impl Fn(usize, &mut [u64]),
    mut visit: impl FnMut(usize),
) {
    debug_assert!(stretch.start.is_multiple_of(BATCH_BYTES));
    let (start, count) = spans(text, &stretch);
    let mut apart = KeptApart::by(apart);
    let mut found = [0; BATCH];
    // The span before shows which of the first positions are too close to another one. So the
    // stretches together usually have the positions of the whole text.
    if start > 0 && count > 0 {
        read(start - SPAN, &mut found[..1]);
        apart.each(start - SPAN, found[0], |_| ());
    }
    for batch in (0..count).step_by(BATCH) {
        let start = start + batch * SPAN;
        let found = &mut found[..BATCH.min(count - batch)];
        read(start, found);
        for (start, found) in (start..).step_by(SPAN).zip(found) {
            apart.each(start, *found, &mut visit);
        }
    }
}

/// Finds the rare positions in a stretch and their hashes, and keeps half of them. Writes the
/// common positions to `common`.
fn look_at(text: &[u8], stretch: Range<usize>, common: &mut [u64]) -> Vec<(u64, u32)> {
    let most = stretch.len() / MOST_SAMPLED;
    let (start, count) = spans(text, &stretch);
    let mut apart = KeptApart::by(KEY);
    let mut rare = [0; BATCH];
    let mut sampled = Vec::new();
    if start > 0 && count > 0 {
        find_both(bytes_of(text, start - SPAN, 1), &mut [0], &mut rare[..1]);
        apart.each(start - SPAN, rare[0], |_| ());
    }
    let mut visit = |at: usize| {
        let hash = hash(&text[at..at + KEY]);
        if hash >> 63 == 0 && sampled.len() < most {
            sampled.push((hash, at as u32));
        }
    };
    for (batch, common) in common[..count].chunks_mut(BATCH).enumerate() {
        let start = start + batch * BATCH_BYTES;
        let rare = &mut rare[..common.len()];
        find_both(bytes_of(text, start, common.len()), common, rare);
        for (start, rare) in (start..).step_by(SPAN).zip(rare) {
            apart.each(start, *rare, &mut visit);
        }
    }
    sampled
}

/// Mixes a key of whole words of 8 bytes; the high bits are the best.
pub(crate) fn hash(key: &[u8]) -> u64 {
    hash_words(
        key.chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8"))),
    )
}

/// Does [`hash`] for the bytes of words.
pub(crate) fn hash_words(words: impl Iterator<Item = u64>) -> u64 {
    let mixed = words.fold(0_u64, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(MIX);
        hash ^ hash >> 29
    });
    mixed.wrapping_mul(MIX)
}

/// 2^64 divided by the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn tells_repeats_from_chance() {
        let random = cases::random(1 << 18, 256);
        assert_eq!(deduplication_ratio(&random), Some(1));
        let ratio = deduplication_ratio(&random.repeat(10));
        assert!(ratio.is_some_and(|ratio| (8..12).contains(&ratio)));
        assert_eq!(
            deduplication_ratio(&vec![0; 1 << 20]),
            None,
            "one string, which is left out"
        );
        assert_eq!(deduplication_ratio(b"short"), None);
        assert_eq!(is_repetitive(&random, &Threads::Calling), Some(false));
        assert_eq!(
            is_repetitive(&random.repeat(3), &Threads::Calling),
            Some(true)
        );
    }

    #[test]
    fn positions_are_the_same_whether_they_are_known_or_not() {
        let mut text = cases::random(2 * STRETCH + 5000, 256);
        let pool = Threads::Calling;
        let mut positions = Look::at(&text, &pool).unwrap().positions;
        for range in [
            3..3,
            70_000..70_100,
            STRETCH - 3..STRETCH + 9000,
            2 * STRETCH..text.len(),
        ] {
            text[range.clone()]
                .iter_mut()
                .for_each(|byte| *byte ^= 0x55);
            positions.forget(range);
            let of = |positions: &CommonPositions| {
                let mut found = Vec::new();
                for stretch in stretches(text.len(), STRETCH) {
                    positions.for_each(&text, stretch, 8, |at| found.push(at));
                }
                found
            };
            let unknown = CommonPositions::default();
            assert_eq!(of(&positions), of(&unknown));
            assert!(
                of(&unknown)
                    .windows(2)
                    .all(|pair| pair[1] - pair[0] >= 8)
            );
            assert!(of(&unknown).len() > text.len() / 48);
        }
        for len in [0, 1, 63, 88, 89, 200, BATCH_BYTES + 88] {
            let text = &text[..len];
            let known = Look::at(text, &pool).unwrap().positions;
            let count = |positions: &CommonPositions| {
                let mut count = 0;
                positions.for_each(text, 0..len, 8, |_| count += 1);
                count
            };
            assert_eq!(count(&known), count(&CommonPositions::default()), "{len}");
        }
    }
}
