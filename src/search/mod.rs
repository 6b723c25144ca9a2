//! Search in a file: what [`Archive`](crate::Archive) counts, locates and extracts.
//!
//! | file | job |
//! |---|---|
//! | `pattern_stream` | patterns from an iterator, batch after batch |
//! | `search_batch` | a batch of patterns in all blocks |
//! | `search_device` | the CPU or a GPU to search decoded blocks with |
//! | `searched_block` | one block: on disk, in memory as an FM-index, or plain |
//! | `disk_block`, `disk_tables` | search in a block that stays on disk, slice by slice |
//! | `boundary_matches` | matches that cross the boundary of two blocks |
//! | `file_block` | a block of the file: its header, and decoding it |
//! | `shared_input` | the file, read by position from any thread |
//!
//! Blocks are searched one group after the other, as many side by side as threads and memory allow,
//! each with all patterns. What is found does not depend on either, nor on whether the file has an
//! index.

mod boundary_matches;
mod disk_block;
mod disk_tables;
mod file_block;
mod pattern_stream;
mod search_batch;
mod search_device;
mod searched_block;
mod shared_input;

use crate::allocation;
use crate::contents::Contents;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::threads;
pub(crate) use file_block::FileBlock;
pub(crate) use pattern_stream::PatternStream;
use search_batch::{Batch, Session};
pub(crate) use searched_block::SearchedBlock;
pub(crate) use shared_input::SharedInput;
use std::io::{Read, Seek};
use std::ops::Range;

/// What searches took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchCost {
    /// Bytes read from the file.
    pub coded_bytes: u64,
    /// Slices decoded for single steps.
    pub slices: u64,
    /// Blocks decoded as a whole.
    pub blocks: u64,
}

/// Where a pattern occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// How often, overlaps included.
    pub count: u64,
    /// Positions in the raw stream, ascending; all, or as many as were asked for.
    pub positions: Vec<u64>,
}

/// A file that is searched.
pub(crate) struct FileSearch<'a, R> {
    pub input: &'a mut R,
    pub contents: &'a Contents,
    pub options: &'a Options,
    /// What this search takes is added to it.
    pub cost: &'a mut SearchCost,
}

impl<R: Read + Seek + Send> FileSearch<'_, R> {
    /// Counts, and with a limit locates.
    pub fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: Option<usize>,
    ) -> Result<Vec<Matches>> {
        self.search_batch(patterns, limit, &mut Session::new(self.options, 0))
    }

    /// The same for one batch of many.
    fn search_batch<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: Option<usize>,
        session: &mut Session,
    ) -> Result<Vec<Matches>> {
        let words: Vec<&[u8]> =
            patterns.iter().map(AsRef::as_ref).filter(|p| !p.is_empty()).collect();
        let mut found = vec![Matches::default(); words.len()].into_iter();
        if !words.is_empty() || self.options.verifies() {
            let pool = threads::pool(self.options)?;
            let input = SharedInput::new(&mut *self.input);
            let batch = Batch { patterns: &words, limit, options: self.options };
            found = pool.install(|| batch.run(&input, self.contents, session))?.into_iter();
            *self.cost += input.cost();
        }
        let of = |pattern: &P| match pattern.as_ref() {
            [] => everywhere(self.contents.raw_size(), limit.unwrap_or(0)),
            _ => Ok(found.next().unwrap_or_default()),
        };
        patterns.iter().map(of).collect()
    }

    /// The raw bytes of each range. A block that must be decoded is decoded once for all of them.
    pub fn extract(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let mut size = 0;
        for range in ranges {
            self.contents.check_range(range)?;
            let more = range.end - range.start;
            self.options.check_output(size, more, || format!("the range {range:?}"))?;
            size += more;
        }
        let pool = threads::pool(self.options)?;
        let input = SharedInput::new(&mut *self.input);
        let mut out = vec![Vec::new(); ranges.len()];
        for (info, number) in self.contents.blocks.iter().zip(0..) {
            let part = |range: &Range<u64>| {
                let Range { start, end } = info.raw;
                let within = |pos: u64| (pos.clamp(start, end) - start) as usize;
                within(range.start)..within(range.end)
            };
            let parts: Vec<(usize, Range<usize>)> =
                (0..).zip(ranges.iter().map(part)).filter(|(_, part)| !part.is_empty()).collect();
            if parts.is_empty() {
                continue;
            }
            let file_block = FileBlock::new(&input, info, number, self.options)?;
            let pieces = pool.install(|| searched_block::extract(&file_block, &parts))?;
            for ((n, _), piece) in parts.iter().zip(pieces) {
                out[*n].extend_from_slice(&piece);
            }
        }
        *self.cost += input.cost();
        Ok(out)
    }
}

/// The matches of the empty pattern. A few bytes of a file can claim any size.
fn everywhere(raw_size: u64, limit: usize) -> Result<Matches> {
    let most = limit.min(usize::try_from(raw_size).unwrap_or(usize::MAX).saturating_add(1));
    let mut positions = allocation::with_capacity(most).ok_or_else(no_room)?;
    positions.extend((0..=raw_size).take(most));
    Ok(Matches { count: raw_size + 1, positions })
}

fn no_room() -> Error {
    Error::out_of_memory("there is not enough memory for so many positions; ask for fewer of them")
}

impl std::ops::AddAssign for SearchCost {
    fn add_assign(&mut self, more: SearchCost) {
        self.coded_bytes += more.coded_bytes;
        self.slices += more.slices;
        self.blocks += more.blocks;
    }
}
