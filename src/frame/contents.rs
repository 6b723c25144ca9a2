//! The contents of a file: its frames and blocks, as the tables at the end of each frame list them,
//! and reading one block by its place in the file. FORMAT.md chapters 5 to 7.
//!
//! Listing them costs two small reads per frame: one at its end (Footer, Seek_Table and tables) and
//! one at its start (Frame_Header).

use super::backward_reader::BackwardReader;
use super::features::Features;
use super::field_bytes::ensure;
use super::footer::{Footer, NO_FOOTER};
use super::frame_header::{
    AnyHeader, FrameHeader, HEADER_SIZE, MAGIC, NOT_BWZ, PrivateHeader, other_version,
};
use super::frame_reader::CUT_OFF;
use super::header_tables;
use super::seek_table::{self, BlockShape, Entry, SEEK_MARKER, SeekTable, Totals, block_count};
use super::sequences::SequencesTable;
use super::tables::{self, CONTENT_SIZE, METADATA, RECORDS, SEQUENCES, TablePlace};
use super::{BlockHeader, BlockKind, CodedBlock, IndexedBlocks, read_at, read_payload};
use crate::base::error::{Error, Flaw, Release, Result, Unreadable};
use crate::base::shortage;
use crate::options::frame_options::MOST_NOTES;
use crate::options::{MAX_SAMPLE_RATE, Note, StreamCheck};
use crc32fast::Hasher;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// A frame of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// Range of the frame in the file.
    pub coded: Range<u64>,
    /// Range of the raw stream that the frame holds.
    pub raw: Range<u64>,
    /// Maximum number of raw bytes in one of its blocks; 0 if there are no blocks.
    pub block_size: u64,
    /// Number of its blocks.
    pub blocks: u64,
    /// CRC-32 of its raw bytes.
    pub checksum: u32,
    /// What its blocks need of a reader.
    pub features: Features,
    /// The check of its raw bytes beside the CRC-32. `None` if it is one that this release of bwz
    /// does not know; bytes are then restored without it.
    pub check: Option<StreamCheck>,
    /// What a user says about it: keys and values.
    pub notes: Vec<Note>,
    /// Whoever made it, if it holds no data but private content, which bwz passes over.
    pub private: Option<u32>,
    /// The reason why its bytes cannot be restored, if it is not damaged but of a kind that this
    /// release does not know. Its blocks are not known then.
    pub unsupported: Option<String>,
    /// The first release of bwz that reads all of it.
    pub(crate) needed: Release,
    /// The kind of its index, as stated by its first block that is not stored.
    /// [`Archive::info`](crate::Archive::info) counts the blocks that have one.
    pub index: Option<IndexInfo>,
    /// Records and residues of its blocks, if the frame is searched by sequence.
    pub(crate) sequences: Option<SequencesTable>,
    /// True if its blocks have an index of sequences, but the frame has no valid table Sequences.
    pub(crate) lacks_sequences: bool,
    /// Place of the table of its records, which is read when it is needed.
    pub(crate) records: Option<TablePlace>,
}

/// The kind of index that a frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexInfo {
    /// Distance between the positions that are kept for
    /// [`Archive::locate`](crate::Archive::locate). `None` if the index is for counting alone.
    pub sample_rate: Option<u32>,
    /// True if the index is one of sequences; false if it is one of bytes.
    pub of_sequences: bool,
}

/// A block of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// Range of the block in the file, its header included.
    pub coded: Range<u64>,
    /// Range of the raw stream that the block holds.
    pub raw: Range<u64>,
    /// Line feeds in its raw bytes. `None` if the file does not say.
    pub line_feeds: Option<u64>,
    /// Start of its range in the raw stream of its frame.
    raw_offset: u64,
    /// Bytes of its header and the front of its payload, if it has an index, else 0.
    pub(crate) front_size: u64,
    /// The first release of bwz that reads its frame.
    pub(crate) needed: Release,
    pub(crate) shape: BlockShape,
}

/// The interface through which a file is read by position. It is used as a trait object, so readers
/// are compiled once and not for each type that a caller opens.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// All frames of a file, and all their blocks.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub frames: Vec<FrameInfo>,
    pub blocks: Vec<BlockInfo>,
}

impl FrameInfo {
    /// True if the frame is searched by sequence.
    pub(crate) fn is_by_sequence(&self) -> bool {
        self.sequences.is_some() || self.lacks_sequences
    }
}

