//! Ranges cut at the ends of lines.

use crate::error::Result;
use std::io::{BufRead, BufReader, Read};
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
pub fn whole_lines(text: impl Read, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>> {
    let mut text = BufReader::with_capacity(1 << 16, text);
    let (mut whole, mut start): (Vec<Range<u64>>, _) = (Vec::new(), 0);
    let mut ranges = ranges.iter().peekable();
    loop {
        let end = start + text.skip_until(b'\n')? as u64;
        if end == start {
            return Ok(whole);
        }
        while ranges.next_if(|range| range.end <= start).is_some() {}
        if ranges.peek().is_some_and(|range| range.start <= start && end <= range.end) {
            match whole.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => whole.push(start..end),
            }
        }
        start = end;
    }
}
