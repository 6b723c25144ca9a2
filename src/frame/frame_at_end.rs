//! Reads the frame that ends at a place of a file: its footer, its seek table and its header.
//! FORMAT.md section 7.2.

use super::backward_reader::ReadSeek;
use super::features::{Features, UsedFeatures};
use super::field_bytes::ensure;
use super::footer::{Footer, NO_FOOTER};
use super::frame_header::{AnyHeader, FrameHeader, HEADER_SIZE, MAGIC, NOT_BWZ, other_version};
use super::frame_info::{BlockInfo, FrameInfo, IndexInfo};
use super::frame_reader::CUT_OFF;
use super::header_tables;
use super::seek_table::{self, BlockShape, Entry, SEEK_MARKER, SeekTable, Totals, block_count};
use super::sequences::SequencesTable;
use super::tables::{
    self, CONTENT_SIZE, MEMBERS, METADATA, RECORDS, SEQUENCES, STREAM_CHECK, TablePlace,
};
use super::{BlockHeader, BlockKind, read_at, read_payload};
use crate::base::error::{Error, Flaw, Release, Result, Unreadable};
use crate::base::shortage;
use crate::options::notes::MOST_NOTES;
use crate::options::{MAX_SAMPLE_RATE, Note, StreamCheck};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// The end of the last frame in a file of `size` bytes. It is behind the last byte that is not
/// zero: a frame ends in such a byte, and zeros behind the last frame are padding.
///
/// Each step back is 16 times as long as the one before, up to 1 MiB. A file without padding costs
/// a read of one byte, and long padding costs few reads.
pub(crate) fn without_padding(
    input: &mut (impl Read + Seek + ?Sized),
    size: u64,
) -> io::Result<u64> {
    const LARGEST_STEP: u64 = 1 << 20;
    let mut buffer = Vec::new();
    let mut end = size;
    let mut step = 1;
    while end > 0 {
        let start = end.saturating_sub(step);
        buffer.resize((end - start) as usize, 0);
        input.seek(SeekFrom::Start(start))?;
        input.read_exact(&mut buffer)?;
        if let Some(last) = buffer.iter().rposition(|&byte| byte != 0) {
            return Ok(start + last as u64 + 1);
        }
        end = start;
        step = (step * 16).min(LARGEST_STEP);
    }
    Ok(0)
}

/// The memory that tables may take, and the number of frames and blocks whose tables already use
/// some of it.
#[derive(Clone, Copy)]
pub(crate) struct TableRoom {
    pub memory: u64,
    pub frames: u64,
    pub blocks: u64,
}

impl TableRoom {
    /// Room for a frame without tables.
    pub(super) const NONE: TableRoom = TableRoom {
        memory: 0,
        frames: 0,
        blocks: 0,
    };

    /// Checks that there is memory for the tables of one more frame of `count` blocks. A sparse
    /// file of a few KiB on disk may claim very many blocks, and a small file may have many frames
    /// without blocks.
    fn check(self, count: u64) -> Result<()> {
        // Bytes per block: the table as it is read and as it is kept, with a table of sequences.
        const BLOCK: u64 = 384;
        // Bytes per frame: as it is read and as it is kept.
        const FRAME: u64 = 2 * size_of::<Frame>() as u64;
        let count = self.blocks.saturating_add(count);
        let frames = self.frames.saturating_add(1);
        let needed = count
            .saturating_mul(BLOCK)
            .saturating_add(frames.saturating_mul(FRAME));
        shortage::check(needed, self.memory, || match frames {
            1 => format!("a seek table of {count} blocks"),
            _ => format!("the seek tables of {frames} frames or more, with {count} blocks"),
        })
    }
}

/// A frame and its blocks.
pub(crate) type Frame = (FrameInfo, Vec<BlockInfo>);

