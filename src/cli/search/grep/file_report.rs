//! The report on one file: its lines, its numbers or its name, as the arguments ask for.
//!
//! A file is binary if it has a zero byte, as in GNU grep. A message then says that it matches, and
//! the search ends. The lines that end before the window of that byte are text; a window has 96
//! KiB.

use crate::cli::arguments::grep_args::BinaryFiles;
use crate::cli::files::input_name::Name;
use crate::cli::search::grep::context_lines::{Bounds, ContextLines, ContextSize, LineTaker};
use crate::cli::search::grep::json_messages::{JsonPrinter, JsonStats};
use crate::cli::search::grep::line_printer::{LineForm, LinePrinter};
use crate::cli::search::grep::line_scan::{Found, LineScanner};
use crate::cli::search::grep::text_part::{TextPart, window_of};
use std::io::{self, Write};

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Lines,
    Json,
    Count,
    CountMatches,
    NamesWith,
    NamesWithout,
    Nothing,
}

impl Show {
    /// Returns true if the lines themselves are shown.
    pub(crate) fn has_lines(self) -> bool {
        matches!(self, Show::Lines | Show::Json)
    }

    /// Returns true if one selected line is enough.
    pub(crate) fn ends_at_first(self) -> bool {
        matches!(self, Show::NamesWith | Show::NamesWithout | Show::Nothing)
    }
}

/// The output that the arguments ask for.
#[derive(Clone, Debug)]
pub(crate) struct ReportPlan {
    pub show: Show,
    /// Several files may be searched.
    pub has_several: bool,
    pub form: LineForm,
    pub context: ContextSize,
    /// Maximum number of selected lines of a file.
    pub max_count: u64,
    pub binary_files: BinaryFiles,
}

/// The report on a file.
pub(crate) struct FileReport<'r> {
    plan: &'r ReportPlan,
    scanner: &'r LineScanner,
    name: Vec<u8>,
    out: &'r mut dyn Write,
    context: ContextLines,
    selected: u64,
    matches: u64,
    /// The first zero byte.
    zero: Option<u64>,
    /// The place from which on lines that end there are binary.
    binary_from: Option<u64>,
    /// A line of the binary part is selected.
    binary_matches: bool,
    /// Minimum number of digits of a number before a line.
    number_width: usize,
    stats: JsonStats,
    has_begun: bool,
    is_done: bool,
}

/// The outcome of the search of a file.
#[derive(Debug, Default)]
pub(crate) struct FileOutcome {
    pub found: bool,
    /// A message is to be given that a binary file matches.
    pub binary_matches: bool,
    /// Lines were printed, of this file or of those before it.
    pub has_printed: bool,
    pub stats: JsonStats,
}

impl<'r> FileReport<'r> {
    /// Starts the report on a file. `follows_others` tells that lines of other files were printed
    /// before.
    pub(crate) fn new(
        plan: &'r ReportPlan,
        scanner: &'r LineScanner,
        name: &Name,
        label: Option<&[u8]>,
        out: &'r mut dyn Write,
        follows_others: bool,
    ) -> Self {
        let name = match (name, label) {
            (Name::Stdin, Some(label)) => label,
            (Name::Stdin, None) => b"(standard input)",
            (name, _) => name.bytes(),
        };
        FileReport {
            context: ContextLines::new(plan.context, plan.form.terminator, follows_others),
            plan,
            scanner,
            name: name.to_vec(),
            out,
            selected: 0,
            matches: 0,
            zero: None,
            binary_from: None,
            binary_matches: false,
            number_width: 0,
            stats: JsonStats::default(),
            has_begun: false,
            is_done: false,
        }
    }

    /// Returns true if the rest of the file does not matter.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Takes numbers that are known without the lines.
    pub(crate) fn take_numbers(&mut self, selected: u64, matches: u64) {
        self.selected += selected;
        self.matches += matches;
    }

    /// True if numbers are printed in columns, whose width the size of the text gives.
    pub(crate) fn has_columns(&self) -> bool {
        self.plan.form.initial_tab
    }

    /// Sets the width of columns for a text of this size. A text of unknown size gets the width of
    /// the largest number, as in GNU grep.
    pub(crate) fn set_columns(&mut self, size: Option<u64>) {
        let largest = size.map_or(i64::MAX as u64, |size| {
            size.saturating_add(self.plan.form.line_number.into())
        });
        self.number_width = largest.to_string().len();
    }

    /// Number of lines that were selected.
    pub(crate) fn selected(&self) -> u64 {
        self.selected
    }

    /// States the number of bytes that were searched, if all were.
    pub(crate) fn searched(&mut self, bytes: u64) {
        if !self.is_done {
            self.stats.bytes_searched = bytes;
        }
    }

