//! The syntax of patterns in files: lines, FASTA, FASTQ. Parsing a pattern costs a search for its
//! line ends. The pattern stays in its place; only the lines of a sequence are moved, to join them.
//!
//! A record of FASTA is a line `>name ...` and any number of lines of its sequence. A record of
//! FASTQ is `@name ...`, lines of bases, a line that begins with `+`, and lines with as many
//! qualities as bases. Blanks in lines of a sequence are not part of it; every other byte is.
//! Comments begin with `;`. A UTF-8 byte order mark may stand before a header. FORMAT.md section
//! 12.8 reads archives in the same way.

use crate::cli::search::pattern_batch::PatternPart;
use bwz::{Error, Result};
use memchr::{memchr, memchr_iter, memmem, memrchr};
use std::ops::Range;

/// The syntax of the patterns of a file, and the patterns to make of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternSyntax {
    pub format: Format,
    /// True if lines are hexadecimal digits.
    pub hex: bool,
    /// True if each pattern is followed by its reverse complement.
    pub both_strands: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Lines,
    Fasta,
    Fastq,
}

/// The patterns of a chunk.
#[derive(Debug)]
pub(crate) struct ParsedChunk {
    pub part: PatternPart,
    /// Lines that were read.
    pub lines: u64,
    /// The flaw in the last of these lines, which comes after the patterns.
    pub flaw: Option<String>,
}

impl Format {
    /// Returns the format of a file of sequences. The first line in `beginning` that is neither
    /// blank nor a comment tells it. It is `None` if there is no such line so far.
    ///
    /// # Errors
    /// [`Error::Usage`] if that line begins no record.
    pub(crate) fn of_sequences(beginning: &[u8]) -> Result<Option<Self>> {
        for line in beginning.split(|&byte| byte == b'\n') {
            let line = without_mark(line);
            match line.first() {
                Some(b'>') => return Ok(Some(Format::Fasta)),
                Some(b'@') => return Ok(Some(Format::Fastq)),
                Some(b'#' | b';') => {}
                _ if BYTE_ORDER_MARK.starts_with(line) || line.iter().all(is_blank) => {}
                _ => {
                    let what = "is neither FASTA nor FASTQ, which begin with > and @";
                    return Err(Error::Usage(what.into()));
                }
            }
        }
        Ok(None)
    }

    /// Returns the end of the last pattern that is known to be complete, in bytes that start with a
    /// pattern and may go on. It is 0 if there is none.
    pub(crate) fn whole(self, bytes: &[u8]) -> usize {
        match self {
            Format::Lines => memrchr(b'\n', bytes).map_or(0, |at| at + 1),
            Format::Fasta => whole_fasta(bytes),
            Format::Fastq => whole_fastq(bytes),
        }
    }
}

/// The UTF-8 byte order mark, which some editors put at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns a line without its byte order mark, if it has one.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// True if a byte is layout within a sequence: a blank, a tab, VT, FF, or a CR.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the number of bytes of a line that are not blanks.
fn symbols(line: &[u8]) -> usize {
    line.iter().filter(|byte| !is_blank(byte)).count()
}

fn whole_fasta(bytes: &[u8]) -> usize {
    let plain = memmem::rfind(bytes, b"\n>").map_or(0, |at| at + 1);
    let marked = memmem::rfind(&bytes[plain..], b"\n\xEF\xBB\xBF>");
    marked.map_or(plain, |at| plain + at + 1)
}

/// Qualities may begin like a record, so records are counted from the first one.
fn whole_fastq(bytes: &[u8]) -> usize {
    #[derive(Clone, Copy)]
    enum Expected {
        Header,
        Bases(usize),
        Qualities(usize),
    }
    let mut end = 0;
    let mut start = 0;
    let mut expected = Expected::Header;
    for at in memchr_iter(b'\n', bytes) {
        let line = &bytes[start..at];
        start = at + 1;
        expected = match (expected, without_mark(line).first()) {
            (Expected::Header, Some(b'@')) => Expected::Bases(0),
            (Expected::Header, _) => Expected::Header,
            (Expected::Bases(bases), Some(b'+')) => Expected::Qualities(bases),
            (Expected::Bases(bases), _) => Expected::Bases(bases + symbols(line)),
            (Expected::Qualities(left), _) => {
                Expected::Qualities(left.saturating_sub(symbols(line)))
            }
        };
        if let Expected::Qualities(0) = expected {
            (end, expected) = (start, Expected::Header);
        }
    }
    end
}

