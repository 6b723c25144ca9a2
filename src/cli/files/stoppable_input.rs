//! Reads that can be ended while they wait. A pipe may stay open for hours after one of its blocks
//! was found to be damaged, or after the output's disk became full.
//!
//! [`Waiting`] waits for bytes and for its [`Stop`] at the same time. The library says when to
//! stop: `Event::Failed`.

use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};

/// An input that may have to wait: a pipe, a terminal or the like.
pub(crate) struct Waiting {
    file: File,
    /// Receives a byte when the reads are to stop.
    stopped: PipeReader,
}

/// Ends a waiting read and all later ones.
pub(crate) struct Stop(PipeWriter);

impl Stop {
    pub(crate) fn now(&self) {
        let _ = (&self.0).write(&[0]);
    }
}

impl Waiting {
    pub(crate) fn new(file: File) -> io::Result<(Self, Stop)> {
        let (stopped, stop) = io::pipe()?;
        Ok((Waiting { file, stopped }, Stop(stop)))
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Waits until there is something to read: bytes, the end or an error.
    fn wait(&self) -> io::Result<()> {
        let bytes = PollFd::new(&self.file, PollFlags::IN);
        let stop = PollFd::new(&self.stopped, PollFlags::IN);
        let mut both = [bytes, stop];
        poll(&mut both, None)?;
        // If the other end was closed instead, nobody can ask to stop any more.
        if both[1].revents().contains(PollFlags::IN) {
            return Err(io::Error::other("is not read any further after an error"));
        }
        Ok(())
    }
}

impl Read for Waiting {
    /// Reads again after a signal: its handler deals with it, and not all callers try again.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.wait().and_then(|()| self.file.read(bytes)) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn bytes_and_the_end_come_as_ever() {
        let (source, mut to) = io::pipe().unwrap();
        let (mut source, _stop) = Waiting::new(OwnedFd::from(source).into()).unwrap();
        to.write_all(b"some bytes").unwrap();
        drop(to);
        let mut read = String::new();
        source.read_to_string(&mut read).unwrap();
        assert_eq!(read, "some bytes");
    }

    #[test]
    fn a_read_that_waits_ends() {
        let (source, _to) = io::pipe().unwrap();
        let (mut source, stop) = Waiting::new(OwnedFd::from(source).into()).unwrap();
        let reader = thread::spawn(move || [(); 2].map(|()| source.read(&mut [0])));
        thread::sleep(Duration::from_millis(20));
        stop.now();
        assert!(reader.join().unwrap().iter().all(Result::is_err));
    }
}
