//! Difference cover sample C of a text, and the order of its suffixes in the string X: step 0 and
//! the first half of step 1.
//!
//! The paper samples the positions below n, and says that each part X_k of X ends with a
//! super-character that has a -1 in it. This does not hold if n mod v = k: then the last one ends
//! with the text, and its successor in X, which is of another part, is compared as if it were text.
//! Here position n, which is the empty suffix, is a position of the sample too, as in the skew
//! algorithm.

use super::difference_cover::DifferenceCover;

/// Positions i from 0 to n with i mod v in D, and their indices in X. Positions of one residue are
/// together in X, residue by residue.
#[derive(Debug)]
pub(crate) struct SampledPositions {
    cover: DifferenceCover,
    n: usize,
    /// For each element of D, the index in X of its first position; and the length of X.
    starts: Vec<usize>,
}

impl SampledPositions {
    /// Samples a text of n symbols, with the cover of a period of at least 3. There are fewer than
    /// n positions if the period is not greater than n.
    pub(crate) fn new(n: usize, period: usize) -> Self {
        let cover = DifferenceCover::new(period);
        let mut starts = vec![0];
        for &element in cover.elements() {
            let len = (n + 1).saturating_sub(element).div_ceil(period);
            starts.push(starts[starts.len() - 1] + len);
        }
        SampledPositions { cover, n, starts }
    }

    /// Cover D.
    pub(crate) fn cover(&self) -> &DifferenceCover {
        &self.cover
    }

    /// Symbols of the text.
    pub(crate) fn text_len(&self) -> usize {
        self.n
    }

    /// Length of X.
    pub(crate) fn len(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Returns the index in X of position i of the text, if it is one of the sample.
    pub(crate) fn index(&self, i: usize) -> Option<usize> {
        let column = self.cover.column(i)?;
        Some(self.starts[column] + i / self.cover.period())
    }

    /// Returns the position in the text of the suffix at `index` in X.
    pub(crate) fn position(&self, index: usize) -> usize {
        let column = self
            .starts
            .partition_point(|&start| start <= index)
            - 1;
        let element = self.cover.elements()[column];
        let start = self.starts[column];
        (index - start) * self.cover.period() + element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_of_the_sample_has_its_own_index() {
        for (n, period) in [(0, 3), (1, 3), (2, 3), (9, 3), (100, 6), (4, 10), (101, 18)] {
            let sample = SampledPositions::new(n, period);
            let mut indices: Vec<usize> = (0..=n).filter_map(|i| sample.index(i)).collect();
            indices.sort_unstable();
            assert!(
                indices.iter().copied().eq(0..sample.len()),
                "{n} modulo {period}"
            );
            assert!(sample.len() < n || n < period);
            for index in indices {
                assert_eq!(sample.index(sample.position(index)), Some(index));
            }
        }
    }
}