/// Reads the frame that ends at `end`. Its raw ranges start at 0.
///
/// # Errors
/// [`Error::Limit`] if its tables need more memory than `room` has. [`Error::Unsupported`] if one
/// of its tables or its check must be known and is not: its blocks can still be found by a scan.
pub(crate) fn read_frame(input: &mut dyn ReadSeek, end: u64, room: TableRoom) -> Result<Frame> {
    let Some(footer_start) = end.checked_sub(Footer::SIZE as u64) else {
        return Err(explain(input, NO_FOOTER, 0, 0));
    };
    let bytes = fixed(input, footer_start)?;
    let frame_start = end.saturating_sub(Footer::frame_size(&bytes).unwrap_or(end));
    let footer = Footer::from_bytes(&bytes)
        .map_err(|flaw| explain(input, flaw, footer_start, frame_start))?;
    let misfit = || Flaw("the footer's sizes do not match the frame").at(None, footer_start);
    let start = end
        .checked_sub(footer.frame_size)
        .filter(|_| footer.frame_size >= Footer::LEAST_FRAME)
        .ok_or_else(misfit)?;
    let table_start = footer_start
        .checked_sub(footer.seek_table_size)
        .ok_or_else(misfit)?;
    // The version is checked before any field whose place may differ in other versions.
    let header = match AnyHeader::at(&fixed(input, start)?, start)? {
        AnyHeader::Data(header) => header,
        AnyHeader::Private(header) => {
            let expected = Footer {
                total_raw_size: 0,
                features: Features::NONE,
                ..footer_without_blocks(&footer, header.content_size)
            };
            if footer != expected {
                return Err(misfit());
            }
            let private = Some(header.owner);
            let frame = FrameInfo::without_blocks(start..end);
            return Ok((FrameInfo { private, ..frame }, Vec::new()));
        }
        AnyHeader::Unknown(unknown, content_size) => {
            if footer != footer_without_blocks(&footer, content_size) {
                return Err(misfit());
            }
            let why = unknown.message(None, Release::default());
            return Ok((FrameInfo::unsupported(&footer, end, why), Vec::new()));
        }
    };
    header_tables::check_known(header.check).map_err(|why| why.at(None, start, header.needed))?;
    let head = read_header_tables(input, start, &header)?;
    if table_start < head.end {
        return Err(misfit());
    }
    let place = FramePlace {
        first_block: head.end,
        table_start,
        footer_start,
    };
    let table = read_seek_table(input, &footer, &place, room)?;
    let tables = read_frame_tables(input, &table, &place, &header)?;
    let blocks = block_infos(&table.table, &place, header.needed);
    let index = index_info(&table.table);
    let of_sequences = index.is_some_and(|index| index.of_sequences);
    let frame = FrameInfo {
        coded: start..end,
        raw: 0..footer.total_raw_size,
        block_size: header.block_size,
        blocks: blocks.len() as u64,
        checksum: footer.stream_checksum,
        features: footer.features,
        check: StreamCheck::of(header.check),
        notes: head.notes,
        private: None,
        unsupported: None,
        needed: header.needed,
        has_wrong_tables: tables.are_wrong,
        index,
        lacks_sequences: of_sequences && tables.sequences.is_none(),
        sequences: tables.sequences,
        records: tables.records,
        members: tables.members,
    };
    check_frame(&frame, &table.table, head.content_size)
        .map_err(|flaw| flaw.at(None, table_start))?;
    check_features(&blocks, header.features, footer.features)
        .map_err(|flaw| flaw.at(None, footer_start))?;
    Ok((frame, blocks))
}

/// The footer of a frame without blocks, with the fields that its kind leaves open as in `footer`.
fn footer_without_blocks(footer: &Footer, content_size: u64) -> Footer {
    Footer {
        seek_table_size: 0,
        frame_size: (HEADER_SIZE + Footer::SIZE) as u64 + content_size,
        ..*footer
    }
}

