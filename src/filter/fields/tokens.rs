//! Slots of a line: words that hold a digit, or the fields between delimiters. The four lines of a
//! FASTQ record have their slots together.

use std::ops::Range;

/// Maximum length of a line with slots, in bytes. Bases and qualities of records may be longer.
pub(super) const LONGEST_LINE: usize = 1 << 16;

/// Rule by which slots are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Letters and digits in a row, at least one of them a digit: for logs.
    Words,
    /// Slots of [`Tokens::Words`], and the words in which otherwise equal templates differ.
    MergedWords,
    /// Bytes between two delimiters, if these are not in quotes: for tables.
    Fields(u8),
    /// Slots of [`Tokens::Fields`] without a few fields, which stay in the template because they
    /// predict the others.
    FieldsBy(u8, Kept),
    /// Bytes between two commas, if these are not in single quotes: for statements of SQL.
    Tuples,
    /// Letters and digits in a row in the name lines of a FASTQ record, and its bases and qualities
    /// whole. Lines that are no record have no slots.
    Reads,
}

/// Set of fields of a line by position, among the first 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(u64);

impl Kept {
    /// The empty set.
    pub const NONE: Self = Kept(0);
    /// Number of positions that may be in a set.
    pub const MOST: usize = 64;

    /// Adds a position.
    pub const fn and(self, place: usize) -> Self {
        Kept(self.0 | 1 << place)
    }

    /// Returns true if a position is in the set.
    pub fn has(self, place: usize) -> bool {
        place < Self::MOST && self.0 >> place & 1 == 1
    }
}

impl Tokens {
    /// Returns the length of the first line or record of `lines`, without its line end. Its slots
    /// are found together. `None` if the next line has to be stored whole.
    pub(super) fn next(self, lines: &[u8]) -> Option<usize> {
        match self {
            Tokens::Reads => record(lines).map(|record| record.qualities.end),
            _ => Some(first_line(lines)),
        }
    }

    /// Returns the start of the first record in `bytes` behind one of the first four line ends. If
    /// there is none, or slots are not those of records, returns the start of the first line behind
    /// a line end. Without such a line, returns the end of `bytes`.
    pub(super) fn start(self, bytes: &[u8]) -> usize {
        let feeds = memchr::memchr_iter(b'\n', bytes).map(|feed| feed + 1);
        let mut starts = feeds
            .take(LINES_OF_RECORD)
            .filter(|&start| start < bytes.len());
        let first = starts.clone().next();
        let of_record = match self {
            Tokens::Reads => starts.find(|&start| record(&bytes[start..]).is_some()),
            _ => None,
        };
        of_record.or(first).unwrap_or(bytes.len())
    }

    /// Sets `slots` to those of `line`: ascending, without overlap, and with bytes between each
    /// two.
    pub(super) fn find(self, line: &[u8], slots: &mut Vec<Range<usize>>) {
        slots.clear();
        match self {
            Tokens::Words | Tokens::MergedWords => words(line, slots),
            Tokens::Fields(delimiter) => fields(line, delimiter, b'"', slots),
            Tokens::FieldsBy(delimiter, kept) => {
                fields(line, delimiter, b'"', slots);
                let mut places = 0..;
                slots.retain(|_| !places.next().is_some_and(|place| kept.has(place)));
            }
            Tokens::Tuples => tuples(line, slots),
            Tokens::Reads => reads(line, slots),
        }
    }
}

/// Returns the number of bytes of `lines` in front of the first line end.
pub(super) fn first_line(lines: &[u8]) -> usize {
    memchr::memchr(b'\n', lines).unwrap_or(lines.len())
}

/// Number of lines of a FASTQ record.
const LINES_OF_RECORD: usize = 4;

/// Ranges of the lines of a FASTQ record, without their ends.
struct Record {
    name: Range<usize>,
    bases: Range<usize>,
    separator: Range<usize>,
    qualities: Range<usize>,
}

/// Returns the record at the start of `lines`, if there is one. Its qualities must be a line. Only
/// at the end of a block may that line lack its line end.
fn record(lines: &[u8]) -> Option<Record> {
    four_lines(lines).filter(|record| record.qualities.start < lines.len())
}

