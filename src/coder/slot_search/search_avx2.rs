//! [`super::SlotSearch`] as AVX2, which most x86-64 processors have: one register.
//!
//! Only code that runs under `#[target_feature(enable = "avx2")]` may name this type.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::transmute;

pub struct SearchAvx2;

impl super::SlotSearch for SearchAvx2 {
    #[inline(always)]
    fn not_above(starts: &[u16; 16], slot: u16) -> usize {
        // SAFETY: only code that runs with AVX2 names this type; both types of the transmute are
        // 32 bytes in which every bit pattern is valid.
        let above = unsafe {
            let starts = transmute::<[u16; 16], __m256i>(*starts);
            let above = _mm256_cmpgt_epi16(starts, _mm256_set1_epi16(slot as i16));
            _mm256_movemask_epi8(above) as u32
        };
        (above.trailing_zeros() / 2) as usize
    }
}
