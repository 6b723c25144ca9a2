//! The names and numbers of all records, from the tables of the frames or from the blocks.
//!
//! Reading a table of records takes no block. Its entries are compared with the table of sequences
//! at once. An entry is compared with its block only when someone asks for that record
//! ([`FileSearch::are_as_in_blocks`]). If the table contradicts either, or if there is no table,
//! the records are collected from the blocks: from their layouts, and from the header lines of
//! their texts. If the options ask for verification, all tables are compared with all blocks
//! ([`FileSearch::check_tables`]).

use super::block_ranges;
use super::file_block::FileBlock;
use super::file_search::FileSearch;
use super::record_info::RecordInfo;
use super::sections::{Layouts, OUTSIDE, Section, SequenceSection, layout, sections};
use super::sequence_block::{CONTRADICTION, SequenceBlock, is_contradiction};
use super::shared_input::SharedInput;
use crate::base::error::{Error, Flaw, Result};
use crate::engine::thread_pool;
use crate::filter::sequence::{
    self, BlockRecords, Contribution, Kind, Layout, LineState, ListedRecord, RecordList,
};
use crate::frame::{BlockInfo, FrameInfo};
use crate::frame::{LONGEST_RECORDS, SequencesTable, read_records, read_table};
use crate::options::Options;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

const WRONG_RECORDS: Flaw = Flaw("the frame's table of records does not match its blocks");

