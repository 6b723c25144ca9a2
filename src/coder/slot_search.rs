//! Search for the symbol that owns a slot: the number of sixteen first slots that are not above it.
//!
//! There are three versions: SSE2, AVX2 if the processor has it, and plain Rust. All give the same
//! numbers, which the tests compare. Compilers do not find the vector version by themselves.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]

#[cfg(any(test, not(target_arch = "x86_64")))]
use super::list_head::HeadPlain;
use super::list_head::ListHead;
#[cfg(target_arch = "x86_64")]
use super::list_head::{HeadAvx2, HeadSse2};
#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::*, mem::transmute};

/// A method to search the first slots of sixteen symbols.
pub(super) trait SlotSearch {
    /// The number of `starts` that are not above `slot`. They ascend from 0 and stay below 2^15.
    fn not_above(starts: &[u16; 16], slot: u16) -> usize;

    /// The move-to-front list for the same processor.
    type Head: ListHead;
}

/// The version for every processor of this architecture.
#[cfg(target_arch = "x86_64")]
pub(super) type SearchBaseline = SearchSse2;
#[cfg(not(target_arch = "x86_64"))]
pub type SearchBaseline = SearchPlain;
#[cfg(not(target_arch = "x86_64"))]
pub type SearchAvx2 = SearchPlain;

/// AVX2 version, in one register. Only code that runs under `#[target_feature(enable = "avx2")]`
/// may name this type.
#[cfg(target_arch = "x86_64")]
pub(super) struct SearchAvx2;

#[cfg(target_arch = "x86_64")]
impl SlotSearch for SearchAvx2 {
    type Head = HeadAvx2;

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

/// SSE2 version, in two registers.
#[cfg(target_arch = "x86_64")]
pub(super) struct SearchSse2;

#[cfg(target_arch = "x86_64")]
impl SlotSearch for SearchSse2 {
    type Head = HeadSse2;

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

/// The version for other processors, and for the comparison.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) struct SearchPlain;

#[cfg(any(test, not(target_arch = "x86_64")))]
impl SlotSearch for SearchPlain {
    type Head = HeadPlain;

    #[inline(always)]
    fn not_above(starts: &[u16; 16], slot: u16) -> usize {
        starts
            .iter()
            .filter(|&&start| start <= slot)
            .count()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn all_forms_give_the_same_numbers() {
        for step in [1, 2, 99, 2000] {
            let starts: [u16; 16] = std::array::from_fn(|j| j as u16 * step);
            for slot in (0..1 << 15)
                .step_by(7)
                .chain([1, 15, 16, 1999, 2000])
            {
                let plain = SearchPlain::not_above(&starts, slot);
                assert_eq!(SearchBaseline::not_above(&starts, slot), plain);
                if std::arch::is_x86_feature_detected!("avx2") {
                    assert_eq!(SearchAvx2::not_above(&starts, slot), plain);
                }
            }
        }
    }
}
