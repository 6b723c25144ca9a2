//! Search in a file: [`Archive::count`], [`Archive::locate`] and [`Archive::extract`].
//!
//! | file | job |
//! |---|---|
//! | [`stream`] | patterns from an iterator, batch after batch: [`Archive::counts`], [`Archive::matches`] |
//! | [`batch`] | a batch of patterns in all blocks |
//! | [`finder`] | the CPU or a GPU to search decoded blocks with |
//! | [`block`] | one block: left in the file, decoded to an FM-index, or plain |
//! | [`cold`], [`tables`] | search in a block that stays in the file, segment by segment |
//! | [`seams`] | matches that cross from one block into the next |
//! | [`source`] | the file, read by position from any thread |
//!
//! Blocks are searched one group after the other, as many side by side as threads and memory allow,
//! each with all patterns. What is found does not depend on either, nor on whether the file has an
//! index.

mod boundary_matches;
mod disk_block;
mod disk_tables;
mod pattern_stream;
mod search_batch;
mod search_device;
mod searched_block;
mod shared_input;

use crate::allocation;
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::threads;
use search_batch::{Batch, Session};
pub(crate) use searched_block::{Block, Origin};
pub(crate) use shared_input::Source;
use std::io::{Read, Seek};
use std::ops::Range;

/// What searches took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchCost {
    /// Bytes read from the file.
    pub coded_bytes: u64,
    /// Segments decoded for single steps.
    pub segments: u64,
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

impl<R: Read + Seek + Send> Archive<R> {
    /// Counts the occurrences of each pattern in the raw stream, overlaps included: `aa` occurs 3
    /// times in `aaaa`.
    ///
    /// The empty pattern occurs at every position and at the end, once more than there are bytes. A
    /// file without an index is searched too: its blocks are decoded, and checked as
    /// [`decompress`](crate::decompress()) checks them. Of an index only that part is checked that
    /// is used, unless [`Options::verify`](crate::Options::verify) asks for all.
    ///
    /// # Errors
    /// As [`decompress`](crate::decompress()).
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// assert_eq!(archive.count(&["sells", "shore"])?, [1000, 0]);
    /// let matches = archive.locate(&["sea"], 3)?;
    /// assert_eq!((matches[0].count, matches[0].positions.len()), (1000, 3));
    /// assert_eq!(archive.extract(10..13)?, b"sea");
    /// # Ok::<(), bwz::Error>(())
    /// ```
    pub fn count<P: AsRef<[u8]> + Sync>(&mut self, patterns: &[P]) -> Result<Vec<u64>> {
        let matches = self.search(patterns, None, &mut Session::new(&self.options, 0))?;
        Ok(matches.into_iter().map(|found| found.count).collect())
    }

    /// Counts like [`Archive::count`], and locates up to `limit` occurrences of each pattern.
    ///
    /// Where there are more, those located are not the first ones, but the same at every call.
    ///
    /// # Errors
    /// As [`Archive::count`].
    pub fn locate<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: usize,
    ) -> Result<Vec<Matches>> {
        self.search(patterns, Some(limit), &mut Session::new(&self.options, 0))
    }

    /// The raw bytes of a range; by the index where there is one and the range is short, else by
    /// decoding the blocks that hold it.
    ///
    /// # Errors
    /// [`Error::Usage`] where the range is not within the raw stream; else as [`Archive::count`].
    pub fn extract(&mut self, range: Range<u64>) -> Result<Vec<u8>> {
        Ok(self.extract_all(std::slice::from_ref(&range))?.concat())
    }

    /// The raw bytes of each range, like [`Archive::extract`]; a block that must be decoded is
    /// decoded once for all of them.
    ///
    /// # Errors
    /// As [`Archive::extract`].
    pub fn extract_all(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let mut size = 0;
        for range in ranges {
            self.check_range(range)?;
            let more = range.end - range.start;
            self.options.check_output(size, more, || format!("the range {range:?}"))?;
            size += more;
        }
        let pool = threads::pool(&self.options)?;
        let source = Source::new(&mut self.input);
        let mut out = vec![Vec::new(); ranges.len()];
        for (info, number) in self.blocks.iter().zip(0..) {
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
            let origin = Origin::new(&source, info, number, &self.options)?;
            let pieces = pool.install(|| origin.extract(&parts))?;
            for ((n, _), piece) in parts.iter().zip(pieces) {
                out[*n].extend_from_slice(&piece);
            }
        }
        self.cost += source.cost();
        Ok(out)
    }

    /// What the searches of this archive took so far.
    pub fn search_cost(&self) -> SearchCost {
        self.cost
    }

    /// Counts, and with a limit locates.
    fn search<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: Option<usize>,
        session: &mut Session,
    ) -> Result<Vec<Matches>> {
        let raw_size = self.raw_size();
        let words: Vec<&[u8]> =
            patterns.iter().map(AsRef::as_ref).filter(|p| !p.is_empty()).collect();
        let mut found = vec![Matches::default(); words.len()].into_iter();
        if !words.is_empty() || self.options.verifies() {
            let pool = threads::pool(&self.options)?;
            let source = Source::new(&mut self.input);
            let batch = Batch { patterns: &words, limit, options: &self.options };
            let searched = (self.frames.as_slice(), self.blocks.as_slice());
            found = pool.install(|| batch.run(&source, searched, session))?.into_iter();
            self.cost += source.cost();
        }
        // A few bytes of a file can claim any size.
        let everywhere = || {
            let most = usize::try_from(raw_size).unwrap_or(usize::MAX).saturating_add(1);
            let most = limit.unwrap_or(0).min(most);
            let mut positions = allocation::with_capacity(most).ok_or_else(no_room)?;
            positions.extend((0..=raw_size).take(most));
            Ok(Matches { count: raw_size + 1, positions })
        };
        let of = |pattern: &P| match pattern.as_ref() {
            [] => everywhere(),
            _ => Ok(found.next().unwrap_or_default()),
        };
        patterns.iter().map(of).collect()
    }
}

fn no_room() -> Error {
    Error::out_of_memory("there is not enough memory for so many positions; ask for fewer of them")
}

impl std::ops::AddAssign for SearchCost {
    fn add_assign(&mut self, more: SearchCost) {
        self.coded_bytes += more.coded_bytes;
        self.segments += more.segments;
        self.blocks += more.blocks;
    }
}
