//! Raw blocks, and the stream from which they are cut (`block_cut`), which may be a tar archive
//! (`stream_members`).
//!
//! A block of one repeated byte is a [`Run`]: that byte and its length. Such blocks are most of a
//! sparse file or an empty disk. They take no memory between the stages. Two runs of the same byte
//! and length have the same coded form, so that only reading them takes time.

mod block_cut;
mod stream_members;
#[cfg(test)]
mod tests;

use crate::base::error::Result;
use crate::base::threads;
use crate::bwt;
use crate::coder;
use crate::frame::{MemberColumns, StreamHasher};
use crate::options::StreamCheck;
use crate::options::events::{Listener, Step};
pub(crate) use block_cut::{BlockCut, BlockEnd, SequencesStart};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut, Read, Write};
use std::iter;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use stream_members::StreamMembers;

/// The bytes of a block.
pub(crate) enum Raw {
    Bytes(Vec<u8>),
    Run(Run),
}

/// A block of `len` copies of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    byte: u8,
    len: usize,
}

impl Run {
    /// Returns the run if all of `bytes` is one run.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let byte = *bytes.first()?;
        (coder::run_end(bytes, 0) == bytes.len()).then_some(Run {
            byte,
            len: bytes.len(),
        })
    }

    pub(crate) fn to_bytes(self) -> Result<Vec<u8>> {
        let mut bytes = bwt::zeroed(self.len)?;
        if self.byte > 0 {
            bytes.fill(self.byte);
        }
        Ok(bytes)
    }
}

impl From<Vec<u8>> for Raw {
    fn from(bytes: Vec<u8>) -> Self {
        Run::of(&bytes).map_or(Raw::Bytes(bytes), Raw::Run)
    }
}

impl Raw {
    pub(crate) fn len(&self) -> usize {
        match self {
            Raw::Bytes(bytes) => bytes.len(),
            Raw::Run(run) => run.len,
        }
    }

    /// Number of line feeds.
    pub(crate) fn line_feeds(&self) -> u64 {
        match self {
            Raw::Bytes(bytes) => line_feeds(bytes),
            Raw::Run(run) if run.byte == b'\n' => run.len as u64,
            Raw::Run(_) => 0,
        }
    }

    /// The position of a line feed by its number, counted from 0.
    pub(crate) fn line_feed(&self, number: u64) -> Option<usize> {
        match self {
            Raw::Bytes(bytes) => memchr::memchr_iter(b'\n', bytes).nth(number as usize),
            Raw::Run(run) => {
                (run.byte == b'\n' && number < run.len as u64).then_some(number as usize)
            }
        }
    }

    /// Fills `out` with the bytes from `pos` on.
    pub(crate) fn read_at(&self, pos: usize, out: &mut [u8]) {
        match self {
            Raw::Bytes(bytes) => out.copy_from_slice(&bytes[pos..pos + out.len()]),
            Raw::Run(run) => out.fill(run.byte),
        }
    }

    /// Writes the bytes of a range.
    pub(crate) fn write(&self, range: Range<usize>, output: &mut impl Write) -> io::Result<()> {
        const PIECE: usize = 256 << 10;
        match self {
            Raw::Bytes(bytes) => output.write_all(&bytes[range]),
            Raw::Run(run) => {
                let end = range.end;
                let piece = vec![run.byte; range.len().min(PIECE)];
                let mut pieces = range
                    .step_by(PIECE)
                    .map(|from| ..PIECE.min(end - from));
                pieces.try_for_each(|part| output.write_all(&piece[part]))
            }
        }
    }
}

/// Number of line feeds in `bytes`.
pub(crate) fn line_feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A block that was restored.
pub(crate) struct RestoredBlock {
    pub raw: Raw,
    /// Line feeds in it. They are counted beside other blocks, not where the bytes are given out.
    pub line_feeds: u64,
}

/// A part of the raw stream that is compressed alone.
pub(crate) struct RawBlock {
    pub raw: Raw,
    pub number: u64,
    pub offset: u64,
    /// True if the stream has no other block. Every thread can then take part in sorting this one.
    pub alone: bool,
    /// Start of the block in a stream of sequences that is to be searched.
    pub sequences: Option<SequencesStart>,
}

