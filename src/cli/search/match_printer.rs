//! Prints the results of a search on standard output.

use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::files::input_name::Name;
use crate::cli::files::side_by_side::{Workers, in_turn};
use crate::cli::report::screen::Screen;
use crate::cli::search::match_lines::{
    BETWEEN_OBJECTS, Hits, LineForm, LineSettings, MatchLines, Shown,
};
use crate::cli::search::pattern_batch::NamedPattern;
use crate::cli::search::sam_lines::{self, SamSettings};
use bwz::{Error, RecordInfo, Result};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Maximum number of threads that make lines. The other threads search.
const MOST_THREADS: usize = 8;

/// Maximum bytes of a text buffer that is kept for reuse. The text of a single pattern may be
/// longer.
const LARGEST_TEXT: usize = 16 << 20;

pub(crate) struct Printer {
    out: Screen<File>,
    settings: LineSettings,
    threads: usize,
    /// Names and lengths of the records, as the file has them, if a header of SAM with them was
    /// written.
    in_header: Vec<(Vec<u8>, u64)>,
    /// Buffers of texts that were written, for the texts that come next.
    texts: Mutex<Vec<Vec<u8>>>,
    pub printed: Printed,
}

/// Totals of the output so far.
#[derive(Default)]
pub(crate) struct Printed {
    /// True if a JSON object was written.
    has_objects: bool,
    /// Number of patterns of the current file.
    pub patterns: u64,
    /// Number of these patterns that were found.
    pub found: u64,
    /// True if anything was found in any file.
    pub found_any: bool,
}

/// Returns names and lengths of records, as a header of SAM has them.
fn names_and_lengths(records: &[RecordInfo]) -> Vec<(Vec<u8>, u64)> {
    records
        .iter()
        .map(|record| (record.name.clone(), record.length))
        .collect()
}

impl Printer {
    pub(crate) fn new(args: &SearchArgs, form: LineForm, sam: SamSettings) -> io::Result<Self> {
        let threads = (args.resources.thread_count() / 2).clamp(1, MOST_THREADS);
        Ok(Printer {
            out: match form {
                _ if args.talk.quiet => Screen::text(nowhere()?, false),
                LineForm::Json => Screen::json_stdout()?,
                _ => Screen::stdout()?,
            },
            settings: LineSettings {
                form,
                strands: args.revcomp,
                records: Vec::new(),
                sam,
            },
            threads,
            in_header: Vec::new(),
            texts: Mutex::default(),
            printed: Printed::default(),
        })
    }

    /// Starts a file. `records` are its records, if it is searched by sequence.
    ///
    /// # Errors
    /// [`bwz::Error::Usage`] if SAM cannot describe the records.
    pub(crate) fn begin(&mut self, records: Vec<RecordInfo>) -> Result<()> {
        self.settings.records = records;
        (self.printed.patterns, self.printed.found) = (0, 0);
        let mut header = Vec::new();
        if let LineSettings {
            form: LineForm::Sam,
            sam,
            records,
            ..
        } = &mut self.settings
        {
            self.in_header = names_and_lengths(records);
            sam_lines::header(&mut header, records, *sam)?;
        }
        Ok(self.out.write_all(&header)?)
    }

    /// Sets the records of the file if they differ from the records so far: they were not known
    /// yet, or a table was found to be wrong. With SAM a difference is an error, since the header
    /// with the former names was written already.
    pub(crate) fn know_records(&mut self, records: &[RecordInfo]) -> Result<()> {
        if self.settings.form == LineForm::Sam {
            if self.in_header == names_and_lengths(records) {
                return Ok(());
            }
            return Err(Error::Usage(
                "has a table of records that does not match its blocks, and the header that was \
                 written has names from this table; locate --sam --verify tells more"
                    .into(),
            ));
        }
        if self.settings.records != records {
            self.settings.records = records.to_vec();
        }
        Ok(())
    }

    /// Prints the results of stretches of patterns. Both strands of a read, and its mate, are in
    /// the same stretch.
    pub(crate) fn print<'p, S>(
        &mut self,
        name: &Name,
        stretches: impl IntoIterator<Item = S, IntoIter: Send>,
    ) -> Result<()>
    where
        S: Iterator<Item = (NamedPattern<'p>, Hits)> + Send,
    {
        let mut stretches = stretches.into_iter();
        // Few stretches are not worth the start of many threads.
        let first: Vec<S> = stretches.by_ref().take(self.threads).collect();
        let Printer {
            out,
            settings,
            texts,
            printed,
            ..
        } = self;
        let texts = &*texts;
        let texts = || {
            texts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let show = |stretch| {
            let text = texts().pop().unwrap_or_default();
            MatchLines::new(name, settings, text).all(stretch)
        };
        let write = |shown: Result<Shown>| {
            let mut text = printed.write(out, settings.form, shown?)?;
            if text.capacity() <= LARGEST_TEXT {
                text.clear();
                texts().push(text);
            }
            Ok(())
        };
        let workers = Workers::on_patterns(first.len());
        in_turn(workers, first.into_iter().chain(stretches), show, write)
    }

    /// Ends the list of JSON objects.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match (self.settings.form, self.printed.has_objects) {
            (LineForm::Json, true) => self.out.write_all(b"\n]\n")?,
            (LineForm::Json, false) => self.out.write_all(b"[]\n")?,
            _ => {}
        }
        self.out.flush()
    }
}

/// Opens a file that discards all output.
fn nowhere() -> io::Result<File> {
    File::options().write(true).open("/dev/null")
}

impl Printed {
    /// Writes a stretch, and returns its text for reuse of the memory.
    fn write(
        &mut self,
        out: &mut Screen<File>,
        form: LineForm,
        shown: Shown,
    ) -> io::Result<Vec<u8>> {
        let Shown {
            text,
            patterns,
            found,
        } = shown;
        self.patterns += patterns;
        self.found += found;
        self.found_any |= found > 0;
        if form == LineForm::Json && !text.is_empty() {
            out.write_all(if self.has_objects {
                BETWEEN_OBJECTS
            } else {
                b"[\n"
            })?;
            self.has_objects = true;
        }
        out.write_all(&text)?;
        Ok(text)
    }
}
