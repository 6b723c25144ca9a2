//! Raw block -> text and layout.

use super::cover::CoverWriter;
use super::line_layout::Layout;
use super::lines::{self, End, Kind, Line, Lines};
use super::others;
use super::units::{Lead, LineUnit, UnitsWriter};
use crate::allocation;
use crate::error::Flaw;

/// Takes `block` apart. The text is larger than the block where it has many bytes above 127 beside
/// its sequences.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn split(block: &[u8], kind: Kind) -> Result<(Vec<u8>, Layout), Flaw> {
    let mut split = RecordSplit::new(block.len())?;
    let (mut lines, mut before) = (Lines(block), None);
    while !lines.0.is_empty() {
        if kind == Kind::Fastq
            && let Some((read, rest)) = lines::read(lines)
        {
            split.read(read);
            (before, lines) = (Some(read[3]), rest);
            continue;
        }
        let line = lines.next().expect("there are bytes left");
        split.line(line, kind, before, lines);
        before = Some(line);
    }
    split.finish()
}

struct RecordSplit {
    text: Vec<u8>,
    heads: Vec<u8>,
    qualities: Vec<u8>,
    line: usize,
    ends: bool,
    crlf: CoverWriter,
    /// Small letters, by their positions in the text.
    small: CoverWriter,
    units: UnitsWriter,
    /// The unit that may go on, and the residues of its last line.
    unit: LineUnit,
    last_line: usize,
    size: usize,
}

impl RecordSplit {
    fn new(size: usize) -> Result<Self, Flaw> {
        Ok(RecordSplit {
            text: allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?,
            heads: Vec::new(),
            qualities: Vec::new(),
            line: 0,
            ends: true,
            crlf: CoverWriter::default(),
            small: CoverWriter::default(),
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
            residues: residues.bytes.len(),
            width: plus.bytes.len(),
        });
        self.text.push(b'\n');
        self.residues(residues.bytes);
        self.heads.extend_from_slice(head.bytes);
        self.heads.extend_from_slice(plus.bytes);
        self.qualities.extend_from_slice(qualities.bytes);
        [head, residues, plus, qualities].iter().for_each(|line| self.end(line.end));
    }

    fn line(&mut self, line: Line, kind: Kind, before: Option<Line>, rest: Lines) {
        match lines::lead(kind, line, before, rest) {
            Some(lead) => {
                self.flush();
                self.unit = LineUnit { lead, lead_len: line.bytes.len(), ..LineUnit::default() };
                self.heads.extend_from_slice(line.bytes);
                if lead == Lead::Record {
                    self.text.push(b'\n');
                }
            }
            None => {
                let len = line.bytes.len();
                let goes_on = self.last_line == self.unit.width && len <= self.unit.width;
                if self.unit.residues > 0 && !goes_on {
                    self.flush();
                }
                if self.unit.residues == 0 {
                    self.unit.width = len;
                }
                self.unit.residues += len;
                self.last_line = len;
                self.residues(line.bytes);
            }
        }
        self.end(line.end);
    }

    fn flush(&mut self) {
        if self.unit != LineUnit::default() {
            self.units.push(std::mem::take(&mut self.unit));
        }
    }

    /// Appends residues to the text, in upper case.
    fn residues(&mut self, line: &[u8]) {
        let from = self.text.len();
        let (mut any, mut all) = (false, true);
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

    /// Marks are neither small nor not: they do not end a stretch.
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
        let RecordSplit { mut text, heads, qualities, crlf, small, units, .. } = self;
        allocation::reserve(&mut text, heads.len() + qualities.len()).ok_or(Flaw::NO_MEMORY)?;
        let mut escaped = CoverWriter::default();
        others::write(&heads, 0, &mut text, &mut escaped);
        others::write(&qualities, heads.len(), &mut text, &mut escaped);
        let (crlf, small, escaped) = (crlf.finish(), small.finish(), escaped.finish());
        let layout = Layout::new(self.ends, units.finish(), [crlf, small, escaped], self.size);
        Ok((text, layout))
    }
}
