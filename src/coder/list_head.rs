//! Sixteen bytes of a move-to-front list, moved at once.
//!
//! There are three versions: SSE2, AVX2 if the processor has it, and plain Rust on two words. All
//! give the same lists, which the tests compare. None has a branch that depends on the bytes: one
//! of three MTF ranks of English is 8 or more, which the processor cannot predict.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]

#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::*, mem::transmute};

/// Sixteen neighbouring bytes of a list.
pub(super) trait ListHead: Copy {
    fn of(bytes: [u8; 16]) -> Self;

    fn bytes(self) -> [u8; 16];

    /// The first two bytes, the first in the lowest bits.
    fn first_two(self) -> u32;

    /// Shifts `before` in from the front, up to the position of `byte`, or through all sixteen.
    /// Returns that position, or 16 or more if `byte` is not here.
    fn shift_in(&mut self, before: u8, byte: u8) -> u32;

    /// Removes the first byte and inserts `byte` so that it is at `at`, which is below 16.
    fn shift_out(&mut self, at: usize, byte: u8);

    /// Removes the first byte and inserts it at `at`.
    fn put_back(&mut self, at: usize);
}

/// Plain version in two words, the front one first; the first byte is the lowest.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadPlain([u64; 2]);

#[cfg(any(test, not(target_arch = "x86_64")))]
impl HeadPlain {
    fn splat(byte: u8) -> u64 {
        u64::from(byte) * 0x0101_0101_0101_0101
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
impl ListHead for HeadPlain {
    fn of(bytes: [u8; 16]) -> Self {
        let all = u128::from_le_bytes(bytes);
        HeadPlain([all as u64, (all >> 64) as u64])
    }

    fn bytes(self) -> [u8; 16] {
        (u128::from(self.0[1]) << 64 | u128::from(self.0[0])).to_le_bytes()
    }

    #[inline(always)]
    fn first_two(self) -> u32 {
        self.0[0] as u32
    }

    #[inline(always)]
    fn shift_in(&mut self, before: u8, byte: u8) -> u32 {
        let [low, high] = self.0;
        // The lowest zero byte is the lowest one whose top bit survives.
        let zeros = |word: u64| {
            let same = word ^ Self::splat(byte);
            same.wrapping_sub(Self::splat(1)) & !same & Self::splat(0x80)
        };
        let [in_low, in_high] = [zeros(low), zeros(high)];
        // All bits up to the lowest one that is set, or all bits if none is.
        let up_to = |bits: u64| bits ^ bits.wrapping_sub(1);
        let past = if in_low == 0 { u64::MAX } else { 0 };
        let mask_low = up_to(in_low);
        let mask_high = up_to(in_high) & past;
        let moved = [low << 8 | u64::from(before), high << 8 | low >> 56];
        self.0 = [
            low ^ (low ^ moved[0]) & mask_low,
            high ^ (high ^ moved[1]) & mask_high,
        ];
        (in_low.trailing_zeros() + (in_high.trailing_zeros() & past as u32)) / 8
    }

    #[inline(always)]
    fn shift_out(&mut self, at: usize, byte: u8) {
        let all = u128::from(self.0[1]) << 64 | u128::from(self.0[0]);
        let before = (1u128 << (8 * at)) - 1;
        let behind = !before << 8;
        let all = all >> 8 & before | u128::from(byte) << (8 * at) | all & behind;
        self.0 = [all as u64, (all >> 64) as u64];
    }

    #[inline(always)]
    fn put_back(&mut self, at: usize) {
        self.shift_out(at, self.0[0] as u8);
    }
}

/// SSE2 version, in one register.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadSse2(__m128i);

#[cfg(target_arch = "x86_64")]
impl ListHead for HeadSse2 {
    #[inline(always)]
    fn of(bytes: [u8; 16]) -> Self {
        // SAFETY: both types are 16 bytes in which every bit pattern is valid.
        HeadSse2(unsafe { transmute::<[u8; 16], __m128i>(bytes) })
    }

    fn bytes(self) -> [u8; 16] {
        // SAFETY: as above.
        unsafe { transmute::<__m128i, [u8; 16]>(self.0) }
    }

    #[inline(always)]
    fn first_two(self) -> u32 {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_cvtsi128_si32(self.0) as u32 }
    }

    #[inline(always)]
    fn shift_in(&mut self, before: u8, byte: u8) -> u32 {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let all = _mm_set1_epi8(-1);
            let here = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(byte as i8));
            // In each half, all bytes up to the position of the byte. The upper half is used only
            // if the byte is not in the lower one.
            let up_to = _mm_or_si128(here, _mm_add_epi64(here, all));
            let none = _mm_cmpeq_epi32(here, _mm_setzero_si128());
            let none = _mm_and_si128(none, _mm_shuffle_epi32::<0b10_11_00_01>(none));
            let up_to = _mm_and_si128(up_to, _mm_unpacklo_epi64(all, none));
            let before = _mm_cvtsi32_si128(before.into());
            let moved = _mm_or_si128(_mm_slli_si128::<1>(self.0), before);
            let moved = _mm_and_si128(moved, up_to);
            self.0 = _mm_or_si128(moved, _mm_andnot_si128(up_to, self.0));
            (_mm_movemask_epi8(here) as u32 | 1 << 16).trailing_zeros()
        }
    }

    #[inline(always)]
    fn shift_out(&mut self, at: usize, byte: u8) {
        let at = at % 16;
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let before = window(&BEFORE, 16 - at);
            let here = window(&HERE, 16 - at);
            let moved = _mm_and_si128(_mm_srli_si128::<1>(self.0), before);
            let kept = _mm_andnot_si128(_mm_or_si128(before, here), self.0);
            let byte = _mm_and_si128(_mm_set1_epi8(byte as i8), here);
            self.0 = _mm_or_si128(_mm_or_si128(moved, kept), byte);
        }
    }

    #[inline(always)]
    fn put_back(&mut self, at: usize) {
        self.shift_out(at, self.first_two() as u8);
    }
}