impl FileSearch<'_> {
    /// All records, in order.
    pub(crate) fn records(&mut self) -> Result<Vec<RecordInfo>> {
        self.contents.check_supported()?;
        self.verify_tables()?;
        self.with_sound_tables(FileSearch::records_by_tables)
    }

    fn records_by_tables(&mut self) -> Result<Vec<RecordInfo>> {
        let mut lists = Vec::new();
        let mut first_block = 0;
        for n in 0..self.contents.frames.len() {
            let frame = &self.contents.frames[n];
            if frame.is_by_sequence() {
                lists.push(self.listed(n, first_block)?);
            }
            first_block += frame.blocks as usize;
        }
        if lists.iter().all(Option::is_some) {
            return Ok(lists.into_iter().flatten().flatten().collect());
        }
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        let by_sequence = sections.iter().filter_map(Section::sequences);
        let mut records: Vec<RecordInfo> = Vec::new();
        for (section, listed) in by_sequence.zip(lists) {
            match listed {
                Some(listed) => records.extend(listed),
                None => gather(section, &mut records, self.layouts, self.options)?,
            }
        }
        *self.cost += input.cost();
        Ok(records)
    }

    /// Returns the records of frame `n` according to its table; its first block has number `first`.
    /// `None` if the records are to be collected from the blocks.
    fn listed(&mut self, n: usize, first: usize) -> Result<Option<Vec<RecordInfo>>> {
        let frame = &self.contents.frames[n];
        let trusts = !self.options.verify && !self.layouts.names_from_blocks;
        let (true, Some(_), Some(sequences)) = (trusts, frame.records, &frame.sequences) else {
            return Ok(None);
        };
        let blocks = &self.contents.blocks[first..first + frame.blocks as usize];
        let list = match self.record_table(frame, sequences.kind) {
            Err(Error::Format { .. }) => None,
            list => Some(list?).filter(|list| is_consistent(list, frame, blocks, sequences)),
        };
        let Some(list) = list else {
            self.warn_of_records();
            return Ok(None);
        };
        let mut records = Vec::with_capacity(list.len());
        for (number, record) in (0_u64..).zip(list) {
            let block = block_of(sequences, number);
            let within = number - sequences.blocks[block].records_before + 1;
            let place = (first + block) as u64;
            let mut record = RecordInfo::new(record, frame.raw.start, place, within as usize);
            record.is_unchecked = true;
            records.push(record);
        }
        Ok(Some(records))
    }

    /// Reads the table of records of a frame.
    fn record_table(&mut self, frame: &FrameInfo, kind: Kind) -> Result<Vec<ListedRecord>> {
        let place = frame
            .records
            .filter(|place| place.size <= LONGEST_RECORDS);
        let offset = frame
            .records
            .map_or(frame.coded.start, |place| place.offset);
        let located = |flaw: Flaw| flaw.at(None, offset);
        let place = place.ok_or_else(|| located(WRONG_RECORDS))?;
        let content = read_table(self.input, place)?.map_err(located)?;
        let list = read_records(&content, kind).map_err(located)?;
        self.options.check_records(list.len())?;
        Ok(list)
    }

    /// Warns, once, that the records are read from the blocks.
    pub(crate) fn warn_of_records(&mut self) {
        if !self.layouts.names_from_blocks {
            self.layouts.names_from_blocks = true;
            self.options.run.listener.warn(format!(
                "{}: the records are read from the blocks, which takes longer \
                 (bwz -t tells whether the blocks are sound)",
                WRONG_RECORDS.0
            ));
        }
    }

    /// Returns true if records from a table agree with their blocks: in their names, in their start
    /// and line lengths, and in their length as far as it can be seen in one block.
    pub(crate) fn are_as_in_blocks(&mut self, records: &[&RecordInfo]) -> Result<bool> {
        self.with_sound_tables(|file| file.are_as_in_blocks_by_tables(records))
    }

    fn are_as_in_blocks_by_tables(&mut self, records: &[&RecordInfo]) -> Result<bool> {
        let mut by_block: BTreeMap<u64, Vec<&RecordInfo>> = BTreeMap::new();
        for record in records {
            by_block
                .entry(record.block)
                .or_default()
                .push(record);
        }
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        let pool = thread_pool::pool(self.options)?;
        let mut all_are = true;
        for block in sections
            .iter()
            .filter_map(Section::sequences)
            .flat_map(|of| &of.blocks)
        {
            let Some(records) = by_block.get(&block.file.number) else {
                continue;
            };
            let Some(headers) = headers_if_like(records, block, self.layouts)? else {
                all_are = false;
                break;
            };
            let texts = pool.install(|| block_ranges::texts(block, &headers))?;
            if !have_names(records, &texts, layout(block, self.layouts)?) {
                all_are = false;
                break;
            }
        }
        *self.cost += input.cost();
        Ok(all_are)
    }

    /// Compares all tables of records and sequences with the blocks.
    ///
    /// # Errors
    /// [`Error::Format`] if a table contradicts its blocks; otherwise as a search of all blocks.
    pub(crate) fn check_tables(&mut self) -> Result<()> {
        let frames = &self.contents.frames;
        let is_wrong = |frame: &&FrameInfo| frame.lacks_sequences || frame.has_wrong_tables;
        let lacking = frames.iter().find(is_wrong);
        if let Some(frame) = lacking {
            return Err(CONTRADICTION.at(None, frame.coded.start));
        }
        if !frames.iter().any(FrameInfo::is_by_sequence) {
            return Ok(());
        }
        let restored = self.sequences_of_blocks()?;
        for (frame, restored) in frames.iter().zip(restored) {
            // Tables are compared as they are written, without the numbers that follow from others.
            let written = frame
                .sequences
                .as_ref()
                .map(SequencesTable::to_bytes);
            if written != restored.map(|table| table.to_bytes()) {
                return Err(CONTRADICTION.at(None, frame.coded.start));
            }
        }
        let mut tables = Vec::new();
        for frame in frames
            .iter()
            .filter(|frame| frame.is_by_sequence())
        {
            let kind = frame
                .sequences
                .as_ref()
                .map_or(Kind::Fasta, |table| table.kind);
            let table = match frame.records {
                Some(_) => Some(self.record_table(frame, kind)?),
                None => None,
            };
            tables.push((frame, table));
        }
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        let by_sequence = sections.iter().filter_map(Section::sequences);
        for (section, (frame, table)) in by_sequence.zip(tables) {
            let Some(table) = table else { continue };
            let offset = frame.records.map_or(0, |place| place.offset);
            let (list, _) = list_of(section, 0, self.layouts, self.options)?;
            if list.finish(kind_of(section)) != table {
                return Err(WRONG_RECORDS.at(None, offset));
            }
        }
        *self.cost += input.cost();
        Ok(())
    }

    /// Checks all tables, once, if the options ask for verification.
    pub(crate) fn verify_tables(&mut self) -> Result<()> {
        if self.options.verify && !self.layouts.are_tables_checked {
            self.check_tables()?;
            self.layouts.are_tables_checked = true;
        }
        Ok(())
    }

    /// Does `work`. If a table of sequences contradicts its blocks, restores the tables from the
    /// blocks and does `work` again. If the options ask for verification, returns the error
    /// instead.
    pub(crate) fn with_sound_tables<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        match work(self) {
            Err(e) if self.restore_tables(&e)? => work(self),
            done => done,
        }
    }

    /// If an error is that a table of sequences contradicts its blocks, restores the tables from
    /// the blocks. Returns true if they were restored. If the options ask for verification, they
    /// are not.
    pub(crate) fn restore_tables(&mut self, error: &Error) -> Result<bool> {
        if !is_contradiction(error) || !self.may_restore() {
            return Ok(false);
        }
        self.layouts.restored = self.sequences_of_blocks()?;
        self.layouts.names_from_blocks = true;
        self.options.run.listener.warn(format!(
            "{error}: the data of this table is restored from the blocks, which takes longer \
             (bwz -t tells whether the blocks are sound)"
        ));
        Ok(true)
    }

    fn may_restore(&self) -> bool {
        !self.options.verify && self.layouts.restored.is_empty()
    }

    /// Restores the tables of sequences of all frames from their blocks. Each block is restored
    /// too, for the state in which the next one begins.
    fn sequences_of_blocks(&mut self) -> Result<Vec<Option<SequencesTable>>> {
        let pool = thread_pool::pool(self.options)?;
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let mut tables = Vec::new();
        let mut infos = (0..).zip(&self.contents.blocks);
        for frame in &self.contents.frames {
            let blocks: Vec<_> = infos
                .by_ref()
                .take(frame.blocks as usize)
                .collect();
            if !frame.is_by_sequence() {
                tables.push(None);
                continue;
            }
            let mut kind = frame
                .sequences
                .as_ref()
                .map_or(Kind::Fasta, |table| table.kind);
            let mut state = LineState::default();
            let last = blocks.last().map_or(0, |(number, _)| *number);
            let mut contributions: Vec<Contribution> = Vec::new();
            for (number, info) in blocks {
                let file = FileBlock::new(&input, info, number, self.options);
                let block = SequenceBlock::new(file, kind, state, None, 0)?;
                let layout = block.layout()?;
                if layout.has_qualities() {
                    kind = Kind::Fastq;
                }
                contributions.push(layout.contribution(state));
                if number != last {
                    state = state.behind(&pool.install(|| block.file.restore())?, kind);
                }
            }
            tables.push(Some(SequencesTable::of(kind, contributions)));
        }
        *self.cost += input.cost();
        Ok(tables)
    }
}

