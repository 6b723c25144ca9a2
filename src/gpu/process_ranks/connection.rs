//! A connection between rank 0 and another rank. Each end regularly sends a sign of life.
//!
//! A sort may take hours in which neither end has anything to say. Each end therefore has a thread
//! that sends [`ALIVE`] every few seconds while nothing else is sent. Each end gives up the other
//! after a longer silence: then its process has stopped, or its host is gone. A GPU that never ends
//! its work is waited for, since its process still sends.

use super::messages::{self, ALIVE};
use crate::base::error::{Error, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two signs of life, and the silence after which an end gives up the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    pub beat: Duration,
    pub silence: Duration,
}

impl Pulse {
    pub(super) const USUAL: Pulse = Pulse {
        beat: Duration::from_secs(5),
        silence: Duration::from_secs(60),
    };
}

/// A connection to another rank.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// Rank of the other end.
    pub other: usize,
    pulse: Pulse,
    /// Held while a message is written.
    writing: Mutex<()>,
    /// Time at which the other end was last heard. Held while messages are read.
    heard: Mutex<Instant>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, other: usize, pulse: Pulse) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(pulse.silence))?;
        stream.set_write_timeout(Some(pulse.silence))?;
        stream.set_nodelay(true)?;
        keep_alive(&stream)?;
        let heard = Mutex::new(Instant::now());
        Ok(Connection {
            stream,
            other,
            pulse,
            writing: Mutex::default(),
            heard,
        })
    }

    /// Writes a message without interruption by other messages.
    pub(super) fn say<T>(&self, message: impl FnOnce(&mut &TcpStream) -> Result<T>) -> Result<T> {
        let _writing = lock(&self.writing);
        message(&mut &self.stream)
    }

    /// Reads a message.
    pub(super) fn hear<T>(&self, message: impl FnOnce(&mut &TcpStream) -> Result<T>) -> Result<T> {
        message(&mut &self.stream)
    }

    /// Keeps [`Connection::tend`] from reading. Returns the time at which the other end was last
    /// heard.
    pub(super) fn listen(&self) -> MutexGuard<'_, Instant> {
        lock(&self.heard)
    }

    /// Returns true if the other end has sent more than signs of life.
    ///
    /// # Errors
    /// The connection has ended, or the other end has been silent for too long.
    pub(super) fn has_message(&self, heard: &mut Instant) -> Result<bool> {
        while let Some(word) = self.peek()? {
            if word != ALIVE {
                return Ok(true);
            }
            self.hear(|from| messages::get::<1>(from))?;
            *heard = Instant::now();
        }
        if heard.elapsed() > self.pulse.silence {
            return Err(io::Error::from(ErrorKind::TimedOut).into());
        }
        Ok(false)
    }

    /// Returns the next word without taking it, if it has come.
    fn peek(&self) -> io::Result<Option<u64>> {
        let mut bytes = [0; 8];
        let peeked = {
            // A write to a stream that does not block could be cut short.
            let _writing = lock(&self.writing);
            self.stream.set_nonblocking(true)?;
            let peeked = self.stream.peek(&mut bytes);
            self.stream.set_nonblocking(false)?;
            peeked
        };
        match peeked {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok((count == bytes.len()).then_some(u64::from_le_bytes(bytes))),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Sends a sign of life, unless this end is sending something else now.
    pub(super) fn beat(&self) {
        if let Ok(_writing) = self.writing.try_lock() {
            // An error is not handled here. A reader finds out that the other end is gone.
            let _ = messages::put(&mut &self.stream, &[ALIVE]);
        }
    }

    /// Sends a sign of life, and takes those of the other end while nobody listens. A defect of the
    /// connection shows when it is used.
    fn tend(&self) {
        self.beat();
        match self.heard.try_lock() {
            Ok(mut heard) => drop(self.has_message(&mut heard)),
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {}
        }
    }

    /// Ends the connection for both ends.
    pub(super) fn hang_up(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Turns an error of this connection into one that names the other rank.
    pub(super) fn failed(&self, error: Error) -> Error {
        let other = self.other;
        let said = match error {
            Error::Io(e) => match e.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => format!(
                    "rank {other} has been silent for {:?}: it has stopped, or its host is gone",
                    self.pulse.silence
                ),
                ErrorKind::UnexpectedEof => format!("rank {other} has ended the connection"),
                _ => format!("rank {other}: {e}"),
            },
            other => return other,
        };
        Error::Device(said.into())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Sends signs of life on connections until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    _end: Sender<Infallible>,
}

impl Heartbeat {
    /// Starts the signs of life of rank 0, which listens to the others only at times.
    pub(super) fn start(connections: Arc<[Connection]>, pulse: Pulse) -> io::Result<Self> {
        let (end, ended) = bounded(0);
        let tend = move || {
            every(pulse.beat, &ended, || {
                connections.iter().for_each(Connection::tend)
            })
        };
        thread::Builder::new()
            .name("bwz-ranks".into())
            .spawn(tend)?;
        Ok(Heartbeat { _end: end })
    }
}

/// Does `work`, and sends signs of life on one connection meanwhile.
pub(super) fn with_beats<T>(connection: &Connection, work: impl FnOnce() -> T) -> T {
    let (end, ended) = bounded::<Infallible>(0);
    thread::scope(|scope| {
        // The beats end with this scope, even if the work panics.
        let _end = end;
        scope.spawn(move || every(connection.pulse.beat, &ended, || connection.beat()));
        work()
    })
}

/// Does `work` in intervals until `ended` has no sender any more.
fn every(interval: Duration, ended: &Receiver<Infallible>, work: impl Fn()) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(interval) {
        work();
    }
}

/// Lets the system check after some silence that the other host is there.
#[cfg(unix)]
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(stream, true)?;
    #[cfg(target_os = "linux")]
    {
        sockopt::set_tcp_keepidle(stream, Duration::from_secs(20))?;
        sockopt::set_tcp_keepintvl(stream, Duration::from_secs(10))?;
        sockopt::set_tcp_keepcnt(stream, 4)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_alive(_: &TcpStream) -> io::Result<()> {
    Ok(())
}
