//! The contents of a file: its frames and blocks, as the tables at the end of each frame list them,
//! and reading one block by its place in the file. FORMAT.md chapters 5 to 7.
//!
//! Listing them costs two small reads per frame: one at its end (Footer, Seek_Table) and one at its
//! start.

use crate::base::error::{Error, Flaw, Result};
use crate::base::shortage;
use crate::filter;
use crate::frame::{
    BlockHeader, BlockKind, CUT_OFF, CodedBlock, Entry, Footer, FrameHeader, IndexedBlocks, MAGIC,
    NO_FOOTER, NOT_BWZ, RECORDS, SEQUENCES, SeekTable, SequencesTable, TablePlace, find_table,
    other_version, read_at, read_payload,
};
use crate::options::MAX_SAMPLE_RATE;
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
    /// Start of that range in the raw stream of its frame.
    raw_offset: u64,
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
            let before = frames.len() as u64;
            let room = TableRoom {
                memory,
                frames: before,
                blocks,
            };
            let frame = read_frame(input, end, room)?;
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
        const BLOCK: u64 = 256;
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
    let too_short = Flaw("the footer's sizes do not match the frame");
    let Some(footer_start) = end.checked_sub(Footer::SIZE as u64) else {
        return Err(explain(input, NO_FOOTER, 0));
    };
    let footer = Footer::from_bytes(&fixed(input, footer_start)?)
        .map_err(|flaw| explain(input, flaw, footer_start))?;
    let misfit = || too_short.at(None, footer_start);
    let start = end
        .checked_sub(footer.frame_size)
        .ok_or_else(misfit)?;
    // The version is checked before any field whose place may differ in other versions.
    let header = FrameHeader::at(&fixed(input, start)?, start)?;
    let table_start = footer_start
        .checked_sub(footer.seek_table_size)
        .ok_or_else(misfit)?;
    let first_block = start + FrameHeader::SIZE as u64;
    if table_start < first_block || footer.seek_table_size < SeekTable::HEADER_SIZE as u64 {
        return Err(misfit());
    }
    let SeekTableContent {
        blocks,
        sequences,
        records,
    } = read_seek_table(input, table_start, &footer, start, room)?;
    let mut frame = FrameInfo {
        coded: start..end,
        raw: 0..footer.total_raw_size,
        block_size: header.block_size,
        blocks: blocks.len() as u64,
        checksum: footer.stream_checksum,
        index: None,
        sequences,
        lacks_sequences: false,
        records,
    };
    check_blocks(&frame, &blocks, first_block..table_start)
        .map_err(|flaw| flaw.at(None, table_start))?;
    let (index, of_sequences) = index_info(input, &blocks)?;
    frame.index = index;
    frame.lacks_sequences = of_sequences && frame.sequences.is_none();
    Ok((frame, blocks))
}

/// The kind of index of the first block that is not stored, among the first few blocks. A block
/// with a damaged header is skipped. The second value is true if that index is one of sequences.
fn index_info(input: &mut dyn ReadSeek, blocks: &[BlockInfo]) -> Result<(Option<IndexInfo>, bool)> {
    const LOOKED_AT: usize = 8;
    for info in blocks.iter().take(LOOKED_AT) {
        match read_block_header(input, info) {
            Ok(BlockHeader {
                kind: BlockKind::Bwt(shape),
                ..
            }) => {
                // In a block that is too large for this library to decode, the rate may be 2^33.
                let rate = u32::try_from(1_u64 << shape.sample_rate_log).ok();
                let sample_rate = rate.filter(|&rate| rate <= MAX_SAMPLE_RATE);
                let of_sequences = shape.filters & filter::SEQUENCES != 0;
                let index = shape.indexed.then_some(IndexInfo {
                    sample_rate,
                    of_sequences,
                });
                return Ok((index, shape.indexed && shape.filters == filter::SEQUENCES));
            }
            Ok(_) => {}
            Err(Error::Format { .. }) => return Ok((None, false)),
            Err(e) => return Err(e),
        }
    }
    Ok((None, false))
}

/// Explains a missing footer: damage in a bwz file, another version if the file begins as one, and
/// "not a bwz file" otherwise.
fn explain(input: &mut dyn ReadSeek, flaw: Flaw, offset: u64) -> Error {
    match first_bytes(input) {
        Ok(first) if !MAGIC.starts_with(&first[..first.len().min(MAGIC.len())]) => {
            Flaw(NOT_BWZ).at(None, 0)
        }
        Ok(first) => other_version(&first, 0).unwrap_or_else(|| flaw.at(None, offset)),
        Err(_) => flaw.at(None, offset),
    }
}

/// The error for a file of another version, if the file begins as one.
pub(crate) fn version_error(input: &mut dyn ReadSeek) -> Option<Error> {
    other_version(&first_bytes(input).ok()?, 0)
}

/// Magic and Version, or all bytes of a shorter file.
fn first_bytes(input: &mut dyn ReadSeek) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    input.rewind()?;
    input
        .take(MAGIC.len() as u64 + 1)
        .read_to_end(&mut first)?;
    Ok(first)
}

