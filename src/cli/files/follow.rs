//! `bwz tail -f`: the end of a file that grows, and then all that is added to it.
//!
//! A file whose frames are complete is read at its end by position. One whose last frame is still
//! being written (`--flush-every`) has no table of its blocks yet, so it is decoded from its start.
//! From there on a thread of the library reads, and waits at the end of the file. A block is
//! written as soon as all of it has come.

use crate::cli::arguments::part_args::Follow;
use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::span::{Position, Span};
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::output::Output;
use crate::cli::files::stoppable_input::Stop;
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::io_errors::while_reading;
use crate::cli::report::work_estimate::WorkEstimate;
use bwz::{Archive, Error, Options, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::{self, File, Metadata};
use std::io::{self, PipeReader, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Time between two looks at a file that does not grow.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// Unit in which the end of a file is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Lines,
    Bytes,
}

/// The request to follow a file.
#[derive(Clone, Copy)]
pub(crate) struct Following {
    /// The end of the file that is written first.
    pub end: Span,
    pub unit: Unit,
    pub follow: Follow,
    pub talk: Talk,
}

/// Writes the end of the file and all that is added to it. This ends with an error, or when nobody
/// reads the output any more.
pub(crate) fn run(
    name: &Name,
    request: Following,
    options: &Options,
    event_lines: &EventLines,
) -> Result<()> {
    let mut file = input::open_seekable(name)?;
    let output = Output::stdout(Some(&file.metadata()?))?;
    let mut shown = Shown {
        output,
        start: request.end.start(),
        unit: request.unit,
        kept: Vec::new(),
        is_passing: false,
    };
    let end = shown.write_end(&file, options)?;
    file.seek(SeekFrom::Start(end.unwrap_or(0)))?;
    let shown = Mutex::new(shown);
    loop {
        let steps = WorkEstimate::default();
        let (stopped, stop) = Stop::new()?;
        let lines = event_lines.moving(steps.clone());
        let options = lines.add_to(options, name, request.talk, Some(stop));
        let mut growing = Growing {
            file,
            name,
            follow: request.follow,
            steps,
            stopped,
            shown: &shown,
            change: None,
        };
        let end = bwz::decompress(&mut growing, Decoded(&shown), &options);
        let Some(change) = growing.change else {
            return end.map(|_| ());
        };
        lock(&shown).is_passing = true;
        file = growing.file;
        match change {
            Change::Truncated => {
                request.talk.warn(name, "file truncated");
                file.seek(SeekFrom::Start(0))?;
            }
            Change::Replaced(new) => {
                let said = "has been replaced;  following new file";
                request.talk.warn(name, said);
                file = new;
            }
        }
    }
}

/// A change of a file, after which it is read from its start.
enum Change {
    Truncated,
    Replaced(File),
}

/// A file that ends only if it is truncated or replaced.
struct Growing<'a> {
    file: File,
    name: &'a Name,
    follow: Follow,
    steps: WorkEstimate,
    /// Receives a byte when the reads are to stop.
    stopped: PipeReader,
    shown: &'a Mutex<Shown>,
    change: Option<Change>,
}

impl Growing<'_> {
    /// Looks for a change of the file, all of which was read.
    fn find_change(&mut self) -> io::Result<Option<Change>> {
        if self.file.metadata()?.len() < self.file.stream_position()? {
            return Ok(Some(Change::Truncated));
        }
        let Name::File(path) = self.name else {
            return Ok(None);
        };
        if self.follow == Follow::Descriptor {
            return Ok(None);
        }
        // Between the removal of a file and the arrival of the next there is none.
        let Ok(there) = fs::metadata(path) else {
            return Ok(None);
        };
        if input::is_same(&there, &self.file.metadata()?) || !Metadata::is_file(&there) {
            return Ok(None);
        }
        Ok(Some(Change::Replaced(File::open(path)?)))
    }

    /// Waits a while, but not if the output is closed or the work has failed.
    fn wait(&self) -> io::Result<()> {
        let output = io::stdout();
        let mut ends = [
            PollFd::new(&output, PollFlags::empty()),
            PollFd::new(&self.stopped, PollFlags::IN),
        ];
        match poll(&mut ends, Some(&LOOK)) {
            Err(Errno::INTR) => return Ok(()),
            ready => ready?,
        };
        if ends[0].revents().contains(PollFlags::ERR) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if ends[1].revents().contains(PollFlags::IN) {
            return Err(io::Error::other("is not read any further after an error"));
        }
        Ok(())
    }
}

