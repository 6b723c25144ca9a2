//! Layout of a block of sequences: the kinds of its lines, and the positions of everything in them.
//!
//! A *text position* counts in the text. The first [`Layout::sequence_size`] bytes of the text are
//! the residues and the `0A` in front of each record. A *raw offset* counts in the raw block. All
//! maps between them take logarithmic time. Their memory is little more than the bytes of the
//! layout, which the size of the block bounds.

use super::cover::Cover;
use super::entry_room::EntryRoom;
use super::units::{Lead, LineUnit, Totals, UnitRow, Units};
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::coder::range_coder::{RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};
use std::ops::Range;

const MISFIT: Flaw = Flaw("the layout of sequences is not that of the block");
const DAMAGED: Flaw = Flaw("the layout of sequences is damaged: its checksum is wrong");

/// Everything that restores a block of sequences, except the bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// True if the last line has an end.
    pub(super) ends: bool,
    /// Lines that end by CRLF.
    pub(super) crlf: Cover,
    /// Blanks in the lines of sequences, as positions in the bytes of these lines.
    pub(super) blanks: Cover,
    /// Text positions of small letters. Bytes among them that are no letters do not count.
    pub(super) small: Cover,
    /// Bytes beside the sequences that take two bytes in the text.
    pub(super) escaped: Cover,
    pub(super) units: Units,
    pub(super) totals: Totals,
    raw_size: usize,
}

/// Lists of stretches in a layout.
pub(super) struct Covers {
    pub crlf: Cover,
    pub blanks: Cover,
    pub small: Cover,
    pub escaped: Cover,
}

/// Position of a base or an amino acid in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// Number of records that begin in the block, up to this one. 0 is the record that goes on from
    /// the block before, and 1 is the first one that begins in the block.
    pub record: usize,
    /// Number of residues of this record before it, in this block.
    pub offset: usize,
}

/// Part of a record that is in the block. For `.fai`, the header has the name, and the other fields
/// are [`residues`](Self::residues), [`raw_start`](Self::raw_start),
/// [`line_bases`](Self::line_bases) and [`line_width`](Self::line_width).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Text positions of the header line, `>` or `@` included. Its bytes are mapped. Empty for the
    /// record that goes on from the block before.
    pub header: Range<usize>,
    /// Text positions of its residues.
    pub residues: Range<usize>,
    /// Text positions of its qualities, with the blanks in their lines.
    pub qualities: Range<usize>,
    /// Raw offset of the line of its first residue, or of the place for that line if it has none.
    pub raw_start: usize,
    /// Raw offset of the first line of qualities, if the block has the `+` line in front of it.
    pub quality_start: Option<usize>,
    /// Residues in each line but the last; 0 if there are none.
    pub line_bases: usize,
    /// Bytes of each such line, with its end and blanks.
    pub line_width: usize,
    /// Residues in the last line. If they are `line_bases`, the record may go on in the next block
    /// and still be regular.
    pub last_line: usize,
    /// Bytes of the last line, with its end if it has one.
    pub last_width: usize,
    /// True if the last line goes on in the next block.
    pub is_torn: bool,
    /// True if the residues have equal lines. All lines but the last have `line_bases` residues
    /// and the same line end, and the last has no more residues. No other lines are between them,
    /// and no blanks are in front of a residue. No line is longer than the first, blanks included,
    /// since `samtools faidx` refuses such lines.
    pub is_regular: bool,
}

/// Maximum number of units and stretches of a layout. By it the size of the block bounds the
/// memory.
fn most_entries(raw_size: usize) -> usize {
    raw_size / 4 + 16
}

impl Layout {
    /// Takes a layout off the front of a block's parameters.
    ///
    /// # Errors
    /// A [`Flaw`] if it is not the layout of a block of `raw_size` bytes. `raw_size` bounds the
    /// memory in any case.
    pub fn read(side: &mut &[u8], raw_size: usize) -> Result<Self, Flaw> {
        Self::read_up_to(side, raw_size, usize::MAX)
    }

