//! A range of a raw block, put together from parts of the text. To read a few lines of an indexed
//! block, only these parts are decoded.

use super::line_layout::Layout;
use super::record_list::unmapped;
use super::units::{Lead, UnitRow};
use crate::base::error::Flaw;
use std::ops::Range;

/// A range of a raw block, as parts of the text and line ends.
#[derive(Debug)]
pub struct RawParts {
    parts: Vec<RawPart>,
    /// Ranges of the text to read. None is empty, and each is read alone.
    pub texts: Vec<Range<usize>>,
}

/// Consecutive bytes of a raw block.
#[derive(Debug)]
enum RawPart {
    /// Residues: the index of a range in `texts`, and the part of this range.
    Residues(usize, Range<usize>),
    /// Mapped bytes beside the sequences: the index of a range in `texts`, and the part of this
    /// range.
    Other(usize, Range<usize>),
    /// Part of a line end.
    End(&'static [u8]),
}

/// Position of the first byte of a line.
#[derive(Clone, Copy)]
enum LineBytes {
    /// Counted in the bytes of heads, qualities and blanks, in this order.
    Other(usize),
    /// Counted in the bytes of the lines of sequences.
    Sequence(usize),
}

impl Layout {
    /// Returns the parts of a range of the raw block. The range must be within the block.
    pub fn raw_parts(&self, range: Range<usize>) -> RawParts {
        let parts = RawParts {
            parts: Vec::new(),
            texts: Vec::new(),
        };
        let mut writer = PartWriter {
            layout: self,
            range: range.clone(),
            parts,
        };
        let mut at = range.start;
        while at < range.end
            && let Some(row) = self
                .units
                .find(at, |totals| self.raw_before(totals))
        {
            writer.unit(&row);
            at = self.raw_before(&row.before.and(&row.unit.totals(), 1));
        }
        writer.parts
    }
}

struct PartWriter<'a> {
    layout: &'a Layout,
    range: Range<usize>,
    parts: RawParts,
}

