//! Reads frames in order, one after the other, without seeking. FORMAT.md chapter 7.
//!
//! The reader checks that structures agree with each other. It does not look inside a payload.
//! Memory grows with the bytes that have been read, never with a size that a header merely claims.

use super::block_header::{BlockHeader, CodedBlock, SYNC_MARKER, fill, read_payload};
use super::field_bytes::ensure;
use super::footer::Footer;
use super::frame_header::{FrameHeader, MAGIC, NOT_BWZ, other_version};
use super::indexed_blocks::IndexedBlocks;
use super::seek_table::{Entry, SEEK_MARKER, SeekTable};
use super::tables;
use crate::base::error::{Flaw, Result};
use crate::options::Options;
use crate::options::events::Step;
use crc32fast::Hasher;
use std::io::{self, Read};
use std::time::Instant;

/// Reads the blocks of all frames of a file, in order.
pub(crate) struct FrameReader<R> {
    input: R,
    /// Options with the limit on the size of the output.
    options: Options,
    offset: u64,
    blocks: u64,
    frames: u64,
    /// Numbers of blocks read so far, by their kind of index.
    indexed: IndexedBlocks,
    /// Raw bytes of the blocks so far.
    raw_size: u64,
    frame: Option<OpenFrame>,
    /// Sync_Marker was read: a block of the open frame follows.
    at_block: bool,
    /// An error was returned: there is nothing more to read.
    failed: bool,
}

/// The frame that is being read, and the sums over its blocks so far.
struct OpenFrame {
    start: u64,
    block_size: u64,
    entries: Vec<Entry>,
    raw_size: u64,
    stream: Hasher,
}

