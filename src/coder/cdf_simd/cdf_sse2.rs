//! [`super::CdfVector`] as SSE2, which every x86-64 processor has: two registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::transmute;

#[derive(Debug, Clone, Copy)]
pub struct CdfSse2(__m128i, __m128i);

impl super::CdfVector for CdfSse2 {
    #[inline(always)]
    fn load(lanes: &[i16; 16]) -> Self {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        let [low, high] = unsafe { transmute::<[i16; 16], [__m128i; 2]>(*lanes) };
        CdfSse2(low, high)
    }

    #[inline(always)]
    fn store(self) -> [i16; 16] {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        unsafe { transmute::<[__m128i; 2], [i16; 16]>([self.0, self.1]) }
    }

    #[inline(always)]
    fn mean(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64, here and below.
        unsafe { CdfSse2(_mm_avg_epu16(self.0, other.0), _mm_avg_epu16(self.1, other.1)) }
    }

    #[inline(always)]
    fn without_first(self) -> Self {
        // SAFETY: as in `mean`.
        CdfSse2(unsafe { _mm_insert_epi16::<0>(self.0, 0) }, self.1)
    }

    #[inline(always)]
    fn toward(self, target: Self, least: Self) -> Self {
        // SAFETY: as in `mean`.
        unsafe {
            let first = _mm_shufflelo_epi16::<0>(self.0);
            let first = _mm_unpacklo_epi64(first, first);
            let moved = |from, to, least| {
                let rates = _mm_max_epi16(first, least);
                _mm_add_epi16(from, _mm_mulhi_epi16(_mm_sub_epi16(to, from), rates))
            };
            CdfSse2(moved(self.0, target.0, least.0), moved(self.1, target.1, least.1))
        }
    }

    #[inline(always)]
    fn not_above(self, limit: i16) -> usize {
        // SAFETY: as in `mean`.
        let above = unsafe {
            let limit = _mm_set1_epi16(limit);
            let (low, high) = (_mm_cmpgt_epi16(self.0, limit), _mm_cmpgt_epi16(self.1, limit));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
        };
        (above | 1 << 16).trailing_zeros() as usize
    }
}
