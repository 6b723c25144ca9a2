//! Doors into the rooms for the fuzz targets and benches of this repository, and for nobody else: what they give changes
//! without notice.
//!
//! Each function passes on what it gets and decides nothing. Structures come and go as the bytes that stand in a file. All work
//! is done on the current rayon pool, so that a caller who is a pool of one thread starts no other.

use crate::archive::Archive;
use crate::coder;
use crate::decompress;
use crate::error::{Flaw, Result};
use crate::filter::regions::{self, Region};
use crate::filter::{self, Filtered, finder, lines, matches};
use crate::frame::Kind;
use crate::frame::scan::Scanner;
use crate::frame::{
    BlockHeader, BwtPayload, CodedBlock, Footer, FrameHeader, FrameReader, SeekTable,
};
use crate::search::{Block, Origin, Source};
use std::io::Cursor;
use std::iter;

/// A block's header and its payload.
pub type BlockBytes = ([u8; BlockHeader::SIZE], Vec<u8>);

/// Reads a frame header and writes it again.
pub fn frame_header(bytes: &[u8; FrameHeader::SIZE]) -> Result<[u8; FrameHeader::SIZE]> {
    FrameHeader::at(bytes, 0).map(FrameHeader::to_bytes)
}

/// Reads a block header and writes it again.
pub fn block_header(bytes: &[u8; BlockHeader::SIZE]) -> Result<[u8; BlockHeader::SIZE], Flaw> {
    BlockHeader::from_bytes(bytes).map(BlockHeader::to_bytes)
}

/// Reads a footer and writes it again.
pub fn footer(bytes: &[u8; Footer::SIZE]) -> Result<[u8; Footer::SIZE], Flaw> {
    Footer::from_bytes(bytes).map(Footer::to_bytes)
}

/// Reads the seek table of so many blocks and writes it again.
pub fn seek_table(bytes: &[u8], blocks: u64) -> Result<Vec<u8>, Flaw> {
    let (header, entries) = bytes.split_first_chunk().ok_or(Flaw("too short"))?;
    let table = SeekTable::header_from_bytes(header)?;
    table.check_size(blocks)?;
    table.entries(entries).map(|entries| SeekTable::to_bytes(&entries))
}

/// Reads the tables of a payload and writes them again, with the segments behind them.
pub fn payload(header: &[u8; BlockHeader::SIZE], payload: &[u8]) -> Result<Vec<u8>, Flaw> {
    let BlockHeader { kind, raw_size, .. } = BlockHeader::from_bytes(header)?;
    let Kind::Bwt(shape) = kind else { return Err(Flaw("stored")) };
    BwtPayload::from_bytes(payload, raw_size, shape).map(|parts| parts.to_bytes())
}

/// The blocks of all frames, read in order.
pub fn blocks(file: &[u8]) -> impl Iterator<Item = Result<BlockBytes>> {
    let mut frames = FrameReader::new(file);
    iter::from_fn(move || frames.next_block(u32::MAX))
        .map(|block| block.map(|block| (block.header.to_bytes(), block.payload)))
}

/// Where blocks and ends of frames stand, found without order.
pub fn landmarks(file: &[u8]) -> impl Iterator<Item = u64> {
    let (mut scanner, mut from) = (Scanner::default(), 0);
    iter::from_fn(move || {
        let found = scanner.next(&mut Cursor::new(file), from).ok()??.start();
        from = found + 1;
        Some(found)
    })
}

/// A block's raw bytes.
pub fn restore((header, payload): BlockBytes) -> Result<Vec<u8>> {
    let header = BlockHeader::from_bytes(&header)?;
    decompress::restore(CodedBlock { header, payload, number: 0, offset: 0 }, None)
}

/// Counts and locates `pattern` in one block that stays in the file, however few its segments are, and extracts `range`; `None`
/// where it has no index.
pub fn search_on_disk(
    archive: &mut Archive<Cursor<&[u8]>>,
    number: usize,
    pattern: &[u8],
    range: std::ops::Range<usize>,
) -> Result<Option<(u32, Vec<u32>, Vec<u8>)>> {
    let (info, options) = (&archive.blocks[number], &archive.options);
    let origin = Origin { source: &Source::new(&mut archive.input), info, number: 0, options };
    let Block::Cold(cold) = origin.open(0, 0)? else { return Ok(None) };
    let rows = cold.interval(pattern)?;
    let positions = cold.positions(&rows.clone().collect::<Vec<_>>())?;
    Ok(Some((rows.len() as u32, positions, cold.extract(range)?)))
}

/// Codes a segment as one of the kinds 1 to 3, or stores it where that is not shorter.
pub fn encode_segment(kind: u8, segment: &[u8]) -> Vec<u8> {
    coder::encode_as(kind, segment)
}

/// Joins lines of `width` bytes, wherever there are.
pub fn join_lines(block: &[u8], width: usize) -> Filtered {
    let mut side = Vec::new();
    Filtered { text: lines::encode(block, width, &mut side), flags: filter::LINES, side }
}

/// Changes `text` as a region of the kind that stands in `kind` as in a file.
pub fn change_region(mut text: Vec<u8>, mut kind: &[u8]) -> Result<Filtered, Flaw> {
    let (size, mut side) = (text.len(), Vec::new());
    let kind = regions::Kind::read(&mut kind)?;
    regions::encode(&mut text, &[Region { size, kind }], &mut side);
    Ok(Filtered { text, flags: filter::REGIONS, side })
}

/// Takes repeats out of `text`, if any are worth it.
pub fn take_out_repeats(mut text: Vec<u8>) -> Option<Filtered> {
    let (found, mut side) = (finder::find(&text)?, Vec::new());
    matches::encode(&mut text, &found, &mut side);
    Some(Filtered { text, flags: filter::MATCHES, side })
}
