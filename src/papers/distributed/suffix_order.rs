//! Order of suffixes that begin with the same v symbols: comparison of two by Lemma 1, and a v-way
//! merge.

use super::string_rows::StringRows;
use crate::papers::sampling::DifferenceCover;
use std::cmp::Ordering;

/// Order of suffixes with the same first v symbols.
///
/// A suffix is a row of words: its position i, its order within the set S_k of those at positions k
/// modulo v, and for each element of D the rank of the first sample suffix there from i on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuffixOrder<'c> {
    cover: &'c DifferenceCover,
}

impl<'c> SuffixOrder<'c> {
    pub(super) fn new(cover: &'c DifferenceCover) -> Self {
        SuffixOrder { cover }
    }

    /// Number of words of a suffix.
    pub(super) fn width(self) -> usize {
        2 + self.cover.elements().len()
    }

    /// Returns the number k of the subset S_k that holds the suffix.
    fn residue(self, suffix: &[u64]) -> usize {
        suffix[0] as usize % self.cover.period()
    }

    /// Compares two suffixes by the order within S_k, or, if they are in different subsets, by the
    /// ranks of the sample suffixes at the same distance behind them.
    pub(super) fn compare(self, a: &[u64], b: &[u64]) -> Ordering {
        if self.residue(a) == self.residue(b) {
            return a[1].cmp(&b[1]);
        }
        let [in_a, in_b] = self.cover.meeting(a[0] as usize, b[0] as usize);
        a[2 + in_a].cmp(&b[2 + in_b])
    }

    /// Sorts each subset S_k and merges the subsets. The next suffix is always the least of the
    /// first ones of all subsets, which takes at most v comparisons.
    pub(super) fn merge(self, suffixes: &StringRows) -> StringRows {
        let mut rows: Vec<&[u64]> = suffixes.rows().collect();
        rows.sort_unstable_by_key(|suffix| (self.residue(suffix), suffix[1]));
        let is_same = |a: &&[u64], b: &&[u64]| self.residue(a) == self.residue(b);
        let mut subsets: Vec<&[&[u64]]> = rows.chunk_by(is_same).collect();
        let mut merged = StringRows::new(self.width());
        while let Some(least) =
            (0..subsets.len()).min_by(|&a, &b| self.compare(subsets[a][0], subsets[b][0]))
        {
            merged.extend(subsets[least][0].iter().copied());
            subsets[least] = &subsets[least][1..];
            if subsets[least].is_empty() {
                subsets.swap_remove(least);
            }
        }
        merged
    }
}
