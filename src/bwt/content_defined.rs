//! Content-defined positions, as in content-defined chunking, and what they tell of repeats.
//!
//! A position is chosen by the 8 bytes behind it, so that repeats have the same ones: a weighted
//! sum of these bytes is taken for many positions at once, in 0.15 ns a byte with AVX2. [`hash`]
//! makes a key of the bytes there. [`is_repetitive`] and [`deduplication_ratio`] compare such keys:
//! the first tells whether a text is made of versions of one text, the second how often its strings
//! come again.

use crate::allocation;
use crate::threads::{Threads, stretches};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a string that is compared.
const KEY: usize = 24;

/// Distances that differ by less than this are taken for one.
const NEAR: usize = 64;

/// One position in so many is compared at most; an eighth of them is usual.
const MOST_SAMPLED: usize = 64;

/// Whether much of `text` repeats what stands far before it, at distances that hardly change.
/// `None` where there is no memory, of which this takes 1/16 to 1/11 byte a byte, in
/// odd texts a quarter more.
pub(crate) fn is_repetitive(text: &[u8], pool: &Threads) -> Option<bool> {
    let sampled = pool.map(stretches(text.len(), STRETCH), |range| {
        let most = range.len() / MOST_SAMPLED;
        let mut sampled = Vec::new();
        for_each::<8>(text, range, KEY, KEY, |at| {
            let hash = hash(&text[at..at + KEY]);
            // Every second one will do.
            if hash >> 63 == 0 && sampled.len() < most {
                sampled.push((hash, at as u32));
            }
        });
        sampled
    });
    pool.install(|| repeats_itself(text.len(), sampled.into_iter().flatten()))
}

/// [`is_repetitive`] by the hashes at some positions of a text of `len` bytes.
fn repeats_itself(len: usize, sampled: impl Iterator<Item = (u64, u32)>) -> Option<bool> {
    let slots = (len >> 8).next_power_of_two().max(64);
    let mut seen = allocation::filled((0_u32, 0_u32), slots)?;
    let (mut positions, mut repeated, mut near, mut recent) = (0, 0, 0, [0; 2]);
    for (hash, at) in sampled {
        let (print, slot) = (hash as u32, &mut seen[(hash >> 32) as usize & (slots - 1)]);
        if slot.0 == print {
            let distance = (at - slot.1) as usize;
            repeated += 1;
            near += usize::from(recent.iter().any(|known| distance.abs_diff(*known) < NEAR));
            recent = [distance, recent[0]];
        }
        *slot = (print, at);
        positions += 1;
    }
    Some(near * 8 > positions && near * 5 > repeated * 3)
}

/// Strings of `text` for each distinct one, by a sample of them; `None` where there are too few to
/// say.
///
/// A condition on four bytes, which vector code checks, picks the sample: the string in the middle
/// of the text meets it.
pub(crate) fn deduplication_ratio(text: &[u8]) -> Option<usize> {
    /// Bytes that are sampled in one task.
    const TASK: usize = 1 << 20;
    /// Fewest strings that tell anything.
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
    let mut all: Vec<u64> = samples.into_iter().flat_map(|sample| sample.hashes).collect();
    all.retain(|hash| hash.leading_zeros() >= zeros);
    all.par_sort_unstable();
    let strings = all.len();
    all.dedup();
    (strings >= FEWEST).then(|| strings / all.len())
}

#[inline(always)]
fn condition([a, b, c, d]: [u8; 4]) -> u8 {
    let (ab, cd) = (a.wrapping_add(b).wrapping_add(b), c.wrapping_add(d).wrapping_add(d));
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
        let mut sample = StringSample { hashes: Vec::new(), zeros: 0 };
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
        /// So many hashes are kept at most. A string that is nearly everywhere goes first by that.
        const MOST: usize = 1 << 11;
        if hash.leading_zeros() < self.zeros {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() > MOST {
            self.zeros += 1;
            self.hashes.retain(|hash| hash.leading_zeros() >= self.zeros);
        }
    }
}

