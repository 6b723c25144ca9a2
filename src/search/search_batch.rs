//! The search for a batch of patterns in all blocks of a section.
//!
//! Blocks are opened in groups of as many as memory allows. After a group has been searched, its
//! indexes and decoded slices go back to the session if there is memory for them.

use super::boundary_matches::{Boundaries, Edges};
use super::disk_batch;
use super::find_in_block::BlockSearch;
use super::letter_classes::BatchLetters;
use super::memory_policy::{self, Task, room_for_slices};
use super::open_block::{BlockJob, OpenBlock, OpenIndex};
use super::search_cost::{self, SearchWork};
use super::search_results::{BatchMatches, WantedPositions};
use super::searched_block::SearchedBlock;
use super::session::Session;
use crate::base::error::Result;
use crate::frame::EDGE;
use crate::options::Options;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// Minimum number of patterns whose lengths one thread adds up.
const PATTERNS: usize = 1 << 13;

/// Patterns that are searched together, none of them empty.
#[derive(Clone, Copy)]
pub(super) struct Batch<'p> {
    pub patterns: &'p [&'p [u8]],
    /// Meaning of the patterns' letters, unless all letters stand for themselves.
    pub letters: Option<&'p BatchLetters>,
    /// The positions of each pattern that are wanted.
    pub wanted: WantedPositions,
    pub options: &'p Options,
}

/// Size of a batch.
#[derive(Clone, Copy)]
struct BatchSize {
    /// Symbols of all patterns.
    symbols: u64,
    /// Length of the longest pattern; 1 if the batch is empty.
    longest: usize,
}

/// A block after its search, with its matches.
type SearchedPair<'a> = (OpenBlock<'a>, BatchMatches);

/// Matches in the blocks of a section so far.
struct SectionResults<'p> {
    found: BatchMatches,
    /// The matches that cross boundaries of blocks.
    boundaries: Boundaries<'p>,
    /// Number of blocks that were searched.
    blocks: usize,
    /// For each pattern the number of the last block in which a match begins and ends. Empty unless
    /// last positions are wanted.
    last_blocks: Vec<Option<usize>>,
}

