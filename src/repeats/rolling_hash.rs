//! A rolling hash of strings of one length: a polynomial modulo the prime 2^61 - 1 (Karp and
//! Rabin), at 3 ns a step.
//!
//! Its base is drawn by chance in each run, so that nobody can make strings that collide; what
//! comes out does not depend on it, since equal hashes are only a hint.

use std::hash::{BuildHasher, RandomState};

const PRIME: u64 = (1 << 61) - 1;

/// A base drawn by chance.
pub(super) fn random_base() -> u64 {
    (RandomState::new().hash_one(0_u64) % (PRIME - (1 << 32))) + (1 << 32)
}

/// The hash of strings of a given number of units.
#[derive(Clone, Copy)]
pub(super) struct RollingHash {
    base: u64,
    /// What a unit is multiplied by as it leaves: the negative of the base's power.
    leaving: u64,
}

impl RollingHash {
    pub fn new(base: u64, len: usize) -> Self {
        let (mut power, mut square, mut left) = (1, base, len);
        while left > 0 {
            if left & 1 == 1 {
                power = multiply(power, square);
            }
            square = multiply(square, square);
            left >>= 1;
        }
        RollingHash { base, leaving: PRIME - power }
    }

    /// The hash of strings of another length, by the same base.
    pub fn with_len(&self, len: usize) -> Self {
        RollingHash::new(self.base, len)
    }

    /// The hash of all units, which are as many as the length.
    pub fn of(&self, units: impl Iterator<Item = u64>) -> u64 {
        units.fold(0, |hash, unit| fold(u128::from(hash) * u128::from(self.base), unit + 1))
    }

    /// The hash after `left` has gone in front and `came` has come behind.
    #[inline(always)]
    pub fn roll(&self, hash: u64, left: u64, came: u64) -> u64 {
        let change = multiply(left + 1, self.leaving) + came + 1;
        fold(u128::from(hash) * u128::from(self.base), change)
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    fold(u128::from(a) * u128::from(b), 0)
}

/// The remainder of a product below 2^122 and a number below 2^62.
#[inline(always)]
fn fold(product: u128, more: u64) -> u64 {
    let sum = (product as u64 & PRIME) + (product >> 61) as u64 + more;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolling_comes_to_the_hash_of_what_is_there() {
        let units: Vec<u64> = (0..300).map(|n: u64| (n * n * 77 % 65536) << (n % 17)).collect();
        for len in [1, 2, 7, 64, 299] {
            let hash = RollingHash::new(random_base(), len);
            let mut rolled = hash.of(units[..len].iter().copied());
            for start in 1..=units.len() - len {
                rolled = hash.roll(rolled, units[start - 1], units[start + len - 1]);
                assert_eq!(rolled, hash.of(units[start..start + len].iter().copied()));
            }
        }
    }

    #[test]
    fn remainders_are_those_of_a_division() {
        for (a, b) in [(PRIME - 1, PRIME - 1), (PRIME - 1, 2), (1 << 60, 1 << 60), (0, 5)] {
            let exact = u128::from(a) * u128::from(b) % u128::from(PRIME);
            assert_eq!(u128::from(multiply(a, b)), exact);
        }
    }
}
