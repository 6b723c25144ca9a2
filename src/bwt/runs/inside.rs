//! The rows of the suffixes that begin inside long runs.

use super::shorten::Run;
use std::cmp::Reverse;

/// All long runs of one byte that rise, or all that fall.
pub struct Inside {
    /// In the order of what follows them.
    pub runs: Vec<Run>,
    pub rises: bool,
    /// The first row of all suffixes that begin inside them and have more than `kept` bytes of the run in front.
    pub first: usize,
    pub kept: usize,
}

impl Inside {
    /// Fills in the rows of the suffixes at every `rate`th byte of the block, and appends the start and its row for each run.
    pub fn rows(&self, rate: usize, samples: &mut [u32], starts: &mut Vec<(usize, usize)>) {
        let mut lengths = Lengths::new(self);
        for (left, number) in self.wanted(rate) {
            let run = &self.runs[number];
            let row = self.first + lengths.shorter_or_longer(left) + lengths.equal(number);
            let pos = run.end - left;
            if pos == run.start {
                starts.push((pos, row));
            }
            if pos.is_multiple_of(rate) {
                samples[pos / rate] = row as u32;
            }
        }
    }

    /// Which rows are looked for: how many bytes of the run are left, the most first, and the number of the run.
    fn wanted(&self, rate: usize) -> Vec<(usize, usize)> {
        let mut wanted = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            if !run.start.is_multiple_of(rate) {
                wanted.push((run.len(), number));
            }
            let sampled = (run.start.next_multiple_of(rate)..run.end - self.kept).step_by(rate);
            wanted.extend(sampled.map(|pos| (run.end - pos, number)));
        }
        wanted.sort_unstable_by_key(|&(left, _)| Reverse(left));
        wanted
    }
}

/// How many suffixes begin where so many bytes of the run are left, for ever fewer.
struct Lengths<'a> {
    all: &'a Inside,
    /// The numbers of the runs, the longest first.
    longest: Vec<usize>,
    /// Of these, so many have as many bytes as are asked for, and so many bytes in all.
    count: usize,
    sum: usize,
    /// Suffixes in the other runs.
    others: usize,
    /// The number of the former below a number, as a Fenwick tree.
    tree: Vec<u32>,
}

impl<'a> Lengths<'a> {
    fn new(all: &'a Inside) -> Self {
        let mut longest: Vec<usize> = (0..all.runs.len()).collect();
        longest.sort_unstable_by_key(|&number| Reverse(all.runs[number].len()));
        let others = all.runs.iter().map(|run| run.len() - all.kept).sum();
        Lengths { all, longest, count: 0, sum: 0, others, tree: vec![0; all.runs.len() + 1] }
    }

    /// The suffixes before all that have `left` bytes left: those with fewer where runs fall, those with more where they rise.
    fn shorter_or_longer(&mut self, left: usize) -> usize {
        while let Some(&number) = self.longest.get(self.count)
            && self.all.runs[number].len() >= left
        {
            let len = self.all.runs[number].len();
            self.count += 1;
            self.sum += len;
            self.others -= len - self.all.kept;
            let mut node = number + 1;
            while node < self.tree.len() {
                self.tree[node] += 1;
                node += node & node.wrapping_neg();
            }
        }
        match self.all.rises {
            true => self.sum - self.count * left,
            false => self.others + self.count * (left - 1 - self.all.kept),
        }
    }

    /// Those of runs below `number` that have as many left.
    fn equal(&self, number: usize) -> usize {
        let (mut node, mut count) = (number, 0);
        while node > 0 {
            count += self.tree[node] as usize;
            node &= node - 1;
        }
        count
    }
}