impl<R: Read> FrameReader<R> {
    pub(crate) fn new(input: R, options: &Options) -> Self {
        FrameReader {
            input,
            options: options.clone(),
            offset: 0,
            blocks: 0,
            frames: 0,
            indexed: IndexedBlocks::default(),
            raw_size: 0,
            frame: None,
            at_block: false,
            failed: false,
        }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Numbers of blocks read so far, by their kind of index.
    pub(crate) fn indexed(&self) -> IndexedBlocks {
        self.indexed
    }

    /// Number of the next block in the file and the offset of its header. Valid right after
    /// [`FrameReader::next_block_size`].
    pub(crate) fn place(&self) -> (u64, u64) {
        (
            self.blocks,
            self.offset
                .saturating_sub(SYNC_MARKER.len() as u64),
        )
    }

    /// The block size of the frame that contains the next block. `None` at the end of the file or
    /// after an error.
    ///
    /// Reads and checks frames without blocks, and ends of frames, on the way.
    pub(crate) fn next_block_size(&mut self) -> Result<Option<u64>> {
        if self.failed {
            return Ok(None);
        }
        let size = self.seek_block();
        self.failed = size.is_err();
        size
    }

    /// Reads the next block. `None` if there is no block, or if the block size of its frame is
    /// above `planned` bytes.
    pub(crate) fn next_block(&mut self, planned: u64) -> Option<Result<CodedBlock>> {
        match self.next_block_size().transpose()? {
            Err(e) => Some(Err(e)),
            Ok(size) if size > planned => None,
            Ok(_) => {
                let block = self.block();
                self.failed = block.is_err();
                Some(block)
            }
        }
    }

    fn seek_block(&mut self) -> Result<Option<u64>> {
        while !self.at_block {
            if self.frame.is_none() && !self.open_frame()? {
                return Ok(None);
            }
            let start = self.offset;
            let marker = self.take::<8>()?;
            match marker {
                SYNC_MARKER => self.at_block = true,
                SEEK_MARKER => self.close_frame(start)?,
                _ => {
                    return Err(
                        Flaw("there is neither a block nor the seek table here").at(None, start)
                    );
                }
            }
        }
        Ok(self.frame.as_ref().map(|frame| frame.block_size))
    }

    /// Reads the block whose Sync_Marker was read.
    fn block(&mut self) -> Result<CodedBlock> {
        self.at_block = false;
        let from = Instant::now();
        let (number, offset) = self.place();
        let mut bytes = [0; BlockHeader::SIZE];
        bytes[..8].copy_from_slice(&SYNC_MARKER);
        bytes[8..].copy_from_slice(&self.take::<{ BlockHeader::SIZE - 8 }>()?);
        let frame = self
            .frame
            .as_mut()
            .expect("a block is met within a frame only");
        let header = BlockHeader::from_bytes(&bytes)
            .and_then(|header| frame.block(header, offset).map(|()| header))
            .map_err(|flaw| flaw.at(Some(number), offset))?;
        let size = header.raw_size;
        let what = || format!("block {number} of {size} bytes (at byte {offset})");
        self.options
            .check_output(self.raw_size, size, what)?;
        let payload = self.take_payload(header.coded_size)?;
        self.blocks += 1;
        self.indexed.count(header.kind);
        self.raw_size += size;
        self.options
            .run
            .listener
            .done(number, [(Step::Read, from, Instant::now())]);
        Ok(CodedBlock {
            header,
            payload,
            sequences: None,
            number,
            offset,
        })
    }

    /// Reads the next Frame_Header. Returns false at the end of the file.
    fn open_frame(&mut self) -> Result<bool> {
        let start = self.offset;
        let mut bytes = Vec::with_capacity(FrameHeader::SIZE);
        self.input
            .by_ref()
            .take(FrameHeader::SIZE as u64)
            .read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        if bytes.is_empty() && self.frames > 0 {
            return Ok(false);
        }
        if bytes.first() == Some(&0) && self.frames > 0 {
            self.pass_padding(&bytes)?;
            return Ok(false);
        }
        let known = bytes.len().min(MAGIC.len());
        if bytes.is_empty() || bytes[..known] != MAGIC[..known] {
            let flaw = match (self.frames, bytes.len()) {
                (0, 0) => "not a bwz file: it is empty",
                (0, _) => NOT_BWZ,
                _ => "trailing garbage: the bytes after the last frame are not a bwz frame",
            };
            return Err(Flaw(flaw).at(None, start));
        }
        other_version(&bytes, start).map_or(Ok(()), Err)?;
        let bytes = bytes
            .as_slice()
            .try_into()
            .map_err(|_| CUT_OFF.at(None, self.offset))?;
        let header = FrameHeader::at(bytes, start)?;
        self.frame = Some(OpenFrame::new(start, header.block_size));
        Ok(true)
    }

    /// Reads the padding that begins with `first`, up to the end of the file. Padding is not added
    /// to the offset: the file ends where its last frame does.
    fn pass_padding(&mut self, first: &[u8]) -> Result<()> {
        let start = self.offset - first.len() as u64;
        self.offset = start;
        let mut checked = 0;
        let mut buffer = vec![0; PADDING_BUFFER];
        let mut bytes = first;
        loop {
            if let Some(other) = bytes.iter().position(|&byte| byte != 0) {
                return Err(NOT_PADDING.at(None, start + checked + other as u64));
            }
            checked += bytes.len() as u64;
            let came = fill(&mut self.input, &mut buffer)?;
            if came == 0 {
                return Ok(());
            }
            bytes = &buffer[..came];
        }
    }

    /// Reads Seek_Table, whose marker was at `start`, and Footer.
    fn close_frame(&mut self, start: u64) -> Result<()> {
        let mut bytes = [0; SeekTable::HEADER_SIZE];
        bytes[..8].copy_from_slice(&SEEK_MARKER);
        bytes[8..].copy_from_slice(&self.take::<{ SeekTable::HEADER_SIZE - 8 }>()?);
        let frame = self
            .frame
            .take()
            .expect("close_frame is called within a frame");
        let located = |flaw: Flaw| flaw.at(None, start);
        let table = SeekTable::header_from_bytes(&bytes)
            .and_then(|table| frame.check_table_size(&table).map(|()| table))
            .map_err(located)?;
        let entries = self.take_payload(table.entries_size)?;
        let tables_size = if table.tables { self.pass_tables()? } else { 0 };
        let footer_start = self.offset;
        let footer = self.take::<{ Footer::SIZE }>()?;
        frame
            .check_entries(&table, &entries)
            .map_err(located)?;
        Footer::from_bytes(&footer)
            .and_then(|footer| frame.check_footer(&footer, table.size() + tables_size, self.offset))
            .map_err(|flaw| flaw.at(None, footer_start))?;
        self.frames += 1;
        Ok(())
    }

    /// Reads and checks the frame's tables. Returns their size.
    fn pass_tables(&mut self) -> Result<u64> {
        let start = self.offset;
        let size = match tables::check(&mut self.input) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(CUT_OFF.at(None, start));
            }
            size => size?.map_err(|flaw| flaw.at(None, start))?,
        };
        self.offset += size;
        Ok(size)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let came = fill(&mut self.input, &mut bytes)?;
        if came < N {
            return Err(CUT_OFF.at(None, self.offset + came as u64));
        }
        self.offset += N as u64;
        Ok(bytes)
    }

    fn take_payload(&mut self, size: u64) -> Result<Vec<u8>> {
        let bytes = read_payload(&mut self.input, size)?;
        self.offset += bytes.len() as u64;
        if bytes.len() as u64 == size {
            Ok(bytes)
        } else {
            Err(CUT_OFF.at(None, self.offset))
        }
    }
}

