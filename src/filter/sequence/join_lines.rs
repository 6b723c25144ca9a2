//! Text and layout -> raw block, in one pass.

use super::cover::Stretches;
use super::line_layout::Layout;
use super::lines::End;
use super::others;
use super::units::{Lead, LineUnit};
use crate::base::allocation;
use crate::base::error::Flaw;
use std::ops::Range;

/// Puts a block together.
///
/// # Errors
/// A [`Flaw`] if the text does not fit the layout.
pub fn join(mut text: Vec<u8>, layout: &Layout) -> Result<Vec<u8>, Flaw> {
    const SIZE: Flaw = Flaw("the sequences of a block are not of the size that its layout says");
    if text.len() != layout.text_size() {
        return Err(SIZE);
    }
    let (sequence, heads) = text.split_at_mut(layout.sequence_size());
    others::restore(heads, &layout.escaped)?;
    layout
        .small
        .iter()
        .for_each(|stretch| sequence[stretch].make_ascii_lowercase());
    let (heads, rest) = heads.split_at(layout.totals.heads);
    let (qualities, rest) = rest.split_at(layout.totals.qualities);
    let blanks = Blanks {
        bytes: &rest[..layout.blanks.total],
        ..Blanks::new(layout)
    };
    let block = allocation::with_capacity(layout.raw_size()).ok_or(Flaw::NO_MEMORY)?;
    let ends = Ends::new(layout);
    let mut join = LineJoin {
        block,
        sequence,
        heads,
        qualities,
        blanks,
        ends,
    };
    for place in layout.units.iter() {
        for _ in 0..place.times {
            join.unit(&place.unit)?;
        }
    }
    if join.block.len() == layout.raw_size() {
        Ok(join.block)
    } else {
        Err(SIZE)
    }
}

struct LineJoin<'a> {
    block: Vec<u8>,
    sequence: &'a [u8],
    heads: &'a [u8],
    qualities: &'a [u8],
    blanks: Blanks<'a>,
    ends: Ends<'a>,
}

/// Blanks in lines of sequences.
struct Blanks<'a> {
    bytes: &'a [u8],
    /// Next stretch of blanks, counted in the bytes of these lines.
    next: Option<Range<usize>>,
    rest: Stretches<'a>,
    /// Number of bytes of these lines that are restored.
    at: usize,
}

impl<'a> Blanks<'a> {
    fn new(layout: &'a Layout) -> Self {
        let mut rest = layout.blanks.iter();
        let next = rest.next();
        Blanks {
            bytes: &[],
            next,
            rest,
            at: 0,
        }
    }
}

impl<'a> LineJoin<'a> {
    fn unit(&mut self, unit: &LineUnit) -> Result<(), Flaw> {
        if unit.has_lead() {
            self.line(LinePart::Heads, unit.lead_len);
        }
        if unit.begins_record() {
            let rest = self.sequence.strip_prefix(b"\n");
            self.sequence = rest.ok_or(Flaw(
                "a record of sequences does not begin where its layout says",
            ))?;
        }
        let part = match unit.lead {
            Lead::Qualities => LinePart::Qualities,
            _ => LinePart::Sequence,
        };
        let width = unit.line_width();
        let mut left = unit.line_bytes;
        while left > width {
            self.line(part, width);
            left -= width;
        }
        if left > 0 || unit.lead == Lead::Read {
            self.line(part, left);
        }
        if unit.lead == Lead::Read {
            self.line(LinePart::Heads, unit.width);
            self.line(LinePart::Qualities, unit.line_bytes);
        }
        Ok(())
    }

    #[inline]
    fn line(&mut self, part: LinePart, len: usize) {
        match part {
            LinePart::Heads => self.take(len, |join| &mut join.heads),
            LinePart::Qualities => self.take(len, |join| &mut join.qualities),
            LinePart::Sequence if self.blanks.next.is_none() => {
                self.take(len, |join| &mut join.sequence);
            }
            LinePart::Sequence => self.line_with_blanks(len),
        }
        match self.ends.next() {
            End::Lf => self.block.push(b'\n'),
            End::CrLf => self.block.extend_from_slice(b"\r\n"),
            End::None => {}
        }
    }

    /// Moves `len` bytes of a part to the block.
    #[inline]
    fn take(&mut self, len: usize, of: impl Fn(&mut Self) -> &mut &'a [u8]) {
        let bytes = of(self);
        let (line, rest) = bytes.split_at(len);
        *bytes = rest;
        self.block.extend_from_slice(line);
    }

    #[cold]
    fn line_with_blanks(&mut self, len: usize) {
        let end = self.blanks.at + len;
        while self.blanks.at < end {
            let Range {
                start,
                end: stretch_end,
            } = self.blanks.next.clone().unwrap_or(end..end);
            let here = self.blanks.at;
            if here < start {
                self.blanks.at = end.min(start);
                self.take(self.blanks.at - here, |join| &mut join.sequence);
                continue;
            }
            self.blanks.at = end.min(stretch_end);
            self.take(self.blanks.at - here, |join| &mut join.blanks.bytes);
            if self.blanks.at == stretch_end {
                self.blanks.next = self.blanks.rest.next();
            }
        }
    }
}

#[derive(Clone, Copy)]
enum LinePart {
    Heads,
    Sequence,
    Qualities,
}

/// Ends of the lines, in order.
struct Ends<'a> {
    layout: &'a Layout,
    /// Number of lines to come that end in the same way.
    left: usize,
    /// True if these end by CRLF.
    crlf: bool,
    rest: Stretches<'a>,
    /// Next stretch of lines that end by CRLF.
    next: Option<Range<usize>>,
    /// Number of the next line.
    line: usize,
}

impl<'a> Ends<'a> {
    fn new(layout: &'a Layout) -> Self {
        let mut rest = layout.crlf.iter();
        let next = rest.next();
        Ends {
            layout,
            left: 0,
            crlf: true,
            rest,
            next,
            line: 0,
        }
    }

    #[inline]
    fn next(&mut self) -> End {
        if self.left == 0 {
            self.turn();
        }
        self.left -= 1;
        self.line += 1;
        match self.crlf {
            true => End::CrLf,
            false if self.line == self.layout.totals.lines && !self.layout.ends => End::None,
            false => End::Lf,
        }
    }

    /// Goes on to the next lines that end in the same way.
    #[cold]
    fn turn(&mut self) {
        match self.next.clone() {
            Some(next) if next.start == self.line => {
                (self.left, self.crlf) = (next.len(), true);
                self.next = self.rest.next();
            }
            next => {
                let until = next.map_or(usize::MAX, |next| next.start);
                (self.left, self.crlf) = (until - self.line, false);
            }
        }
    }
}
