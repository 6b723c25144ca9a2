//! Counts of the lines of a file that hold a string, for `bwz count --lines`. They are those of
//! `grep -c -F`, by the same search.
//!
//! The index is asked for each string. The file is decoded once for the strings for which it gives
//! no answer.

use crate::cli::arguments::grep_args::{BinaryFiles, PatternArgs};
use crate::cli::arguments::search_args::SearchArgs;
use crate::cli::files::input::OpenInput;
use crate::cli::files::input_name::Name;
use crate::cli::files::side_by_side::side_by_side;
use crate::cli::search::grep::context_lines::ContextSize;
use crate::cli::search::grep::file_report::{FileReport, ReportPlan, Show};
use crate::cli::search::grep::grep_patterns::{self, GrepPatterns};
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::line_printer::LineForm;
use crate::cli::search::grep::line_scan::{LineScanner, Wanted};
use crate::cli::search::grep::required_literals::{self, Reading};
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::source_search::SourceSearch;
use crate::cli::search::grep::text_part::{PartCutter, TextPart};
use bwz::{Options, Result};
use std::io::{self, Write};

/// Maximum number of strings for which the text is scanned at a time. Each has a matcher, which
/// takes memory.
const TOGETHER: usize = 256;

/// The numbers of lines alone are wanted, of text.
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

/// Counts lines of a .bwz file.
pub(crate) struct LineCounter<'a> {
    pub name: &'a Name,
    pub args: &'a SearchArgs,
    pub options: Options,
}

impl LineCounter<'_> {
    /// For each string, the number of lines that hold it.
    pub(crate) fn counts(&self, strings: &[&[u8]]) -> Result<Vec<u64>> {
        let mut counts = vec![0; strings.len()];
        // No line holds a line feed.
        let mut left: Vec<usize> = (0..strings.len())
            .filter(|&n| !strings[n].contains(&b'\n'))
            .collect();
        if !self.args.verify {
            let mut unanswered = Vec::new();
            for n in left {
                match self.by_index(strings[n])? {
                    Some(count) => counts[n] = count,
                    None => unanswered.push(n),
                }
            }
            left = unanswered;
        }
        for some in left.chunks(TOGETHER) {
            let scanners: Result<Vec<LineScanner>> = some
                .iter()
                .map(|&n| self.scanner(&GrepPatterns::of_string(strings[n])))
                .collect();
            for (&n, count) in some.iter().zip(self.scan(scanners?)?) {
                counts[n] = count;
            }
        }
        Ok(counts)
    }

    fn scanner(&self, patterns: &GrepPatterns) -> Result<LineScanner> {
        let args = PatternArgs {
            ignore_case: self.args.ignore_case,
            no_unicode: true,
            ..PatternArgs::default()
        };
        let matcher = grep_patterns::matcher(patterns, &args)?;
        Ok(LineScanner {
            matcher,
            wanted: WANTED,
        })
    }

    /// The number of lines that hold a string, if the index tells.
    fn by_index(&self, string: &[u8]) -> Result<Option<u64>> {
        let patterns = GrepPatterns::of_string(string);
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
        let scanner = self.scanner(&patterns)?;
        let threads = self.args.resources.thread_count();
        let mut out = io::sink();
        let mut report = FileReport::new(&plan, &scanner, self.name, None, &mut out, false);
        let mut search = SourceSearch {
            queue: &mut ScanQueue::new(scanner.clone(), threads),
            report: &mut report,
            options: self.options.clone(),
            threads,
            indexed: Some(&indexed),
            name: self.name,
            talk: self.args.talk,
            longest_line: self.args.resources.longest_line(),
        };
        let is_counted = search.ask_index()?;
        Ok(is_counted.then(|| report.selected()))
    }

    /// Decodes the file, and counts the lines that each scanner selects.
    fn scan(&self, scanners: Vec<LineScanner>) -> Result<Vec<u64>> {
        let threads = self.args.resources.thread_count();
        let OpenInput { mut source, .. } = OpenInput::open(self.name, true)?;
        source.read_beside(threads);
        let longest_line = self.args.resources.longest_line();
        let mut sums = LineSums {
            cutter: PartCutter::new(WANTED.terminator, longest_line),
            counts: vec![0; scanners.len()],
            scanners,
            threads,
        };
        bwz::decompress(source, &mut sums, &self.options)?;
        let rest = sums.cutter.finish();
        sums.take(rest);
        Ok(sums.counts)
    }
}

/// The numbers of lines of a text that scanners select. The text is written to it.
struct LineSums {
    cutter: PartCutter,
    scanners: Vec<LineScanner>,
    counts: Vec<u64>,
    threads: usize,
}

impl LineSums {
    fn take(&mut self, part: Option<TextPart>) {
        let Some(part) = part else {
            return;
        };
        let threads = self.threads.min(self.scanners.len());
        let count = |scanner: &LineScanner| scanner.count(&part.bytes);
        let found = side_by_side(threads, self.scanners.iter(), count);
        for (sum, count) in self.counts.iter_mut().zip(found) {
            *sum += count;
        }
    }
}

impl Write for LineSums {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (count, part) = self.cutter.add(bytes)?;
        self.take(part);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
