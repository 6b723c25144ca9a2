//! A connection between rank 0 and another, whose ends say now and then that they are there.
//!
//! A sort may take hours in which neither end has anything to say. So each has a thread that says
//! [`ALIVE`] every few seconds while nothing else is said, and each end gives up the other after a
//! longer silence: its process has stopped, or its host is gone. A GPU that never ends its work is
//! waited for, since its process still speaks.

use super::messages::{self, ALIVE};
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How often an end says that it is there, and the silence after which the other gives it up.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    pub beat: Duration,
    pub silence: Duration,
}

impl Pulse {
    pub const USUAL: Pulse =
        Pulse { beat: Duration::from_secs(5), silence: Duration::from_secs(60) };
}

/// A connection to another rank.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// The rank of the other end.
    pub other: usize,
    pulse: Pulse,
    /// Held while a message is written.
    writing: Mutex<()>,
    /// Held while messages are read; when the other end was heard last.
    heard: Mutex<Instant>,
}

impl Connection {
    pub fn new(stream: TcpStream, other: usize, pulse: Pulse) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(pulse.silence))?;
        stream.set_write_timeout(Some(pulse.silence))?;
        stream.set_nodelay(true)?;
        keep_alive(&stream)?;
        let heard = Mutex::new(Instant::now());
        Ok(Connection { stream, other, pulse, writing: Mutex::default(), heard })
    }

    /// Writes a message, which nothing else is said within.
    pub fn say<T>(&self, message: impl FnOnce(&mut &TcpStream) -> Result<T>) -> Result<T> {
        let _writing = lock(&self.writing);
        message(&mut &self.stream)
    }

    /// Reads a message.
    pub fn hear<T>(&self, message: impl FnOnce(&mut &TcpStream) -> Result<T>) -> Result<T> {
        message(&mut &self.stream)
    }

    /// Keeps [`Connection::tend`] from reading; gives when the other end was heard last.
    pub fn listen(&self) -> MutexGuard<'_, Instant> {
        lock(&self.heard)
    }

    /// True if the other end has more to say than that it is there.
    ///
    /// # Errors
    /// The connection has ended, or the other end has been silent for too long.
    pub fn has_message(&self, heard: &mut Instant) -> Result<bool> {
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

    /// The next word, if it has come.
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

    /// Says that this end is there, unless it says something else now.
    pub fn beat(&self) {
        if let Ok(_writing) = self.writing.try_lock() {
            // Whoever reads finds out that the other end is gone.
            let _ = messages::put(&mut &self.stream, &[ALIVE]);
        }
    }

    /// Says that this end is there, and takes what the other has said of itself while nobody
    /// listens. What is wrong with the connection shows when it is used.
    fn tend(&self) {
        self.beat();
        match self.heard.try_lock() {
            Ok(mut heard) => drop(self.has_message(&mut heard)),
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {}
        }
    }

    /// Ends the connection for both.
    pub fn hang_up(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// An error of this connection, with the rank that it is about.
    pub fn failed(&self, error: Error) -> Error {
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
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Beats for connections until this is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    _end: Sender<Infallible>,
}

impl Heartbeat {
    /// For a rank 0, which listens to the others at times alone.
    pub fn start(connections: Arc<[Connection]>, pulse: Pulse) -> io::Result<Self> {
        let (end, ended) = bounded(0);
        let tend =
            move || every(pulse.beat, &ended, || connections.iter().for_each(Connection::tend));
        thread::Builder::new().name("bwz-ranks".into()).spawn(tend)?;
        Ok(Heartbeat { _end: end })
    }
}

/// Does `work`, and beats for one connection meanwhile.
pub fn with_beats<T>(connection: &Connection, work: impl FnOnce() -> T) -> T {
    let (end, ended) = bounded::<Infallible>(0);
    thread::scope(|scope| {
        // It ends with this scope, even if the work panics.
        let _end = end;
        scope.spawn(move || every(connection.pulse.beat, &ended, || connection.beat()));
        work()
    })
}

/// Does something in intervals until `ended` has no sender anymore.
fn every(interval: Duration, ended: &Receiver<Infallible>, work: impl Fn()) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(interval) {
        work();
    }
}

/// Has the system look after a while of silence if the other host is there.
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
