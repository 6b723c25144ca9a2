//! Standard output of `grep`: written in large pieces, or at once if somebody may watch.

use crate::cli::files::descriptors;
use crate::cli::report::io_errors::while_writing;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Write};

/// Bytes that are written together.
const BUFFER: usize = 64 << 10;

/// Standard output.
pub(crate) struct GrepOutput {
    out: BufWriter<File>,
    is_terminal: bool,
    metadata: Metadata,
    failed: bool,
    /// Lines of some file were written.
    pub has_lines: bool,
}

impl GrepOutput {
    pub(crate) fn open() -> io::Result<Self> {
        let file = descriptors::stdout()?;
        descriptors::widen(&file);
        Ok(GrepOutput {
            is_terminal: file.is_terminal(),
            metadata: file.metadata()?,
            out: BufWriter::with_capacity(BUFFER, file),
            failed: false,
            has_lines: false,
        })
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The metadata of the file that it is.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns true if a write has failed, so that no more output can come.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    fn checked<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.failed |= done.is_err();
        done.map_err(|e| while_writing("standard output", e))
    }
}

impl Write for GrepOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.checked(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.checked(done)
    }
}
