//! Reads that can be ended while they wait. A pipe may stay open for hours after one of its blocks
//! was found to be damaged, or after the output's disk became full.
//!
//! [`Waiting`] waits for bytes and for its [`Stop`] at the same time. The library says when to
//! stop: `Event::Failed`.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::time::Duration;

/// An input that may have to wait: a pipe, a terminal or the like.
pub(crate) struct Waiting {
    file: File,
    /// Receives a byte when the reads are to stop.
    stopped: PipeReader,
}

/// Ends a waiting read and all later ones.
pub(crate) struct Stop(PipeWriter);

impl Stop {
    /// Also returns the end that a waiting read polls. It gets a byte when the reads are to stop.
    pub(crate) fn new() -> io::Result<(PipeReader, Self)> {
        let (stopped, stop) = io::pipe()?;
        Ok((stopped, Stop(stop)))
    }

    pub(crate) fn now(&self) {
        let _ = (&self.0).write(&[0]);
    }
}

impl Waiting {
    pub(crate) fn new(file: File) -> io::Result<(Self, Stop)> {
        let (stopped, stop) = Stop::new()?;
        Ok((Waiting { file, stopped }, stop))
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Waits until there is something to read: bytes, the end or an error. Returns false if `time`
    /// is over before, or if a signal came.
    pub(crate) fn wait(&self, time: Option<Duration>) -> io::Result<bool> {
        let bytes = PollFd::new(&self.file, PollFlags::IN);
        let stop = PollFd::new(&self.stopped, PollFlags::IN);
        let mut both = [bytes, stop];
        let time = time.map(Timespec::try_from);
        let time = time.transpose().map_err(io::Error::other)?;
        match poll(&mut both, time.as_ref()) {
            Err(Errno::INTR) => return Ok(false),
            ready => ready?,
        };
        // If the other end was closed instead, nobody can ask to stop any more.
        if both[1].revents().contains(PollFlags::IN) {
            return Err(io::Error::other("is not read any further after an error"));
        }
        Ok(both.iter().any(|end| !end.revents().is_empty()))
    }
}

impl Read for Waiting {
    /// Reads again after a signal: its handler deals with it, and not all callers try again.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.wait(None)? {
                continue;
            }
            match self.file.read(bytes) {
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
    fn a_wait_ends_with_its_time() {
        let (source, mut to) = io::pipe().unwrap();
        let (source, _stop) = Waiting::new(OwnedFd::from(source).into()).unwrap();
        let short = Some(Duration::from_millis(1));
        assert!(!source.wait(short).unwrap());
        to.write_all(b"x").unwrap();
        assert!(source.wait(short).unwrap() && source.wait(None).unwrap());
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
