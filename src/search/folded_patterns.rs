//! Patterns folded for a search by sequence: letters become capitals, and in patterns of
//! nucleotides T and U become one letter. Other bytes are searched as they are.

use super::letter_classes::is_nucleotide;
use crate::base::error::{Error, Result};
use crate::options::Letters;
use rayon::prelude::*;
use std::borrow::Cow;

/// Folded patterns, one after the other. Empty if all patterns are already folded.
#[derive(Default)]
pub(crate) struct FoldedPatterns(Vec<u8>);

impl FoldedPatterns {
    /// Folds patterns.
    ///
    /// # Errors
    /// [`Error::Usage`] if a pattern has a byte that is not searched by sequence. With
    /// [`Letters::Iupac`], also if it has a letter that is not one of IUPAC.
    pub(super) fn new(patterns: &[&[u8]], letters: Letters) -> Result<Self> {
        // Nearly all patterns are ready.
        let ready = if letters == Letters::Exact {
            &CAPITALS
        } else {
            &NUCLEOTIDES_WITHOUT_U
        };
        let is_ready = |pattern: &&[u8]| {
            pattern
                .iter()
                .fold(true, |all, &byte| all & ready[usize::from(byte)])
        };
        if patterns.par_iter().all(is_ready) {
            return Ok(FoldedPatterns(Vec::new()));
        }
        let wrong = |pattern: &&&[u8]| {
            !pattern
                .iter()
                .all(|&byte| SEARCHED[usize::from(byte)])
        };
        if let Some(pattern) = patterns.par_iter().find_first(wrong) {
            let at = pattern
                .iter()
                .position(|&byte| !is_searched(byte))
                .unwrap_or(0);
            return Err(refusal(pattern, at));
        }
        let unknown =
            |byte: &u8| letters == Letters::Iupac && !is_nucleotide(byte.to_ascii_uppercase());
        if let Some(pattern) = patterns
            .par_iter()
            .find_first(|p| p.iter().any(unknown))
        {
            let at = pattern.iter().position(unknown).unwrap_or(0);
            return Err(no_iupac(pattern, at));
        }
        let mut bytes = Vec::with_capacity(patterns.iter().map(|pattern| pattern.len()).sum());
        for pattern in patterns {
            let from = bytes.len();
            bytes.extend_from_slice(pattern);
            bytes[from..].make_ascii_uppercase();
            if letters != Letters::Exact {
                write_letters(&mut bytes[from..]);
            }
        }
        Ok(FoldedPatterns(bytes))
    }

    /// Returns the folded form of the patterns that it was made of.
    pub(super) fn patterns<'p>(&'p self, of: &'p [&'p [u8]]) -> Cow<'p, [&'p [u8]]> {
        let mut rest = &self.0[..];
        let mut take = |len| rest.split_off(..len).unwrap_or_default();
        match self.0.is_empty() {
            true => of.into(),
            false => of
                .iter()
                .map(|pattern| take(pattern.len()))
                .collect(),
        }
    }
}

/// Writes T for both T and U in a pattern of nucleotides. In other patterns T and U each stand for
/// themselves, which is written as a small letter.
fn write_letters(pattern: &mut [u8]) {
    let of_nucleotides = pattern
        .iter()
        .all(|&letter| is_nucleotide(letter));
    for letter in pattern {
        match letter {
            b'U' if of_nucleotides => *letter = b'T',
            b'T' | b'U' if !of_nucleotides => letter.make_ascii_lowercase(),
            _ => {}
        }
    }
}

static CAPITALS: [bool; 256] = {
    let mut capitals = [false; 256];
    let mut byte = b'A';
    while byte <= b'Z' {
        capitals[byte as usize] = true;
        byte += 1;
    }
    capitals
};

/// For each byte, true if it is a letter of nucleotides that has the same meaning in every pattern.
static NUCLEOTIDES_WITHOUT_U: [bool; 256] = {
    const LETTERS: &[u8] = b"ACGTRYSWKMBDHVN";
    let mut all = [false; 256];
    let mut n = 0;
    while n < LETTERS.len() {
        all[LETTERS[n] as usize] = true;
        n += 1;
    }
    all
};

