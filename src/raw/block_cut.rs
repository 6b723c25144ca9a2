//! Where a block ends that others follow: between records, as far as the stream has such places.
//!
//! The bytes behind the cut begin the next block. It costs one look backwards in each block, and a
//! copy of the shorter part.

use crate::allocation;
use crate::error::{Error, Flaw, Result};
use crate::events::Listener;
use crate::options::Options;
use crate::sequence::{self, Kind, LineState, OddBytes};
use std::mem;

/// How the blocks of one stream are cut.
///
/// Where an index of sequences is wanted, the first block says whether the stream is one of
/// sequences; then blocks are cut where no line and no record of FASTQ is torn. Where that finds no
/// place, or the stream is another, a block ends behind the last separator that it holds.
#[derive(Default)]
pub(crate) struct BlockCut {
    /// The next block is the first of a stream that may be one of sequences.
    undecided: bool,
    kind: Option<Kind>,
    /// Anything but sequences is an error.
    requires_sequences: bool,
    listener: Listener,
    /// Odd bytes met in the blocks so far, and the state behind them.
    odd: OddBytes,
    separator: Option<u8>,
}

/// Kind of a block of a stream of sequences, and the state at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequencesStart {
    pub kind: Kind,
    pub state: LineState,
}

/// Bytes of a run that are looked at together.
const PIECE: usize = 64 << 10;

impl BlockCut {
    pub fn new(options: &Options) -> Self {
        BlockCut {
            undecided: options.looks_for_sequences(),
            kind: None,
            requires_sequences: options.looks_for_sequences() && options.require_sequences,
            listener: options.listener.clone(),
            odd: OddBytes::default(),
            separator: options.separator,
        }
    }

    /// Whether a block may end before its last byte.
    pub fn may_cut(&self) -> bool {
        self.undecided || self.kind.is_some() || self.separator.is_some()
    }

    /// How the next block begins, if the stream is one of sequences.
    pub fn start(&self) -> Option<SequencesStart> {
        self.kind.map(|kind| SequencesStart { kind, state: self.odd.state() })
    }

    /// Passes a block that is `len` times `byte`: a stream that begins so is none of sequences, and
    /// either each byte is a separator or none.
    pub fn pass_run(&mut self, byte: u8, len: usize) -> Result<()> {
        let piece = vec![byte; len.min(PIECE)];
        if mem::take(&mut self.undecided) {
            self.tell_why(&piece, true)?;
        }
        let Some(kind) = self.kind else { return Ok(()) };
        for from in (0..len).step_by(PIECE) {
            self.odd.add(&piece[..PIECE.min(len - from)], kind);
        }
        Ok(())
    }

    /// Warns of what is odd in the stream, which has ended.
    pub fn warn(&self, listener: &Listener) {
        if let Some(what) = self.odd.warning() {
            listener.warn(what);
        }
    }

    /// Takes the bytes off the end of the next block that the one after it begins with; none where
    /// it is the last. Also gives how the block begins if the stream is one of sequences.
    pub fn cut(
        &mut self,
        block: &mut Vec<u8>,
        is_last: bool,
    ) -> Result<(Vec<u8>, Option<SequencesStart>)> {
        if mem::take(&mut self.undecided) {
            self.kind = sequence::decide(block, !is_last);
            if self.kind.is_none() {
                self.tell_why(block, !is_last)?;
            }
        }
        let rest = match self.place(block).filter(|&at| !is_last && at < block.len()) {
            Some(at) => split_off(block, at).ok_or(Flaw::NO_MEMORY)?,
            None => Vec::new(),
        };
        let start = self.start();
        if let Some(kind) = self.kind {
            self.odd.add(block, kind);
        }
        Ok((rest, start))
    }

    /// Says why the stream that begins with `block`, and goes on behind it or not, is none of
    /// sequences, if it begins like one.
    fn tell_why(&self, block: &[u8], goes_on: bool) -> Result<()> {
        let why = sequence::why_unlike(block, goes_on);
        if self.requires_sequences {
            let why = why.unwrap_or_else(|| "it does not begin as FASTA or FASTQ does".into());
            return Err(Error::Usage(
                format!("an index of sequences is asked for, but there are none: {why}").into(),
            ));
        }
        if let Some(why) = why {
            self.listener.warn(format!(
                "{why}: the index is one of its bytes, by which nothing is found across the ends \
                 of lines, or in the other case; --index=sequences refuses such a file"
            ));
        }
        Ok(())
    }

    fn place(&self, block: &[u8]) -> Option<usize> {
        let between_records =
            self.kind.and_then(|kind| sequence::cut(block, kind, self.odd.state()));
        let behind = |separator| Some(memchr::memrchr(separator, block)? + 1);
        between_records.or_else(|| self.separator.and_then(behind))
    }
}

/// As [`Vec::split_off`], where the longer part stays in its memory, so that both take at most half
/// as much again.
fn split_off(bytes: &mut Vec<u8>, at: usize) -> Option<Vec<u8>> {
    if at >= bytes.len() / 2 {
        let rest = allocation::copied(&bytes[at..])?;
        bytes.truncate(at);
        return Some(rest);
    }
    let first = allocation::copied(&bytes[..at])?;
    bytes.drain(..at);
    Some(mem::replace(bytes, first))
}
