//! The difference cover sample C of a text, and where its suffixes lie in the string X: step 0 and
//! the first half of step 1.
//!
//! The paper samples the positions below n, and says that each part X_k of X ends with a
//! super-character that has a -1 in it. That is so unless n mod v = k: then the last one ends with
//! the text, and what follows it in X, which is of another part, is compared as if it were text.
//! Here position n, which is the empty suffix, is a position of the sample too, as in the skew
//! algorithm.

use super::difference_cover::DifferenceCover;

/// The positions i from 0 to n with i mod v in D, and where each comes to lie in X: those of one
/// residue together, residue by residue.
#[derive(Debug)]
pub struct SampledPositions {
    cover: DifferenceCover,
    n: usize,
    /// By element of D, where its positions begin in X; and the length of X.
    starts: Vec<usize>,
}

impl SampledPositions {
    /// That of a text of n symbols, with the cover of a period from 3 on. It has less than n
    /// positions where the period is not greater than n.
    pub fn new(n: usize, period: usize) -> Self {
        let cover = DifferenceCover::new(period);
        let mut starts = vec![0];
        for &element in cover.elements() {
            let len = (n + 1).saturating_sub(element).div_ceil(period);
            starts.push(starts[starts.len() - 1] + len);
        }
        SampledPositions { cover, n, starts }
    }

    /// The cover D.
    pub fn cover(&self) -> &DifferenceCover {
        &self.cover
    }

    /// Symbols of the text.
    pub fn text_len(&self) -> usize {
        self.n
    }

    /// The length of X.
    pub fn len(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Where position i of the text lies in X, if it is one of the sample.
    pub fn index(&self, i: usize) -> Option<usize> {
        let column = self.cover.column(i)?;
        Some(self.starts[column] + i / self.cover.period())
    }

    /// The position in the text of what lies at `index` in X.
    pub fn position(&self, index: usize) -> usize {
        let column = self.starts.partition_point(|&start| start <= index) - 1;
        let (element, start) = (self.cover.elements()[column], self.starts[column]);
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
            assert!(indices.iter().copied().eq(0..sample.len()), "{n} modulo {period}");
            assert!(sample.len() < n || n < period);
            for index in indices {
                assert_eq!(sample.index(sample.position(index)), Some(index));
            }
        }
    }
}
