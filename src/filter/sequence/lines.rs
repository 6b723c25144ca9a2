//! The lines of a block, and what they are.

/// What a block, or all of a file, holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records of a header line that begins with `>` and lines of residues.
    Fasta,
    /// Records of lines: `@` and a name, residues, `+`, a quality for each residue.
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

/// UTF-8 byte order mark, which some editors put at the beginning of a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Line<'_> {
    pub fn begins(&self, byte: u8) -> bool {
        self.bytes.first() == Some(&byte)
    }

    /// True if it begins with `mark`, perhaps behind a byte order mark.
    pub fn is_header(&self, mark: u8) -> bool {
        let bytes = self.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(self.bytes);
        bytes.first() == Some(&mark)
    }

    /// True if the first line of a block is likely to be the end of a header.
    pub fn is_torn_header(&self) -> bool {
        !self.is_header(b'>') && !is_blank_line(self.bytes) && !is_residues(self.bytes)
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
        let bytes = &self.0[..at];
        let rest = &self.0[at + 1..];
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

/// True if a byte in a line of a sequence is layout: a blank, a tab, VT, FF, or a CR.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

/// True if a line has nothing but blanks, or nothing at all.
pub(super) fn is_blank_line(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| is_blank(byte))
}

/// True if a line has blanks.
pub(super) fn has_blanks(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |any, &byte| any | is_blank(byte))
}

/// Bytes of a line that are no blanks.
pub(super) fn symbols(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| !is_blank(byte)).count()
}

/// Bytes of a line that are residues.
pub(super) fn residues(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_residue(byte)).count()
}

/// The four lines of a record of FASTQ at the front of `lines`, and the lines behind them. Its two
/// lines of symbols are of the same length, and have no blanks.
pub(super) fn read<'a>(mut lines: Lines<'a>) -> Option<([Line<'a>; 4], Lines<'a>)> {
    let head = lines.next().filter(|head| head.begins(b'@'))?;
    let residues = lines.next().filter(|line| !line.begins(b'+') && !line.is_header(b'@'))?;
    let plus = lines.next().filter(|plus| plus.begins(b'+'))?;
    // The qualities of no residues may be where the block ends, and then they are no line.
    let qualities = lines.next()?;
    let fit = qualities.bytes.len() == residues.bytes.len()
        && !has_blanks(residues.bytes)
        && !has_blanks(qualities.bytes);
    fit.then_some(([head, residues, plus, qualities], lines))
}

/// The lines behind a whole record of FASTQ at the front of `lines`, of which nine in ten bases
/// are such.
pub(super) fn behind_record(mut lines: Lines) -> Option<Lines> {
    lines.next().filter(|head| head.is_header(b'@'))?;
    let mut bases = 0;
    let mut odd = 0;
    loop {
        let line = lines.next()?;
        if line.begins(b'+') {
            break;
        }
        let here = residues(line.bytes);
        (bases, odd) = (bases + here, odd + symbols(line.bytes) - here);
        if line.is_header(b'@') || odd > bases / 9 {
            return None;
        }
    }
    let mut left = bases + odd;
    if left == 0 {
        // The empty line of its qualities.
        let rest = lines;
        return Some(if lines.next()?.bytes.is_empty() { lines } else { rest });
    }
    while left > 0 {
        left = left.checked_sub(symbols(lines.next()?.bytes))?;
    }
    Some(lines)
}
