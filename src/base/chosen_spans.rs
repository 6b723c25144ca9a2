//! The positions of a text that its content chooses, as a bit for each position, in spans of 64.
//!
//! A position is chosen by a weighted sum of its 8 bytes: frequent positions, 1 in 2^4, and common
//! ones, 1 in 2^5, by the upper bits of the sum, and rare ones, 1 in 2^8, by all bits. Common and
//! rare ones are found in one pass. A pass takes 0.1 ns a byte with AVX2.

/// Number of positions in a span, whose bits are one word.
pub(super) const SPAN: usize = 64;
/// Number of spans that are computed together.
pub(super) const BATCH: usize = 64;
/// Number of bytes by which a position is chosen.
pub(super) const KEYED: usize = 8;

/// The sum at a rare position; the value is arbitrary.
const CHOSEN: u8 = 0x5A;
/// The bits of the sum that determine a frequent position.
const FREQUENT: u8 = 0xFF << 4;
/// The bits of the sum that determine a common position.
const COMMON: u8 = 0xFF << 3;
/// The bits of the sum that determine a rare position.
const RARE: u8 = 0xFF;

/// Finds the frequent positions in these spans. `text` covers the spans and the 8 bytes at the last
/// position.
pub(super) fn find_frequent(text: &[u8], frequent: &mut [u64]) {
    find::<FREQUENT, false>(text, frequent, &mut []);
}

/// Finds the common positions in these spans.
pub(super) fn find_common(text: &[u8], common: &mut [u64]) {
    find::<COMMON, false>(text, common, &mut []);
}

/// Finds the common and the rare positions in these spans.
pub(super) fn find_both(text: &[u8], common: &mut [u64], rare: &mut [u64]) {
    debug_assert_eq!(common.len(), rare.len());
    find::<COMMON, true>(text, common, rare);
}

/// Finds the positions that the bits `MASK` of their sums choose, and with `BOTH` the rare ones.
fn find<const MASK: u8, const BOTH: bool>(text: &[u8], chosen: &mut [u64], rare: &mut [u64]) {
    debug_assert!(chosen.is_empty() || text.len() == chosen.len() * SPAN + KEYED);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which takes half of the time.
        #[allow(unsafe_code)]
        return unsafe { find_by_avx2::<MASK, BOTH>(text, chosen, rare) };
    }
    for (n, text) in text
        .windows(SPAN + KEYED)
        .step_by(SPAN)
        .enumerate()
    {
        // An array of constant size, so that vector code does many positions at once.
        let bytes = text.try_into().expect("as long");
        let is_run = is_run_without(bytes, MASK);
        chosen[n] = if is_run { 0 } else { find_in_span(bytes, MASK) };
        if BOTH {
            rare[n] = if is_run { 0 } else { find_in_span(bytes, RARE) };
        }
    }
}

/// Does [`find`] with AVX2 vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn find_by_avx2<const MASK: u8, const BOTH: bool>(
    text: &[u8],
    chosen: &mut [u64],
    rare: &mut [u64],
) {
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8,
    };
    let bits_of = |equal| u64::from(_mm256_movemask_epi8(equal) as u32);
    let mask = _mm256_set1_epi8(MASK.cast_signed());
    let wanted = _mm256_set1_epi8(CHOSEN as i8);
    let masked = _mm256_and_si256(wanted, mask);
    for (n, text) in text
        .windows(SPAN + KEYED)
        .step_by(SPAN)
        .enumerate()
    {
        let text: &[u8; SPAN + KEYED] = text.try_into().expect("as long");
        let sums = [sums_by_avx2(text, 0), sums_by_avx2(text, LANES)];
        let is_chosen = |sums| bits_of(_mm256_cmpeq_epi8(_mm256_and_si256(sums, mask), masked));
        chosen[n] = is_chosen(sums[0]) | is_chosen(sums[1]) << LANES;
        if BOTH {
            let is_rare = |sums| bits_of(_mm256_cmpeq_epi8(sums, wanted));
            rare[n] = is_rare(sums[0]) | is_rare(sums[1]) << LANES;
        }
    }
}

/// Bytes of a vector, and so the number of positions whose sums it holds.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 32;

/// The sums of the positions of a span from `first` on. No closure or iterator is used: one from
/// outside of this module would be compiled without AVX2, and each step would be a call.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
#[allow(unsafe_code)]
fn sums_by_avx2(text: &[u8; SPAN + KEYED], first: usize) -> std::arch::x86_64::__m256i {
    use std::arch::x86_64::{_mm256_add_epi8, _mm256_loadu_si256, _mm256_setzero_si256};
    let mut sums = _mm256_setzero_si256();
    for shift in 0..KEYED {
        let bytes = &text[first + shift..][..LANES];
        // SAFETY: reads as many bytes as the slice has, at any alignment.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        sums = _mm256_add_epi8(_mm256_add_epi8(sums, sums), bytes);
    }
    sums
}

