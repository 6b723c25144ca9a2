//! FASTA and FASTQ files as patterns: a record costs a search for its line ends and a copy.
//!
//! FASTA is `>name ...` and any number of lines; FASTQ is four lines a record, of which the second
//! and the fourth are of the same length. Lines end with LF or CRLF. Files may be compressed with
//! gzip.

use super::pattern_batch::PatternBatch;
use bwz::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

const BUFFER: usize = 256 << 10;
const GZIP: &[u8] = b"\x1f\x8b";

/// A file of sequences that is being read.
pub struct SequenceFile<'a> {
    input: BufReader<Box<dyn Read + Send + 'a>>,
    format: Format,
    /// The line that was read last, from 1.
    line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Fasta,
    Fastq,
}

impl<'a> SequenceFile<'a> {
    pub fn open(input: impl Read + Send + 'a) -> Result<Self> {
        let boxed: Box<dyn Read + Send> = Box::new(input);
        let mut input = BufReader::with_capacity(BUFFER, boxed);
        if input.fill_buf()?.starts_with(GZIP) {
            let boxed: Box<dyn Read + Send> = Box::new(MultiGzDecoder::new(input));
            input = BufReader::with_capacity(BUFFER, boxed);
        }
        let format = match input.fill_buf()?.first() {
            Some(b'>') => Format::Fasta,
            Some(b'@') => Format::Fastq,
            Some(_) => {
                return Err(Error::Usage(
                    "is neither FASTA nor FASTQ, which begin with > and @; -f takes plain lines"
                        .into(),
                ));
            }
            None => return Err(Error::Usage("is empty: there are no sequences".into())),
        };
        Ok(SequenceFile { input, format, line: 0 })
    }

    /// Adds the next record to `batch`; says whether there was one.
    pub fn next(&mut self, batch: &mut PatternBatch) -> Result<bool> {
        let begin = batch.bytes.len();
        let read = self.record(batch);
        if !matches!(read, Ok(true)) {
            batch.bytes.truncate(begin);
        }
        read
    }

    fn record(&mut self, batch: &mut PatternBatch) -> Result<bool> {
        let bytes = &mut batch.bytes;
        let Some(header) = self.header(bytes)? else { return Ok(false) };
        // Of the header only the name is kept.
        let rest = bytes[header.clone()].iter().position(u8::is_ascii_whitespace);
        let name = header.start..rest.map_or(header.end, |at| header.start + at);
        bytes.truncate(name.end);
        let sequence = match self.format {
            Format::Fasta => self.fasta_lines(bytes)?,
            Format::Fastq => self.fastq_lines(bytes)?,
        };
        batch.add(name, sequence);
        Ok(true)
    }

    /// The header line without its mark.
    fn header(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Range<usize>>> {
        let (mark, from) = (if self.format == Format::Fasta { b'>' } else { b'@' }, bytes.len());
        loop {
            let Some(line) = self.line(bytes)? else { return Ok(None) };
            match bytes[line.clone()].first() {
                Some(&first) if first == mark => return Ok(Some(from + 1..line.end)),
                Some(_) => return self.fail(&format!("a record begins with {}", char::from(mark))),
                None => {}
            }
        }
    }

    fn fasta_lines(&mut self, bytes: &mut Vec<u8>) -> Result<Range<usize>> {
        let from = bytes.len();
        if self.input.fill_buf()?.is_empty() {
            return self.fail("the file ends in a record");
        }
        while self.input.fill_buf()?.first().is_some_and(|&byte| byte != b'>') {
            self.line(bytes)?;
        }
        Ok(from..bytes.len())
    }

    fn fastq_lines(&mut self, bytes: &mut Vec<u8>) -> Result<Range<usize>> {
        let Some(sequence) = self.line(bytes)? else {
            return self.fail("the file ends in a record");
        };
        let Some(separator) = self.line(bytes)? else {
            return self.fail("the file ends in a record");
        };
        if bytes[separator.clone()].first() != Some(&b'+') {
            return self.fail("a line that begins with + follows the sequence, which is one line");
        }
        bytes.truncate(separator.start);
        let qualities = self.line(bytes)?.unwrap_or(0..0);
        if qualities.len() != sequence.len() {
            let (bases, qualities) = (sequence.len(), qualities.len());
            return self
                .fail(&format!("the sequence has {bases} bases, but {qualities} qualities"));
        }
        bytes.truncate(sequence.end);
        Ok(sequence)
    }

    /// Reads a line, which stands at the end of `bytes` without its end.
    fn line(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Range<usize>>> {
        let from = bytes.len();
        if self.input.read_until(b'\n', bytes)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        for end in *b"\n\r" {
            if bytes.len() > from && bytes.last() == Some(&end) {
                bytes.pop();
            }
        }
        Ok(Some(from..bytes.len()))
    }

    fn fail<T>(&self, what: &str) -> Result<T> {
        Err(Error::Usage(format!("line {}: {what}", self.line).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and sequences, and what is wrong behind them.
    fn read(file: &[u8]) -> (Vec<(String, String)>, Option<String>) {
        let mut batch = PatternBatch::default();
        let outcome = SequenceFile::open(file).and_then(|mut file| {
            while file.next(&mut batch)? {}
            Ok(())
        });
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let records = batch.iter().map(|p| (text(p.name), text(p.bytes))).collect();
        (records, outcome.err().map(|e| e.to_string()))
    }

    fn records(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|&(name, bases)| (name.to_owned(), bases.to_owned())).collect()
    }

    #[test]
    fn records_are_read_whatever_their_lines() {
        let wanted = records(&[("a", "ACGT"), ("b", ""), ("", "NN")]);
        for file in [
            ">a x y\nAC\nGT\n>b\n> z\nNN\n",
            ">a\tx\r\nAC\r\n\r\nGT\r\n>b\r\n>\r\nNN",
            ">a\nACGT\n>b\n\n>\nN\nN\n\n",
        ] {
            assert_eq!(read(file.as_bytes()), (wanted.clone(), None), "{file:?}");
        }
        let wanted = records(&[("a", "ACGT"), ("b", ""), ("c", "@")]);
        for file in [
            "@a x\nACGT\n+\n@+@+\n@b\n\n+b\n\n@c\n@\n+\n>\n\n",
            "@a\r\nACGT\r\n+a\r\nIIII\r\n@b\n\n+\n\n@c\n@\n+\n+",
        ] {
            assert_eq!(read(file.as_bytes()), (wanted.clone(), None), "{file:?}");
        }
    }

    #[test]
    fn flaws_come_behind_what_is_whole() {
        for (file, whole, said) in [
            ("", 0, "is empty"),
            ("x\n", 0, "neither FASTA nor FASTQ"),
            (">a\nAC\n>b", 1, "line 3: the file ends"),
            ("@a\nAC\n+\nII\n@b\nAC\nII\n", 1, "line 7: a line that begins with +"),
            ("@a\nAC\n+\nII\n@b\nAC\n+\nI\n", 1, "line 8: the sequence has 2 bases, but 1 qual"),
            ("@a\nAC\n+\nII\nACGT\n", 1, "line 5: a record begins with @"),
            ("@a\nAC\n+\nII\n@b\nAC\n", 1, "line 6: the file ends"),
        ] {
            let (records, flaw) = read(file.as_bytes());
            assert_eq!(records.len(), whole, "{file:?}");
            assert!(flaw.as_ref().is_some_and(|flaw| flaw.contains(said)), "{file:?}: {flaw:?}");
        }
    }
}
