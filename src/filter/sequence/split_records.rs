//! Raw block -> text and layout, in one pass.

use super::cover::CoverWriter;
use super::line_layout::{Covers, Layout};
use super::line_state::{LineState, Role};
use super::lines::{self, End, Kind, Line, Lines};
use super::others;
use super::units::{Lead, LineUnit, UnitsWriter};
use crate::base::allocation;
use crate::base::error::Flaw;

/// Takes apart `block`, which begins in the state `start`. The text is larger than the block if
/// many bytes beside the sequences are above 127.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub fn split(block: &[u8], kind: Kind, start: LineState) -> Result<(Vec<u8>, Layout), Flaw> {
    let mut split = RecordSplit::new(block.len())?;
    let mut state = start;
    let mut lines = Lines(block);
    while !lines.0.is_empty() {
        if kind == Kind::Fastq
            && state.is_between_records()
            && let Some((read, rest)) = lines::read(lines)
        {
            split.read(read);
            lines = rest;
            continue;
        }
        let line = lines.next().expect("there are bytes left");
        match state.next(kind, &line) {
            Role::Record => split.head(Lead::Record, line),
            Role::Other | Role::Stray => split.head(Lead::Other, line),
            Role::Sequence => split.sequence(line),
            Role::Qualities => split.quality_line(line),
        }
    }
    split.finish()
}

struct RecordSplit {
    text: Vec<u8>,
    heads: Vec<u8>,
    qualities: Vec<u8>,
    blanks: Vec<u8>,
    line: usize,
    ends: bool,
    crlf: CoverWriter,
    /// Small letters, by text position.
    small: CoverWriter,
    /// Blanks, as positions in the bytes of the lines of sequences.
    blank: CoverWriter,
    /// Bytes of the lines of sequences so far.
    line_bytes: usize,
    units: UnitsWriter,
    /// Unit that may go on.
    unit: LineUnit,
    /// Bytes of the last line of this unit.
    last_line: usize,
    size: usize,
}

impl RecordSplit {
    fn new(size: usize) -> Result<Self, Flaw> {
        Ok(RecordSplit {
            text: allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?,
            heads: Vec::new(),
            qualities: Vec::new(),
            blanks: Vec::new(),
            line: 0,
            ends: true,
            crlf: CoverWriter::default(),
            small: CoverWriter::default(),
            blank: CoverWriter::default(),
            line_bytes: 0,
            units: UnitsWriter::default(),
            unit: LineUnit::default(),
            last_line: 0,
            size,
        })
    }

    fn end(&mut self, end: End) {
        match end {
            End::None => self.ends = false,
            End::Lf => {}
            End::CrLf => self.crlf.push(self.line..self.line + 1),
        }
        self.line += 1;
    }

    fn read(&mut self, [head, residues, plus, qualities]: [Line; 4]) {
        self.flush();
        self.units.push(LineUnit {
            lead: Lead::Read,
            lead_len: head.bytes.len(),
            line_bytes: residues.bytes.len(),
            width: plus.bytes.len(),
        });
        self.text.push(b'\n');
        self.residues(residues.bytes);
        self.heads.extend_from_slice(head.bytes);
        self.heads.extend_from_slice(plus.bytes);
        self.qualities.extend_from_slice(qualities.bytes);
        [head, residues, plus, qualities]
            .iter()
            .for_each(|line| self.end(line.end));
    }

    /// Adds a line that begins a unit.
    fn head(&mut self, lead: Lead, line: Line) {
        self.flush();
        self.unit = LineUnit {
            lead,
            lead_len: line.bytes.len(),
            ..LineUnit::default()
        };
        self.heads.extend_from_slice(line.bytes);
        if lead == Lead::Record {
            self.text.push(b'\n');
        }
        self.end(line.end);
    }

    fn sequence(&mut self, line: Line) {
        if self.unit.lead == Lead::Qualities {
            self.flush();
        }
        self.add_line(line.bytes.len());
        self.residues(line.bytes);
        self.end(line.end);
    }

