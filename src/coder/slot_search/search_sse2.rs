//! [`super::SlotSearch`] as SSE2, which every x86-64 processor has: two registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::transmute;

pub struct SearchSse2;

impl super::SlotSearch for SearchSse2 {
    #[inline(always)]
    fn not_above(starts: &[u16; 16], slot: u16) -> usize {
        // SAFETY: every x86-64 processor has SSE2; both types of the transmute are 32 bytes in
        // which every bit pattern is valid.
        let above = unsafe {
            let [low, high] = transmute::<[u16; 16], [__m128i; 2]>(*starts);
            let slot = _mm_set1_epi16(slot as i16);
            let above = _mm_packs_epi16(_mm_cmpgt_epi16(low, slot), _mm_cmpgt_epi16(high, slot));
            _mm_movemask_epi8(above) as u32
        };
        (above | 1 << 16).trailing_zeros() as usize
    }
}
