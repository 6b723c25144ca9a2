//! The texts that are searched together, and the length of the match at two of their positions.
//!
//! A position counts units (bytes or tokens) from the start of the first text. Windows and
//! extensions never cross from one text into the next.

use crate::base::equal_bytes::{common_prefix, common_suffix};
use std::ops::Range;

/// A text that is searched together with others, or a part of one.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub text: &'a [u8],
    /// Position of its first unit.
    pub start: usize,
    /// True if its windows may be copied later.
    pub is_source: bool,
    /// True if its windows may be copies.
    pub is_target: bool,
}

/// Segments in the order of their positions, in units of `width` bytes.
pub(super) struct Texts<'a> {
    segments: Vec<Segment<'a>>,
    pub width: usize,
    /// Position behind all units.
    pub end: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn new(width: usize) -> Self {
        Texts {
            segments: Vec::new(),
            width,
            end: 0,
        }
    }

    /// Adds a text behind the others.
    pub(super) fn add(&mut self, text: &'a [u8], is_source: bool, is_target: bool) {
        let start = self.end;
        let text = &text[..text.len() / self.width * self.width];
        self.end += text.len() / self.width;
        if !text.is_empty() {
            self.segments.push(Segment {
                text,
                start,
                is_source,
                is_target,
            });
        }
    }

    /// Skips positions, so that the next text starts with a new word of marks.
    pub(super) fn align(&mut self) {
        self.end = self.end.next_multiple_of(64);
    }

    /// The segments, each with the start positions of its windows of `len` units.
    pub(super) fn windows(&self, len: usize) -> impl Iterator<Item = (Segment<'a>, Range<usize>)> {
        let width = self.width;
        self.segments.iter().map(move |segment| {
            let count = (segment.text.len() / width + 1).saturating_sub(len);
            (*segment, segment.start..segment.start + count)
        })
    }

    /// The segment that holds the unit at `position`.
    pub(super) fn segment(&self, position: usize) -> Segment<'a> {
        self.segments[self
            .segments
            .partition_point(|segment| segment.start <= position)
            - 1]
    }

    /// A unit of a segment, by its position.
    pub(super) fn spot(&self, position: usize) -> Spot<'a> {
        let segment = self.segment(position);
        Spot {
            segment,
            offset: (position - segment.start) * self.width,
        }
    }

    /// Number of equal units before both spots, up to `most`.
    pub(super) fn common_before(&self, a: Spot, b: Spot, most: usize) -> usize {
        let a = &a.segment.text[..a.offset];
        let b = &b.segment.text[..b.offset];
        let most = a.len().min(b.len()).min(most * self.width);
        common_suffix(&a[a.len() - most..], &b[b.len() - most..]) / self.width
    }

    /// Number of equal units from both spots on, up to `most`.
    pub(super) fn common_from(&self, a: Spot, b: Spot, most: usize) -> usize {
        let a = &a.segment.text[a.offset..];
        let b = &b.segment.text[b.offset..];
        let most = a.len().min(b.len()).min(most * self.width);
        common_prefix(&a[..most], &b[..most]) / self.width
    }

    /// True if both positions have `len` units, and these are equal.
    pub(super) fn are_equal(&self, a: usize, b: usize, len: usize) -> bool {
        self.common_from(self.spot(a), self.spot(b), len) == len
    }
}

/// A unit of a segment.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub segment: Segment<'a>,
    /// Offset from the segment's start, in bytes.
    offset: usize,
}

/// The unit with number `number`, of `WIDTH` bytes.
#[inline(always)]
pub(super) fn unit<const WIDTH: usize>(text: &[u8], number: usize) -> u64 {
    let bytes = &text[number * WIDTH..][..WIDTH];
    bytes
        .iter()
        .rev()
        .fold(0, |unit, &byte| unit << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_end_where_units_differ_or_a_text_does() {
        let a = b"0123456789abcdefghijX";
        let b = b"Y123456789abcdefghijZ!";
        for width in [1, 2, 4] {
            let mut texts = Texts::new(width);
            texts.add(a, true, true);
            texts.add(b, true, true);
            let second = a.len() / width;
            for n in 0..20 / width {
                let a = texts.spot(n);
                let b = texts.spot(second + n);
                let before = if n == 0 { 0 } else { n * width - 1 } / width;
                assert_eq!(texts.common_before(a, b, 99), before, "{width} {n}");
                assert_eq!(texts.common_before(a, b, 2), before.min(2));
                let from = if n == 0 { 0 } else { 20 / width - n };
                assert_eq!(texts.common_from(a, b, 99), from, "{width} {n}");
                assert_eq!(texts.common_from(a, b, 2), from.min(2));
            }
        }
    }

    #[test]
    fn units_are_little_endian() {
        let text = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!((unit::<1>(&text, 3), unit::<2>(&text, 1)), (4, 0x0403));
        assert_eq!(unit::<4>(&text, 1), 0x0807_0605);
    }
}