/// Like [`read_frame`], but passes over a frame of another version if the file has other frames.
///
/// # Errors
/// Those of [`read_frame`]; [`Error::Version`] if that frame does not tell where it starts, as in
/// drafts before 18, or is the only one.
pub(crate) fn read_or_pass(input: &mut dyn ReadSeek, end: u64, room: TableRoom) -> Result<Frame> {
    match read_frame(input, end, room) {
        Err(Error::Version { what, offset }) if offset > 0 || room.frames > 0 => {
            if start_by_footer(input, end)? != Some(offset) {
                return Err(Error::Version { what, offset });
            }
            let frame = FrameInfo {
                unsupported: Some(what.into()),
                ..FrameInfo::without_blocks(offset..end)
            };
            Ok((frame, Vec::new()))
        }
        frame => frame,
    }
}

/// Where the frame that ends at `end` starts, if a sound footer of any version stands there.
fn start_by_footer(input: &mut dyn ReadSeek, end: u64) -> Result<Option<u64>> {
    let Some(footer_start) = end.checked_sub(Footer::SIZE as u64) else {
        return Ok(None);
    };
    let size = Footer::frame_size(&fixed(input, footer_start)?);
    Ok(size.and_then(|size| end.checked_sub(size)))
}

/// File offsets of the parts of a frame.
struct FramePlace {
    first_block: u64,
    table_start: u64,
    footer_start: u64,
}

/// The tables of a frame header.
struct HeaderTables {
    /// File offset behind the header and its tables.
    end: u64,
    content_size: Option<u64>,
    notes: Vec<Note>,
}

/// Reads the tables of the header at `start`.
fn read_header_tables(
    input: &mut dyn ReadSeek,
    start: u64,
    header: &FrameHeader,
) -> Result<HeaderTables> {
    let behind = start + HEADER_SIZE as u64;
    let mut read = HeaderTables {
        end: behind,
        content_size: None,
        notes: Vec::new(),
    };
    if !header.tables {
        return Ok(read);
    }
    input.seek(SeekFrom::Start(behind))?;
    let wanted = [CONTENT_SIZE, METADATA];
    let found = tables::find(input, &wanted, MOST_NOTES as u64, &[])?;
    let mut found = found.map_err(|why| why.at(None, behind, header.needed))?;
    let size = found.tables.take(CONTENT_SIZE);
    let size = size.map(|content| header_tables::content_size(&content));
    read.content_size = size
        .transpose()
        .map_err(|flaw| flaw.at(None, behind))?;
    let notes = found.tables.take(METADATA);
    read.notes = notes
        .and_then(|content| header_tables::notes(&content))
        .unwrap_or_default();
    read.end += found.tables.size;
    Ok(read)
}

/// A seek table, and where it ends.
struct PlacedTable {
    table: SeekTable,
    /// File offset behind the table.
    end: u64,
}

/// Reads the seek table of a frame.
fn read_seek_table(
    input: &mut dyn ReadSeek,
    footer: &Footer,
    place: &FramePlace,
    room: TableRoom,
) -> Result<PlacedTable> {
    // Seek_Marker, Content_Size and Checksum.
    const MOST: u64 = 8 + 6 + 4;
    let located = |flaw: Flaw| flaw.at(None, place.table_start);
    let misfit = || located(Flaw("the seek table's sizes do not match the frame"));
    let end = place.footer_start.min(place.table_start + MOST);
    let front = read_range(input, place.table_start..end)?;
    let mut rest = front
        .strip_prefix(&SEEK_MARKER)
        .ok_or_else(|| located(Flaw("there is no seek table where one must be")))?;
    let mut stored_size = Vec::new();
    let size = tables::varint(&mut rest, &mut stored_size)
        .map_err(|_| misfit())?
        .map_err(located)?;
    let checksum = rest.first_chunk().copied().ok_or_else(misfit)?;
    let content_start = place.table_start + (8 + stored_size.len() + 4) as u64;
    let end = content_start
        .checked_add(size)
        .filter(|&end| end <= place.footer_start)
        .ok_or_else(misfit)?;
    // The content must fit the bytes that are there. This is checked before anything is allocated
    // by the count of its blocks.
    shortage::check(2 * size, room.memory, || "a seek table".into())?;
    let content = read_range(input, content_start..end)?;
    seek_table::check(&stored_size, u32::from_le_bytes(checksum), &content).map_err(located)?;
    let count = block_count(&mut &content[..]).map_err(located)? as u64;
    let coded_size = place.table_start - place.first_block;
    // The smallest block is a header and one byte.
    if count > coded_size / (BlockHeader::SIZE as u64 + 1) {
        return Err(misfit());
    }
    room.check(count)?;
    let totals = Totals {
        raw_size: footer.total_raw_size,
        coded_size,
    };
    let table = SeekTable::from_content(&content, totals).map_err(located)?;
    let is_empty = totals == Totals::default() && footer.stream_checksum == 0;
    if table.entries().is_empty() && !is_empty {
        return Err(misfit());
    }
    Ok(PlacedTable { table, end })
}

