//! A block that is searched by sequence: its searched text and its layout.
//!
//! Usually the filter has split the block into text and layout. A block is without the filter if
//! escapes would have made the text larger; it is restored and split in memory.

use super::file_block::FileBlock;
use super::sections::CONTRADICTION;
use super::sequence_text::{Front, SequenceText};
use crate::base::error::{Error, Flaw, Result};
use crate::base::shortage;
use crate::filter::SEQUENCES;
use crate::filter::sequence::{self, Contribution, Layout, LineState};
use crate::frame::{BlockKind, Shape};

/// The layout of a block may use 1/2 of the memory limit.
const LAYOUT_SHARE: u64 = 2;

impl FileBlock<'_> {
    /// Makes the block one that is searched by sequence and begins in the state `start`. Its text
    /// stands at `position` in its section and has `expected` bytes, if that is known. Returns the
    /// position behind the text.
    pub fn search_sequences(
        &mut self,
        kind: sequence::Kind,
        start: LineState,
        expected: Option<u64>,
        position: u64,
    ) -> Result<u64> {
        let joined = matches!(self.header.kind, BlockKind::Bwt(Shape { filters: SEQUENCES, .. }));
        let (front, size) = match (joined, expected) {
            (true, _) => {
                let (front, size) = self.front().map_err(|e| self.locate(e))?;
                (Some(front), size)
            }
            (false, Some(size)) => (None, size),
            (false, None) => (None, self.split(kind, start)?.1.sequence_size() as u64),
        };
        if expected.is_some_and(|expected| expected != size) {
            return Err(self.flaw(CONTRADICTION));
        }
        self.searched = position..position.saturating_add(size);
        self.sequences = Some(SequenceText { kind, start, size, front });
        Ok(self.searched.end)
    }

    /// Lets raw bytes be read through the block's text if it has the filter. The block's own layout
    /// is used for that, whatever the table of its frame says.
    pub fn read_sequences(&mut self) -> Result<()> {
        match self.header.kind {
            BlockKind::Bwt(Shape { filters: SEQUENCES, indexed: true, .. }) => {
                self.search_sequences(sequence::Kind::Fasta, LineState::default(), None, 0)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns true if its sequences are those of FASTQ.
    pub fn is_fastq(&self) -> bool {
        self.sequences.as_ref().is_some_and(|text| text.kind == sequence::Kind::Fastq)
    }

    /// Reads the layout of the block: the places of its header lines, line ends and residues.
    pub fn layout(&self) -> Result<Layout> {
        let Some(text) = &self.sequences else {
            return Err(self.flaw(Flaw("the block has no sequences")));
        };
        let layout = match &text.front {
            Some(Front { side, .. }) => {
                let size = side.end - side.start;
                self.check_index_memory(size).map_err(|e| self.locate(e))?;
                let bytes = self.input.read(side.start, size)?;
                let most = self.options.memory_limit() / LAYOUT_SHARE / sequence::OF_ENTRY;
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let layout = Layout::read_up_to(&mut &bytes[..], self.raw_size(), most);
                layout.map_err(|flaw| self.layout_error(flaw))?
            }
            None => self.split(text.kind, text.start)?.1,
        };
        match layout.sequence_size() as u64 == text.size {
            true => Ok(layout),
            false => Err(self.flaw(CONTRADICTION)),
        }
    }

    /// The block's contribution to the table of its frame.
    pub fn contribution(&self, layout: &Layout) -> Contribution {
        layout.contribution(self.sequences.as_ref().map(|text| text.start).unwrap_or_default())
    }

    /// Compares the entry of the table of sequences with the block.
    pub fn check_against_table(&self, layout: &Layout) -> Result<()> {
        let Some((records, residues)) = self.adds else { return Ok(()) };
        let found = self.contribution(layout);
        let is_of_reads = self.is_fastq();
        let fits = found.residues == residues
            && records.is_none_or(|records| records == found.records)
            && (is_of_reads || !layout.has_qualities());
        if fits { Ok(()) } else { Err(self.flaw(CONTRADICTION)) }
    }

    /// The searched text of a block that was restored: its text of sequences, or its raw bytes.
    pub fn text_of(&self, raw: Vec<u8>) -> Result<Vec<u8>> {
        let Some(SequenceText { kind, start, size, .. }) = self.sequences else { return Ok(raw) };
        let (text, layout) = sequence::split(&raw, kind, start).map_err(|flaw| self.flaw(flaw))?;
        match layout.sequence_size() as u64 == size {
            true => Ok(text),
            false => Err(self.flaw(CONTRADICTION)),
        }
    }

    /// Reads the fields before the payload. Returns them with the size of the searched text. Errors
    /// do not name the block.
    fn front(&self) -> Result<(Front, u64)> {
        let place = self.payload_start()?..self.info.coded.end;
        let most = place.end.saturating_sub(place.start).min(Front::MOST);
        let bytes = self.input.read(place.start, most)?;
        Ok(Front::parse(&bytes, place, self.raw_size() as u64)?)
    }

    /// The error for a flaw of the layout. A layout may have one entry for every four bytes of the
    /// block, so the flaw may be too little memory.
    fn layout_error(&self, flaw: Flaw) -> Error {
        let raw_size = self.raw_size() as u64;
        let most = (raw_size / 4 + 16) * sequence::OF_ENTRY * LAYOUT_SHARE;
        let what = || format!("the layout of a block of {raw_size} bytes");
        match shortage::check(most, self.options.memory_limit(), what) {
            Err(limit) if flaw == sequence::NO_ROOM => self.locate(limit),
            _ => self.flaw(flaw),
        }
    }

    fn split(&self, kind: sequence::Kind, start: LineState) -> Result<(Vec<u8>, Layout)> {
        sequence::split(&self.restore()?, kind, start).map_err(|flaw| self.flaw(flaw))
    }

    fn raw_size(&self) -> usize {
        (self.info.raw.end - self.info.raw.start) as usize
    }
}
