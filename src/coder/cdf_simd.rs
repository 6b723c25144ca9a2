//! Sixteen 16-bit numbers at once: the arithmetic of adaptive CDFs and frequency tables.
//!
//! It comes as SSE2, as AVX2 where the processor has it, and as plain Rust. All give the same
//! numbers, which the tests compare. Compilers do not find the vector form by themselves: with
//! arrays the coder runs at less than half the speed.

#[cfg(target_arch = "x86_64")]
mod cdf_avx2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod cdf_plain;
#[cfg(target_arch = "x86_64")]
mod cdf_sse2;

#[cfg(target_arch = "x86_64")]
pub use cdf_avx2::CdfAvx2;
/// The form that every processor of this architecture has.
#[cfg(not(target_arch = "x86_64"))]
pub use cdf_plain::CdfPlain as CdfBaseline;
#[cfg(target_arch = "x86_64")]
pub use cdf_sse2::CdfSse2 as CdfBaseline;

/// Sixteen 16-bit numbers.
pub trait CdfVector: Copy {
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
    use super::cdf_plain::CdfPlain;
    use super::{CdfAvx2, CdfBaseline, CdfVector};

    /// All that the lanes can do, with numbers that follow from `seed`.
    fn results<V: CdfVector>(seed: u32) -> ([[i16; 16]; 3], usize) {
        let number = |j: usize| (seed * 16 + j as u32 + 1).wrapping_mul(2654435761) >> 17;
        let a: [i16; 16] = std::array::from_fn(|j| number(j) as i16);
        let b: [i16; 16] = std::array::from_fn(|j| number(j + 99) as i16);
        let (x, y) = (V::load(&a), V::load(&b));
        let least = V::load(&[(seed * 64) as i16; 16]);
        let made = [x.mean(y), x.without_first(), x.toward(y, least)];
        (made.map(V::store), x.not_above(number(5) as i16))
    }

    #[test]
    fn all_forms_give_the_same_numbers() {
        for seed in 0..500 {
            assert_eq!(results::<CdfBaseline>(seed), results::<CdfPlain>(seed));
            if std::arch::is_x86_feature_detected!("avx2") {
                assert_eq!(results::<CdfAvx2>(seed), results::<CdfPlain>(seed));
            }
        }
    }
}
