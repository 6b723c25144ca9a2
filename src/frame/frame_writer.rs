//! A frame being written, in one pass and without seeking. FORMAT.md chapter 2.

use super::block_header::{BlockHeader, CodedBlock};
use super::footer::Footer;
use super::frame_header::FrameHeader;
use super::indexed_blocks::IndexedBlocks;
use super::record_table::{self, RECORDS};
use super::seek_table::{Entry, SeekTable};
use super::sequences::{SEQUENCES, SequencesTable};
use super::tables;
use crate::base::error::{Error, Result};
use crate::filter::sequence::{BlockRecords, Contribution, Kind, RecordList};
use crc32fast::Hasher;
use std::io::{self, Write};
use std::sync::Arc;

/// What a writer keeps of them fits 4 GiB: 256 TiB of raw bytes at level 1.
const MAX_BLOCKS: usize = 1 << 28;

/// Bytes that are gathered before they are written: a multiple of the usual records of tapes.
const GATHERED: usize = 60 << 10;

/// Writes Frame_Header, every block as it comes, Seek_Table and Footer at the end.
///
/// What is short is gathered: a tape drive, and `dd conv=sync` before it, takes each write for a
/// record of its own and fills up a short one with zeros, which would then stand within the frame.
/// A small frame is one write, and no frame begins with a write of its header alone.
pub(crate) struct FrameWriter<W> {
    output: W,
    /// Bytes that are not written yet.
    pending: Vec<u8>,
    entries: Vec<Entry>,
    raw_size: u64,
    coded_size: u64,
    stream: Hasher,
    /// How the blocks so far are indexed.
    pub indexed: IndexedBlocks,
    /// What the blocks of a frame of sequences add to it.
    sequences: Option<(Kind, Vec<Contribution>)>,
    /// Their records, as long as there are no more than a table lists.
    records: Option<ListedSoFar>,
}

/// Records of a frame, and the bytes of their names.
#[derive(Default)]
struct ListedSoFar {
    list: RecordList,
    name_bytes: usize,
}

impl<W: Write> FrameWriter<W> {
    /// Starts a frame whose largest block is of `block_size` bytes, or 0 for one without blocks.
    pub fn start(output: W, block_size: u64) -> Result<Self> {
        let mut writer = FrameWriter {
            output,
            pending: Vec::new(),
            entries: Vec::new(),
            raw_size: 0,
            coded_size: 0,
            stream: Hasher::new(),
            indexed: IndexedBlocks::default(),
            sequences: None,
            records: Some(ListedSoFar::default()),
        };
        writer.put(&FrameHeader { block_size }.to_bytes())?;
        Ok(writer)
    }

    /// Writes the next block, whose raw offset must be where the last one ended.
    pub fn block(&mut self, block: &CodedBlock) -> Result<()> {
        debug_assert_eq!(block.header.raw_offset, self.raw_size);
        if self.entries.len() == MAX_BLOCKS {
            return Err(Error::Usage("more blocks than a frame holds: use a higher level".into()));
        }
        self.entries.push(Entry { raw_offset: self.raw_size, frame_offset: self.coded_size });
        let BlockHeader { raw_size, raw_checksum, kind, .. } = block.header;
        self.indexed.count(kind);
        if let Some((kind, contribution)) = &block.sequences {
            let mut contribution = contribution.clone();
            self.list(contribution.listed.take());
            self.sequences.get_or_insert((*kind, Vec::new())).1.push(contribution);
        }
        self.stream.combine(&Hasher::new_with_initial_len(raw_checksum, raw_size));
        self.raw_size += raw_size;
        self.put(&block.header.to_bytes())?;
        self.put(&block.payload)
    }

    /// Ends the frame; gives back the output, the frame's raw and coded size, and how its blocks
    /// are indexed.
    pub fn finish(mut self) -> Result<(W, u64, u64, IndexedBlocks)> {
        let Some((kind, blocks)) = self.sequences.take() else { return self.finish_with(&[]) };
        let sequences = SequencesTable::of(kind, blocks).to_bytes();
        let records = self.records.take();
        let records =
            records.and_then(|some| record_table::to_bytes(&some.list.finish(kind), kind));
        let records = records.filter(|content| record_table::fits(content, self.coded_size));
        let mut all = vec![(SEQUENCES, &sequences[..])];
        all.extend(records.as_deref().map(|content| (RECORDS, content)));
        self.finish_with(&tables::to_bytes(&all))
    }

    /// Lists the records of the block that comes next.
    fn list(&mut self, block: Option<Arc<BlockRecords>>) {
        let (Some(mut all), Some(block)) = (self.records.take(), block) else { return };
        all.name_bytes += block.name_bytes();
        if record_table::may_be_listed(all.list.count() + block.count(), all.name_bytes) {
            all.list.add(self.raw_size, Arc::unwrap_or_clone(block));
            self.records = Some(all);
        }
    }

    /// The same with tables of the frame, as they stand in a file.
    pub fn finish_with(mut self, tables: &[u8]) -> Result<(W, u64, u64, IndexedBlocks)> {
        let table = SeekTable::to_bytes(&self.entries, tables);
        self.put(&table)?;
        let footer = Footer {
            total_raw_size: self.raw_size,
            frame_size: self.coded_size + Footer::SIZE as u64,
            seek_table_size: table.len() as u64,
            stream_checksum: self.stream.clone().finalize(),
        };
        self.put(&footer.to_bytes())?;
        self.write_pending()?;
        self.output.flush()?;
        Ok((self.output, self.raw_size, self.coded_size, self.indexed))
    }

    /// Passes on what was put so far, and has the output do so too.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_pending()?;
        self.output.flush()
    }

    /// Gathers bytes until there are [`GATHERED`] of them, and writes them then.
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

    /// Writes what is gathered: at the end of a block that others may follow late or never, so that
    /// whoever is killed then loses nothing of it.
    pub fn write_pending(&mut self) -> io::Result<()> {
        self.output.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}
