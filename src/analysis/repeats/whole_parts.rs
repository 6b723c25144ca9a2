//! Parts of a text, such as lines, that lie in ranges as a whole.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

/// Compares the parts of a text, one after the other, with ranges in ascending order.
pub(super) struct WholeParts<'r> {
    ranges: Peekable<Iter<'r, Range<u64>>>,
    whole: Vec<Range<u64>>,
    /// Start of the next part.
    start: u64,
}

impl<'r> WholeParts<'r> {
    /// Creates a comparison that has no part yet.
    pub(super) fn new(ranges: &'r [Range<u64>]) -> Self {
        WholeParts {
            ranges: ranges.iter().peekable(),
            whole: Vec::new(),
            start: 0,
        }
    }

    /// Adds the part that ends at `end`.
    pub(super) fn end_at(&mut self, end: u64) {
        let start = self.start;
        while self
            .ranges
            .next_if(|range| range.end <= start)
            .is_some()
        {}
        let is_inside = |range: &&Range<u64>| range.start <= start && end <= range.end;
        if start < end && self.ranges.peek().is_some_and(is_inside) {
            match self.whole.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => self.whole.push(start..end),
            }
        }
        self.start = end;
    }

    /// The ranges of the parts that lie in some range as a whole.
    pub(super) fn found(self) -> Vec<Range<u64>> {
        self.whole
    }
}