    /// Does the same as [`Layout::read`] for at most `allowed` units and stretches. Each takes
    /// `OF_ENTRY` bytes of memory.
    ///
    /// # Errors
    /// `NO_ROOM` if there are more.
    pub fn read_up_to(side: &mut &[u8], raw_size: usize, allowed: usize) -> Result<Self, Flaw> {
        let whole = *side;
        let sequence_size = leb128::read(side)?;
        let size = leb128::read(side)?;
        let (coded, rest) = side.split_at_checked(size).ok_or(leb128::CUT)?;
        let (checksum, rest) = rest.split_first_chunk().ok_or(leb128::CUT)?;
        let signed = &whole[..whole.len() - rest.len() - checksum.len()];
        *side = rest;
        let is_sound = crc32fast::hash(signed) == u32::from_le_bytes(*checksum);
        if !is_sound && !cfg!(fuzzing) {
            return Err(DAMAGED);
        }
        let layout = Self::decode(coded, raw_size, allowed)?;
        if layout.sequence_size() == sequence_size {
            Ok(layout)
        } else {
            Err(MISFIT)
        }
    }

    fn decode(coded: &[u8], raw_size: usize, allowed: usize) -> Result<Self, Flaw> {
        let mut from = RangeDecoder::new(coded);
        let ends = BitTree::<1>::new().code(0, &mut from) == 1;
        let is_extended = BitTree::<1>::new().code(0, &mut from) == 1;
        let mut room = EntryRoom {
            most: most_entries(raw_size),
            allowed,
        };
        let units = Units::decode(&mut from, is_extended, &mut room, raw_size)?;
        let totals = units.totals;
        let mut cover = |limit| Cover::decode(&mut from, &mut room, limit);
        let crlf = cover(totals.lines)?;
        let blanks = if is_extended {
            cover(totals.line_bytes)?
        } else {
            Cover::default()
        };
        let sequence_size = totals.line_bytes - blanks.total + totals.records;
        let others = totals.heads + totals.qualities + blanks.total;
        let small = cover(sequence_size)?;
        let covers = Covers {
            crlf,
            blanks,
            small,
            escaped: cover(others)?,
        };
        if !from.is_at_end() {
            return Err(Flaw(
                "the layout of sequences does not end where its coded bytes do",
            ));
        }
        let layout = Self::new(ends, units, covers, raw_size);
        if layout.fits() {
            Ok(layout)
        } else {
            Err(MISFIT)
        }
    }

    pub(super) fn new(ends: bool, units: Units, covers: Covers, raw_size: usize) -> Self {
        let Covers {
            crlf,
            blanks,
            small,
            escaped,
        } = covers;
        let totals = units.totals;
        Layout {
            ends,
            crlf,
            blanks,
            small,
            escaped,
            units,
            totals,
            raw_size,
        }
    }

    /// Returns true if it has blanks, or qualities in lines of their own, as most layouts do not.
    fn is_extended(&self) -> bool {
        self.blanks.count > 0 || self.units.has_qualities()
    }

    fn covers(&self) -> [&Cover; 4] {
        [&self.crlf, &self.blanks, &self.small, &self.escaped]
    }

    /// Returns true if the lines add up to the block. Only the last line may lack an end.
    fn fits(&self) -> bool {
        let lines = self.totals.lines;
        let size = self.raw_before(&self.totals);
        match self.ends {
            true => size == self.raw_size,
            false => lines > 0 && !self.ends_by_crlf(lines - 1) && size == self.raw_size + 1,
        }
    }

