//! The rows of the suffixes that begin inside long runs.

use super::super::fenwick::FenwickTree;
use std::cmp::Reverse;
use std::ops::Range;

/// All rising long runs of one byte, or all falling ones.
pub(crate) struct RowsInside {
    /// Their positions in the block, in the order of the suffixes behind them.
    pub runs: Vec<Range<usize>>,
    pub rises: bool,
    /// The first row of the suffixes that begin inside the runs, with more than `kept` bytes of the
    /// run in front.
    pub first: usize,
    pub kept: usize,
}

impl RowsInside {
    /// Stores in `samples` the rows of the suffixes at every `rate`th byte of the block. Returns
    /// the start of each run and its row.
    pub(crate) fn rows(&self, rate: usize, samples: &mut [u32]) -> Vec<(usize, usize)> {
        let mut starts = Vec::with_capacity(self.runs.len());
        let mut lengths = RunLengths::new(self);
        for (left, number) in self.wanted(rate) {
            let left = left as usize;
            let number = number as usize;
            let run = &self.runs[number];
            let row = self.first + lengths.before(left) + lengths.longest_below(number);
            let pos = run.end - left;
            if pos == run.start {
                starts.push((pos, row));
            }
            if pos.is_multiple_of(rate) {
                samples[pos / rate] = row as u32;
            }
        }
        starts
    }

    /// The suffixes whose rows are needed: the rest of the run in bytes, in descending order, and
    /// the number of the run.
    fn wanted(&self, rate: usize) -> Vec<(u32, u32)> {
        let mut wanted = Vec::new();
        for (run, number) in self.runs.iter().zip(0..) {
            if !run.start.is_multiple_of(rate) {
                wanted.push((run.len() as u32, number));
            }
            let sampled = (run.start.next_multiple_of(rate)..run.end - self.kept).step_by(rate);
            wanted.extend(sampled.map(|pos| ((run.end - pos) as u32, number)));
        }
        wanted.sort_unstable_by_key(|&(left, _)| Reverse(left));
        wanted
    }
}

/// Counts the suffixes by their rest of the run in bytes. Queries come in descending order of that
/// rest.
struct RunLengths<'a> {
    all: &'a RowsInside,
    /// The numbers of the runs, the longest first.
    longest: Vec<usize>,
    /// Number of runs with at least the queried bytes, and the sum of their lengths.
    count: usize,
    sum: usize,
    /// The numbers of these runs.
    numbers: FenwickTree,
    /// Suffixes in the other runs.
    others: usize,
}

impl<'a> RunLengths<'a> {
    fn new(all: &'a RowsInside) -> Self {
        let mut longest: Vec<usize> = (0..all.runs.len()).collect();
        longest.sort_unstable_by_key(|&number| Reverse(all.runs[number].len()));
        let others = all.runs.iter().map(|run| run.len() - all.kept).sum();
        RunLengths {
            all,
            longest,
            count: 0,
            sum: 0,
            numbers: FenwickTree::empty(all.runs.len()),
            others,
        }
    }

    /// Number of suffixes before all suffixes with `left` bytes: those with fewer bytes if runs
    /// fall, those with more bytes if runs rise.
    fn before(&mut self, left: usize) -> usize {
        while let Some(&number) = self.longest.get(self.count)
            && self.all.runs[number].len() >= left
        {
            let len = self.all.runs[number].len();
            self.count += 1;
            self.sum += len;
            self.others -= len - self.all.kept;
            self.numbers.add(number);
        }
        match self.all.rises {
            true => self.sum - self.count * left,
            false => self.others + self.count * (left - 1 - self.all.kept),
        }
    }

    /// Number of runs below `number` with at least the queried bytes.
    fn longest_below(&self, number: usize) -> usize {
        self.numbers.below(number)
    }
}
