//! Records of a stream, gathered block by block: their names, and the numbers of a `.fai` file.
//!
//! The parts of a record in consecutive blocks are joined by [`RecordList::add`].

use super::line_layout::{Layout, Record};
use super::lines::Kind;
use super::odd_bytes::name_in;
use std::mem;
use std::ops::Range;

/// Maximum number of records that a frame lists. Its writer keeps them until the end of the frame.
pub const MOST_LISTED: usize = 1 << 16;

/// Maximum number of bytes from the first header of a block to its last, if its records are listed.
const MOST_HEADERS: usize = 16 << 20;

/// Record of a stream. Offsets count in the raw bytes of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedRecord {
    /// The first word of the header line, without its mark.
    pub name: Vec<u8>,
    /// Number of residues.
    pub length: u64,
    /// Offset of the first residue, or of the place for it if there is none.
    pub offset: u64,
    /// Residues in each line but the last; 0 if there are none.
    pub line_bases: u64,
    /// Bytes of each line but the last, its end and blanks included.
    pub line_width: u64,
    /// Offset of the first quality of a record of FASTQ.
    pub quality_offset: Option<u64>,
    /// True if the numbers above tell where each residue is.
    pub is_regular: bool,
}

/// Part of a record in one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RecordPart {
    record: ListedRecord,
    /// Residues in the last line so far.
    last_line: u64,
    /// Bytes of the last line so far.
    last_width: u64,
    /// True if the last line goes on in the next block.
    is_torn: bool,
}

/// Records of a block. Offsets count from the start of the block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockRecords {
    /// Part of the record that goes on from the block before.
    continued: RecordPart,
    /// Rest of the header that goes on from the block before.
    header_rest: Vec<u8>,
    /// Records that begin in the block.
    records: Vec<RecordPart>,
    /// The part in this block of the stream's last header, if the header goes on in the next block.
    open_header: Option<Vec<u8>>,
}

impl BlockRecords {
    /// Returns the text positions of the header lines of a block, from the first to the last, with
    /// everything between them. If the block begins with the rest of a header, this is the first.
    /// `None` if the layout contradicts itself.
    pub fn headers(layout: &Layout, begins_in_header: bool) -> Option<Range<usize>> {
        let rest = if begins_in_header {
            layout.first_head()
        } else {
            0..0
        };
        let last = layout.records();
        if last == 0 {
            return Some(rest);
        }
        let end = layout.record(last)?.header.end;
        let first = if rest.is_empty() {
            layout.record(1)?.header.start
        } else {
            rest.start
        };
        Some(first..end)
    }

    /// Returns the records of a block with this text. `None` if there are more than a frame lists,
    /// or the layout does not fit.
    pub fn listed(layout: &Layout, text: &[u8], begins_in_header: bool) -> Option<Self> {
        let headers = Self::headers(layout, begins_in_header)?;
        if layout.records() > MOST_LISTED || headers.len() > MOST_HEADERS {
            return None;
        }
        Self::new(layout, text.get(headers)?, begins_in_header)
    }

    /// Gathers the records of a block. `heads` is the text from the first header line to the last,
    /// at the positions that [`BlockRecords::headers`] returns. `None` if the layout does not fit
    /// it.
    pub fn new(layout: &Layout, heads: &[u8], begins_in_header: bool) -> Option<Self> {
        let count = layout.records();
        let headers = Self::headers(layout, begins_in_header)?;
        let header = |range: Range<usize>| -> Option<Vec<u8>> {
            let from = range.start.checked_sub(headers.start)?;
            Some(unmapped(
                heads.get(from..range.end.checked_sub(headers.start)?)?,
            ))
        };
        let mut block = BlockRecords::default();
        if begins_in_header && !layout.first_head().is_empty() {
            block.header_rest = header(layout.first_head())?;
        }
        // A block without lines has no part of any record.
        if let Some(part) = layout.record(0) {
            block.continued = RecordPart::new(&part);
        }
        for number in 1..=count {
            let part = layout.record(number)?;
            let line = header(part.header.clone())?;
            let mut entry = RecordPart::new(&part);
            entry.record.name = name_in(&line).to_vec();
            block.records.push(entry);
            if number == count && layout.ends_in_header(begins_in_header) {
                block.open_header = Some(line);
            }
        }
        if count == 0 && layout.ends_in_header(begins_in_header) {
            block.open_header = Some(Vec::new());
        }
        Some(block)
    }

