//! The blocks in which lines are found: those that are searched on disk, and those that are to be
//! decoded.

use crate::base::error::Result;
use crate::frame::EDGE;
use crate::options::Options;
use crate::search::byte_block::ByteBlock;
use crate::search::disk_block::{DiskBlock, UnopenedBlock};
use crate::search::search_cost::{BlockCost, SearchWork};
use crate::search::searched_block::SearchedBlock;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Divisor of the memory limit. A quarter is for decoded slices of all blocks.
const SLICES_SHARE: u64 = 4;
/// Divisor of the memory limit. An eighth is for the tables of blocks that stay open.
const TABLES_SHARE: u64 = 8;
/// Bytes of the tables of a block per slice.
const PER_SLICE: u64 = 1100;

/// Bytes of a piece of text that is read at once. The first and the last piece of a block are in
/// the edges that its index stores, so that they cost no walk.
pub(super) const CHUNK: usize = EDGE;

/// The blocks of a file.
pub(super) struct LineBlocks<'b> {
    slots: Vec<Slot<'b>>,
    /// Bytes of memory for the decoded slices of each block.
    room: u64,
    /// Pieces that were read, by the number of the block and of the piece in it.
    chunks: BTreeMap<(usize, usize), Vec<u8>>,
}

/// A block.
struct Slot<'b> {
    block: &'b ByteBlock<'b>,
    /// The block is to be decoded. Otherwise it has an index.
    is_whole: bool,
    /// Rows of each literal.
    intervals: Vec<Range<u64>>,
    /// The open block.
    disk: OnceLock<DiskBlock<'b>>,
}