    /// Appends it to a block's parameters.
    pub fn write(&self, side: &mut Vec<u8>) {
        let mut coded = Vec::new();
        let mut out = RangeEncoder::new(&mut coded);
        BitTree::<1>::new().code(usize::from(self.ends), &mut out);
        let is_extended = self.is_extended();
        BitTree::<1>::new().code(usize::from(is_extended), &mut out);
        self.units.encode(is_extended, &mut out);
        self.crlf.encode(&mut out);
        if is_extended {
            self.blanks.encode(&mut out);
        }
        self.small.encode(&mut out);
        self.escaped.encode(&mut out);
        out.finish();
        let start = side.len();
        leb128::write(self.sequence_size(), side);
        leb128::write(coded.len(), side);
        side.extend(coded);
        let checksum = crc32fast::hash(&side[start..]);
        side.extend(checksum.to_le_bytes());
    }

    /// Returns true if the models can hold its numbers. In a block above 4 GiB they may be too
    /// large.
    fn has_small_numbers(&self) -> bool {
        self.raw_size <= NumberModel::MOST
            || self.units.have_small_numbers()
                && self
                    .covers()
                    .iter()
                    .all(|cover| cover.has_small_numbers())
    }

    /// Returns true if it can be written, and has no more entries than a decoder accepts.
    pub fn is_small(&self) -> bool {
        let stretches = self
            .covers()
            .iter()
            .map(|cover| cover.count)
            .sum::<usize>();
        let entries = self.units.count + stretches;
        entries <= most_entries(self.raw_size) && self.has_small_numbers()
    }

    /// Returns its memory, in bytes.
    pub fn size(&self) -> usize {
        let covers: usize = self.covers().into_iter().map(Cover::memory).sum();
        size_of::<Self>() + covers + self.units.memory()
    }

    /// Returns the size of the raw block, in bytes.
    pub fn raw_size(&self) -> usize {
        self.raw_size
    }

    /// Returns the number of bytes of the text that are searched.
    pub fn sequence_size(&self) -> usize {
        self.sequence_before(&self.totals)
    }

    /// Returns the number of residues in the lines of `before`.
    pub(super) fn residues_in(&self, before: &Totals) -> usize {
        before.line_bytes - self.blanks.covered_before(before.line_bytes)
    }

    /// Returns the number of searched bytes in the lines of `before`.
    fn sequence_before(&self, before: &Totals) -> usize {
        self.residues_in(before) + before.records
    }

    /// Returns the size of the text, in bytes.
    pub fn text_size(&self) -> usize {
        let Totals {
            heads, qualities, ..
        } = self.totals;
        let others = heads + qualities + self.blanks.total;
        self.sequence_size() + others + self.escaped.total
    }

    /// Returns true if a line of qualities is not empty.
    pub fn has_qualities(&self) -> bool {
        self.totals.qualities > 0
    }

    /// Returns true if the last line has an end.
    pub fn ends_line(&self) -> bool {
        self.ends
    }

    /// Returns true if the block ends within a header that goes on in the next block.
    /// `begins_in_header` is the same for its start.
    pub fn ends_in_header(&self, begins_in_header: bool) -> bool {
        let Some(before) = self.totals.lines.checked_sub(1) else {
            return begins_in_header;
        };
        let last = self.units.find(before, |totals| totals.lines);
        let is_header =
            last.is_some_and(|row| row.unit.lead == Lead::Record && row.unit.line_bytes == 0);
        !self.ends && (is_header || begins_in_header && before == 0)
    }

    /// Returns the text positions of the first line, whose bytes are mapped. Empty if it begins a
    /// record, or is a line of a sequence. If the block before [ends in a
    /// header](Self::ends_in_header), the line is the rest of it.
    pub fn first_head(&self) -> Range<usize> {
        match self.units.iter().next() {
            Some(UnitRow { unit, .. }) if unit.lead == Lead::Other => {
                self.other(0)..self.other(unit.lead_len)
            }
            _ => 0..0,
        }
    }

    /// Returns the number of records that begin in the block.
    pub fn records(&self) -> usize {
        self.totals.records
    }

