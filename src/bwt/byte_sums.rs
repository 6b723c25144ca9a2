//! Sums over the bytes of a text, to check if another text has the same bytes, each as often, as a
//! text and its BWT have.
//!
//! Each byte value stands for four numbers, and the sums are of these. They follow from the counts
//! of the byte values, which a GPU returns. AVX2 computes them from a text in 24 instructions for
//! 32 bytes, while counting takes 32 stores. If one or two bytes differ, the sums always differ;
//! other differences give the same four sums only by chance.

use super::inverse::count;
use rayon::prelude::*;

/// Number of sums.
const SUMS: usize = 4;

/// For each sum the factors of a byte's number: one for its low half, from 1 to 127, and one for
/// its high half. The sum of two such products fits in 16 bits. Any factors would do that give all
/// bytes different numbers.
const FACTORS: [[[i8; 16]; 2]; SUMS] = factors();

/// Bytes per task: for each lane, the sum over its vectors of 32 bytes fits in 32 bits.
const PIECE: usize = 1 << 20;
const _: () = assert!(PIECE as u64 / 32 * 4 * 127 * 127 <= i32::MAX as u64);

/// The sums of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteSums([i64; SUMS]);

impl ByteSums {
    pub(crate) fn of(text: &[u8]) -> Self {
        text.par_chunks(PIECE)
            .map(Self::of_piece)
            .reduce(ByteSums::default, Self::plus)
    }

    /// The sums of a text in which the byte values occur `counts` times.
    pub(crate) fn of_counts(counts: &[u64; 256]) -> Self {
        let number = |n: usize, byte: usize| {
            let [low, high] = FACTORS[n];
            i64::from(low[byte % 16]) * i64::from(high[byte / 16])
        };
        let sum = |n| {
            (0..256)
                .map(|byte| counts[byte].cast_signed() * number(n, byte))
                .sum()
        };
        ByteSums(std::array::from_fn(sum))
    }

    fn of_piece(text: &[u8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            let (vectors, rest) = text.as_chunks();
            // SAFETY: the processor has AVX2. Counting instead would take 8 % of all processor time
            // beside a GPU.
            #[allow(unsafe_code)]
            return unsafe { Self::by_avx2(vectors) }.plus(Self::counted(rest));
        }
        Self::counted(text)
    }

    fn counted(text: &[u8]) -> Self {
        let mut counts = [0_u32; 256];
        count(text, &mut counts);
        Self::of_counts(&counts.map(u64::from))
    }

    fn plus(self, other: Self) -> Self {
        ByteSums(std::array::from_fn(|n| self.0[n] + other.0[n]))
    }

    /// The sums of up to [`PIECE`] bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[allow(unsafe_code)]
    fn by_avx2(vectors: &[[u8; 32]]) -> Self {
        use std::arch::x86_64::{
            __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256,
            _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
            _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256,
            _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
        };
        let table = |factors: &[i8; 16]| {
            // SAFETY: reads as many bytes as the array has, at any alignment.
            _mm256_broadcastsi128_si256(unsafe {
                _mm_loadu_si128(factors.as_ptr().cast::<__m128i>())
            })
        };
        let tables: [[__m256i; 2]; SUMS] =
            std::array::from_fn(|n| [table(&FACTORS[n][0]), table(&FACTORS[n][1])]);
        let half = _mm256_set1_epi8(0xF);
        let ones = _mm256_set1_epi16(1);
        let mut sums = [_mm256_setzero_si256(); SUMS];
        for bytes in vectors {
            // SAFETY: as above.
            let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            let low = _mm256_and_si256(bytes, half);
            let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
            for (sum, [of_low, of_high]) in sums.iter_mut().zip(&tables) {
                let low = _mm256_shuffle_epi8(*of_low, low);
                let high = _mm256_shuffle_epi8(*of_high, high);
                let pairs = _mm256_madd_epi16(_mm256_maddubs_epi16(low, high), ones);
                *sum = _mm256_add_epi32(*sum, pairs);
            }
        }
        ByteSums(sums.map(|sum| {
            let mut lanes = [0_i32; 8];
            // SAFETY: writes as many bytes as the array has, at any alignment.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
            lanes.into_iter().map(i64::from).sum()
        }))
    }
}

const fn factors() -> [[[i8; 16]; 2]; SUMS] {
    let mut factors = [[[0; 16]; 2]; SUMS];
    let mut state = 1_u64;
    let mut n = 0;
    while n < SUMS * 32 {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(1);
        let factor = (1 + (state >> 33) % 127) as i8;
        let is_negative = n / 16 % 2 == 1 && state >> 63 == 1;
        factors[n / 32][n / 16 % 2][n % 16] = if is_negative { -factor } else { factor };
        n += 1;
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn sums_are_those_of_counts() {
        for len in [0, 1, 31, 32, 33, 4000, PIECE + 77] {
            for sigma in [1, 4, 256] {
                let text = cases::random(len, sigma);
                let mut sorted = text.clone();
                sorted.sort_unstable();
                assert_eq!(ByteSums::of(&text), ByteSums::counted(&text), "{len}");
                assert_eq!(ByteSums::of(&text), ByteSums::of(&sorted), "{len}");
            }
        }
        for byte in 0..=255 {
            let text = vec![byte; 2 * PIECE];
            assert_eq!(
                ByteSums::of(&text),
                ByteSums::counted(&text),
                "no number is too large"
            );
        }
    }

    #[test]
    fn any_byte_in_the_place_of_another_shows() {
        let numbers: HashSet<_> = (0..=255)
            .map(|byte| ByteSums::counted(&[byte]).0)
            .collect();
        assert_eq!(numbers.len(), 256);
        // Two bytes show too.
        let pairs = (0..=255_u8).flat_map(|a| (0..=a).map(move |b| ByteSums::counted(&[a, b]).0));
        assert_eq!(pairs.collect::<HashSet<_>>().len(), 256 * 257 / 2);
    }
}
