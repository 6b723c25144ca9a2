//! The ends of runs among 64 bytes, as one bit for each byte.
//!
//! There are two versions: SSE2, which every x86-64 processor has, and plain Rust; the tests
//! compare them. Compilers do not find the vector version by themselves.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]

#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::*, mem::transmute};

/// A bit for each of the first 64 bytes, set if it differs from the next byte. The lowest bit is
/// that of the first byte.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn borders(bytes: &[u8; 65]) -> u64 {
    let same = |from: usize| {
        let [here, next] = [from, from + 1].map(|from| {
            *bytes[from..]
                .first_chunk::<16>()
                .expect("sixteen bytes of 65")
        });
        // SAFETY: every x86-64 processor has SSE2; both types of the transmute are 16 bytes in
        // which every bit pattern is valid.
        unsafe {
            let [here, next] = [here, next].map(|part| transmute::<[u8; 16], __m128i>(part));
            u64::from(_mm_movemask_epi8(_mm_cmpeq_epi8(here, next)) as u32) << from
        }
    };
    !(same(0) | same(16) | same(32) | same(48))
}

#[cfg(not(target_arch = "x86_64"))]
pub use borders_plain as borders;

/// The version for other processors, and for the comparison.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn borders_plain(bytes: &[u8; 65]) -> u64 {
    (0..64).fold(0, |borders, k| {
        borders | u64::from(bytes[k] != bytes[k + 1]) << k
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_find_the_same_borders() {
        for seed in 0..2000u32 {
            let bytes: [u8; 65] = std::array::from_fn(|k| {
                (seed.wrapping_mul(2_654_435_761) >> (k / (1 + seed as usize % 7) % 29)) as u8 & 1
            });
            assert_eq!(borders(&bytes), borders_plain(&bytes), "{bytes:?}");
        }
    }
}
