//! Ranges cut at the ends of records of FASTA and FASTQ.

use super::whole_parts::WholeParts;
use crate::base::error::Result;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

/// The whole records of FASTA or FASTQ in `ranges`, which are in ascending order. `text` reads the
/// text of the ranges. `None` if the text does not begin as FASTA or FASTQ, apart from blank lines
/// at its front.
///
/// A record begins with its line of `>` or `@`. It ends at the beginning of the next record or at
/// the end of the text. A record of FASTQ may have several lines of bases and of qualities. If a
/// record of FASTQ is malformed, all the rest of the text belongs to it. A record is left out if
/// any of its bytes is in no range.
///
/// ```
/// let fasta = &b">a\nACGT\n>b\nAC\nGT\n>c\n"[..];
/// let records = bwz::repeats::whole_records(fasta, &[5..19])?;
/// assert_eq!(records, Some(vec![8..17]));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// Errors of reading `text`.
pub fn whole_records(text: impl Read, ranges: &[Range<u64>]) -> Result<Option<Vec<Range<u64>>>> {
    let text = BufReader::with_capacity(1 << 16, text);
    let mut lines = Lines {
        text,
        first: None,
        len: 0,
        end: 0,
    };
    while lines.next()? && lines.first.is_none() {}
    let mut whole = WholeParts::new(ranges);
    match lines.first {
        Some(b'>') => fasta(&mut lines, &mut whole)?,
        Some(b'@') => fastq(&mut lines, &mut whole)?,
        _ => return Ok(None),
    }
    Ok(Some(whole.found()))
}

/// The lines of a text, which may be very long. Only the fields that identify a line are kept.
struct Lines<T> {
    text: BufReader<T>,
    /// The first byte of the line, unless it is empty.
    first: Option<u8>,
    /// Bytes of the line, without its end.
    len: usize,
    /// End of the line, with its line end.
    end: u64,
}

impl<T: Read> Lines<T> {
    /// Goes on to the next line, if there is one.
    fn next(&mut self) -> Result<bool> {
        let mut first = None;
        let mut last = None;
        let mut size = 0;
        let mut is_whole = false;
        while !is_whole {
            let bytes = self.text.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            let feed = memchr::memchr(b'\n', bytes);
            let of_line = &bytes[..feed.unwrap_or(bytes.len())];
            first = first.or(of_line.first().copied());
            last = of_line.last().copied().or(last);
            size += of_line.len();
            is_whole = feed.is_some();
            let read = of_line.len() + usize::from(is_whole);
            self.text.consume(read);
            self.end += read as u64;
        }
        self.len = size - usize::from(last == Some(b'\r'));
        self.first = first.filter(|_| self.len > 0);
        Ok(size > 0 || is_whole)
    }
}

fn fasta<T: Read>(lines: &mut Lines<T>, whole: &mut WholeParts) -> Result<()> {
    loop {
        let before = lines.end;
        let goes_on = lines.next()?;
        if !goes_on || lines.first == Some(b'>') {
            whole.end_at(before);
        }
        if !goes_on {
            return Ok(());
        }
    }
}

/// Reads records of FASTQ. The name of the first record was read.
fn fastq<T: Read>(lines: &mut Lines<T>, whole: &mut WholeParts) -> Result<()> {
    while is_read(lines)? {
        let mut end = lines.end;
        let mut goes_on = lines.next()?;
        while goes_on && lines.first.is_none() {
            end = lines.end;
            goes_on = lines.next()?;
        }
        if goes_on && lines.first != Some(b'@') {
            break;
        }
        whole.end_at(end);
        if !goes_on {
            return Ok(());
        }
    }
    while lines.next()? {}
    whole.end_at(lines.end);
    Ok(())
}

/// Reads the lines of a record behind its name. Returns true if these are bases, `+` and as many
/// qualities.
fn is_read<T: Read>(lines: &mut Lines<T>) -> Result<bool> {
    let mut left = 0;
    loop {
        if !lines.next()? {
            return Ok(false);
        }
        if lines.first == Some(b'+') {
            break;
        }
        left += lines.len;
    }
    // A read without bases has an empty line of qualities.
    loop {
        let goes_on = lines.next()?;
        match left.checked_sub(lines.len) {
            Some(less) if goes_on => left = less,
            _ => return Ok(left == 0 && !goes_on),
        }
        if left == 0 {
            return Ok(true);
        }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list may have one range")]
mod tests {
    use super::*;

    /// The start of each record of a text.
    fn records(text: &str) -> Option<Vec<u64>> {
        let all = whole_records(text.as_bytes(), &[0..u64::MAX]).unwrap()?;
        assert!(
            all.len() <= 1
                && all
                    .iter()
                    .all(|range| *range == (0..text.len() as u64))
        );
        // A record that lacks a byte somewhere is left out, and no other record.
        let mut starts = Vec::new();
        for at in 0..text.len() as u64 {
            let found = whole_records(text.as_bytes(), &[0..at, at + 1..u64::MAX]).unwrap()?;
            let gap = found
                .first()
                .filter(|range| range.start == 0)
                .map_or(0, |range| range.end);
            if starts.last() != Some(&gap) {
                starts.push(gap);
            }
        }
        Some(starts)
    }

    #[test]
    fn records_begin_with_their_names() {
        assert_eq!(records(">a\nAC\n>b\nG>T\nAC\n"), Some(vec![0, 6]));
        assert_eq!(records(">a"), Some(vec![0]));
        assert_eq!(records("\r\n\n>a\r\nAC\r\n\r\n>b"), Some(vec![0, 13]));
        assert_eq!(records(">a\n>b\n>c\nA"), Some(vec![0, 3, 6]));
        assert_eq!(records("@a\nAC\n+\n@I\n@b\nA\n+b\n+\n"), Some(vec![0, 11]));
        assert_eq!(
            records("@a\nAC\nGT\n+\n@I\n+I\n@b\nA\n+\nI"),
            Some(vec![0, 17])
        );
        assert_eq!(
            records("@a\r\nAC\r\n+\r\nII\r\n@b\r\n\r\n+\r\n\r\n"),
            Some(vec![0, 15])
        );
        // A malformed record includes everything behind it.
        assert_eq!(
            records("@a\nAC\n+\nII\n@b\nAC\n+\nI\n@c\nA\n+\nI\n"),
            Some(vec![0, 11])
        );
        assert_eq!(records("@a\nAC\n+\nIII\n@b\nA\n+\nI\n"), Some(vec![0]));
        assert_eq!(records("@a\nAC\n"), Some(vec![0]));
        assert_eq!(records("a\n>b\n"), None);
        assert_eq!(records(""), None);
    }
}
