//! The records of a file that is searched by sequence: their names and lengths, the place of a
//! base, and the bases of a place.
//!
//! Names and lengths take the layout of each block and the header lines of its text, which are
//! decoded slice by slice where there are few. A stretch of bases takes the slices that it is in.

use super::file_block::FileBlock;
use super::file_search::FileSearch;
use super::searched_block;
use super::sections::{Layouts, OUTSIDE, Section, layout, sections};
use super::shared_input::SharedInput;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::sequence::{self, Base, Record};
use crate::threads;
use rayon::prelude::*;
use std::mem;
use std::ops::Range;
use std::sync::Mutex;

/// A record of a FASTA or FASTQ file. The numbers are those of a `.fai` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordInfo {
    /// The first word of the header line, without its mark.
    pub name: Vec<u8>,
    /// Bases, or amino acids.
    pub length: u64,
    /// Raw offset of the first line of them, or of where it would be.
    pub offset: u64,
    /// Bases in each line but the last.
    pub line_bases: u64,
    /// Bytes of each line but the last, its end and blanks included.
    pub line_width: u64,
    /// Raw offset of the first quality of a FASTQ record.
    pub quality_offset: Option<u64>,
    /// Whether all lines but the last are of the same width, and nothing stands between them or in
    /// front of a base, so that the numbers tell where each base is.
    pub is_regular: bool,
    /// The block in which it begins, and its number there.
    block: u64,
    number: usize,
    /// Bases in the last line so far, its bytes, and whether it goes on in the next block.
    last_line: u64,
    last_width: u64,
    is_torn: bool,
}

/// Where a byte of a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Its raw offset.
    pub offset: u64,
    /// Where it is a base of a record: the number of the record, of all in the file, and the number
    /// of the base, both from 0.
    pub base: Option<(u64, u64)>,
}

impl RecordInfo {
    /// A record as far as it is in the block that it begins in, without its name.
    fn new(block: &FileBlock, number: usize, part: &Record) -> Self {
        RecordInfo {
            name: Vec::new(),
            length: part.residues.len() as u64,
            offset: block.info.raw.start + part.raw_start as u64,
            line_bases: part.line_bases as u64,
            line_width: part.line_width as u64,
            quality_offset: part.quality_start.map(|at| block.info.raw.start + at as u64),
            is_regular: part.is_regular,
            block: block.number,
            number,
            last_line: part.last_line as u64,
            last_width: part.last_width as u64,
            is_torn: part.is_torn,
        }
    }

    /// Adds what stands of it in the next block.
    fn go_on(&mut self, block_start: u64, part: &Record) {
        let here = part.quality_start.map(|at| block_start + at as u64);
        self.quality_offset = self.quality_offset.or(here);
        let was_torn = mem::take(&mut self.is_torn);
        if part.residues.is_empty() {
            return;
        }
        // What comes first is the rest of a line.
        let line_goes_on = was_torn && part.raw_start == 0;
        let start = block_start + part.raw_start as u64;
        let bases = part.residues.len() as u64;
        let line_bases = part.line_bases as u64;
        let line_width = part.line_width as u64;
        let one_line = part.residues.len() == part.last_line;
        self.is_regular &= part.is_regular;
        if self.length == 0 {
            self.offset = start;
            (self.line_bases, self.line_width) = (line_bases, line_width);
        } else if line_goes_on {
            let begins_with_first = self.length == self.last_line;
            let has_blanks = self.last_width != self.last_line;
            self.is_regular &= begins_with_first && one_line && !has_blanks;
            if begins_with_first {
                self.line_width = self.last_width + line_width;
                self.line_bases = self.last_line + line_bases;
            }
        } else {
            let like_before = (line_bases, line_width) == (self.line_bases, self.line_width);
            // Where the next line is if nothing stands between.
            let next = self.offset + self.length / self.line_bases.max(1) * self.line_width;
            self.is_regular &= self.last_line == self.line_bases
                && start == next
                && (like_before || one_line && line_bases <= self.line_bases);
        }
        let goes_on = line_goes_on && one_line;
        self.length += bases;
        self.last_line = part.last_line as u64 + if goes_on { self.last_line } else { 0 };
        self.last_width = part.last_width as u64 + if goes_on { self.last_width } else { 0 };
        self.is_torn = part.is_torn;
    }
}

