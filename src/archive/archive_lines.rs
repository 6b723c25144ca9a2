//! Lines of an archive: by their numbers, and by the keys that sorted lines begin with.
//!
//! The seek table has the number of line feeds in each block, so that a line is found by restoring
//! one block (FORMAT.md chapter 5). A key is found by a binary search over the raw bytes. It
//! restores one block per step until the search is within one block. If a large block has an
//! index, the steps decode a few of its slices instead. Blocks whose line feeds are not in the
//! seek table are all restored first.
//!
//! A line ends with a line feed, and the last line may lack it.

use super::Archive;
use super::archive_file::cost_of;
use crate::base::error::{Error, Flaw, Result};
use crate::engine::raw::Raw;
use crate::search::ReadCost;
use std::io::{Read, Seek, Write};
use std::ops::Range;

/// Minimum and maximum bytes that are read at a time in search of a line feed.
const WINDOW: Range<u64> = 1 << 10..64 << 10;

/// Minimum raw bytes of a block whose index is used. A smaller block is restored.
const LARGE: u64 = 4 << 20;

/// The lines of an archive. The block that was restored last is kept.
///
/// ```
/// use std::io::Cursor;
///
/// let log = "10:00 start\n10:05 work\n  more of it\n10:09 end\n";
/// let mut file = Vec::new();
/// bwz::compress(log.as_bytes(), &mut file, &bwz::Options::new())?;
///
/// let mut archive = bwz::Archive::open(Cursor::new(file), &bwz::Options::new())?;
/// let mut lines = archive.lines()?;
/// assert_eq!(lines.count()?, 4);
/// assert_eq!(lines.range(1..3)?, 12..36);
///
/// let mut found = Vec::new();
/// let range = lines.between(b"10:05", b"10:09")?;
/// lines.write(range, &mut found)?;
/// assert_eq!(found, b"10:05 work\n  more of it\n");
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<'a, R> {
    archive: &'a mut Archive<R>,
    /// Line feeds before each block, and then those of the whole file.
    feeds: Vec<u64>,
    kept: Option<KeptBlock>,
    cost: ReadCost,
}

/// A block that was restored.
struct KeptBlock {
    number: usize,
    raw: Raw,
}

impl std::fmt::Debug for KeptBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptBlock")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// A line that begins like a key.
struct KeyedLine {
    start: u64,
    is_before_key: bool,
}

impl<R: Read + Seek + Send> Archive<R> {
    /// The lines of the file.
    ///
    /// # Errors
    /// None if the seek tables have the numbers of line feeds, as those of all files that bwz
    /// writes have. Otherwise those of [`Archive::read_range`], since all blocks are restored.
    pub fn lines(&mut self) -> Result<Lines<'_, R>> {
        let mut lines = Lines {
            feeds: Vec::with_capacity(self.blocks().len() + 1),
            archive: self,
            kept: None,
            cost: ReadCost::default(),
        };
        let mut feeds = 0_u64;
        lines.feeds.push(feeds);
        for number in 0..lines.archive.blocks().len() {
            let known = lines.archive.blocks()[number].line_feeds;
            let of_block = match known {
                Some(count) => count,
                None => lines.restored(number)?.line_feeds(),
            };
            feeds = feeds
                .checked_add(of_block)
                .ok_or_else(|| Flaw::WRONG_LINE_FEEDS.at(None, lines.archive.coded_size()))?;
            lines.feeds.push(feeds);
        }
        Ok(lines)
    }
}

