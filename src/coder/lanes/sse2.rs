//! SSE2, part of every x86-64 processor.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::transmute;

#[derive(Debug, Clone, Copy)]
pub struct Lanes(__m128i, __m128i);

impl super::Lanes for Lanes {
    #[inline(always)]
    fn load(lanes: &[i16; 16]) -> Self {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        let [low, high] = unsafe { transmute::<[i16; 16], [__m128i; 2]>(*lanes) };
        Lanes(low, high)
    }

    #[inline(always)]
    fn store(self) -> [i16; 16] {
        // SAFETY: both types are 32 bytes in which every bit pattern is valid.
        unsafe { transmute::<[__m128i; 2], [i16; 16]>([self.0, self.1]) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64, here and below.
        unsafe { Lanes(_mm_add_epi16(self.0, other.0), _mm_add_epi16(self.1, other.1)) }
    }

    #[inline(always)]
    fn half(self) -> Self {
        // SAFETY: as in `add`.
        unsafe { Lanes(_mm_srli_epi16::<1>(self.0), _mm_srli_epi16::<1>(self.1)) }
    }

    #[inline(always)]
    fn toward(self, target: Self, rate: u8) -> Self {
        // SAFETY: as in `add`.
        unsafe {
            let rate = _mm_cvtsi32_si128(rate.into());
            let low = _mm_sra_epi16(_mm_sub_epi16(target.0, self.0), rate);
            let high = _mm_sra_epi16(_mm_sub_epi16(target.1, self.1), rate);
            self.add(Lanes(low, high))
        }
    }

    #[inline(always)]
    fn not_above(self, limit: i16) -> usize {
        // SAFETY: as in `add`.
        let above = unsafe {
            let limit = _mm_set1_epi16(limit);
            let (low, high) = (_mm_cmpgt_epi16(self.0, limit), _mm_cmpgt_epi16(self.1, limit));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
        };
        (above | 1 << 16).trailing_zeros() as usize
    }
}
