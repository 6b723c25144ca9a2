//! Prints lines as GNU grep does: name, number and offset before each line, with colours if they
//! are wanted, and `--` where lines are left out.

use crate::cli::search::grep::context_lines::{Line, LineTaker};
use crate::cli::search::grep::grep_colors::GrepColors;
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
    /// The colours, if there are to be any.
    pub colors: Option<GrepColors>,
    /// A tab precedes the text of lines, and numbers stand in columns.
    pub initial_tab: bool,
    pub line_buffered: bool,
    /// The selected lines are those that do not match, so that the others may have matches.
    pub inverted: bool,
    pub terminator: u8,
}

/// A printer of the lines of one file.
pub(crate) struct LinePrinter<'p> {
    pub form: &'p LineForm,
    /// The name of the file.
    pub name: &'p [u8],
    /// Minimum number of digits of a number before a line.
    pub number_width: usize,
    /// Finds the matches in context, for their colour.
    pub scanner: &'p LineScanner,
    pub out: &'p mut dyn Write,
}

impl LineTaker for LinePrinter<'_> {
    fn selected(&mut self, line: &Line) -> io::Result<()> {
        if self.form.only_matching {
            return self.matches_alone(line);
        }
        self.line(line, true, line.matches)
    }

    fn context(&mut self, line: &Line) -> io::Result<()> {
        if self.form.only_matching {
            return Ok(());
        }
        let mut matches = Vec::new();
        if self.form.colors.is_some() && self.form.inverted {
            self.scanner
                .push_matches(line.bytes, &(0..line.bytes.len()), &mut matches);
        }
        self.line(line, false, &matches)
    }

    fn gap(&mut self) -> io::Result<()> {
        self.colored(|colors| &colors.separator, b"--")?;
        self.out.write_all(b"\n")
    }
}

impl LinePrinter<'_> {
    /// Prints the name of the file on its own.
    pub(crate) fn name_alone(&mut self) -> io::Result<()> {
        self.colored(|colors| &colors.filename, self.name)?;
        let end = if self.form.null { 0 } else { b'\n' };
        self.out.write_all(&[end])
    }

    /// Prints a number about the file.
    pub(crate) fn count(&mut self, count: u64) -> io::Result<()> {
        self.filename(b":")?;
        writeln!(self.out, "{count}")
    }

    fn line(&mut self, line: &Line, is_selected: bool, matches: &[Range<usize>]) -> io::Result<()> {
        let separator = if is_selected { b":" } else { b"-" };
        let text = self.scanner.unterminated(line.bytes);
        self.prefix(line.number, line.offset, separator, text.len())?;
        let form = self.form;
        match &form.colors {
            Some(colors) => self.colored_text(colors, line, is_selected, matches)?,
            None => self.out.write_all(text)?,
        }
        self.end_line()
    }

    /// Prints a text with its colour and those of its matches. As in GNU grep, a carriage return at
    /// the end has none.
    fn colored_text(
        &mut self,
        colors: &GrepColors,
        line: &Line,
        is_selected: bool,
        matches: &[Range<usize>],
    ) -> io::Result<()> {
        let text = self.scanner.unterminated(line.bytes);
        let of_match = match is_selected {
            true => &colors.selected_match,
            false => &colors.context_match,
        };
        let of_line = match is_selected != (self.form.inverted && colors.swapped) {
            true => &colors.selected_line,
            false => &colors.context_line,
        };
        let mut at = 0;
        if !of_match.is_empty() {
            for found in matches.iter().filter(|found| !found.is_empty()) {
                let range = found.start - line.start..found.end - line.start;
                self.start_color(colors, of_line)?;
                self.out.write_all(&text[at..range.start])?;
                self.start_color(colors, of_match)?;
                self.out.write_all(&text[range.clone()])?;
                self.end_color(colors, of_match)?;
                at = range.end;
            }
        }
        let rest = &text[at..];
        let tail = rest.strip_suffix(b"\r").unwrap_or(rest);
        if !tail.is_empty() {
            self.start_color(colors, of_line)?;
            self.out.write_all(tail)?;
            self.end_color(colors, of_line)?;
        }
        self.out.write_all(&rest[tail.len()..])
    }

    fn matches_alone(&mut self, line: &Line) -> io::Result<()> {
        for found in line
            .matches
            .iter()
            .filter(|found| !found.is_empty())
        {
            let range = found.start - line.start..found.end - line.start;
            let offset = line.offset + range.start as u64;
            self.prefix(line.number, offset, b":", range.len())?;
            self.colored(|colors| &colors.selected_match, &line.bytes[range])?;
            self.end_line()?;
        }
        Ok(())
    }

    /// Prints name and numbers before a text of `size` bytes.
    fn prefix(
        &mut self,
        number: u64,
        offset: u64,
        separator: &[u8],
        size: usize,
    ) -> io::Result<()> {
        let form = self.form;
        let width = self.number_width;
        self.filename(separator)?;
        if form.line_number {
            self.colored(
                |colors| &colors.line_number,
                format!("{number:width$}").as_bytes(),
            )?;
            self.colored(|colors| &colors.separator, separator)?;
        }
        if form.byte_offset {
            self.colored(
                |colors| &colors.byte_offset,
                format!("{offset:width$}").as_bytes(),
            )?;
            self.colored(|colors| &colors.separator, separator)?;
        }
        let has_prefix = form.with_filename || form.line_number || form.byte_offset;
        match form.initial_tab && has_prefix && size > 0 {
            true => self.out.write_all(b"\t"),
            false => Ok(()),
        }
    }

    fn filename(&mut self, separator: &[u8]) -> io::Result<()> {
        if !self.form.with_filename {
            return Ok(());
        }
        self.colored(|colors| &colors.filename, self.name)?;
        match self.form.null {
            true => self.out.write_all(&[0]),
            false => self.colored(|colors| &colors.separator, separator),
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.out.write_all(&[self.form.terminator])?;
        match self.form.line_buffered {
            true => self.out.flush(),
            false => Ok(()),
        }
    }

    /// Prints a text in one of the colours, if there are any.
    fn colored(&mut self, choose: fn(&GrepColors) -> &Vec<u8>, text: &[u8]) -> io::Result<()> {
        let form = self.form;
        let Some(colors) = &form.colors else {
            return self.out.write_all(text);
        };
        let color = choose(colors);
        self.start_color(colors, color)?;
        self.out.write_all(text)?;
        self.end_color(colors, color)
    }

    fn start_color(&mut self, colors: &GrepColors, color: &[u8]) -> io::Result<()> {
        if color.is_empty() {
            return Ok(());
        }
        let end: &[u8] = if colors.clears { b"m\x1b[K" } else { b"m" };
        self.out
            .write_all(&[b"\x1b[", color, end].concat())
    }

    fn end_color(&mut self, colors: &GrepColors, color: &[u8]) -> io::Result<()> {
        match (color.is_empty(), colors.clears) {
            (true, _) => Ok(()),
            (false, true) => self.out.write_all(b"\x1b[m\x1b[K"),
            (false, false) => self.out.write_all(b"\x1b[m"),
        }
    }
}
