//! Reads frames in order, one after the other, without seeking. FORMAT.md chapter 7.
//!
//! The reader checks that structures agree with each other. It does not look inside a payload.
//! Memory grows with the bytes that have been read, never with a size that a header merely claims.

use super::block_header::{BlockHeader, BlockKind, CodedBlock, SYNC_MARKER, fill, read_payload};
use super::bwt_payload::PayloadFront;
use super::features::{Features, UsedFeatures};
use super::field_bytes::ensure;
use super::footer::Footer;
use super::frame_header::{
    AnyHeader, FrameHeader, HEADER_SIZE, MAGIC, NOT_BWZ, PrivateHeader, other_version,
};
use super::header_tables;
use super::indexed_blocks::IndexedBlocks;
use super::seek_table::{
    self, BlockShape, EntrySizes, SEEK_MARKER, SeekTable, Totals, UNMEASURED, block_count,
};
use super::stream_check::{FrameChecks, FrameLineFeeds};
use super::tables::{self, CONTENT_SIZE, METADATA, ReadTables, STREAM_CHECK};
use crate::base::error::{Error, Flaw, Release, Result, Unreadable};
use crate::options::events::Step;
use crate::options::{Note, Options, StreamCheck};
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
    /// The notes of the last frame that was begun.
    notes: Vec<Note>,
    checks: FrameChecks,
    /// Sync_Marker was read: a block of the open frame follows.
    at_block: bool,
    /// An error was returned: there is nothing more to read.
    failed: bool,
}

/// The frame that is being read, and the sums over its blocks so far.
struct OpenFrame {
    start: u64,
    header: FrameHeader,
    /// Content_Size, if the header has it.
    content_size: Option<u64>,
    /// The blocks so far, without what only their payloads tell.
    blocks: SeekTable,
    features: UsedFeatures,
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
            notes: Vec::new(),
            checks: FrameChecks::default(),
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

    /// The notes of the last frame that was begun.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The checks of the streams of the frames, for a [`StreamVerifier`](super::StreamVerifier).
    pub(crate) fn checks(&self) -> FrameChecks {
        self.checks.clone()
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
        Ok(self
            .frame
            .as_ref()
            .map(|frame| frame.header.block_size))
    }

    /// Reads the block whose Sync_Marker was read.
    fn block(&mut self) -> Result<CodedBlock> {
        self.at_block = false;
        let from = Instant::now();
        let (number, offset) = self.place();
        let mut bytes = [0; BlockHeader::SIZE];
        bytes[..8].copy_from_slice(&SYNC_MARKER);
        bytes[8..].copy_from_slice(&self.take::<{ BlockHeader::SIZE - 8 }>()?);
        let located = |flaw: Flaw| flaw.at(Some(number), offset);
        let header = BlockHeader::from_bytes(&bytes).map_err(located)?;
        let frame = self.open();
        frame.check_block(&header).map_err(located)?;
        let needed = frame.header.needed;
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
            .done(number, size, [(Step::Read, from, Instant::now())]);
        let block = CodedBlock {
            header,
            payload,
            sequences: None,
            front_size: 0,
            index_size: 0,
            line_feeds: 0,
            needed,
            number,
            offset,
        };
        self.open().add(&block).map_err(located)?;
        Ok(block)
    }

    /// The frame that a block was met in.
    fn open(&mut self) -> &mut OpenFrame {
        self.frame
            .as_mut()
            .expect("a block is met within a frame only")
    }

    /// Reads the next Frame_Header, and passes over private frames. Returns false at the end of the
    /// file.
    fn open_frame(&mut self) -> Result<bool> {
        loop {
            let start = self.offset;
            let Some(bytes) = self.header_bytes()? else {
                return Ok(false);
            };
            match AnyHeader::at(&bytes, start)? {
                AnyHeader::Data(header) => {
                    header_tables::check_known(header.check)
                        .map_err(|why| why.at(None, start, header.needed))?;
                    let content_size = self.header_tables(&header)?;
                    if let Some(check) = StreamCheck::of(header.check) {
                        self.checks.begin(check, self.blocks);
                    }
                    self.frame = Some(OpenFrame::new(start, header, content_size));
                    return Ok(true);
                }
                AnyHeader::Private(header) => self.pass_private(start, &header)?,
                AnyHeader::Unknown(unknown, _) => {
                    return Err(unknown.at(None, start, Release::default()));
                }
            }
            self.frames += 1;
        }
    }

