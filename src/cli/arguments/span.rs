//! Ranges of bytes and of lines as people type them.
//!
//! Bytes are counted from 0, and lines from 1, as editors and `grep -n` count them. In both, the
//! end is not part of the range.

use crate::cli::arguments::size;
use bwz::{Error, Result as BwzResult};
use std::ops::Range;

/// A place in a file, in bytes or lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    FromStart(u64),
    /// Counted back from the end.
    FromEnd(u64),
}

impl Position {
    /// The place in a file of `size` bytes or lines. `None` if it is before the file.
    pub(crate) fn within(self, size: u64) -> Option<u64> {
        match self {
            Position::FromStart(position) => Some(position),
            Position::FromEnd(back) => size.checked_sub(back),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    At(Position),
    /// A number of bytes or lines after the start.
    After(u64),
    OfFile,
}

/// A range of bytes or of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: Position,
    end: End,
}

/// The treatment of a range that reaches beyond the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Refused,
    /// The part that is in the file is taken.
    Cut,
}

impl Span {
    /// The range in a file of `size` bytes or lines, as `unit` says.
    ///
    /// # Errors
    /// [`Error::Usage`] if the range is not within the file and is not to be cut.
    pub(crate) fn within(self, size: u64, unit: &str, beyond: Beyond) -> BwzResult<Range<u64>> {
        let start = self.start.within(size);
        let after_start = |length| start.unwrap_or(0).saturating_add(length);
        let end = match self.end {
            End::At(position) => position.within(size),
            End::After(length) => Some(after_start(length)),
            End::OfFile => Some(size),
        };
        match (start, end, beyond) {
            (_, _, Beyond::Cut) => {
                let start = start.unwrap_or(0).min(size);
                Ok(start..end.unwrap_or(0).clamp(start, size))
            }
            (Some(start), Some(end), _) if start <= end && end <= size => Ok(start..end),
            _ => Err(self.beyond(size, unit)),
        }
    }

    fn beyond(self, size: u64, unit: &str) -> Error {
        let first = match unit {
            "lines" => 1,
            _ => 0,
        };
        let place = |position: Position| match position {
            Position::FromStart(from) => (from + first).to_string(),
            Position::FromEnd(back) => format!("-{back}"),
        };
        let start = place(self.start);
        let range = match self.end {
            End::At(position) => format!("{start}..{}", place(position)),
            End::After(length) => format!("{start}+{length}"),
            End::OfFile => format!("{start}.."),
        };
        let said = format!(
            "range {range} is not within the {size} {unit} of the file; --clamp writes the part \
             that is"
        );
        Error::Usage(said.into())
    }

    /// The start of the range.
    pub(crate) fn start(self) -> Position {
        self.start
    }

    /// True if the range is known, and within the file, if the file has at least `size` bytes or
    /// lines.
    pub(crate) fn is_surely_within(self, size: u64) -> bool {
        let Position::FromStart(start) = self.start else {
            return false;
        };
        let end = match self.end {
            End::At(Position::FromStart(end)) => end,
            End::After(length) => start.saturating_add(length),
            _ => return false,
        };
        start <= end && end <= size
    }
}

/// Reads a range of bytes: `A..B`, `A+LENGTH`, `A..` or `..B`. Places may be counted from the end,
/// as `-A`.
pub(crate) fn bytes(text: &str) -> Result<Span, String> {
    span(text, size::bytes, 0)
}

/// Reads a range of lines, like one of bytes, but counted from 1; or the number of one line.
pub(crate) fn lines(text: &str) -> Result<Span, String> {
    if text.parse::<u64>().is_ok() {
        return span(&format!("{text}+1"), number, 1);
    }
    span(text, number, 1)
}

/// Reads how much of the front of a file is wanted: `N`, or `-N` for all but the last.
pub(crate) fn front(text: &str, number: Parser) -> Result<Span, String> {
    let end = position(text, number, 0)?;
    Ok(Span {
        start: Position::FromStart(0),
        end: End::At(end),
    })
}

/// Reads how much of the end of a file is wanted: `N`, or `+N` for all from the `N`th on.
pub(crate) fn rest(text: &str, number: Parser) -> Result<Span, String> {
    let start = match text.strip_prefix('+') {
        Some(from) => Position::FromStart(number(from)?.saturating_sub(1)),
        None => Position::FromEnd(number(text.strip_prefix('-').unwrap_or(text))?),
    };
    Ok(Span {
        start,
        end: End::OfFile,
    })
}

/// Reads a number of bytes or of lines.
pub(crate) type Parser = fn(&str) -> Result<u64, String>;

