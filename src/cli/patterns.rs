//! The patterns to search for: words, lines, hexadecimal digits, sequences.

use super::descriptors;
use super::input::{Input, InputSource};
use super::input_name::Name;
use super::pattern_batch::PatternBatch;
use super::search_args::SearchArgs;
use super::sequence_file::SequenceFile;
use bwz::{Error, Result};
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::slice;

/// The first batch is so much smaller than the others: with it the file to search is opened, and
/// decoded, while the next one is read.
const FIRST_PART: u64 = 16;

/// The patterns that the arguments name. They are read while others are searched, and anew for each
/// file, so that there may be more of them than memory holds.
pub struct Patterns {
    sources: Vec<PatternSource>,
    hex: bool,
    both_strands: bool,
}

enum PatternSource {
    Held(PatternBatch),
    Lines(PathBuf),
    Sequences(PathBuf),
}

/// The patterns, on one strand or on both, and the files that the arguments name.
pub fn gather(args: &SearchArgs, both_strands: bool) -> Result<(Patterns, Vec<PathBuf>)> {
    let named = args.patterns.is_empty() && args.lines.is_empty() && args.fasta.is_empty();
    let (first, files) = args.words.split_at(usize::from(named));
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    if files.is_empty() {
        return Err(Error::Usage("name the files to search, behind the pattern".into()));
    }
    let mut patterns = Patterns { sources: Vec::new(), hex: args.hex, both_strands };
    let mut words = PatternBatch::default();
    for word in first.iter().chain(&args.patterns) {
        let from = words.bytes.len();
        words.bytes.extend_from_slice(word.as_bytes());
        patterns.add_given(&mut words, from)?;
    }
    patterns.sources.push(PatternSource::Held(words));
    let lines = args.lines.iter().cloned().map(PatternSource::Lines);
    for source in lines.chain(args.fasta.iter().cloned().map(PatternSource::Sequences)) {
        let source = if files.len() > 1 { patterns.held(source)? } else { source };
        patterns.sources.push(source);
    }
    Ok((patterns, files))
}

impl Patterns {
    /// All patterns in order, each followed by its reverse complement where that is wanted, in
    /// batches of about `size` bytes. What cannot be read is an error in its place, and the end.
    pub fn batches(&self, size: u64) -> impl Iterator<Item = Result<PatternBatch>> {
        let (mut sources, mut reader, mut failed) = (self.sources.iter(), None, None);
        let mut enough = size / FIRST_PART;
        std::iter::from_fn(move || {
            let mut batch = PatternBatch::default();
            let size = std::mem::replace(&mut enough, size);
            while failed.is_none() && batch.size() < size {
                match self.next(&mut sources, &mut reader, &mut batch) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(e) => (failed, reader, sources) = (Some(e), None, [].iter()),
                }
            }
            if batch.is_empty() { failed.take().map(Err) } else { Some(Ok(batch)) }
        })
    }

    /// Adds the next pattern to `batch`, with its reverse complement; says whether there was one.
    fn next<'s>(
        &'s self,
        sources: &mut slice::Iter<'s, PatternSource>,
        reader: &mut Option<Reader<'s>>,
        batch: &mut PatternBatch,
    ) -> Result<bool> {
        loop {
            if let Some(open) = reader {
                if open.next(self, batch)? {
                    return Ok(true);
                }
                *reader = None;
            }
            let Some(source) = sources.next() else { return Ok(false) };
            *reader = Some(Reader::open(source)?);
        }
    }

    /// A source that can be read several times: what is no regular file is held in memory.
    fn held(&self, source: PatternSource) -> Result<PatternSource> {
        match &source {
            PatternSource::Lines(path) | PatternSource::Sequences(path) if !path.is_file() => {
                let (mut reader, mut batch) = (Reader::open(&source)?, PatternBatch::default());
                while reader.next(self, &mut batch)? {}
                Ok(PatternSource::Held(batch))
            }
            _ => Ok(source),
        }
    }

    /// Makes a pattern of the bytes of `batch` from `from` on, which name it too.
    fn add_given(&self, batch: &mut PatternBatch, from: usize) -> Result<()> {
        let name = from..batch.bytes.len();
        let pattern = if self.hex { decode_hex(&mut batch.bytes, &name)? } else { name.clone() };
        batch.add(name, pattern);
        if self.both_strands {
            batch.add_reverse();
        }
        Ok(())
    }
}

