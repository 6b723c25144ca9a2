//! How patterns stand in files: lines, FASTA, FASTQ. A pattern costs a search for its line ends;
//! it stays where it stood, but for lines of a sequence, which are joined.
//!
//! FASTA is `>name ...` and any number of lines; FASTQ is four lines a record, of which the second
//! and the fourth are of the same length. Lines of both end with LF or CRLF.

use super::pattern_batch::PatternPart;
use bwz::{Error, Result};
use memchr::{memchr, memchr_iter, memmem, memrchr};
use std::ops::Range;

/// What the patterns of a file are, and what is made of each.
#[derive(Clone, Copy, Debug)]
pub struct PatternSyntax {
    pub format: Format,
    /// Lines are hexadecimal digits.
    pub hex: bool,
    /// Each pattern is followed by its reverse complement.
    pub both_strands: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Lines,
    Fasta,
    Fastq,
}

/// Some patterns as they stand in a file.
pub struct PatternChunk {
    /// Its bytes, without patterns.
    pub part: PatternPart,
    /// The file ends with it.
    pub is_last: bool,
}

/// The patterns of a chunk.
#[derive(Debug)]
pub struct ParsedChunk {
    pub part: PatternPart,
    /// Lines that were read.
    pub lines: u64,
    /// What is wrong in the last one of these, behind the patterns.
    pub flaw: Option<String>,
}

impl Format {
    /// The format of a file of sequences, by its first byte.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is no such file.
    pub fn of_sequences(first: Option<u8>) -> Result<Self> {
        match first {
            Some(b'>') => Ok(Format::Fasta),
            Some(b'@') => Ok(Format::Fastq),
            Some(_) => Err(Error::Usage(
                "is neither FASTA nor FASTQ, which begin with > and @; -f takes plain lines".into(),
            )),
            None => Err(Error::Usage("is empty: there are no sequences".into())),
        }
    }

    /// Where the last pattern ends that is known to be whole, in bytes that start with one and may
    /// go on; 0 where there is none.
    pub fn whole(self, bytes: &[u8]) -> usize {
        match self {
            Format::Lines => memrchr(b'\n', bytes).map_or(0, |at| at + 1),
            Format::Fasta => memmem::rfind(bytes, b"\n>").map_or(0, |at| at + 1),
            Format::Fastq => whole_fastq(bytes),
        }
    }
}

/// Qualities may begin like a record, so that records are counted from the first one.
fn whole_fastq(bytes: &[u8]) -> usize {
    let (mut end, mut start, mut lines) = (0, 0, 0);
    for at in memchr_iter(b'\n', bytes) {
        // Blank lines may stand before a record.
        lines += u32::from(lines > 0 || !matches!(bytes[start..at], [] | [b'\r']));
        start = at + 1;
        if lines == 4 {
            (end, lines) = (start, 0);
        }
    }
    end
}

impl PatternSyntax {
    /// Makes patterns of the bytes of a chunk, in their place.
    pub fn parse(self, PatternChunk { part, is_last }: PatternChunk) -> ParsedChunk {
        let lines = LineReader { at: 0, end: part.bytes.len(), count: 0 };
        let mut parser = Parser { syntax: self, part, lines, is_last };
        let outcome = match self.format {
            Format::Lines => parser.lines(),
            Format::Fasta => parser.fasta(),
            Format::Fastq => parser.fastq(),
        };
        ParsedChunk { part: parser.part, lines: parser.lines.count, flaw: outcome.err() }
    }

    /// Makes a pattern of bytes of the part, which name it too.
    pub fn add_given(self, part: &mut PatternPart, name: Range<usize>) -> Result<(), String> {
        let pattern = if self.hex { decode_hex(&mut part.bytes, &name)? } else { name.clone() };
        self.add(part, name, pattern);
        Ok(())
    }

    fn add(self, part: &mut PatternPart, name: Range<usize>, pattern: Range<usize>) {
        part.add(name, pattern);
        if self.both_strands {
            part.add_reverse();
        }
    }
}

/// A chunk that is being read. Its patterns may be followed by what is made of them.
struct Parser {
    syntax: PatternSyntax,
    part: PatternPart,
    lines: LineReader,
    is_last: bool,
}