impl FileSearch<'_> {
    /// All records, in order.
    pub fn records(&mut self) -> Result<Vec<RecordInfo>> {
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let mut records: Vec<FoundRecord> = Vec::new();
        for section in sections(&input, self.contents, self.options)? {
            if !section.by_sequence {
                continue;
            }
            let first = records.len();
            let mut ends_in_header = false;
            for block in &section.blocks {
                if ends_in_header {
                    let range = layout(block, self.layouts)?.first_head();
                    if let Some(last) = records[first..].last_mut() {
                        last.header.extend(text_of(block, range, self.options)?);
                    }
                }
                let layout = layout(block, self.layouts)?;
                let part = |n| layout.record(n).ok_or_else(|| block.flaw(OUTSIDE));
                if let Some(last) = records[first..].last_mut() {
                    last.info.go_on(block.info.raw.start, &part(0)?);
                }
                let count = layout.records();
                ends_in_header = layout.ends_in_header(ends_in_header);
                self.options.check_records(records.len() + count).map_err(|e| block.locate(e))?;
                if count == 0 {
                    continue;
                }
                let headers = part(1)?.header.start..part(count)?.header.end;
                let text = text_of(block, headers.clone(), self.options)?;
                for number in 1..=count {
                    let part = part(number)?;
                    let range = part.header.start - headers.start..part.header.end - headers.start;
                    let header = text[range].to_vec();
                    records
                        .push(FoundRecord { header, info: RecordInfo::new(block, number, &part) });
                }
            }
            let fastq = section.blocks.iter().any(FileBlock::is_fastq);
            records[first..].iter_mut().for_each(|record| record.complete(fastq));
        }
        *self.cost += input.cost();
        Ok(records.into_iter().map(|record| record.info).collect())
    }

    /// Where bytes at raw offsets stand.
    pub fn places(&mut self, offsets: &[u64]) -> Result<Vec<Place>> {
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options)?;
        let mut before = Vec::new();
        let mut records = 0;
        for section in &sections {
            before.push(records);
            if let Some(last) = section.blocks.last().filter(|_| section.by_sequence) {
                let begin = layout(last, self.layouts)?.records() as u64;
                records += last.records_before.unwrap_or(0) + begin;
            }
        }
        let mut place = |offset: u64| -> Result<Place> {
            let n = sections.partition_point(|section| section.raw_end() <= offset);
            let base = match sections.get(n).filter(|section| section.by_sequence) {
                None => None,
                Some(section) => base(section, offset, self.layouts)?,
            };
            Ok(Place { offset, base: base.map(|(record, base)| (before[n] + record, base)) })
        };
        // From block to block.
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.par_sort_unstable_by_key(|&n| offsets[n]);
        let mut places = vec![Place { offset: 0, base: None }; offsets.len()];
        for n in order {
            places[n] = place(offsets[n])?;
        }
        Ok(places)
    }

    /// Bases of records, as they stand in the file. A block is opened once for all of them.
    pub fn bases(&mut self, wanted: &[(&RecordInfo, Range<u64>)]) -> Result<Vec<Vec<u8>>> {
        let mut size = 0;
        for (record, Range { start, end }) in wanted {
            if start > end || *end > record.length {
                let length = record.length;
                let what =
                    format!("bases {start}..{end} are not within the {length} of the record");
                return Err(Error::Usage(what.into()));
            }
            self.options.check_output(size, end - start, || "the regions".to_owned())?;
            size += end - start;
        }
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let pool = threads::pool(self.options)?;
        let mut bases = vec![Vec::new(); wanted.len()];
        // The number of each record in the next block, and how many of its bases come before.
        let mut reached: Vec<_> = wanted.iter().map(|(record, _)| (record.number, 0)).collect();
        let sections = sections(&input, self.contents, self.options)?;
        for block in sections.iter().flat_map(|section| &section.blocks) {
            let pieces = pieces(block, wanted, &mut reached, self.layouts)?;
            if pieces.is_empty() {
                continue;
            }
            let ranges: Vec<_> = pieces.iter().map(|(_, range)| range.clone()).collect();
            let texts = pool.install(|| searched_block::texts(block, &ranges))?;
            let layout = layout(block, self.layouts)?;
            for ((n, range), mut text) in pieces.into_iter().zip(texts) {
                for small in layout.small(range.clone()) {
                    let small = small.start - range.start..small.end - range.start;
                    text[small].make_ascii_lowercase();
                }
                bases[n].append(&mut text);
            }
        }
        *self.cost += input.cost();
        Ok(bases)
    }
}