/// Returns the four lines of a record. The slice may be this record alone. Then empty qualities may
/// have nothing behind the line end in front of them. Name lines have the length limit of other
/// lines.
fn four_lines(lines: &[u8]) -> Option<Record> {
    let mut start = 0;
    let mut line = || {
        let rest = lines.get(start..)?;
        let line = start..start + first_line(rest);
        start = line.end + 1;
        Some(line)
    };
    let name = line()?;
    let bases = line()?;
    let separator = line()?;
    let qualities = line()?;
    let is_record = lines[name.clone()].starts_with(b"@")
        && lines[separator.clone()].starts_with(b"+")
        && bases.len() == qualities.len()
        && name.len().max(separator.len()) <= LONGEST_LINE;
    is_record.then_some(Record {
        name,
        bases,
        separator,
        qualities,
    })
}

fn reads(record_lines: &[u8], slots: &mut Vec<Range<usize>>) {
    let Some(Record {
        name,
        bases,
        separator,
        qualities,
    }) = four_lines(record_lines)
    else {
        return;
    };
    let names = |line: Range<usize>, slots: &mut Vec<Range<usize>>| {
        let is_letter = |&at: &usize| record_lines[at].is_ascii_alphanumeric();
        let mut at = line.start;
        while let Some(start) = (at..line.end).find(is_letter) {
            at = (start..line.end)
                .find(|at| !is_letter(at))
                .unwrap_or(line.end);
            slots.push(start..at);
        }
    };
    let returns = usize::from(record_lines[bases.clone()].ends_with(b"\r"));
    names(name, slots);
    slots.push(bases.start..bases.end - returns);
    names(separator, slots);
    slots.push(qualities.start..qualities.end - returns);
}

/// Number of bytes that are examined together.
const CHUNK: usize = 64;

/// Calls `visit` with the start and the bytes of each chunk of `line`. The last chunk is padded
/// with zeros.
#[inline(always)]
fn chunks(line: &[u8], mut visit: impl FnMut(usize, &[u8; CHUNK])) {
    let (whole, rest) = line.as_chunks::<CHUNK>();
    whole
        .iter()
        .enumerate()
        .for_each(|(n, chunk)| visit(n * CHUNK, chunk));
    if !rest.is_empty() {
        let mut last = [0; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        visit(whole.len() * CHUNK, &last);
    }
}

/// Returns a mask with the bit of each byte for which `is` holds.
#[inline(always)]
fn mask(chunk: &[u8; CHUNK], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0_u8; CHUNK];
    flags
        .iter_mut()
        .zip(chunk)
        .for_each(|(flag, &byte)| *flag = u8::from(is(byte)));
    let words = flags.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |mask, (n, word)| {
        // The multiplication gathers the lowest bit of each byte.
        mask | (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * n)
    })
}

fn words(line: &[u8], slots: &mut Vec<Range<usize>>) {
    // A word that the end of a chunk cuts: its start, and true if it has a digit so far.
    let mut cut = None;
    let mut cut_has_digit = false;
    chunks(line, |from, chunk| {
        let digits = mask(chunk, |byte| byte.is_ascii_digit());
        let of_words = digits | mask(chunk, |byte| (byte | 0x20).is_ascii_lowercase());
        let mut at = 0;
        if let Some(start) = cut.take() {
            at = of_words.trailing_ones();
            let has_digit = cut_has_digit || (digits.trailing_zeros() < at);
            match at {
                64 => (cut, cut_has_digit) = (Some(start), has_digit),
                _ if has_digit => slots.push(start..from + at as usize),
                _ => {}
            }
        }
        while at < 64 {
            let left = digits & u64::MAX << at;
            if left == 0 {
                break;
            }
            let digit = left.trailing_zeros();
            // The word around this digit.
            let others = !of_words & ((1 << digit) - 1);
            let start = 64 - others.leading_zeros();
            at = digit + (of_words >> digit).trailing_ones();
            match at {
                64 => (cut, cut_has_digit) = (Some(from + start as usize), true),
                _ => slots.push(from + start as usize..from + at as usize),
            }
        }
        if cut.is_none() && of_words >> 63 == 1 {
            let start = 64 - of_words.leading_ones();
            (cut, cut_has_digit) = (Some(from + start as usize), false);
        }
    });
    if let Some(start) = cut.filter(|_| cut_has_digit) {
        slots.push(start..line.len());
    }
}

