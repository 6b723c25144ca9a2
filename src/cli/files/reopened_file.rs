//! Files that are opened when they are read, so that there may be more files than a process may
//! have open.

use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of files that stay open. These are the files read last, since parts of one file
/// are often read one after another.
const MOST_OPEN: usize = 8;

/// The open files, each with its number.
#[derive(Clone, Default)]
pub(crate) struct OpenFiles(Arc<Mutex<VecDeque<(usize, File)>>>);

/// A reader of a file, with a position of its own.
#[derive(Clone)]
pub(crate) struct ReopenedFile {
    of: Arc<SameFile>,
    position: u64,
}

/// The state that all readers of a file share.
struct SameFile {
    source: Source,
    metadata: Metadata,
}

enum Source {
    /// A file that cannot be opened again, and stays open.
    Kept(Mutex<File>),
    Named {
        number: usize,
        name: Name,
        open: OpenFiles,
    },
}

impl OpenFiles {
    /// Opens file `number`, which is `name`. It is read from its start.
    pub(crate) fn open(&self, number: usize, name: &Name) -> bwz::Result<ReopenedFile> {
        let file = input::open_seekable(name)?;
        if *name == Name::Stdin {
            return Ok(ReopenedFile::kept(file)?);
        }
        let metadata = file.metadata()?;
        self.keep(number, file);
        let source = Source::Named {
            number,
            name: name.clone(),
            open: self.clone(),
        };
        Ok(ReopenedFile {
            of: Arc::new(SameFile { source, metadata }),
            position: 0,
        })
    }

    fn keep(&self, number: usize, file: File) {
        let mut open = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if open.len() == MOST_OPEN {
            open.pop_front();
        }
        open.push_back((number, file));
    }

    fn take(&self, number: usize) -> Option<File> {
        let mut open = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = open
            .iter()
            .position(|(other, _)| *other == number)?;
        open.remove(found).map(|(_, file)| file)
    }
}

impl ReopenedFile {
    /// Creates a reader of a file that stays open.
    pub(crate) fn kept(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let source = Source::Kept(Mutex::new(file));
        Ok(ReopenedFile {
            of: Arc::new(SameFile { source, metadata }),
            position: 0,
        })
    }

    /// The metadata of the file when it was first opened.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.of.metadata
    }

    /// Returns a reader of this file from its start.
    pub(crate) fn at_start(&self) -> Self {
        ReopenedFile {
            position: 0,
            ..self.clone()
        }
    }

    /// Calls `work` with the open file.
    fn with<T>(&self, work: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        match &self.of.source {
            Source::Kept(file) => work(
                &mut file
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            ),
            Source::Named { number, name, open } => {
                let mut file = match open.take(*number) {
                    Some(file) => file,
                    None => self.reopened(name)?,
                };
                let done = work(&mut file);
                open.keep(*number, file);
                done
            }
        }
    }

    fn reopened(&self, name: &Name) -> io::Result<File> {
        let file = input::open_seekable(name).map_err(io::Error::from)?;
        match input::is_unchanged(&self.of.metadata, &file.metadata()?) {
            true => Ok(file),
            false => Err(io::Error::other(
                "it was changed while it was read; start again",
            )),
        }
    }
}

impl Read for ReopenedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let position = self.position;
        let read = self.with(|file| {
            file.seek(SeekFrom::Start(position))?;
            file.read(bytes)
        })?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for ReopenedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::Current(by) => (self.position, by),
            SeekFrom::End(by) => (self.with(|file| file.seek(SeekFrom::End(0)))?, by),
        };
        let before_start = || io::Error::from(io::ErrorKind::InvalidInput);
        self.position = from
            .checked_add_signed(by)
            .ok_or_else(before_start)?;
        Ok(self.position)
    }
}
