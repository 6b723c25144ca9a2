//! Backward search of many patterns at a time.
//!
//! A step of one search waits for two cache lines and knows only then which ones are next. So a
//! thread keeps 32 searches going and moves each by one step in turn: the lines that a search needs
//! next are asked for at the end of its step, and are there when its turn comes again. Patterns are
//! dealt to threads in chunks; results stand in the order of the patterns.

use super::FmIndex;
use super::kmer_table::Seeds;
use super::layout::{Occ, with_layout};
use rayon::prelude::*;
use std::ops::Range;

/// Searches that a thread keeps going. More do not fit the line-fill buffers of a core, fewer leave
/// some idle.
const LANES: usize = 32;

/// Patterns per task.
const CHUNK: usize = 1024;

/// A search under way: the pattern's number, what is left of it, and the interval of what is not.
struct Lane<'p> {
    number: usize,
    left: &'p [u8],
    interval: Range<u32>,
}

impl FmIndex {
    /// Finds the interval of each pattern, on all threads of the current rayon pool.
    ///
    /// # Panics
    /// If there are not as many intervals as patterns.
    pub fn search<P: AsRef<[u8]> + Sync>(&self, patterns: &[P], intervals: &mut [Range<u32>]) {
        assert_eq!(patterns.len(), intervals.len(), "an interval for each pattern");
        let seeds = self.seeds_for(patterns.len());
        let chunks = patterns.par_chunks(CHUNK).zip(intervals.par_chunks_mut(CHUNK));
        chunks.for_each(|(patterns, intervals)| {
            with_layout!(&self.layout, occ => self.run(occ, seeds, patterns, intervals));
        });
    }

    /// Searches on this thread, with the instructions that count bits where the machine has them.
    #[allow(unsafe_code)]
    fn run<P: AsRef<[u8]>>(
        &self,
        occ: &impl Occ,
        seeds: Option<&Seeds>,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the features that the function is compiled for.
            return unsafe { self.run_v3(occ, seeds, patterns, intervals) };
        }
        self.run_lanes(occ, seeds, patterns, intervals);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,avx2,bmi1,bmi2")]
    fn run_v3<P: AsRef<[u8]>>(
        &self,
        occ: &impl Occ,
        seeds: Option<&Seeds>,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) {
        self.run_lanes(occ, seeds, patterns, intervals);
    }

    #[inline(always)]
    fn run_lanes<P: AsRef<[u8]>>(
        &self,
        occ: &impl Occ,
        seeds: Option<&Seeds>,
        patterns: &[P],
        intervals: &mut [Range<u32>],
    ) {
        let mut fresh = patterns.iter().enumerate();
        let mut start = || {
            let (number, pattern) = fresh.next()?;
            let (left, interval) = self.start(seeds, pattern.as_ref());
            Some(Lane { number, left, interval })
        };
        let mut lanes: Vec<Lane> = std::iter::from_fn(&mut start).take(LANES).collect();
        while !lanes.is_empty() {
            let mut n = 0;
            while n < lanes.len() {
                let lane = &mut lanes[n];
                match lane.left.split_last() {
                    Some((&c, left)) if !lane.interval.is_empty() => {
                        lane.interval = self.step(occ, c, lane.interval.clone());
                        lane.left = left;
                    }
                    _ => {
                        intervals[lane.number] = lane.interval.clone();
                        match start() {
                            Some(next) => *lane = next,
                            None => drop(lanes.swap_remove(n)),
                        }
                        continue;
                    }
                }
                if let Some(&c) = lane.left.last() {
                    occ.prefetch(c, self.stored(lane.interval.start));
                    occ.prefetch(c, self.stored(lane.interval.end));
                }
                n += 1;
            }
        }
    }

    /// Where the search of a pattern starts: behind its last symbols if their interval is known.
    #[inline(always)]
    fn start<'p>(&self, seeds: Option<&Seeds>, pattern: &'p [u8]) -> (&'p [u8], Range<u32>) {
        match seeds.and_then(|seeds| seeds.find(pattern)) {
            Some(found) => found,
            None => (pattern, 0..self.len as u32 + 1),
        }
    }
}
