//! The lines of a file in the order in which they are printed: the selected ones, those around
//! them, and the places where lines are left out.
//!
//! Parts are taken in order. Lines at the end of a part are kept if they may be context of the next
//! one. A part need not follow the one before it; lines between them are then left out, and the
//! part has all lines that its selected ones need around them.

use crate::cli::search::grep::line_scan::{Found, FoundLine};
use crate::cli::search::grep::text_part::TextPart;
use std::io;
use std::mem;
use std::ops::Range;

/// The number of lines of context. `None` if no context was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContextSize {
    pub before: Option<u64>,
    pub after: Option<u64>,
}

impl ContextSize {
    /// Returns true if context was asked for. Places where lines are left out are then marked, even
    /// if no line of context is printed.
    pub(crate) fn is_asked_for(self) -> bool {
        self.before.is_some() || self.after.is_some()
    }
}

/// A line to print.
pub(crate) struct Line<'l> {
    /// The line with its terminator, if it has one.
    pub bytes: &'l [u8],
    /// Its offset in the file.
    pub offset: u64,
    /// Its number, from 1. It is right only if numbers are wanted.
    pub number: u64,
    /// Its matches, as ranges of the part. Those of context are not known.
    pub matches: &'l [Range<usize>],
    /// The place of the line in the part.
    pub start: usize,
}

/// The printer of the lines.
pub(crate) trait LineTaker {
    fn selected(&mut self, line: &Line) -> io::Result<()>;

    fn context(&mut self, line: &Line) -> io::Result<()>;

    /// Lines are left out here.
    fn gap(&mut self) -> io::Result<()>;
}

/// The limits of the lines that are taken from a part.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Maximum number of selected lines.
    pub count: u64,
    /// The end of the last line that may be printed.
    pub stop: usize,
}

/// The state between the parts of a file.
pub(crate) struct ContextLines {
    size: ContextSize,
    terminator: u8,
    /// Lines of other files were printed before, which the first line of this one does not follow.
    follows_others: bool,
    /// Number of lines that still belong to the context of the last selected line.
    owed: u64,
    /// End of the last printed line, if any was printed.
    printed_to: Option<u64>,
    /// Lines before the next part that were not printed and may be context.
    kept: Vec<u8>,
    /// End of the last part.
    end: u64,
    /// Number of the first line of the next part, if that follows the last one.
    next_line: u64,
}

/// The first line of a part that has not been dealt with: its place and its number.
#[derive(Clone, Copy)]
struct Cursor {
    at: usize,
    number: u64,
}

impl ContextLines {
    /// Starts a file. `follows_others` tells that lines of other files were printed before.
    pub(crate) fn new(size: ContextSize, terminator: u8, follows_others: bool) -> Self {
        ContextLines {
            size,
            follows_others,
            terminator,
            owed: 0,
            printed_to: None,
            kept: Vec::new(),
            end: 0,
            next_line: 1,
        }
    }

    /// Returns true if any line was printed, of this file or of others.
    pub(crate) fn has_printed(&self) -> bool {
        self.follows_others || self.printed_to.is_some()
    }

    /// Returns true if lines after the last selected one are still to be printed.
    pub(crate) fn owes(&self) -> bool {
        self.owed > 0
    }

    /// Takes the next part.
    pub(crate) fn take(
        &mut self,
        part: &TextPart,
        found: &Found,
        bounds: Bounds,
        taker: &mut dyn LineTaker,
    ) -> io::Result<()> {
        if part.offset != self.end {
            self.owed = 0;
            self.kept.clear();
        }
        let first_line = part.first_line.unwrap_or(self.next_line);
        let mut cursor = Cursor {
            at: 0,
            number: first_line,
        };
        let count = usize::try_from(bounds.count).unwrap_or(usize::MAX);
        for line in found.lines.iter().take(count) {
            if line.range.start >= bounds.stop {
                break;
            }
            let number = first_line + line.line_feeds;
            self.print_after(part, line.range.start, &mut cursor, taker)?;
            self.print_before(part, line.range.start, number, cursor.at, taker)?;
            self.print_selected(part, found, line, number, taker)?;
            cursor = Cursor {
                at: line.range.end,
                number: number + 1,
            };
        }
        self.print_after(part, bounds.stop, &mut cursor, taker)?;
        self.keep(&part.bytes[..bounds.stop], cursor.at);
        self.end = part.end();
        self.next_line = first_line + found.line_feeds;
        Ok(())
    }

