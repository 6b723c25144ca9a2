//! The contents of a file: its frames and blocks, as the tables at the end of each frame list them,
//! and reading one block by its place in the file. FORMAT.md chapters 5 to 7.
//!
//! Listing them costs two small reads per frame: one at its end (Footer, Seek_Table and tables) and
//! one at its start (Frame_Header).

use super::backward_reader::{BackwardReader, ReadSeek};
use super::footer::Footer;
use super::frame_at_end::{TableRoom, fixed, read_or_pass, without_padding};
use super::frame_header::NOT_BWZ;
use super::frame_info::{BlockInfo, FrameInfo};
use super::frame_reader::CUT_OFF;
use super::{BlockHeader, CodedBlock, IndexedBlocks, read_payload_into};
use crate::base::error::{Error, Flaw, Result};
use crc32fast::Hasher;
use std::io::SeekFrom;
use std::ops::Range;

/// All frames of a file, and all their blocks.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub frames: Vec<FrameInfo>,
    pub blocks: Vec<BlockInfo>,
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
            let frame = match read_or_pass(input, end, room) {
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

/// Checks that blocks with these headers make up the raw stream of `frame`.
pub(crate) fn check_stream(frame: &FrameInfo, headers: &[BlockHeader]) -> Result<()> {
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
    read_block_into(Vec::new(), input, info, number)
}

/// Reads a block like [`read_block`]. Its payload takes the memory of an earlier one if that is
/// enough.
pub(crate) fn read_block_into(
    memory: Vec<u8>,
    input: &mut dyn ReadSeek,
    info: &BlockInfo,
    number: u64,
) -> Result<CodedBlock> {
    let offset = info.coded.start;
    let header = read_block_header(input, info).map_err(|e| e.at(number, offset))?;
    let payload = read_payload_into(memory, input, header.coded_size)?;
    if (payload.len() as u64) < header.coded_size {
        return Err(CUT_OFF.at(Some(number), offset));
    }
    let block = CodedBlock {
        header,
        payload,
        sequences: None,
        front_size: 0,
        index_size: 0,
        line_feeds: 0,
        needed: info.needed,
        number,
        offset,
    };
    let is_listed = |ids| ids == info.shape.filters;
    // A damaged list is found when the block is decoded.
    if block.listed_filters().is_none_or(is_listed) {
        return Ok(block);
    }
    let flaw = block.check_payload().err().unwrap_or(OTHER_BLOCK);
    Err(flaw.at(Some(number), offset))
}

const OTHER_BLOCK: Flaw = Flaw("the block is not the one that the seek table describes");

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
    header_of(&fixed(input, info.coded.start)?, info)
}

/// Parses the header of the block that `info` describes and checks that it belongs to that block.
pub(crate) fn header_of(bytes: &[u8; BlockHeader::SIZE], info: &BlockInfo) -> Result<BlockHeader> {
    let offset = info.coded.start;
    let header = BlockHeader::from_bytes(bytes).map_err(|flaw| flaw.at(None, offset))?;
    let size = info.coded.end - offset - BlockHeader::SIZE as u64;
    let expected = (size, info.raw.end - info.raw.start, info.raw_offset);
    let sizes = (header.coded_size, header.raw_size, header.raw_offset);
    if sizes == expected && header.kind == info.shape.kind {
        return Ok(header);
    }
    Err(OTHER_BLOCK.at(None, offset))
}
