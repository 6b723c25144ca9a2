//! A compressed file that is open for reading by position: its tables, ranges of its raw bytes, and
//! searches. Reading a range decodes the blocks that hold it.

use crate::base::error::Result;
use crate::engine::decode;
use crate::engine::raw::{RestoredBlock, Spare};
use crate::engine::thread_pool;
use crate::frame::IndexedBlocks;
use crate::frame::contents::{self, Contents};
use crate::frame::{BlockInfo, FrameInfo};
use crate::options::Options;
use crate::options::events::{Listener, Step};
use crate::search::{
    FileSearch, Layouts, Matches, PatternStream, ReadCost, RecordInfo, Searcher, Session,
    WantedPositions,
};
use std::collections::HashMap;
use std::fmt;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::sync::Arc;

/// A compressed file, open for reading by position.
///
/// ```
/// use std::io::Cursor;
///
/// let options = bwz::Options::new().with_block_size(1000)?;
/// let mut file = Vec::new();
/// bwz::compress(&b"0123456789".repeat(1000)[..], &mut file, &options)?;
///
/// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
/// assert_eq!(archive.raw_size(), 10_000);
/// let mut out = Vec::new();
/// let cost = archive.read_range(2998..3003, &mut out)?;
/// assert_eq!(out, b"89012");
/// assert_eq!(cost.blocks, 2);
/// # Ok::<(), bwz::Error>(())
/// ```
pub struct Archive<R> {
    pub(crate) input: R,
    pub(crate) options: Options,
    pub(crate) contents: Contents,
    pub(super) cost: ReadCost,
    pub(crate) layouts: Layouts,
    /// The records, and the number of the first record of each name. `None` until they are read.
    pub(super) records: Option<RecordTable>,
    /// Where the tar archive breaks off, if that is known.
    pub(super) tar_end: Option<u64>,
}

/// Records, and the number of the first record of each name.
pub(super) type RecordTable = (Vec<RecordInfo>, HashMap<Vec<u8>, usize>);

impl<R> fmt::Debug for Archive<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive")
            .field("frames", &self.frames())
            .finish_non_exhaustive()
    }
}

impl<R> Archive<R> {
    /// The frames, in order.
    pub fn frames(&self) -> &[FrameInfo] {
        &self.contents.frames
    }

    /// The blocks of all frames, in order.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.contents.blocks
    }

    /// Number of raw bytes in the whole file.
    pub fn raw_size(&self) -> u64 {
        self.contents.raw_size()
    }

    /// Number of bytes in the file, without any padding behind its last frame.
    pub fn coded_size(&self) -> u64 {
        self.frames()
            .last()
            .map_or(0, |frame| frame.coded.end)
    }

    /// The numbers of the blocks that hold a range of the raw stream.
    pub(super) fn blocks_of(&self, range: &Range<u64>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        let blocks = self.blocks();
        let first = blocks.partition_point(|block| block.raw.end <= range.start);
        let count = blocks[first..].partition_point(|block| block.raw.start < range.end);
        first..first + count
    }

    /// Total cost of all searches of this archive so far.
    pub fn search_cost(&self) -> ReadCost {
        self.cost
    }
}

impl<R: Read + Seek + Send> Archive<R> {
    /// Reads the tables of all frames of `input`.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if it is not a bwz file, is cut off or has a damaged
    /// end. [`Error::Limit`](crate::Error::Limit) if its tables need more memory than the options
    /// allow.
    pub fn open(mut input: R, options: &Options) -> Result<Self> {
        let contents = Contents::read(&mut input, options.memory_limit())?;
        Ok(Archive {
            input,
            options: options.clone(),
            contents,
            cost: ReadCost::default(),
            layouts: Layouts::default(),
            records: None,
            tar_end: None,
        })
    }

