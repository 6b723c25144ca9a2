//! Writes a frame in one pass, without seeking. FORMAT.md chapter 2.

use super::block_header::{BlockHeader, CodedBlock};
use super::features::Features;
use super::footer::Footer;
use super::frame_header::FrameHeader;
use super::indexed_blocks::IndexedBlocks;
use super::member_table::MemberColumns;
use super::record_table;
use super::seek_table::{BlockShape, EntrySizes, SeekTable};
use super::sequences::SequencesTable;
use super::tables::{self, MEMBERS, RECORDS, SEQUENCES, STREAM_CHECK};
use crate::base::error::{Error, Result};
use crate::filter::sequence::{BlockRecords, Contribution, Kind, RecordList};
use crc32fast::Hasher;
use std::io::{self, Write};
use std::sync::Arc;

/// Maximum number of blocks in a frame: 64 TiB of raw bytes at level 1. The entries that a writer
/// keeps for them fit in 4 GiB.
const MAX_BLOCKS: usize = 1 << 26;

/// Bytes that are gathered before they are written: a multiple of the usual record sizes of tapes.
const GATHERED: usize = 60 << 10;

/// Writes Frame_Header, every block as it comes, and Seek_Table and Footer at the end.
///
/// Short writes are gathered. A tape drive, and `dd conv=sync` before it, takes each write as a
/// record of its own and fills a short one with zeros, which would then be within the frame. A
/// small frame is one write, and no frame begins with a write of its header alone.
pub(crate) struct FrameWriter<W> {
    output: W,
    /// Bytes that are not written yet.
    pending: Vec<u8>,
    table: SeekTable,
    features: Features,
    raw_size: u64,
    coded_size: u64,
    stream: Hasher,
    /// Numbers of blocks written so far, by their kind of index.
    pub indexed: IndexedBlocks,
    /// The contributions of the blocks to a frame of sequences.
    sequences: Option<(Kind, Vec<Contribution>)>,
    /// The records of these blocks, until there are more than a table may list.
    records: Option<ListedSoFar>,
}

/// Records of a frame, and the total size of their names in bytes.
#[derive(Default)]
struct ListedSoFar {
    list: RecordList,
    name_bytes: usize,
}

impl<W: Write> FrameWriter<W> {
    /// Starts a frame. `tables` are those of its header in their stored form; empty if it has none.
    pub(crate) fn start(output: W, header: FrameHeader, tables: &[u8]) -> Result<Self> {
        let mut writer = FrameWriter {
            output,
            pending: Vec::new(),
            table: SeekTable::with_line_feeds(),
            features: Features::NONE,
            raw_size: 0,
            coded_size: 0,
            stream: Hasher::new(),
            indexed: IndexedBlocks::default(),
            sequences: None,
            records: Some(ListedSoFar::default()),
        };
        let header = FrameHeader {
            tables: !tables.is_empty(),
            ..header
        };
        writer.put(&header.to_bytes())?;
        writer.put(tables)?;
        Ok(writer)
    }

    /// Writes the next block. Its raw offset must be the end of the block before it.
    pub(crate) fn block(&mut self, block: &CodedBlock) -> Result<()> {
        debug_assert_eq!(block.header.raw_offset, self.raw_size);
        if self.table.entries().len() == MAX_BLOCKS {
            return Err(Error::Usage(
                "more blocks than a frame holds: use a higher level".into(),
            ));
        }
        let shape = BlockShape {
            kind: block.header.kind,
            filters: block.filters(),
        };
        self.features = self.features.with(Features::of_block(
            shape.kind,
            shape.filters,
            block.header.raw_size,
        ));
        self.table.add(
            shape,
            EntrySizes {
                raw_size: block.header.raw_size,
                coded_size: (BlockHeader::SIZE + block.payload.len()) as u64,
                front_size: block.front_size,
                line_feeds: block.line_feeds,
            },
        );
        let BlockHeader {
            raw_size,
            raw_checksum,
            kind,
            ..
        } = block.header;
        self.indexed.count(kind);
        self.indexed.size += block.index_size;
        if let Some((kind, contribution)) = &block.sequences {
            let mut contribution = contribution.clone();
            self.list(contribution.listed.take());
            self.sequences
                .get_or_insert((*kind, Vec::new()))
                .1
                .push(contribution);
        }
        self.stream
            .combine(&Hasher::new_with_initial_len(raw_checksum, raw_size));
        self.raw_size += raw_size;
        self.put(&block.header.to_bytes())?;
        self.put(&block.payload)
    }

