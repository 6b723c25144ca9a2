//! The lines of a block of sequences: what they are, and where everything in them is.
//!
//! A *text position* counts in the text, of which the first [`Layout::sequence_size`] bytes are
//! residues and the `0A` in front of each record; a *raw offset* counts in the raw block. All maps
//! take logarithmic time, and the memory of all is little more than the bytes of the layout, which
//! the size of the block bounds.

use super::cover::Cover;
use super::units::{Lead, LineUnit, Totals, UnitRow, Units};
use crate::coder::range_coder::{RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};
use crate::error::Flaw;
use crate::leb128;
use std::ops::Range;

const MISFIT: Flaw = Flaw("the layout of sequences is not that of the block");
const DAMAGED: Flaw = Flaw("the layout of sequences is damaged: its checksum is wrong");

/// What is in a block of sequences beside its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether the last line has an end.
    pub(super) ends: bool,
    /// The lines that end by CRLF.
    pub(super) crlf: Cover,
    /// Text positions of small letters. Bytes among them that are no letters do not count.
    pub(super) small: Cover,
    /// The bytes beside the sequences that take two in the text.
    pub(super) escaped: Cover,
    pub(super) units: Units,
    pub(super) totals: Totals,
    raw_size: usize,
}

/// A base or an amino acid, by the record that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The number of records that begin in the block up to it: 0 is the record that goes on from
    /// the block before, 1 the first that begins in this one.
    pub record: usize,
    /// The residues of this record in this block that come before it.
    pub offset: usize,
}

/// A record, as far as it is in the block. `.fai` has a name from its header, and the first
/// [`residues`](Self::residues), [`raw_start`](Self::raw_start), [`line_bases`](Self::line_bases)
/// and [`line_width`](Self::line_width).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Text positions of the header line, `>` or `@` included, each byte as it is mapped; empty for
    /// the record that goes on from the block before.
    pub header: Range<usize>,
    /// Text positions of its residues.
    pub residues: Range<usize>,
    /// Text positions of its qualities.
    pub qualities: Range<usize>,
    /// Raw offset of the first residue, or of where it would be.
    pub raw_start: usize,
    /// Residues in each line but the last; 0 where there are none.
    pub line_bases: usize,
    /// The same with the line end.
    pub line_width: usize,
    /// Residues in the last line: more of the record in the next block is regular where this is
    /// `line_bases`.
    pub last_line: usize,
    /// Whether all lines but the last have `line_bases` residues and the same line end, the last
    /// not more, with nothing between them.
    pub is_regular: bool,
}

/// Units and stretches that the layout of a block may have, so that the block bounds its memory.
fn most_entries(raw_size: usize) -> usize {
    raw_size / 4 + 16
}

/// What a block adds to a stream of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Records that begin in it.
    pub records: u64,
    /// Residues of all records.
    pub residues: u64,
    /// Those of the last record in it.
    pub of_last: u64,
}

impl Layout {
    /// Takes a layout off the front of a block's parameters.
    ///
    /// # Errors
    /// A [`Flaw`] where it is not one of a block of `raw_size` bytes. What is read takes memory
    /// that `raw_size` bounds.
    pub fn read(side: &mut &[u8], raw_size: usize) -> Result<Self, Flaw> {
        let whole = *side;
        let (sequence_size, size) = (leb128::read(side)?, leb128::read(side)?);
        let (coded, rest) = side.split_at_checked(size).ok_or(leb128::CUT)?;
        let (checksum, rest) = rest.split_first_chunk().ok_or(leb128::CUT)?;
        let signed = &whole[..whole.len() - rest.len() - checksum.len()];
        *side = rest;
        let is_sound = crc32fast::hash(signed) == u32::from_le_bytes(*checksum);
        if !is_sound && !cfg!(fuzzing) {
            return Err(DAMAGED);
        }
        let layout = Self::decode(coded, raw_size)?;
        if layout.sequence_size() == sequence_size { Ok(layout) } else { Err(MISFIT) }
    }

    fn decode(coded: &[u8], raw_size: usize) -> Result<Self, Flaw> {
        let mut from = RangeDecoder::new(coded);
        let ends = BitTree::<1>::new().code(0, &mut from) == 1;
        let mut most = most_entries(raw_size);
        let units = Units::decode(&mut from, &mut most, raw_size)?;
        let totals = units.totals;
        let others = totals.heads + totals.qualities;
        let mut cover = |limit| Cover::decode(&mut from, &mut most, limit);
        let crlf = cover(totals.lines)?;
        let (small, escaped) = (cover(totals.sequence())?, cover(others)?);
        if !from.is_at_end() {
            return Err(Flaw("the layout of sequences does not end where its coded bytes do"));
        }
        let layout = Self::new(ends, units, [crlf, small, escaped], raw_size);
        if layout.fits() { Ok(layout) } else { Err(MISFIT) }
    }

