//! Levels of the recursion of `bsp`: the lengths of their strings and periods, and their cost
//! according to the paper.

use super::sample::SampledPositions;
use std::iter;

/// A level of the recursion, on which a string is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Number of the level, from 0.
    pub number: u32,
    /// Symbols of the string.
    pub n: usize,
    /// Period v of the difference cover.
    pub period: usize,
    /// Maximum length of a string that is sorted on one processor.
    alone: usize,
}

impl Level {
    /// Level 0, for a text of n symbols on `processors` processors.
    #[must_use]
    pub fn first(n: usize, processors: usize) -> Self {
        Level {
            number: 0,
            n,
            period: 3,
            alone: n.div_ceil(processors),
        }
    }

    /// Level 0, for a text on one processor. The recursion ends when all symbols are distinct.
    #[must_use]
    pub fn alone(n: usize) -> Self {
        Level {
            number: 0,
            n,
            period: 3,
            alone: 0,
        }
    }

    /// Level below, for a string of `n` super-characters.
    #[must_use]
    pub fn next(self, n: usize) -> Self {
        let period = raised(self.period).min(n).max(3);
        Level {
            number: self.number + 1,
            n,
            period,
            ..self
        }
    }

    /// Returns true if processor 0 sorts the string, so that the recursion ends.
    #[must_use]
    pub fn is_sorted_alone(self) -> bool {
        self.n <= self.alone
    }

    /// Number of elements of its difference cover.
    #[must_use]
    pub fn cover_len(self) -> usize {
        SampledPositions::new(self.n, self.period)
            .cover()
            .elements()
            .len()
    }

    /// Value of v n / p. A processor moves O(v n / p) words (Section 5.1).
    #[must_use]
    pub fn words(self, processors: usize) -> f64 {
        self.period as f64 * self.n as f64 / processors as f64
    }
}

/// Levels for a text of n symbols, if no string in the recursion has distinct symbols. The last
/// level is that of processor 0.
#[must_use]
pub fn levels(n: usize, processors: usize) -> Vec<Level> {
    let next = |level: &Level| {
        let sample = || SampledPositions::new(level.n, level.period).len();
        (level.number == 0 || !level.is_sorted_alone()).then(|| level.next(sample()))
    };
    iter::successors(Some(Level::first(n, processors)), next).collect()
}

/// Value of log_(5/4) (log_3 p^(1/2) + 1). After this number of levels the string has O(n / p)
/// symbols (Section 5.1).
#[must_use]
pub fn critical_round(processors: usize) -> f64 {
    ((processors as f64).sqrt().ln() / 3_f64.ln() + 1.0).ln() / 1.25_f64.ln()
}

/// Value of v^(5/4), rounded up.
fn raised(v: usize) -> usize {
    let fifth = (v as u128).pow(5);
    let root = fifth.isqrt().isqrt();
    root as usize + usize::from(root.pow(4) < fifth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_grows_as_in_the_paper() {
        let periods: Vec<usize> = iter::successors(Some(3), |&v| Some(raised(v)))
            .take(7)
            .collect();
        assert_eq!(periods, [3, 4, 6, 10, 18, 38, 95]);
        assert_eq!([raised(1), raised(16), raised(81)], [1, 32, 243]);
    }

    #[test]
    fn the_string_is_small_after_the_critical_round() {
        for processors in [1, 2, 4, 16, 64, 1024] {
            let levels = levels(1 << 40, processors);
            let last = levels[levels.len() - 1];
            assert!(
                last.is_sorted_alone() && !levels[levels.len() - 2].is_sorted_alone()
                    || processors == 1
            );
            let number = f64::from(last.number);
            let critical = critical_round(processors);
            assert!(
                number <= critical.ceil() + 2.0,
                "{number} levels, {critical} in the paper"
            );
        }
    }
}
