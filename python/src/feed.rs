//! Passes bytes between threads: the Python caller on one side, the work on the other. Bytes go to
//! the work in pieces, a few of which may wait. They come from the work block by block, without a
//! copy.

use crate::progress::Progress;
use crate::wait;
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use pyo3::prelude::*;
use std::io::{self, Write};
use std::mem;
use std::slice;

/// Bytes per piece, and the number of pieces that may wait.
const PIECE: usize = 256 << 10;
const PIECES: usize = 4;

/// The two ends for bytes from Python to the work.
pub fn to_work() -> (Giver, Receiver<Given>) {
    let (to, from) = bounded(PIECES);
    let giver = Giver {
        to,
        piece: Vec::new(),
    };
    (giver, from)
}

/// A message to the work. If Python's end is dropped before the end of the input, the result is no
/// longer wanted.
pub enum Given {
    Bytes(Vec<u8>),
    /// The end of a block. The sender is used when all bytes before it are written.
    EndOfBlock(Sender<()>),
    End,
}

/// Python's end, which gathers small writes into pieces.
pub struct Giver {
    to: Sender<Given>,
    piece: Vec<u8>,
}

impl Giver {
    /// Gives `bytes` to the work. False if the work has ended and takes no more.
    pub fn give(
        &mut self,
        py: Python<'_>,
        progress: &Progress,
        mut bytes: &[u8],
    ) -> PyResult<bool> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(now);
            bytes = rest;
            if self.piece.len() == PIECE && !self.pass_on(py, progress)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes on the gathered bytes, and has the work end the block. Returns when all of them are
    /// written. False if the work has ended.
    pub fn end_block(&mut self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        let (written, is_written) = bounded(1);
        if !self.pass_on(py, progress)? || !self.send(py, progress, Given::EndOfBlock(written))? {
            return Ok(false);
        }
        wait::until_telling(py, progress, |time| match is_written.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => None,
            reply => Some(reply.is_ok()),
        })
    }

    /// Passes on the gathered bytes, and reports the end of the input.
    pub fn finish(mut self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        Ok(self.pass_on(py, progress)? && self.send(py, progress, Given::End)?)
    }

    /// Passes on the gathered bytes.
    fn pass_on(&mut self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        if self.piece.is_empty() {
            return Ok(true);
        }
        let piece = mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.send(py, progress, Given::Bytes(piece))
    }

    fn send(&self, py: Python<'_>, progress: &Progress, given: Given) -> PyResult<bool> {
        let mut given = Some(given);
        wait::until_telling(py, progress, |time| {
            match self.to.send_timeout(given.take()?, time) {
                Ok(()) => Some(true),
                Err(SendTimeoutError::Disconnected(_)) => Some(false),
                Err(SendTimeoutError::Timeout(back)) => {
                    given = Some(back);
                    None
                }
            }
        })
    }
}

/// A message from the work: bytes, or its end.
enum Part {
    Bytes(Lent),
    End(bwz::Result<()>),
}

/// Bytes that the work lends until they are given back: a whole decoded block.
struct Lent {
    start: *const u8,
    len: usize,
}

// SAFETY: the bytes are only read, and their owner waits until they are given back.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// The two ends for bytes from the work to Python.
pub fn from_work() -> (Sink, Tap) {
    let (to, from) = bounded(1);
    let (back, returned) = bounded(1);
    (
        Sink { to, returned },
        Tap {
            from,
            back,
            lent: None,
            given: 0,
            ended: false,
        },
    )
}

/// The work's end.
pub struct Sink {
    to: Sender<Part>,
    returned: Receiver<()>,
}

impl Sink {
    /// Reports how the work ended. If this is not called, Python knows that the work panicked.
    pub fn end(self, end: bwz::Result<()>) {
        drop(self.to.send(Part::End(end)));
    }
}

impl Write for &Sink {
    /// Returns when Python has taken all of `bytes`, or wants no more.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let lent = Lent {
            start: bytes.as_ptr(),
            len: bytes.len(),
        };
        self.to
            .send(Part::Bytes(lent))
            .map_err(|_| gone())?;
        self.returned.recv().map_err(|_| gone())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Python's end, which copies directly out of the decoded block.
pub struct Tap {
    from: Receiver<Part>,
    back: Sender<()>,
    lent: Option<Lent>,
    given: usize,
    ended: bool,
}

/// The result of taking bytes.
pub enum Taken {
    /// The number of bytes taken; 0 at the end.
    Bytes(usize),
    Failed(bwz::Error),
}

impl Tap {
    /// Fills the start of `out`, or if that is `None` skips up to `most` bytes. Waits for at least
    /// one byte.
    pub fn take(&mut self, py: Python<'_>, out: Option<&mut [u8]>, most: usize) -> PyResult<Taken> {
        while self.lent.is_none() && !self.ended {
            let from = &self.from;
            let part = wait::until(py, |time| match from.recv_timeout(time) {
                Err(RecvTimeoutError::Timeout) => None,
                part => Some(part.ok()),
            })?;
            match part {
                Some(Part::Bytes(lent)) => (self.lent, self.given) = (Some(lent), 0),
                Some(Part::End(Ok(()))) => self.ended = true,
                Some(Part::End(Err(e))) => return Ok(Taken::Failed(e)),
                None => return Err(wait::panicked()),
            }
        }
        let Some(lent) = &self.lent else {
            return Ok(Taken::Bytes(0));
        };
        // SAFETY: the bytes stay unchanged and in place until they are given back below, or until
        // this is dropped, since the work waits for either.
        let bytes = unsafe { slice::from_raw_parts(lent.start, lent.len) };
        let bytes = &bytes[self.given..];
        let count = out
            .as_ref()
            .map_or(most, |out| out.len())
            .min(bytes.len());
        if let Some(out) = out {
            out[..count].copy_from_slice(&bytes[..count]);
        }
        self.given += count;
        if count == bytes.len() {
            self.lent = None;
            // If the work is gone, the next call for more bytes reports that.
            let _ = self.back.send(());
        }
        Ok(Taken::Bytes(count))
    }
}