impl PatternSyntax {
    /// Makes patterns of the bytes of a chunk, in place. The chunk has no patterns yet.
    pub(crate) fn parse(self, part: PatternPart) -> ParsedChunk {
        let lines = LineReader {
            at: 0,
            end: part.bytes.len(),
            count: 0,
        };
        let mut parser = Parser {
            syntax: self,
            part,
            lines,
        };
        let outcome = match self.format {
            Format::Lines => parser.lines(),
            Format::Fasta => parser.fasta(),
            Format::Fastq => parser.fastq(),
        };
        ParsedChunk {
            part: parser.part,
            lines: parser.lines.count,
            flaw: outcome.err(),
        }
    }

    /// Makes a pattern of bytes of the part. The same bytes are its name.
    pub(crate) fn add_given(
        self,
        part: &mut PatternPart,
        name: Range<usize>,
    ) -> Result<(), String> {
        let pattern = if self.hex {
            decode_hex(&mut part.bytes, &name)?
        } else {
            name.clone()
        };
        self.add(part, name, pattern, None);
        Ok(())
    }

    fn add(
        self,
        part: &mut PatternPart,
        name: Range<usize>,
        pattern: Range<usize>,
        qualities: Option<Range<usize>>,
    ) {
        part.add(name, pattern, qualities);
        if self.both_strands {
            part.add_reverse();
        }
    }
}

/// The parser of a chunk. Bytes derived from the patterns may be appended to the chunk.
struct Parser {
    syntax: PatternSyntax,
    part: PatternPart,
    lines: LineReader,
}

/// A result of parsing. The error says why a file is refused; all lines before it were read.
type Parsed<T> = std::result::Result<T, String>;

impl Parser {
    fn lines(&mut self) -> Parsed<()> {
        while let Some(line) = self.lines.whole(&self.part.bytes) {
            self.syntax.add_given(&mut self.part, line)?;
        }
        Ok(())
    }

    fn fasta(&mut self) -> Parsed<()> {
        while let Some(line) = self.lines.next(&self.part.bytes) {
            // Only comments and blank lines stand before the first header.
            let Some(header) = self.header(line, b'>') else {
                continue;
            };
            let from = self.lines.at;
            let mut end = self.lines.at;
            while !self.begins_fasta() {
                let Some(line) = self.lines.next(&self.part.bytes) else {
                    break;
                };
                if self.part.bytes.get(line.start) != Some(&b';') {
                    end = self.append(line, end);
                }
            }
            self.add(header, from..end, None);
        }
        Ok(())
    }

    fn begins_fasta(&self) -> bool {
        let rest = &self.part.bytes[self.lines.at..self.lines.end];
        without_mark(rest).first() == Some(&b'>')
    }

    fn fastq(&mut self) -> Parsed<()> {
        while let Some(line) = self.lines.next(&self.part.bytes) {
            if let Some(header) = self.header(line.clone(), b'@') {
                self.fastq_record(header)?;
            } else if !self.is_between_records(line) {
                return Err("a record begins with @".into());
            }
        }
        Ok(())
    }

    fn is_between_records(&self, line: Range<usize>) -> bool {
        let line = &self.part.bytes[line];
        matches!(line.first(), Some(b'#' | b';')) || line.iter().all(is_blank)
    }

    fn fastq_record(&mut self, header: Range<usize>) -> Parsed<()> {
        let from = self.lines.at;
        let mut end = self.lines.at;
        loop {
            let Some(line) = self.lines.next(&self.part.bytes) else {
                return ended();
            };
            match self.part.bytes[line.clone()].first() {
                Some(b'+') => break,
                Some(b'@') => return Err("a line that begins with + follows the bases".into()),
                _ => end = self.append(line, end),
            }
        }
        let bases = from..end;
        let from = self.lines.at;
        let mut end = self.lines.at;
        while end - from < bases.len() {
            let Some(line) = self.lines.next(&self.part.bytes) else {
                break;
            };
            end = self.append(line, end);
        }
        if end - from != bases.len() {
            let bases = bases.len();
            let qualities = end - from;
            return Err(format!(
                "the sequence has {bases} bases, but {qualities} qualities"
            ));
        }
        self.add(header, bases, Some(from..end));
        Ok(())
    }