impl Batch<'_> {
    /// Searches the blocks of a section. Positions are those in the section.
    ///
    /// If last positions are wanted in several blocks, the patterns are only counted in all blocks.
    /// Each of them is then located in the last block that has it.
    pub(super) fn search_blocks(
        &self,
        blocks: &[&dyn SearchedBlock],
        session: &mut Session,
    ) -> Result<BatchMatches> {
        let size = self.size();
        let reach = if blocks.len() > 1 {
            size.longest - 1
        } else {
            0
        };
        let counts_first = self.wanted.last && blocks.len() > 1;
        let mut results = SectionResults {
            found: BatchMatches::none(self.patterns.len(), self.wanted.limit.is_some()),
            boundaries: Boundaries::new(self.patterns, self.letters, self.wanted),
            blocks: 0,
            last_blocks: match counts_first {
                true => vec![None; self.patterns.len()],
                false => Vec::new(),
            },
        };
        for group in blocks.chunks(self.side_by_side(blocks, session)) {
            let opened = self.open(group, size, reach, session)?;
            let in_memory = opened
                .iter()
                .filter(|block| block.has_loaded_index())
                .count() as u64;
            let symbols = in_memory * size.symbols;
            let limits = match counts_first {
                true => None,
                false => self.limits(&results.found.positions),
            };
            let search = BlockSearch {
                patterns: self.patterns,
                letters: self.letters,
                limits: limits.as_deref(),
                last: self.wanted.last,
                held: results.found.held(),
                side_by_side: group.len() as u64,
                listener: &session.listener,
            };
            // On a GPU the blocks are searched in turn, and all threads pack the patterns.
            let mut lease = session.lease(symbols);
            let by_gpu = lease.is_some();
            let from = Instant::now();
            let searched: Vec<SearchedPair> = if by_gpu {
                let blocks = opened.into_iter().zip(group);
                let searched = blocks.map(|(open, block)| open.find(*block, &search, &mut lease));
                searched.collect::<Result<_>>()
            } else {
                let blocks = opened.into_par_iter().zip(group);
                blocks
                    .map(|(open, block)| open.find(*block, &search, &mut None))
                    .collect()
            }?;
            drop(lease);
            if !by_gpu {
                session.done_on_cpu(symbols, from.elapsed());
            }
            self.take(searched, group, reach, by_gpu, &mut results, session)?;
            // A match that crosses into the next block is behind all that are within blocks.
            if self.wanted.are_found(&results.found.positions) {
                break;
            }
        }
        if counts_first {
            self.locate_in_last_blocks(blocks, &mut results, session)?;
        }
        self.with_crossing(results)
    }

    /// Locates each pattern in the last block that has it.
    fn locate_in_last_blocks(
        &self,
        blocks: &[&dyn SearchedBlock],
        results: &mut SectionResults,
        session: &mut Session,
    ) -> Result<()> {
        let mut numbers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (n, block) in results.last_blocks.iter().enumerate() {
            if let Some(block) = block {
                numbers.entry(*block).or_default().push(n);
            }
        }
        for (block, numbers) in numbers {
            let patterns: Vec<&[u8]> = numbers
                .iter()
                .map(|&n| self.patterns[n])
                .collect();
            let some = Batch {
                patterns: &patterns,
                ..*self
            };
            let found = some.search_blocks(&blocks[block..=block], session)?;
            for (n, positions) in numbers.into_iter().zip(found.positions) {
                results.found.positions[n] = positions;
            }
        }
        Ok(())
    }

    /// Symbols of all patterns.
    pub(super) fn symbols(&self) -> u64 {
        self.size().symbols
    }

    fn size(&self) -> BatchSize {
        let none = || BatchSize {
            symbols: 0,
            longest: 1,
        };
        let of = self.patterns.par_iter().with_min_len(PATTERNS);
        let of = of.map(|p| BatchSize {
            symbols: p.len() as u64,
            longest: p.len(),
        });
        of.reduce(none, |a, b| BatchSize {
            symbols: a.symbols + b.symbols,
            longest: a.longest.max(b.longest),
        })
    }

    /// Opens blocks side by side, reusing those that were kept. Matches may reach up to `reach`
    /// bytes beyond a block.
    fn open<'a>(
        &self,
        group: &[&'a dyn SearchedBlock],
        size: BatchSize,
        reach: usize,
        session: &mut Session,
    ) -> Result<Vec<OpenBlock<'a>>> {
        let mut kept = Vec::with_capacity(group.len());
        for block in group {
            let number = block.file().number;
            kept.push((
                session.kept.take_index(number),
                session.kept.take_slices(number),
            ));
        }
        self.leave_room_for(group, session);
        let together = disk_batch::together(self.options.memory_limit());
        let batches = self.patterns.len().div_ceil(together) as u64;
        let room = self
            .room(session)
            .saturating_sub(session.kept.slices_size());
        let room = room / group.len() as u64;
        let queries = 2 * size.symbols;
        let rounds = batches * size.longest as u64;
        let open = |((index, slices), block): ((_, Option<_>), &&'a dyn SearchedBlock)| {
            if let Some(index) = index {
                return Ok(OpenBlock::Indexed(OpenIndex::InMemory(index)));
            }
            let edge = block.size().min(reach);
            // The index stores `EDGE` bytes at each end of a block. Longer edges take two walks.
            let walks = if edge > EDGE { 2 } else { 0 };
            let work = SearchWork {
                queries,
                rounds,
                serial: walks * edge as u64,
                walks,
            };
            let spent = session
                .kept
                .spent(block.file().number, block.size());
            let task = Task::Search { work, spent };
            let listener = Some(&session.listener);
            let opened = OpenBlock::open(
                *block,
                BlockJob {
                    task,
                    room,
                    listener,
                },
            )?;
            Ok(match slices {
                Some(slices) => opened.with_slices(slices),
                None => opened,
            })
        };
        kept.into_par_iter()
            .zip(group)
            .map(open)
            .collect()
    }

    /// Drops all kept slices if some block can be decoded only without them.
    fn leave_room_for(&self, group: &[&dyn SearchedBlock], session: &mut Session) {
        let kept = session.kept.slices_size();
        if group
            .iter()
            .any(|block| memory_policy::wants_room(*block, kept))
        {
            session.kept.drop_slices();
        }
    }

    /// Bytes for the decoded slices of all blocks on disk.
    fn room(&self, session: &Session) -> u64 {
        room_for_slices(self.memory(session))
    }

    /// Takes the results of a group of blocks, and keeps what there is memory for.
    fn take(
        &self,
        searched: Vec<SearchedPair>,
        group: &[&dyn SearchedBlock],
        reach: usize,
        by_gpu: bool,
        results: &mut SectionResults,
        session: &mut Session,
    ) -> Result<()> {
        let edges = |((open, _), block): (&SearchedPair, &&dyn SearchedBlock)| {
            let len = block.size();
            let edge = len.min(reach);
            let head = open.extract(0..edge)?.into_owned();
            let tail = open.extract(len - edge..len)?.into_owned();
            Ok(Edges {
                head,
                tail,
                end: block.section_range().end,
            })
        };
        let edges: Vec<Edges> = searched
            .par_iter()
            .zip(group)
            .map(edges)
            .collect::<Result<_>>()?;
        for (((open, found), block), edges) in searched.into_iter().zip(group).zip(edges) {
            let saved = if by_gpu {
                0
            } else {
                self.saved_by_text(&found.counts)
            };
            for (last, &count) in results.last_blocks.iter_mut().zip(&found.counts) {
                if count > 0 {
                    *last = Some(results.blocks);
                }
            }
            results.blocks += 1;
            self.gather(&mut results.found, found, block.section_range().start);
            results.boundaries.add(edges)?;
            self.keep(open, *block, saved, group.len(), session);
        }
        Ok(())
    }

    /// Keeps the parts of a block for the next batch. In this batch its text would have saved
    /// `saved` steps. `together` blocks are searched at a time.
    fn keep(
        &self,
        open: OpenBlock,
        block: &dyn SearchedBlock,
        saved: u64,
        together: usize,
        session: &mut Session,
    ) {
        let number = block.file().number;
        match open {
            OpenBlock::Indexed(OpenIndex::InMemory(index)) => {
                session.kept.keep_index(number, index, saved);
            }
            OpenBlock::Indexed(OpenIndex::OnDisk(block)) => {
                let room = self.room(session);
                let spent = block.spent;
                session
                    .kept
                    .keep_slices(number, block.into_slices(), spent, together, room);
            }
            OpenBlock::Text(_) => {}
        }
    }

    /// Number of steps that the text of a block would have saved, given the count of each pattern
    /// in it. Patterns that are located save none.
    fn saved_by_text(&self, counts: &[u64]) -> u64 {
        if self.wanted.limit.is_some() {
            return 0;
        }
        let found = self
            .patterns
            .par_iter()
            .zip(counts)
            .with_min_len(PATTERNS);
        found
            .map(|(pattern, &count)| search_cost::saved_by_text(pattern, count))
            .sum()
    }

    /// Memory limit without the budget for kept blocks, in bytes.
    fn memory(&self, session: &Session) -> u64 {
        self.options
            .memory_limit()
            .saturating_sub(session.kept.budget())
    }

    /// Number of blocks that are searched at a time.
    fn side_by_side(&self, blocks: &[&dyn SearchedBlock], session: &Session) -> usize {
        let largest = blocks
            .iter()
            .map(|block| block.file().raw_size())
            .max();
        memory_policy::side_by_side(largest.unwrap_or(0), self.memory(session), self.options)
    }

    /// Number of positions of each pattern that are still to be located.
    fn limits(&self, found: &[Vec<u64>]) -> Option<Vec<usize>> {
        let limit = self.wanted.limit?;
        Some(
            found
                .iter()
                .map(|positions| limit - positions.len())
                .collect(),
        )
    }

    /// Adds the matches of a block that starts at position `start`.
    fn gather(&self, found: &mut BatchMatches, block: BatchMatches, start: u64) {
        let counts = found.counts.par_iter_mut().zip(block.counts);
        counts.for_each(|(count, more)| *count += more);
        for (positions, found) in found.positions.iter_mut().zip(block.positions) {
            let more = self.wanted.limit.unwrap_or(0) - positions.len();
            let mut found = found;
            found.truncate(more);
            found.iter_mut().for_each(|pos| *pos += start);
            if positions.is_empty() {
                *positions = found
            } else {
                positions.append(&mut found)
            }
        }
    }

    /// Adds the matches that cross boundaries of blocks to the others.
    fn with_crossing(&self, results: SectionResults) -> Result<BatchMatches> {
        let SectionResults {
            mut found,
            boundaries,
            ..
        } = results;
        for (n, across) in boundaries.finish()? {
            found.counts[n] += across.count;
            if let Some(positions) = found.positions.get_mut(n) {
                positions.extend(across.positions);
            }
        }
        // Matches across boundaries come between those in blocks.
        found
            .positions
            .par_iter_mut()
            .for_each(|positions| {
                positions.sort_unstable();
                self.wanted.keep(positions);
            });
        Ok(found)
    }
}