/// Facts about the whole raw stream for its frame: the digest, if it has one, and the members, if
/// it is a tar archive. Both are gathered by the thread that reads, while the stream is cut into
/// blocks, and are taken by the one that writes.
#[derive(Clone)]
pub(crate) struct StreamFacts(Arc<Mutex<(Option<StreamHasher>, StreamMembers)>>);

impl StreamFacts {
    pub(crate) fn new(check: StreamCheck) -> Self {
        StreamFacts(Arc::new(Mutex::new((
            check.hasher(),
            StreamMembers::default(),
        ))))
    }

    fn lock(&self) -> MutexGuard<'_, (Option<StreamHasher>, StreamMembers)> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next block.
    pub(crate) fn add(&self, raw: &Raw) -> Result<()> {
        let (hasher, members) = &mut *self.lock();
        if let Some(hasher) = hasher {
            raw.write(0..raw.len(), hasher)?;
        }
        members.add(raw.len(), |pos, out| raw.read_at(pos, out));
        Ok(())
    }

    /// The digest of all blocks, and the members of the archive that they are.
    pub(crate) fn finish(&self) -> (Option<Vec<u8>>, Option<MemberColumns>) {
        let (hasher, members) = &mut *self.lock();
        let digest = hasher.as_ref().map(StreamHasher::finish);
        (digest, mem::take(members).finish())
    }
}

/// Cuts a stream into blocks. All blocks but the last have full size, except those that
/// [`BlockCut`] cuts shorter.
pub(crate) struct RawBlocks<R> {
    input: R,
    pub block_size: u64,
    number: u64,
    offset: u64,
    /// True if the input has ended. It is not read again: a file that grows meanwhile, or a
    /// terminal, would go on after a short block.
    pub ended: bool,
    cut: BlockCut,
    /// Bytes behind the last cut, with which the next block begins.
    begun: Vec<u8>,
    /// Maximum number of blocks that are read at once with the next one.
    pub ahead: usize,
    /// Blocks that were begun in this way, each with the number of its bytes that were read.
    coming: VecDeque<(Vec<u8>, usize)>,
    listener: Listener,
    pub spare: Spare,
    /// Facts about the blocks so far.
    pub facts: StreamFacts,
}

/// Memory of earlier blocks, into which the next are read. The kernel clears fresh memory first,
/// page by page. No fresh memory is asked for as long as there is any here. Kept memory and memory
/// in use together are therefore at most the memory that was in use at one time.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    pub(crate) fn keep(&self, bytes: Vec<u8>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bytes);
    }

    /// Keeps the memory of a block that is not needed any more.
    pub(crate) fn keep_bytes(&self, raw: Raw) {
        if let Raw::Bytes(bytes) = raw {
            self.keep(bytes);
        }
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default()
    }

    /// Takes memory for `len` bytes. It holds old bytes, or zeros if it is fresh. Kept memory is
    /// freed if it is too small, or larger than a plan counts.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if there is no memory.
    pub(crate) fn take_len(&self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = self.take();
        if !(len..=len + len / 2).contains(&bytes.capacity()) {
            drop(bytes);
            return bwt::zeroed(len);
        }
        bytes.resize(len, 0);
        Ok(bytes)
    }
}

impl<R: Read> RawBlocks<R> {
    pub(crate) fn new(input: R, block_size: u64, cut: BlockCut, listener: Listener) -> Self {
        RawBlocks {
            input,
            block_size,
            number: 0,
            offset: 0,
            ended: false,
            cut,
            begun: Vec::new(),
            ahead: 0,
            coming: VecDeque::new(),
            listener,
            spare: Spare::default(),
            facts: StreamFacts::new(StreamCheck::default()),
        }
    }

