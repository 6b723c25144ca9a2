//! [`super::CdfVector`] as AVX2, which most x86-64 processors have: one register.
//!
//! Only code that runs under `#[target_feature(enable = "avx2")]` may name this type.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::transmute;

#[derive(Debug, Clone, Copy)]
pub struct CdfAvx2(__m256i);

impl super::CdfVector for CdfAvx2 {
    #[inline(always)]
    fn load(lanes: &[i16; 16]) -> Self {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        CdfAvx2(unsafe { transmute::<[i16; 16], __m256i>(*lanes) })
    }

    #[inline(always)]
    fn store(self) -> [i16; 16] {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        unsafe { transmute::<__m256i, [i16; 16]>(self.0) }
    }

    #[inline(always)]
    fn mean(self, other: Self) -> Self {
        // SAFETY: only code that runs with AVX2 names this type, here and below.
        CdfAvx2(unsafe { _mm256_avg_epu16(self.0, other.0) })
    }

    #[inline(always)]
    fn without_first(self) -> Self {
        // SAFETY: as in `mean`.
        unsafe {
            let others =
                _mm256_setr_epi16(0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
            CdfAvx2(_mm256_and_si256(self.0, others))
        }
    }

    #[inline(always)]
    fn toward(self, target: Self, least: Self) -> Self {
        // SAFETY: as in `mean`.
        unsafe {
            let first = _mm256_broadcastw_epi16(_mm256_castsi256_si128(self.0));
            let rates = _mm256_max_epi16(first, least.0);
            let way = _mm256_sub_epi16(target.0, self.0);
            CdfAvx2(_mm256_add_epi16(self.0, _mm256_mulhi_epi16(way, rates)))
        }
    }

    #[inline(always)]
    fn not_above(self, limit: i16) -> usize {
        // SAFETY: as in `mean`.
        let above = unsafe {
            let above = _mm256_cmpgt_epi16(self.0, _mm256_set1_epi16(limit));
            _mm256_movemask_epi8(above) as u32
        };
        (above.trailing_zeros() / 2) as usize
    }
}