impl PartWriter<'_> {
    /// Adds the wanted bytes of a unit, which occurs once.
    fn unit(&mut self, UnitRow { before, unit, .. }: &UnitRow) {
        let layout = self.layout;
        let mut line = before.lines;
        let mut at = layout.raw_before(before);
        if unit.has_lead() {
            at = self.line(at, line, LineBytes::Other(before.heads), unit.lead_len);
            line += 1;
        }
        if unit.lead == Lead::Read {
            let heads = before.heads + unit.lead_len;
            let qualities = layout.totals.heads + before.qualities;
            let bases = LineBytes::Sequence(before.line_bytes);
            at = self.line(at, line, bases, unit.line_bytes);
            at = self.line(at, line + 1, LineBytes::Other(heads), unit.width);
            self.line(at, line + 2, LineBytes::Other(qualities), unit.line_bytes);
            return;
        }
        // Finds the last line that begins at or before the range.
        let width = unit.line_width();
        let mut first = 0;
        let mut behind = unit.line_bytes.div_ceil(width);
        while behind - first > 1 {
            let middle = first + (behind - first) / 2;
            match layout.raw_of_byte(before, unit, middle * width) <= self.range.start {
                true => first = middle,
                false => behind = middle,
            }
        }
        let mut byte = first * width;
        while byte < unit.line_bytes {
            let start = layout.raw_of_byte(before, unit, byte);
            if start >= self.range.end {
                return;
            }
            let bytes = match unit.lead {
                Lead::Qualities => LineBytes::Other(layout.totals.heads + before.qualities + byte),
                _ => LineBytes::Sequence(before.line_bytes + byte),
            };
            self.line(
                start,
                line + byte / width,
                bytes,
                width.min(unit.line_bytes - byte),
            );
            byte += width;
        }
    }

    /// Adds the wanted bytes of a line and of its end. The line begins at the raw offset `at`, and
    /// has `len` bytes. Returns the raw offset behind its end.
    fn line(&mut self, at: usize, line: usize, bytes: LineBytes, len: usize) -> usize {
        let wanted = self.wanted(at, len);
        match bytes {
            _ if wanted.is_empty() => {}
            LineBytes::Other(first) => self.other(first + wanted.start..first + wanted.end),
            LineBytes::Sequence(first) => self.sequence(first + wanted.start..first + wanted.end),
        }
        let has_end = self.layout.ends_line() || line + 1 < self.layout.totals.lines;
        let end: &[u8] = match self.layout.line_end(line) {
            _ if !has_end => b"",
            1 => b"\n",
            _ => b"\r\n",
        };
        let wanted = self.wanted(at + len, end.len());
        if !wanted.is_empty() {
            self.parts.parts.push(RawPart::End(&end[wanted]));
        }
        at + len + end.len()
    }

    /// Returns the wanted part of the `len` bytes at the raw offset `at`.
    fn wanted(&self, at: usize, len: usize) -> Range<usize> {
        let within = |offset: usize| offset.clamp(at, at + len) - at;
        within(self.range.start)..within(self.range.end)
    }

    /// Adds bytes beside the sequences. `bytes` counts these bytes.
    fn other(&mut self, bytes: Range<usize>) {
        let text = self.layout.other(bytes.start)..self.layout.other(bytes.end);
        let (number, within) = self.text(text);
        self.parts
            .parts
            .push(RawPart::Other(number, within));
    }

    /// Adds bytes of lines of sequences: residues, and the blanks among them. `bytes` counts the
    /// bytes of these lines.
    fn sequence(&mut self, bytes: Range<usize>) {
        let layout = self.layout;
        let mut at = bytes.start;
        for blanks in layout.blanks.stretches_behind(bytes.start) {
            if blanks.start >= bytes.end {
                break;
            }
            let start = blanks.start.max(at);
            let end = blanks.end.min(bytes.end);
            self.residues(at..start);
            let first =
                layout.totals.heads + layout.totals.qualities + layout.blanks.covered_before(start);
            self.other(first..first + (end - start));
            at = end;
        }
        self.residues(at..bytes.end);
    }

    /// Adds bytes of lines of sequences that have no blanks among them.
    fn residues(&mut self, bytes: Range<usize>) {
        if bytes.is_empty() {
            return;
        }
        let layout = self.layout;
        let residue = bytes.start - layout.blanks.covered_before(bytes.start);
        // Each record up to here has a `0A` in front of its residues.
        let row = layout
            .units
            .find(bytes.start, |totals| totals.line_bytes);
        let records = row.map_or(0, |UnitRow { before, unit, .. }| {
            before.records + usize::from(unit.begins_record())
        });
        let start = residue + records;
        let (number, within) = self.text(start..start + bytes.len());
        self.parts
            .parts
            .push(RawPart::Residues(number, within));
    }

    /// Adds a range of the text to `texts`, joined with the last one if it follows it. Returns its
    /// index in `texts`, and its place in that range.
    fn text(&mut self, range: Range<usize>) -> (usize, Range<usize>) {
        let texts = &mut self.parts.texts;
        match texts.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => texts.push(range.clone()),
        }
        let number = texts.len() - 1;
        let start = range.start - texts[number].start;
        (number, start..start + range.len())
    }
}

impl RawParts {
    /// Returns the range of the raw block, given the bytes of `self.texts`.
    ///
    /// # Errors
    /// A [`Flaw`] if they are too short.
    pub fn join(&self, texts: &[Vec<u8>], layout: &Layout) -> Result<Vec<u8>, Flaw> {
        const SIZE: Flaw = Flaw("the text of a block is shorter than its layout says");
        let mut raw = Vec::new();
        for part in &self.parts {
            match part {
                RawPart::End(end) => raw.extend_from_slice(end),
                RawPart::Other(number, within) => {
                    let text = texts
                        .get(*number)
                        .and_then(|text| text.get(within.clone()));
                    raw.extend(unmapped(text.ok_or(SIZE)?));
                }
                RawPart::Residues(number, within) => {
                    let text = texts
                        .get(*number)
                        .and_then(|text| text.get(within.clone()));
                    let from = raw.len();
                    raw.extend_from_slice(text.ok_or(SIZE)?);
                    let first = self.texts[*number].start + within.start;
                    for small in layout.small(first..first + within.len()) {
                        let small = from + small.start - first..from + small.end - first;
                        raw[small].make_ascii_lowercase();
                    }
                }
            }
        }
        Ok(raw)
    }
}
