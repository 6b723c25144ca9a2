//! [`super::MixerVector`] as plain Rust: for other processors, and for the tests to compare with.

use super::{MixerWeights, RATES};
use std::array::from_fn;

#[derive(Debug, Clone, Copy)]
pub(crate) struct MixerPlain([u16; 8]);

/// The binary logarithm of `x`, interpolated linearly between powers of two, in units of 2^-23.
fn line(x: u32) -> i32 {
    let width = x.ilog2();
    ((width << 23) + (x << (23 - width)) - (1 << 23)) as i32
}

fn update(estimate: u16, bit: bool, limit: u16) -> u16 {
    let seen = estimate & 15;
    let turn = if bit { 0x7ff0 } else { 0x8000 };
    // The probability of the other bit, which shrinks.
    let other = estimate ^ seen ^ turn;
    let less = (u32::from(other) * u32::from(RATES[usize::from(seen)])) >> 8;
    (other - (less as u16 & !15)) ^ turn | (seen + u16::from(seen < limit))
}

impl super::MixerVector for MixerPlain {
    #[inline(always)]
    fn load(lanes: [u16; 8]) -> Self {
        MixerPlain(lanes)
    }

    #[inline(always)]
    fn store(self) -> [u16; 8] {
        self.0
    }

    #[inline(always)]
    fn stretched(self) -> Self {
        MixerPlain(self.0.map(|estimate| {
            let p1 = 2 * u32::from((estimate ^ 0x8000) >> 4) + 1;
            ((line(p1) - line((1 << 13) - p1)) >> 15) as u16
        }))
    }

    #[inline(always)]
    fn updated(self, bit: bool, limits: Self) -> Self {
        MixerPlain(from_fn(|k| update(self.0[k], bit, limits.0[k])))
    }

    #[inline(always)]
    fn dot_product(self, weights: [&MixerWeights; 3]) -> i32 {
        let products = (0..8).map(|k| {
            let sum = weights
                .iter()
                .fold(0, |sum: i32, set| sum.wrapping_add(set.0[k]));
            (sum >> 6).clamp(i16::MIN.into(), i16::MAX.into()) * i32::from(self.0[k] as i16)
        });
        products.fold(0, i32::wrapping_add)
    }

    #[inline(always)]
    fn train(self, error: i16, weights: [&mut MixerWeights; 3]) {
        let steps = self
            .0
            .map(|input| (i32::from(input as i16) * i32::from(error)) >> 14);
        for set in weights {
            set.0 = from_fn(|k| set.0[k].wrapping_add(steps[k]));
        }
    }

    #[inline(always)]
    fn prefetch(_: &u16) {}
}
