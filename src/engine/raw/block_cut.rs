//! Cuts between blocks: between two records, as far as the stream has such places.
//!
//! The bytes behind a cut begin the next block. A cut costs one look backwards in each block, and a
//! copy of the shorter part.

use crate::base::allocation;
use crate::base::error::{Error, Flaw, Result};
use crate::filter::sequence::{self, Kind, LineState, OddBytes};
use crate::options::Options;
use crate::options::events::Listener;
use std::mem;

/// Rule by which the blocks of one stream are cut.
///
/// If an index of sequences is wanted, the first block shows whether the stream is one of
/// sequences. Its blocks are then cut so that no line and no record of FASTQ is torn. If there is
/// no such place, or the stream is another, a block ends after the last separator in it.
#[derive(Default)]
pub(crate) struct BlockCut {
    /// True if the next block is the first of a stream that may be one of sequences.
    undecided: bool,
    kind: Option<Kind>,
    /// True if a stream of anything but sequences is an error.
    requires_sequences: bool,
    listener: Listener,
    /// Odd bytes met in the blocks so far, and the state after them.
    odd: OddBytes,
    separator: Option<u8>,
}

/// Kind of a block of a stream of sequences, and the state at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequencesStart {
    pub kind: Kind,
    pub state: LineState,
}

/// The reason why a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockEnd {
    /// It is full, and the stream may go on. The block may be cut.
    Full,
    /// All of it is wanted now, and the stream may go on.
    Flushed,
    /// The stream has ended.
    Last,
}

/// Bytes of a run that are examined together.
const PIECE: usize = 64 << 10;

impl BlockCut {
    pub(crate) fn new(options: &Options) -> Self {
        BlockCut {
            undecided: options.looks_for_sequences(),
            kind: None,
            requires_sequences: options.looks_for_sequences() && options.require_sequences,
            listener: options.run.listener.clone(),
            odd: OddBytes::default(),
            separator: options.separator,
        }
    }

    /// Returns true if a block may end before its last byte.
    pub(crate) fn may_cut(&self) -> bool {
        self.undecided || self.kind.is_some() || self.separator.is_some()
    }

    /// Start of the next block, if the stream is one of sequences.
    pub(crate) fn start(&self) -> Option<SequencesStart> {
        self.kind.map(|kind| SequencesStart {
            kind,
            state: self.odd.state(),
        })
    }

    /// Passes a block of `len` copies of `byte`. A stream that begins with one is not one of
    /// sequences. Either every byte of it is a separator or none is, so it is not cut.
    pub(crate) fn pass_run(&mut self, byte: u8, len: usize) -> Result<()> {
        let piece = vec![byte; len.min(PIECE)];
        if mem::take(&mut self.undecided) {
            self.tell_why(&piece, true)?;
        }
        let Some(kind) = self.kind else { return Ok(()) };
        for from in (0..len).step_by(PIECE) {
            self.odd
                .add(&piece[..PIECE.min(len - from)], kind);
        }
        Ok(())
    }

    /// Warns of odd bytes in the stream, which has ended.
    pub(crate) fn warn(&self, listener: &Listener) {
        if let Some(what) = self.odd.warning() {
            listener.warn(what);
        }
    }

    /// Takes the bytes with which the following block begins off the end of this one. There are
    /// none unless it is full. Also returns the block's start if the stream is one of sequences.
    pub(crate) fn cut(
        &mut self,
        block: &mut Vec<u8>,
        end: BlockEnd,
    ) -> Result<(Vec<u8>, Option<SequencesStart>)> {
        let goes_on = end != BlockEnd::Last;
        if mem::take(&mut self.undecided) {
            self.kind = sequence::decide(block, goes_on);
            if self.kind.is_none() {
                self.tell_why(block, goes_on)?;
            }
        }
        let rest = match self
            .place(block)
            .filter(|&at| end == BlockEnd::Full && at < block.len())
        {
            Some(at) => split_off(block, at).ok_or(Flaw::NO_MEMORY)?,
            None => Vec::new(),
        };
        let start = self.start();
        if let Some(kind) = self.kind {
            self.odd.add(block, kind);
        }
        Ok((rest, start))
    }

    /// Explains why the stream that begins with `block` is not one of sequences, if it begins like
    /// one. `goes_on` is true if more follows the block.
    fn tell_why(&self, block: &[u8], goes_on: bool) -> Result<()> {
        let why = sequence::why_unlike(block, goes_on);
        if self.requires_sequences {
            let why = why.unwrap_or_else(|| "it does not begin like FASTA or FASTQ".into());
            return Err(Error::Usage(
                format!("an index of sequences was requested, but there are none: {why}").into(),
            ));
        }
        if let Some(why) = why {
            self.listener.warn(format!(
                "{why}: the index is one of its bytes, so nothing is found across line ends or in \
                 the other case; --index=sequences refuses such a file"
            ));
        }
        Ok(())
    }

    fn place(&self, block: &[u8]) -> Option<usize> {
        let between_records = self
            .kind
            .and_then(|kind| sequence::cut(block, kind, self.odd.state()));
        let behind = |separator| Some(memchr::memrchr(separator, block)? + 1);
        between_records.or_else(|| self.separator.and_then(behind))
    }
}

/// Splits like [`Vec::split_off`], but the longer part stays in its memory. Both parts take at most
/// half as much memory again.
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
