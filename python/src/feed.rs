//! Bytes handed from thread to thread in pieces, a few of which wait: the caller of Python on one
//! side, the work on the other.

use crate::wait;
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use pyo3::prelude::*;
use std::io::{self, Read, Write};
use std::mem;

/// Bytes of a piece, and pieces that wait.
pub const PIECE: usize = 256 << 10;
const PIECES: usize = 4;

/// The two ends for bytes from Python to the work.
pub fn to_work() -> (Giver, Taker) {
    let (to, from) = bounded(PIECES);
    (Giver { to, piece: Vec::new() }, Taker { from, piece: Vec::new(), given: 0, ended: false })
}

/// Python's end: gathers small writes into pieces.
pub struct Giver {
    to: Sender<Vec<u8>>,
    piece: Vec<u8>,
}

impl Giver {
    /// Gives `bytes`; false where the work has ended, and takes no more.
    pub fn give(&mut self, py: Python<'_>, mut bytes: &[u8]) -> PyResult<bool> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(now);
            bytes = rest;
            if self.piece.len() == PIECE && !self.pass_on(py)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes on what is gathered, and that no more comes.
    pub fn finish(mut self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.pass_on(py)? && self.send(py, Vec::new())?)
    }

    /// Passes on what is gathered.
    pub fn pass_on(&mut self, py: Python<'_>) -> PyResult<bool> {
        if self.piece.is_empty() {
            return Ok(true);
        }
        let piece = mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.send(py, piece)
    }

    fn send(&mut self, py: Python<'_>, piece: Vec<u8>) -> PyResult<bool> {
        let mut piece = Some(piece);
        wait::until(py, |time| match self.to.send_timeout(piece.take()?, time) {
            Ok(()) => Some(true),
            Err(SendTimeoutError::Disconnected(_)) => Some(false),
            Err(SendTimeoutError::Timeout(back)) => {
                piece = Some(back);
                None
            }
        })
    }
}

/// The work's end. An empty piece ends it; where none came before Python's end is dropped, it
/// fails.
pub struct Taker {
    from: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    given: usize,
    ended: bool,
}

impl Read for Taker {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.piece.len() && !self.ended {
            let abandoned = |_| io::Error::other("abandoned");
            (self.piece, self.given) = (self.from.recv().map_err(abandoned)?, 0);
            self.ended = self.piece.is_empty();
        }
        let count = out.len().min(self.piece.len() - self.given);
        out[..count].copy_from_slice(&self.piece[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// What comes from the work: bytes, or how it ended.
enum Part {
    Bytes(Vec<u8>),
    End(bwz::Result<()>),
}

/// The two ends for bytes from the work to Python.
pub fn from_work() -> (Sink, Tap) {
    let (to, from) = bounded(PIECES);
    (Sink(to), Tap { from, piece: Vec::new(), given: 0, ended: false })
}

/// The work's end.
pub struct Sink(Sender<Part>);

impl Sink {
    /// Says how the work ended; without this, Python knows that it panicked.
    pub fn end(self, end: bwz::Result<()>) {
        drop(self.0.send(Part::End(end)));
    }
}

impl Write for &Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        let sent = self.0.send(Part::Bytes(piece.to_vec()));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Python's end.
pub struct Tap {
    from: Receiver<Part>,
    piece: Vec<u8>,
    given: usize,
    ended: bool,
}

/// How taking bytes ended.
pub enum Taken {
    /// So many; 0 at the end.
    Bytes(usize),
    Failed(bwz::Error),
}

impl Tap {
    /// Fills the start of `out`, or with `None` passes over up to `most` bytes; waits for one.
    pub fn take(&mut self, py: Python<'_>, out: Option<&mut [u8]>, most: usize) -> PyResult<Taken> {
        while self.given == self.piece.len() && !self.ended {
            let from = &self.from;
            let part = wait::until(py, |time| match from.recv_timeout(time) {
                Err(RecvTimeoutError::Timeout) => None,
                part => Some(part.ok()),
            })?;
            match part {
                Some(Part::Bytes(piece)) => (self.piece, self.given) = (piece, 0),
                Some(Part::End(Ok(()))) => self.ended = true,
                Some(Part::End(Err(e))) => return Ok(Taken::Failed(e)),
                None => return Err(wait::panicked()),
            }
        }
        let most = out.as_ref().map_or(most, |out| out.len());
        let count = most.min(self.piece.len() - self.given);
        if let Some(out) = out {
            out[..count].copy_from_slice(&self.piece[self.given..self.given + count]);
        }
        self.given += count;
        Ok(Taken::Bytes(count))
    }
}