/// Bytes of the longest digest of a stream. A longer table is not read, and counts as missing.
const LONGEST_DIGEST: u64 = 32;

/// The tables of a frame that a reader by position uses.
#[derive(Default)]
struct FrameTables {
    sequences: Option<SequencesTable>,
    records: Option<TablePlace>,
    members: Option<TablePlace>,
    /// True if one of them is not valid.
    are_wrong: bool,
}

/// Reads the tables behind a seek table.
fn read_frame_tables(
    input: &mut dyn ReadSeek,
    table: &PlacedTable,
    place: &FramePlace,
    header: &FrameHeader,
) -> Result<FrameTables> {
    let located = |why: Unreadable| why.at(None, place.table_start, header.needed);
    let misfit = || located(Flaw("the seek table's sizes do not match the frame").into());
    let check_digest = |digest: Option<&[u8]>| {
        header_tables::check_digest(header.check, digest).map_err(|flaw| located(flaw.into()))
    };
    if !table.table.tables {
        check_digest(None)?;
        return match table.end == place.footer_start {
            true => Ok(FrameTables::default()),
            false => Err(misfit()),
        };
    }
    let count = table.table.entries().len();
    let longest = SequencesTable::longest(count as u64).max(LONGEST_DIGEST);
    input.seek(SeekFrom::Start(table.end))?;
    let found = tables::find(
        input,
        &[SEQUENCES, STREAM_CHECK],
        longest,
        &[RECORDS, MEMBERS],
    )?;
    let mut found = found.map_err(located)?;
    if table.end + found.tables.size != place.footer_start {
        return Err(misfit());
    }
    check_digest(found.tables.take(STREAM_CHECK).as_deref())?;
    // An invalid table is ignored, as by a reader that does not know its type.
    let sequences = found.tables.take(SEQUENCES);
    let sequences = sequences.map(|content| SequencesTable::from_bytes(&content, count).ok());
    let is_wrong = sequences == Some(None);
    let sequences = sequences.flatten();
    Ok(FrameTables {
        are_wrong: is_wrong || sequences.is_none() && found.place(RECORDS).is_some(),
        sequences,
        records: found.place(RECORDS),
        members: found.place(MEMBERS),
    })
}

/// The blocks of a frame.
fn block_infos(table: &SeekTable, place: &FramePlace, needed: Release) -> Vec<BlockInfo> {
    let mut coded = place.first_block;
    let mut raw = 0;
    let info = |entry: &Entry| {
        let info = BlockInfo {
            coded: coded..coded.saturating_add(entry.coded_size),
            raw: raw..raw + entry.raw_size,
            line_feeds: table.has_line_feeds.then_some(entry.line_feeds),
            raw_offset: raw,
            front_size: entry.front_size,
            needed,
            shape: table.shape(entry),
        };
        (coded, raw) = (info.coded.end, info.raw.end);
        info
    };
    table.entries().iter().map(info).collect()
}

/// The kind of index of the first block that is not stored.
fn index_info(table: &SeekTable) -> Option<IndexInfo> {
    let mut shapes = table
        .entries()
        .iter()
        .map(|entry| table.shape(entry));
    let shape = shapes.find_map(|BlockShape { kind, .. }| match kind {
        BlockKind::Bwt(shape) => Some(shape),
        _ => None,
    });
    let shape = shape.filter(|shape| shape.indexed)?;
    // In a block that is too large for this library to decode, the rate may be 2^33.
    let rate = u32::try_from(1_u64 << shape.sample_rate_log).ok();
    Some(IndexInfo {
        sample_rate: rate.filter(|&rate| rate <= MAX_SAMPLE_RATE),
        // The only filter beside an index is that for sequences.
        of_sequences: shape.filtered,
    })
}

