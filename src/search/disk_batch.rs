//! Many searches and walks in a block on disk, advanced together.
//!
//! Each step of a search needs ranks in two slices, and these can be anywhere in the block. So all
//! searches of a batch take their next step together. Their queries are sorted by slice. Each slice
//! that is needed is decoded once, or taken from the cache, and answers all its queries. Threads
//! work on different slices. Walks along the LF mapping to a sampled row are advanced in the same
//! way.
//!
//! Memory: about 100 bytes per search, bounded by a share of the memory limit.

use super::class_search::BackwardSteps;
use super::disk_block::DiskBlock;
use super::disk_samples::DiskSamples;
use crate::base::allocation;
use crate::base::error::{Flaw, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Range of the number of searches or walks that advance together.
pub(super) const TOGETHER: Range<u64> = 1 << 14..1 << 18;
/// Searches or walks that advance together may use 1/8 of the memory limit.
const TOGETHER_SHARE: u64 = 8;
/// Bytes of memory per search or walk.
const OF_ONE: u64 = 100;

/// Number of searches or walks that advance together under a memory limit of `memory` bytes.
pub(super) fn together(memory: u64) -> usize {
    (memory / TOGETHER_SHARE / OF_ONE).clamp(TOGETHER.start, TOGETHER.end) as usize
}

/// A query for the rank of a symbol at an offset in a slice. Without a symbol, it asks for the byte
/// at the offset and for its rank.
#[derive(Debug)]
pub(crate) struct RankQuery {
    slice: u32,
    offset: u32,
    pub symbol: Option<u8>,
    /// Number of the search or walk that asks.
    pub number: u32,
    /// The answer: occurrences of the symbol in the block before the offset.
    pub rank: u64,
}

impl BackwardSteps for DiskBlock<'_> {
    fn rows(&self) -> Range<u64> {
        0..self.text_size() as u64 + 1
    }

    fn has(&self, symbol: u8) -> bool {
        !self.rows_of(symbol).is_empty()
    }

    fn steps(&self, asked: &[(u8, Range<u64>)]) -> Result<Vec<Range<u64>>> {
        let start = |c: u8| self.rows_of(c).start;
        let mut intervals: Vec<_> = asked
            .iter()
            .map(|(c, _)| start(*c)..start(*c))
            .collect();
        let mut queries = Vec::new();
        for (n, (c, interval)) in asked.iter().enumerate() {
            queries.push(self.query(self.stored(interval.start), Some(*c), 2 * n));
            queries.push(self.query(self.stored(interval.end), Some(*c), 2 * n + 1));
        }
        self.answer(&mut queries)?;
        for RankQuery { number, rank, .. } in queries {
            let interval = &mut intervals[number as usize / 2];
            match number % 2 {
                0 => interval.start += rank,
                _ => interval.end += rank,
            }
        }
        Ok(intervals)
    }
}

/// A walk to the start of a part of a wanted range.
struct TextWalk {
    /// Number of the range.
    number: usize,
    row: u64,
    pos: usize,
    wanted: Range<usize>,
}

/// A search in progress.
struct DiskSearch<'p> {
    number: usize,
    left: &'p [u8],
    interval: Range<u64>,
}

/// A walk from a row to a sampled row, in progress.
struct Walk {
    number: usize,
    row: u64,
    steps: u32,
}