    pub(super) fn new(ends: bool, units: Units, covers: [Cover; 3], raw_size: usize) -> Self {
        let (totals, [crlf, small, escaped]) = (units.totals, covers);
        Layout { ends, crlf, small, escaped, units, totals, raw_size }
    }

    /// Whether the lines add up to the block. A line without an end is the last one.
    fn fits(&self) -> bool {
        let lines = self.totals.lines;
        let size = self.raw_before(&self.totals);
        match self.ends {
            true => size == self.raw_size,
            false => lines > 0 && !self.ends_by_crlf(lines - 1) && size == self.raw_size + 1,
        }
    }

    /// Appends it as a block's parameters.
    pub fn write(&self, side: &mut Vec<u8>) {
        let mut coded = Vec::new();
        let mut out = RangeEncoder::new(&mut coded);
        BitTree::<1>::new().code(usize::from(self.ends), &mut out);
        self.units.encode(&mut out);
        for cover in [&self.crlf, &self.small, &self.escaped] {
            cover.encode(&mut out);
        }
        out.finish();
        let start = side.len();
        leb128::write(self.sequence_size(), side);
        leb128::write(coded.len(), side);
        side.extend(coded);
        let checksum = crc32fast::hash(&side[start..]);
        side.extend(checksum.to_le_bytes());
    }

    /// Whether its numbers are such as their models hold. Above 4 GiB they may be larger.
    fn has_small_numbers(&self) -> bool {
        let covers = [&self.crlf, &self.small, &self.escaped];
        self.raw_size <= NumberModel::MOST
            || self.units.have_small_numbers() && covers.iter().all(|c| c.has_small_numbers())
    }

    /// Whether a block may have it: it can be written, and has no more entries than a decoder
    /// takes.
    pub fn is_small(&self) -> bool {
        let covers = [&self.crlf, &self.small, &self.escaped];
        let entries = self.units.count + covers.iter().map(|cover| cover.count).sum::<usize>();
        entries <= most_entries(self.raw_size) && self.has_small_numbers()
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        let covers = [&self.crlf, &self.small, &self.escaped];
        let covers: usize = covers.into_iter().map(Cover::memory).sum();
        size_of::<Self>() + covers + self.units.memory()
    }

    /// Bytes of the raw block.
    pub fn raw_size(&self) -> usize {
        self.raw_size
    }

    /// Bytes of the text that are searched.
    pub fn sequence_size(&self) -> usize {
        self.totals.sequence()
    }

    /// Bytes of the text.
    pub fn text_size(&self) -> usize {
        let Totals { heads, qualities, .. } = self.totals;
        self.totals.sequence() + heads + qualities + self.escaped.total
    }

    /// What the block adds to the stream that it is of.
    pub fn contribution(&self) -> Contribution {
        let last = self.residues_before(self.totals.records).unwrap_or(0);
        Contribution {
            records: self.totals.records as u64,
            residues: self.totals.residues as u64,
            of_last: (self.totals.residues - last) as u64,
        }
    }

    /// Whether the last line has an end.
    pub fn ends_line(&self) -> bool {
        self.ends
    }

    /// Records that begin in the block.
    pub fn records(&self) -> usize {
        self.totals.records
    }

    /// The raw offset of what stands behind these lines.
    fn raw_before(&self, before: &Totals) -> usize {
        before.bytes() + before.lines + self.crlf.covered_before(before.lines)
    }

    /// The text position of a byte beside the sequences, by its place among them.
    fn other(&self, at: usize) -> usize {
        self.totals.sequence() + at + self.escaped.covered_before(at)
    }

    /// The raw offset of the byte at a text position below [`Self::sequence_size`]: that of a
    /// residue, or that of a record's header line for the `0A` in front of its residues.
    pub fn raw_offset(&self, position: usize) -> Option<usize> {
        let UnitRow { before, unit, .. } = self.units.find(position, Totals::sequence)?;
        let at = position - before.sequence();
        match at.checked_sub(usize::from(unit.begins_record())) {
            Some(residue) => Some(self.raw_of_residue(&before, &unit, residue)),
            None => Some(self.raw_before(&before)),
        }
    }

    fn raw_of_residue(&self, before: &Totals, unit: &LineUnit, residue: usize) -> usize {
        let head = usize::from(unit.lead != Lead::None);
        let lines = before.lines + head + residue / unit.line_width();
        let bytes = before.bytes() + unit.lead_len + residue;
        bytes + lines + self.crlf.covered_before(lines)
    }

