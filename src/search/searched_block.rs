//! One block in the form in which it is searched: on disk, in memory as an FM-index, or as plain
//! bytes. A block is searched as plain bytes if it was stored or if its filters leave another text
//! than the searched one.
//!
//! At first a block that has an index stays on disk, and patterns decode the slices that they need.
//! Once these slices are estimated to cost more than decoding the whole block, it is decoded and
//! searched in memory. A block without an index is decoded at once.
//!
//! A block that has an index is not restored to check it, unless the options ask for verification.
//! Its payload has a checksum, and a search on disk would trust its index too. A block without an
//! index is restored and checked.

use super::disk_block::DiskBlock;
use super::file_block::FileBlock;
use super::loaded_index::LoadedIndex;
use super::search_cost::{BlockCost, SearchWork};
use super::slice_cache::SliceCache;
use crate::base::error::{Error, Flaw, Result};
use crate::bwt::Bwt;
use crate::engine::decode::Decoded;
use crate::filter;
use crate::filter::sequence::{Layout, RawParts};
use crate::frame::{BlockKind, Shape};
use crate::options::events::Listener;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of memory per byte of a block that is restored while its index is built.
const RESTORED_WITH_INDEX: u64 = 12;

/// Bytes of memory per byte of a block that is restored from its index, in addition to the index.
const RESTORING: u64 = 8;

/// Sample rate of an index in memory for locating many positions or for counting by the text.
pub const DENSE: u32 = 8;

/// Number of patterns from which sorting plain bytes is faster than scanning them for each pattern.
pub const MANY: usize = 200;

/// A block that is ready for search.
pub(crate) enum SearchedBlock<'a> {
    /// A block on disk, with the estimated cost of all work done on it, in this and earlier
    /// batches.
    OnDisk(Box<DiskBlock<'a>>, f64),
    InMemory(LoadedIndex),
    Plain(Vec<u8>),
}

/// The work to be done on a block, as far as it is known in advance.
#[derive(Clone, Copy, Default)]
pub(crate) struct BlockJob<'l> {
    pub work: SearchWork,
    /// Estimated cost of earlier work on the block on disk.
    pub spent: f64,
    /// Bytes for its decoded slices.
    pub room: u64,
    /// Hears a warning if the memory does not suffice to decode the block.
    pub listener: Option<&'l Listener>,
}

/// Returns true if the block holds the transform of its searched text.
fn has_searched_transform(block: &FileBlock) -> bool {
    let BlockKind::Bwt(shape) = block.header.kind else { return false };
    match &block.sequences {
        Some(sequences) => sequences.front.is_some() && shape.filters == filter::SEQUENCES,
        None => shape.filters == 0,
    }
}

/// Returns true if the block has an index of its searched text, and the options trust it.
fn is_believed(block: &FileBlock) -> bool {
    matches!(block.header.kind, BlockKind::Bwt(Shape { indexed: true, .. }))
        && has_searched_transform(block)
        && !block.options.verify
}

/// Opens a block on disk, with `room` bytes for decoded slices. Returns `None` if its index is not
/// trusted or if `pays` is false for its costs.
fn open_on_disk<'a>(
    block: &'a FileBlock<'a>,
    room: u64,
    pays: impl FnOnce(&BlockCost) -> bool,
) -> Result<Option<DiskBlock<'a>>> {
    match block.header.kind {
        BlockKind::Bwt(shape) if is_believed(block) => DiskBlock::open(block, shape, room, pays),
        _ => Ok(None),
    }
}

/// Bytes for decoded slices while ranges are read. Walks hardly ever come to a slice twice.
const ROOM_FOR_RANGES: u64 = 2 << 20;

/// Opens a block on disk for reading `ranges` ranges of `size` bytes in all, if that pays.
fn open_for_ranges<'a>(
    block: &'a FileBlock<'a>,
    size: u64,
    ranges: u64,
) -> Result<Option<DiskBlock<'a>>> {
    let room = room_for_slices(block.options.memory_limit()).min(ROOM_FOR_RANGES);
    open_on_disk(block, room, |cost| cost.pays_for_ranges(size, ranges))
}

