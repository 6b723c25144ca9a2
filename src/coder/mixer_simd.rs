//! The cells of one decision of kind 2, or its inputs, eight at once.
//!
//! A cell is the probability of a yes, in units of 2^-12, above four bits that count the decisions
//! it has seen; the top bit is turned, so that 0 is a new cell. It moves towards what is decided by
//! 1/n at first, by 1/25 later: a short memory is no loss, since several cells are mixed, and with
//! 16 bits twice as many of them stay in the cache.
//!
//! All that a [`super::logistic_mixer::Mixer`] does with numbers, as AVX2 and as plain Rust. Both give the
//! same numbers, which the tests compare. Cost: 60 instructions of the 210 of a decision, the
//! longest way through them 50 cycles.

#[cfg(target_arch = "x86_64")]
pub mod mixer_avx2;
pub mod mixer_plain;

/// Eight weights, in units of 2^-20.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub struct Weights(pub [i32; 8]);

/// By what a cell's count says, the part of the way that it moves, in units of 2^-8.
const RATES: [u8; 16] = [160, 98, 71, 55, 46, 39, 34, 30, 27, 24, 21, 18, 16, 14, 12, 10];

/// Eight lanes of 16 bits: cells, inputs or limits.
pub trait Eight: Copy {
    fn load(lanes: [u16; 8]) -> Self;

    fn store(self) -> [u16; 8];

    /// Of cells, the inputs: the logarithms of their odds, in units of 1/256 of a bit. Logarithms
    /// are made of straight lines between powers of two, as the bits of a floating-point number
    /// are.
    fn stretched(self) -> Self;

    /// Cells after a decision; each counts up to its limit.
    fn learnt(self, bit: bool, limits: Self) -> Self;

    /// The sum of each input times the sum of its weights by 2^6, brought within 16 bits.
    fn mixed(self, weights: [&Weights; 3]) -> i32;

    /// Adds each input times `error`, by 2^14, to its weights.
    fn train(self, error: i16, weights: [&mut Weights; 3]);

    /// Asks for the memory around `cell`, which is to be used soon.
    fn fetch(cell: &u16);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn both_forms_know_all_cells_alike() {
        for first in (0..=u16::MAX).step_by(8) {
            let cells: [u16; 8] = std::array::from_fn(|k| first + k as u16);
            for limits in [[15; 8], [0, 1, 2, 3, 7, 10, 14, 15]] {
                assert_eq!(
                    known::<mixer_avx2::Eight>(cells, limits),
                    known::<mixer_plain::Eight>(cells, limits)
                );
            }
        }
    }

    fn known<L: Eight>(cells: [u16; 8], limits: [u16; 8]) -> [[u16; 8]; 3] {
        let learnt = |bit| L::load(cells).learnt(bit, L::load(limits)).store();
        [L::load(cells).stretched().store(), learnt(false), learnt(true)]
    }

    #[test]
    fn both_forms_mix_alike() {
        for seed in 0..500 {
            assert_eq!(mixes::<mixer_avx2::Eight>(seed), mixes::<mixer_plain::Eight>(seed));
        }
    }

    /// What weights become, and what is mixed meanwhile, by numbers that follow from `seed`.
    fn mixes<L: Eight>(seed: u32) -> (Vec<i32>, [[i32; 8]; 3]) {
        let number = |j: u32| (seed * 64 + j + 1).wrapping_mul(2_654_435_761) as i32;
        let mut weights = [0, 8, 16].map(|family| {
            Weights(std::array::from_fn(|k| number(family + k as u32) >> (seed % 16)))
        });
        let mixed = (24..40).map(|j| {
            let inputs = L::load(std::array::from_fn(|k| (number(8 * j + k as u32) >> 19) as u16));
            let [a, b, c] = &mut weights;
            let mixed = inputs.mixed([a, b, c]);
            inputs.train((number(j) >> 16) as i16, [a, b, c]);
            mixed
        });
        (mixed.collect(), weights.map(|w| w.0))
    }

    #[test]
    fn inputs_are_logarithms_of_odds() {
        let of =
            |p: u16| mixer_plain::Eight::load([(p << 4) ^ 0x8000; 8]).stretched().store()[0] as i16;
        assert_eq!((of(2047), of(2048)), (-1, 0));
        assert_eq!((of(0), of(4095)), (-13 * 256, 13 * 256 - 1));
        assert!((of(3277) - 512).abs() < 30, "odds of 4 are 2 bits");
        assert!((1..4096).all(|p| of(p - 1) <= of(p)));
    }
}
