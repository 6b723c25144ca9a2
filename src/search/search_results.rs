//! Results of a search and their cost.

use rayon::prelude::*;

/// Cost of a search: the bytes read, and the slices and blocks decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadCost {
    /// Bytes read from the file.
    pub coded_bytes: u64,
    /// Number of slices decoded one by one.
    pub slices: u64,
    /// Number of blocks decoded as a whole.
    pub blocks: u64,
}

impl std::ops::AddAssign for ReadCost {
    fn add_assign(&mut self, more: ReadCost) {
        self.coded_bytes += more.coded_bytes;
        self.slices += more.slices;
        self.blocks += more.blocks;
    }
}

/// The occurrences of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// Number of occurrences, overlaps included.
    pub count: u64,
    /// Positions in the raw stream, ascending: all of them, or the first ones up to the limit.
    pub positions: Vec<u64>,
}

/// The positions of each pattern that a search returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantedPositions {
    /// Maximum number of positions. `None` if the patterns are only counted.
    pub limit: Option<usize>,
    /// The last positions are wanted, not the first ones.
    pub last: bool,
    /// The search may end once all patterns have their positions. Counts are then too small.
    pub ends_early: bool,
}

impl WantedPositions {
    /// No positions: the patterns are only counted.
    pub(crate) const NONE: Self = WantedPositions {
        limit: None,
        last: false,
        ends_early: false,
    };
    /// The last position alone.
    pub(crate) const LAST: Self = WantedPositions {
        limit: Some(1),
        last: true,
        ends_early: false,
    };

    /// The first positions, up to `limit`.
    pub(crate) fn first(limit: usize) -> Self {
        WantedPositions {
            limit: Some(limit),
            last: false,
            ends_early: false,
        }
    }

    /// Returns true if no more blocks are to be searched after these positions.
    pub(crate) fn are_found(self, positions: &[Vec<u64>]) -> bool {
        let limit = self.limit.unwrap_or(usize::MAX);
        self.ends_early && positions.iter().all(|of| of.len() >= limit)
    }

    /// Drops the positions that are not wanted. They ascend.
    pub(crate) fn keep(self, positions: &mut Vec<u64>) {
        let limit = self.limit.unwrap_or(0);
        match self.last {
            true => drop(positions.drain(..positions.len().saturating_sub(limit))),
            false => positions.truncate(limit),
        }
    }
}

/// Results of a batch of patterns, in one block or in several.
#[derive(Debug, Default)]
pub(crate) struct BatchMatches {
    /// Number of occurrences of each pattern.
    pub counts: Vec<u64>,
    /// Positions of each pattern, up to the limit. Empty if the patterns were only counted.
    pub positions: Vec<Vec<u64>>,
}

impl BatchMatches {
    /// Creates an empty result for `patterns` patterns.
    pub(crate) fn none(patterns: usize, located: bool) -> Self {
        let located = if located { patterns } else { 0 };
        BatchMatches {
            counts: vec![0; patterns],
            positions: vec![Vec::new(); located],
        }
    }

    /// Number of positions of all patterns.
    pub(crate) fn held(&self) -> u64 {
        self.positions
            .par_iter()
            .map(|positions| positions.len() as u64)
            .sum()
    }

    /// Appends the results of the next part of the file. Keeps the wanted positions of each
    /// pattern. If `self` has no patterns yet, it becomes `more`.
    pub(crate) fn append(&mut self, more: Self, wanted: WantedPositions) {
        if self.counts.is_empty() {
            return *self = more;
        }
        for (count, more) in self.counts.iter_mut().zip(more.counts) {
            *count += more;
        }
        for (positions, mut more) in self.positions.iter_mut().zip(more.positions) {
            if positions.is_empty() {
                *positions = more
            } else {
                positions.append(&mut more)
            }
            wanted.keep(positions);
        }
    }

    /// Appends the results of further patterns.
    pub(crate) fn extend(&mut self, more: Self) {
        if self.counts.is_empty() {
            return *self = more;
        }
        self.counts.extend(more.counts);
        self.positions.extend(more.positions);
    }

    pub(crate) fn into_matches(self) -> Vec<Matches> {
        let all = self.counts.into_iter().zip(self.positions);
        all.map(|(count, positions)| Matches { count, positions })
            .collect()
    }
}
