//! One block as a search takes it: on disk, in memory as an FM-index, or, where it was stored or
//! has filters that its index is not one of, as plain bytes.
//!
//! Patterns on an indexed block decode the slices that they need. As soon as a batch asks so much
//! of them that it is cheaper to decode the block, or where it has no index, it is decoded at once
//! and searched in memory. What has an index is not restored for that unless that is asked for: its
//! payload has a checksum, and the index on disk would be believed too. A block without one is
//! checked as when it is restored.

use super::disk_block::DiskBlock;
use super::file_block::FileBlock;
use super::loaded_index::LoadedIndex;
use super::search_cost::{BlockCost, SearchWork};
use super::slice_cache::SliceCache;
use crate::base::error::{Error, Flaw, Result};
use crate::bwt::Bwt;
use crate::engine::block::Decoded;
use crate::filter;
use crate::filter::sequence::{Layout, RawParts};
use crate::frame::{BlockKind, Shape};
use crate::options::events::Listener;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes per byte of a block that is restored while an index is made of it.
const RESTORED_WITH_INDEX: u64 = 12;

/// Bytes per byte of a block that is restored from its index, beside that.
const RESTORING: u64 = 8;

/// The sample rate that locating many positions in memory works with, and counting by the text.
pub const DENSE: u32 = 8;

/// Patterns from which sorting plain bytes is faster than looking for each in it.
pub const MANY: usize = 200;

/// A block that is ready for search.
pub(crate) enum SearchedBlock<'a> {
    /// With what was done in it and in former batches, as that was estimated.
    OnDisk(Box<DiskBlock<'a>>, f64),
    InMemory(LoadedIndex),
    Plain(Vec<u8>),
}

/// What is to be done with a block, as far as that is known before.
#[derive(Clone, Copy, Default)]
pub(crate) struct BlockJob<'l> {
    pub work: SearchWork,
    /// What earlier work on the block that was done on disk was thought to cost.
    pub spent: f64,
    /// Bytes that its decoded slices may take.
    pub room: u64,
    /// Who hears that the memory does not do for the block.
    pub listener: Option<&'l Listener>,
}

/// Whether the transform of a block is that of what is searched.
fn has_searched_transform(block: &FileBlock) -> bool {
    let BlockKind::Bwt(shape) = block.header.kind else { return false };
    match &block.sequences {
        Some(sequences) => sequences.front.is_some() && shape.filters == filter::SEQUENCES,
        None => shape.filters == 0,
    }
}

/// Whether a block has an index of what is searched, and that is to be believed.
fn is_believed(block: &FileBlock) -> bool {
    matches!(block.header.kind, BlockKind::Bwt(Shape { indexed: true, .. }))
        && has_searched_transform(block)
        && !block.options.verify
}

/// The block as it stands in the file, if its index is believed, and that pays, with so much room
/// for decoded slices.
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

/// Bytes of decoded slices that are kept for ranges: walks hardly come to a slice twice.
const ROOM_FOR_RANGES: u64 = 2 << 20;

/// The same for ranges of so many bytes in all, if that pays.
fn open_for_ranges<'a>(
    block: &'a FileBlock<'a>,
    size: u64,
    ranges: u64,
) -> Result<Option<DiskBlock<'a>>> {
    let room = room_for_slices(block.options.memory_limit()).min(ROOM_FOR_RANGES);
    open_on_disk(block, room, |cost| cost.pays_for_ranges(size, ranges))
}

/// Bytes of memory while a block is restored from its index, the index included.
fn restoring(index: &LoadedIndex) -> u64 {
    (index.size() as u64).saturating_add(RESTORING.saturating_mul(index.len() as u64))
}

/// The part of some memory that decoded slices may take.
pub fn room_for_slices(memory: u64) -> u64 {
    memory / 2
}

/// Some ranges of a block's raw bytes. Its layout need not be read if it is known.
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

/// Some ranges of the raw bytes of a block that is searched by sequence.
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