    /// The text position of the residue at a raw offset; `None` where another byte stands there.
    pub fn text_position(&self, raw: usize) -> Option<usize> {
        let UnitRow { before, unit, .. } =
            self.units.find(raw, |totals| self.raw_before(totals))?;
        let offset = |residue: usize| self.raw_of_residue(&before, &unit, residue);
        // The first residue that does not stand before it.
        let (mut low, mut high) = (0, unit.residues);
        while low < high {
            let middle = low + (high - low) / 2;
            match offset(middle) < raw {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < unit.residues && offset(low) == raw)
            .then(|| before.sequence() + usize::from(unit.begins_record()) + low)
    }

    /// The record and the place in it of the residue at a text position; `None` for a `0A`, and
    /// behind [`Self::sequence_size`].
    pub fn base(&self, position: usize) -> Option<Base> {
        let UnitRow { before, unit, .. } = self.units.find(position, Totals::sequence)?;
        let begins = usize::from(unit.begins_record());
        let residue = before.residues + (position - before.sequence()).checked_sub(begins)?;
        let record = before.records + begins;
        Some(Base { record, offset: residue - self.residues_before(record)? })
    }

    /// The text position of a residue.
    pub fn position(&self, base: Base) -> Option<usize> {
        let from = self.residues_before(base.record)?;
        let end = self.residues_before(base.record + 1).unwrap_or(self.totals.residues);
        let residue = from.checked_add(base.offset)?;
        (residue < end).then_some(residue + base.record)
    }

    /// Residues in front of a record.
    fn residues_before(&self, record: usize) -> Option<usize> {
        match record.checked_sub(1) {
            Some(before) => Some(self.beginning(before)?.before.residues),
            None => Some(0),
        }
    }

    /// Where the record begins that has so many before it that begin in the block.
    fn beginning(&self, before: usize) -> Option<UnitRow> {
        self.units.find(before, |totals| totals.records)
    }

    /// A record, numbered as in [`Base`]. The one that goes on from the block before is there even
    /// where it has no residues in this one.
    pub fn record(&self, number: usize) -> Option<Record> {
        let beginning = match number.checked_sub(1) {
            Some(before) => Some(self.beginning(before)?),
            None => None,
        };
        let from = beginning.map_or(0, |place| place.before.residues);
        let end = self.residues_before(number + 1).unwrap_or(self.totals.residues);
        let (mut header, mut qualities) = (0..0, 0..0);
        if let Some(UnitRow { before, unit, .. }) = beginning {
            header = self.other(before.heads)..self.other(before.heads + unit.lead_len);
            if unit.lead == Lead::Read {
                let start = self.totals.heads + before.qualities;
                qualities = self.other(start)..self.other(start + unit.residues);
            }
        }
        let lines = match from < end {
            true => self.units.find(from, |totals| totals.residues),
            false => beginning,
        };
        let lines = lines.or_else(|| self.units.find(0, |totals| totals.lines));
        let UnitRow { before, unit, .. } = lines?;
        let is_regular = unit.residues == end - from && self.ends_alike(&before, &unit);
        let line_bases = if from < end { unit.line_width() } else { 0 };
        let first_line = before.lines + usize::from(unit.lead != Lead::None);
        let line_end = 1 + usize::from(self.ends_by_crlf(first_line));
        // A record without residues has no lines; where they would be is behind its header.
        Some(Record {
            header,
            residues: from + number..end + number,
            qualities,
            raw_start: match from < end {
                true => self.raw_of_residue(&before, &unit, 0),
                false => {
                    beginning.map_or(0, |place| self.raw_of_residue(&place.before, &place.unit, 0))
                }
            },
            line_bases,
            line_width: if line_bases > 0 { line_bases + line_end } else { 0 },
            last_line: self.last_line(from, end),
            is_regular: is_regular || from == end,
        })
    }

    fn last_line(&self, from: usize, end: usize) -> usize {
        if from == end {
            return 0;
        }
        let Some(UnitRow { unit, .. }) = self.units.find(end - 1, |totals| totals.residues) else {
            return 0;
        };
        (unit.residues - 1) % unit.line_width() + 1
    }

    fn ends_by_crlf(&self, line: usize) -> bool {
        self.crlf.covered_before(line + 1) > self.crlf.covered_before(line)
    }

    /// Whether all lines of residues of a unit but the last end by the same bytes.
    fn ends_alike(&self, before: &Totals, unit: &LineUnit) -> bool {
        let first = before.lines + usize::from(unit.lead != Lead::None);
        let lines = unit.residues.div_ceil(unit.line_width()).saturating_sub(1);
        let crlf = self.crlf.covered_before(first + lines) - self.crlf.covered_before(first);
        crlf == 0 || crlf == lines
    }

    /// The stretches of small letters among text positions. What is no letter in them stays as it
    /// is.
    pub fn small(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let Range { start, end } = range;
        self.small
            .stretches_behind(start)
            .take_while(move |stretch| stretch.start < end)
            .map(move |stretch| stretch.start.max(start)..stretch.end.min(end))
    }
}