impl<'b> LineBlocks<'b> {
    /// Counts literals in all blocks.
    pub(super) fn new(
        blocks: &'b [ByteBlock<'b>],
        literals: &[&[u8]],
        options: &Options,
    ) -> Result<Self> {
        let room = options.memory_limit() / SLICES_SHARE / (blocks.len() as u64).max(1);
        let kept = AtomicU64::new(options.memory_limit() / TABLES_SHARE);
        let slots = blocks
            .par_iter()
            .map(|block| Slot::new(block, literals, room, &kept))
            .collect::<Result<_>>()?;
        Ok(LineBlocks {
            slots,
            room,
            chunks: BTreeMap::new(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Range of the raw stream that a block holds.
    pub(super) fn raw(&self, n: usize) -> Range<u64> {
        self.slots[n].block.section_range()
    }

    /// Number of the block that holds a byte of the raw stream.
    pub(super) fn at(&self, offset: u64) -> usize {
        self.slots
            .partition_point(|slot| slot.block.section_range().end <= offset)
    }

    pub(super) fn is_whole(&self, n: usize) -> bool {
        self.slots[n].is_whole
    }

    /// Has a block decoded as a whole.
    pub(super) fn make_whole(&mut self, n: usize) {
        self.slots[n].is_whole = true;
    }

    /// Number of line feeds in a block, if the file says it.
    pub(super) fn line_feeds(&self, n: usize) -> Option<u64> {
        self.slots[n].block.file.info.line_feeds
    }

    /// Number of the block in the file.
    pub(super) fn number(&self, n: usize) -> u64 {
        self.slots[n].block.file.number
    }

    /// Occurrences of a literal in the blocks that have an index.
    pub(super) fn count(&self, literal: usize) -> u64 {
        let counts = self
            .slots
            .iter()
            .filter(|slot| !slot.is_whole)
            .map(|slot| slot.intervals[literal].clone());
        counts.map(|rows| rows.end - rows.start).sum()
    }

    /// Locates the occurrences of some literals in the blocks that have an index. Returns their
    /// ranges. If locating them and reading `each` bytes for
    /// each costs more than decoding a block, or if `numbered`, the block becomes whole.
    pub(super) fn places(
        &mut self,
        literals: Range<usize>,
        each: u64,
        numbered: bool,
        literal_sizes: &[usize],
    ) -> Result<Vec<Range<u64>>> {
        let room = self.room;
        let found = self
            .slots
            .iter()
            .filter(|slot| !slot.is_whole && slot.count(literals.clone()) > 0);
        let threads = threads_of_each(found.count());
        let places: Vec<Option<Vec<Range<u64>>>> = self
            .slots
            .par_iter()
            .map(|slot| match slot.is_whole {
                true => Ok(None),
                false if slot.count(literals.clone()) == 0 => Ok(Some(Vec::new())),
                false if numbered => Ok(None),
                false => slot.places(literals.clone(), each, threads, room, literal_sizes),
            })
            .collect::<Result<_>>()?;
        for (slot, places) in self.slots.iter_mut().zip(&places) {
            slot.is_whole |= places.is_none();
        }
        Ok(places.into_iter().flatten().flatten().collect())
    }

    /// The first or the last bytes of a block that has an index, as many as its index stores.
    pub(super) fn edge(&self, n: usize, first: bool, size: usize) -> Result<Vec<u8>> {
        let slot = &self.slots[n];
        let len = slot.block.size();
        let size = size.min(len).min(EDGE);
        let range = if first { 0..size } else { len - size..len };
        slot.disk(self.room)?.extract(range)
    }

    /// The piece of a block that holds the byte at `at`, if it was read, and its start.
    pub(super) fn chunk(&self, n: usize, at: usize) -> Option<(&[u8], usize)> {
        let chunk = self.chunks.get(&(n, at / CHUNK))?;
        Some((chunk, at / CHUNK * CHUNK))
    }

    /// Reads pieces, given by the number of the block and of the piece in it.
    pub(super) fn read(&mut self, wanted: BTreeSet<(usize, usize)>) -> Result<()> {
        let mut by_block: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (n, chunk) in wanted {
            if !self.chunks.contains_key(&(n, chunk)) {
                by_block.entry(n).or_default().push(chunk);
            }
        }
        let read = by_block
            .into_par_iter()
            .map(|(n, chunks)| {
                let slot = &self.slots[n];
                let len = slot.block.size();
                let range = |&chunk: &usize| chunk * CHUNK..len.min((chunk + 1) * CHUNK);
                let ranges: Vec<Range<usize>> = chunks.iter().map(range).collect();
                let texts = slot.disk(self.room)?.extract_all(&ranges)?;
                Ok((n, chunks, texts))
            })
            .collect::<Result<Vec<_>>>()?;
        for (n, chunks, texts) in read {
            for (chunk, text) in chunks.into_iter().zip(texts) {
                self.chunks.insert((n, chunk), text);
            }
        }
        Ok(())
    }

    /// Number of pieces of a block that were read by walks.
    pub(super) fn walked_chunks(&self, n: usize) -> usize {
        let read = self.chunks.range((n, 0)..(n + 1, 0));
        read.filter(|((_, chunk), _)| !self.is_edge(n, *chunk))
            .count()
    }

    /// True for the first and the last piece of a block, which the index stores.
    pub(super) fn is_edge(&self, n: usize, chunk: usize) -> bool {
        chunk == 0 || (chunk + 1) * CHUNK >= self.slots[n].block.size()
    }

    /// A range of a block, all of which was read.
    pub(super) fn text(&self, n: usize, range: Range<usize>) -> Vec<u8> {
        let mut text = Vec::with_capacity(range.len());
        let mut at = range.start;
        while at < range.end {
            let (chunk, start) = self.chunk(n, at).expect("it was read");
            let end = (start + chunk.len()).min(range.end);
            text.extend_from_slice(&chunk[at - start..end - start]);
            at = end;
        }
        text
    }

    /// Makes a block ready for reading `chunks` pieces of it, as one of `blocks` such blocks.
    /// Returns false if decoding the block costs less.
    pub(super) fn prepare(&self, n: usize, chunks: usize, blocks: usize) -> Result<bool> {
        let disk = self.slots[n].disk(self.room)?;
        let each = CHUNK as u64 + disk.cost.steps_to_sample;
        disk.prepare_walks(chunks as u64 * each, threads_of_each(blocks))
    }
}

/// Number of threads for each of some blocks that are read side by side.
fn threads_of_each(blocks: usize) -> u64 {
    (rayon::current_num_threads() / blocks.max(1)).max(1) as u64
}

impl<'b> Slot<'b> {
    fn new(
        block: &'b ByteBlock<'b>,
        literals: &[&[u8]],
        room: u64,
        kept: &AtomicU64,
    ) -> Result<Self> {
        let mut slot = Slot {
            block,
            is_whole: true,
            intervals: Vec::new(),
            disk: OnceLock::new(),
        };
        let Some(unopened) = UnopenedBlock::read(block, room)? else {
            return Ok(slot);
        };
        let work = SearchWork {
            queries: 2 * literals
                .iter()
                .map(|literal| literal.len() as u64)
                .sum::<u64>(),
            rounds: literals
                .iter()
                .map(|literal| literal.len() as u64)
                .max()
                .unwrap_or(0),
            ..SearchWork::default()
        };
        // Other threads work on other blocks meanwhile.
        let cost = BlockCost {
            threads: 1,
            ..unopened.cost
        };
        if !cost.pays_on_disk(work, 0.0) {
            return Ok(slot);
        }
        let tables = unopened.cost.slices * PER_SLICE;
        let disk = unopened.open()?;
        slot.intervals = disk.intervals(literals)?;
        slot.is_whole = false;
        let fits = |left: u64| left.checked_sub(tables);
        if kept
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
            .is_ok()
        {
            let _ = slot.disk.set(disk);
        }
        Ok(slot)
    }

    /// The open block.
    fn disk(&self, room: u64) -> Result<&DiskBlock<'b>> {
        if self.disk.get().is_none() {
            let unopened = UnopenedBlock::read(self.block, room)?;
            let disk = unopened.expect("it had an index before").open()?;
            let _ = self.disk.set(disk);
        }
        Ok(self.disk.get().expect("just set"))
    }

    /// Occurrences of some literals.
    fn count(&self, literals: Range<usize>) -> u64 {
        let rows = self.intervals[literals].iter();
        rows.map(|rows| rows.end - rows.start).sum()
    }

    /// The ranges of the occurrences of some literals. Returns `None` if decoding the block costs
    /// less than locating them and reading `each` bytes for each.
    fn places(
        &self,
        literals: Range<usize>,
        each: u64,
        threads: u64,
        room: u64,
        literal_sizes: &[usize],
    ) -> Result<Option<Vec<Range<u64>>>> {
        let disk = self.disk(room)?;
        let steps = disk.cost.steps_to_sample.saturating_add(each);
        let steps = self.count(literals.clone()).saturating_mul(steps);
        if !disk.prepare_walks(steps, threads)? {
            return Ok(None);
        }
        let mut rows = Vec::new();
        let mut sizes = Vec::new();
        for literal in literals {
            let interval = self.intervals[literal].clone();
            sizes.extend(
                interval
                    .clone()
                    .map(|_| literal_sizes[literal] as u64),
            );
            rows.extend(interval);
        }
        let start = self.block.section_range().start;
        let positions = disk.positions(&rows)?;
        let places = positions.into_iter().zip(sizes);
        Ok(Some(
            places
                .map(|(position, size)| start + position..start + position + size)
                .collect(),
        ))
    }
}