/// For each byte, true if it is searched by sequence.
const SEARCHED: [bool; 256] = {
    let mut searched = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        searched[byte] = is_searched(byte as u8);
        byte += 1;
    }
    searched
};

/// Returns true if the byte can be found in the text of sequences. Blanks and line feeds belong to
/// the layout, which is stored apart. Bytes above 127 also stand for headers and qualities.
const fn is_searched(byte: u8) -> bool {
    byte < 128 && !matches!(byte, b' ' | b'\t'..=b'\r')
}

fn refusal(pattern: &[u8], at: usize) -> Error {
    let (start, byte) = shown(pattern, at);
    let why = match pattern[at] {
        128.. => "bytes above 127 are not searched in sequences",
        _ => "blanks and line ends are not part of sequences, and matches cross them",
    };
    let text = format!(
        "this file is searched by sequence: {why}; the pattern `{start}` has `{byte}` at byte {at}; \
         a file made with --index=bytes is searched by its bytes"
    );
    Error::Usage(text.into())
}

fn no_iupac(pattern: &[u8], at: usize) -> Error {
    let (start, byte) = shown(pattern, at);
    let text = format!(
        "with --iupac a pattern has letters of nucleotides alone, ACGTU and RYSWKMBDHVN; `{byte}` \
         at byte {at} of the pattern `{start}` is not one"
    );
    Error::Usage(text.into())
}

/// The start of a pattern and the byte at `at`, escaped for a message.
fn shown(pattern: &[u8], at: usize) -> (String, String) {
    const SHOWN: usize = 40;
    let start = String::from_utf8_lossy(&pattern[..pattern.len().min(SHOWN)]);
    (
        start.escape_debug().to_string(),
        pattern[at].escape_ascii().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_folded_or_refused() {
        for patterns in [&[&b"acGT"[..], b"N*-.", b"g"], &[b"ACGT", b"N*-.", b"G"]] {
            for letters in [Letters::Nucleotides, Letters::Exact] {
                let folded = FoldedPatterns::new(patterns, letters).unwrap();
                assert_eq!(folded.patterns(patterns)[..], [&b"ACGT"[..], b"N*-.", b"G"]);
            }
        }
        let odd = [&b"a?u"[..], b">chr1", b"4", b"\x00\x7F"];
        let folded = FoldedPatterns::new(&odd, Letters::Nucleotides).unwrap();
        assert_eq!(
            folded.patterns(&odd)[..],
            [&b"A?u"[..], b">CHR1", b"4", b"\x00\x7F"]
        );
        for wrong in [
            &b"AC GT"[..],
            b"\t",
            b"AC\n",
            b"\x0B",
            b"\x0C",
            b"A\r",
            b"\xC1",
        ] {
            let said = FoldedPatterns::new(&[b"AC", wrong], Letters::Nucleotides);
            let said = said.err().unwrap().to_string();
            assert!(said.contains("--index=bytes"), "{said}");
        }
    }

    #[test]
    fn uracil_is_thymine_in_nucleotides_alone() {
        let patterns = [&b"ACGU"[..], b"MTUK", b"MTUL", b"u-t", b"UL"];
        for (letters, wanted) in [
            (
                Letters::Nucleotides,
                [&b"ACGT"[..], b"MTTK", b"MtuL", b"u-t", b"uL"],
            ),
            (Letters::Exact, [b"ACGU", b"MTUK", b"MTUL", b"U-T", b"UL"]),
        ] {
            let folded = FoldedPatterns::new(&patterns, letters).unwrap();
            assert_eq!(folded.patterns(&patterns)[..], wanted);
        }
        let folded = FoldedPatterns::new(&patterns[..2], Letters::Iupac).unwrap();
        assert_eq!(folded.patterns(&patterns[..2])[..], [&b"ACGT"[..], b"MTTK"]);
        for wrong in [&b"ACE"[..], b"AC-", b"*", b"acgtl"] {
            let said = FoldedPatterns::new(&[wrong], Letters::Iupac)
                .err()
                .unwrap()
                .to_string();
            assert!(said.contains("--iupac"), "{said}");
        }
    }
}
