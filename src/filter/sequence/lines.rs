//! Lines of a block, and the classes of their bytes.

/// Kind of sequences in a block or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records of a header line, which begins with `>`, and lines of residues.
    Fasta,
    /// Records of a line with `@` and a name, residues, a `+` line, and one quality per residue.
    Fastq,
}

/// Line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub bytes: &'a [u8],
    pub end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The block ends before the line does.
    None,
    Lf,
    CrLf,
}

/// UTF-8 byte order mark, which some editors put at the beginning of a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Line<'_> {
    pub(super) fn begins(&self, byte: u8) -> bool {
        self.bytes.first() == Some(&byte)
    }

    /// Returns true if the line begins with `mark`. A byte order mark may be in front of it.
    pub(super) fn is_header(&self, mark: u8) -> bool {
        let bytes = self
            .bytes
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(self.bytes);
        bytes.first() == Some(&mark)
    }

    /// Returns true if the line, as the first of a block, is likely to be the end of a header.
    pub(super) fn is_torn_header(&self) -> bool {
        !self.is_header(b'>') && !is_blank_line(self.bytes) && !is_residues(self.bytes)
    }
}

/// Iterator over the lines of a block. There is no line behind a line feed that ends the block.
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
            return Some(Line {
                bytes,
                end: End::None,
            });
        };
        let bytes = &self.0[..at];
        let rest = &self.0[at + 1..];
        self.0 = rest;
        Some(match bytes.strip_suffix(b"\r") {
            Some(bytes) => Line {
                bytes,
                end: End::CrLf,
            },
            None => Line {
                bytes,
                end: End::Lf,
            },
        })
    }
}

/// Returns true if `byte` may stand for a base or an amino acid.
#[inline]
pub(super) fn is_residue(byte: u8) -> bool {
    // There are no branches, so that the compiler can test many bytes at once.
    (byte | 0x20).wrapping_sub(b'a') < 26 || byte == b'*' || byte.wrapping_sub(b'-') < 2
}

/// Returns true if a line has residues and nothing else.
pub(super) fn is_residues(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .fold(true, |sound, &byte| sound & is_residue(byte))
}

/// Returns true if a byte in a line of a sequence is layout: a space, a tab, VT, FF, or CR.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

/// Returns true if a line is empty or has only blanks.
pub(super) fn is_blank_line(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| is_blank(byte))
}

/// Returns true if a line has blanks.
pub(super) fn has_blanks(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .fold(false, |any, &byte| any | is_blank(byte))
}

/// Counts the bytes of a line that are no blanks.
pub(super) fn symbols(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .filter(|&&byte| !is_blank(byte))
        .count()
}

/// Counts the bytes of a line that are residues.
pub(super) fn residues(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .filter(|&&byte| is_residue(byte))
        .count()
}

/// Returns the four lines of the FASTQ record at the front of `lines`, and the lines behind them.
/// The residues and the qualities must have the same length, and no blanks.
pub(super) fn read<'a>(mut lines: Lines<'a>) -> Option<([Line<'a>; 4], Lines<'a>)> {
    let head = lines.next().filter(|head| head.begins(b'@'))?;
    let residues = lines
        .next()
        .filter(|line| !line.begins(b'+') && !line.is_header(b'@'))?;
    let plus = lines.next().filter(|plus| plus.begins(b'+'))?;
    // If there are no residues, the block may end where the empty line of qualities would be. Then
    // this is no record of four lines.
    let qualities = lines.next()?;
    let fit = qualities.bytes.len() == residues.bytes.len()
        && !has_blanks(residues.bytes)
        && !has_blanks(qualities.bytes);
    fit.then_some(([head, residues, plus, qualities], lines))
}

/// Returns the lines behind a whole FASTQ record at the front of `lines`. Nine in ten of its bases
/// must be residues.
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
        // Skips the empty line of its qualities.
        let rest = lines;
        return Some(if lines.next()?.bytes.is_empty() {
            lines
        } else {
            rest
        });
    }
    while left > 0 {
        left = left.checked_sub(symbols(lines.next()?.bytes))?;
    }
    Some(lines)
}
