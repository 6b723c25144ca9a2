//! What a search found, on standard output.

use super::descriptors;
use super::input_name::Name;
use super::match_lines::{BETWEEN_OBJECTS, Hits, LineForm, LineSettings, MatchLines, Shown};
use super::pattern_batch::NamedPattern;
use super::sam_lines;
use super::search_args::SearchArgs;
use super::side_by_side::side_by_side;
use bwz::RecordInfo;
use std::fs::File;
use std::io::{self, Write};

/// Most threads that make lines; the others have a search to do.
const MOST_THREADS: usize = 8;

pub struct Printer {
    out: File,
    settings: LineSettings,
    threads: usize,
    /// Whether an object was written.
    has_objects: bool,
    /// Patterns of the current file, and how many of them were found.
    pub patterns: u64,
    pub found: u64,
    /// Whether anything was found in any file.
    pub found_any: bool,
}

impl Printer {
    pub fn new(args: &SearchArgs, form: LineForm) -> io::Result<Self> {
        let threads = (args.resources.thread_count() / 2).clamp(1, MOST_THREADS);
        Ok(Printer {
            out: descriptors::stdout()?,
            settings: LineSettings { form, strands: args.revcomp, records: Vec::new() },
            threads,
            has_objects: false,
            patterns: 0,
            found: 0,
            found_any: false,
        })
    }

    /// Starts a file, with these records where it is searched by sequence.
    pub fn begin(&mut self, records: Vec<RecordInfo>) -> io::Result<()> {
        self.settings.records = records;
        (self.patterns, self.found) = (0, 0);
        let mut header = Vec::new();
        if self.settings.form == LineForm::Sam {
            sam_lines::header(&mut header, &self.settings.records)?;
        }
        self.out.write_all(&header)
    }

    /// Prints what stretches of patterns came to. Both strands of a read are in the same stretch.
    pub fn print<'p, S>(
        &mut self,
        name: &Name,
        stretches: impl IntoIterator<Item = S>,
    ) -> io::Result<()>
    where
        S: Iterator<Item = (NamedPattern<'p>, Hits)> + Send,
    {
        let (file, mut stretches) = (name.to_string(), stretches.into_iter());
        loop {
            let some: Vec<S> = stretches.by_ref().take(self.threads).collect();
            if some.is_empty() {
                return Ok(());
            }
            let show = |stretch| MatchLines::new(&file, &self.settings).all(stretch);
            for shown in side_by_side(some.len(), some.into_iter(), show) {
                self.write(shown?)?;
            }
        }
    }

    fn write(&mut self, Shown { text, patterns, found }: Shown) -> io::Result<()> {
        self.patterns += patterns;
        self.found += found;
        self.found_any |= found > 0;
        if self.settings.form == LineForm::Json && !text.is_empty() {
            self.out.write_all(if self.has_objects { BETWEEN_OBJECTS } else { b"[\n" })?;
            self.has_objects = true;
        }
        self.out.write_all(&text)
    }

    /// Ends the list of objects.
    pub fn finish(&mut self) -> io::Result<()> {
        match (self.settings.form, self.has_objects) {
            (LineForm::Json, true) => self.out.write_all(b"\n]\n"),
            (LineForm::Json, false) => self.out.write_all(b"[]\n"),
            _ => Ok(()),
        }
    }
}
