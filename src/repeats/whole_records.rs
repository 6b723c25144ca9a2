//! Ranges cut at the ends of records of FASTA and FASTQ.

use super::whole_parts::WholeParts;
use crate::error::Result;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

/// Of `ranges`, which are in ascending order, the whole records of FASTA or FASTQ; `text` gives the
/// text they are of. `None` where it does not begin as one of these does, blank lines in front
/// apart.
///
/// A record begins with its line of `>` or `@`, and ends where the next one begins or the text does.
/// A record of FASTQ may have several lines of bases and of qualities; behind one that has none of
/// the form of a record all the rest is one. Records of which any byte is in no range are left out.
///
/// ```
/// let fasta = &b">a\nACGT\n>b\nAC\nGT\n>c\n"[..];
/// let records = bwz::repeats::whole_records(fasta, &[5..20])?;
/// assert_eq!(records, Some(vec![8..17]));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// What a read gives.
pub fn whole_records(text: impl Read, ranges: &[Range<u64>]) -> Result<Option<Vec<Range<u64>>>> {
    let text = BufReader::with_capacity(1 << 16, text);
    let mut lines = Lines { text, line: Vec::new(), end: 0 };
    while lines.next()? && lines.line.is_empty() {}
    let mut whole = WholeParts::new(ranges);
    match lines.line.first() {
        Some(b'>') => fasta(&mut lines, &mut whole)?,
        Some(b'@') => fastq(&mut lines, &mut whole)?,
        _ => return Ok(None),
    }
    Ok(Some(whole.found()))
}

/// The lines of a text, of which as much is kept as says what they are.
struct Lines<T> {
    text: BufReader<T>,
    /// The first byte of the line, and of those that are counted all; without its end.
    line: Vec<u8>,
    /// Where the line ends, with its line feed.
    end: u64,
}

impl<T: Read> Lines<T> {
    /// Goes on to the next line, if there is one.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        let size = self.text.read_until(b'\n', &mut self.line)? as u64;
        self.end += size;
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(size > 0)
    }

    /// The same of a line that may be very long: of it the first byte is kept.
    fn pass(&mut self) -> Result<bool> {
        self.line.clear();
        self.line.extend(self.text.fill_buf()?.first().filter(|&&byte| byte != b'\n'));
        let size = self.text.skip_until(b'\n')? as u64;
        self.end += size;
        Ok(size > 0)
    }
}

fn fasta<T: Read>(lines: &mut Lines<T>, whole: &mut WholeParts) -> Result<()> {
    loop {
        let before = lines.end;
        let goes_on = lines.pass()?;
        if !goes_on || lines.line == b">" {
            whole.end_at(before);
        }
        if !goes_on {
            return Ok(());
        }
    }
}

/// The name was read.
fn fastq<T: Read>(lines: &mut Lines<T>, whole: &mut WholeParts) -> Result<()> {
    loop {
        let mut left = 0;
        while lines.next()? && lines.line.first() != Some(&b'+') {
            left += lines.line.len();
        }
        let mut is_whole = lines.line.first() == Some(&b'+');
        // An empty line of bases has one of qualities.
        let mut is_first = true;
        while is_whole && (left > 0 || is_first) {
            is_first = false;
            let goes_on = lines.next()?;
            match left.checked_sub(lines.line.len()) {
                Some(less) if goes_on => left = less,
                _ => is_whole = left == 0 && !goes_on,
            }
        }
        let mut end = lines.end;
        let mut goes_on = is_whole && lines.next()?;
        while goes_on && lines.line.is_empty() {
            end = lines.end;
            goes_on = lines.next()?;
        }
        if is_whole && goes_on && lines.line[0] == b'@' {
            whole.end_at(end);
            continue;
        }
        while lines.pass()? {}
        whole.end_at(lines.end);
        return Ok(());
    }
}
