//! Plain Rust: every other processor, and what the tests compare with.

use std::array::from_fn;

#[derive(Debug, Clone, Copy)]
pub struct Lanes([i16; 16]);

impl super::Lanes for Lanes {
    fn load(lanes: &[i16; 16]) -> Self {
        Lanes(*lanes)
    }

    fn store(self) -> [i16; 16] {
        self.0
    }

    fn add(self, other: Self) -> Self {
        Lanes(from_fn(|j| self.0[j].wrapping_add(other.0[j])))
    }

    fn half(self) -> Self {
        Lanes(self.0.map(|lane| (lane as u16 >> 1) as i16))
    }

    fn toward(self, target: Self, rate: u8) -> Self {
        Lanes(from_fn(|j| self.0[j].wrapping_add(target.0[j].wrapping_sub(self.0[j]) >> rate)))
    }

    fn not_above(self, limit: i16) -> usize {
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

    /// Each input times `error`, by 2^13.
    pub fn products(inputs: &[i16; 8], error: i16) -> Self {
        Eight(inputs.map(|input| (i32::from(input) * i32::from(error)) >> 13))
    }
}
