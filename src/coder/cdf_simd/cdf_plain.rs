//! [`super::CdfVector`] as plain Rust: for other processors, and for the tests to compare with.

use std::array::from_fn;

#[derive(Debug, Clone, Copy)]
pub struct CdfPlain([i16; 16]);

impl super::CdfVector for CdfPlain {
    fn load(lanes: &[i16; 16]) -> Self {
        CdfPlain(*lanes)
    }

    fn store(self) -> [i16; 16] {
        self.0
    }

    fn mean(self, other: Self) -> Self {
        let sum = |j: usize| u32::from(self.0[j] as u16) + u32::from(other.0[j] as u16);
        CdfPlain(from_fn(|j| ((sum(j) + 1) >> 1) as i16))
    }

    fn without_first(self) -> Self {
        CdfPlain(from_fn(|j| if j == 0 { 0 } else { self.0[j] }))
    }

    fn toward(self, target: Self, least: Self) -> Self {
        let rate = |j: usize| i32::from(self.0[0].max(least.0[j]));
        let way = |j: usize| i32::from(target.0[j].wrapping_sub(self.0[j]));
        CdfPlain(from_fn(|j| self.0[j].wrapping_add(((way(j) * rate(j)) >> 16) as i16)))
    }

    fn not_above(self, limit: i16) -> usize {
        self.0.iter().take_while(|&&lane| lane <= limit).count()
    }
}