    /// Ends the frame, with the digest of its raw stream if the header announces one, and with the
    /// members of the tar archive that it may be. Returns the output, the frame's raw and coded
    /// size, and the numbers of its blocks by their kind of index.
    pub(crate) fn finish(
        mut self,
        digest: Option<Vec<u8>>,
        members: Option<MemberColumns>,
    ) -> Result<(W, u64, u64, IndexedBlocks)> {
        let mut all: Vec<(u16, Vec<u8>)> = Vec::new();
        if let Some((kind, blocks)) = self.sequences.take() {
            all.push((SEQUENCES, SequencesTable::of(kind, blocks).to_bytes()));
            let records = self.records.take();
            let records =
                records.and_then(|some| record_table::to_bytes(&some.list.finish(kind), kind));
            let records = records.filter(|content| record_table::fits(content, self.coded_size));
            all.extend(records.map(|content| (RECORDS, content)));
        }
        all.extend(digest.map(|digest| (STREAM_CHECK, digest)));
        let members = members.and_then(|members| members.table(self.coded_size));
        all.extend(members.map(|content| (MEMBERS, content)));
        if all.is_empty() {
            return self.finish_with(&[]);
        }
        let all: Vec<(u16, &[u8])> = all
            .iter()
            .map(|(kind, content)| (*kind, &content[..]))
            .collect();
        self.finish_with(&tables::to_bytes(&all))
    }

    /// Raw bytes of the blocks so far.
    pub(crate) fn raw_size(&self) -> u64 {
        self.raw_size
    }

    /// Adds the records of the next block to the list.
    fn list(&mut self, block: Option<Arc<BlockRecords>>) {
        let (Some(mut all), Some(block)) = (self.records.take(), block) else {
            return;
        };
        all.name_bytes += block.name_bytes();
        if record_table::may_be_listed(all.list.count() + block.count(), all.name_bytes) {
            all.list
                .add(self.raw_size, Arc::unwrap_or_clone(block));
            self.records = Some(all);
        }
    }

    /// Ends the frame as [`finish`](Self::finish) does, with these tables of the frame in their
    /// stored form.
    pub(crate) fn finish_with(mut self, tables: &[u8]) -> Result<(W, u64, u64, IndexedBlocks)> {
        self.table.tables = !tables.is_empty();
        let table = self.table.to_bytes();
        self.put(&table)?;
        self.put(tables)?;
        let footer = Footer {
            total_raw_size: self.raw_size,
            seek_table_size: (table.len() + tables.len()) as u64,
            features: self.features,
            stream_checksum: self.stream.clone().finalize(),
            frame_size: self.coded_size + Footer::SIZE as u64,
        };
        self.put(&footer.to_bytes())?;
        self.write_pending()?;
        self.output.flush()?;
        Ok((self.output, self.raw_size, self.coded_size, self.indexed))
    }

    /// Writes all gathered bytes and flushes the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.write_pending()?;
        self.output.flush()
    }

    /// Gathers bytes, and writes them when there are [`GATHERED`] of them.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.coded_size += bytes.len() as u64;
        let room = GATHERED - self.pending.len();
        if bytes.len() < room {
            self.pending.extend_from_slice(bytes);
            return Ok(());
        }
        let (first, rest) = bytes.split_at(room);
        self.pending.extend_from_slice(first);
        self.write_pending()?;
        self.output.write_all(rest)?;
        Ok(())
    }

    /// Writes the gathered bytes. Called at the end of a block if the next block may come late or
    /// never: if the process is then killed, nothing of this block is lost.
    pub(crate) fn write_pending(&mut self) -> io::Result<()> {
        self.output.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}
