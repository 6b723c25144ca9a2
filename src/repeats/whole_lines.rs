//! Ranges cut at the ends of lines.

use crate::error::Result;
use std::io::Read;
use std::ops::Range;

/// Of `ranges`, which are in ascending order, the whole lines; `text` gives the text they are of.
///
/// A line ends with a line feed, which is a part of it, or with the text. Lines of which any byte
/// is in no range are left out.
///
/// ```
/// let lines = bwz::repeats::whole_lines(&b"one\ntwo\nthree"[..], &[1..9, 10..13])?;
/// assert_eq!(lines, [4..8]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// What a read gives.
pub fn whole_lines(mut text: impl Read, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>> {
    let (mut lines, mut ranges) = (LineBounds::default(), ranges.iter().peekable());
    let (mut buffer, mut at) = (vec![0; 1 << 16], 0);
    loop {
        let read = match text.read(&mut buffer) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            lines.line(at, &mut ranges);
            return Ok(lines.whole);
        }
        for feed in memchr::memchr_iter(b'\n', &buffer[..read]) {
            lines.line(at + feed as u64 + 1, &mut ranges);
        }
        at += read as u64;
    }
}

#[derive(Default)]
struct LineBounds {
    whole: Vec<Range<u64>>,
    /// Where the next line begins.
    start: u64,
}

impl LineBounds {
    /// Takes the line that ends at `end`.
    fn line<'a>(
        &mut self,
        end: u64,
        ranges: &mut std::iter::Peekable<impl Iterator<Item = &'a Range<u64>>>,
    ) {
        let start = std::mem::replace(&mut self.start, end);
        while ranges.next_if(|range| range.end <= start).is_some() {}
        if start == end
            || !ranges.peek().is_some_and(|range| range.start <= start && end <= range.end)
        {
            return;
        }
        match self.whole.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.whole.push(start..end),
        }
    }
}
