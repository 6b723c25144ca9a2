//! State in front of a line in a stream of sequences. The role of the line follows from it.
//!
//! The rules are those of `samtools faidx` and `fqidx`, except that the lines of a record may have
//! any lengths. The state at the start of a block follows from the blocks before it. A block may
//! therefore begin anywhere, even within a record or a line.

use super::lines::{End, Kind, Line, Lines, is_blank_line, symbols};
use crate::base::error::Flaw;
use crate::base::leb128;

const UNKNOWN: Flaw = Flaw("a block of sequences begins in an unknown state");

/// State in front of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineState {
    stage: Stage,
    torn: Torn,
    /// In [`Stage::Sequence`] of FASTQ, the number of bases of the record so far. In
    /// [`Stage::Qualities`], the number of qualities that are missing. Otherwise 0.
    symbols: u64,
}

/// Part of a record that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// In front of the first record, or between two records of FASTQ.
    #[default]
    Outside = 0,
    Sequence = 1,
    Qualities = 2,
}

/// Tells if a line that began before goes on, and its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Torn {
    #[default]
    No = 0,
    /// Within a header, a comment or a `+` line.
    Head = 1,
    /// Within another line.
    Body = 2,
}

const STAGES: [Stage; 3] = [Stage::Outside, Stage::Sequence, Stage::Qualities];
const TEARS: [Torn; 3] = [Torn::No, Torn::Head, Torn::Body];

/// Role of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A header.
    Record,
    /// A comment, a blank line, a `+` line, or the rest of a header.
    Other,
    /// A line outside records that is neither blank nor a comment.
    Stray,
    Sequence,
    Qualities,
}

impl LineState {
    /// Returns the state within the sequence of a FASTA record.
    pub(super) fn within_fasta() -> Self {
        LineState {
            stage: Stage::Sequence,
            ..Self::default()
        }
    }

    /// Returns true if no line and no record of FASTQ goes on.
    pub fn is_between_records(&self) -> bool {
        self.stage == Stage::Outside && self.torn == Torn::No
    }

    #[cfg(test)]
    pub(super) fn symbols(&self) -> u64 {
        self.symbols
    }

    /// Returns true if a line goes on.
    pub fn is_torn(&self) -> bool {
        self.torn != Torn::No
    }

    /// Returns true if a header, a comment or a `+` line goes on.
    pub fn is_in_head(&self) -> bool {
        self.torn == Torn::Head
    }

    /// Returns the state behind the raw bytes of a block that begins in this state.
    pub fn behind(mut self, block: &[u8], kind: Kind) -> Self {
        for line in Lines(block) {
            self.next(kind, &line);
        }
        self
    }

    /// Takes the next line, or the next part of a line, and returns its role.
    pub(super) fn next(&mut self, kind: Kind, line: &Line) -> Role {
        let (role, is_head) = match self.torn {
            Torn::Head => (Role::Other, true),
            Torn::Body => (self.body(kind, line), false),
            Torn::No => match self.head(kind, line) {
                Some(role) => (role, true),
                None => (self.body(kind, line), false),
            },
        };
        self.torn = match (line.end, is_head) {
            (End::None, true) => Torn::Head,
            (End::None, false) => Torn::Body,
            _ => Torn::No,
        };
        role
    }

    /// Returns the role of a whole line if its first byte tells it.
    fn head(&mut self, kind: Kind, line: &Line) -> Option<Role> {
        let first = line.bytes.first();
        match kind {
            Kind::Fasta if line.is_header(b'>') => {
                self.stage = Stage::Sequence;
                Some(Role::Record)
            }
            Kind::Fasta if first == Some(&b';') => Some(Role::Other),
            Kind::Fastq if self.stage != Stage::Qualities && line.is_header(b'@') => {
                (self.stage, self.symbols) = (Stage::Sequence, 0);
                Some(Role::Record)
            }
            Kind::Fastq if self.stage == Stage::Sequence && first == Some(&b'+') => {
                let has_bases = self.symbols > 0;
                self.stage = if has_bases {
                    Stage::Qualities
                } else {
                    Stage::Outside
                };
                Some(Role::Other)
            }
            _ if self.stage == Stage::Outside && matches!(first, Some(b'#' | b';')) => {
                Some(Role::Other)
            }
            _ => None,
        }
    }

    /// Returns the role of any other line, or of the rest of one.
    fn body(&mut self, kind: Kind, line: &Line) -> Role {
        if is_blank_line(line.bytes) {
            return Role::Other;
        }
        match self.stage {
            Stage::Outside => Role::Stray,
            Stage::Sequence => {
                if kind == Kind::Fastq {
                    self.symbols += symbols(line.bytes) as u64;
                }
                Role::Sequence
            }
            Stage::Qualities => {
                self.symbols = self
                    .symbols
                    .saturating_sub(symbols(line.bytes) as u64);
                if self.symbols == 0 {
                    self.stage = Stage::Outside;
                }
                Role::Qualities
            }
        }
    }

    /// Returns a likely state for the start of a block if the stream before it is unknown.
    pub fn guess(block: &[u8], kind: Kind) -> Self {
        let mut lines = Lines(block);
        match kind {
            Kind::Fasta => match lines.next() {
                Some(first) if first.is_torn_header() => LineState {
                    torn: Torn::Head,
                    ..Self::within_fasta()
                },
                _ => Self::within_fasta(),
            },
            Kind::Fastq => guess_fastq(lines),
        }
    }

    /// Appends the state to a table.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        leb128::write(self.stage as usize + 3 * self.torn as usize, out);
        if self.has_symbols() {
            leb128::write(self.symbols as usize, out);
        }
    }

    /// Reads a state that [`LineState::write`] wrote. `bases` is the number of bases so far in the
    /// record that goes on.
    pub(crate) fn read(from: &mut &[u8], bases: u64) -> Result<Self, Flaw> {
        let number = leb128::read(from)?;
        let torn = *TEARS.get(number / 3).ok_or(UNKNOWN)?;
        let mut state = LineState {
            stage: STAGES[number % 3],
            torn,
            symbols: 0,
        };
        if state.has_symbols() {
            state.symbols = leb128::read(from)? as u64;
        } else if state.stage == Stage::Sequence {
            state.symbols = bases;
        }
        Ok(state)
    }

    /// Returns true if `symbols` is written, since it does not follow from other numbers.
    fn has_symbols(&self) -> bool {
        self.stage == Stage::Qualities
    }
}

/// Guesses the state by a record of four lines. It must begin at one of the first five lines.
fn guess_fastq(lines: Lines) -> LineState {
    let mut rest = lines;
    let mut skipped: Vec<Line> = Vec::new();
    let fit = loop {
        if super::lines::read(rest).is_some() {
            break true;
        }
        match rest.next() {
            Some(line) if skipped.len() < 4 => skipped.push(line),
            _ => break false,
        }
    };
    let len = |n: usize| skipped[n].bytes.len() as u64;
    match skipped.len() {
        _ if !fit => LineState::default(),
        1 => LineState {
            stage: Stage::Qualities,
            torn: Torn::Body,
            symbols: len(0),
        },
        2 => LineState {
            stage: Stage::Qualities,
            torn: Torn::Head,
            symbols: len(1),
        },
        3 => {
            let bases = len(2).saturating_sub(len(0));
            LineState {
                stage: Stage::Sequence,
                torn: Torn::Body,
                symbols: bases,
            }
        }
        4 => LineState {
            stage: Stage::Sequence,
            torn: Torn::Head,
            symbols: 0,
        },
        _ => LineState::default(),
    }
}