/// Bytes of a text whose positions are chosen in one task.
pub(crate) const STRETCH: usize = 256 << 10;

/// Calls `visit` with the chosen positions in a stretch of `text`, one in 2^`BITS`, each at least
/// `apart` bytes after the last, 64 at most, and with `behind` more bytes behind it.
pub(crate) fn for_each<const BITS: u32>(
    text: &[u8],
    stretch: Range<usize>,
    apart: usize,
    behind: usize,
    mut visit: impl FnMut(usize),
) {
    debug_assert!(stretch.start.is_multiple_of(SPAN));
    // The span before says which of the first positions are too close to another: as a rule the
    // stretches together have the positions that all of the text has.
    let first = stretch.start.saturating_sub(SPAN);
    let end = stretch.end.min(text.len().saturating_sub(SPAN + behind)).max(first);
    let spans = (end - first).div_ceil(SPAN);
    let (mut next, mut chosen) = (0, [0; BATCH]);
    for batch in (0..spans).step_by(BATCH) {
        let start = first + batch * SPAN;
        let chosen = &mut chosen[..BATCH.min(spans - batch)];
        chosen_in_spans::<BITS>(&text[start..][..SPAN * chosen.len() + KEYED], chosen);
        for (start, chosen) in (start..).step_by(SPAN).zip(chosen) {
            let mut chosen = *chosen & u64::MAX << usize::saturating_sub(next, start);
            while chosen != 0 {
                let n = chosen.trailing_zeros() as usize;
                if start >= stretch.start {
                    visit(start + n);
                }
                next = start + n + apart;
                chosen &= u64::MAX.checked_shl((n + apart) as u32).unwrap_or(0);
            }
        }
    }
}

/// Positions whose bits are in one word.
const SPAN: usize = 64;
/// Spans that are looked at together.
const BATCH: usize = 64;
/// Bytes by which a position is chosen.
const KEYED: usize = 8;

/// A bit for each position of these spans that is chosen. The text is that of the spans, and of
/// the last position's key.
fn chosen_in_spans<const BITS: u32>(text: &[u8], chosen: &mut [u64]) {
    debug_assert_eq!(text.len(), chosen.len() * SPAN + KEYED);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which takes half of the time.
        #[allow(unsafe_code)]
        return unsafe { chosen_by_avx2::<BITS>(text, chosen) };
    }
    for (text, chosen) in text.windows(SPAN + KEYED).step_by(SPAN).zip(chosen) {
        // Of known size, so that vector code does many positions at once.
        let bytes = text.try_into().expect("as long");
        *chosen = if is_run_without::<BITS>(bytes) { 0 } else { chosen_in_span::<BITS>(bytes) };
    }
}

/// [`chosen_in_spans`] with the vectors of AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn chosen_by_avx2<const BITS: u32>(text: &[u8], chosen: &mut [u64]) {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_set1_epi8,
    };
    const LANES: usize = size_of::<__m256i>();
    // SAFETY: these are as many bytes as are read, of any alignment.
    let load = |bytes: &[u8; LANES]| unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    let mask = _mm256_set1_epi8((0xFF_u8 << (8 - BITS)) as i8);
    let wanted = _mm256_and_si256(_mm256_set1_epi8(CHOSEN as i8), mask);
    for (text, chosen) in text.windows(SPAN + KEYED).step_by(SPAN).zip(chosen) {
        let bits_of = |bytes: &[u8]| {
            let keys = bytes.windows(LANES).take(KEYED);
            let mut keys = keys.map(|bytes| load(bytes.try_into().expect("as long")));
            let first = keys.next().expect("there are 8");
            let sums =
                keys.fold(first, |sums, bytes| _mm256_add_epi8(_mm256_add_epi8(sums, sums), bytes));
            let equal = _mm256_cmpeq_epi8(_mm256_and_si256(sums, mask), wanted);
            u64::from(_mm256_movemask_epi8(equal) as u32)
        };
        *chosen = bits_of(text) | bits_of(&text[LANES..]) << LANES;
    }
}