/// Reads a number of lines.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number of lines"))
}

fn span(text: &str, number: Parser, first: u64) -> Result<Span, String> {
    let end_of = |start: Position, end: End| match (start, end) {
        (Position::FromStart(start), End::At(Position::FromStart(end))) if end < start => {
            Err("it ends before it starts".to_owned())
        }
        (Position::FromEnd(start), End::At(Position::FromEnd(end))) if start < end => {
            Err("it ends before it starts".to_owned())
        }
        (Position::FromStart(start), End::After(length)) if start.checked_add(length).is_none() => {
            Err("it is too large".to_owned())
        }
        _ => Ok(Span { start, end }),
    };
    if let Some((start, length)) = text.split_once('+') {
        return end_of(position(start, number, first)?, End::After(number(length)?));
    }
    let Some((start, end)) = text.split_once("..") else {
        return Err("it is not A..B, A+LENGTH, A.. or ..B".into());
    };
    let start = match start {
        "" => Position::FromStart(0),
        _ => position(start, number, first)?,
    };
    let end = match end {
        "" => End::OfFile,
        _ => End::At(position(end, number, first)?),
    };
    end_of(start, end)
}

/// Reads a place. `first` is the number of the first one.
fn position(text: &str, number: Parser, first: u64) -> Result<Position, String> {
    match text.strip_prefix('-') {
        Some(back) => Ok(Position::FromEnd(number(back)?)),
        None => match number(text)?.checked_sub(first) {
            Some(from) => Ok(Position::FromStart(from)),
            None => Err("lines are counted from 1".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(span: Span, size: u64) -> Range<u64> {
        span.within(size, "bytes", Beyond::Cut).unwrap()
    }

    fn exact(text: &str) -> Option<Range<u64>> {
        bytes(text)
            .unwrap()
            .within(4000, "bytes", Beyond::Refused)
            .ok()
    }

    #[test]
    fn spans_may_lack_an_end_or_be_counted_from_it() {
        assert_eq!(exact("1K..2K"), Some(1024..2048));
        assert_eq!(exact("5+10"), Some(5..15));
        assert_eq!(exact("5.."), Some(5..4000));
        assert_eq!(exact("..5"), Some(0..5));
        assert_eq!(exact(".."), Some(0..4000));
        assert_eq!(exact("-1000.."), Some(3000..4000));
        assert_eq!(exact("-1000..-10"), Some(3000..3990));
        assert_eq!(exact("-1000+10"), Some(3000..3010));
        assert_eq!(exact("10..-10"), Some(10..3990));
        for text in [
            "0..4001",
            "4001..",
            "-4001..",
            "-5+6",
            "3999..-10",
            "4000+1",
        ] {
            assert_eq!(exact(text), None, "{text}");
        }
        assert_eq!(exact("4000.."), Some(4000..4000));
        for text in [
            "",
            "5",
            "5-6",
            "6..5",
            "-5..-6",
            "+5",
            "5+",
            "a..b",
            "--5..",
            "1+18446744073709551615",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_reaches_beyond_the_file_may_be_cut() {
        for (text, range) in [
            ("0..50", 0..9),
            ("-50..", 0..9),
            ("-50..-20", 0..0),
            ("20..30", 9..9),
            ("-50+3", 0..3),
            ("8+3", 8..9),
        ] {
            assert_eq!(cut(bytes(text).unwrap(), 9), range, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_from_1() {
        let range = |text| {
            let span = lines(text).unwrap();
            let range = span.within(100, "lines", Beyond::Refused);
            (range.ok(), span.is_surely_within(99))
        };
        assert_eq!(range("1..3"), (Some(0..2), true));
        assert_eq!(range("7"), (Some(6..7), true));
        assert_eq!(range("10+5"), (Some(9..14), true));
        assert_eq!(range("100"), (Some(99..100), false));
        assert_eq!(range("101"), (None, false));
        assert_eq!(range("-10.."), (Some(90..100), false));
        for text in ["0..3", "0", "1K..2K", "x", ""] {
            assert!(lines(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fronts_and_rests_are_those_of_head_and_tail() {
        let front = |text| cut(front(text, number).unwrap(), 20);
        assert_eq!((front("5"), front("-5"), front("50")), (0..5, 0..15, 0..20));
        let rest = |text| cut(rest(text, number).unwrap(), 20);
        assert_eq!((rest("5"), rest("-5"), rest("+5")), (15..20, 15..20, 4..20));
        assert_eq!(
            (rest("50"), rest("+50"), rest("+0")),
            (0..20, 20..20, 0..20)
        );
    }
}