    /// Reads the bytes of the next Frame_Header. `None` at the end of the file.
    fn header_bytes(&mut self) -> Result<Option<[u8; HEADER_SIZE]>> {
        let start = self.offset;
        let mut bytes = Vec::with_capacity(HEADER_SIZE);
        self.input
            .by_ref()
            .take(HEADER_SIZE as u64)
            .read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        if bytes.is_empty() && self.frames > 0 {
            return Ok(None);
        }
        if bytes.first() == Some(&0) && self.frames > 0 {
            self.pass_padding(&bytes)?;
            return Ok(None);
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
            .try_into()
            .map_err(|_| CUT_OFF.at(None, self.offset))?;
        Ok(Some(bytes))
    }

    /// Reads the tables of a Frame_Header, if it has any. Returns Content_Size.
    fn header_tables(&mut self, header: &FrameHeader) -> Result<Option<u64>> {
        if !header.tables {
            return Ok(None);
        }
        let wanted = [CONTENT_SIZE, METADATA];
        let start = self.offset;
        let mut tables = self.read_tables(&wanted, header.needed)?;
        let notes = tables
            .take(METADATA)
            .map(|content| header_tables::notes(&content));
        if let Some(None) = notes {
            self.options
                .run
                .listener
                .warn(header_tables::WRONG_NOTES.into());
        }
        self.notes = notes.flatten().unwrap_or_default();
        let content_size = tables
            .take(CONTENT_SIZE)
            .map(|content| header_tables::content_size(&content))
            .transpose()
            .map_err(|flaw| flaw.at(None, start))?;
        Ok(content_size)
    }

    /// Passes over a frame whose content is private, and checks it.
    fn pass_private(&mut self, start: u64, header: &PrivateHeader) -> Result<()> {
        let mut checksum = Hasher::new();
        let mut left = header.content_size;
        let mut buffer = vec![0; BUFFER.min(left as usize)];
        while left > 0 {
            let now = left.min(BUFFER as u64) as usize;
            let came = fill(&mut self.input, &mut buffer[..now])?;
            self.offset += came as u64;
            if came < now {
                return Err(CUT_OFF.at(None, self.offset));
            }
            checksum.update(&buffer[..now]);
            left -= now as u64;
        }
        let footer_start = self.offset;
        let bytes = self.take::<{ Footer::SIZE }>()?;
        let expected = Footer {
            total_raw_size: 0,
            seek_table_size: 0,
            features: Features::NONE,
            stream_checksum: checksum.finalize(),
            frame_size: self.offset - start,
        };
        let sound = Footer::from_bytes(&bytes).and_then(|footer| {
            ensure(
                footer == expected,
                "the footer does not match the content of the private frame",
            )
        });
        sound.map_err(|flaw| flaw.at(None, footer_start))
    }

    /// Reads the padding that begins with `first`, up to the end of the file. Padding is not added
    /// to the offset: the file ends where its last frame does.
    fn pass_padding(&mut self, first: &[u8]) -> Result<()> {
        let start = self.offset - first.len() as u64;
        self.offset = start;
        let mut checked = 0;
        let mut buffer = vec![0; BUFFER];
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
        let frame = self
            .frame
            .take()
            .expect("close_frame is called within a frame");
        let located = |flaw: Flaw| flaw.at(None, start);
        frame.check_block_size().map_err(located)?;
        let table = self
            .read_seek_table(&frame, start)
            .map_err(|e| match e {
                Error::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    CUT_OFF.at(None, self.offset)
                }
                e => e,
            })?;
        ensure(
            table.has_blocks_of(&frame.blocks),
            "the seek table does not match the blocks",
        )
        .map_err(located)?;
        let check = match table.tables {
            true => self
                .read_tables(&[STREAM_CHECK], frame.header.needed)?
                .take(STREAM_CHECK),
            false => None,
        };
        let footer_start = self.offset;
        let footer = self.take::<{ Footer::SIZE }>()?;
        header_tables::check_digest(frame.header.check, check.as_deref()).map_err(located)?;
        Footer::from_bytes(&footer)
            .and_then(|footer| frame.check_footer(&footer, footer_start - start, self.offset))
            .map_err(|flaw| flaw.at(None, footer_start))?;
        if StreamCheck::of(frame.header.check).is_some() {
            self.checks
                .end(self.blocks, check.unwrap_or_default(), start);
        }
        let entries = table.entries();
        let stated = entries.iter().map(|entry| entry.line_feeds);
        self.checks.line_feeds(FrameLineFeeds {
            end: self.blocks,
            blocks: entries.len(),
            stated: table.has_line_feeds.then(|| stated.collect()),
            offset: start,
        });
        self.frames += 1;
        Ok(())
    }