impl DiskBlock<'_> {
    /// Number of searches or walks that advance together.
    pub(crate) fn together(&self) -> usize {
        together(self.memory_limit())
    }

    /// The rows of the suffixes that start with each pattern.
    pub(crate) fn intervals<P: AsRef<[u8]>>(&self, patterns: &[P]) -> Result<Vec<Range<u64>>> {
        let mut intervals = vec![0..0; patterns.len()];
        let most = self.together();
        let mut some = patterns
            .chunks(most)
            .zip(intervals.chunks_mut(most));
        some.try_for_each(|(patterns, intervals)| self.search(patterns, intervals))?;
        Ok(intervals)
    }

    fn search<P: AsRef<[u8]>>(&self, patterns: &[P], intervals: &mut [Range<u64>]) -> Result<()> {
        let mut searches = Vec::with_capacity(patterns.len());
        for (number, pattern) in patterns.iter().enumerate() {
            let Some((&c, left)) = pattern.as_ref().split_last() else {
                intervals[number] = 0..self.text_size() as u64 + 1;
                continue;
            };
            searches.push(DiskSearch {
                number,
                left,
                interval: self.rows_of(c),
            });
        }
        let mut queries = Vec::new();
        loop {
            searches.retain(
                |DiskSearch {
                     number,
                     left,
                     interval,
                 }| {
                    intervals[*number] = interval.clone();
                    !left.is_empty() && !interval.is_empty()
                },
            );
            if searches.is_empty() {
                return Ok(());
            }
            for (n, search) in searches.iter_mut().enumerate() {
                let (&c, left) = search.left.split_last().expect("some is left");
                let rows = self.rows_of(c);
                if !rows.is_empty() {
                    let Range { start, end } = search.interval;
                    queries.push(self.query(self.stored(start), Some(c), 2 * n));
                    queries.push(self.query(self.stored(end), Some(c), 2 * n + 1));
                }
                (search.left, search.interval) = (left, rows.start..rows.start);
            }
            self.answer(&mut queries)?;
            for RankQuery { number, rank, .. } in queries.drain(..) {
                let interval = &mut searches[number as usize / 2].interval;
                match number % 2 {
                    0 => interval.start += rank,
                    _ => interval.end += rank,
                }
            }
        }
    }

    /// The position of each row, in the same order.
    pub(crate) fn positions(&self, rows: &[u64]) -> Result<Vec<u64>> {
        let samples = self.samples()?;
        let mut positions = vec![0; rows.len()];
        let most = self.together();
        let mut some = rows.chunks(most).zip(positions.chunks_mut(most));
        some.try_for_each(|(rows, positions)| self.walk(samples, rows, positions))?;
        Ok(positions)
    }

    fn walk(&self, samples: &DiskSamples, rows: &[u64], positions: &mut [u64]) -> Result<()> {
        let walk = |(number, &row)| Walk {
            number,
            row,
            steps: 0,
        };
        let mut walks: Vec<Walk> = rows.iter().enumerate().map(walk).collect();
        let mut queries = Vec::new();
        for _ in 0..=samples.rate() {
            let mut left = Vec::with_capacity(walks.len());
            for walk in walks {
                let pos = samples
                    .pos(walk.row)
                    .map_err(|flaw| self.flaw(flaw))?;
                match pos {
                    Some(pos) => positions[walk.number] = pos + u64::from(walk.steps),
                    None => left.push(walk),
                }
            }
            walks = left;
            if walks.is_empty() {
                let sound = positions
                    .iter()
                    .all(|&pos| pos <= self.text_size() as u64);
                return if sound {
                    Ok(())
                } else {
                    Err(self.flaw(Flaw::WRONG_SAMPLES))
                };
            }
            for (number, walk) in walks.iter().enumerate() {
                queries.push(self.query(self.with_byte(walk.row), None, number));
            }
            self.answer(&mut queries)?;
            for RankQuery {
                number,
                symbol,
                rank,
                ..
            } in queries.drain(..)
            {
                let walk = &mut walks[number as usize];
                walk.row = self
                    .rows_of(symbol.expect("it was asked for"))
                    .start
                    + rank;
                walk.steps += 1;
            }
        }
        Err(self.flaw(Flaw::WRONG_SAMPLES))
    }

    /// Returns some ranges of the text, each within it.
    pub(crate) fn extract_all(&self, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
        let mut texts = Vec::with_capacity(ranges.len());
        let mut walks = Vec::new();
        for (number, range) in ranges.iter().enumerate() {
            if let Some(edge) = self.edge(range) {
                texts.push(edge.to_vec());
                continue;
            }
            let text = allocation::filled(0, range.len());
            texts.push(text.ok_or_else(|| self.flaw(Flaw::NO_MEMORY))?);
            let samples = self.samples()?;
            // A range is cut at the samples, and each part has its own walk.
            let mut end = range.end;
            while end > range.start {
                let before = (end - 1) / samples.rate() as usize * samples.rate() as usize;
                let start = before.max(range.start);
                let (row, pos) = samples.behind(end);
                walks.push(TextWalk {
                    number,
                    row,
                    pos,
                    wanted: start..end,
                });
                end = start;
            }
        }
        for some in walks.chunks_mut(self.together()) {
            self.walk_text(some.iter_mut().collect(), ranges, &mut texts)?;
        }
        Ok(texts)
    }

    /// Walks to the starts of ranges, and writes the bytes passed into `texts`.
    fn walk_text(
        &self,
        mut walks: Vec<&mut TextWalk>,
        ranges: &[Range<usize>],
        texts: &mut [Vec<u8>],
    ) -> Result<()> {
        let mut queries = Vec::new();
        loop {
            walks.retain(|walk| walk.pos > walk.wanted.start);
            if walks.is_empty() {
                return Ok(());
            }
            for (number, walk) in walks.iter().enumerate() {
                queries.push(self.query(self.with_byte(walk.row), None, number));
            }
            self.answer(&mut queries)?;
            for RankQuery {
                number,
                symbol,
                rank,
                ..
            } in queries.drain(..)
            {
                let walk = &mut walks[number as usize];
                let symbol = symbol.expect("it was asked for");
                walk.row = self.rows_of(symbol).start + rank;
                walk.pos -= 1;
                if walk.pos < walk.wanted.end {
                    texts[walk.number][walk.pos - ranges[walk.number].start] = symbol;
                }
            }
        }
    }

    /// Creates a query for the rank of `symbol` before offset `at` of the BWT; if it is `None`, for
    /// the rank of the byte at `at`.
    pub(crate) fn query(&self, at: usize, symbol: Option<u8>, number: usize) -> RankQuery {
        let (slice, offset) = self.split(at);
        let slice = slice as u32;
        let offset = offset as u32;
        let number = number as u32;
        RankQuery {
            slice,
            offset,
            symbol,
            number,
            rank: 0,
        }
    }

    /// Answers the queries, and reorders them.
    pub(crate) fn answer(&self, queries: &mut [RankQuery]) -> Result<()> {
        queries.par_sort_unstable_by_key(|query| query.slice);
        let groups = queries.chunk_by_mut(|one, other| one.slice == other.slice);
        let mut groups: Vec<&mut [RankQuery]> = groups.collect();
        // Decoding two slices together on one thread takes less time than one after the other, but
        // more than on two threads.
        let pairs = groups.len() > rayon::current_num_threads();
        let tasks = groups.par_chunks_mut(if pairs { 2 } else { 1 });
        tasks.try_for_each(|groups| self.answer_groups(groups))
    }

    /// Answers the queries of one slice or of two.
    fn answer_groups(&self, groups: &mut [&mut [RankQuery]]) -> Result<()> {
        let number = |group: &[RankQuery]| group[0].slice as usize;
        // A query at offset 0 needs only the counts above its slice. At the end of the block there
        // is no slice.
        let reads = |q: &RankQuery| q.offset > 0 || q.symbol.is_none();
        let read = groups
            .iter()
            .filter(|group| group.iter().any(reads));
        let read: Vec<usize> = read.map(|group| number(group)).collect();
        let mut slices = read
            .iter()
            .copied()
            .zip(self.slices(&read)?)
            .peekable();
        for group in groups {
            let k = number(group);
            let slice = slices
                .next_if(|(of, _)| *of == k)
                .map(|(_, slice)| slice);
            let slice = slice.as_deref();
            for query in group.iter_mut() {
                let offset = query.offset as usize;
                let byte = || slice.map_or(0, |slice| slice.byte(offset));
                let symbol = *query.symbol.get_or_insert_with(byte);
                query.rank = self.rank_in(k, slice, symbol, offset);
            }
        }
        Ok(())
    }
}