/// Returns true if all bytes are equal and a run of them has no positions chosen by these bits.
fn is_run_without(bytes: &[u8; SPAN + KEYED], mask: u8) -> bool {
    let sum = bytes[0].wrapping_neg();
    bytes[..KEYED] == bytes[SPAN..]
        && *bytes == [bytes[0]; SPAN + KEYED]
        && (sum ^ CHOSEN) & mask != 0
}

/// A bit for each position, set if it is chosen by the bits `mask` of its sum.
fn find_in_span(bytes: &[u8; SPAN + KEYED], mask: u8) -> u64 {
    let mut sums = [0_u8; SPAN];
    for shift in 0..KEYED {
        for n in 0..SPAN {
            sums[n] = (sums[n] << 1).wrapping_add(bytes[n + shift]);
        }
    }
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = ONES * 0x7F;
    let mask = ONES * u64::from(mask);
    sums.chunks_exact(8)
        .rev()
        .fold(0, |chosen, part| {
            let sums = u64::from_le_bytes(part.try_into().expect("8"));
            let other = (sums ^ (ONES * u64::from(CHOSEN))) & mask;
            // 1 in each byte that is 0, then these 8 bits gathered in one byte.
            let zero = (!(other | ((other & LOW) + LOW)) >> 7) & ONES;
            chosen << 8 | zero.wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
}

/// Skips positions that are too close to the one before.
pub(super) struct KeptApart {
    apart: usize,
    next: usize,
}

impl KeptApart {
    /// A filter that keeps positions at least `apart` bytes apart, at most 64.
    pub(super) fn by(apart: usize) -> Self {
        KeptApart { apart, next: 0 }
    }

    /// Calls `visit` with the positions whose bits are set in the span at `start`.
    #[inline(always)]
    pub(super) fn each(&mut self, start: usize, chosen: u64, mut visit: impl FnMut(usize)) {
        let mut chosen = chosen & u64::MAX << usize::saturating_sub(self.next, start);
        while chosen != 0 {
            let n = chosen.trailing_zeros() as usize;
            visit(start + n);
            self.next = start + n + self.apart;
            chosen &= u64::MAX
                .checked_shl((n + self.apart) as u32)
                .unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn spans_have_the_positions_that_they_have_one_by_one() {
        let runs: Vec<u8> = (0..=255)
            .flat_map(|byte| [byte; 2 * SPAN])
            .collect();
        for text in [&cases::random(10_000, 256)[..], &cases::text(5_000), &runs] {
            let spans = (text.len() - KEYED) / SPAN;
            let text = &text[..spans * SPAN + KEYED];
            let mut common = vec![0; spans];
            let mut rare = vec![0; spans];
            let mut alone = vec![0; spans];
            let mut frequent = vec![0; spans];
            find_both(text, &mut common, &mut rare);
            find_common(text, &mut alone);
            find_frequent(text, &mut frequent);
            assert_eq!(common, alone);
            for (found, mask) in [(frequent, FREQUENT), (common, COMMON), (rare, RARE)] {
                let one_by_one = text
                    .windows(SPAN + KEYED)
                    .step_by(SPAN)
                    .map(|bytes| {
                        let is_chosen = |key: &[u8]| {
                            let sum = key
                                .iter()
                                .fold(0_u8, |sum, byte| (sum << 1).wrapping_add(*byte));
                            (sum ^ CHOSEN) & mask == 0
                        };
                        let bits = bytes.windows(KEYED).take(SPAN).enumerate();
                        let bits =
                            bits.fold(0, |bits, (n, key)| bits | u64::from(is_chosen(key)) << n);
                        assert_eq!(find_in_span(bytes.try_into().unwrap(), mask), bits);
                        bits
                    });
                assert!(one_by_one.eq(found));
            }
        }
    }

    #[test]
    fn positions_are_apart() {
        let mut apart = KeptApart::by(24);
        let mut seen = Vec::new();
        for (start, bits) in [
            (0, 1 << 3 | 1 << 20 | 1 << 27 | 1 << 60),
            (64, 1 << 19 | 1 << 20),
        ] {
            apart.each(start, bits, |at| seen.push(at));
        }
        assert_eq!(seen, [3, 27, 60, 84]);
    }
}
