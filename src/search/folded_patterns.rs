//! Patterns as a search by sequence takes them: residues in upper case.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;

/// Upper case of patterns, in one stretch of memory; nothing where all are so already.
pub(crate) struct FoldedPatterns(Vec<u8>);

impl FoldedPatterns {
    /// # Errors
    /// [`Error::Usage`] where a pattern has a byte that no sequence holds.
    pub fn new(patterns: &[&[u8]]) -> Result<Self> {
        // As nearly all are; this looks at many bytes at a time.
        let is_upper = |pattern: &&[u8]| {
            pattern.iter().fold(true, |upper, byte| upper & byte.is_ascii_uppercase())
        };
        if patterns.par_iter().all(is_upper) {
            return Ok(FoldedPatterns(Vec::new()));
        }
        let wrong = |pattern: &&&[u8]| !pattern.iter().all(|&byte| RESIDUES[usize::from(byte)]);
        if let Some(pattern) = patterns.par_iter().find_first(wrong) {
            let at = pattern.iter().position(|&byte| !is_residue(byte)).unwrap_or(0);
            return Err(refusal(pattern, at));
        }
        let mut bytes = Vec::new();
        if patterns.par_iter().any(|pattern| pattern.iter().any(u8::is_ascii_lowercase)) {
            bytes.reserve_exact(patterns.iter().map(|pattern| pattern.len()).sum());
            patterns.iter().for_each(|pattern| bytes.extend_from_slice(pattern));
            bytes.make_ascii_uppercase();
        }
        Ok(FoldedPatterns(bytes))
    }

    /// The patterns that it was made of, in upper case.
    pub fn patterns<'p>(&'p self, of: &'p [&'p [u8]]) -> Cow<'p, [&'p [u8]]> {
        let mut rest = &self.0[..];
        let mut take = |len| rest.split_off(..len).unwrap_or_default();
        match self.0.is_empty() {
            true => of.into(),
            false => of.iter().map(|pattern| take(pattern.len())).collect(),
        }
    }
}

/// By byte, whether sequences may hold it.
const RESIDUES: [bool; 256] = {
    let (mut residues, mut byte) = ([false; 256], 0);
    while byte < 256 {
        residues[byte] = is_residue(byte as u8);
        byte += 1;
    }
    residues
};

/// Whether sequences may hold the byte: letters, and the signs of stops and gaps.
const fn is_residue(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'*' | b'-' | b'.')
}

fn refusal(pattern: &[u8], at: usize) -> Error {
    const SHOWN: usize = 40;
    let start =
        String::from_utf8_lossy(&pattern[..pattern.len().min(SHOWN)]).escape_debug().to_string();
    let byte = char::from(pattern[at]).escape_debug();
    let text = format!(
        "this file is searched by sequence, and no sequence holds the `{byte}` at byte {at} of the \
         pattern `{start}`; a file made with --index=bytes is searched by its bytes"
    );
    Error::Usage(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_folded_or_refused() {
        for patterns in [&[&b"acGT"[..], b"N*-.", b"t"], &[b"ACGT", b"N*-.", b"T"]] {
            let folded = FoldedPatterns::new(patterns).unwrap();
            assert_eq!(folded.patterns(patterns)[..], [&b"ACGT"[..], b"N*-.", b"T"]);
        }
        for wrong in [&b"AC GT"[..], b">chr1", b"AC\n", b"4", b"\xC1"] {
            let said = FoldedPatterns::new(&[b"AC", wrong]).err().unwrap().to_string();
            assert!(said.contains("--index=bytes"), "{said}");
        }
    }
}
