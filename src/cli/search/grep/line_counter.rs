//! Counts of the lines of a file that hold a string, for `bwz count --lines`. They are those of
//! `grep -c -F`, by the same search.

use crate::cli::arguments::grep_args::{BinaryFiles, PatternArgs};
use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::files::input::OpenInput;
use crate::cli::files::input_name::Name;
use crate::cli::search::grep::context_lines::ContextSize;
use crate::cli::search::grep::file_report::{FileReport, ReportPlan, Show};
use crate::cli::search::grep::grep_patterns::{self, GrepPatterns};
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::line_printer::LineForm;
use crate::cli::search::grep::line_scan::{LineScanner, Wanted};
use crate::cli::search::grep::required_literals::{self, Reading};
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::source_search::SourceSearch;
use bwz::{Options, Result};
use std::io;

/// Counts lines of a .bwz file.
pub(crate) struct LineCounter<'a> {
    pub name: &'a Name,
    pub args: &'a SearchArgs,
    pub options: Options,
}

impl LineCounter<'_> {
    /// Number of lines that hold a string.
    pub(crate) fn count(&self, string: &[u8]) -> Result<u64> {
        const WANTED: Wanted = Wanted {
            terminator: b'\n',
            invert: false,
            lines: false,
            numbers: false,
            matches: false,
            match_count: false,
            limit: u64::MAX,
            binary: false,
        };
        if string.contains(&b'\n') {
            return Ok(0);
        }
        let patterns = GrepPatterns::of_string(string);
        let matcher = grep_patterns::matcher(
            &patterns,
            &PatternArgs {
                ignore_case: self.args.ignore_case,
                no_unicode: true,
                ..PatternArgs::default()
            },
        )?;
        let reading = Reading {
            ignore_case: self.args.ignore_case,
            unicode: false,
            crlf: false,
            terminator: b'\n',
            fixed: patterns.fixed,
        };
        let indexed = IndexedSearch {
            literals: required_literals::of(&patterns.all, reading),
            show: Show::Count,
            wanted: WANTED,
            context: [0, 0],
        };
        let plan = ReportPlan {
            show: Show::Count,
            has_several: false,
            form: LineForm::default(),
            context: ContextSize::default(),
            max_count: u64::MAX,
            binary_files: BinaryFiles::Text,
        };
        let scanner = LineScanner {
            matcher,
            wanted: WANTED,
        };
        let threads = self.args.resources.thread_count();
        let mut out = io::sink();
        let mut report = FileReport::new(&plan, &scanner, self.name, None, &mut out, false);
        let OpenInput { source, stop, .. } = OpenInput::open(self.name, true)?;
        let search = SourceSearch {
            queue: &mut ScanQueue::new(scanner.clone(), threads),
            report: &mut report,
            options: self.options.clone(),
            threads,
            indexed: Some(&indexed).filter(|_| !self.args.verify),
            name: self.name,
            talk: self.args.talk,
            longest_line: self.args.resources.longest_line(),
        };
        search.all(source, stop)?;
        Ok(report.selected())
    }
}
