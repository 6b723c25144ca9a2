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
