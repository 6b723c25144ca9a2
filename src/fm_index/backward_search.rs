//! Backward search of many patterns at a time.
//!
//! A step of one search waits for two cache lines and knows only then which ones are next. So a
//! thread keeps 32 searches going and moves each by one step in turn: the lines that a search needs
//! next are asked for at the end of its step, and are there when its turn comes again. Patterns are
//! dealt to threads in chunks; results stand in the order of the patterns.

use super::FmIndex;
use super::kmer_table::KmerTable;
use super::layout::with_layout;
use super::rank::Rank;
#[cfg(target_arch = "x86_64")]
use crate::bwt::cache_lines;
use crate::positions::Row;
use rayon::prelude::*;
use std::ops::Range;

/// Searches that a thread keeps going. More do not fit the line-fill buffers of a core, fewer leave
/// some idle.
const AT_A_TIME: usize = 32;

/// Patterns per task.
const CHUNK: usize = 1024;

/// A search under way: the pattern's number, what is left of it, and the interval of what is not.
struct PatternSearch<'p, R> {
    number: usize,
    left: &'p [u8],
    interval: Range<R>,
}

impl<R: Row> FmIndex<R> {
    /// Finds the interval of each pattern, on all threads of the current rayon pool.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub fn search<P: AsRef<[u8]> + Sync>(&self, patterns: &[P], intervals: &mut [Range<R>]) {
        assert_eq!(patterns.len(), intervals.len(), "an interval for each pattern");
        let kmers = self.kmers_for(patterns.len());
        let chunks = patterns.par_chunks(CHUNK).zip(intervals.par_chunks_mut(CHUNK));
        chunks.for_each(|(patterns, intervals)| self.search_chunk(kmers, patterns, intervals));
    }

    /// Searches on this thread, with the instructions that count bits where the machine has them.
    #[allow(unsafe_code)]
    fn search_chunk<P: AsRef<[u8]>>(
        &self,
        kmers: Option<&KmerTable<R>>,
        patterns: &[P],
        intervals: &mut [Range<R>],
    ) {
        #[cfg(target_arch = "x86_64")]
        if cache_lines::has_avx2() {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.search_chunk_v3(kmers, patterns, intervals) };
        }
        with_layout!(&self.layout, rank => self.search_in_turn(rank, kmers, patterns, intervals));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn search_chunk_v3<P: AsRef<[u8]>>(
        &self,
        kmers: Option<&KmerTable<R>>,
        patterns: &[P],
        intervals: &mut [Range<R>],
    ) {
        with_layout!(&self.layout, rank => self.search_in_turn(rank, kmers, patterns, intervals));
    }

    #[inline(always)]
    fn search_in_turn<P: AsRef<[u8]>>(
        &self,
        rank: &impl Rank<R>,
        kmers: Option<&KmerTable<R>>,
        patterns: &[P],
        intervals: &mut [Range<R>],
    ) {
        let mut fresh = patterns.iter().enumerate();
        let mut start = || {
            let (number, pattern) = fresh.next()?;
            let (left, interval) = self.start(kmers, pattern.as_ref());
            Some(PatternSearch { number, left, interval })
        };
        let mut searches: Vec<_> = std::iter::from_fn(&mut start).take(AT_A_TIME).collect();
        while !searches.is_empty() {
            let mut n = 0;
            while n < searches.len() {
                let search = &mut searches[n];
                match search.left.split_last() {
                    Some((&c, left)) if !search.interval.is_empty() => {
                        search.interval = self.step(rank, c, search.interval.clone());
                        search.left = left;
                    }
                    _ => {
                        intervals[search.number] = search.interval.clone();
                        match start() {
                            Some(next) => *search = next,
                            None => drop(searches.swap_remove(n)),
                        }
                        continue;
                    }
                }
                if let Some(&c) = search.left.last() {
                    rank.prefetch(c, self.stored(search.interval.start));
                    rank.prefetch(c, self.stored(search.interval.end));
                }
                n += 1;
            }
        }
    }

    /// Where the search of a pattern starts: before its last symbols if their interval is known.
    #[inline(always)]
    fn start<'p>(&self, kmers: Option<&KmerTable<R>>, pattern: &'p [u8]) -> (&'p [u8], Range<R>) {
        match kmers.and_then(|kmers| kmers.find(pattern)) {
            Some(found) => found,
            None => (pattern, R::default()..R::new(self.len + 1)),
        }
    }
}
