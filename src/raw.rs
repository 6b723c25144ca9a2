//! Raw blocks, and the stream that they are cut from. A block that is one byte over and over is a
//! [`Run`]: that byte and its length.
//!
//! Such blocks are most of a sparse file or an empty disk. They take no memory between the stages,
//! and two of the same length and byte are coded alike, so that only reading them takes time.

mod block_cut;
#[cfg(test)]
mod tests;

use crate::bwt;
use crate::coder;
use crate::error::Result;
use crate::events::{Listener, Step};
use crate::threads;
pub(crate) use block_cut::{BlockCut, SequencesStart};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut, Read, Write};
use std::iter;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The bytes of a block.
pub(crate) enum Raw {
    Bytes(Vec<u8>),
    Run(Run),
}

/// `len` times a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    byte: u8,
    len: usize,
}

impl Run {
    /// The run that all of `bytes` is.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let byte = *bytes.first()?;
        (coder::run_end(bytes, 0) == bytes.len()).then_some(Run { byte, len: bytes.len() })
    }

    pub fn to_bytes(self) -> Result<Vec<u8>> {
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
    pub fn len(&self) -> usize {
        match self {
            Raw::Bytes(bytes) => bytes.len(),
            Raw::Run(run) => run.len,
        }
    }

    /// Fills `out` with the bytes from `pos` on.
    pub fn read_at(&self, pos: usize, out: &mut [u8]) {
        match self {
            Raw::Bytes(bytes) => out.copy_from_slice(&bytes[pos..pos + out.len()]),
            Raw::Run(run) => out.fill(run.byte),
        }
    }

    /// Writes the bytes of a range.
    pub fn write(&self, range: Range<usize>, output: &mut impl Write) -> io::Result<()> {
        const PIECE: usize = 256 << 10;
        match self {
            Raw::Bytes(bytes) => output.write_all(&bytes[range]),
            Raw::Run(run) => {
                let end = range.end;
                let piece = vec![run.byte; range.len().min(PIECE)];
                let mut pieces = range.step_by(PIECE).map(|from| ..PIECE.min(end - from));
                pieces.try_for_each(|part| output.write_all(&piece[part]))
            }
        }
    }
}

/// A part of the raw stream that is compressed alone.
pub(crate) struct RawBlock {
    pub raw: Raw,
    pub number: u64,
    pub offset: u64,
    /// There is no other block, so that every thread can take part in sorting this one.
    pub alone: bool,
    /// How it begins if the stream is one of sequences, which are searched.
    pub sequences: Option<SequencesStart>,
}

/// Cuts a stream into blocks, of which only the last is short, but where [`BlockCut`] says.
pub(crate) struct RawBlocks<R> {
    input: R,
    pub block_size: u64,
    number: u64,
    offset: u64,
    /// The input has ended. It is not asked again: a file that grows meanwhile, or a terminal,
    /// would go on behind a short block.
    pub ended: bool,
    cut: BlockCut,
    /// What a cut left to the next block.
    begun: Vec<u8>,
    /// Blocks that may be read at once with the next one.
    pub ahead: usize,
    /// Those that were, each with how much of it was read.
    coming: VecDeque<(Vec<u8>, usize)>,
    listener: Listener,
    pub spare: Spare,
}

/// Memory that blocks were in and the next are read into: fresh memory is cleared by the kernel
/// first, page by page. As long as there is any, no more is asked for, so that what is kept and
/// what is in use are together no more than was in use once.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    pub fn keep(&self, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }

    /// Keeps the memory of a block that is not needed any more.
    pub fn keep_bytes(&self, raw: Raw) {
        if let Raw::Bytes(bytes) = raw {
            self.keep(bytes);
        }
    }

    pub fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Memory for `len` bytes, which hold whatever was there before, or zeros where it is fresh.
    /// The memory that was kept is freed where it is too small, or larger than a plan counts.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) where there is no memory.
    pub fn take_len(&self, len: usize) -> Result<Vec<u8>> {
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
    pub fn new(input: R, block_size: u64, cut: BlockCut, listener: Listener) -> Self {
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
        }
    }

    /// Reads a whole block, or what is left, and says how it begins in a stream of sequences.
    /// Memory that is not read into is never touched.
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
            let (run, start) = (Run { byte: bytes[0], len }, self.cut.start());
            self.cut.pass_run(run.byte, len);
            self.spare.keep(bytes);
            return Ok((Raw::Run(run), start));
        }
        bytes.truncate(len);
        let (rest, start) = self.cut.cut(&mut bytes, self.ended)?;
        self.begun = rest;
        Ok((Raw::Bytes(bytes), start))
    }

    /// Memory for the next block, with the bytes that the one before left to it.
    fn begin(&mut self) -> Result<(Vec<u8>, usize)> {
        let (size, small) = (self.block_size as usize, threads::SMALL as usize);
        // Most first blocks are small, and then the memory for a large one takes longer to get than
        // they to be compressed.
        let start = if self.offset == 0 { size.min(small) } else { size };
        let mut bytes = self.spare.take_len(start)?;
        let begun = mem::take(&mut self.begun);
        bytes[..begun.len()].copy_from_slice(&begun);
        Ok((bytes, begun.len()))
    }

    /// Reads behind the first `len` of `bytes`, which may be a run, until they are full or nothing
    /// is left. Says how many there are then, and whether they are a run.
    fn fill(
        &mut self,
        bytes: &mut [u8],
        mut len: usize,
        mut is_run: bool,
    ) -> Result<(usize, bool)> {
        // A run is seen while it is still in the cache.
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

    /// Reads the rest of a block, and behind it into the next ones where they begin at its end: at
    /// first one, and each time more of them. Says how much of the rest was read.
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
        let next = self.coming.iter_mut().map(|(bytes, len)| &mut bytes[*len..]);
        let mut parts: Vec<_> = iter::once(rest).chain(next).map(IoSliceMut::new).collect();
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
        let (number, offset, from) = (self.number, self.offset, Instant::now());
        match self.read() {
            Err(e) => Some(Err(e)),
            Ok((raw, _)) if raw.len() == 0 => {
                self.cut.warn(&self.listener);
                None
            }
            Ok((raw, sequences)) => {
                self.number += 1;
                self.offset += raw.len() as u64;
                self.listener.done(number, [(Step::Read, from, Instant::now())]);
                if self.ended {
                    self.cut.warn(&self.listener);
                }
                Some(Ok(RawBlock { raw, number, offset, alone: false, sequences }))
            }
        }
    }
}
