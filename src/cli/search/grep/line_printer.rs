//! Prints lines as GNU grep does: name, number and offset before each line, with colours if they
//! are wanted, and `--` where lines are left out.

use crate::cli::search::grep::context_lines::{Line, LineTaker};
use crate::cli::search::grep::line_scan::LineScanner;
use std::io::{self, Write};
use std::ops::Range;

/// The form of printed lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineForm {
    pub with_filename: bool,
    pub line_number: bool,
    pub byte_offset: bool,
    pub only_matching: bool,
    /// A zero byte follows the names of files.
    pub null: bool,
    pub color: bool,
    pub line_buffered: bool,
    /// The selected lines are those that do not match, so that the others may have matches.
    pub inverted: bool,
    pub terminator: u8,
}

/// A colour of GNU grep: the number of its escape sequence.
const FILENAME: &[u8] = b"35";
const NUMBER: &[u8] = b"32";
const SEPARATOR: &[u8] = b"36";
const MATCH: &[u8] = b"01;31";

/// A printer of the lines of one file.
pub(crate) struct LinePrinter<'p> {
    pub form: &'p LineForm,
    /// The name of the file.
    pub name: &'p [u8],
    /// Finds the matches in context, for their colour.
    pub scanner: &'p LineScanner,
    pub out: &'p mut dyn Write,
}

impl LineTaker for LinePrinter<'_> {
    fn selected(&mut self, line: &Line) -> io::Result<()> {
        if self.form.only_matching {
            return self.matches_alone(line);
        }
        self.line(line, b":", line.matches)
    }

    fn context(&mut self, line: &Line) -> io::Result<()> {
        if self.form.only_matching {
            return Ok(());
        }
        let mut matches = Vec::new();
        if self.form.color && self.form.inverted {
            self.scanner
                .push_matches(line.bytes, &(0..line.bytes.len()), &mut matches);
        }
        self.line(line, b"-", &matches)
    }

    fn gap(&mut self) -> io::Result<()> {
        self.colored(SEPARATOR, b"--")?;
        self.out.write_all(b"\n")
    }
}

impl LinePrinter<'_> {
    /// Prints the name of the file on its own.
    pub(crate) fn name_alone(&mut self) -> io::Result<()> {
        self.colored(FILENAME, self.name)?;
        let end = if self.form.null { 0 } else { b'\n' };
        self.out.write_all(&[end])
    }

    /// Prints a number about the file.
    pub(crate) fn count(&mut self, count: u64) -> io::Result<()> {
        self.filename(b":")?;
        writeln!(self.out, "{count}")
    }

    fn line(&mut self, line: &Line, separator: &[u8], matches: &[Range<usize>]) -> io::Result<()> {
        self.prefix(line.number, line.offset, separator)?;
        let text = self.scanner.unterminated(line.bytes);
        let mut at = 0;
        if self.form.color {
            for found in matches.iter().filter(|found| !found.is_empty()) {
                let range = found.start - line.start..found.end - line.start;
                self.out.write_all(&text[at..range.start])?;
                self.colored(MATCH, &text[range.clone()])?;
                at = range.end;
            }
        }
        self.out.write_all(&text[at..])?;
        self.end_line()
    }

    fn matches_alone(&mut self, line: &Line) -> io::Result<()> {
        for found in line
            .matches
            .iter()
            .filter(|found| !found.is_empty())
        {
            let range = found.start - line.start..found.end - line.start;
            self.prefix(line.number, line.offset + range.start as u64, b":")?;
            self.colored(MATCH, &line.bytes[range])?;
            self.end_line()?;
        }
        Ok(())
    }

    fn prefix(&mut self, number: u64, offset: u64, separator: &[u8]) -> io::Result<()> {
        self.filename(separator)?;
        let numbers = [
            self.form.line_number.then_some(number),
            self.form.byte_offset.then_some(offset),
        ];
        for number in numbers.into_iter().flatten() {
            self.colored(NUMBER, number.to_string().as_bytes())?;
            self.colored(SEPARATOR, separator)?;
        }
        Ok(())
    }

    fn filename(&mut self, separator: &[u8]) -> io::Result<()> {
        if !self.form.with_filename {
            return Ok(());
        }
        self.colored(FILENAME, self.name)?;
        match self.form.null {
            true => self.out.write_all(&[0]),
            false => self.colored(SEPARATOR, separator),
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.out.write_all(&[self.form.terminator])?;
        match self.form.line_buffered {
            true => self.out.flush(),
            false => Ok(()),
        }
    }

    fn colored(&mut self, color: &[u8], text: &[u8]) -> io::Result<()> {
        if !self.form.color {
            return self.out.write_all(text);
        }
        for piece in [b"\x1b[", color, b"m\x1b[K", text, b"\x1b[m\x1b[K"] {
            self.out.write_all(piece)?;
        }
        Ok(())
    }
}
