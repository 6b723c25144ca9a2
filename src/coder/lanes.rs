//! Sixteen 16-bit numbers, or eight 32-bit weights, at once.
//!
//! The only arithmetic that the models need, as SSE2, as AVX2 where the processor has it, and as plain
//! Rust. All give the same numbers, which the tests compare. Compilers do not find the vector form by
//! themselves here: with arrays the coder ran at less than half the speed.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

/// The form that every processor of this kind has.
#[cfg(not(target_arch = "x86_64"))]
pub use plain::{Eight, Lanes as Usual};
#[cfg(target_arch = "x86_64")]
pub use sse2::{Eight, Lanes as Usual};

/// Sixteen 16-bit numbers.
pub trait Lanes: Copy {
    fn load(lanes: &[i16; 16]) -> Self;

    fn store(self) -> [i16; 16];

    fn add(self, other: Self) -> Self;

    /// Each lane, unsigned, times `weight`, by 2^16.
    fn share(self, weight: u16) -> Self;

    /// Each lane, unsigned, by 2.
    fn half(self) -> Self;

    /// Each lane moved towards `target` by 2^-rate of the way, rounded down.
    fn toward(self, target: Self, rate: u8) -> Self;

    /// How many lanes from lane 0 on are not above `limit`.
    fn not_above(self, limit: i16) -> usize;
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Lanes, avx2, plain, sse2};

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

    /// All that the lanes can do, with numbers that follow from `seed`.
    fn results<L: Lanes>(seed: u32) -> ([[i16; 16]; 4], usize) {
        let number = |j: usize| (seed * 16 + j as u32 + 1).wrapping_mul(2654435761) >> 17;
        let a: [i16; 16] = std::array::from_fn(|j| number(j) as i16);
        let b: [i16; 16] = std::array::from_fn(|j| number(j + 99) as i16);
        let (weight, rate, limit) = (number(3) as u16 * 2, (seed % 8) as u8, number(5) as i16);
        let (x, y) = (L::load(&a), L::load(&b));
        let made = [x.add(y), x.share(weight), x.half(), x.toward(y, rate)];
        (made.map(L::store), x.not_above(limit))
    }

    #[test]
    fn all_forms_give_the_same_numbers() {
        for seed in 0..500 {
            assert_eq!(results::<sse2::Lanes>(seed), results::<plain::Lanes>(seed));
            if std::arch::is_x86_feature_detected!("avx2") {
                assert_eq!(results::<avx2::Lanes>(seed), results::<plain::Lanes>(seed));
            }
        }
    }
}