    fn print_selected(
        &mut self,
        part: &TextPart,
        found: &Found,
        line: &FoundLine,
        number: u64,
        taker: &mut dyn LineTaker,
    ) -> io::Result<()> {
        let offset = part.offset + line.range.start as u64;
        self.mark_gap(offset, taker)?;
        taker.selected(&Line {
            bytes: &part.bytes[line.range.clone()],
            offset,
            number,
            matches: &found.matches[line.matches.clone()],
            start: line.range.start,
        })?;
        self.printed_to = Some(part.offset + line.range.end as u64);
        self.owed = self.size.after.unwrap_or(0);
        Ok(())
    }

    /// Prints lines from `cursor` to `end` as far as they belong to the last selected line.
    fn print_after(
        &mut self,
        part: &TextPart,
        end: usize,
        cursor: &mut Cursor,
        taker: &mut dyn LineTaker,
    ) -> io::Result<()> {
        while self.owed > 0 && cursor.at < end {
            self.owed -= 1;
            let feed = memchr::memchr(self.terminator, &part.bytes[cursor.at..end]);
            let next = feed.map_or(end, |feed| cursor.at + feed + 1);
            let offset = part.offset + cursor.at as u64;
            self.print_context(&part.bytes[cursor.at..next], offset, cursor.number, taker)?;
            *cursor = Cursor {
                at: next,
                number: cursor.number + 1,
            };
        }
        Ok(())
    }

    /// Prints the lines before a selected one, which begins at `start`. Lines before `from` are
    /// dealt with; if it is 0, the kept lines are not.
    fn print_before(
        &mut self,
        part: &TextPart,
        start: usize,
        number: u64,
        from: usize,
        taker: &mut dyn LineTaker,
    ) -> io::Result<()> {
        let Some(wanted) = self.size.before.filter(|&before| before > 0) else {
            return Ok(());
        };
        let here = self.last_lines(&part.bytes[from..start], wanted);
        let kept = match from {
            0 => mem::take(&mut self.kept),
            _ => Vec::new(),
        };
        let earlier = self.last_lines(&kept, wanted - here.count);
        let first = number.saturating_sub(here.count + earlier.count);
        let mut offset = part.offset - (kept.len() - earlier.start) as u64;
        if earlier.count == 0 {
            offset = part.offset + (from + here.start) as u64;
        }
        let lines = [
            &kept[earlier.start..],
            &part.bytes[from + here.start..start],
        ];
        let terminator = self.terminator;
        let lines = lines
            .into_iter()
            .flat_map(|lines| split(lines, terminator));
        for (number, line) in (first..).zip(lines) {
            self.print_context(line, offset, number, taker)?;
            offset += line.len() as u64;
        }
        Ok(())
    }

    fn print_context(
        &mut self,
        bytes: &[u8],
        offset: u64,
        number: u64,
        taker: &mut dyn LineTaker,
    ) -> io::Result<()> {
        self.mark_gap(offset, taker)?;
        taker.context(&Line {
            bytes,
            offset,
            number,
            matches: &[],
            start: 0,
        })?;
        self.printed_to = Some(offset + bytes.len() as u64);
        Ok(())
    }

    fn mark_gap(&self, offset: u64, taker: &mut dyn LineTaker) -> io::Result<()> {
        let is_gap = self
            .printed_to
            .map_or(self.follows_others, |end| end != offset);
        match is_gap && self.size.is_asked_for() {
            true => taker.gap(),
            false => Ok(()),
        }
    }

    /// Keeps the lines from `from` on that may be context of the next part.
    fn keep(&mut self, bytes: &[u8], from: usize) {
        let Some(before) = self.size.before.filter(|&before| before > 0) else {
            return;
        };
        if from > 0 {
            self.kept.clear();
        }
        let rest = &bytes[from..];
        let last = self.last_lines(rest, before);
        if last.count == before {
            self.kept.clear();
        }
        self.kept.extend_from_slice(&rest[last.start..]);
        let last = self.last_lines(&self.kept, before);
        self.kept.drain(..last.start);
    }

    /// The last lines of some lines, up to `most`.
    fn last_lines(&self, bytes: &[u8], most: u64) -> LastLines {
        let mut last = LastLines {
            start: bytes.len(),
            count: 0,
        };
        while last.count < most && last.start > 0 {
            let end = memchr::memrchr(self.terminator, &bytes[..last.start - 1]);
            last.start = end.map_or(0, |end| end + 1);
            last.count += 1;
        }
        last
    }
}

/// The place of the last lines of some lines, and their number.
struct LastLines {
    start: usize,
    count: u64,
}

/// The lines of a text, with their terminators.
fn split(bytes: &[u8], terminator: u8) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(move |&byte| byte == terminator)
}
