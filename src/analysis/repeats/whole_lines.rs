//! Ranges cut at the ends of lines.

use super::whole_parts::WholeParts;
use crate::base::error::Result;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

/// The whole lines in `ranges`, which are in ascending order. `text` reads the text of the ranges.
///
/// A line ends with a line feed, which is part of it, or with the text. A line is left out if any
/// of its bytes is in no range.
///
/// ```
/// let lines = bwz::repeats::whole_lines(&b"one\ntwo\nthree"[..], &[1..9, 10..13])?;
/// assert_eq!(lines, [4..8]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// Errors of reading `text`.
pub fn whole_lines(text: impl Read, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>> {
    let mut text = BufReader::with_capacity(1 << 16, text);
    let mut whole = WholeParts::new(ranges);
    let mut end = 0;
    loop {
        match text.skip_until(b'\n')? as u64 {
            0 => return Ok(whole.found()),
            size => end += size,
        }
        whole.end_at(end);
    }
}
