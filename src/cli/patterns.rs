//! The patterns to search for: words, lines, hexadecimal digits, sequences.

use super::descriptors;
use super::input::Input;
use super::input_name::Name;
use super::search_args::SearchArgs;
use bwz::{Error, Result};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A pattern as its results name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub bytes: Vec<u8>,
    /// What results call it: itself, as it was given, or its sequence's name.
    pub name: Vec<u8>,
    /// Whether it is the reverse complement of what was given.
    pub reverse: bool,
}

impl AsRef<[u8]> for Pattern {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Pattern {
    /// Its strand, as results have it.
    pub fn strand(&self) -> &'static str {
        if self.reverse { "-" } else { "+" }
    }
}

/// The patterns that the arguments name. They are read while they are searched, and anew for each
/// file, so that there may be more of them than memory holds.
pub struct Patterns {
    sources: Vec<PatternSource>,
    hex: bool,
    both_strands: bool,
}

enum PatternSource {
    Held(Vec<Pattern>),
    Lines(PathBuf),
    Sequences(PathBuf),
}

/// The patterns and the files that the arguments name.
pub fn gather(args: &SearchArgs) -> Result<(Patterns, Vec<PathBuf>)> {
    let named = args.patterns.is_empty() && args.lines.is_empty() && args.fasta.is_empty();
    let (first, files) = args.words.split_at(usize::from(named));
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    if files.is_empty() {
        return Err(Error::Usage("name the files to search, behind the pattern".into()));
    }
    let words = first.iter().chain(&args.patterns);
    let words = words.map(|word| given(word.as_bytes(), args.hex)).collect::<Result<_>>()?;
    let mut patterns = Patterns {
        sources: vec![PatternSource::Held(words)],
        hex: args.hex,
        both_strands: args.revcomp,
    };
    let lines = args.lines.iter().cloned().map(PatternSource::Lines);
    for source in lines.chain(args.fasta.iter().cloned().map(PatternSource::Sequences)) {
        let source = if files.len() > 1 { patterns.held(source)? } else { source };
        patterns.sources.push(source);
    }
    Ok((patterns, files))
}

impl Patterns {
    /// All patterns in order, each followed by its reverse complement where that is wanted. What
    /// cannot be read is an error in its place.
    pub fn iter(&self) -> impl Iterator<Item = Result<Pattern>> {
        let both = self.both_strands;
        self.sources.iter().flat_map(|source| self.read(source)).flat_map(move |pattern| {
            let (forward, reverse) = match pattern {
                Ok(pattern) if both => (Ok(pattern.clone()), reverse(pattern)),
                pattern => (pattern, None),
            };
            std::iter::once(forward).chain(reverse.map(Ok))
        })
    }

    fn read<'a>(
        &self,
        source: &'a PatternSource,
    ) -> Box<dyn Iterator<Item = Result<Pattern>> + 'a> {
        let read: Result<Box<dyn Iterator<Item = Result<Pattern>> + 'a>> = match source {
            PatternSource::Held(patterns) => Ok(Box::new(patterns.iter().cloned().map(Ok))),
            PatternSource::Lines(path) => Input::open(&Name::from(&**path), true)
                .map(|input| Box::new(lines(input.source, path, self.hex)) as _)
                .map_err(|e| failed(path, e)),
            PatternSource::Sequences(path) => sequences(path).map(|all| Box::new(all) as _),
        };
        read.unwrap_or_else(|e| Box::new(std::iter::once(Err(e))))
    }

    /// A source that can be read several times: what is no regular file is held in memory.
    fn held(&self, source: PatternSource) -> Result<PatternSource> {
        match &source {
            PatternSource::Lines(path) | PatternSource::Sequences(path) if !path.is_file() => {
                Ok(PatternSource::Held(self.read(&source).collect::<Result<_>>()?))
            }
            _ => Ok(source),
        }
    }
}

fn given(word: &[u8], hex: bool) -> Result<Pattern> {
    let bytes = if hex { from_hex(word)? } else { word.to_vec() };
    Ok(Pattern { bytes, name: word.to_vec(), reverse: false })
}

/// An error with a file of patterns.
fn failed(path: &Path, e: impl Display) -> Error {
    Error::Usage(format!("{}: {e}", path.display()).into())
}

/// A pattern for each line; the last one may lack its end.
fn lines(input: impl Read, path: &Path, hex: bool) -> impl Iterator<Item = Result<Pattern>> {
    let lines = BufReader::new(input).split(b'\n');
    lines.map(move |line| given(&line.map_err(|e| failed(path, e))?, hex))
}

/// A pattern for each sequence.
fn sequences(path: &Path) -> Result<impl Iterator<Item = Result<Pattern>>> {
    let reader = match path.as_os_str() == OsStr::new("-") {
        true => needletail::parse_fastx_reader(descriptors::stdin()?),
        false => needletail::parse_fastx_file(path),
    };
    let mut reader = reader.map_err(|e| failed(path, e))?;
    Ok(std::iter::from_fn(move || {
        let record = match reader.next()? {
            Ok(record) => record,
            Err(e) => return Some(Err(failed(path, e))),
        };
        let name = record.id().split(u8::is_ascii_whitespace).next().unwrap_or_default().to_vec();
        Some(Ok(Pattern { bytes: record.seq().into_owned(), name, reverse: false }))
    }))
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

/// The reverse complement of a pattern, unless it is the same.
fn reverse(forward: Pattern) -> Option<Pattern> {
    let bytes: Vec<u8> = forward.bytes.iter().rev().map(|&c| complement(c)).collect();
    (bytes != forward.bytes).then_some(Pattern { bytes, name: forward.name, reverse: true })
}

/// The complement of a base, in the ambiguity codes of IUPAC too; whatever else is its own.
fn complement(base: u8) -> u8 {
    const PAIRS: [[u8; 2]; 6] = [*b"AT", *b"CG", *b"RY", *b"KM", *b"BV", *b"DH"];
    let upper = base.to_ascii_uppercase();
    let other = PAIRS.iter().find_map(|&[a, b]| match upper {
        b'U' => Some(b'A'),
        _ if upper == a => Some(b),
        _ if upper == b => Some(a),
        _ => None,
    });
    let other = other.unwrap_or(upper);
    if base.is_ascii_lowercase() { other.to_ascii_lowercase() } else { other }
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
        let of = |text: &[u8]| {
            lines(text, Path::new("x"), false).map(|p| p.unwrap().bytes).collect::<Vec<_>>()
        };
        assert_eq!(of(b""), [b""; 0]);
        assert_eq!(of(b"a\nb"), [b"a", b"b"]);
        assert_eq!(of(b"a\n\nb\r\n"), [&b"a"[..], b"", b"b\r"]);
    }

    #[test]
    fn strands_are_complements() {
        let strands = |bases: &[u8]| {
            let sources = vec![PatternSource::Held(vec![given(bases, false).unwrap()])];
            let patterns = Patterns { sources, hex: false, both_strands: true };
            patterns.iter().map(Result::unwrap).map(|p| (p.bytes, p.reverse)).collect::<Vec<_>>()
        };
        assert_eq!(strands(b"ACGTTn"), [(b"ACGTTn".to_vec(), false), (b"nAACGT".to_vec(), true)]);
        assert_eq!(strands(b"ACGT"), [(b"ACGT".to_vec(), false)]);
        assert_eq!(complement(b'u'), b'a');
    }
}