    /// Returns the header in a line, without its mark, if the line begins a record.
    fn header(&self, line: Range<usize>, mark: u8) -> Option<Range<usize>> {
        let bytes = without_mark(&self.part.bytes[line.clone()]);
        (bytes.first() == Some(&mark)).then(|| line.end - bytes.len() + 1..line.end)
    }

    /// Moves a line without its blanks to `end`, and returns the end after it.
    fn append(&mut self, line: Range<usize>, end: usize) -> usize {
        let bytes = &mut self.part.bytes;
        if !bytes[line.clone()]
            .iter()
            .fold(false, |any, byte| any | is_blank(byte))
        {
            let len = line.len();
            if line.start != end {
                bytes.copy_within(line, end);
            }
            return end + len;
        }
        let mut end = end;
        for at in line {
            if !is_blank(&bytes[at]) {
                bytes[end] = bytes[at];
                end += 1;
            }
        }
        end
    }

    /// Adds a record. Its name is the first word of the header.
    fn add(
        &mut self,
        header: Range<usize>,
        sequence: Range<usize>,
        qualities: Option<Range<usize>>,
    ) {
        let bytes = &self.part.bytes[header.clone()];
        let start = bytes
            .iter()
            .position(|byte| !is_blank(byte))
            .unwrap_or(bytes.len());
        let word = &bytes[start..];
        let len = word
            .iter()
            .position(is_blank)
            .unwrap_or(word.len());
        let name = header.start + start..header.start + start + len;
        self.syntax
            .add(&mut self.part, name, sequence, qualities);
    }
}

fn ended<T>() -> Parsed<T> {
    Err("the file ends within a record".into())
}

/// The lines of the first `end` bytes of a part.
struct LineReader {
    at: usize,
    end: usize,
    count: u64,
}

impl LineReader {
    /// Returns the next line without its LF, which the last line may lack.
    fn whole(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let start = self.at;
        let left = &bytes[self.at..self.end];
        if left.is_empty() {
            return None;
        }
        let len = memchr(b'\n', left).unwrap_or(left.len());
        self.at = self.end.min(start + len + 1);
        self.count += 1;
        Some(start..start + len)
    }

    /// Returns the next line without its end, LF or CRLF.
    fn next(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let Range { start, end } = self.whole(bytes)?;
        Some(start..end - usize::from(bytes[start..end].ends_with(b"\r")))
    }
}

/// Appends the bytes for some hexadecimal digits.
fn decode_hex(bytes: &mut Vec<u8>, digits: &Range<usize>) -> Parsed<Range<usize>> {
    let decoded = from_hex(&bytes[digits.clone()])?;
    let start = bytes.len();
    bytes.extend_from_slice(&decoded);
    Ok(start..bytes.len())
}

fn from_hex(digits: &[u8]) -> Parsed<Vec<u8>> {
    let digit = |c: u8| {
        char::from(c)
            .to_digit(16)
            .map(|digit| digit as u8)
    };
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| {
        format!(
            "`{}` is not pairs of hexadecimal digits",
            String::from_utf8_lossy(digits)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        assert_eq!(from_hex(b"00fF0a").unwrap(), [0, 255, 10]);
        assert!(from_hex(b"").unwrap().is_empty());
        assert!(from_hex(b"0").is_err() && from_hex(b"0g").is_err() && from_hex(b"+1").is_err());
    }

    #[test]
    fn a_cut_is_where_a_pattern_begins() {
        assert_eq!(Format::Lines.whole(b"a\n\nb"), 3);
        assert_eq!(Format::Fasta.whole(b">a\nAC\n>b\nA>\n"), 6);
        assert_eq!(Format::Fasta.whole(b">a\nAC\n"), 0);
        assert_eq!(Format::Fasta.whole(b">a\nAC\n\xEF\xBB\xBF>b\nA>\n"), 6);
        let fastq = b"\n\r\n@a\nC\n+\n@\n\n@b\n\n+\n\n@c\nA G\nT\n+\nII\n@\n@d\n";
        for end in 0..=fastq.len() {
            let whole = match end {
                0..12 => 0,
                12..19 => 12,
                19..36 => 19,
                _ => 36,
            };
            assert_eq!(Format::Fastq.whole(&fastq[..end]), whole, "{end}");
        }
    }
}
