//! Ranges of a block that are read for a search or for extraction: of its searched text, or of its
//! raw bytes.

use super::byte_block::ByteBlock;
use super::disk_block::{DiskBlock, UnopenedBlock};
use super::file_block::FileBlock;
use super::memory_policy::{self, Form, Task};
use super::open_block::{BlockJob, OpenBlock, OpenIndex};
use super::searched_block::SearchedBlock;
use super::sequence_block::SequenceBlock;
use crate::base::error::{Flaw, Result};
use crate::filter::sequence::{Kind, Layout, LineState, RawParts};
use crate::frame::{BlockKind, Shape};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

const NOT_OF_TEXT: Flaw = Flaw("the layout of sequences is not that of the block's text");

/// Opens a block to read `count` ranges of `size` bytes in all of its searched text.
pub(crate) fn open_for_ranges<'a>(
    block: &'a dyn SearchedBlock,
    size: u64,
    count: u64,
) -> Result<OpenBlock<'a>> {
    let room = memory_policy::room_for_ranges(block.file().options);
    let task = Task::TextRanges { size, count };
    OpenBlock::open(
        block,
        BlockJob {
            task,
            room,
            listener: None,
        },
    )
}

/// Returns a range of the text of a block. A layout that does not belong to the block may ask for
/// bytes beyond the text, which is an error.
pub(crate) fn text_range<'b>(block: &'b OpenBlock, range: Range<usize>) -> Result<Cow<'b, [u8]>> {
    match range.end <= block.text_size() {
        true => block.extract(range),
        false => Err(NOT_OF_TEXT.into()),
    }
}

/// Returns ranges of the searched text of a block. The block is opened once for all of them.
pub(crate) fn texts(block: &SequenceBlock, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
    let open = open_for_ranges(block, total(ranges), ranges.len() as u64)?;
    if let OpenBlock::Indexed(OpenIndex::OnDisk(on_disk)) = &open {
        // The walks of all ranges advance together.
        return texts_on_disk(on_disk, ranges);
    }
    let get = |range: &Range<usize>| text_range(&open, range.clone()).map(Cow::into_owned);
    let pieces: Result<_> = ranges.par_iter().map(get).collect();
    pieces.map_err(|e| block.file.locate(e))
}

fn texts_on_disk(block: &DiskBlock, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
    match ranges
        .iter()
        .all(|range| range.end <= block.text_size())
    {
        true => block.extract_all(ranges),
        false => Err(block.flaw(NOT_OF_TEXT)),
    }
}

/// Bytes of some ranges.
fn total(ranges: &[Range<usize>]) -> u64 {
    ranges
        .iter()
        .map(|range| range.len() as u64)
        .sum()
}

/// Returns some ranges of the raw bytes of a block. The layout is read if it is needed and not
/// given as `known`.
///
/// A block with the filter for sequences is read through its text, by its own layout, whatever the
/// table of its frame says.
pub(crate) fn raw_ranges(
    file: FileBlock,
    known: Option<&Layout>,
    ranges: &[Range<usize>],
) -> Result<Vec<Vec<u8>>> {
    match file.kind() {
        BlockKind::Bwt(Shape {
            filtered: true,
            indexed: true,
            ..
        }) => {
            let start = LineState::default();
            let block = SequenceBlock::new(file, Kind::Fasta, start, None, 0)?;
            match open_for_raw_ranges(&block, ranges)? {
                Some(on_disk) => raw_ranges_by_text(&block, &on_disk, known, ranges),
                None => restored_ranges(&block.file, ranges),
            }
        }
        _ => {
            let block = ByteBlock { file };
            match open_for_raw_ranges(&block, ranges)? {
                Some(on_disk) => on_disk.extract_all(ranges),
                None => restored_ranges(&block.file, ranges),
            }
        }
    }
}

/// Reads the sizes of a block of which raw bytes are wanted, or names are looked up.
fn read_for_ranges<'a>(block: &'a dyn SearchedBlock) -> Result<Option<UnopenedBlock<'a>>> {
    UnopenedBlock::read(block, memory_policy::room_for_ranges(block.file().options))
}

/// Opens a block on disk for reading ranges of its raw bytes, if that pays.
fn open_for_raw_ranges<'a>(
    block: &'a dyn SearchedBlock,
    ranges: &[Range<usize>],
) -> Result<Option<DiskBlock<'a>>> {
    let on_disk = read_for_ranges(block)?;
    let task = Task::RawRanges {
        size: total(ranges),
        count: ranges.len() as u64,
    };
    let cost = on_disk.as_ref().map(|of| &of.cost);
    let stays = matches!(memory_policy::form(block, cost, task)?, Form::OnDisk { .. });
    on_disk
        .filter(|_| stays)
        .map(UnopenedBlock::open)
        .transpose()
}

fn restored_ranges(file: &FileBlock, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>> {
    let raw = file.restore()?;
    Ok(ranges
        .iter()
        .map(|range| raw[range.clone()].to_vec())
        .collect())
}

/// Returns some ranges of the raw bytes of a block through its text.
fn raw_ranges_by_text(
    block: &SequenceBlock,
    on_disk: &DiskBlock,
    known: Option<&Layout>,
    ranges: &[Range<usize>],
) -> Result<Vec<Vec<u8>>> {
    let layout = match known {
        Some(layout) => Cow::Borrowed(layout),
        None => Cow::Owned(block.layout()?),
    };
    let parts: Vec<RawParts> = ranges
        .iter()
        .map(|range| layout.raw_parts(range.clone()))
        .collect();
    let wanted: Vec<Range<usize>> = parts
        .iter()
        .flat_map(|parts| parts.texts.iter().cloned())
        .collect();
    let mut texts = texts_on_disk(on_disk, &wanted)?.into_iter();
    let join = |parts: &RawParts| {
        let some: Vec<Vec<u8>> = texts.by_ref().take(parts.texts.len()).collect();
        parts
            .join(&some, &layout)
            .map_err(|flaw| block.file.flaw(flaw))
    };
    parts.iter().map(join).collect()
}

/// Returns true if the index of a block shows that none of the patterns occurs in its text.
pub(crate) fn has_none(block: &SequenceBlock, patterns: &[Vec<u8>]) -> Result<bool> {
    let on_disk = read_for_ranges(block)?;
    let cost = on_disk.as_ref().map(|of| &of.cost);
    match (memory_policy::form(block, cost, Task::LookUp)?, on_disk) {
        (Form::OnDisk { .. }, Some(on_disk)) => Ok(on_disk
            .open()?
            .intervals(patterns)?
            .iter()
            .all(Range::is_empty)),
        _ => Ok(false),
    }
}
