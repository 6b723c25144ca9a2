//! The patterns to search for: words, lines, hexadecimal digits, sequences.

use super::files::Name;
use super::input::Input;
use super::search_args::SearchArgs;
use bwz::{Error, Result};
use std::ffi::OsStr;
use std::io::Read;
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

/// The patterns and the files that the arguments name.
pub fn gather(args: &SearchArgs) -> Result<(Vec<Pattern>, Vec<PathBuf>)> {
    let named = args.patterns.is_empty() && args.lines.is_empty() && args.fasta.is_empty();
    let (first, files) = args.words.split_at(usize::from(named));
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    if files.is_empty() {
        return Err(Error::Usage("name the files to search, behind the pattern".into()));
    }
    let mut patterns = Vec::new();
    for word in first.iter().chain(&args.patterns) {
        patterns.push(given(word.as_bytes(), args.hex)?);
    }
    for file in &args.lines {
        lines(&read(file)?, args.hex, &mut patterns)?;
    }
    for file in &args.fasta {
        sequences(file, &mut patterns)?;
    }
    if args.revcomp {
        patterns = patterns.into_iter().flat_map(both_strands).collect();
    }
    Ok((patterns, files))
}

fn given(word: &[u8], hex: bool) -> Result<Pattern> {
    let bytes = if hex { from_hex(word)? } else { word.to_vec() };
    Ok(Pattern { bytes, name: word.to_vec(), reverse: false })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let failed = |e: Error| Error::Usage(format!("{}: {e}", path.display()).into());
    let mut input = Input::open(&Name::from(path), true).map_err(failed)?;
    input.source.read_to_end(&mut bytes).map_err(|e| failed(e.into()))?;
    Ok(bytes)
}

/// A pattern for each line; the last one may lack its end.
fn lines(text: &[u8], hex: bool, patterns: &mut Vec<Pattern>) -> Result<()> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if !text.is_empty() {
        for line in text.split(|&c| c == b'\n') {
            patterns.push(given(line, hex)?);
        }
    }
    Ok(())
}

fn sequences(path: &Path, patterns: &mut Vec<Pattern>) -> Result<()> {
    let failed = |e| Error::Usage(format!("{}: {e}", path.display()).into());
    let mut reader = match path.as_os_str() == OsStr::new("-") {
        true => needletail::parse_fastx_stdin(),
        false => needletail::parse_fastx_file(path),
    }
    .map_err(failed)?;
    while let Some(record) = reader.next() {
        let record = record.map_err(failed)?;
        let name = record.id().split(u8::is_ascii_whitespace).next().unwrap_or_default().to_vec();
        patterns.push(Pattern { bytes: record.seq().into_owned(), name, reverse: false });
    }
    Ok(())
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

/// A pattern and its reverse complement, unless they are the same.
fn both_strands(forward: Pattern) -> impl Iterator<Item = Pattern> {
    let bytes: Vec<u8> = forward.bytes.iter().rev().map(|&c| complement(c)).collect();
    let differs = bytes != forward.bytes;
    let reverse = differs.then(|| Pattern { bytes, name: forward.name.clone(), reverse: true });
    std::iter::once(forward).chain(reverse)
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
            let mut patterns = Vec::new();
            lines(text, false, &mut patterns).unwrap();
            patterns.into_iter().map(|p| p.bytes).collect::<Vec<_>>()
        };
        assert_eq!(of(b""), [b""; 0]);
        assert_eq!(of(b"a\nb"), [b"a", b"b"]);
        assert_eq!(of(b"a\n\nb\r\n"), [&b"a"[..], b"", b"b\r"]);
    }

    #[test]
    fn strands_are_complements() {
        let strands = |bases: &[u8]| {
            let both = both_strands(given(bases, false).unwrap());
            both.map(|p| (p.bytes, p.reverse)).collect::<Vec<_>>()
        };
        assert_eq!(strands(b"ACGTTn"), [(b"ACGTTn".to_vec(), false), (b"nAACGT".to_vec(), true)]);
        assert_eq!(strands(b"ACGT"), [(b"ACGT".to_vec(), false)]);
        assert_eq!(complement(b'u'), b'a');
    }
}