    /// Reads a whole block, or the rest of the stream. Also returns the block's start if the stream
    /// is one of sequences. Memory that is not read into is never touched.
    fn read(&mut self) -> Result<(Raw, Option<SequencesStart>)> {
        let size = self.block_size as usize;
        let (mut bytes, mut len) = match self.coming.pop_front() {
            Some(begun) => begun,
            None => self.begin()?,
        };
        let mut is_run = len == 0 || Run::of(&bytes[..len]).is_some();
        (len, is_run) = self.fill(&mut bytes, len, is_run)?;
        if len == bytes.len() && len < size {
            let first = mem::replace(&mut bytes, bwt::zeroed(size)?);
            bytes[..len].copy_from_slice(&first);
            (len, is_run) = self.fill(&mut bytes, len, is_run)?;
        }
        if is_run && len > 0 {
            let run = Run {
                byte: bytes[0],
                len,
            };
            let start = self.cut.start();
            self.cut.pass_run(run.byte, len)?;
            self.spare.keep(bytes);
            return Ok((Raw::Run(run), start));
        }
        bytes.truncate(len);
        let end = if self.ended {
            BlockEnd::Last
        } else {
            BlockEnd::Full
        };
        let (rest, start) = self.cut.cut(&mut bytes, end)?;
        self.begun = rest;
        Ok((Raw::Bytes(bytes), start))
    }

    /// Takes memory for the next block, with the bytes that the block before left to it.
    fn begin(&mut self) -> Result<(Vec<u8>, usize)> {
        let size = self.block_size as usize;
        let small = threads::SMALL as usize;
        // Most first blocks are small. Getting memory for a large one takes longer than to compress
        // them.
        let start = if self.offset == 0 {
            size.min(small)
        } else {
            size
        };
        let mut bytes = self.spare.take_len(start)?;
        let begun = mem::take(&mut self.begun);
        bytes[..begun.len()].copy_from_slice(&begun);
        Ok((bytes, begun.len()))
    }

    /// Reads into `bytes` from `len` on, until they are full or the input ends. `is_run` says
    /// whether the first `len` bytes are a run. Returns the new length, and whether all these bytes
    /// are a run.
    fn fill(
        &mut self,
        bytes: &mut [u8],
        mut len: usize,
        mut is_run: bool,
    ) -> Result<(usize, bool)> {
        // Each piece is small enough to be still in the cache when it is checked for a run.
        const PIECE: usize = 256 << 10;
        while len < bytes.len() {
            let end = bytes.len().min(len + PIECE);
            let read = match is_run {
                true => self.input.read(&mut bytes[len..end]),
                false => self.read_with_next(&mut bytes[len..]),
            };
            match read {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => {
                    let from = len.saturating_sub(1);
                    len += read;
                    is_run = is_run && coder::run_end(&bytes[..len], from) == len;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok((len, is_run))
    }

    /// Reads the rest of a block, and the blocks after it if they follow at its end: at first one
    /// block, and each time one more. Returns how many bytes of the rest were read.
    fn read_with_next(&mut self, rest: &mut [u8]) -> io::Result<usize> {
        let ahead = self.number.min(self.ahead as u64) as usize;
        if ahead == 0 || self.cut.may_cut() {
            return self.input.read(rest);
        }
        while self.coming.len() < ahead
            && let Ok(bytes) = self.spare.take_len(self.block_size as usize)
        {
            self.coming.push_back((bytes, 0));
        }
        let size = rest.len();
        let next = self
            .coming
            .iter_mut()
            .map(|(bytes, len)| &mut bytes[*len..]);
        let mut parts: Vec<_> = iter::once(rest)
            .chain(next)
            .map(IoSliceMut::new)
            .collect();
        let read = self.input.read_vectored(&mut parts)?;
        let mut left = read.saturating_sub(size);
        for (bytes, len) in &mut self.coming {
            let more = left.min(bytes.len() - *len);
            *len += more;
            left -= more;
        }
        Ok(read.min(size))
    }
}

impl<R: Read> Iterator for RawBlocks<R> {
    type Item = Result<RawBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let number = self.number;
        let offset = self.offset;
        let from = Instant::now();
        match self.read() {
            Err(e) => Some(Err(e)),
            Ok((raw, _)) if raw.len() == 0 => {
                self.cut.warn(&self.listener);
                None
            }
            Ok((raw, sequences)) => {
                if let Err(e) = self.facts.add(&raw) {
                    return Some(Err(e));
                }
                self.number += 1;
                self.offset += raw.len() as u64;
                self.listener.done(
                    number,
                    raw.len() as u64,
                    [(Step::Read, from, Instant::now())],
                );
                if self.ended {
                    self.cut.warn(&self.listener);
                }
                Some(Ok(RawBlock {
                    raw,
                    number,
                    offset,
                    alone: false,
                    sequences,
                }))
            }
        }
    }
}