    /// Takes the next part.
    pub(crate) fn take(&mut self, part: &TextPart, found: &Found) -> io::Result<()> {
        if self.is_done {
            return Ok(());
        }
        self.stats.bytes_searched += part.bytes.len() as u64;
        self.note_zero(part, found);
        if self.binary_from.is_some() && self.plan.binary_files == BinaryFiles::WithoutMatch {
            self.selected = 0;
            self.matches = 0;
            self.is_done = true;
            return Ok(());
        }
        let left = self.plan.max_count - self.selected.min(self.plan.max_count);
        if self.plan.show.has_lines() {
            self.take_lines(part, found, left)?;
        } else {
            self.selected += found.count.min(left);
            self.matches += match found.count > left {
                true => matches_of(found, left),
                false => found.match_count + found.matches.len() as u64,
            };
        }
        let has_enough = self.selected >= self.plan.max_count && !self.context.owes();
        let ends_here = self.plan.show.ends_at_first() && self.selected > 0;
        self.is_done |= has_enough || ends_here;
        Ok(())
    }

    fn note_zero(&mut self, part: &TextPart, found: &Found) {
        let inside = found.zero.map(|at| part.offset + at as u64);
        let zero = inside.or(part.zero_behind);
        if let Some(zero) = zero.filter(|_| self.zero.is_none() && self.scanner.wanted.binary) {
            self.zero = Some(zero);
            self.binary_from = Some(window_of(zero));
        }
    }

    /// The end of the lines of a part that are text.
    fn text_end(&self, part: &TextPart) -> usize {
        let size = part.bytes.len();
        let Some(from) = self.binary_from else {
            return size;
        };
        let from = from.saturating_sub(part.offset).min(size as u64) as usize;
        let line = memchr::memrchr(self.plan.form.terminator, &part.bytes[..from]);
        line.map_or(0, |end| end + 1)
    }

    fn take_lines(&mut self, part: &TextPart, found: &Found, left: u64) -> io::Result<()> {
        let stop = self.text_end(part);
        let of_text = found
            .lines
            .partition_point(|line| line.range.start < stop) as u64;
        let bounds = Bounds { count: left, stop };
        let mut lines;
        let mut json;
        let taker: &mut dyn LineTaker = match self.plan.show {
            Show::Json => {
                json = JsonPrinter {
                    name: &self.name,
                    line_number: self.plan.form.line_number,
                    inverted: self.plan.form.inverted,
                    line_buffered: self.plan.form.line_buffered,
                    scanner: self.scanner,
                    stats: &mut self.stats,
                    begun: &mut self.has_begun,
                    out: self.out,
                };
                &mut json
            }
            _ => {
                lines = LinePrinter {
                    form: &self.plan.form,
                    name: &self.name,
                    number_width: self.number_width,
                    scanner: self.scanner,
                    out: self.out,
                };
                &mut lines
            }
        };
        self.context.take(part, found, bounds, taker)?;
        self.selected += of_text.min(left);
        if self.binary_from.is_some() {
            self.binary_matches = left > of_text && found.count > of_text;
            self.selected += u64::from(self.binary_matches);
            self.is_done = self.binary_matches;
        }
        Ok(())
    }

    /// Completes the report.
    pub(crate) fn finish(mut self) -> io::Result<FileOutcome> {
        let found = self.selected > 0;
        let mut printer = LinePrinter {
            form: &self.plan.form,
            name: &self.name,
            number_width: 0,
            scanner: self.scanner,
            out: self.out,
        };
        match self.plan.show {
            Show::Count => printer.count(self.selected)?,
            Show::CountMatches if self.plan.form.inverted => printer.count(self.selected)?,
            Show::CountMatches => printer.count(self.matches)?,
            Show::NamesWith if found => printer.name_alone()?,
            Show::NamesWithout if !found => printer.name_alone()?,
            Show::Json => self.end_json()?,
            _ => {}
        }
        Ok(FileOutcome {
            found,
            binary_matches: self.binary_matches,
            has_printed: self.context.has_printed(),
            stats: self.stats,
        })
    }

    fn end_json(&mut self) -> io::Result<()> {
        self.stats.searches = 1;
        self.stats.searches_with_match = (self.selected > 0).into();
        JsonPrinter {
            name: &self.name,
            line_number: false,
            inverted: false,
            line_buffered: false,
            scanner: self.scanner,
            stats: &mut self.stats,
            begun: &mut self.has_begun,
            out: self.out,
        }
        .end(self.zero)
    }
}

/// Marks that lines are left out between two files, if the plan marks such places.
pub(crate) fn print_gap(
    plan: &ReportPlan,
    scanner: &LineScanner,
    out: &mut dyn Write,
) -> io::Result<()> {
    if plan.show != Show::Lines || !plan.context.is_asked_for() {
        return Ok(());
    }
    LinePrinter {
        form: &plan.form,
        name: &[],
        number_width: 0,
        scanner,
        out,
    }
    .gap()
}

/// Number of matches in the first `lines` lines.
fn matches_of(found: &Found, lines: u64) -> u64 {
    let lines = found.lines.iter().take(lines as usize);
    lines.map(|line| line.matches.len() as u64).sum()
}
