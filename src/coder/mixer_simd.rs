//! Eight 16-bit numbers in a vector: the arithmetic of logistic mixing.
//!
//! The numbers are the inputs of one mix, or the estimates that the inputs come from. An estimate
//! is the probability that a bit is 1, in units of 2^-12, above four bits that count the bits it
//! has seen; its top bit is inverted, so that 0 is a new estimate. It moves towards each bit, at
//! first by five eighths of the distance and in the end by 1/26, or more if the limit of its input
//! is lower (`RATES`). Such fast adaptation is no loss, since several estimates are mixed, and in
//! 16 bits twice as many of them stay in the cache.
//!
//! All arithmetic of [`super::logistic_mixer::Mixer`] on these vectors exists as AVX2 and as plain
//! Rust. Both give the same numbers, which the tests compare. Cost: 60 of the 210 instructions per
//! binary symbol, 50 cycles along their longest chain.

#[cfg(target_arch = "x86_64")]
mod mixer_avx2;
mod mixer_plain;

#[cfg(target_arch = "x86_64")]
pub(super) use mixer_avx2::MixerAvx2;
pub(super) use mixer_plain::MixerPlain;

/// Eight weights, in units of 2^-20.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct MixerWeights(pub [i32; 8]);

/// The part of the distance that an estimate moves, in units of 2^-8, by its count.
const RATES: [u8; 16] = [
    160, 98, 71, 55, 46, 39, 34, 30, 27, 24, 21, 18, 16, 14, 12, 10,
];

/// Eight 16-bit numbers: estimates, inputs or limits of counts.
pub(super) trait MixerVector: Copy {
    fn load(lanes: [u16; 8]) -> Self;

    fn store(self) -> [u16; 8];

    /// Converts estimates to inputs: the logarithms of their odds, in units of 1/256 of a bit.
    /// Logarithms are interpolated linearly between powers of two, like the bits of a
    /// floating-point number.
    fn stretched(self) -> Self;

    /// The estimates after a bit; each counts up to its limit.
    fn updated(self, bit: bool, limits: Self) -> Self;

    /// The sum over all inputs of the input times the sum of its weights. The sum of weights is
    /// divided by 2^6 and limited to 16 bits.
    fn dot_product(self, weights: [&MixerWeights; 3]) -> i32;

    /// Adds each input times `error`, divided by 2^14, to its weights.
    fn train(self, error: i16, weights: [&mut MixerWeights; 3]);

    /// Prefetches the cache line of `estimate`.
    fn prefetch(estimate: &u16);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn both_forms_treat_all_estimates_alike() {
        for first in (0..=u16::MAX).step_by(8) {
            let estimates: [u16; 8] = std::array::from_fn(|k| first + k as u16);
            for limits in [[15; 8], [0, 1, 2, 3, 7, 10, 14, 15]] {
                assert_eq!(
                    treated::<MixerAvx2>(estimates, limits),
                    treated::<MixerPlain>(estimates, limits)
                );
            }
        }
    }

    fn treated<V: MixerVector>(estimates: [u16; 8], limits: [u16; 8]) -> [[u16; 8]; 3] {
        let updated = |bit| {
            V::load(estimates)
                .updated(bit, V::load(limits))
                .store()
        };
        [
            V::load(estimates).stretched().store(),
            updated(false),
            updated(true),
        ]
    }

    #[test]
    fn both_forms_mix_alike() {
        for seed in 0..500 {
            assert_eq!(mixes::<MixerAvx2>(seed), mixes::<MixerPlain>(seed));
        }
    }

    /// Dot products and, after training on them, the weights, from numbers that follow from `seed`.
    fn mixes<V: MixerVector>(seed: u32) -> (Vec<i32>, [[i32; 8]; 3]) {
        let number = |j: u32| (seed * 64 + j + 1).wrapping_mul(2_654_435_761) as i32;
        let mut weights = [0, 8, 16].map(|set| {
            MixerWeights(std::array::from_fn(|k| {
                number(set + k as u32) >> (seed % 16)
            }))
        });
        let mixed = (24..40).map(|j| {
            let inputs = V::load(std::array::from_fn(|k| {
                (number(8 * j + k as u32) >> 19) as u16
            }));
            let [a, b, c] = &mut weights;
            let mixed = inputs.dot_product([a, b, c]);
            inputs.train((number(j) >> 16) as i16, [a, b, c]);
            mixed
        });
        (mixed.collect(), weights.map(|w| w.0))
    }

    #[test]
    fn inputs_are_logarithms_of_odds() {
        let of = |p: u16| {
            MixerPlain::load([(p << 4) ^ 0x8000; 8])
                .stretched()
                .store()[0] as i16
        };
        assert_eq!((of(2047), of(2048)), (-1, 0));
        assert_eq!((of(0), of(4095)), (-13 * 256, 13 * 256 - 1));
        assert!((of(3277) - 512).abs() < 30, "odds of 4 are 2 bits");
        assert!((1..4096).all(|p| of(p - 1) <= of(p)));
    }
}