    fn quality_line(&mut self, line: Line) {
        if self.unit.lead != Lead::Qualities {
            self.flush();
            self.unit.lead = Lead::Qualities;
        }
        self.add_line(line.bytes.len());
        self.qualities.extend_from_slice(line.bytes);
        self.end(line.end);
    }

    /// Adds a line to the unit, or begins another unit of the same kind of lines if the width
    /// changes.
    fn add_line(&mut self, len: usize) {
        let goes_on = self.last_line == self.unit.width && len <= self.unit.width;
        if self.unit.line_bytes > 0 && !goes_on {
            let are_qualities = self.unit.lead == Lead::Qualities;
            self.flush();
            self.unit.lead = if are_qualities {
                Lead::Qualities
            } else {
                Lead::None
            };
        }
        if self.unit.line_bytes == 0 {
            self.unit.width = len;
        }
        self.unit.line_bytes += len;
        self.last_line = len;
    }

    fn flush(&mut self) {
        if self.unit != LineUnit::default() {
            self.units.push(std::mem::take(&mut self.unit));
        }
    }

    /// Appends a line of a sequence to the text, in upper case and without blanks.
    fn residues(&mut self, line: &[u8]) {
        if lines::has_blanks(line) {
            let symbols = self.without_blanks(line);
            self.symbols(&symbols);
        } else {
            self.symbols(line);
        }
        self.line_bytes += line.len();
    }

    /// Collects the blanks of a line, and returns the other bytes.
    #[cold]
    fn without_blanks(&mut self, line: &[u8]) -> Vec<u8> {
        let mut symbols = Vec::new();
        for (at, &byte) in (self.line_bytes..).zip(line) {
            if lines::is_blank(byte) {
                self.blank.push(at..at + 1);
                self.blanks.push(byte);
            } else {
                symbols.push(byte);
            }
        }
        symbols
    }

    fn symbols(&mut self, line: &[u8]) {
        let from = self.text.len();
        let mut any = false;
        let mut all = true;
        self.text.extend(line.iter().map(|&byte| {
            let is_small = byte.wrapping_sub(b'a') < 26;
            any |= is_small;
            all &= is_small;
            byte & !(u8::from(is_small) << 5)
        }));
        if all && any {
            self.small.push(from..self.text.len());
        } else if any {
            self.small_among(line, from);
        }
    }

    /// Adds the stretches of small letters of a line. Bytes that are no letters do not end a
    /// stretch.
    #[cold]
    fn small_among(&mut self, line: &[u8], from: usize) {
        let mut open = None;
        for (at, byte) in (from..).zip(line) {
            match open {
                None if byte.is_ascii_lowercase() => open = Some(at),
                Some(start) if byte.is_ascii_uppercase() => {
                    self.small.push(start..at);
                    open = None;
                }
                _ => {}
            }
        }
        if let Some(start) = open {
            self.small.push(start..self.text.len());
        }
    }

    fn finish(mut self) -> Result<(Vec<u8>, Layout), Flaw> {
        self.flush();
        let RecordSplit {
            mut text,
            heads,
            qualities,
            blanks,
            crlf,
            small,
            blank,
            units,
            ..
        } = self;
        let others = heads.len() + qualities.len() + blanks.len();
        allocation::reserve(&mut text, others).ok_or(Flaw::NO_MEMORY)?;
        let mut escaped = CoverWriter::default();
        others::write(&heads, 0, &mut text, &mut escaped);
        others::write(&qualities, heads.len(), &mut text, &mut escaped);
        others::write(
            &blanks,
            heads.len() + qualities.len(),
            &mut text,
            &mut escaped,
        );
        let covers = Covers {
            crlf: crlf.finish(),
            blanks: blank.finish(),
            small: small.finish(),
            escaped: escaped.finish(),
        };
        Ok((
            text,
            Layout::new(self.ends, units.finish(), covers, self.size),
        ))
    }
}