    /// Counts the blocks that are indexed by sequence, indexed by bytes, or not indexed.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let indexed = bwz::Archive::open(Cursor::new(file), &options)?.info();
    /// assert_eq!((indexed.bytes, indexed.sequences, indexed.all()), (1, 0, 1));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    pub fn info(&self) -> IndexedBlocks {
        contents::indexed_blocks(&self.contents.blocks)
    }

    /// Writes the raw bytes of `range` to `output`. Decodes only the blocks that hold them.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) if the range is not within the raw stream; otherwise
    /// as [`decompress`](crate::decompress()).
    pub fn read_range<W: Write>(&mut self, range: Range<u64>, mut output: W) -> Result<ReadCost> {
        self.contents.check_range(&range)?;
        self.contents.check_supported_in(&range)?;
        let size = range.end - range.start;
        self.options
            .check_output(0, size, || format!("the range {range:?}"))?;
        let Range { start: first, end } = self.blocks_of(&range);
        let wanted = &self.contents.blocks[first..end];
        if wanted.is_empty() {
            return Ok(ReadCost::default());
        }
        let mut pos = wanted[0].raw.start;
        let cost = cost_of(wanted);
        let numbers: Vec<u64> = (first as u64..end as u64).collect();
        self.restore_blocks(&numbers, |block, listener, number| {
            let end = pos + block.raw.len() as u64;
            let part = range.start.max(pos) - pos..range.end.min(end) - pos;
            pos = end;
            let part = part.start as usize..part.end as usize;
            let size = part.len() as u64;
            listener.time(number, size, Step::Write, || {
                block.raw.write(part, &mut output)
            })?;
            Ok(())
        })?;
        output.flush()?;
        Ok(cost)
    }

    /// Restores blocks and gives each to `take` in order, with its number. The numbers ascend.
    pub(super) fn restore_blocks(
        &mut self,
        numbers: &[u64],
        mut take: impl FnMut(RestoredBlock, &Listener, u64) -> Result<()>,
    ) -> Result<()> {
        let blocks = &self.contents.blocks;
        let raw_size = |number: u64| {
            let raw = &blocks[number as usize].raw;
            raw.end - raw.start
        };
        let Some(&largest) = numbers
            .iter()
            .max_by_key(|&&number| raw_size(number))
        else {
            return Ok(());
        };
        let input = &mut self.input;
        let listener = &self.options.run.listener;
        let coded = numbers.iter().map(|&number| {
            let info = &blocks[number as usize];
            listener.time(number, raw_size(number), Step::Read, || {
                contents::read_block(input, info, number)
            })
        });
        let all = numbers.iter().map(|&number| raw_size(number));
        let options = self.options.for_work(all.sum());
        let pool = Arc::new(thread_pool::pool(&options)?);
        let started = decode::start(raw_size(largest), &pool, &Spare::default(), &options);
        let start = blocks[largest as usize].coded.start;
        let pipeline = started.map_err(|e| e.at(largest, start))?;
        let mut next = numbers.iter();
        let write = |block| {
            let number = next.next().expect("as many come as went");
            take(block, listener, *number)
        };
        pipeline.run(coded, write, || listener.failed())
    }

    /// Counts the occurrences of each pattern in the raw stream, overlaps included: `aa` occurs 3
    /// times in `aaaa`.
    ///
    /// The empty pattern occurs at every position and at the end, once more than there are bytes. A
    /// file without an index is searched too: its blocks are decoded, and checked as
    /// [`decompress`](crate::decompress()) checks them. If there is an index, only the parts that
    /// the search uses are checked, unless [`Options::verify`](crate::Options::verify) asks for
    /// all.
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
        let mut session = Session::new(&self.options, 0)?;
        Ok(self
            .file_search()
            .search(patterns, WantedPositions::NONE, &mut session)?
            .counts)
    }

    /// Counts like [`Archive::count`], and locates the first `limit` occurrences of each pattern.
    ///
    /// # Errors
    /// As [`Archive::count`].
    pub fn locate<P: AsRef<[u8]> + Sync>(
        &mut self,
        patterns: &[P],
        limit: usize,
    ) -> Result<Vec<Matches>> {
        let mut session = Session::new(&self.options, 0)?;
        Ok(self
            .file_search()
            .search(patterns, WantedPositions::first(limit), &mut session)?
            .into_matches())
    }

    /// Counts like [`Archive::count`], for patterns from an iterator. Each pattern is returned in
    /// its turn, with its count. Patterns are pulled and searched in batches, so that memory stays
    /// within its limit for any number of patterns.
    ///
    /// An error is the last item.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let letters = ('a'..='z').map(String::from);
    /// let counts: Vec<(String, u64)> = archive.counts(letters).collect::<bwz::Result<_>>()?;
    /// assert_eq!(counts[18], ("s".to_owned(), 6000));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    pub fn counts<I>(&mut self, patterns: I) -> impl Iterator<Item = Result<(I::Item, u64)>>
    where
        I: IntoIterator<Item: AsRef<[u8]> + Sync>,
    {
        let found = PatternStream::new(self.file_search(), patterns.into_iter(), None);
        found.map(|found| found.map(|(pattern, matches)| (pattern, matches.count)))
    }

    /// Counts and locates like [`Archive::locate`], for patterns from an iterator, as
    /// [`Archive::counts`] does. The positions of a batch are in memory together. `limit` bounds
    /// their number; a batch whose positions still need too much memory is searched in smaller
    /// batches.
    ///
    /// An error is the last item.
    pub fn matches<I>(
        &mut self,
        patterns: I,
        limit: usize,
    ) -> impl Iterator<Item = Result<(I::Item, Matches)>>
    where
        I: IntoIterator<Item: AsRef<[u8]> + Sync>,
    {
        PatternStream::new(self.file_search(), patterns.into_iter(), Some(limit))
    }

    /// Starts a search of several batches, which share the blocks that they decode. Use it to
    /// search for very many patterns that are stored in few allocations, and to read and print some
    /// patterns while others are searched.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells ".repeat(1000)[..], &mut file, &options)?;
    ///
    /// let mut archive = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let mut searcher = archive.searcher()?;
    /// for batch in [["sea", "shore"], ["she", "shells"]] {
    ///     let counts = searcher.count(&batch)?;
    ///     println!("{batch:?}: {counts:?}");
    /// }
    /// # assert_eq!(searcher.count(&["sea", "shore"])?, [1000, 0]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU is asked for but this build has no CUDA.
    pub fn searcher(&mut self) -> Result<Searcher<'_>> {
        Searcher::new(self.file_search())
    }

    /// Returns the raw bytes of a range. Uses the index if there is one and the range is short;
    /// otherwise decodes the blocks that hold the range.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) if the range is not within the raw stream; otherwise
    /// as [`Archive::count`].
    pub fn extract(&mut self, range: Range<u64>) -> Result<Vec<u8>> {
        Ok(self
            .extract_all(std::slice::from_ref(&range))?
            .concat())
    }

    /// Returns the raw bytes of each range, like [`Archive::extract`]. A block that must be decoded
    /// is decoded once for all ranges.
    ///
    /// # Errors
    /// As [`Archive::extract`].
    pub fn extract_all(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.file_search().extract(ranges)
    }

    pub(super) fn file_search(&mut self) -> FileSearch<'_> {
        let Archive {
            input,
            options,
            contents,
            cost,
            layouts,
            ..
        } = self;
        FileSearch {
            input,
            options,
            contents,
            cost,
            layouts,
        }
    }
}

/// The cost of reading and decoding whole blocks.
pub(super) fn cost_of(blocks: &[BlockInfo]) -> ReadCost {
    let coded_bytes = blocks
        .iter()
        .map(|block| block.coded.end - block.coded.start)
        .sum();
    ReadCost {
        coded_bytes,
        slices: 0,
        blocks: blocks.len() as u64,
    }
}