impl Contents {
    /// Reads the tables of all frames of `input`, from the last to the first, if `memory` bytes can
    /// hold them.
    pub(crate) fn read(input: &mut dyn ReadSeek, memory: u64) -> Result<Self> {
        let input: &mut dyn ReadSeek = &mut BackwardReader::new(input)?;
        let mut frames = Vec::new();
        let mut blocks = 0;
        let size = input.seek(SeekFrom::End(0))?;
        if size == 0 {
            return Err(Flaw("not a bwz file: it is empty").at(None, 0));
        }
        let mut end = without_padding(input, size)?;
        if end == 0 {
            return Err(Flaw(NOT_BWZ).at(None, 0));
        }
        while end > 0 {
            let room = TableRoom {
                memory,
                frames: frames.len() as u64,
                blocks,
            };
            let frame = match read_frame(input, end, room) {
                Err(Error::Unsupported { what, .. }) => {
                    let footer = Footer::from_bytes(&fixed(input, end - Footer::SIZE as u64)?)?;
                    (FrameInfo::unsupported(&footer, end, what.into()), vec![])
                }
                frame => frame?,
            };
            end = frame.0.coded.start;
            blocks += frame.0.blocks;
            frames.push(frame);
        }
        let mut contents = Contents::default();
        frames
            .into_iter()
            .rev()
            .for_each(|(frame, blocks)| contents.append(frame, blocks));
        Ok(contents)
    }

    /// Appends a frame whose raw ranges start at 0.
    fn append(&mut self, mut frame: FrameInfo, blocks: Vec<BlockInfo>) {
        let before = self.raw_size();
        let shift = |raw: Range<u64>| raw.start + before..raw.end + before;
        frame.raw = shift(frame.raw);
        self.frames.push(frame);
        self.blocks
            .extend(blocks.into_iter().map(|block| BlockInfo {
                raw: shift(block.raw),
                ..block
            }));
    }

    /// Raw bytes of the whole file.
    pub(crate) fn raw_size(&self) -> u64 {
        self.frames
            .last()
            .map_or(0, |frame| frame.raw.end)
    }

    /// Raw bytes of the largest block.
    pub(crate) fn largest_block(&self) -> u64 {
        let sizes = self
            .blocks
            .iter()
            .map(|block| block.raw.end - block.raw.start);
        sizes.max().unwrap_or(0)
    }

    /// Fails if the range is not within the raw stream.
    pub(crate) fn check_range(&self, range: &Range<u64>) -> Result<()> {
        if range.start <= range.end && range.end <= self.raw_size() {
            return Ok(());
        }
        let Range { start, end } = range;
        let size = self.raw_size();
        Err(Error::Usage(
            format!("range {start}..{end} is not within the {size} bytes of the file").into(),
        ))
    }
}

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
/// [`Error::Limit`] if its tables need more memory than `room` has.
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
        .ok_or_else(misfit)?;
    let table_start = footer_start
        .checked_sub(footer.seek_table_size)
        .ok_or_else(misfit)?;
    // The version is checked before any field whose place may differ in other versions.
    let header = match AnyHeader::at(&fixed(input, start)?, start)? {
        AnyHeader::Data(header) => header,
        AnyHeader::Private(header) => {
            let sizes = HEADER_SIZE as u64 + header.content_size;
            if table_start != footer_start || footer_start - start != sizes {
                return Err(misfit());
            }
            let private = Some(header.owner);
            let frame = FrameInfo::without_blocks(start..end);
            return Ok((FrameInfo { private, ..frame }, Vec::new()));
        }
        AnyHeader::Unknown(unknown, _) => {
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
        index,
        lacks_sequences: of_sequences && tables.sequences.is_none(),
        sequences: tables.sequences,
        records: tables.records,
    };
    check_frame(&frame, &table.table, head.content_size)
        .map_err(|flaw| flaw.at(None, table_start))?;
    Ok((frame, blocks))
}

impl FrameInfo {
    /// A frame whose blocks are not known. Its footer ends at `end`.
    fn unsupported(footer: &Footer, end: u64, why: String) -> Self {
        FrameInfo {
            raw: 0..footer.total_raw_size,
            unsupported: Some(why),
            ..FrameInfo::without_blocks(end - footer.frame_size..end)
        }
    }

    /// A frame that holds no data.
    fn without_blocks(coded: Range<u64>) -> Self {
        FrameInfo {
            coded,
            raw: 0..0,
            block_size: 0,
            blocks: 0,
            checksum: 0,
            features: Features::NONE,
            check: Some(StreamCheck::Crc32),
            notes: Vec::new(),
            private: None,
            unsupported: None,
            needed: Release::default(),
            index: None,
            sequences: None,
            lacks_sequences: false,
            records: None,
        }
    }
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
    let found = tables::find(input, &wanted, MOST_NOTES as u64, None)?;
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
    if count > coded_size / BlockHeader::SIZE as u64 {
        return Err(misfit());
    }
    room.check(count)?;
    let totals = Totals {
        raw_size: footer.total_raw_size,
        coded_size,
    };
    let table = SeekTable::from_content(&content, totals).map_err(located)?;
    if table.entries().is_empty() && totals != Totals::default() {
        return Err(misfit());
    }
    Ok(PlacedTable { table, end })
}