/// Bytes of memory while a block is restored from its index, including the index.
fn restoring(index: &LoadedIndex) -> u64 {
    (index.size() as u64).saturating_add(RESTORING.saturating_mul(index.len() as u64))
}

/// The part of `memory` bytes that decoded slices may take.
pub fn room_for_slices(memory: u64) -> u64 {
    memory / 2
}

/// Returns some ranges of a block's raw bytes. The layout is read if it is not given as `known`.
pub fn extract(
    block: &FileBlock,
    known: Option<&Layout>,
    ranges: &[Range<usize>],
) -> Result<Vec<Vec<u8>>> {
    let size = ranges.iter().map(|range| range.len() as u64).sum();
    match open_for_ranges(block, size, ranges.len() as u64)? {
        Some(on_disk) if block.sequences.is_some() => match known {
            Some(layout) => extract_by_parts(block, &on_disk, layout, ranges),
            None => extract_by_parts(block, &on_disk, &block.layout()?, ranges),
        },
        Some(on_disk) => on_disk.extract_all(ranges),
        None => {
            let raw = block.restore()?;
            Ok(ranges.iter().map(|range| raw[range.clone()].to_vec()).collect())
        }
    }
}

/// Returns some ranges of the raw bytes of a block that is searched by sequence.
fn extract_by_parts(
    block: &FileBlock,
    on_disk: &DiskBlock,
    layout: &Layout,
    ranges: &[Range<usize>],
) -> Result<Vec<Vec<u8>>> {
    let parts: Vec<RawParts> = ranges.iter().map(|range| layout.raw_parts(range.clone())).collect();
    let wanted: Vec<Range<usize>> =
        parts.iter().flat_map(|parts| parts.texts.iter().cloned()).collect();
    if wanted.iter().any(|range| range.end > on_disk.text_size()) {
        return Err(block.flaw(NOT_OF_TEXT));
    }
    let mut texts = on_disk.extract_all(&wanted)?.into_iter();
    let join = |parts: &RawParts| {
        let some: Vec<Vec<u8>> = texts.by_ref().take(parts.texts.len()).collect();
        parts.join(&some, layout).map_err(|flaw| block.flaw(flaw))
    };
    parts.iter().map(join).collect()
}

const NOT_OF_TEXT: Flaw = Flaw("the layout of sequences is not that of the block's text");

/// If less than 1/16 of a block is wanted, its text is not restored. The index gives single bytes,
/// at a higher cost per byte.
const INDEX_SHARE: u64 = 16;

/// Returns true if the index of a block shows that none of the patterns occurs in its text.
pub fn has_none(block: &FileBlock, patterns: &[Vec<u8>]) -> Result<bool> {
    let room = room_for_slices(block.options.memory_limit()).min(ROOM_FOR_RANGES);
    let Some(on_disk) = open_on_disk(block, room, |_| true)? else { return Ok(false) };
    Ok(on_disk.intervals(patterns)?.iter().all(Range::is_empty))
}

/// Access to the text of a block: all of it in memory, or ranges by its index.
pub(crate) enum BlockText<'a> {
    OnDisk(Box<DiskBlock<'a>>),
    Indexed(LoadedIndex),
    InMemory(Vec<u8>),
}

impl<'a> BlockText<'a> {
    /// Opens a block to read `ranges` ranges of `size` bytes in all.
    pub fn open(block: &'a FileBlock<'a>, size: u64, ranges: u64) -> Result<Self> {
        if let Some(block) = open_for_ranges(block, size, ranges)? {
            return Ok(BlockText::OnDisk(Box::new(block)));
        }
        if is_believed(block)
            && size <= block.header.raw_size / INDEX_SHARE
            && let SearchedBlock::InMemory(index) = SearchedBlock::load(block)?
        {
            return Ok(BlockText::Indexed(index));
        }
        Ok(BlockText::InMemory(block.text_of(block.restore()?)?))
    }