    /// Reads Seek_Table behind its marker, which is at `start`.
    fn read_seek_table(&mut self, frame: &OpenFrame, start: u64) -> Result<SeekTable> {
        let located = |flaw: Flaw| flaw.at(None, start);
        let mut stored_size = Vec::new();
        let size = tables::varint(&mut self.input, &mut stored_size)?;
        self.offset += stored_size.len() as u64;
        let size = size.map_err(|_| located(seek_table::MISFIT))?;
        let checksum = u32::from_le_bytes(self.take()?);
        let count = frame.blocks.entries().len();
        if size > seek_table::longest(count as u64) {
            return Err(located(seek_table::MISFIT));
        }
        let content = self.take_payload(size)?;
        seek_table::check(&stored_size, checksum, &content).map_err(located)?;
        // With a wrong count, the entries could take any memory.
        if block_count(&mut &content[..]) != Ok(count) {
            let flaw = "the seek table does not have as many entries as there are blocks";
            return Err(located(Flaw(flaw)));
        }
        let totals = Totals {
            raw_size: frame.raw_size,
            coded_size: frame.blocks.coded_size(),
        };
        SeekTable::from_content(&content, totals).map_err(located)
    }

    /// Reads and checks tables. Returns those whose type is in `wanted`, if they are small.
    fn read_tables(&mut self, wanted: &[u16], needed: Release) -> Result<ReadTables> {
        let start = self.offset;
        let read = match tables::read_wanted(&mut self.input, wanted, LONGEST_TABLE) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(CUT_OFF.at(None, start));
            }
            read => read?.map_err(|why: Unreadable| why.at(None, start, needed))?,
        };
        self.offset += read.size;
        Ok(read)
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

/// Bytes of padding, or of a private frame, that are read at a time.
const BUFFER: usize = 64 << 10;

const NOT_PADDING: Flaw = Flaw(
    "trailing garbage: zero bytes after the last frame are padding only if they reach the end of \
     the file, but here is another byte",
);

/// Maximum size of the content of a table that is kept, in bytes. Longer ones are only checked.
const LONGEST_TABLE: u64 = 64 << 10;

pub(crate) const CUT_OFF: Flaw = Flaw("the file ends in the middle of a frame: it was cut off");

/// Bytes of a block's header and front if it has an index, else 0.
fn front_size(block: &CodedBlock) -> u64 {
    match block.header.kind {
        BlockKind::Bwt(shape) if shape.indexed => {
            let size = PayloadFront::measure(&block.payload, block.header.raw_size, shape);
            // A block without a front is damaged, which its decoding tells.
            size.map_or(UNMEASURED, |size| (BlockHeader::SIZE + size) as u64)
        }
        _ => 0,
    }
}

impl OpenFrame {
    fn new(start: u64, header: FrameHeader, content_size: Option<u64>) -> Self {
        OpenFrame {
            start,
            features: UsedFeatures::new(header.features),
            header,
            content_size,
            blocks: SeekTable::default(),
            raw_size: 0,
            stream: Hasher::new(),
        }
    }

    /// Checks that a block continues the ones before it.
    fn check_block(&self, header: &BlockHeader) -> Result<(), Flaw> {
        ensure(
            self.header.block_size > 0,
            "a block in a frame that says it has none",
        )?;
        ensure(
            header.raw_size <= self.header.block_size,
            "the block is larger than the frame's block size",
        )?;
        ensure(
            header.raw_offset == self.raw_size,
            "the block's raw offset is not where the block before it ended",
        )
    }

    /// Adds a block to the sums.
    fn add(&mut self, block: &CodedBlock) -> Result<(), Flaw> {
        let header = &block.header;
        let shape = BlockShape {
            kind: header.kind,
            filters: block.filters(),
        };
        self.features
            .add(shape.kind, shape.filters, header.raw_size)?;
        self.blocks.add(
            shape,
            EntrySizes {
                raw_size: header.raw_size,
                coded_size: BlockHeader::SIZE as u64 + header.coded_size,
                front_size: front_size(block),
                line_feeds: 0,
            },
        );
        self.raw_size += header.raw_size;
        self.stream.combine(&Hasher::new_with_initial_len(
            header.raw_checksum,
            header.raw_size,
        ));
        Ok(())
    }

    fn check_block_size(&self) -> Result<(), Flaw> {
        ensure(
            self.blocks.entries().is_empty() == (self.header.block_size == 0),
            "the frame's block size promises blocks, but it has none",
        )
    }

    fn check_footer(&self, footer: &Footer, table_size: u64, end: u64) -> Result<(), Flaw> {
        ensure(
            footer.total_raw_size == self.raw_size,
            "the footer's raw size does not match the blocks",
        )?;
        ensure(
            self.content_size
                .is_none_or(|size| size == self.raw_size),
            "the content size in the frame header does not match the blocks",
        )?;
        let sizes_match =
            footer.frame_size == end - self.start && footer.seek_table_size == table_size;
        ensure(sizes_match, "the footer's sizes do not match the frame")?;
        self.features.check_footer(footer.features)?;
        ensure(
            footer.stream_checksum == self.stream.clone().finalize(),
            "the stream's checksum does not match the blocks'",
        )
    }
}