/// Bytes of padding that are read at a time.
const PADDING_BUFFER: usize = 64 << 10;

const NOT_PADDING: Flaw = Flaw(
    "trailing garbage: zero bytes after the last frame are padding only if they reach the end of \
     the file, but here is another byte",
);

pub(crate) const CUT_OFF: Flaw = Flaw("the file ends in the middle of a frame: it was cut off");

impl OpenFrame {
    fn new(start: u64, block_size: u64) -> Self {
        OpenFrame {
            start,
            block_size,
            entries: Vec::new(),
            raw_size: 0,
            stream: Hasher::new(),
        }
    }

    /// Checks that a block continues the ones before it, and adds it to the sums.
    fn block(&mut self, header: BlockHeader, offset: u64) -> Result<(), Flaw> {
        ensure(
            self.block_size > 0,
            "a block in a frame that says it has none",
        )?;
        ensure(
            header.raw_size <= self.block_size,
            "the block is larger than the frame's block size",
        )?;
        ensure(
            header.raw_offset == self.raw_size,
            "the block's raw offset is not where the block before it ended",
        )?;
        self.entries.push(Entry {
            raw_offset: self.raw_size,
            frame_offset: offset - self.start,
        });
        self.raw_size += header.raw_size;
        self.stream.combine(&Hasher::new_with_initial_len(
            header.raw_checksum,
            header.raw_size,
        ));
        Ok(())
    }

    fn check_table_size(&self, table: &SeekTable) -> Result<(), Flaw> {
        ensure(
            self.entries.is_empty() == (self.block_size == 0),
            "the frame's block size promises blocks, but it has none",
        )?;
        table.check_size(self.entries.len() as u64)
    }

    fn check_entries(&self, table: &SeekTable, coded: &[u8]) -> Result<(), Flaw> {
        ensure(
            table.entries(coded)? == self.entries,
            "the seek table does not match the blocks",
        )
    }

    fn check_footer(&self, footer: &Footer, table_size: u64, end: u64) -> Result<(), Flaw> {
        ensure(
            footer.total_raw_size == self.raw_size,
            "the footer's raw size does not match the blocks",
        )?;
        let sizes_match =
            footer.frame_size == end - self.start && footer.seek_table_size == table_size;
        ensure(sizes_match, "the footer's sizes do not match the frame")?;
        ensure(
            footer.stream_checksum == self.stream.clone().finalize(),
            "the stream's checksum does not match the blocks'",
        )
    }
}
