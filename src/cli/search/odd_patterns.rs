//! A warning about patterns with bytes that are no residues. Such a pattern may be meant for a
//! header, but a search by sequence looks in sequences alone. The warning is printed once.

use crate::cli::arguments::args::Talk;
use crate::cli::files::input_name::Name;
use crate::cli::search::match_lines::push_escaped;
use crate::cli::search::pattern_batch::PatternBatch;

/// Bytes of a pattern that a warning shows.
const SHOWN: usize = 40;

/// State of the warning.
pub(crate) struct OddPatterns {
    /// True if the warning is wanted and was not printed yet.
    unheard: bool,
}

impl OddPatterns {
    /// Creates the state for a search of a file by sequence.
    pub(crate) fn new(talk: Talk) -> Self {
        OddPatterns {
            unheard: !talk.quiet,
        }
    }

    /// Warns of the first pattern that has a byte that is no residue.
    pub(crate) fn warn(&mut self, batch: &PatternBatch, name: &Name, talk: Talk) {
        if !self.unheard {
            return;
        }
        let mut patterns = batch.parts.iter().flat_map(|part| part.iter());
        let Some(pattern) = patterns.find(|pattern| !pattern.bytes.iter().all(is_residue)) else {
            return;
        };
        self.unheard = false;
        let mut shown = Vec::new();
        push_escaped(&mut shown, &pattern.bytes[..pattern.bytes.len().min(SHOWN)]);
        let shown = String::from_utf8_lossy(&shown);
        talk.warn(
            name,
            format_args!(
                "the pattern `{shown}` has bytes that are not residues: it was searched in \
                 sequences alone; to search headers or qualities, use --index=bytes"
            ),
        );
    }
}

fn is_residue(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || b"*-.".contains(byte)
}