    /// Returns the raw offset behind the lines of `before`.
    pub(super) fn raw_before(&self, before: &Totals) -> usize {
        before.bytes() + before.lines + self.crlf.covered_before(before.lines)
    }

    /// Returns the text position of a byte beside the sequences. `at` counts these bytes.
    pub(super) fn other(&self, at: usize) -> usize {
        self.sequence_size() + at + self.escaped.covered_before(at)
    }

    /// Returns the unit of a text position below [`Self::sequence_size`].
    fn unit_at(&self, position: usize) -> Option<UnitRow> {
        self.units
            .find(position, |totals| self.sequence_before(totals))
    }

    /// Returns the raw offset of a text position below [`Self::sequence_size`]. For a residue it is
    /// that of its byte. For the `0A` in front of a record it is that of the record's header line.
    pub fn raw_offset(&self, position: usize) -> Option<usize> {
        let UnitRow { before, unit, .. } = self.unit_at(position)?;
        let begins = usize::from(unit.begins_record());
        match (position - self.sequence_before(&before)).checked_sub(begins) {
            Some(residue) => {
                let byte = self
                    .blanks
                    .uncovered(self.residues_in(&before) + residue);
                Some(self.raw_of_byte(&before, &unit, byte - before.line_bytes))
            }
            None => Some(self.raw_before(&before)),
        }
    }

    /// Returns the raw offset of a byte in the lines of a unit. `byte` counts the bytes of these
    /// lines.
    pub(super) fn raw_of_byte(&self, before: &Totals, unit: &LineUnit, byte: usize) -> usize {
        let lines = before.lines + usize::from(unit.has_lead()) + byte / unit.line_width();
        let bytes = before.bytes() + unit.lead_len + byte;
        bytes + lines + self.crlf.covered_before(lines)
    }

