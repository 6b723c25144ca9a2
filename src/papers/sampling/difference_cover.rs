//! Difference covers of any period: Section 2 of the paper.
//!
//! C. J. Colbourn and A. C. H. Ling, *Quorums from difference covers*, 2000: a ruler whose marks
//! measure all lengths up to half the period.

/// A set D of residues modulo v, without 0, such that every residue is a difference of two of them.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceCover {
    period: usize,
    /// Elements in ascending order.
    elements: Vec<usize>,
    /// For each residue that is an element, the index of that element.
    columns: Vec<Option<usize>>,
    /// For each residue, the indices of two elements that differ by it.
    differences: Vec<[usize; 2]>,
}

impl DifferenceCover {
    /// Creates the cover of a period, which is at least 3. It has at most sqrt(1.5 v) + 6 elements,
    /// and fewer than v.
    ///
    /// # Panics
    /// For a smaller period.
    #[must_use]
    pub(crate) fn new(period: usize) -> Self {
        assert!(
            period >= 3,
            "a cover of {period} has as many elements as there are residues"
        );
        let is_marked = marked(period);
        // Any shift of a cover is a cover. It is shifted by a residue that is no element, so that 0
        // is no element.
        let shift = is_marked
            .iter()
            .position(|marked| !marked)
            .expect("a cover leaves out some");
        let elements: Vec<usize> = (0..period)
            .filter(|at| is_marked[(at + shift) % period])
            .collect();
        let mut columns = vec![None; period];
        let mut differences = vec![[0; 2]; period];
        for (column, &element) in elements.iter().enumerate() {
            columns[element] = Some(column);
            for (other, &subtracted) in elements.iter().enumerate() {
                differences[(element + period - subtracted) % period] = [column, other];
            }
        }
        DifferenceCover {
            period,
            elements,
            columns,
            differences,
        }
    }

    /// Period v.
    pub(crate) fn period(&self) -> usize {
        self.period
    }

    /// Elements of D in ascending order.
    pub(crate) fn elements(&self) -> &[usize] {
        &self.elements
    }

    /// Returns the index of the element of D that position i has modulo v.
    pub(crate) fn column(&self, i: usize) -> Option<usize> {
        self.columns[i % self.period]
    }

    /// Returns the distance from position i to the next one at the given element of D, from 0 to v
    /// - 1.
    pub(crate) fn distance(&self, i: usize, column: usize) -> usize {
        (self.elements[column] + self.period - i % self.period) % self.period
    }

    /// Returns, by Lemma 1, the indices of the elements of D that i and j reach after the same
    /// distance.
    pub(crate) fn meeting(&self, i: usize, j: usize) -> [usize; 2] {
        let i = i % self.period;
        let j = j % self.period;
        self.differences[(i + self.period - j) % self.period]
    }
}

/// Returns the marks of the shortest ruler that is long enough, by residue.
fn marked(period: usize) -> Vec<bool> {
    let r = (0..)
        .find(|r| 24 * r * r + 36 * r + 13 >= period)
        .expect("some ruler is long enough");
    let gaps = [
        (1, r),
        (r + 1, 1),
        (2 * r + 1, r),
        (4 * r + 3, 2 * r + 1),
        (2 * r + 2, r + 1),
        (1, r),
    ];
    let mut marked = vec![false; period];
    let mut mark = 0;
    marked[0] = true;
    for (gap, times) in gaps {
        for _ in 0..times {
            mark += gap;
            marked[mark % period] = true;
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_residue_is_a_difference() {
        for period in (3..600).chain([1024, 2048, 4099]) {
            let cover = DifferenceCover::new(period);
            let size = cover.elements().len();
            assert!(size < period && size as f64 <= (1.5 * period as f64).sqrt() + 6.0);
            assert!(cover.column(0).is_none() && cover.elements().is_sorted());
            for (i, j) in (0..period).map(|i| (i, (7 * i * i + period / 2) % period)) {
                for (i, j) in [(i, 0), (i, j)] {
                    let [a, b] = cover.meeting(i, j);
                    assert_eq!(cover.distance(i, a), cover.distance(j, b), "{i} and {j}");
                    assert_eq!(cover.column(i + cover.distance(i, a)), Some(a));
                    assert_eq!(cover.column(j + cover.distance(j, b)), Some(b));
                }
            }
        }
    }

    /// The sizes are those of Table 2 of the paper, and of its optimal covers of 3 and 4.
    #[test]
    fn the_sizes_are_those_of_the_paper() {
        let sizes = [
            (3, 2),
            (4, 3),
            (13, 4),
            (73, 10),
            (181, 16),
            (337, 22),
            (541, 28),
        ];
        for (period, size) in sizes.into_iter().chain([(1024, 40), (2048, 58)]) {
            let found = DifferenceCover::new(period).elements().len();
            assert!(
                found <= size,
                "{found} elements modulo {period}, {size} in the paper"
            );
        }
    }
}
