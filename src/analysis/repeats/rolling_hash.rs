//! A rolling hash of strings of one length: a polynomial modulo the prime 2^61 - 1 (Karp and
//! Rabin), at 3 ns per step.
//!
//! Its base is drawn at random in each run, so that nobody can construct strings that collide.
//! Results do not depend on the base, since equal hashes are only a hint.

use std::hash::{BuildHasher, RandomState};

const PRIME: u64 = (1 << 61) - 1;

/// Draws a base at random.
pub(super) fn random_base() -> u64 {
    (RandomState::new().hash_one(0_u64) % (PRIME - (1 << 32))) + (1 << 32)
}

/// The hash of strings of a given number of units.
#[derive(Clone, Copy)]
pub(super) struct RollingHash {
    base: u64,
    len: usize,
    /// The base to the power of a quarter of the length.
    quarter: u64,
    /// The factor of a unit that leaves: the negative of the base's power.
    leaving: u64,
}

impl RollingHash {
    pub(super) fn new(base: u64, len: usize) -> Self {
        let quarter = power(base, len / 4);
        let leaving = PRIME - power(base, len);
        RollingHash {
            base,
            len,
            quarter,
            leaving,
        }
    }

    /// The hash of strings of another length, by the same base.
    pub(super) fn with_len(&self, len: usize) -> Self {
        RollingHash::new(self.base, len)
    }

    /// The hash of as many units as the length; `unit(n)` is the unit with number n.
    ///
    /// Each step waits for the one before it, so four quarters are computed side by side.
    pub(super) fn of(&self, unit: impl Fn(usize) -> u64) -> u64 {
        let step = |hash: u64, n| fold(u128::from(hash) * u128::from(self.base), unit(n) + 1);
        let quarter = self.len / 4;
        let rest = self.len % 4;
        let mut hashes = [(0..rest).fold(0, step), 0, 0, 0];
        for n in rest..rest + quarter {
            for (lane, hash) in hashes.iter_mut().enumerate() {
                *hash = step(*hash, lane * quarter + n);
            }
        }
        let join = |hash: u64, more| fold(u128::from(hash) * u128::from(self.quarter), more);
        hashes.into_iter().fold(0, join)
    }

    /// The hash after `left` was removed from the front and `came` was added at the end.
    #[inline(always)]
    pub(super) fn roll(&self, hash: u64, left: u64, came: u64) -> u64 {
        let change = multiply(left + 1, self.leaving) + came + 1;
        fold(u128::from(hash) * u128::from(self.base), change)
    }
}

fn power(base: u64, exponent: usize) -> u64 {
    let mut power = 1;
    let mut square = base;
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            power = multiply(power, square);
        }
        square = multiply(square, square);
        left >>= 1;
    }
    power
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
        let units: Vec<u64> = (0..300)
            .map(|n: u64| (n * n * 77 % 65536) << (n % 17))
            .collect();
        for len in [1, 2, 7, 64, 299] {
            let hash = RollingHash::new(random_base(), len);
            let mut rolled = hash.of(|n| units[n]);
            let step =
                |sum: u64, unit: &u64| fold(u128::from(sum) * u128::from(hash.base), unit + 1);
            assert_eq!(rolled, units[..len].iter().fold(0, step));
            for start in 1..=units.len() - len {
                rolled = hash.roll(rolled, units[start - 1], units[start + len - 1]);
                assert_eq!(rolled, hash.of(|n| units[start + n]));
            }
        }
    }

    #[test]
    fn remainders_are_those_of_a_division() {
        for (a, b) in [
            (PRIME - 1, PRIME - 1),
            (PRIME - 1, 2),
            (1 << 60, 1 << 60),
            (0, 5),
        ] {
            let exact = u128::from(a) * u128::from(b) % u128::from(PRIME);
            assert_eq!(u128::from(multiply(a, b)), exact);
        }
    }
}