/// The block in which a record of a frame begins. Both are numbered from 0.
fn block_of(sequences: &SequencesTable, record: u64) -> usize {
    let behind = sequences
        .blocks
        .partition_point(|block| block.records_before <= record);
    behind.saturating_sub(1)
}

/// Returns true if a table of records agrees with the table of sequences and the sizes of the
/// blocks.
fn is_consistent(
    list: &[ListedRecord],
    frame: &FrameInfo,
    blocks: &[BlockInfo],
    sequences: &SequencesTable,
) -> bool {
    let Some(last) = sequences.blocks.last() else {
        return list.is_empty();
    };
    if sequences.blocks[0].records_before != 0 || last.records_before > list.len() as u64 {
        return false;
    }
    // Number of residues before each record, counted from the first record.
    let mut sums = vec![0_u64];
    for record in list {
        sums.push(sums[sums.len() - 1].saturating_add(record.length));
    }
    let all: u64 = sequences
        .blocks
        .iter()
        .map(|block| block.residues)
        .sum();
    let Some(in_front) = all.checked_sub(sums[list.len()]) else {
        return false;
    };
    let mut before = 0;
    for block in &sequences.blocks {
        let started = match block.records_before.checked_sub(1) {
            Some(last) => in_front + sums[last as usize],
            None => 0,
        };
        if started.checked_add(block.continued) != Some(before) {
            return false;
        }
        before += block.residues;
    }
    let size = frame.raw.end - frame.raw.start;
    let mut offset = 0;
    list.iter().zip(0..).all(|(record, number)| {
        let start = blocks[block_of(sequences, number)].raw.start - frame.raw.start;
        // The offset may be just behind a last header that has no line end.
        let is_within = record.offset > start && record.offset <= size + 1;
        let ascends = record.offset >= offset && is_within;
        offset = record.offset;
        ascends
    })
}

/// Returns the range of each record's header line in the text of the block in which it begins, or
/// `None` if the layout of the block contradicts one of the records.
pub(super) fn headers_if_like(
    records: &[&RecordInfo],
    block: &SequenceBlock,
    layouts: &mut Layouts,
) -> Result<Option<Vec<Range<usize>>>> {
    let mut headers = Vec::with_capacity(records.len());
    for record in records {
        let Some(header) = header_if_like(record, block, layouts)? else {
            return Ok(None);
        };
        headers.push(header);
    }
    Ok(Some(headers))
}

