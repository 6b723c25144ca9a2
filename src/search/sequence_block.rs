//! A block that is searched by sequence: its searched text, its layout, and its entry in the table
//! of its frame.
//!
//! Usually the filter has split the block into text and layout. A block is without the filter if
//! escapes would have made the text larger; it is restored and split in memory.

use super::block_front::BlockFront;
use super::file_block::FileBlock;
use super::searched_block::{SearchedBlock, TextTransform};
use crate::base::error::{Error, Flaw, Result};
use crate::base::shortage;
use crate::filter::sequence::{self, Contribution, Layout, LineState};
use crate::frame::{BlockKind, Shape};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The layout of a block may use 1/2 of the memory limit.
const LAYOUT_SHARE: u64 = 2;

/// The flaw of a table of sequences that contradicts the blocks.
pub(crate) const CONTRADICTION: Flaw =
    Flaw("the block's sequences are not those of the frame's table");

/// Returns true if the error is that a table contradicts its blocks.
pub(crate) fn is_contradiction(error: &Error) -> bool {
    matches!(error, Error::Format { what, .. } if *what == CONTRADICTION.0)
}

/// A block that is searched by sequence.
pub(crate) struct SequenceBlock<'a> {
    pub file: FileBlock<'a>,
    kind: sequence::Kind,
    /// State of the stream at the start of the block.
    start: LineState,
    /// Positions of its searched text in its section.
    section_range: Range<u64>,
    /// The front of its payload, once it is read. `None` if the block does not have the filter, or
    /// has others too.
    front: OnceLock<Option<Arc<BlockFront>>>,
    /// Its entry in the table of its frame. `None` if the block is read without a table.
    pub entry: Option<TableEntry>,
}

/// The entry of a block in the table of sequences of its frame.
#[derive(Clone, Copy)]
pub(crate) struct TableEntry {
    /// Number of records of the frame that begin before the block.
    pub records_before: u64,
    /// Number of bases before the block of the record that continues in it.
    pub continued: u64,
    /// Number of records that begin in the block. The table does not give that of the last block.
    pub records: Option<u64>,
    /// Number of residues in the block.
    pub residues: u64,
}

impl TableEntry {
    /// Bytes of the searched text according to the table.
    fn text_size(&self) -> Option<u64> {
        self.records
            .map(|records| self.residues.saturating_add(records))
    }
}

impl SearchedBlock for SequenceBlock<'_> {
    fn file(&self) -> &FileBlock<'_> {
        &self.file
    }

    fn section_range(&self) -> Range<u64> {
        self.section_range.clone()
    }

    fn transform(&self) -> Result<Option<TextTransform>> {
        let BlockKind::Bwt(shape) = self.file.kind() else {
            return Ok(None);
        };
        let front = self.front()?;
        Ok(front.map(|front| TextTransform {
            shape,
            front: Some(Arc::clone(front)),
        }))
    }

    fn text_of(&self, raw: Vec<u8>) -> Result<Vec<u8>> {
        let split = sequence::split(&raw, self.kind, self.start);
        let (text, layout) = split.map_err(|flaw| self.file.flaw(flaw))?;
        self.check_size(&layout)?;
        Ok(text)
    }
}

impl<'a> SequenceBlock<'a> {
    /// Makes a block one that is searched by sequence. It begins in the state `start`, and its text
    /// stands at `position` in its section. If an entry of the table gives the size of the text,
    /// the block is not read until it is used, and is then compared with the entry.
    pub(crate) fn new(
        file: FileBlock<'a>,
        kind: sequence::Kind,
        start: LineState,
        entry: Option<TableEntry>,
        position: u64,
    ) -> Result<Self> {
        let (front, size) = match entry.and_then(|entry| entry.text_size()) {
            Some(size) => (OnceLock::new(), size),
            None => {
                let front = read_front(&file).map_err(|e| file.locate(e))?;
                let size = match &front {
                    Some(front) => front
                        .searched(&file)
                        .map_err(|e| file.locate(e))?,
                    None => split(&file, kind, start)?.sequence_size() as u64,
                };
                (OnceLock::from(front.map(Arc::new)), size)
            }
        };
        let section_range = position..position.saturating_add(size);
        Ok(SequenceBlock {
            file,
            kind,
            start,
            section_range,
            front,
            entry,
        })
    }