    /// Returns a range of the text. A layout that does not belong to the block may ask for bytes
    /// beyond the text, which is an error.
    pub fn get(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        let size = match self {
            BlockText::OnDisk(block) => block.text_size(),
            BlockText::Indexed(index) => index.len(),
            BlockText::InMemory(text) => text.len(),
        };
        if range.end > size {
            return Err(NOT_OF_TEXT.into());
        }
        match self {
            BlockText::OnDisk(block) => Ok(block.extract(range)?.into()),
            BlockText::Indexed(index) => Ok(index.extract(range)?.into()),
            BlockText::InMemory(text) => Ok(text[range].into()),
        }
    }
}

/// Returns ranges of the text of a block. The block is opened once for all of them.
pub fn texts(block: &FileBlock, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
    let size = ranges.iter().map(|range| range.len() as u64).sum();
    let text = BlockText::open(block, size, ranges.len() as u64)?;
    if let BlockText::OnDisk(on_disk) = &text {
        // The walks of all ranges advance together.
        return match ranges.iter().all(|range| range.end <= on_disk.text_size()) {
            true => on_disk.extract_all(ranges),
            false => Err(block.flaw(NOT_OF_TEXT)),
        };
    }
    let get = |range: &Range<usize>| text.get(range.clone()).map(Cow::into_owned);
    let pieces: Result<_> = ranges.par_iter().map(get).collect();
    pieces.map_err(|e| block.locate(e))
}

/// Warns that the memory does not suffice to decode a block.
fn warn_of_search_on_disk(listener: &Listener, limit: &Error) {
    listener.warn(format!("{limit}; it is searched on disk, which may take many times as long"));
}

impl<'a> SearchedBlock<'a> {
    /// Opens a block for a job.
    pub fn open(block: &'a FileBlock<'a>, job: BlockJob) -> Result<Self> {
        match open_on_disk(block, job.room, |cost| cost.pays_on_disk(job.work, job.spent))? {
            Some(block) => Ok(Self::on_disk(block, job)),
            None => Self::load_or_stay(block, job),
        }
    }

    fn on_disk(block: DiskBlock<'a>, job: BlockJob) -> Self {
        let spent = job.spent + block.cost.on_disk(job.work);
        SearchedBlock::OnDisk(Box::new(block), spent)
    }

    /// Decodes the whole block. If there is too little memory, it is searched on disk.
    fn load_or_stay(block: &'a FileBlock<'a>, job: BlockJob) -> Result<Self> {
        match Self::load(block) {
            Err(limit @ Error::Limit { .. }) => {
                let Some(on_disk) = open_on_disk(block, job.room, |_| true)? else {
                    return Err(limit);
                };
                if let Some(listener) = job.listener {
                    warn_of_search_on_disk(listener, &limit);
                }
                Ok(Self::on_disk(on_disk, job))
            }
            loaded => loaded,
        }
    }

    /// Decodes the whole block for search. Restores and checks it if its index is not trusted.
    fn load(block: &FileBlock) -> Result<Self> {
        match is_believed(block) {
            true => block.decoded_for_index(|decoded| Self::of_decoded(block, decoded)),
            false => block.decoded(|decoded| Self::of_decoded(block, decoded)),
        }
    }

