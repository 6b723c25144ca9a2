//! The searches of one file, block by block, and the extraction of ranges of its bytes.

use super::block_ranges;
use super::file_block::{FileBlock, PER_POSITION};
use super::search_batch::Batch;
use super::search_results::{BatchMatches, ReadCost, WantedPositions};
use super::section_search;
use super::sections::{Layouts, check_streams, sections};
use super::session::Session;
use super::shared_input::SharedInput;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::base::shortage;
use crate::engine::thread_pool;
use crate::frame::ReadSeek;
use crate::frame::contents::Contents;
use crate::options::Options;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A file to search, with its options and caches.
pub(crate) struct FileSearch<'a> {
    pub input: &'a mut (dyn ReadSeek + Send),
    pub contents: &'a Contents,
    pub options: &'a Options,
    /// The cost of each search is added here.
    pub cost: &'a mut ReadCost,
    /// Layouts of blocks of sequences in which something was located.
    pub layouts: &'a mut Layouts,
}

impl FileSearch<'_> {
    /// Counts the patterns, and locates the wanted matches of each.
    pub(crate) fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        wanted: WantedPositions,
        session: &mut Session,
    ) -> Result<BatchMatches> {
        let pool = Arc::clone(&session.threads);
        let words = patterns.par_iter().map(AsRef::as_ref);
        let mut words: Vec<&[u8]> = pool.install(|| words.collect());
        if pool.install(|| words.par_iter().any(|word| word.is_empty())) {
            words.retain(|word| !word.is_empty());
        }
        let mut found = BatchMatches::default();
        self.contents.check_supported()?;
        self.verify_tables()?;
        if !words.is_empty() || self.options.verify {
            found = match self.search_sections(&words, wanted, session) {
                Err(e) if self.restore_tables(&e)? => {
                    self.search_sections(&words, wanted, session)?
                }
                found => found?,
            };
        }
        if words.len() < patterns.len() {
            found = self.with_empty(patterns, wanted, found)?;
        }
        Ok(found)
    }

    /// Searches all sections for patterns, none of them empty.
    fn search_sections(
        &mut self,
        words: &[&[u8]],
        wanted: WantedPositions,
        session: &mut Session,
    ) -> Result<BatchMatches> {
        let pool = Arc::clone(&session.threads);
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let batch = Batch {
            patterns: words,
            letters: None,
            wanted,
            options: self.options,
        };
        let found = pool.install(|| -> Result<BatchMatches> {
            session
                .kept
                .have_come(batch.symbols(), self.contents);
            check_streams(&input, self.contents, self.options)?;
            let mut found = BatchMatches::default();
            for mut section in sections(&input, self.contents, self.options, self.layouts)? {
                section.set_decoders(&session.decoders);
                let more = section_search::search(&batch, &section, session, self.layouts)?;
                found.append(more, wanted);
                if wanted.are_found(&found.positions) {
                    break;
                }
            }
            Ok(found)
        })?;
        *self.cost += input.cost();
        // Without blocks nothing was appended.
        let has_counts = found.counts.len() == words.len();
        Ok(if has_counts {
            found
        } else {
            BatchMatches::none(words.len(), wanted.limit.is_some())
        })
    }

    /// Inserts the matches of empty patterns among those of the others.
    fn with_empty<P: AsRef<[u8]>>(
        &self,
        patterns: &[P],
        wanted: WantedPositions,
        found: BatchMatches,
    ) -> Result<BatchMatches> {
        let mut counts = found.counts.into_iter();
        let mut positions = found.positions.into_iter();
        let mut all = BatchMatches::default();
        for pattern in patterns {
            let is_empty = pattern.as_ref().is_empty();
            let count = if is_empty {
                Some(self.contents.raw_size() + 1)
            } else {
                counts.next()
            };
            all.counts.extend(count);
            if let Some(limit) = wanted.limit {
                all.positions.extend(match is_empty {
                    true if wanted.last => Some(vec![self.contents.raw_size()]),
                    true => Some(self.everywhere(limit)?),
                    false => positions.next(),
                });
            }
        }
        Ok(all)
    }

    /// The raw bytes of each range. A block that must be decoded is decoded once for all of them.
    pub(crate) fn extract(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let mut size = 0;
        for range in ranges {
            self.contents.check_range(range)?;
            self.contents.check_supported_in(range)?;
            let more = range.end - range.start;
            self.options
                .check_output(size, more, || format!("the range {range:?}"))?;
            size += more;
        }
        let pool = thread_pool::pool(self.options)?;
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let mut out = vec![Vec::new(); ranges.len()];
        for (info, number) in self.contents.blocks.iter().zip(0..) {
            let part = |range: &Range<u64>| {
                let Range { start, end } = info.raw;
                let within = |pos: u64| (pos.clamp(start, end) - start) as usize;
                within(range.start)..within(range.end)
            };
            let parts: Vec<(usize, Range<usize>)> = (0..)
                .zip(ranges.iter().map(part))
                .filter(|(_, part)| !part.is_empty())
                .collect();
            if parts.is_empty() {
                continue;
            }
            let block = FileBlock::new(&input, info, number, self.options);
            let ranges: Vec<Range<usize>> = parts
                .iter()
                .map(|(_, part)| part.clone())
                .collect();
            let known = self.layouts.kept(number);
            let pieces = pool.install(|| block_ranges::raw_ranges(block, known, &ranges))?;
            for ((n, _), piece) in parts.iter().zip(pieces) {
                out[*n].extend_from_slice(&piece);
            }
        }
        *self.cost += input.cost();
        Ok(out)
    }

    /// Positions of the empty pattern. Memory is checked, since a file of a few bytes can claim any
    /// size.
    fn everywhere(&self, limit: usize) -> Result<Vec<u64>> {
        let raw_size = self.contents.raw_size();
        let count = (limit as u64).min(raw_size.saturating_add(1));
        let needed = count.saturating_mul(PER_POSITION);
        shortage::check(needed, self.options.memory_limit(), || {
            format!(
                "locating {count} occurrences of the empty pattern (ask for fewer, or allow more)"
            )
        })?;
        let no_room = || Error::out_of_memory("for so many positions; ask for fewer of them");
        let mut positions = allocation::with_capacity(count as usize).ok_or_else(no_room)?;
        positions.extend(0..count);
        Ok(positions)
    }
}