/// 16 bytes of it, from 16 - `at` on, are set before `at`.
#[cfg(target_arch = "x86_64")]
static BEFORE: [[u8; 16]; 2] = [[255; 16], [0; 16]];

/// 16 bytes of it, from 16 - `at` on, are set at `at`.
#[cfg(target_arch = "x86_64")]
static HERE: [[u8; 16]; 2] = [[0; 16], 255_u128.to_le_bytes()];

/// 16 of 32 bytes, starting at `from`, which is at most 16.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn window(bytes: &[[u8; 16]; 2], from: usize) -> __m128i {
    HeadSse2::of(
        *bytes.as_flattened()[from..]
            .first_chunk()
            .expect("sixteen of 32 bytes"),
    )
    .0
}

/// The shuffles that move the first byte to 0 to 15.
#[cfg(target_arch = "x86_64")]
#[repr(align(16))]
struct Shuffles([[u8; 16]; 16]);

#[cfg(target_arch = "x86_64")]
static PUT_BACK: Shuffles = {
    let mut all = [[0; 16]; 16];
    let mut at = 0;
    while at < 16 {
        let mut to = 0;
        while to < 16 {
            all[at][to] = if to == at {
                0
            } else {
                to as u8 + (to < at) as u8
            };
            to += 1;
        }
        at += 1;
    }
    Shuffles(all)
};

/// AVX2 version. Only code that runs under `#[target_feature(enable = "avx2")]` may use this type.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadAvx2(__m128i);

#[cfg(target_arch = "x86_64")]
impl ListHead for HeadAvx2 {
    fn of(bytes: [u8; 16]) -> Self {
        HeadAvx2(HeadSse2::of(bytes).0)
    }

    fn bytes(self) -> [u8; 16] {
        HeadSse2(self.0).bytes()
    }

    #[inline(always)]
    fn first_two(self) -> u32 {
        HeadSse2(self.0).first_two()
    }

    #[inline(always)]
    fn shift_in(&mut self, before: u8, byte: u8) -> u32 {
        // SAFETY: only code that runs with AVX2 uses this type.
        unsafe {
            let all = _mm_set1_epi8(-1);
            let here = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(byte as i8));
            let up_to = _mm_or_si128(here, _mm_add_epi64(here, all));
            let none = _mm_cmpeq_epi64(here, _mm_setzero_si128());
            let up_to = _mm_and_si128(up_to, _mm_unpacklo_epi64(all, none));
            let moved = _mm_alignr_epi8::<15>(self.0, _mm_set1_epi8(before as i8));
            let moved = _mm_and_si128(moved, up_to);
            self.0 = _mm_or_si128(moved, _mm_andnot_si128(up_to, self.0));
            (_mm_movemask_epi8(here) as u32 | 1 << 16).trailing_zeros()
        }
    }

    #[inline(always)]
    fn shift_out(&mut self, at: usize, byte: u8) {
        // SAFETY: only code that runs with AVX2 uses this type.
        self.0 = unsafe {
            let without = _mm_srli_si128::<1>(self.0);
            _mm_alignr_epi8::<15>(without, _mm_set1_epi8(byte as i8))
        };
        self.put_back(at);
    }

    #[inline(always)]
    fn put_back(&mut self, at: usize) {
        // SAFETY: only code that runs with AVX2 uses this type; the load is within its array.
        self.0 = unsafe {
            let shuffle = _mm_load_si128(PUT_BACK.0[at % 16].as_ptr().cast());
            _mm_shuffle_epi8(self.0, shuffle)
        };
    }
}

/// The version for every processor of this architecture.
#[cfg(target_arch = "x86_64")]
pub(super) type HeadBaseline = HeadSse2;
#[cfg(not(target_arch = "x86_64"))]
pub type HeadBaseline = HeadPlain;
#[cfg(not(target_arch = "x86_64"))]
pub type HeadAvx2 = HeadPlain;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// A head after each kind of move, and the return values of the moves.
    fn moves<H: ListHead>(bytes: [u8; 16], at: usize, byte: u8) -> ([[u8; 16]; 3], [u32; 2]) {
        let [mut shifted_in, mut shifted_out, mut put_back] = [H::of(bytes); 3];
        let found = shifted_in.shift_in(200, byte).min(16);
        shifted_out.shift_out(at, byte);
        put_back.put_back(at);
        let heads = [shifted_in, shifted_out, put_back].map(H::bytes);
        (heads, [found, put_back.first_two() & 0xffff])
    }

    #[test]
    fn all_forms_move_alike() {
        // Numbers whose bits differ at both ends, among them those that a borrow would reach.
        let bytes: [u8; 16] = std::array::from_fn(|k| (k as u8).wrapping_mul(17) ^ 1);
        for at in 0..16 {
            for byte in bytes.into_iter().chain([2, 99, 128]) {
                let plain = moves::<HeadPlain>(bytes, at, byte);
                let there = bytes.iter().position(|&other| other == byte);
                assert_eq!(plain.1[0] as usize, there.unwrap_or(16));
                assert_eq!(moves::<HeadSse2>(bytes, at, byte), plain);
                if std::arch::is_x86_feature_detected!("avx2") {
                    assert_eq!(moves::<HeadAvx2>(bytes, at, byte), plain);
                }
            }
        }
    }
}
