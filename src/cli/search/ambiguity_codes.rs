//! A warning about letters of patterns that may be meant to stand for several bases. A search
//! without --iupac prints it once, and takes the letters as they are.

use crate::cli::arguments::args::Talk;
use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::files::input_name::Name;
use crate::cli::search::match_lines::push_escaped;
use crate::cli::search::pattern_batch::PatternBatch;

/// Letters of nucleotides.
const BASES: &[u8] = b"ACGTUN";
/// Letters that stand for several nucleotides.
const CODES: &[u8] = b"RYSWKMBDHV";

/// Bytes of a pattern that a warning shows.
const SHOWN: usize = 40;

/// State of the warning.
pub(crate) struct AmbiguityCodes {
    /// True if the warning is wanted and was not printed yet.
    unheard: bool,
    /// True if N counts as a code. In reads of --fasta it stands for an unknown base, and does not
    /// count.
    with_n: bool,
}

impl AmbiguityCodes {
    /// Creates the state for a search of a file by sequence.
    pub(crate) fn taken_as_they_are(args: &SearchArgs) -> Self {
        let unheard = !args.iupac && !args.strict_letters && !args.talk.quiet;
        AmbiguityCodes {
            unheard,
            with_n: args.fasta.is_empty(),
        }
    }

    /// Warns of the first pattern of nucleotides that has a code.
    pub(crate) fn warn(&mut self, batch: &PatternBatch, name: &Name, talk: Talk) {
        if !self.unheard {
            return;
        }
        let mut patterns = batch.parts.iter().flat_map(|part| part.iter());
        let Some(pattern) = patterns.find(|pattern| has_codes(pattern.bytes, self.with_n)) else {
            return;
        };
        self.unheard = false;
        let mut shown = Vec::new();
        push_escaped(&mut shown, &pattern.bytes[..pattern.bytes.len().min(SHOWN)]);
        let shown = String::from_utf8_lossy(&shown);
        talk.warn(name, format_args!(
            "the pattern `{shown}` has letters that stand for several bases in IUPAC's code, and \
             was searched as it is; --iupac expands them, --strict-letters leaves out this note"
        ));
    }
}

/// True if a pattern consists of nucleotides and codes and has at least one code. N counts only if
/// `with_n` and if the pattern has other letters too.
fn has_codes(pattern: &[u8], with_n: bool) -> bool {
    let is_one_of = |letters: &[u8], byte: &u8| letters.contains(&byte.to_ascii_uppercase());
    let has_n = || {
        let count = pattern
            .iter()
            .filter(|byte| is_one_of(b"N", byte))
            .count();
        (1..pattern.len()).contains(&count)
    };
    (pattern.iter().any(|byte| is_one_of(CODES, byte)) || with_n && has_n())
        && pattern
            .iter()
            .all(|byte| is_one_of(CODES, byte) || is_one_of(BASES, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_nucleotides() {
        for pattern in ["GAYTC", "ry", "ACGTNV", "KM", "uW", "S", "bACGT", "hN"] {
            assert!(has_codes(pattern.as_bytes(), false), "{pattern}");
        }
        for pattern in ["ACGT", "acgun", "N", "", "MEK", "AC-R", "R*", "4R"] {
            assert!(!has_codes(pattern.as_bytes(), false), "{pattern}");
        }
        assert!(has_codes(b"GANTC", true) && !has_codes(b"GANTC", false));
        assert!(!has_codes(b"NNN", true) && !has_codes(b"ENL", true));
    }
}
