//! Sixteen 16-bit numbers, or eight 32-bit weights, at once.
//!
//! The only arithmetic that the models need, as SSE2 (part of every x86-64 processor) and as plain
//! Rust for all others. Both give the same numbers, which the tests compare. Compilers do not find
//! the vector form by themselves here: with arrays the coder ran at 26 MB/s on text where it now
//! runs at more than twice that.

#[cfg(not(target_arch = "x86_64"))]
pub use plain::{Eight, Lanes};
#[cfg(target_arch = "x86_64")]
pub use sse2::{Eight, Lanes};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod sse2 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    #[derive(Debug, Clone, Copy)]
    pub struct Lanes(__m128i, __m128i);

    impl Lanes {
        #[inline(always)]
        pub fn load(lanes: &[i16; 16]) -> Self {
            // SAFETY: both types are 32 bytes in which every bit pattern is valid.
            let [low, high] = unsafe { transmute::<[i16; 16], [__m128i; 2]>(*lanes) };
            Lanes(low, high)
        }

        #[inline(always)]
        pub fn store(self) -> [i16; 16] {
            // SAFETY: both types are 32 bytes in which every bit pattern is valid.
            unsafe { transmute::<[__m128i; 2], [i16; 16]>([self.0, self.1]) }
        }

        #[inline(always)]
        pub fn add(self, other: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64, here and below.
            unsafe { Lanes(_mm_add_epi16(self.0, other.0), _mm_add_epi16(self.1, other.1)) }
        }

        /// Each lane, unsigned, times `weight`, by 2^16.
        #[inline(always)]
        pub fn share(self, weight: u16) -> Self {
            // SAFETY: as in `add`.
            unsafe {
                let weight = _mm_set1_epi16(weight as i16);
                Lanes(_mm_mulhi_epu16(self.0, weight), _mm_mulhi_epu16(self.1, weight))
            }
        }

        /// Each lane moved towards `target` by 2^-rate of the way, rounded down.
        #[inline(always)]
        pub fn toward(self, target: Self, rate: u8) -> Self {
            // SAFETY: as in `add`.
            unsafe {
                let rate = _mm_cvtsi32_si128(rate.into());
                let low = _mm_sra_epi16(_mm_sub_epi16(target.0, self.0), rate);
                let high = _mm_sra_epi16(_mm_sub_epi16(target.1, self.1), rate);
                self.add(Lanes(low, high))
            }
        }

        /// The same with another lane 0.
        #[inline(always)]
        pub fn with_first(self, first: i16) -> Self {
            // SAFETY: as in `add`.
            unsafe { Lanes(_mm_insert_epi16::<0>(self.0, first.into()), self.1) }
        }

        /// How many lanes from lane 0 on are not above `limit`.
        #[inline(always)]
        pub fn not_above(self, limit: i16) -> usize {
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

        /// Each input times `error`, by 2^12.
        #[inline(always)]
        pub fn products(inputs: &[i16; 8], error: i16) -> Self {
            // SAFETY: as in `dot`.
            unsafe {
                let inputs = transmute::<[i16; 8], __m128i>(*inputs);
                let error = _mm_set1_epi16(error);
                let (low, high) = (_mm_mullo_epi16(inputs, error), _mm_mulhi_epi16(inputs, error));
                let (first, second) =
                    (_mm_unpacklo_epi16(low, high), _mm_unpackhi_epi16(low, high));
                Eight(_mm_srai_epi32::<12>(first), _mm_srai_epi32::<12>(second))
            }
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    use std::array::from_fn;

    #[derive(Debug, Clone, Copy)]
    pub struct Lanes([i16; 16]);

    impl Lanes {
        pub fn load(lanes: &[i16; 16]) -> Self {
            Lanes(*lanes)
        }

        pub fn store(self) -> [i16; 16] {
            self.0
        }

        pub fn add(self, other: Self) -> Self {
            Lanes(from_fn(|j| self.0[j].wrapping_add(other.0[j])))
        }

        /// Each lane, unsigned, times `weight`, by 2^16.
        pub fn share(self, weight: u16) -> Self {
            Lanes(self.0.map(|lane| ((u32::from(lane as u16) * u32::from(weight)) >> 16) as i16))
        }

        /// Each lane moved towards `target` by 2^-rate of the way, rounded down.
        pub fn toward(self, target: Self, rate: u8) -> Self {
            Lanes(from_fn(|j| self.0[j].wrapping_add(target.0[j].wrapping_sub(self.0[j]) >> rate)))
        }

        /// The same with another lane 0.
        pub fn with_first(mut self, first: i16) -> Self {
            self.0[0] = first;
            self
        }

        /// How many lanes from lane 0 on are not above `limit`.
        pub fn not_above(self, limit: i16) -> usize {
            self.0.iter().take_while(|&&lane| lane <= limit).count()
        }
    }

    /// Eight 32-bit weights.
    #[derive(Debug, Clone, Copy)]
    pub struct Eight([i32; 8]);

    impl Eight {
        pub fn all(weight: i32) -> Self {
            Eight([weight; 8])
        }

        pub fn add(self, other: Self) -> Self {
            Eight(from_fn(|j| self.0[j].wrapping_add(other.0[j])))
        }

        /// The sum of each weight by 2^6, brought within 16 bits, times its input.
        pub fn dot(self, inputs: &[i16; 8]) -> i32 {
            let near = |weight: i32| (weight >> 6).clamp(i16::MIN.into(), i16::MAX.into());
            (0..8).map(|j| near(self.0[j]) * i32::from(inputs[j])).sum()
        }

        /// Each input times `error`, by 2^12.
        pub fn products(inputs: &[i16; 8], error: i16) -> Self {
            Eight(inputs.map(|input| (i32::from(input) * i32::from(error)) >> 12))
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{plain, sse2};

    #[test]
    fn both_forms_mix_alike() {
        for seed in 0..500u32 {
            let number = |j: u32| (seed * 16 + j + 1).wrapping_mul(2654435761) as i32;
            let inputs: [i16; 8] = std::array::from_fn(|j| (number(j as u32) >> 20) as i16);
            let error = (number(9) >> 16) as i16;
            let (step, plain_step) =
                (sse2::Eight::products(&inputs, error), plain::Eight::products(&inputs, error));
            let start = number(10) >> (seed % 16);
            let (mut x, mut p) = (sse2::Eight::all(start), plain::Eight::all(start));
            for _ in 0..seed {
                (x, p) = (x.add(step), p.add(plain_step));
            }
            assert_eq!(x.dot(&inputs), p.dot(&inputs));
        }
    }

    #[test]
    fn both_forms_give_the_same_numbers() {
        for seed in 0..500u32 {
            let number = |j: usize| (seed * 16 + j as u32 + 1).wrapping_mul(2654435761) >> 17;
            let a: [i16; 16] = std::array::from_fn(|j| number(j) as i16);
            let b: [i16; 16] = std::array::from_fn(|j| number(j + 99) as i16);
            let (weight, rate, limit) = (number(3) as u16 * 2, (seed % 8) as u8, number(5) as i16);
            let (x, y) = (sse2::Lanes::load(&a), sse2::Lanes::load(&b));
            let (p, q) = (plain::Lanes::load(&a), plain::Lanes::load(&b));
            assert_eq!(x.add(y).store(), p.add(q).store());
            assert_eq!(x.share(weight).store(), p.share(weight).store());
            assert_eq!(x.toward(y, rate).store(), p.toward(q, rate).store());
            assert_eq!(x.with_first(7).store(), p.with_first(7).store());
            assert_eq!(x.not_above(limit), p.not_above(limit));
        }
    }
}
