//! Opening inputs: a regular file, another kind of file if allowed, or standard input.

use crate::cli::files::descriptors;
use crate::cli::files::input_name::Name;
use crate::cli::files::parallel_reads::ParallelReads;
use crate::cli::files::stoppable_input::{Stop, Waiting};
use bwz::{Error, Result};
use std::fs::{self, File, Metadata};
use std::io::{self, IoSliceMut, IsTerminal, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// An open input and its properties.
pub(crate) struct OpenInput {
    pub source: InputSource,
    pub about: About,
    /// Ends a read that waits for data, if the source may have to wait.
    pub stop: Option<Stop>,
}

pub(crate) enum InputSource {
    File(ParallelReads),
    Waiting(Waiting),
}

/// The properties of an open input.
pub(crate) struct About {
    metadata: Metadata,
    /// The input was opened by its name, so outputs take over its properties.
    named: bool,
}

impl OpenInput {
    /// Opens `name`. Unless `any_kind`, only regular files are taken.
    pub(crate) fn open(name: &Name, any_kind: bool) -> Result<OpenInput> {
        match name {
            Name::Stdin => Ok(OpenInput::new(descriptors::stdin()?, false)?),
            Name::File(path) => {
                check_kind(path, any_kind)?;
                Ok(OpenInput::new(File::open(path)?, true)?)
            }
        }
    }

    fn new(file: File, named: bool) -> io::Result<OpenInput> {
        let about = About {
            metadata: file.metadata()?,
            named,
        };
        if about.metadata.is_file() {
            return Ok(OpenInput {
                source: InputSource::File(ParallelReads::new(file)),
                about,
                stop: None,
            });
        }
        descriptors::widen(&file);
        let (waiting, stop) = Waiting::new(file)?;
        Ok(OpenInput {
            source: InputSource::Waiting(waiting),
            about,
            stop: Some(stop),
        })
    }
}

impl About {
    /// The number of bytes to read, if it is known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.regular().map(Metadata::len)
    }

    /// The metadata of an input that is a regular file.
    pub(crate) fn regular(&self) -> Option<&Metadata> {
        Some(&self.metadata).filter(|metadata| metadata.is_file())
    }

    /// The metadata from which outputs take their permissions, owner and times.
    pub(crate) fn attributes(&self) -> Option<&Metadata> {
        self.regular().filter(|_| self.named)
    }
}

/// Refuses to read compressed data from a terminal. Nobody types it by hand: a user who starts `bwz
/// -d` without input most likely forgot the file.
pub(crate) fn refuse_terminal() -> Result<()> {
    if !io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Error::Usage(
        "compressed data is not read from a terminal; name a file, or see bwz --help".into(),
    ))
}

/// Refuses kinds of files that were most likely not meant.
fn check_kind(path: &Path, any_kind: bool) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    if !any_kind && fs::symlink_metadata(path)?.is_symlink() {
        return usage("is a symbolic link; -f or -c reads the file that it points to");
    }
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return usage("is a directory");
    }
    if !kind.is_file() && !any_kind {
        return usage("is not a regular file; -f or -c reads it anyway");
    }
    Ok(())
}

/// Opens a file for reading by position: a named file, or the file that is standard input.
pub(crate) fn open_seekable(name: &Name) -> Result<File> {
    let (file, refusal) = match name {
        Name::Stdin => (
            descriptors::stdin()?,
            "standard input is a pipe here, which cannot be read by position; name a file",
        ),
        Name::File(path) => {
            check_kind(path, true)?;
            (
                File::open(path)?,
                "is not a regular file, so it cannot be read by position",
            )
        }
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::Usage(refusal.into())),
    }
}

/// True if both are the same file.
pub(crate) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// True if both are the same file and its size and times have not changed.
pub(crate) fn is_unchanged(before: &Metadata, now: &Metadata) -> bool {
    let state = |m: &Metadata| {
        (
            m.len(),
            m.mtime(),
            m.mtime_nsec(),
            m.ctime(),
            m.ctime_nsec(),
        )
    };
    is_same(before, now) && state(before) == state(now)
}

impl InputSource {
    /// Lets several threads read a regular file, beside `threads` threads that compute.
    pub(crate) fn read_beside(&mut self, threads: usize) {
        if let InputSource::File(file) = self {
            file.beside(threads);
        }
    }

    /// Waits until there is something to read, or until `time` is over, and then returns false.
    /// Without a time it waits for as long as that takes.
    pub(crate) fn wait(&self, time: Option<Duration>) -> io::Result<bool> {
        match self {
            InputSource::File(_) => Ok(true),
            InputSource::Waiting(waiting) => waiting.wait(time),
        }
    }

    /// The current metadata of the input.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        match self {
            InputSource::File(reads) => reads.file.metadata(),
            InputSource::Waiting(waiting) => waiting.metadata(),
        }
    }
}

impl Read for InputSource {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            InputSource::File(file) => file.read(bytes),
            InputSource::Waiting(waiting) => waiting.read(bytes),
        }
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut]) -> io::Result<usize> {
        match self {
            InputSource::File(file) => file.read_vectored(buffers),
            InputSource::Waiting(waiting) => waiting.read_vectored(buffers),
        }
    }
}