    /// Returns the text position of the residue at a raw offset. `None` if the byte there is no
    /// residue.
    pub fn text_position(&self, raw: usize) -> Option<usize> {
        let UnitRow { before, unit, .. } = self
            .units
            .find(raw, |totals| self.raw_before(totals))?;
        if unit.lead == Lead::Qualities {
            return None;
        }
        let offset = |byte: usize| self.raw_of_byte(&before, &unit, byte);
        // Finds the first byte whose raw offset is `raw` or more.
        let mut low = 0;
        let mut high = unit.line_bytes;
        while low < high {
            let middle = low + (high - low) / 2;
            match offset(middle) < raw {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        if low == unit.line_bytes || offset(low) != raw {
            return None;
        }
        let byte = before.line_bytes + low;
        let residues = byte - self.blanks.covered_before(byte);
        let records = before.records + usize::from(unit.begins_record());
        (self.blanks.uncovered(residues) == byte).then_some(residues + records)
    }

    /// Returns the record of the residue at a text position, and its place in the record. `None`
    /// for a `0A`, and for positions from [`Self::sequence_size`] on.
    pub fn base(&self, position: usize) -> Option<Base> {
        let UnitRow { before, unit, .. } = self.unit_at(position)?;
        let begins = usize::from(unit.begins_record());
        let within = (position - self.sequence_before(&before)).checked_sub(begins)?;
        let residue = self.residues_in(&before) + within;
        let record = before.records + begins;
        Some(Base {
            record,
            offset: residue - self.residues_before(record)?,
        })
    }

    /// Returns the text position of a residue, if the block has it.
    pub fn position(&self, base: Base) -> Option<usize> {
        let from = self.residues_before(base.record)?;
        let end = self.residues_up_to(base.record);
        let residue = from.checked_add(base.offset)?;
        (residue < end).then_some(residue + base.record)
    }

    /// Returns the number of residues in front of a record, if the block has the record.
    pub(super) fn residues_before(&self, record: usize) -> Option<usize> {
        match record.checked_sub(1) {
            Some(before) => Some(self.residues_in(&self.beginning(before)?.before)),
            None => Some(0),
        }
    }

    /// Returns the number of residues up to the end of a record.
    fn residues_up_to(&self, record: usize) -> usize {
        self.residues_before(record + 1)
            .unwrap_or(self.residues_in(&self.totals))
    }

    /// Returns the unit with which a record begins. `before` other records begin before it in the
    /// block.
    fn beginning(&self, before: usize) -> Option<UnitRow> {
        self.units.find(before, |totals| totals.records)
    }

    /// Returns a record, numbered as in [`Base`]. The record that goes on from the block before
    /// exists even if it has no residues in this block.
    pub fn record(&self, number: usize) -> Option<Record> {
        let beginning = match number.checked_sub(1) {
            Some(before) => Some(self.beginning(before)?),
            None => None,
        };
        let first = self.units.find(0, |totals| totals.lines);
        let from = beginning.map_or(0, |row| self.residues_in(&row.before));
        let end = self.residues_up_to(number);
        let header = beginning.map_or(0..0, |UnitRow { before, unit, .. }| {
            self.other(before.heads)..self.other(before.heads + unit.lead_len)
        });
        let lines = match from < end {
            true => self
                .units
                .find(from, |totals| self.residues_in(totals)),
            false => beginning.or(first),
        };
        let lines = lines?;
        let raw_start = match from < end {
            true => self.raw_of_byte(&lines.before, &lines.unit, 0),
            // A record without residues has no lines. They would be behind its header.
            false => beginning.map_or(0, |row| self.raw_of_byte(&row.before, &row.unit, 0)),
        };
        let mut record = Record {
            header,
            residues: from + number..end + number,
            qualities: self.qualities(number, beginning),
            raw_start,
            quality_start: self.quality_start(number, beginning),
            line_bases: 0,
            line_width: 0,
            last_line: 0,
            last_width: 0,
            is_torn: false,
            is_regular: true,
        };
        if from < end {
            self.add_lines(&mut record, &lines, end);
        }
        Some(record)
    }

    /// Sets the fields of a record that describe its lines. `first` is the unit of its first
    /// residue, and `end` is the number of the residue behind its last.
    fn add_lines(&self, record: &mut Record, first: &UnitRow, end: usize) {
        let UnitRow { before, unit, .. } = first;
        let width = unit.line_width().min(unit.line_bytes);
        let start = before.line_bytes;
        record.line_bases = width - self.blanks_in(start..start + width);
        record.line_width = width + self.line_end(before.lines + usize::from(unit.has_lead()));
        let last_byte = self.blanks.uncovered(end - 1);
        let last = self
            .units
            .find(last_byte, |totals| totals.line_bytes);
        let Some(last) = last else { return };
        let width = last.unit.line_width();
        let lines_before = (last_byte - last.before.line_bytes) / width;
        let line_start = last.before.line_bytes + lines_before * width;
        let line_end = (line_start + width).min(last.before.line_bytes + last.unit.line_bytes);
        let line = last.before.lines + usize::from(last.unit.has_lead()) + lines_before;
        record.last_line = line_end - line_start - self.blanks_in(line_start..line_end);
        record.is_torn = !self.ends && line + 1 == self.totals.lines;
        let end_width = if record.is_torn {
            0
        } else {
            self.line_end(line)
        };
        record.last_width = line_end - line_start + end_width;
        record.is_regular = last.before == *before
            && self.ends_alike(before, unit)
            && self.has_blanks_at_line_ends(first, record.line_bases);
    }

    fn blanks_in(&self, range: Range<usize>) -> usize {
        self.blanks.covered_before(range.end) - self.blanks.covered_before(range.start)
    }

    /// Returns true if all lines of a unit but the last have `line_bases` residues and then only
    /// blanks, and the last line has blanks only at its end.
    fn has_blanks_at_line_ends(&self, lines: &UnitRow, line_bases: usize) -> bool {
        let start = lines.before.line_bytes;
        let end = start + lines.unit.line_bytes;
        if self.blanks_in(start..end) == 0 {
            return true;
        }
        let width = lines.unit.line_width();
        let last_start = start + (lines.unit.line_bytes - 1) / width * width;
        let mut stretches = self.blanks.stretches_behind(start).peekable();
        let mut line_start = start;
        while line_start < last_start && line_bases < width {
            if stretches.next() != Some(line_start + line_bases..line_start + width) {
                return false;
            }
            line_start += width;
        }
        // A stretch that ends before the last line does is not at its end.
        let symbols_end = match stretches.peek() {
            Some(stretch) if stretch.start >= end => end,
            Some(stretch) if stretch.end >= end => stretch.start,
            Some(_) => return false,
            None => end,
        };
        symbols_end >= last_start && symbols_end - last_start <= line_bases
    }

    /// Returns the size of a line's end in bytes, also if the line has none in this block.
    pub(super) fn line_end(&self, line: usize) -> usize {
        1 + usize::from(self.ends_by_crlf(line))
    }

    /// Returns the number of qualities in front of a record that begins at `beginning`.
    fn qualities_before(&self, beginning: Option<UnitRow>) -> usize {
        beginning.map_or(0, |row| row.before.qualities)
    }

    fn qualities_up_to(&self, number: usize) -> usize {
        let next = self.beginning(number);
        next.map_or(self.totals.qualities, |row| row.before.qualities)
    }

    fn qualities(&self, number: usize, beginning: Option<UnitRow>) -> Range<usize> {
        let from = self.qualities_before(beginning);
        let end = self.qualities_up_to(number);
        let heads = self.totals.heads;
        if from == end {
            0..0
        } else {
            self.other(heads + from)..self.other(heads + end)
        }
    }

    /// Returns the raw offset of a record's qualities. If there are none, they would be behind the
    /// `+` line, the first line behind the residues.
    fn quality_start(&self, number: usize, beginning: Option<UnitRow>) -> Option<usize> {
        let from = self.qualities_before(beginning);
        if from < self.qualities_up_to(number) {
            let UnitRow { before, unit, .. } = self.units.find(from, |totals| totals.qualities)?;
            if unit.lead != Lead::Read {
                return Some(self.raw_of_byte(&before, &unit, 0));
            }
            return Some(self.qualities_of_read(&before, &unit));
        }
        let UnitRow { before, unit, .. } = beginning?;
        if unit.lead == Lead::Read {
            return Some(self.qualities_of_read(&before, &unit));
        }
        None
    }

    fn qualities_of_read(&self, before: &Totals, unit: &LineUnit) -> usize {
        let lines = before.lines + 3;
        let bytes = before.bytes() + unit.lead_len + unit.line_bytes + unit.width;
        bytes + lines + self.crlf.covered_before(lines)
    }

    fn ends_by_crlf(&self, line: usize) -> bool {
        self.crlf.covered_before(line + 1) > self.crlf.covered_before(line)
    }

    /// Returns true if all lines of residues of a unit, except the last, have the same line end.
    fn ends_alike(&self, before: &Totals, unit: &LineUnit) -> bool {
        let first = before.lines + usize::from(unit.has_lead());
        let lines = unit
            .line_bytes
            .div_ceil(unit.line_width())
            .saturating_sub(1);
        let crlf = self.crlf.covered_before(first + lines) - self.crlf.covered_before(first);
        crlf == 0 || crlf == lines
    }

    /// Yields the stretches of small letters in a range of text positions. Bytes in them that are
    /// no letters stay as they are.
    pub fn small(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let Range { start, end } = range;
        self.small
            .stretches_behind(start)
            .take_while(move |stretch| stretch.start < end)
            .map(move |stretch| stretch.start.max(start)..stretch.end.min(end))
    }
}