    /// The front of its payload, if the block has the filter for sequences and no other.
    fn front(&self) -> Result<Option<&Arc<BlockFront>>> {
        if let Some(front) = self.front.get() {
            return Ok(front.as_ref());
        }
        let file = &self.file;
        let front = read_front(file).map_err(|e| file.locate(e))?;
        if let Some(front) = &front {
            let size = front.searched(file).map_err(|e| file.locate(e))?;
            if size != self.size() as u64 {
                return Err(file.flaw(CONTRADICTION));
            }
        }
        Ok(self
            .front
            .get_or_init(|| front.map(Arc::new))
            .as_ref())
    }

    /// Compares the size of its searched text with the entry of the table.
    pub(crate) fn check(&self) -> Result<()> {
        self.front().map(drop)
    }

    /// Returns true if its sequences are those of FASTQ.
    pub(crate) fn is_fastq(&self) -> bool {
        self.kind == sequence::Kind::Fastq
    }

    /// Reads the layout of the block: the places of its header lines, line ends and residues.
    pub(crate) fn layout(&self) -> Result<Layout> {
        let file = &self.file;
        let layout = match self.front()? {
            Some(front) => {
                let side = &front.side;
                let size = side.end - side.start;
                file.check_index_memory(size)
                    .map_err(|e| file.locate(e))?;
                let bytes = file.input.read(side.start, size)?;
                let most = file.options.memory_limit() / LAYOUT_SHARE / sequence::OF_ENTRY;
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let layout = Layout::read_up_to(&mut &bytes[..], file.raw_size() as usize, most);
                layout.map_err(|flaw| self.layout_error(flaw))?
            }
            None => split(file, self.kind, self.start)?,
        };
        self.check_size(&layout)?;
        Ok(layout)
    }

    /// The block's contribution to the table of its frame.
    pub(crate) fn contribution(&self, layout: &Layout) -> Contribution {
        layout.contribution(self.start)
    }

    /// Compares the block's entry in the table with the block.
    pub(crate) fn check_against_table(&self, layout: &Layout) -> Result<()> {
        let Some(TableEntry {
            records, residues, ..
        }) = self.entry
        else {
            return Ok(());
        };
        let found = self.contribution(layout);
        let fits = found.residues == residues
            && records.is_none_or(|records| records == found.records)
            && (self.is_fastq() || !layout.has_qualities());
        if fits {
            Ok(())
        } else {
            Err(self.file.flaw(CONTRADICTION))
        }
    }

    /// Checks that the layout is that of a text of the block's size.
    fn check_size(&self, layout: &Layout) -> Result<()> {
        match layout.sequence_size() == self.size() {
            true => Ok(()),
            false => Err(self.file.flaw(CONTRADICTION)),
        }
    }

    /// The error for a flaw of the layout. A layout may have one entry for every four bytes of the
    /// block, so the flaw may be too little memory.
    fn layout_error(&self, flaw: Flaw) -> Error {
        let raw_size = self.file.raw_size();
        let most = (raw_size / 4 + 16) * sequence::OF_ENTRY * LAYOUT_SHARE;
        let what = || format!("the layout of a block of {raw_size} bytes");
        match shortage::check(most, self.file.options.memory_limit(), what) {
            Err(limit) if flaw == sequence::NO_ROOM => self.file.locate(limit),
            _ => self.file.flaw(flaw),
        }
    }
}

/// Reads the front of the payload, if the block has the filter for sequences and no other. Errors
/// do not name the block.
fn read_front(file: &FileBlock) -> Result<Option<BlockFront>> {
    match file.kind() {
        BlockKind::Bwt(shape @ Shape { filtered: true, .. }) => {
            let front = BlockFront::read(file, shape)?;
            Ok(front.is_of_sequences().then_some(front))
        }
        _ => Ok(None),
    }
}

/// The layout of a block without the filter.
fn split(file: &FileBlock, kind: sequence::Kind, start: LineState) -> Result<Layout> {
    let (_, layout) =
        sequence::split(&file.restore()?, kind, start).map_err(|flaw| file.flaw(flaw))?;
    Ok(layout)
}