/// A source that is being read.
enum Reader<'s> {
    Held(&'s PatternBatch, usize),
    Lines(BufReader<InputSource>, &'s Path),
    Sequences(SequenceFile<'s>, &'s Path),
}

impl<'s> Reader<'s> {
    fn open(source: &'s PatternSource) -> Result<Self> {
        match source {
            PatternSource::Held(batch) => Ok(Reader::Held(batch, 0)),
            PatternSource::Lines(path) => {
                let input = Input::open(&Name::from(&**path), true).map_err(|e| failed(path, e))?;
                Ok(Reader::Lines(BufReader::with_capacity(1 << 18, input.source), path))
            }
            PatternSource::Sequences(path) => {
                let file = open(path).map_err(|e| failed(path, e))?;
                let file = SequenceFile::open(file).map_err(|e| failed(path, e))?;
                Ok(Reader::Sequences(file, path))
            }
        }
    }

    fn next(&mut self, patterns: &Patterns, batch: &mut PatternBatch) -> Result<bool> {
        match self {
            Reader::Held(held, n) => {
                let pattern = held.get(*n);
                *n += 1;
                Ok(pattern.map(|pattern| batch.copy(pattern)).is_some())
            }
            Reader::Lines(input, path) => {
                let from = batch.bytes.len();
                let read = line(input, &mut batch.bytes).map_err(|e| failed(path, e))?;
                if read {
                    patterns.add_given(batch, from)?;
                }
                Ok(read)
            }
            Reader::Sequences(file, path) => {
                let read = file.next(batch).map_err(|e| failed(path, e))?;
                if read && patterns.both_strands {
                    batch.add_reverse();
                }
                Ok(read)
            }
        }
    }
}

/// A file of sequences, which may be standard input.
fn open(path: &Path) -> Result<File> {
    match path.as_os_str() == OsStr::new("-") {
        true => Ok(descriptors::stdin()?),
        false => Ok(File::open(path)?),
    }
}

/// An error with a file of patterns.
fn failed(path: &Path, e: impl Display) -> Error {
    Error::Usage(format!("{}: {e}", path.display()).into())
}

/// Appends the next line, of which the last one may lack its end.
fn line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    let read = input.read_until(b'\n', bytes)?;
    if read > 0 && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(read > 0)
}

/// Appends the bytes that some hexadecimal digits stand for.
fn decode_hex(bytes: &mut Vec<u8>, digits: &Range<usize>) -> Result<Range<usize>> {
    let decoded = from_hex(&bytes[digits.clone()])?;
    bytes.extend_from_slice(&decoded);
    Ok(digits.end..bytes.len())
}

fn from_hex(digits: &[u8]) -> Result<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| {
        let text = String::from_utf8_lossy(digits);
        Error::Usage(format!("`{text}` is not pairs of hexadecimal digits").into())
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
    fn a_line_is_a_pattern_even_if_it_is_empty() {
        let of = |mut text: &[u8]| {
            let mut all = Vec::new();
            let mut bytes = Vec::new();
            while line(&mut text, &mut bytes).unwrap() {
                all.push(std::mem::take(&mut bytes));
            }
            all
        };
        assert_eq!(of(b""), [b""; 0]);
        assert_eq!(of(b"a\nb"), [b"a", b"b"]);
        assert_eq!(of(b"a\n\nb\r\n"), [&b"a"[..], b"", b"b\r"]);
    }

    #[test]
    fn batches_hold_all_patterns_in_order() {
        let mut held = PatternBatch::default();
        let patterns = |held, both_strands| Patterns {
            sources: vec![PatternSource::Held(held)],
            hex: false,
            both_strands,
        };
        let strands = patterns(PatternBatch::default(), true);
        for n in 0..100 {
            let from = held.bytes.len();
            held.bytes.extend_from_slice(format!("AC{n}").as_bytes());
            strands.add_given(&mut held, from).unwrap();
        }
        let patterns = patterns(held, true);
        let batches: Vec<_> = patterns.batches(1000).map(Result::unwrap).collect();
        assert!(batches.len() > 5, "{}", batches.len());
        let all: Vec<_> = batches.iter().flat_map(|batch| batch.iter()).collect();
        assert_eq!(all.len(), 200);
        assert_eq!((all[14].bytes, all[15].bytes), (&b"AC7"[..], &b"7GT"[..]));
        assert_eq!((all[15].name, all[15].reverse), (&b"AC7"[..], true));
    }
}
