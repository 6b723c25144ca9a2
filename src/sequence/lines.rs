//! The lines of a block, and what they are.

use super::units::Lead;

/// What a block, or all of a file, holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records of a header line that begins with `>` and lines of residues.
    Fasta,
    /// Records of four lines: `@` and a name, residues, `+`, a quality for each residue.
    Fastq,
}

/// A line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub bytes: &'a [u8],
    pub end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The block ends first.
    None,
    Lf,
    CrLf,
}

impl Line<'_> {
    pub fn begins(&self, byte: u8) -> bool {
        self.bytes.first() == Some(&byte)
    }
}

/// The lines of `block`. Behind a last line feed there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a>(pub &'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let Some(at) = memchr::memchr(b'\n', self.0) else {
            let bytes = std::mem::take(&mut self.0);
            return Some(Line { bytes, end: End::None });
        };
        let (bytes, rest) = (&self.0[..at], &self.0[at + 1..]);
        self.0 = rest;
        Some(match bytes.strip_suffix(b"\r") {
            Some(bytes) => Line { bytes, end: End::CrLf },
            None => Line { bytes, end: End::Lf },
        })
    }
}

/// Whether `byte` may stand for a base or an amino acid.
#[inline]
pub(super) fn is_residue(byte: u8) -> bool {
    // Without branches, so that many are looked at together.
    (byte | 0x20).wrapping_sub(b'a') < 26 || byte == b'*' || byte.wrapping_sub(b'-') < 2
}

/// Whether a line is one of residues: not empty, and nothing else in it.
pub(super) fn is_residues(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().fold(true, |sound, &byte| sound & is_residue(byte))
}

/// The four lines of a record of FASTQ at the front of `lines`, and the lines behind them.
pub(super) fn read<'a>(mut lines: Lines<'a>) -> Option<([Line<'a>; 4], Lines<'a>)> {
    let head = lines.next().filter(|head| head.begins(b'@'))?;
    let residues = lines.next()?;
    let plus = lines.next().filter(|plus| plus.begins(b'+'))?;
    // The qualities of no residues may be where the block ends, and then they are no line.
    let qualities = lines.next()?;
    let fit = qualities.bytes.len() == residues.bytes.len()
        && (residues.bytes.is_empty() || is_residues(residues.bytes));
    fit.then_some(([head, residues, plus, qualities], lines))
}

/// What a line that is no part of a whole record of FASTQ begins, or `None` where it is one of
/// residues. `before` is the line in front of it, `rest` those behind it.
pub(super) fn lead(kind: Kind, line: Line, before: Option<Line>, rest: Lines) -> Option<Lead> {
    match kind {
        Kind::Fasta if is_residues(line.bytes) => None,
        Kind::Fasta if line.begins(b'>') => Some(Lead::Record),
        Kind::Fasta => Some(Lead::Other),
        Kind::Fastq => lead_of_torn(line, before, rest),
    }
}

/// A record that is torn by the ends of the block, or broken: residues are followed by `+`, or by
/// nothing and stand behind a header.
fn lead_of_torn(line: Line, before: Option<Line>, mut rest: Lines) -> Option<Lead> {
    let before = |byte| before.is_some_and(|before: Line| before.begins(byte));
    let next = rest.next();
    let is_header = line.begins(b'@') && next.map_or(!before(b'+'), |next| is_residues(next.bytes));
    let is_sequence =
        is_residues(line.bytes) && next.map_or(before(b'@'), |next| next.begins(b'+'));
    match () {
        () if is_sequence => None,
        () if is_header => Some(Lead::Record),
        () => Some(Lead::Other),
    }
}
