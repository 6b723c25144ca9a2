//! Sets of equal strings in a sorted sequence that lie on two processors or more.

use super::block_distribution::Blocks;
use super::exchange::Exchange;
use super::processor::Processor;
use crate::base::error::Result;
use std::ops::Range;

/// A set S^alpha that spans processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpanningSet {
    /// First processor that has a part of it.
    first: usize,
    /// Last processor that has a part of it.
    last: usize,
    /// Rows of the set in the sorted sequence.
    pub rows: Range<usize>,
}

impl SpanningSet {
    /// Processors that merge the set: the first of two, or all of more.
    pub(super) fn members(&self) -> Range<usize> {
        match self.last - self.first {
            1 => self.first..self.last,
            _ => self.first..self.last + 1,
        }
    }

    /// Rows that a member is given at first. The members get equal shares.
    pub(super) fn rows_of(&self, member: usize) -> Range<usize> {
        let rows = Blocks::new(self.rows.len(), self.members().len()).range(member - self.first);
        self.rows.start + rows.start..self.rows.start + rows.end
    }
}

/// Finds the spanning sets of n rows. `heads` says for each row on this processor whether a set
/// begins there. One superstep.
pub(super) async fn spanning_sets<E: Exchange>(
    processor: &mut Processor<E>,
    n: usize,
    heads: &[bool],
) -> Result<Vec<SpanningSet>> {
    let blocks = Blocks::new(n, processor.count());
    let own = blocks.range(processor.number());
    let first = heads
        .iter()
        .position(|&head| head)
        .unwrap_or(own.len());
    let last = heads.iter().rposition(|&head| head).unwrap_or(0);
    let known = [first, last].map(|row| (own.start + row) as u64);
    let known = processor.broadcast(&known).await?;
    let known: Vec<[usize; 2]> = known
        .iter()
        .map(|words| [words[0] as usize, words[1] as usize])
        .collect();
    Ok(find(blocks, &known))
}

/// Finds the spanning sets of all processors. `known` has the rows at which the first and the last
/// set of each processor begin. If no set begins on it, the first of the two is the end of its
/// rows.
fn find(blocks: Blocks, known: &[[usize; 2]]) -> Vec<SpanningSet> {
    let mut sets: Vec<SpanningSet> = Vec::new();
    for (processor, &[end, _]) in known.iter().enumerate().skip(1) {
        if end == blocks.range(processor).start {
            continue;
        }
        let before = processor - 1;
        match sets.last_mut() {
            Some(set) if known[before][0] == blocks.range(before).end => {
                (set.last, set.rows.end) = (processor, end);
            }
            _ => {
                let rows = known[before][1]..end;
                sets.push(SpanningSet {
                    first: before,
                    last: processor,
                    rows,
                });
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::distributed::virtual_processors::run_virtual;

    #[test]
    fn sets_are_found_wherever_they_begin_and_end() {
        for mask in 0..1_usize << 11 {
            let heads: Vec<bool> = (0..12)
                .map(|row| row == 0 || mask >> (row - 1) & 1 == 1)
                .collect();
            for count in [2, 3, 5, 12, 13] {
                let found = run_virtual(count, async |exchange| {
                    let own = Blocks::new(12, count).range(exchange.number());
                    spanning_sets(&mut Processor::new(exchange), 12, &heads[own]).await
                });
                let owner = |row| Blocks::new(12, count).owner(row);
                let starts: Vec<usize> = (0..12).filter(|&row| heads[row]).collect();
                let ends = starts[1..].iter().copied().chain([12]);
                let sets = starts
                    .iter()
                    .zip(ends)
                    .map(|(&start, end)| SpanningSet {
                        first: owner(start),
                        last: owner(end - 1),
                        rows: start..end,
                    });
                let expected: Vec<_> = sets.filter(|set| set.first < set.last).collect();
                for found in found.unwrap() {
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