/// What stands of wanted bases in a block: the number of each and where it is in the text.
fn pieces(
    block: &FileBlock,
    wanted: &[(&RecordInfo, Range<u64>)],
    reached: &mut [(usize, u64)],
    layouts: &mut Layouts,
) -> Result<Vec<(usize, Range<usize>)>> {
    let mut pieces = Vec::new();
    for (n, ((record, range), (number, start))) in wanted.iter().zip(reached).enumerate() {
        if block.number < record.block || *start >= range.end {
            continue;
        }
        let part = layout(block, layouts)?.record(*number).ok_or_else(|| block.flaw(OUTSIDE))?;
        let end = *start + part.residues.len() as u64;
        let within = |base: u64| part.residues.start + (base.clamp(*start, end) - *start) as usize;
        let piece = within(range.start)..within(range.end);
        if !piece.is_empty() {
            pieces.push((n, piece));
        }
        (*number, *start) = (0, end);
    }
    Ok(pieces)
}

/// The record of a section, and the base, that stands at a raw offset.
fn base(section: &Section, offset: u64, layouts: &mut Layouts) -> Result<Option<(u64, u64)>> {
    let n = section.blocks.partition_point(|block| block.info.raw.end <= offset);
    let Some(block) = section.blocks.get(n) else { return Ok(None) };
    let layout = layout(block, layouts)?;
    let position = layout.text_position((offset - block.info.raw.start) as usize);
    let Some(Base { record, offset }) = position.and_then(|at| layout.base(at)) else {
        return Ok(None);
    };
    let before = block.records_before.unwrap_or(0);
    let number = (before + record as u64).checked_sub(1);
    let continued = if record == 0 { block.continued } else { 0 };
    Ok(number.map(|number| (number, continued + offset as u64)))
}

/// A record with its header line as the text has it.
struct FoundRecord {
    header: Vec<u8>,
    info: RecordInfo,
}

impl FoundRecord {
    fn complete(&mut self, is_fastq: bool) {
        self.info.name = sequence::name_in(&unmapped(&self.header)).to_vec();
        if is_fastq {
            self.info.quality_offset.get_or_insert(self.info.offset);
        } else {
            self.info.quality_offset = None;
        }
    }
}

/// A range of the text of a block.
fn text_of(block: &FileBlock, range: Range<usize>, options: &Options) -> Result<Vec<u8>> {
    let pool = threads::pool(options)?;
    Ok(pool.install(|| searched_block::texts(block, &[range]))?.concat())
}

/// A header line of the text as it is in the file.
fn unmapped(header: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    let mut rest = header.iter();
    while let Some(&byte) = rest.next() {
        raw.push(match byte {
            0x80 => rest.next().copied().unwrap_or_default(),
            0x81 => rest.next().copied().unwrap_or_default() & 0x7F,
            _ => byte & 0x7F,
        });
    }
    raw
}
