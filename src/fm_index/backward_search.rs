//! Backward search of many patterns at a time.
//!
//! A step of one search waits for two cache lines, and only then knows the next ones. So a thread
//! keeps 32 searches in flight and moves each by one step in turn: the lines for a search's next
//! step are prefetched at the end of its step, and have arrived when its turn comes again. Patterns
//! are dealt to threads in chunks; results are in the order of the patterns.

use super::FmIndex;
use super::kmer_table::KmerTable;
use super::layout::with_layout;
use super::rank::Rank;
use crate::base::positions::Row;
use rayon::prelude::*;
use std::ops::Range;

/// Number of searches that a thread keeps in flight. More do not fit in the line-fill buffers of a
/// core, fewer leave some idle.
const AT_A_TIME: usize = 32;

/// Patterns per task.
pub(super) const CHUNK: usize = 1024;

/// The condition for comparing the rest of a pattern with the text instead of searching it.
#[derive(Clone, Copy)]
pub(super) struct TextRule {
    /// Minimum number of remaining bytes.
    pub least: usize,
    /// Minimum number of steps for which the interval was one row. Before a search for a pattern
    /// that does not occur fails, its interval is often one row by chance for a step or two.
    pub alone: usize,
}

impl TextRule {
    pub(super) const NEVER: Self = TextRule {
        least: usize::MAX,
        alone: usize::MAX,
    };
}

/// A search in flight: the pattern's number, the remaining part of it, and the interval of the part
/// searched.
pub(super) struct PatternSearch<'p, R> {
    pub number: usize,
    pub left: &'p [u8],
    pub interval: Range<R>,
    /// The entry of the k-mer table that has the interval, if it is not read yet.
    entry: Option<usize>,
    /// Number of steps in which the interval was one row.
    alone: usize,
}

impl<R: Row> PatternSearch<'_, R> {
    /// Returns true if there is no further step.
    #[inline(always)]
    fn is_over(&self, rule: TextRule) -> bool {
        self.left.is_empty()
            || self.interval.is_empty()
            || self.alone >= rule.alone && self.left.len() >= rule.least
    }
}

impl<R: Row> FmIndex<R> {
    /// Finds the interval of each pattern, on all threads of the current rayon pool.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub fn search<P: AsRef<[u8]> + Sync>(&self, patterns: &[P], intervals: &mut [Range<R>]) {
        assert_eq!(
            patterns.len(),
            intervals.len(),
            "an interval for each pattern"
        );
        let kmers = self.kmers_for(patterns.len());
        let chunks = patterns
            .par_chunks(CHUNK)
            .zip(intervals.par_chunks_mut(CHUNK));
        chunks.for_each(|(patterns, intervals)| {
            self.search_chunk(kmers, TextRule::NEVER, patterns, |over| {
                intervals[over.number] = over.interval.clone();
            });
        });
    }

    /// Searches on this thread, with bit-counting instructions if the machine has them. The rest of
    /// a pattern to which `rule` applies is not searched. Calls `over` with each finished search.
    #[allow(unsafe_code)]
    pub(super) fn search_chunk<'p, P: AsRef<[u8]>>(
        &self,
        kmers: Option<&KmerTable<R>>,
        rule: TextRule,
        patterns: &'p [P],
        over: impl FnMut(&PatternSearch<'p, R>),
    ) {
        #[cfg(target_arch = "x86_64")]
        if crate::base::simd_dispatch::has_avx2() {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.search_chunk_v3(kmers, rule, patterns, over) };
        }
        with_layout!(&self.layout, rank => {
            self.search_in_turn(rank, kmers, rule, patterns, over)
        });
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn search_chunk_v3<'p, P: AsRef<[u8]>>(
        &self,
        kmers: Option<&KmerTable<R>>,
        rule: TextRule,
        patterns: &'p [P],
        over: impl FnMut(&PatternSearch<'p, R>),
    ) {
        with_layout!(&self.layout, rank => {
            self.search_in_turn(rank, kmers, rule, patterns, over)
        });
    }

    #[inline(always)]
    fn search_in_turn<'p, P: AsRef<[u8]>>(
        &self,
        rank: &impl Rank<R>,
        kmers: Option<&KmerTable<R>>,
        rule: TextRule,
        patterns: &'p [P],
        mut over: impl FnMut(&PatternSearch<'p, R>),
    ) {
        let mut fresh = patterns.iter().enumerate();
        let mut start = || {
            let (number, pattern) = fresh.next()?;
            let pattern = pattern.as_ref();
            let all = R::default()..R::new(self.len + 1);
            let found = kmers.and_then(|kmers| kmers.find(pattern));
            let (left, entry) = found.map_or((pattern, None), |(left, entry)| (left, Some(entry)));
            Some(PatternSearch {
                number,
                left,
                interval: all,
                entry,
                alone: 0,
            })
        };
        let mut searches: Vec<_> = std::iter::from_fn(&mut start)
            .take(AT_A_TIME)
            .collect();
        while !searches.is_empty() {
            let mut n = 0;
            while n < searches.len() {
                let search = &mut searches[n];
                if let (Some(entry), Some(kmers)) = (search.entry.take(), kmers) {
                    search.interval = kmers.interval(entry);
                } else if search.is_over(rule) {
                    over(search);
                    match start() {
                        Some(next) => *search = next,
                        None => {
                            searches.swap_remove(n);
                            continue;
                        }
                    }
                } else if let Some((&c, left)) = search.left.split_last() {
                    search.interval = self.step(rank, c, search.interval.clone());
                    search.left = left;
                    let Range { start, end } = search.interval;
                    search.alone += usize::from(end.get().wrapping_sub(start.get()) == 1);
                }
                if search.entry.is_none()
                    && let Some(&c) = search.left.last()
                {
                    rank.prefetch(c, self.stored(search.interval.start));
                    rank.prefetch(c, self.stored(search.interval.end));
                }
                n += 1;
            }
        }
    }
}