fn fields(line: &[u8], delimiter: u8, quote: u8, slots: &mut Vec<Range<usize>>) {
    // A quote that is never closed is a byte like any other.
    if !quoted_fields(line, delimiter, Some(quote), slots) {
        slots.clear();
        quoted_fields(line, delimiter, None, slots);
    }
}

/// Finds the fields between commas. The first field starts behind its parenthesis, and the last one
/// ends in front of its parenthesis, which a semicolon or a comma may follow.
fn tuples(line: &[u8], slots: &mut Vec<Range<usize>>) {
    fields(line, b',', b'\'', slots);
    if let Some(first) = slots.first_mut()
        && let Some(open) = memchr::memchr(b'(', &line[first.clone()])
    {
        first.start += open + 1;
    }
    if let Some(last) = slots.last_mut() {
        let value = &line[last.clone()];
        let statement = value
            .strip_suffix(b";")
            .or(value.strip_suffix(b","))
            .unwrap_or(value);
        last.end = last.start
            + statement
                .strip_suffix(b")")
                .unwrap_or(value)
                .len();
    }
}

/// Finds the fields outside quotes. Returns true if every quote is closed. Spaces in a row are one
/// delimiter; other delimiters have empty fields between them.
fn quoted_fields(
    line: &[u8],
    delimiter: u8,
    quote: Option<u8>,
    slots: &mut Vec<Range<usize>>,
) -> bool {
    let mut start = 0;
    let mut quoted = 0;
    let mut push = |field: Range<usize>| {
        if delimiter != b' ' || !field.is_empty() {
            slots.push(field);
        }
    };
    let end = line.len() - usize::from(line.ends_with(b"\r"));
    chunks(&line[..end], |from, chunk| {
        let mut delimiters = mask(chunk, |byte| byte == delimiter);
        if let Some(quote) = quote {
            let inside = prefix_xor(mask(chunk, |byte| byte == quote)) ^ quoted;
            delimiters &= !inside;
            quoted = ((inside as i64) >> 63) as u64;
        }
        while delimiters != 0 {
            let at = from + delimiters.trailing_zeros() as usize;
            push(start..at);
            start = at + 1;
            delimiters &= delimiters - 1;
        }
    });
    push(start..end);
    quoted == 0
}

/// Returns for each bit the exclusive or of it and all lower bits.
fn prefix_xor(bits: u64) -> u64 {
    (0..6).fold(bits, |sum, step| sum ^ sum << (1 << step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tokens: Tokens, line: &str) -> Vec<&str> {
        let mut slots = Vec::new();
        tokens.find(line.as_bytes(), &mut slots);
        slots
            .into_iter()
            .map(|slot| &line[slot])
            .collect()
    }

    #[test]
    fn slots_are_words_with_digits_or_fields() {
        let line = "12:05 blk_-77 x_1 no_digit (0x7f)";
        assert_eq!(found(Tokens::Words, line), ["12", "05", "77", "1", "0x7f"]);
        assert_eq!(found(Tokens::Words, "a b"), [""; 0]);
        let comma = Tokens::Fields(b',');
        assert_eq!(found(comma, "1,,\"a,b\",\r"), ["1", "", "\"a,b\"", ""]);
        assert_eq!(found(comma, "1,\"a,b"), ["1", "\"a", "b"]);
        assert_eq!(
            found(Tokens::Tuples, "I (1,'a,''b',\"c,d\");"),
            ["1", "'a,''b'", "\"c", "d\""]
        );
        assert_eq!(
            found(Tokens::Fields(b' '), "a  b \"c d\""),
            ["a", "b", "\"c d\""]
        );
        let kept = Kept::NONE.and(1).and(63);
        assert_eq!(found(Tokens::FieldsBy(b',', kept), "1,x,2"), ["1", "2"]);
        assert_eq!(found(Tokens::FieldsBy(b',', kept), "1"), ["1"]);
        let many = ["x"; 70].join(",");
        assert_eq!(found(Tokens::FieldsBy(b',', kept), &many).len(), 68);
    }
}
