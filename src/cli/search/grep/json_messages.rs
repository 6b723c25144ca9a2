//! Prints lines as messages of JSON, one a line, in ripgrep's form: begin, match, context and end
//! of each file with matches, and a summary.
//!
//! Bytes that are not UTF-8 are given in base64, as `{"bytes": ...}` instead of `{"text": ...}`.

use crate::cli::search::grep::context_lines::{Line, LineTaker};
use crate::cli::search::grep::line_scan::LineScanner;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::ops::{AddAssign, Range};
use std::time::Duration;

/// The numbers that messages state, of a file or of all files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JsonStats {
    pub elapsed: Duration,
    pub searches: u64,
    pub searches_with_match: u64,
    pub bytes_searched: u64,
    pub bytes_printed: u64,
    pub matched_lines: u64,
    pub matches: u64,
}

impl AddAssign for JsonStats {
    fn add_assign(&mut self, more: JsonStats) {
        self.elapsed += more.elapsed;
        self.searches += more.searches;
        self.searches_with_match += more.searches_with_match;
        self.bytes_searched += more.bytes_searched;
        self.bytes_printed += more.bytes_printed;
        self.matched_lines += more.matched_lines;
        self.matches += more.matches;
    }
}

/// A message. The order of fields is that of ripgrep.
#[derive(Serialize)]
struct Message<'m, D> {
    #[serde(rename = "type")]
    kind: &'m str,
    data: D,
}

#[derive(Serialize)]
struct Begin {
    path: Value,
}

#[derive(Serialize)]
struct Lines {
    path: Value,
    lines: Value,
    line_number: Option<u64>,
    absolute_offset: u64,
    submatches: Vec<Submatch>,
}

#[derive(Serialize)]
struct Submatch {
    #[serde(rename = "match")]
    found: Value,
    start: usize,
    end: usize,
}

#[derive(Serialize)]
struct End {
    path: Value,
    binary_offset: Option<u64>,
    stats: Value,
}

/// A printer of the messages of one file.
pub(crate) struct JsonPrinter<'p> {
    pub name: &'p [u8],
    pub line_number: bool,
    pub inverted: bool,
    pub line_buffered: bool,
    /// Finds the matches in context, if the lines that do not match are selected.
    pub scanner: &'p LineScanner,
    pub stats: &'p mut JsonStats,
    /// True if the file has begun.
    pub begun: &'p mut bool,
    pub out: &'p mut dyn Write,
}

impl LineTaker for JsonPrinter<'_> {
    fn selected(&mut self, line: &Line) -> io::Result<()> {
        self.stats.matched_lines += 1;
        self.stats.matches += line.matches.len() as u64;
        self.line("match", line, line.matches)
    }

    fn context(&mut self, line: &Line) -> io::Result<()> {
        let mut matches = Vec::new();
        if self.inverted {
            self.scanner
                .push_matches(line.bytes, &(0..line.bytes.len()), &mut matches);
        }
        self.line("context", line, &matches)
    }

    fn gap(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl JsonPrinter<'_> {
    /// Prints the end of the file, if it has begun.
    pub(crate) fn end(&mut self, binary_offset: Option<u64>) -> io::Result<()> {
        if !*self.begun {
            return Ok(());
        }
        let data = End {
            path: text_or_bytes(self.name),
            binary_offset,
            stats: stats(self.stats),
        };
        self.message("end", data)
    }

    fn line(&mut self, kind: &str, line: &Line, matches: &[Range<usize>]) -> io::Result<()> {
        if !*self.begun {
            *self.begun = true;
            let path = text_or_bytes(self.name);
            self.message("begin", Begin { path })?;
        }
        let submatches = matches.iter().map(|found| {
            let start = found.start - line.start;
            let end = found.end - line.start;
            Submatch {
                found: text_or_bytes(&line.bytes[start..end]),
                start,
                end,
            }
        });
        let data = Lines {
            path: text_or_bytes(self.name),
            lines: text_or_bytes(line.bytes),
            line_number: self.line_number.then_some(line.number),
            absolute_offset: line.offset,
            submatches: submatches.collect(),
        };
        self.message(kind, data)?;
        match self.line_buffered {
            true => self.out.flush(),
            false => Ok(()),
        }
    }

    fn message(&mut self, kind: &str, data: impl Serialize) -> io::Result<()> {
        let message = serde_json::to_string(&Message { kind, data })?;
        self.stats.bytes_printed += message.len() as u64 + 1;
        writeln!(self.out, "{message}")
    }
}

/// Prints the summary of all files.
pub(crate) fn summary(all: &JsonStats, elapsed: Duration, out: &mut dyn Write) -> io::Result<()> {
    let data = json!({ "elapsed_total": time(elapsed), "stats": stats(all) });
    let kind = "summary";
    let message = serde_json::to_string(&Message { kind, data })?;
    writeln!(out, "{message}")
}

fn stats(stats: &JsonStats) -> Value {
    json!({
        "elapsed": time(stats.elapsed),
        "searches": stats.searches,
        "searches_with_match": stats.searches_with_match,
        "bytes_searched": stats.bytes_searched,
        "bytes_printed": stats.bytes_printed,
        "matched_lines": stats.matched_lines,
        "matches": stats.matches,
    })
}

fn time(time: Duration) -> Value {
    json!({
        "secs": time.as_secs(),
        "nanos": time.subsec_nanos(),
        "human": format!("{:.6}s", time.as_secs_f64()),
    })
}

fn text_or_bytes(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "bytes": base64(bytes) }),
    }
}

/// The standard base64 of RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut all = [0; 4];
        all[1..=group.len()].copy_from_slice(group);
        let all = u32::from_be_bytes(all);
        for n in 0..4 {
            let digit = DIGITS[(all >> (18 - 6 * n) & 63) as usize];
            let is_padding = n > group.len();
            text.push(if is_padding { '=' } else { digit.into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foobar", "Zm9vYmFy"),
            (b"\xff\xfe\xfb", "//77"),
        ] {
            assert_eq!(base64(bytes), text);
        }
    }
}