/// The tables of a frame that a reader by position uses.
#[derive(Default)]
struct FrameTables {
    sequences: Option<SequencesTable>,
    records: Option<TablePlace>,
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
    if !table.table.tables {
        return match table.end == place.footer_start {
            true => Ok(FrameTables::default()),
            false => Err(misfit()),
        };
    }
    let count = table.table.entries().len();
    let longest = SequencesTable::longest(count as u64);
    input.seek(SeekFrom::Start(table.end))?;
    let found = tables::find(input, &[SEQUENCES], longest, Some(RECORDS))?;
    let mut found = found.map_err(located)?;
    if table.end + found.tables.size != place.footer_start {
        return Err(misfit());
    }
    // An invalid table is ignored, as by a reader that does not know its type.
    let read = |content: Vec<u8>| SequencesTable::from_bytes(&content, count).ok();
    Ok(FrameTables {
        sequences: found.tables.take(SEQUENCES).and_then(read),
        records: found.place,
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
/// may be damaged. If the frames between `from`, where one ended, and this block are all sound, it
/// is behind them; otherwise it is where a header without tables would be.
pub(crate) fn frame_start(
    input: &mut (impl Read + Seek),
    from: u64,
    first_block: u64,
) -> Result<u64> {
    let mut at = from;
    while at < first_block
        && let Some(bytes) = read_at::<HEADER_SIZE>(input, at)?
        && let Ok(header) = AnyHeader::at(&bytes, at)
    {
        match header {
            AnyHeader::Data(header) => {
                let tables = read_header_tables(input, at, &header);
                if tables.is_ok_and(|tables| tables.end == first_block) {
                    return Ok(at);
                }
                break;
            }
            AnyHeader::Private(PrivateHeader { content_size, .. })
            | AnyHeader::Unknown(_, content_size) => {
                at += HEADER_SIZE as u64 + content_size + Footer::SIZE as u64;
            }
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

/// Checks that blocks with these headers make up the raw stream of `frame`.
pub(crate) fn check_stream<'h>(
    frame: &FrameInfo,
    headers: impl Iterator<Item = &'h BlockHeader>,
) -> Result<()> {
    let mut stream = Hasher::new();
    for header in headers {
        stream.combine(&Hasher::new_with_initial_len(
            header.raw_checksum,
            header.raw_size,
        ));
    }
    if cfg!(fuzzing) || stream.finalize() == frame.checksum {
        return Ok(());
    }
    let footer_start = frame.coded.end - Footer::SIZE as u64;
    Err(Flaw("the stream's checksum does not match the blocks'").at(None, footer_start))
}

/// Reads the block that `info` describes.
pub(crate) fn read_block(
    input: &mut dyn ReadSeek,
    info: &BlockInfo,
    number: u64,
) -> Result<CodedBlock> {
    let offset = info.coded.start;
    let header = read_block_header(input, info).map_err(|e| e.at(number, offset))?;
    let payload = read_payload(input, header.coded_size)?;
    if (payload.len() as u64) < header.coded_size {
        return Err(CUT_OFF.at(Some(number), offset));
    }
    Ok(CodedBlock {
        header,
        payload,
        sequences: None,
        front_size: 0,
        line_feeds: 0,
        needed: info.needed,
        number,
        offset,
    })
}

/// Counts the blocks by their kind of index.
pub(crate) fn indexed_blocks(blocks: &[BlockInfo]) -> IndexedBlocks {
    let mut indexed = IndexedBlocks::default();
    blocks
        .iter()
        .for_each(|info| indexed.count(info.shape.kind));
    indexed
}

/// Reads the header of the block that `info` describes and checks that it belongs to that block.
pub(crate) fn read_block_header(input: &mut dyn ReadSeek, info: &BlockInfo) -> Result<BlockHeader> {
    let offset = info.coded.start;
    let header =
        BlockHeader::from_bytes(&fixed(input, offset)?).map_err(|flaw| flaw.at(None, offset))?;
    let size = info.coded.end - offset - BlockHeader::SIZE as u64;
    let expected = (size, info.raw.end - info.raw.start, info.raw_offset);
    let sizes = (header.coded_size, header.raw_size, header.raw_offset);
    if sizes == expected && header.kind == info.shape.kind {
        return Ok(header);
    }
    Err(Flaw("the block is not the one that the seek table describes").at(None, offset))
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
fn fixed<const N: usize>(input: &mut dyn ReadSeek, offset: u64) -> Result<[u8; N]> {
    read_at(input, offset)?.ok_or_else(|| CUT_OFF.at(None, offset))
}