    fn of_decoded(block: &FileBlock, decoded: Decoded) -> Result<Self> {
        let raw_size = block.header.raw_size;
        let index =
            |bwt| LoadedIndex::new(bwt, block.options.run.narrow).map_err(|e| block.locate(e));
        if is_believed(block) {
            let bwt = decoded.into_bwt().expect("an indexed block has a transform");
            return index(bwt).map(SearchedBlock::InMemory);
        }
        let searchable = decoded.bwt().filter(|_| has_searched_transform(block));
        let searchable = searchable.map(Bwt::copy).transpose()?;
        let restore = || block.finish(decoded);
        let Some(bwt) = searchable else {
            return Ok(SearchedBlock::Plain(block.text_of(restore()?)?));
        };
        // As many blocks as there are threads may be loaded at the same time.
        let together =
            raw_size.saturating_mul(RESTORED_WITH_INDEX * block.options.thread_count() as u64);
        let (restored, index) = match together <= block.options.memory_limit() {
            true => rayon::join(|| restore().map(drop), || index(bwt)),
            false => (restore().map(drop), index(bwt)),
        };
        restored.and(index).map(SearchedBlock::InMemory)
    }

    /// Prepares a block for locating `rows` rows. A block on disk is decoded if that pays. An index
    /// in memory gets denser samples if that pays and there is room while `side_by_side` blocks are
    /// searched.
    pub(super) fn ready_for(
        self,
        file_block: &'a FileBlock<'a>,
        rows: u64,
        side_by_side: u64,
        listener: &Listener,
    ) -> Result<Self> {
        match self {
            SearchedBlock::OnDisk(block, spent) => {
                let cost = block.cost;
                let work = cost.locating(rows);
                if cost.pays_on_disk(work, spent) {
                    return Ok(SearchedBlock::OnDisk(block, spent + cost.on_disk(work)));
                }
                if let Some(limit) = file_block.is_too_large() {
                    warn_of_search_on_disk(listener, &limit);
                    return Ok(SearchedBlock::OnDisk(block, spent + cost.on_disk(work)));
                }
                // The decoded slices are dropped before the block is restored, to save memory.
                drop(block);
                match Self::load_or_stay(
                    file_block,
                    BlockJob { work, spent, room: cost.room, listener: Some(listener) },
                )? {
                    SearchedBlock::InMemory(index) => SearchedBlock::InMemory(index).ready_for(
                        file_block,
                        rows,
                        side_by_side,
                        listener,
                    ),
                    block => Ok(block),
                }
            }
            SearchedBlock::InMemory(index)
                if rows * index.steps_to_sample() > index.len() as u64
                    && restoring(&index).saturating_mul(side_by_side)
                        <= file_block.options.memory_limit() =>
            {
                let denser = index.with_sample_rate(DENSE).map_err(|e| file_block.locate(e))?;
                Ok(SearchedBlock::InMemory(denser))
            }
            block => Ok(block),
        }
    }

    /// Returns true if there is memory to restore `side_by_side` blocks like this at a time.
    pub(super) fn may_be_restored(&self, file_block: &FileBlock, side_by_side: u64) -> bool {
        match self {
            SearchedBlock::InMemory(index) => {
                let needed = restoring(index).saturating_mul(side_by_side);
                needed <= file_block.options.memory_limit()
            }
            SearchedBlock::OnDisk(..) | SearchedBlock::Plain(_) => true,
        }
    }

    /// Gives a block on disk the decoded slices that were kept for it.
    pub fn with_slices(self, kept: SliceCache) -> Self {
        match self {
            SearchedBlock::OnDisk(block, spent) => {
                SearchedBlock::OnDisk(Box::new(block.with_slices(kept)), spent)
            }
            block => block,
        }
    }

    /// The mean number of steps from a row to a sampled one.
    pub(super) fn steps_to_sample(&self) -> u64 {
        match self {
            SearchedBlock::OnDisk(block, _) => block.cost.steps_to_sample,
            SearchedBlock::InMemory(index) => index.steps_to_sample(),
            SearchedBlock::Plain(_) => 0,
        }
    }

    /// Returns a range of the searched text. The range must be within it.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        match self {
            SearchedBlock::OnDisk(block, _) => block.extract(range),
            SearchedBlock::InMemory(index) => index.extract(range),
            SearchedBlock::Plain(raw) => Ok(raw[range].to_vec()),
        }
    }
}