/// Whether these are all one byte, a run of which has no such positions.
fn is_run_without<const BITS: u32>(bytes: &[u8; SPAN + KEYED]) -> bool {
    let sum = bytes[0].wrapping_neg();
    bytes[..KEYED] == bytes[SPAN..]
        && *bytes == [bytes[0]; SPAN + KEYED]
        && (sum ^ CHOSEN as u8) >> (8 - BITS) != 0
}

/// A bit for each position that is chosen.
fn chosen_in_span<const BITS: u32>(bytes: &[u8; SPAN + KEYED]) -> u64 {
    let mut sums = [0_u8; SPAN];
    for shift in 0..KEYED {
        for n in 0..SPAN {
            sums[n] = (sums[n] << 1).wrapping_add(bytes[n + shift]);
        }
    }
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = ONES * 0x7F;
    let mask = ONES * (0xFF << (8 - BITS) & 0xFF);
    sums.chunks_exact(8).rev().fold(0, |chosen, part| {
        let sums = u64::from_le_bytes(part.try_into().expect("8"));
        let other = (sums ^ (ONES * CHOSEN)) & mask;
        // 1 in each byte that is 0, then these 8 bits side by side.
        let zero = (!(other | ((other & LOW) + LOW)) >> 7) & ONES;
        chosen << 8 | zero.wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The weighted sum of 8 bytes at a chosen position, or its upper bits; any number would do.
const CHOSEN: u64 = 0x5A;

/// Mixes a key of whole words of 8 bytes; the high bits are the best.
pub(crate) fn hash(key: &[u8]) -> u64 {
    hash_words(key.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8"))))
}

/// [`hash`] of the bytes of words.
pub(crate) fn hash_words(words: impl Iterator<Item = u64>) -> u64 {
    let mixed = words.fold(0_u64, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(MIX);
        hash ^ hash >> 29
    });
    mixed.wrapping_mul(MIX)
}

/// 2^64 by the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn tells_repeats_from_chance() {
        let random = cases::random(1 << 18, 256);
        assert_eq!(deduplication_ratio(&random), Some(1));
        let ratio = deduplication_ratio(&random.repeat(10));
        assert!(ratio.is_some_and(|ratio| (8..12).contains(&ratio)));
        assert_eq!(deduplication_ratio(&vec![0; 1 << 20]), None, "one string, which is left out");
        assert_eq!(deduplication_ratio(b"short"), None);
        assert_eq!(is_repetitive(&random, &Threads::Calling), Some(false));
        assert_eq!(is_repetitive(&random.repeat(3), &Threads::Calling), Some(true));
    }

    #[test]
    fn spans_have_the_positions_that_they_have_one_by_one() {
        fn compare<const BITS: u32>(text: &[u8]) {
            let spans = (text.len() - KEYED) / SPAN;
            let text = &text[..spans * SPAN + KEYED];
            let mut together = vec![0; spans];
            chosen_in_spans::<BITS>(text, &mut together);
            let one_by_one = text.windows(SPAN + KEYED).step_by(SPAN).map(|bytes| {
                let is_chosen = |key: &[u8]| {
                    let sum = key.iter().fold(0_u8, |sum, byte| (sum << 1).wrapping_add(*byte));
                    (sum ^ CHOSEN as u8) >> (8 - BITS) == 0
                };
                let bits = bytes.windows(KEYED).take(SPAN).enumerate();
                let bits = bits.fold(0, |bits, (n, key)| bits | u64::from(is_chosen(key)) << n);
                assert_eq!(chosen_in_span::<BITS>(bytes.try_into().unwrap()), bits);
                bits
            });
            assert!(one_by_one.eq(together));
        }
        let runs: Vec<u8> = (0..=255).flat_map(|byte| [byte; 2 * SPAN]).collect();
        for text in [&cases::random(10_000, 256)[..], &cases::text(5_000), &runs] {
            compare::<5>(text);
            compare::<8>(text);
        }
    }
}
