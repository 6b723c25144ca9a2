//! Suffixes that begin with the same v symbols: comparing any two of them by Lemma 1, and merging
//! them v ways.

use super::string_rows::StringRows;
use crate::sampling::DifferenceCover;
use std::cmp::Ordering;

/// The order of suffixes with the same first v symbols.
///
/// A suffix is a row of words: its position i, its order within the set S_k of those at positions k
/// modulo v, and for each element of D the rank of the first sample suffix there from i on.
#[derive(Clone, Copy, Debug)]
pub struct SuffixOrder<'c> {
    cover: &'c DifferenceCover,
}

impl<'c> SuffixOrder<'c> {
    pub fn new(cover: &'c DifferenceCover) -> Self {
        SuffixOrder { cover }
    }

    /// Words of a suffix.
    pub fn width(self) -> usize {
        2 + self.cover.elements().len()
    }

    /// The subset S_k that a suffix is of.
    fn residue(self, suffix: &[u64]) -> usize {
        suffix[0] as usize % self.cover.period()
    }

    /// Compares by the order within S_k or, of two such sets, by the ranks of the sample suffixes
    /// the same distance behind.
    pub fn compare(self, a: &[u64], b: &[u64]) -> Ordering {
        if self.residue(a) == self.residue(b) {
            return a[1].cmp(&b[1]);
        }
        let [in_a, in_b] = self.cover.meeting(a[0] as usize, b[0] as usize);
        a[2 + in_a].cmp(&b[2 + in_b])
    }

    /// Puts the subsets S_k into their orders and merges them: always the least of the first ones
    /// of all subsets comes next, which takes v comparisons at most.
    pub fn merge(self, suffixes: &StringRows) -> StringRows {
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
