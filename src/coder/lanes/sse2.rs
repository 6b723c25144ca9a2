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

/// Eight 32-bit weights.
#[derive(Debug, Clone, Copy)]
pub struct Eight(__m128i, __m128i);

impl Eight {
    pub fn all(weight: i32) -> Self {
        // SAFETY: as in `Lanes::add`, here and below.
        let all = unsafe { _mm_set1_epi32(weight) };
        Eight(all, all)
    }

    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        // SAFETY: as in `all`.
        unsafe { Eight(_mm_add_epi32(self.0, other.0), _mm_add_epi32(self.1, other.1)) }
    }

    /// The sum of each weight by 2^6, brought within 16 bits, times its input.
    #[inline(always)]
    pub fn dot(self, inputs: &[i16; 8]) -> i32 {
        // SAFETY: as in `all`; an array of eight i16 and a register are 16 bytes of any value.
        unsafe {
            let inputs = transmute::<[i16; 8], __m128i>(*inputs);
            let (low, high) = (_mm_srai_epi32::<6>(self.0), _mm_srai_epi32::<6>(self.1));
            let four = _mm_madd_epi16(_mm_packs_epi32(low, high), inputs);
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(one)
        }
    }

    /// Each input times `error`, by 2^13.
    #[inline(always)]
    pub fn products(inputs: &[i16; 8], error: i16) -> Self {
        // SAFETY: as in `dot`.
        unsafe {
            let inputs = transmute::<[i16; 8], __m128i>(*inputs);
            let error = _mm_set1_epi16(error);
            let (low, high) = (_mm_mullo_epi16(inputs, error), _mm_mulhi_epi16(inputs, error));
            let (first, second) = (_mm_unpacklo_epi16(low, high), _mm_unpackhi_epi16(low, high));
            Eight(_mm_srai_epi32::<13>(first), _mm_srai_epi32::<13>(second))
        }
    }
}
