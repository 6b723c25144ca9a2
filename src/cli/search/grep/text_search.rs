//! The search of a text that comes from front to end: cut into parts, scanned and reported.
//!
//! The text is written to a [`TextSearch`], by the decoder of a .bwz file for example. Once the
//! report needs no more of it, a write fails, which ends the decoder; [`TextSearch::is_done`] tells
//! this failure from others.

use crate::cli::search::grep::file_report::FileReport;
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::text_part::{PartCutter, TextPart};
use std::io::{self, Read, Write};

/// The search of a text.
pub(crate) struct TextSearch<'s, 'r> {
    cutter: PartCutter,
    queue: &'s mut ScanQueue,
    report: &'s mut FileReport<'r>,
    /// The lines that are there are reported at once, since more may come much later.
    is_live: bool,
}

impl<'s, 'r> TextSearch<'s, 'r> {
    /// Starts a search of lines of up to `longest_line` bytes. If the text `is_live`, each piece of
    /// it is reported at once.
    pub(crate) fn new(
        queue: &'s mut ScanQueue,
        report: &'s mut FileReport<'r>,
        longest_line: u64,
        is_live: bool,
    ) -> Self {
        queue.clear();
        let terminator = queue.scanner().wanted.terminator;
        TextSearch {
            cutter: PartCutter::new(terminator, longest_line),
            queue,
            report,
            is_live,
        }
    }

    /// Returns true if the report needs no more of the text.
    pub(crate) fn is_done(&self) -> bool {
        self.report.is_done()
    }

    /// Searches all that `source` gives, or as much of it as the report needs.
    pub(crate) fn read_from(&mut self, mut source: impl Read) -> io::Result<()> {
        while !self.report.is_done() {
            let (count, part) = match self.cutter.read(&mut source) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.take(part)?;
            if self.is_live {
                let lines = self.cutter.cut();
                self.take(lines)?;
            }
            if count == 0 {
                return self.finish();
            }
        }
        Ok(())
    }

    /// Begins to search other lines of the text. Their first line has this offset and number.
    pub(crate) fn begin(&mut self, offset: u64, first_line: Option<u64>) {
        self.cutter.begin(offset, first_line);
    }

    /// Searches more of the text.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    /// Ends the lines that were begun.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let rest = self.cutter.finish();
        self.take(rest)
    }

    /// Searches the last part, and reports all.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.end()?;
        while !self.report.is_done()
            && let Some((part, found)) = self.queue.next(true)
        {
            self.report.take(&part, &found)?;
        }
        self.queue.clear();
        Ok(())
    }

    fn take(&mut self, part: Option<TextPart>) -> io::Result<()> {
        let Some(part) = part else {
            return Ok(());
        };
        if self.is_live {
            let (part, found) = self.queue.scan(part);
            return self.report.take(&part, &found);
        }
        self.queue.submit(part);
        while !self.report.is_done()
            && let Some((part, found)) = self.queue.next(false)
        {
            self.report.take(&part, &found)?;
        }
        Ok(())
    }
}

impl Write for TextSearch<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (count, part) = self.cutter.add(bytes)?;
        self.take(part)?;
        match self.report.is_done() {
            true => Err(io::Error::other("the search needs no more")),
            false => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
