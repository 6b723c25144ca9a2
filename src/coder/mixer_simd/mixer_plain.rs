//! Plain Rust: every other processor, and what the tests compare with.

use super::{RATES, Weights};
use std::array::from_fn;

#[derive(Debug, Clone, Copy)]
pub struct Eight([u16; 8]);

/// The binary logarithm of `x` by straight lines between powers of two, in units of 2^-23.
fn line(x: u32) -> i32 {
    let width = x.ilog2();
    ((width << 23) + (x << (23 - width)) - (1 << 23)) as i32
}

fn learn(cell: u16, bit: bool, limit: u16) -> u16 {
    let seen = cell & 15;
    let turn = if bit { 0x7ff0 } else { 0x8000 };
    // The probability of what was not decided, which shrinks.
    let other = cell ^ seen ^ turn;
    let less = (u32::from(other) * u32::from(RATES[usize::from(seen)])) >> 8;
    (other - (less as u16 & !15)) ^ turn | (seen + u16::from(seen < limit))
}

impl super::Eight for Eight {
    #[inline(always)]
    fn load(lanes: [u16; 8]) -> Self {
        Eight(lanes)
    }

    #[inline(always)]
    fn store(self) -> [u16; 8] {
        self.0
    }

    #[inline(always)]
    fn stretched(self) -> Self {
        Eight(self.0.map(|cell| {
            let yes = 2 * u32::from((cell ^ 0x8000) >> 4) + 1;
            ((line(yes) - line((1 << 13) - yes)) >> 15) as u16
        }))
    }

    #[inline(always)]
    fn learnt(self, bit: bool, limits: Self) -> Self {
        Eight(from_fn(|k| learn(self.0[k], bit, limits.0[k])))
    }

    #[inline(always)]
    fn mixed(self, weights: [&Weights; 3]) -> i32 {
        let products = (0..8).map(|k| {
            let sum = weights.iter().fold(0, |sum: i32, family| sum.wrapping_add(family.0[k]));
            (sum >> 6).clamp(i16::MIN.into(), i16::MAX.into()) * i32::from(self.0[k] as i16)
        });
        products.fold(0, i32::wrapping_add)
    }

    #[inline(always)]
    fn train(self, error: i16, weights: [&mut Weights; 3]) {
        let steps = self.0.map(|input| (i32::from(input as i16) * i32::from(error)) >> 14);
        for family in weights {
            family.0 = from_fn(|k| family.0[k].wrapping_add(steps[k]));
        }
    }

    #[inline(always)]
    fn fetch(_: &u16) {}
}
