//! Sixteen 16-bit numbers at once.
//!
//! The only arithmetic that the models of runs and places need, as SSE2, as AVX2 where the
//! processor has it, and as plain Rust. All give the same numbers, which the tests compare.
//! Compilers do not find the vector form by themselves here: with arrays the coder ran at less than
//! half the speed.

/// The outcome of a function of some lanes: with those of AVX2 where the processor has it, with the
/// others elsewhere.
///
/// All that the function calls must be inlined into it, so that it is compiled for either.
macro_rules! widest {
    ($with:ident::<$avx2:ty, $usual:ty>($($name:ident: $kind:ty),*) -> $outcome:ty) => {{
        #[cfg(target_arch = "x86_64")]
        if $crate::coder::cdf_simd::cdf_avx2::is_there() {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
            fn with_avx2($($name: $kind),*) -> $outcome {
                $with::<$avx2>($($name),*)
            }
            // SAFETY: the processor has all that the function asks for.
            #[allow(unsafe_code)]
            return unsafe { with_avx2($($name),*) };
        }
        $with::<$usual>($($name),*)
    }};
}
pub(super) use widest;

#[cfg(target_arch = "x86_64")]
pub mod cdf_avx2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod cdf_plain;
#[cfg(target_arch = "x86_64")]
mod cdf_sse2;

/// The form that every processor of this kind has.
#[cfg(not(target_arch = "x86_64"))]
pub use cdf_plain::Lanes as Usual;
#[cfg(target_arch = "x86_64")]
pub use cdf_sse2::Lanes as Usual;

/// Sixteen 16-bit numbers.
pub trait Lanes: Copy {
    fn load(lanes: &[i16; 16]) -> Self;

    fn store(self) -> [i16; 16];

    /// The mean of each two lanes, unsigned, rounded up.
    fn mean(self, other: Self) -> Self;

    /// With 0 in lane 0.
    fn without_first(self) -> Self;

    /// Each lane moved towards `target`, in units of 2^-16 of the way by lane 0, or by the lane of
    /// `least` where that is more, rounded down. No two lanes are further apart than 2^15.
    fn toward(self, target: Self, least: Self) -> Self;

    /// How many lanes from lane 0 on are not above `limit`.
    fn not_above(self, limit: i16) -> usize;
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Lanes, cdf_avx2, cdf_plain, cdf_sse2};

    /// All that the lanes can do, with numbers that follow from `seed`.
    fn results<L: Lanes>(seed: u32) -> ([[i16; 16]; 3], usize) {
        let number = |j: usize| (seed * 16 + j as u32 + 1).wrapping_mul(2654435761) >> 17;
        let a: [i16; 16] = std::array::from_fn(|j| number(j) as i16);
        let b: [i16; 16] = std::array::from_fn(|j| number(j + 99) as i16);
        let (x, y) = (L::load(&a), L::load(&b));
        let least = L::load(&[(seed * 64) as i16; 16]);
        let made = [x.mean(y), x.without_first(), x.toward(y, least)];
        (made.map(L::store), x.not_above(number(5) as i16))
    }

    #[test]
    fn all_forms_give_the_same_numbers() {
        for seed in 0..500 {
            assert_eq!(results::<cdf_sse2::Lanes>(seed), results::<cdf_plain::Lanes>(seed));
            if std::arch::is_x86_feature_detected!("avx2") {
                assert_eq!(results::<cdf_avx2::Lanes>(seed), results::<cdf_plain::Lanes>(seed));
            }
        }
    }
}
