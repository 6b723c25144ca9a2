//! The report of `repeats`: lines or JSON on standard output, a summary on standard error.

use crate::cli::arguments::args::Talk;
use crate::cli::arguments::repeats_args::RepeatsArgs;
use crate::cli::arguments::size::count;
use crate::cli::files::input_name::Name;
use crate::cli::report::json_bytes::hex_unless_text;
use crate::cli::report::screen::Screen;
use crate::cli::search::match_lines::push_escaped;
use bwz::repeats::{MostFrequent, Repeats};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

/// The arguments, and the repeats found.
pub(crate) struct RepeatsReport<'a> {
    pub args: &'a RepeatsArgs,
    pub names: &'a [Name],
    pub found: &'a Repeats,
}

/// Prints JSON if it is wanted. Otherwise prints ranges, unless files are written.
pub(crate) fn print(report: &RepeatsReport) -> io::Result<()> {
    match report.args {
        RepeatsArgs { json: true, .. } => {
            crate::cli::report::screen::print_json(&RepeatsListing::of(report))
        }
        RepeatsArgs { output, .. } if !output.is_empty() => Ok(()),
        _ => print_lines(report),
    }
}

fn print_lines(report: &RepeatsReport) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, Screen::stdout()?);
    for (name, file) in report.names.iter().zip(&report.found.files) {
        let mut start = Vec::new();
        push_escaped(&mut start, name.bytes());
        for range in &file.ranges {
            out.write_all(&start)?;
            writeln!(out, "\t{}\t{}", range.start, range.end)?;
        }
    }
    out.flush()
}

impl RepeatsReport<'_> {
    /// Reports how much is repeated.
    pub(crate) fn sum_up(&self, talk: Talk) {
        let Sums {
            size,
            repeated,
            ranges,
            removed,
        } = self.sums();
        let share = |part: u64| 100.0 * part as f64 / (size as f64).max(1.0);
        let of = count(size, "byte");
        talk.state(format_args!(
            "{repeated} of {of} are repeated ({:.2} %), in {}",
            share(repeated),
            count(ranges, "range")
        ));
        if let Some((name, range)) = self.longest() {
            let length = count(range.end - range.start, "byte");
            let start = range.start;
            talk.state(format_args!(
                "the longest range: {length}, {name} at byte {start}"
            ));
        }
        if let Some(MostFrequent {
            file,
            offset,
            copies,
            ..
        }) = self.found.most_frequent
        {
            let unit = if self.args.tokens.is_some() {
                "token"
            } else {
                "byte"
            };
            let length = count(self.args.min_length, unit);
            let copies = copy_count(copies);
            let name = &self.names[file];
            talk.state(format_args!(
                "the most copies: {copies} of {length}, {name} at byte {offset}"
            ));
        }
        if !self.args.output.is_empty() {
            talk.state(format_args!(
                "{removed} of {of} are cut out ({:.2} %)",
                share(removed)
            ));
        }
        let usual = if self.args.across.is_empty() { 1 } else { 2 };
        if self.found.parts > usual {
            talk.sum_up(format_args!(
                "read in {}",
                count(self.found.parts as u64, "part")
            ));
        }
    }

    /// Returns the sums over the files, without the file of `--across`.
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        let skipped = usize::from(!self.args.across.is_empty());
        for file in &self.found.files[skipped..] {
            sums.size += file.size;
            sums.repeated += total(&file.ranges);
            sums.ranges += file.ranges.len() as u64;
            sums.removed += total(&file.later_copies);
        }
        sums
    }

    /// Returns the first of the longest ranges.
    fn longest(&self) -> Option<(&Name, &Range<u64>)> {
        let files = self.names.iter().zip(&self.found.files);
        let ranges =
            files.flat_map(|(name, file)| file.ranges.iter().map(move |range| (name, range)));
        ranges
            .rev()
            .max_by_key(|(_, range)| range.end - range.start)
    }
}

/// Formats a number of copies: `1 copy`, `2 copies`.
fn copy_count(copies: u64) -> String {
    if copies == 1 {
        "1 copy".into()
    } else {
        format!("{copies} copies")
    }
}

#[derive(Default)]
struct Sums {
    size: u64,
    repeated: u64,
    ranges: u64,
    removed: u64,
}

fn total(ranges: &[Range<u64>]) -> u64 {
    ranges
        .iter()
        .map(|range| range.end - range.start)
        .sum()
}

/// The repeats, as `--json` shows them. Fields that are added later do not replace these.
#[derive(Serialize)]
struct RepeatsListing {
    min_length: u64,
    unit_size: usize,
    size: u64,
    repeated: u64,
    most_frequent: Option<ListedWindow>,
    files: Vec<ListedFile>,
}

/// The most frequent range. `most_frequent` is null if nothing is repeated, or if the files did not
/// fit in memory.
#[derive(Serialize)]
struct ListedWindow {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    offset: u64,
    copies: u64,
}

/// The ranges of a file, as pairs of a start and an end. `removed` is null if no file is written.
#[derive(Serialize)]
struct ListedFile {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    size: u64,
    repeated: u64,
    ranges: Vec<[u64; 2]>,
    removed: Option<Vec<[u64; 2]>>,
}

impl RepeatsListing {
    fn of(report: &RepeatsReport) -> Self {
        let RepeatsReport { args, names, found } = report;
        let pairs = |ranges: &[Range<u64>]| ranges.iter().map(|r| [r.start, r.end]).collect();
        let files = names
            .iter()
            .zip(&found.files)
            .map(|(name, file)| ListedFile {
                name: name.to_string(),
                name_hex: hex_unless_text(name.bytes()),
                size: file.size,
                repeated: total(&file.ranges),
                ranges: pairs(&file.ranges),
                removed: (!args.output.is_empty()).then(|| pairs(&file.later_copies)),
            });
        let window = |window: MostFrequent| ListedWindow {
            file: names[window.file].to_string(),
            file_hex: hex_unless_text(names[window.file].bytes()),
            offset: window.offset,
            copies: window.copies,
        };
        let Sums { size, repeated, .. } = report.sums();
        RepeatsListing {
            min_length: args.min_length,
            unit_size: args.unit().size(),
            size,
            repeated,
            most_frequent: found.most_frequent.map(window),
            files: files.collect(),
        }
    }
}