/// Of a block of which less than one part in so many is wanted the text is not restored: its index
/// gives single bytes, in more time each.
const INDEX_SHARE: u64 = 16;

/// True if the index of a block says that none of these patterns stands anywhere in its text.
pub fn has_none(block: &FileBlock, patterns: &[Vec<u8>]) -> Result<bool> {
    let room = room_for_slices(block.options.memory_limit()).min(ROOM_FOR_RANGES);
    let Some(on_disk) = open_on_disk(block, room, |_| true)? else { return Ok(false) };
    Ok(on_disk.intervals(patterns)?.iter().all(Range::is_empty))
}

/// The text of a block: all of it, or what its index gives of it.
pub(crate) enum BlockText<'a> {
    OnDisk(Box<DiskBlock<'a>>),
    Indexed(LoadedIndex),
    InMemory(Vec<u8>),
}

impl<'a> BlockText<'a> {
    /// Opens a block of which so many bytes are wanted, in so many ranges.
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

    /// A range of it. A layout that is not the block's may ask for more than there is.
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

/// Ranges of the text of a block, which is opened once for all of them.
pub fn texts(block: &FileBlock, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
    let size = ranges.iter().map(|range| range.len() as u64).sum();
    let text = BlockText::open(block, size, ranges.len() as u64)?;
    if let BlockText::OnDisk(on_disk) = &text {
        // Their walks go on together.
        return match ranges.iter().all(|range| range.end <= on_disk.text_size()) {
            true => on_disk.extract_all(ranges),
            false => Err(block.flaw(NOT_OF_TEXT)),
        };
    }
    let get = |range: &Range<usize>| text.get(range.clone()).map(Cow::into_owned);
    let pieces: Result<_> = ranges.par_iter().map(get).collect();
    pieces.map_err(|e| block.locate(e))
}

/// Says that the memory does not do for a block.
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

    /// Decodes the whole block. One that there is no memory for can be searched where it is.
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

    /// Decodes the whole block for search, and checks it where its index is not believed.
    fn load(block: &FileBlock) -> Result<Self> {
        match is_believed(block) {
            true => block.decoded_for_index(|decoded| Self::of_decoded(block, decoded)),
            false => block.decoded(|decoded| Self::of_decoded(block, decoded)),
        }
    }

    fn of_decoded(block: &FileBlock, decoded: Decoded) -> Result<Self> {
        let raw_size = block.header.raw_size;
        let index = |bwt| LoadedIndex::new(bwt, block.options.narrow).map_err(|e| block.locate(e));
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
        // As many blocks as there are threads may be loaded now.
        let together =
            raw_size.saturating_mul(RESTORED_WITH_INDEX * block.options.thread_count() as u64);
        let (restored, index) = match together <= block.options.memory_limit() {
            true => rayon::join(|| restore().map(drop), || index(bwt)),
            false => (restore().map(drop), index(bwt)),
        };
        restored.and(index).map(SearchedBlock::InMemory)
    }

    /// Decodes the block, or makes its samples denser, where locating so many rows pays for it, and
    /// there is room while so many blocks are searched.
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
                // Its slices and the restored block are not in memory together.
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

    /// True if restoring the block leaves room for so many at a time.
    pub(super) fn may_be_restored(&self, file_block: &FileBlock, side_by_side: u64) -> bool {
        match self {
            SearchedBlock::InMemory(index) => {
                let needed = restoring(index).saturating_mul(side_by_side);
                needed <= file_block.options.memory_limit()
            }
            SearchedBlock::OnDisk(..) | SearchedBlock::Plain(_) => true,
        }
    }

    /// The same with decoded slices that were kept, where it is on disk.
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

    /// Bytes of the searched text; the range is within it.
    pub fn extract(&self, range: Range<usize>) -> Result<Vec<u8>> {
        match self {
            SearchedBlock::OnDisk(block, _) => block.extract(range),
            SearchedBlock::InMemory(index) => index.extract(range),
            SearchedBlock::Plain(raw) => Ok(raw[range].to_vec()),
        }
    }
}