/// Why a file is refused, of which line by line all before was read.
type Parsed<T> = std::result::Result<T, String>;

impl Parser {
    fn lines(&mut self) -> Parsed<()> {
        while let Some(line) = self.lines.whole(&self.part.bytes) {
            self.syntax.add_given(&mut self.part, line)?;
        }
        Ok(())
    }

    fn fasta(&mut self) -> Parsed<()> {
        while let Some(header) = self.lines.next(&self.part.bytes) {
            if self.lines.is_over() && self.is_last {
                return ended();
            }
            let (from, mut end) = (self.lines.at, self.lines.at);
            while !self.lines.is_over() && self.part.bytes[self.lines.at] != b'>' {
                let Some(line) = self.lines.next(&self.part.bytes) else { break };
                if line.start != end {
                    self.part.bytes.copy_within(line.clone(), end);
                }
                end += line.len();
            }
            self.add(header, from..end);
        }
        Ok(())
    }

    fn fastq(&mut self) -> Parsed<()> {
        while let Some(header) = self.lines.next(&self.part.bytes) {
            match self.part.bytes[header.clone()].first() {
                Some(b'@') => self.fastq_record(header)?,
                Some(_) => return Err("a record begins with @".into()),
                None => {}
            }
        }
        Ok(())
    }

    fn fastq_record(&mut self, header: Range<usize>) -> Parsed<()> {
        let Some(sequence) = self.lines.next(&self.part.bytes) else { return ended() };
        let Some(separator) = self.lines.next(&self.part.bytes) else { return ended() };
        if self.part.bytes[separator].first() != Some(&b'+') {
            return Err("a line that begins with + follows the sequence, which is one line".into());
        }
        let qualities = self.lines.next(&self.part.bytes).unwrap_or(0..0);
        if qualities.len() != sequence.len() {
            let (bases, qualities) = (sequence.len(), qualities.len());
            return Err(format!("the sequence has {bases} bases, but {qualities} qualities"));
        }
        self.add(header, sequence);
        Ok(())
    }

    /// Of the header only the name is kept, without its mark.
    fn add(&mut self, Range { start, end }: Range<usize>, sequence: Range<usize>) {
        let header = &self.part.bytes[start + 1..end];
        let name = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        self.syntax.add(&mut self.part, start + 1..start + 1 + name, sequence);
    }
}

fn ended<T>() -> Parsed<T> {
    Err("the file ends in a record".into())
}

/// The lines of the first bytes of a part.
struct LineReader {
    at: usize,
    end: usize,
    count: u64,
}

impl LineReader {
    fn is_over(&self) -> bool {
        self.at == self.end
    }

    /// The next line without its LF, which the last one may lack.
    fn whole(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let (start, left) = (self.at, &bytes[self.at..self.end]);
        if left.is_empty() {
            return None;
        }
        let len = memchr(b'\n', left).unwrap_or(left.len());
        self.at = self.end.min(start + len + 1);
        self.count += 1;
        Some(start..start + len)
    }

    /// The next line without its end, LF or CRLF.
    fn next(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let Range { start, end } = self.whole(bytes)?;
        Some(start..end - usize::from(bytes[start..end].ends_with(b"\r")))
    }
}

/// Appends the bytes that some hexadecimal digits stand for.
fn decode_hex(bytes: &mut Vec<u8>, digits: &Range<usize>) -> Parsed<Range<usize>> {
    let decoded = from_hex(&bytes[digits.clone()])?;
    let start = bytes.len();
    bytes.extend_from_slice(&decoded);
    Ok(start..bytes.len())
}

fn from_hex(digits: &[u8]) -> Parsed<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| {
        format!("`{}` is not pairs of hexadecimal digits", String::from_utf8_lossy(digits))
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
        let fastq = b"\n\r\n@a\n@C\n+\n@+\n\n@b\n\n+\n\n@c\nA\n+\n";
        for end in 0..=fastq.len() {
            let whole = if end < 14 {
                0
            } else if end < 22 {
                14
            } else {
                22
            };
            assert_eq!(Format::Fastq.whole(&fastq[..end]), whole, "{end}");
        }
    }
}
