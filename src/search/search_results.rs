//! What a search gives, and what it cost.

/// What was read and decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadCost {
    /// Bytes read from the file.
    pub coded_bytes: u64,
    /// Slices decoded for single steps.
    pub slices: u64,
    /// Blocks decoded as a whole.
    pub blocks: u64,
}

impl std::ops::AddAssign for ReadCost {
    fn add_assign(&mut self, more: ReadCost) {
        self.coded_bytes += more.coded_bytes;
        self.slices += more.slices;
        self.blocks += more.blocks;
    }
}

/// Where a pattern occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// How often, overlaps included.
    pub count: u64,
    /// Positions in the raw stream, ascending; all, or as many as were asked for.
    pub positions: Vec<u64>,
}

/// What a batch of patterns came to, in a block or in all.
#[derive(Debug, Default)]
pub(crate) struct BatchMatches {
    /// Of each pattern, how often it occurs.
    pub counts: Vec<u64>,
    /// Of each pattern, positions, as many as were asked for; nothing if only counts were.
    pub positions: Vec<Vec<u64>>,
}

impl BatchMatches {
    /// Nothing found of so many patterns.
    pub fn none(patterns: usize, located: bool) -> Self {
        let located = if located { patterns } else { 0 };
        BatchMatches { counts: vec![0; patterns], positions: vec![Vec::new(); located] }
    }

    /// Adds what the next part of the file came to, and up to `limit` positions in all; the first
    /// part comes to what is empty.
    pub fn append(&mut self, more: Self, limit: Option<usize>) {
        if self.counts.is_empty() {
            return *self = more;
        }
        for (count, more) in self.counts.iter_mut().zip(more.counts) {
            *count += more;
        }
        for (positions, mut more) in self.positions.iter_mut().zip(more.positions) {
            more.truncate(limit.unwrap_or(0) - positions.len());
            if positions.is_empty() { *positions = more } else { positions.append(&mut more) }
        }
    }

    /// Adds what other patterns came to.
    pub fn extend(&mut self, more: Self) {
        if self.counts.is_empty() {
            return *self = more;
        }
        self.counts.extend(more.counts);
        self.positions.extend(more.positions);
    }

    pub fn into_matches(self) -> Vec<Matches> {
        let all = self.counts.into_iter().zip(self.positions);
        all.map(|(count, positions)| Matches { count, positions }).collect()
    }
}