/// Explains a missing footer: damage in a bwz file, another version if the file, or the frame that
/// seems to begin at `start`, begins as one, and "not a bwz file" otherwise.
fn explain(input: &mut dyn ReadSeek, flaw: Flaw, offset: u64, start: u64) -> Error {
    match first_bytes(input, start) {
        Ok(first) if start == 0 && !MAGIC.starts_with(&first[..first.len().min(MAGIC.len())]) => {
            Flaw(NOT_BWZ).at(None, 0)
        }
        Ok(first) => other_version(&first, start).unwrap_or_else(|| flaw.at(None, offset)),
        Err(_) => flaw.at(None, offset),
    }
}

/// The error for a file of another version, if the file begins as one.
pub(crate) fn version_error(input: &mut dyn ReadSeek) -> Option<Error> {
    other_version(&first_bytes(input, 0).ok()?, 0)
}

/// Magic and Version at `start`, or fewer bytes if the file ends there.
fn first_bytes(input: &mut dyn ReadSeek, start: u64) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    input.seek(SeekFrom::Start(start))?;
    let mut input = input.take(MAGIC.len() as u64 + 1);
    input.read_to_end(&mut first)?;
    Ok(first)
}

/// The file offset at which the frame starts whose first block is at `first_block`, in a file that
/// may be damaged: `from`, where the frame before it ended, if a sound header is there and leads to
/// this block, else where a header without tables would be.
pub(crate) fn frame_start(
    input: &mut (impl Read + Seek),
    from: u64,
    first_block: u64,
) -> Result<u64> {
    if let Some(bytes) = read_at::<HEADER_SIZE>(input, from)?
        && let Ok(AnyHeader::Data(header)) = AnyHeader::at(&bytes, from)
    {
        let tables = read_header_tables(input, from, &header);
        if tables.is_ok_and(|tables| tables.end == first_block) {
            return Ok(from);
        }
    }
    Ok(first_block.saturating_sub(HEADER_SIZE as u64))
}

/// Checks what the header of a frame says about its blocks.
fn check_frame(
    frame: &FrameInfo,
    table: &SeekTable,
    content_size: Option<u64>,
) -> Result<(), Flaw> {
    let fits = |entry: &Entry| {
        entry.raw_size <= frame.block_size && entry.coded_size > BlockHeader::SIZE as u64
    };
    let entries = table.entries();
    ensure(
        entries.iter().all(fits) && entries.is_empty() == (frame.block_size == 0),
        "the seek table's entries are not valid",
    )?;
    ensure(
        content_size.is_none_or(|size| size == frame.raw.end),
        "the content size in the frame header does not match the blocks",
    )
}

/// Checks the features of a frame with these blocks.
fn check_features(blocks: &[BlockInfo], announced: Features, footer: Features) -> Result<(), Flaw> {
    let mut used = UsedFeatures::new(announced);
    for block in blocks {
        let shape = block.shape;
        used.add(shape.kind, shape.filters, block.raw.end - block.raw.start)?;
    }
    used.check_footer(footer)
}

/// Reads a range of the file, which must be there.
fn read_range(input: &mut dyn ReadSeek, range: Range<u64>) -> Result<Vec<u8>> {
    input.seek(SeekFrom::Start(range.start))?;
    let bytes = read_payload(input, range.end - range.start)?;
    if range.start + bytes.len() as u64 == range.end {
        Ok(bytes)
    } else {
        Err(CUT_OFF.at(None, range.start + bytes.len() as u64))
    }
}

/// Reads a structure of fixed size.
pub(super) fn fixed<const N: usize>(input: &mut dyn ReadSeek, offset: u64) -> Result<[u8; N]> {
    read_at(input, offset)?.ok_or_else(|| CUT_OFF.at(None, offset))
}