impl<R: Read + Seek + Send> Lines<'_, R> {
    /// Number of lines.
    ///
    /// # Errors
    /// Those of [`Archive::read_range`].
    pub fn count(&mut self) -> Result<u64> {
        let feeds = self.line_feeds();
        let size = self.archive.raw_size();
        match size.checked_sub(1) {
            None => Ok(0),
            Some(last) => Ok(feeds + u64::from(self.bytes_at(last, 1)? != b"\n")),
        }
    }

    /// The raw bytes of some lines, which are counted from 0. Lines that the file does not have are
    /// left out.
    ///
    /// # Errors
    /// Those of [`Archive::read_range`].
    pub fn range(&mut self, lines: Range<u64>) -> Result<Range<u64>> {
        let start = self.start(lines.start)?;
        let end = self.start(lines.end.max(lines.start))?;
        Ok(start..end)
    }

    /// The raw bytes of the lines that sort between two keys: the lines from the first one that is
    /// not below `from` to the last one that is below `to`. Lines and keys are compared as bytes.
    ///
    /// The lines must be sorted. A line that lacks a digit where the key has one, such as a further
    /// line of a message, belongs to the line before it.
    ///
    /// # Errors
    /// Those of [`Archive::read_range`]. [`Error::Usage`] if `to` sorts before `from`.
    pub fn between(&mut self, from: &[u8], to: &[u8]) -> Result<Range<u64>> {
        if to < from {
            let said = "the second key sorts before the first";
            return Err(Error::Usage(said.into()));
        }
        let start = self.lower_bound(from)?;
        let end = self.lower_bound(to)?;
        Ok(start..end.max(start))
    }

    /// Writes the raw bytes of a range.
    ///
    /// # Errors
    /// Those of [`Archive::read_range`].
    pub fn write<W: Write>(&mut self, range: Range<u64>, mut output: W) -> Result<()> {
        self.archive.contents.check_range(&range)?;
        let mut from = range.start;
        if let Some(kept) = &self.kept {
            let block = self.archive.blocks()[kept.number].raw.clone();
            if block.contains(&from) {
                let end = range.end.min(block.end);
                let part = (from - block.start) as usize..(end - block.start) as usize;
                self.archive
                    .options
                    .check_output(0, range.end - from, || format!("the range {range:?}"))?;
                kept.raw.write(part, &mut output)?;
                from = end;
            }
        }
        if from < range.end {
            self.kept = None;
            self.cost += self
                .archive
                .read_range(from..range.end, &mut output)?;
        }
        Ok(output.flush()?)
    }

    /// The cost of all calls so far, and of all searches of the archive.
    pub fn cost(&self) -> ReadCost {
        let mut cost = self.cost;
        cost += self.archive.search_cost();
        cost
    }

    /// Number of line feeds: that of the lines, or one less.
    pub fn line_feeds(&self) -> u64 {
        *self.feeds.last().expect("one more than blocks")
    }

    /// The raw offset at which a line begins, or the size of the file if it has no such line.
    fn start(&mut self, line: u64) -> Result<u64> {
        if line == 0 {
            return Ok(0);
        }
        if line > self.line_feeds() {
            return Ok(self.archive.raw_size());
        }
        let number = self.feeds.partition_point(|&feeds| feeds < line) - 1;
        let before = self.feeds[number];
        let stated = self.feeds[number + 1] - before;
        let block = self.archive.blocks()[number].clone();
        let raw = self.restored(number)?;
        if raw.line_feeds() != stated {
            return Err(Flaw::WRONG_LINE_FEEDS.at(Some(number as u64), block.coded.start));
        }
        let feed = raw
            .line_feed(line - before - 1)
            .expect("there are as many");
        Ok(block.raw.start + feed as u64 + 1)
    }

    /// A block, restored.
    fn restored(&mut self, number: usize) -> Result<&Raw> {
        let is_kept = |kept: &KeptBlock| kept.number == number;
        if !self.kept.as_ref().is_some_and(is_kept) {
            self.kept = None;
            let block = self.archive.blocks()[number].clone();
            self.archive
                .contents
                .check_supported_in(&block.raw)?;
            let mut restored = None;
            self.archive
                .restore_blocks(&[number as u64], |block, _, _| {
                    restored = Some(block.raw);
                    Ok(())
                })?;
            self.cost += cost_of(&[block]);
            let raw = restored.expect("one block was asked for");
            self.kept = Some(KeptBlock { number, raw });
        }
        Ok(&self.kept.as_ref().expect("just restored").raw)
    }

    /// The bytes from `offset` on, at least one and at most `most`, of one block.
    fn bytes_at(&mut self, offset: u64, most: u64) -> Result<Vec<u8>> {
        let number = self
            .archive
            .blocks_of(&(offset..offset + 1))
            .start;
        let block = &self.archive.blocks()[number];
        let start = block.raw.start;
        let end = block.raw.end.min(offset + most);
        let is_kept = |kept: &KeptBlock| kept.number == number;
        let has_index = block.front_size > 0 && block.raw.end - start >= LARGE;
        if has_index && !self.kept.as_ref().is_some_and(is_kept) {
            return self.archive.extract(offset..end);
        }
        let mut bytes = vec![0; (end - offset) as usize];
        self.restored(number)?
            .read_at((offset - start) as usize, &mut bytes);
        Ok(bytes)
    }

    /// The end of the line that has the byte at `offset`, behind its line feed.
    fn line_end(&mut self, offset: u64) -> Result<u64> {
        let size = self.archive.raw_size();
        let mut from = offset;
        let mut window = WINDOW.start;
        while from < size {
            let bytes = self.bytes_at(from, window)?;
            window = WINDOW.end.min(4 * window);
            match memchr::memchr(b'\n', &bytes) {
                Some(feed) => return Ok(from + feed as u64 + 1),
                None => from += bytes.len() as u64,
            }
        }
        Ok(size)
    }

    /// The first bytes of a line, as many as a key has, without its end.
    fn line_front(&mut self, start: u64, len: usize) -> Result<Vec<u8>> {
        let size = self.archive.raw_size();
        let mut front = Vec::new();
        while front.len() < len && start + (front.len() as u64) < size {
            let from = start + front.len() as u64;
            front.extend(self.bytes_at(from, (len - front.len()) as u64)?);
        }
        let end = front
            .iter()
            .position(|byte| b"\r\n".contains(byte));
        front.truncate(end.unwrap_or(len));
        Ok(front)
    }

    /// The start of the first line that begins like the key and is not below it.
    fn lower_bound(&mut self, key: &[u8]) -> Result<u64> {
        let mut found = self.archive.raw_size();
        // A line begins at `low`.
        let mut low = 0;
        let mut high = found;
        while low < high {
            let middle = low + (high - low) / 2;
            let start = match middle == low {
                true => low,
                false => self.line_end(middle - 1)?,
            };
            match self.keyed_line(start, high, key)? {
                Some(line) if line.is_before_key => low = self.line_end(line.start)?,
                Some(line) => {
                    found = line.start;
                    high = middle;
                }
                None => high = middle,
            }
        }
        Ok(found)
    }

    /// The first line that begins like the key, of those that begin in a range.
    fn keyed_line(&mut self, start: u64, end: u64, key: &[u8]) -> Result<Option<KeyedLine>> {
        let mut start = start;
        while start < end {
            let front = self.line_front(start, key.len())?;
            if begins_like(&front, key) {
                let is_before_key = front[..] < *key;
                return Ok(Some(KeyedLine {
                    start,
                    is_before_key,
                }));
            }
            start = self.line_end(start)?;
        }
        Ok(None)
    }
}

/// True if a line has a digit wherever the key has one.
fn begins_like(line: &[u8], key: &[u8]) -> bool {
    let has_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    let mut digits = key
        .iter()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit());
    digits.all(|(at, _)| has_digit(at))
}

#[cfg(test)]
mod tests;