/// The blocks of a frame, and the contents of its tables.
struct SeekTableContent {
    blocks: Vec<BlockInfo>,
    sequences: Option<SequencesTable>,
    records: Option<TablePlace>,
}

/// Reads the blocks of the frame at `start` from its seek table.
fn read_seek_table(
    input: &mut dyn ReadSeek,
    table_start: u64,
    footer: &Footer,
    start: u64,
    table_room: TableRoom,
) -> Result<SeekTableContent> {
    let located = |flaw: Flaw| flaw.at(None, table_start);
    let table = SeekTable::header_from_bytes(&fixed(input, table_start)?).map_err(located)?;
    let count = table.block_count();
    // The counts must fit the bytes that are there. This is checked before anything is allocated by
    // them.
    let room = (table_start - start) / BlockHeader::SIZE as u64;
    let misfit = || located(Flaw("the seek table's sizes do not match the frame"));
    let tables_size = footer
        .seek_table_size
        .checked_sub(table.size())
        .ok_or_else(misfit)?;
    if count > room || table.tables != (tables_size > 0) {
        return Err(misfit());
    }
    table.check_size(count).map_err(located)?;
    table_room.check(count)?;
    let coded = read_payload(input, table.entries_size)?;
    let entries = table.entries(&coded).map_err(located)?;
    let mut sequences = None;
    let mut records = None;
    if table.tables {
        let found = find_table(
            input,
            Some((SEQUENCES, SequencesTable::longest(count))),
            Some(RECORDS),
        )?;
        let found = found.map_err(located)?;
        if found.size != tables_size {
            return Err(misfit());
        }
        // An invalid table is ignored, as by a reader that does not know its type.
        let read = |content: Vec<u8>| SequencesTable::from_bytes(&content, entries.len()).ok();
        sequences = found.content.and_then(read);
        records = found.place;
    }
    let ends = entries
        .iter()
        .skip(1)
        .map(|next| (next.raw_offset, next.frame_offset));
    let ends = ends.chain([(footer.total_raw_size, table_start - start)]);
    let block = |(entry, (raw_end, coded_end)): (&Entry, (u64, u64))| BlockInfo {
        coded: start.saturating_add(entry.frame_offset)..start.saturating_add(coded_end),
        raw: entry.raw_offset..raw_end,
        raw_offset: entry.raw_offset,
    };
    let blocks = entries.iter().zip(ends).map(block).collect();
    Ok(SeekTableContent {
        blocks,
        sequences,
        records,
    })
}

/// Checks that the blocks fill `area` without gaps and that none is empty or too large.
fn check_blocks(frame: &FrameInfo, blocks: &[BlockInfo], area: Range<u64>) -> Result<(), Flaw> {
    let flaw = Err(Flaw("the seek table's entries are not valid"));
    let mut raw = 0;
    let mut coded = area.start;
    for block in blocks {
        let size = block.raw.end.saturating_sub(block.raw.start);
        let fits = (1..=frame.block_size).contains(&size);
        let size_in_file = block.coded.end.checked_sub(coded);
        let long_enough = size_in_file.is_some_and(|size| size > BlockHeader::SIZE as u64);
        if block.raw.start != raw || block.coded.start != coded || !long_enough || !fits {
            return flaw;
        }
        (raw, coded) = (block.raw.end, block.coded.end);
    }
    if (raw, coded) == (frame.raw.end, area.end) && blocks.is_empty() == (frame.block_size == 0) {
        return Ok(());
    }
    flaw
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
        number,
        offset,
    })
}

/// Counts the blocks by the kind of index that their headers state.
pub(crate) fn indexed_blocks(
    input: &mut dyn ReadSeek,
    blocks: &[BlockInfo],
) -> Result<IndexedBlocks> {
    let mut indexed = IndexedBlocks::default();
    for (info, number) in blocks.iter().zip(0..) {
        let header = read_block_header(input, info).map_err(|e| e.at(number, info.coded.start))?;
        indexed.count(header.kind);
    }
    Ok(indexed)
}

/// Reads the header of the block that `info` describes and checks that it belongs to that block.
pub(crate) fn read_block_header(input: &mut dyn ReadSeek, info: &BlockInfo) -> Result<BlockHeader> {
    let offset = info.coded.start;
    let header =
        BlockHeader::from_bytes(&fixed(input, offset)?).map_err(|flaw| flaw.at(None, offset))?;
    let size = info.coded.end - offset - BlockHeader::SIZE as u64;
    let expected = (size, info.raw.end - info.raw.start, info.raw_offset);
    if (header.coded_size, header.raw_size, header.raw_offset) == expected {
        return Ok(header);
    }
    Err(Flaw("the block is not the one that the seek table describes").at(None, offset))
}

/// Reads a structure of fixed size.
fn fixed<const N: usize>(input: &mut dyn ReadSeek, offset: u64) -> Result<[u8; N]> {
    read_at(input, offset)?.ok_or_else(|| CUT_OFF.at(None, offset))
}