/// Returns true if the records have the names in their header lines.
pub(super) fn have_names(records: &[&RecordInfo], headers: &[Vec<u8>], layout: &Layout) -> bool {
    let mut pairs = records.iter().zip(headers);
    pairs.all(|(record, header)| has_name(record, header, layout))
}

/// Returns the range of the record's header line in the text of the block in which it begins, or
/// `None` if the layout of the block contradicts the record.
fn header_if_like(
    record: &RecordInfo,
    block: &SequenceBlock,
    layouts: &mut Layouts,
) -> Result<Option<Range<usize>>> {
    let layout = layout(block, layouts)?;
    let Some(part) = layout.record(record.number) else {
        return Ok(None);
    };
    let here = part.residues.len() as u64;
    let goes_on = record.number == layout.records();
    let has_length = here == record.length || goes_on && here < record.length;
    // The first line continues in the next block, so it may be longer than it is here.
    let is_torn = part.is_torn && part.residues.len() == part.last_line;
    let lines = (record.line_bases, record.line_width);
    let lines_here = (part.line_bases as u64, part.line_width as u64);
    let begins = here == 0
        || record.offset == block.file.info.raw.start + part.raw_start as u64
            && (lines == lines_here || is_torn && lines.0 >= lines_here.0);
    let has_qualities = match part.quality_start {
        Some(start) => record.quality_offset == Some(block.file.info.raw.start + start as u64),
        // The qualities are in a later block, or there are none.
        None => {
            goes_on
                || record
                    .quality_offset
                    .is_none_or(|offset| offset == record.offset)
        }
    };
    let is_like = has_length && begins && (has_qualities || !block.is_fastq());
    Ok(is_like.then_some(part.header))
}

/// Returns true if a record has the name in its header line, which is given as in the block's text.
fn has_name(record: &RecordInfo, header: &[u8], layout: &Layout) -> bool {
    let header = sequence::unmapped(header);
    let name = sequence::name_in(&header);
    let goes_on = record.number == layout.records() && layout.ends_in_header(false);
    record.name == name || goes_on && record.name.starts_with(name)
}

/// The kind of the records of a section.
fn kind_of(section: &SequenceSection) -> Kind {
    let is_fastq = section.blocks.iter().any(SequenceBlock::is_fastq);
    if is_fastq { Kind::Fastq } else { Kind::Fasta }
}

/// Adds the records of a section, read from its blocks.
fn gather(
    section: &SequenceSection,
    records: &mut Vec<RecordInfo>,
    layouts: &mut Layouts,
    options: &Options,
) -> Result<()> {
    let Some(first) = section.blocks.first() else {
        return Ok(());
    };
    let (list, places) = list_of(section, records.len(), layouts, options)?;
    let start = first.file.info.raw.start;
    for (record, (block, number)) in list
        .finish(kind_of(section))
        .into_iter()
        .zip(places)
    {
        records.push(RecordInfo::new(record, start, block, number));
    }
    Ok(())
}

/// Returns the records of a section, with offsets from its start, and for each record its block and
/// its number there. `before` records are in memory already.
fn list_of(
    section: &SequenceSection,
    before: usize,
    layouts: &mut Layouts,
    options: &Options,
) -> Result<(RecordList, Vec<(u64, usize)>)> {
    let mut list = RecordList::default();
    let mut places = Vec::new();
    let start = section
        .blocks
        .first()
        .map_or(0, |block| block.file.info.raw.start);
    let pool = thread_pool::pool(options)?;
    for block in &section.blocks {
        let layout = layout(block, layouts)?;
        let count = before + list.count() + layout.records();
        options
            .check_records(count)
            .map_err(|e| block.file.locate(e))?;
        let mut heads = Vec::new();
        let begins_in_header = list.ends_in_header();
        let headers = BlockRecords::headers(layout, begins_in_header);
        let headers = headers.ok_or_else(|| block.file.flaw(OUTSIDE))?;
        if !headers.is_empty() {
            heads = pool
                .install(|| block_ranges::texts(block, &[headers]))?
                .concat();
        }
        let records = BlockRecords::new(layout, &heads, begins_in_header);
        list.add(
            block.file.info.raw.start - start,
            records.ok_or_else(|| block.file.flaw(OUTSIDE))?,
        );
        places.extend((1..=layout.records()).map(|number| (block.file.number, number)));
    }
    Ok((list, places))
}
