//! [`super::MixerVector`] as AVX2, which most x86-64 processors have.
//!
//! Only code that runs under `#[target_feature(enable = "avx2")]` may name this type.
#![allow(unsafe_code)]

use super::{MixerWeights, RATES};
use std::arch::x86_64::*;
use std::mem::transmute;

#[derive(Debug, Clone, Copy)]
pub(crate) struct MixerAvx2(__m128i);

impl MixerWeights {
    #[inline(always)]
    fn lanes(&self) -> __m256i {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        unsafe { transmute::<[i32; 8], __m256i>(self.0) }
    }
}

impl super::MixerVector for MixerAvx2 {
    #[inline(always)]
    fn load(lanes: [u16; 8]) -> Self {
        // SAFETY: both types are 16 bytes in which every bit pattern is valid.
        MixerAvx2(unsafe { transmute::<[u16; 8], __m128i>(lanes) })
    }

    #[inline(always)]
    fn store(self) -> [u16; 8] {
        // SAFETY: as in `load`.
        unsafe { transmute::<__m128i, [u16; 8]>(self.0) }
    }

    #[inline(always)]
    fn stretched(self) -> Self {
        // Numbers below 2^13 convert to floating point exactly, and there is no arithmetic on the
        // floats.
        let odds = |p1, p0| {
            // SAFETY: only code that runs with AVX2 names this type, here and below.
            unsafe {
                let p1 = _mm_castps_si128(_mm_cvtepi32_ps(p1));
                let p0 = _mm_castps_si128(_mm_cvtepi32_ps(p0));
                _mm_srai_epi32::<15>(_mm_sub_epi32(p1, p0))
            }
        };
        // SAFETY: as in `odds`. In halves of 128 bits: instructions across halves take three cycles
        // more.
        unsafe {
            let zero = _mm_setzero_si128();
            let twice = _mm_srli_epi16::<3>(_mm_xor_si128(self.0, _mm_set1_epi16(i16::MIN)));
            let p1 = _mm_or_si128(twice, _mm_set1_epi16(1));
            let p0 = _mm_sub_epi16(_mm_set1_epi16(1 << 13), p1);
            let low = odds(_mm_unpacklo_epi16(p1, zero), _mm_unpacklo_epi16(p0, zero));
            let high = odds(_mm_unpackhi_epi16(p1, zero), _mm_unpackhi_epi16(p0, zero));
            MixerAvx2(_mm_packs_epi32(low, high))
        }
    }

    #[inline(always)]
    fn updated(self, bit: bool, limits: Self) -> Self {
        // SAFETY: as in `stretched`; the table and a register are 16 bytes of any value.
        unsafe {
            let rates = transmute::<[u8; 16], __m128i>(RATES);
            let seen = _mm_and_si128(self.0, _mm_set1_epi16(15));
            let rate = _mm_slli_epi16::<8>(_mm_shuffle_epi8(rates, seen));
            let turn = _mm_set1_epi16(if bit { 0x7ff0 } else { i16::MIN });
            let other = _mm_xor_si128(_mm_xor_si128(self.0, seen), turn);
            let less = _mm_and_si128(_mm_mulhi_epu16(other, rate), _mm_set1_epi16(!15));
            let p = _mm_xor_si128(_mm_sub_epi16(other, less), turn);
            let more = _mm_cmpgt_epi16(limits.0, seen);
            MixerAvx2(_mm_or_si128(p, _mm_sub_epi16(seen, more)))
        }
    }

    #[inline(always)]
    fn dot_product(self, [first, second, third]: [&MixerWeights; 3]) -> i32 {
        // SAFETY: as in `stretched`.
        unsafe {
            let sum = _mm256_add_epi32(first.lanes(), second.lanes());
            let near = _mm256_srai_epi32::<6>(_mm256_add_epi32(sum, third.lanes()));
            let low = _mm256_castsi256_si128(near);
            let high = _mm256_extracti128_si256::<1>(near);
            let four = _mm_madd_epi16(_mm_packs_epi32(low, high), self.0);
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(one)
        }
    }

    #[inline(always)]
    fn train(self, error: i16, weights: [&mut MixerWeights; 3]) {
        // SAFETY: as in `stretched`; eight weights and a register are 32 bytes of any value.
        unsafe {
            let error = _mm256_set1_epi32(error.into());
            let products = _mm256_mullo_epi32(_mm256_cvtepi16_epi32(self.0), error);
            let steps = _mm256_srai_epi32::<14>(products);
            for set in weights {
                let moved = _mm256_add_epi32(set.lanes(), steps);
                set.0 = transmute::<__m256i, [i32; 8]>(moved);
            }
        }
    }

    #[inline(always)]
    fn prefetch(estimate: &u16) {
        // SAFETY: as in `stretched`; nothing is read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(estimate).cast()) }
    }
}