impl Read for Growing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(out) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) => {}
                done => return done.map_err(while_reading),
            }
            if self.steps.are_written() {
                lock(self.shown).pass()?;
                self.change = self.find_change().map_err(while_reading)?;
            }
            if self.change.is_some() {
                return Ok(0);
            }
            self.wait()?;
        }
    }
}

/// The output, which gets the end of what is there and all that comes later.
struct Shown {
    output: Output,
    /// The start of the end, from which on the file is written.
    start: Position,
    unit: Unit,
    /// The last lines or bytes so far, if the start is counted from the end.
    kept: Vec<u8>,
    /// True if the start is passed, so that everything is written.
    is_passing: bool,
}

impl Shown {
    /// Writes the end of a file if its last frame is complete. Returns the place behind that frame.
    fn write_end(&mut self, file: &File, options: &Options) -> Result<Option<u64>> {
        let mut archive = match Archive::open(file.try_clone()?, options) {
            Ok(archive) => archive,
            // A frame that is being written has no end.
            Err(Error::Format { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let end = archive
            .frames()
            .last()
            .map(|frame| frame.coded.end);
        let size = archive.raw_size();
        let count = match self.unit {
            Unit::Bytes => size,
            Unit::Lines => archive.lines()?.count()?,
        };
        if let Position::FromStart(from) = self.start
            && from > count
        {
            // The start is in what comes later.
            self.start = Position::FromStart(from - count);
            return Ok(end);
        }
        let start = match (self.unit, self.start) {
            (Unit::Bytes, Position::FromStart(from)) => from.min(size),
            (Unit::Bytes, Position::FromEnd(back)) => size.saturating_sub(back),
            (Unit::Lines, position) => {
                let mut lines = archive.lines()?;
                let from = position.within(count).unwrap_or(0);
                lines.range(from.min(count)..count)?.start
            }
        };
        archive.read_range(start..size, &mut self.output)?;
        self.output.flush()?;
        self.is_passing = true;
        Ok(end)
    }

    /// Writes what was kept. All that comes later is written as it comes.
    fn pass(&mut self) -> io::Result<()> {
        if let Position::FromEnd(_) = self.start
            && !self.is_passing
        {
            self.output.write_all(&self.kept)?;
            self.kept = Vec::new();
            self.is_passing = true;
        }
        Ok(())
    }

    /// Keeps the last lines or bytes so far.
    fn keep(&mut self, bytes: &[u8], count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.kept.extend_from_slice(bytes);
        let start = match self.unit {
            Unit::Bytes => self.kept.len().saturating_sub(count),
            Unit::Lines => last_lines(&self.kept, count),
        };
        self.kept.drain(..start);
    }

    /// Leaves out the bytes in front of the start, which is `left` lines or bytes away. Returns the
    /// others.
    fn skip<'b>(&mut self, bytes: &'b [u8], left: u64) -> &'b [u8] {
        let (skipped, count) = match self.unit {
            Unit::Bytes => {
                let skipped = left.min(bytes.len() as u64);
                (skipped as usize, skipped)
            }
            Unit::Lines => {
                let ends = memchr::memchr_iter(b'\n', bytes).zip(1..=left);
                ends.last()
                    .filter(|(_, count)| *count == left)
                    .map_or_else(
                        || {
                            (
                                bytes.len(),
                                memchr::memchr_iter(b'\n', bytes).count() as u64,
                            )
                        },
                        |(at, count)| (at + 1, count),
                    )
            }
        };
        self.start = Position::FromStart(left - count);
        &bytes[skipped..]
    }
}

/// The start of the last `count` lines. The last line may lack its line feed.
fn last_lines(bytes: &[u8], count: usize) -> usize {
    let Some(before) = count.checked_sub(1) else {
        return bytes.len();
    };
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    memchr::memrchr_iter(b'\n', body)
        .nth(before)
        .map_or(0, |at| at + 1)
}

/// The decoded bytes of the file, on their way to the output.
struct Decoded<'a>(&'a Mutex<Shown>);

impl Write for Decoded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shown = lock(self.0);
        let wanted = match shown.start {
            _ if shown.is_passing => bytes,
            Position::FromEnd(count) => {
                shown.keep(bytes, count);
                b""
            }
            Position::FromStart(0) => bytes,
            Position::FromStart(left) => shown.skip(bytes, left),
        };
        shown.output.write_all(wanted)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(self.0).output.flush()
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_may_lack_a_line_feed() {
        for (text, count, last) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\n", 9, "a\nb\n"),
            ("a\nb\n", 0, ""),
            ("\n\n\n", 1, "\n"),
            ("", 3, ""),
        ] {
            assert_eq!(
                &text[last_lines(text.as_bytes(), count)..],
                last,
                "{text:?}"
            );
        }
    }
}
