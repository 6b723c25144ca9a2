//! The rows of the suffixes that begin inside long runs.

use super::super::fenwick::FenwickTree;
use std::cmp::Reverse;
use std::ops::Range;

/// All long runs of one byte that rise, or all that fall.
pub struct RowsInside {
    /// Their positions in the block, in the order of the suffixes behind them.
    pub runs: Vec<Range<usize>>,
    pub rises: bool,
    /// The first row of all suffixes that begin inside them and have more than `kept` bytes of the
    /// run in front.
    pub first: usize,
    pub kept: usize,
}

impl RowsInside {
    /// Fills in the rows of the suffixes at every `rate`th byte of the block, and gives the start
    /// of each run and its row.
    pub fn rows(&self, rate: usize, samples: &mut [u32]) -> Vec<(usize, usize)> {
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

    /// The rows that are looked for: the bytes of the run that are left, the most first, and the
    /// number of the run.
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

/// The suffixes by how many bytes of the run they have left, for ever fewer.
struct RunLengths<'a> {
    all: &'a RowsInside,
    /// The numbers of the runs, the longest first.
    longest: Vec<usize>,
    /// So many of these have as many bytes as are asked for, and so many bytes in all.
    count: usize,
    sum: usize,
    /// The numbers of these.
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

    /// The suffixes before all with `left` bytes: those with fewer where runs fall, those with more
    /// where they rise.
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

    /// Of the runs below `number`, those that have as many bytes.
    fn longest_below(&self, number: usize) -> usize {
        self.numbers.below(number)
    }
}