    /// Number of records that begin in the block.
    pub fn count(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of bytes of all names, and of the header lines that are not whole.
    pub fn name_bytes(&self) -> usize {
        let names: usize = self
            .records
            .iter()
            .map(|part| part.record.name.len())
            .sum();
        names + self.header_rest.len() + self.open_header.as_ref().map_or(0, Vec::len)
    }
}

impl RecordPart {
    fn new(part: &Record) -> Self {
        RecordPart {
            record: ListedRecord {
                name: Vec::new(),
                length: part.residues.len() as u64,
                offset: part.raw_start as u64,
                line_bases: part.line_bases as u64,
                line_width: part.line_width as u64,
                quality_offset: part.quality_start.map(|offset| offset as u64),
                is_regular: part.is_regular,
            },
            last_line: part.last_line as u64,
            last_width: part.last_width as u64,
            is_torn: part.is_torn,
        }
    }

    /// Adds the part of the record in the next block, which begins at the offset `start` of the
    /// stream.
    fn go_on(&mut self, start: u64, part: RecordPart) {
        let RecordPart {
            record: more,
            last_line,
            last_width,
            is_torn,
        } = part;
        let record = &mut self.record;
        let quality_offset = more.quality_offset.map(|offset| offset + start);
        record.quality_offset = record.quality_offset.or(quality_offset);
        let was_torn = mem::take(&mut self.is_torn);
        if more.length == 0 {
            return;
        }
        // The part begins with the rest of a line.
        let line_goes_on = was_torn && more.offset == 0;
        let offset = start + more.offset;
        let is_one_line = more.length == last_line;
        record.is_regular &= more.is_regular;
        if record.length == 0 {
            record.offset = offset;
            record.line_bases = more.line_bases;
            record.line_width = more.line_width;
        } else if line_goes_on {
            let is_first_line = record.length == self.last_line;
            let has_blanks = self.last_width != self.last_line;
            record.is_regular &= is_first_line && is_one_line && !has_blanks;
            if is_first_line {
                record.line_bases = self.last_line + more.line_bases;
                record.line_width = self.last_width + more.line_width;
            }
        } else {
            let is_like_before =
                more.line_bases == record.line_bases && more.line_width == record.line_width;
            // Offset of the next line if no other line is between.
            let next = record.offset + record.length / record.line_bases.max(1) * record.line_width;
            record.is_regular &= self.last_line == record.line_bases
                && offset == next
                && (is_like_before || is_one_line && more.line_bases <= record.line_bases);
        }
        let goes_on = line_goes_on && is_one_line;
        record.length += more.length;
        self.last_line = last_line + if goes_on { self.last_line } else { 0 };
        self.last_width = last_width + if goes_on { self.last_width } else { 0 };
        self.is_torn = is_torn;
    }

    fn shift(mut self, start: u64) -> Self {
        self.record.offset += start;
        self.record.quality_offset = self
            .record
            .quality_offset
            .map(|offset| offset + start);
        self
    }
}

/// Records of a stream so far.
#[derive(Clone, Debug, Default)]
pub struct RecordList {
    parts: Vec<RecordPart>,
    /// Last header line, if it goes on in the next block.
    open_header: Option<Vec<u8>>,
}

impl RecordList {
    /// Returns true if the stream so far ends within a header.
    pub fn ends_in_header(&self) -> bool {
        self.open_header.is_some()
    }

    /// Adds the records of the next block, which begins at the offset `start` of the stream.
    pub fn add(&mut self, start: u64, block: BlockRecords) {
        let BlockRecords {
            continued,
            header_rest,
            records,
            open_header,
        } = block;
        if let Some(last) = self.parts.last_mut() {
            last.go_on(start, continued);
            if let Some(header) = &mut self.open_header {
                header.extend(header_rest);
                last.record.name = name_in(header).to_vec();
            }
        }
        if !records.is_empty() || open_header.is_none() {
            self.open_header = open_header;
        }
        self.parts
            .extend(records.into_iter().map(|part| part.shift(start)));
    }

    /// Number of records.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// Returns the records in order, for a stream of `kind`.
    pub fn finish(self, kind: Kind) -> Vec<ListedRecord> {
        let mut records: Vec<_> = self
            .parts
            .into_iter()
            .map(|part| part.record)
            .collect();
        for record in &mut records {
            let quality_offset = record.quality_offset.unwrap_or(record.offset);
            record.quality_offset = (kind == Kind::Fastq).then_some(quality_offset);
        }
        records
    }
}

/// Restores a header line from its mapped bytes in the text of a block.
pub fn unmapped(header: &[u8]) -> Vec<u8> {
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
