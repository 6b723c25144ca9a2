//! Strings of one length in memory, and their radix sort.

use std::ops::Range;

/// Bits of a digit of the radix sort.
const DIGIT: u32 = 8;

/// Rows of `width` words, one after the other. A row is a string of symbols, and in the last word
/// its index, by which equal strings are ordered.
#[derive(Clone, Debug)]
pub(super) struct StringRows {
    width: usize,
    words: Vec<u64>,
}

impl StringRows {
    /// Creates an empty list of rows of `width` words.
    pub(super) fn new(width: usize) -> Self {
        StringRows {
            width,
            words: Vec::new(),
        }
    }

    /// Creates rows from words that follow each other.
    pub(super) fn from_words(width: usize, words: Vec<u64>) -> Self {
        assert!(
            words.len().is_multiple_of(width),
            "{} words in rows of {width}",
            words.len()
        );
        StringRows { width, words }
    }

    /// Number of words of a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// Words of a range of rows.
    pub(super) fn part(&self, rows: Range<usize>) -> &[u64] {
        &self.words[rows.start * self.width..rows.end * self.width]
    }

    /// Words of one row.
    pub(super) fn row(&self, row: usize) -> &[u64] {
        self.part(row..row + 1)
    }

    /// Rows, one by one.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.width)
    }

    /// String of a row.
    pub(super) fn string(&self, row: usize) -> &[u64] {
        &self.row(row)[..self.width - 1]
    }

    /// Index of each row.
    pub(super) fn indices(&self) -> impl Iterator<Item = usize> {
        self.rows().map(|row| row[row.len() - 1] as usize)
    }

    /// Adds rows, or the words of one row.
    pub(super) fn extend(&mut self, words: impl IntoIterator<Item = u64>) {
        self.words.extend(words);
    }

    /// Number of rows for which `is_before` holds. These must come before all others.
    pub(super) fn partition_point(&self, is_before: impl Fn(&[u64]) -> bool) -> usize {
        let mut low = 0;
        let mut high = self.len();
        while low < high {
            let middle = low.midpoint(high);
            if is_before(self.row(middle)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Returns `pieces` + 1 rows at equal distances, from the first to the last, or none if there
    /// are no rows.
    pub(super) fn samples(&self, pieces: usize) -> Vec<u64> {
        let last = self.len().checked_sub(1);
        let rows = last
            .into_iter()
            .flat_map(|last| (0..=pieces).map(move |n| n * last / pieces));
        rows.flat_map(|row| self.row(row))
            .copied()
            .collect()
    }

    /// Sorts the rows by radix, from the last digit of the last word to the first.
    pub(super) fn sort(&mut self) {
        if self.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        let mut sorted = vec![0; order.len()];
        for column in (0..self.width).rev() {
            let most = self
                .rows()
                .map(|row| row[column])
                .max()
                .unwrap_or(0);
            for shift in (0..u64::BITS - most.leading_zeros()).step_by(DIGIT as usize) {
                self.sort_by_digit(&order, &mut sorted, column, shift);
                std::mem::swap(&mut order, &mut sorted);
            }
        }
        self.words = order
            .into_iter()
            .flat_map(|row| self.row(row))
            .copied()
            .collect();
    }

    /// Sorts rows stably by one digit, by counting.
    fn sort_by_digit(&self, order: &[usize], sorted: &mut [usize], column: usize, shift: u32) {
        let digit = |row: usize| (self.words[row * self.width + column] >> shift) as usize & 0xFF;
        let mut ends = [0; 1 << DIGIT];
        order
            .iter()
            .for_each(|&row| ends[digit(row)] += 1);
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        for &row in order.iter().rev() {
            ends[digit(row)] -= 1;
            sorted[ends[digit(row)]] = row;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn rows_are_sorted_as_slices_are() {
        for (width, alphabet) in [(1, 2), (2, 256), (3, 3), (7, 2)] {
            let bytes = cases::random(width * 500, alphabet);
            let words: Vec<u64> = bytes
                .iter()
                .map(|&b| u64::from(b) << (b % 5 * 8))
                .collect();
            let mut expected: Vec<&[u64]> = words.chunks_exact(width).collect();
            expected.sort_unstable();
            let mut rows = StringRows::from_words(width, words.clone());
            rows.sort();
            assert_eq!(rows.rows().collect::<Vec<_>>(), expected);
            for row in rows.rows() {
                let smaller = expected
                    .iter()
                    .filter(|other| **other < row)
                    .count();
                assert_eq!(rows.partition_point(|other| other < row), smaller);
            }
        }
    }

    #[test]
    fn samples_begin_with_the_least_and_end_with_the_greatest() {
        let rows = StringRows::from_words(1, (10..20).collect());
        assert_eq!(rows.samples(3), [10, 13, 16, 19]);
        assert_eq!(rows.samples(1), [10, 19]);
        assert!(StringRows::new(1).samples(3).is_empty());
    }
}
