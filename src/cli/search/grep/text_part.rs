//! Parts of a text: whole lines, with their place in it. [`PartCutter`] cuts a stream into parts.

use std::io::{self, Read};
use std::mem;

/// Lines that follow each other in a text. Only the last line of the text may lack its terminator.
#[derive(Debug, Default)]
pub(crate) struct TextPart {
    pub bytes: Vec<u8>,
    /// Offset of its first byte in the text.
    pub offset: u64,
    /// Number of its first line, from 1, if it is known. Otherwise the part follows the one before.
    pub first_line: Option<u64>,
    /// Offset of the first zero byte behind it in the window in which it ends, if there is one.
    pub zero_behind: Option<u64>,
}

impl TextPart {
    /// Offset of the end of the part.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

/// Bytes of a part, unless a line is longer.
const PART: usize = 1 << 20;

/// Bytes that are read at once.
const READ: usize = 256 << 10;

/// Bytes of a window. A zero byte makes the lines binary that end in its window and behind it. This
/// is the size of GNU grep's buffer, so that as many lines before a zero byte are text as there.
const WINDOW: u64 = 96 << 10;

/// The start of the window that a zero byte is in.
pub(crate) fn window_of(zero: u64) -> u64 {
    zero / WINDOW * WINDOW
}

/// Cuts a stream into parts. A line across two pieces of the stream stays whole.
pub(crate) struct PartCutter {
    terminator: u8,
    /// Bytes that are not yet in a part.
    pending: Vec<u8>,
    /// Bytes that were just read.
    buffer: Vec<u8>,
    /// Offset of `pending` in the text.
    offset: u64,
    /// Number of the first line of the next part, if it is known.
    first_line: Option<u64>,
    /// Number of bytes of `pending` in which terminators were looked for.
    searched: usize,
    /// Maximum number of pending bytes.
    most: u64,
}

impl PartCutter {
    /// Creates a cutter for lines that end with `terminator` and are no longer than `most`.
    pub(crate) fn new(terminator: u8, most: u64) -> Self {
        PartCutter {
            terminator,
            pending: Vec::new(),
            buffer: Vec::new(),
            offset: 0,
            first_line: None,
            searched: 0,
            most: most.max(PART as u64),
        }
    }

    /// Begins at another place of the text. No bytes may be pending.
    pub(crate) fn begin(&mut self, offset: u64, first_line: Option<u64>) {
        debug_assert!(self.pending.is_empty());
        self.offset = offset;
        self.first_line = first_line;
        self.searched = 0;
    }

    /// Adds some of `bytes`, at least one if there are any. Returns their number, and a part if one
    /// is complete.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<(usize, Option<TextPart>)> {
        let room = PART
            .saturating_sub(self.pending.len())
            .max(PART / 4);
        let count = bytes.len().min(room);
        self.pending.extend_from_slice(&bytes[..count]);
        Ok((count, self.cut_if_full()?))
    }

    /// Reads from `source` once. Returns the number of bytes, and a part if one is complete.
    pub(crate) fn read(&mut self, source: &mut impl Read) -> io::Result<(usize, Option<TextPart>)> {
        self.buffer.resize(READ, 0);
        let count = source.read(&mut self.buffer)?;
        self.pending
            .extend_from_slice(&self.buffer[..count]);
        Ok((count, self.cut_if_full()?))
    }

    fn cut_if_full(&mut self) -> io::Result<Option<TextPart>> {
        if self.pending.len() < PART {
            return Ok(None);
        }
        let windows_end =
            (window_of(self.offset + self.pending.len() as u64) - self.offset) as usize;
        let part = self.cut_before(windows_end);
        if part.is_none() && self.pending.len() as u64 > self.most {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "a line is longer than the memory limit allows; -M raises it",
            ));
        }
        Ok(part)
    }

    /// Returns the whole lines that are there, if there are any.
    pub(crate) fn cut(&mut self) -> Option<TextPart> {
        self.cut_before(self.pending.len())
    }

    /// Returns the lines whose terminators are before a place, if there are any.
    fn cut_before(&mut self, place: usize) -> Option<TextPart> {
        let from = self.searched.min(place);
        let found = memchr::memrchr(self.terminator, &self.pending[from..place]);
        self.searched = place.max(self.searched);
        let end = from + found? + 1;
        let zero = memchr::memchr(0, &self.pending[end..place]);
        let zero = zero.map(|at| self.offset + (end + at) as u64);
        let mut rest = Vec::with_capacity(self.pending.len().min(PART + READ));
        rest.extend_from_slice(&self.pending[end..]);
        self.searched = place - end;
        let part = self.take(rest);
        Some(TextPart {
            zero_behind: zero,
            ..part
        })
    }

    /// Returns the rest of the text, if there is any.
    pub(crate) fn finish(&mut self) -> Option<TextPart> {
        (!self.pending.is_empty()).then(|| self.take(Vec::new()))
    }

    fn take(&mut self, rest: Vec<u8>) -> TextPart {
        let mut bytes = mem::replace(&mut self.pending, rest);
        bytes.truncate(bytes.len() - self.pending.len());
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        TextPart {
            bytes,
            offset,
            first_line: self.first_line.take(),
            zero_behind: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a text that comes in pieces of `size` bytes.
    fn parts(text: &[u8], size: usize, is_read: bool) -> Vec<TextPart> {
        let mut cutter = PartCutter::new(b'\n', u64::MAX);
        let mut parts = Vec::new();
        for mut piece in text.chunks(size) {
            while !piece.is_empty() {
                let (count, part) = match is_read {
                    true => (0, cutter.read(&mut piece).unwrap().1),
                    false => cutter.add(piece).unwrap(),
                };
                piece = &piece[count..];
                parts.extend(part);
            }
        }
        parts.extend(cutter.finish());
        parts
    }

    #[test]
    fn parts_are_whole_lines_in_order() {
        let mut text = Vec::new();
        for n in 0..60_000_usize {
            text.extend(vec![b'a'; n * 7919 % 97]);
            text.push(b'\n');
        }
        text.extend(vec![b'b'; 3 << 20]);
        text.extend(b"\nend");
        for (size, is_read) in [
            (1000, true),
            (1 << 19, false),
            (1 << 24, true),
            (1 << 24, false),
        ] {
            let parts = parts(&text, size, is_read);
            let (last, others) = parts.split_last().unwrap();
            assert!(others.len() > 2 && last.bytes.ends_with(b"end"));
            let mut offset = 0;
            for part in &parts {
                assert_eq!(part.offset, offset);
                offset = part.end();
            }
            assert!(
                others
                    .iter()
                    .all(|part| part.bytes.ends_with(b"\n"))
            );
            let bytes: Vec<&[u8]> = parts.iter().map(|part| &part.bytes[..]).collect();
            assert!(bytes.concat() == text);
        }
    }

    /// The bytes behind a part that belong to its last window are looked at for a zero byte.
    #[test]
    fn a_zero_byte_behind_a_part_is_told() {
        let mut text = vec![b'\n'; PART];
        let window = window_of(text.len() as u64 + 1) as usize;
        text.extend(vec![b'x'; PART]);
        text[window - 10..window].fill(b'x');
        text[window - 3] = 0;
        let zero = parts(&text, text.len(), false)[0].zero_behind;
        assert_eq!(zero, Some(window as u64 - 3));
    }

    #[test]
    fn a_line_beyond_the_limit_is_an_error() {
        let mut cutter = PartCutter::new(b'\n', 2 << 20);
        let line = vec![b'x'; 1 << 18];
        let added = (0..16).map(|_| cutter.add(&line));
        assert!(added.into_iter().any(|added| added.is_err()));
    }
}
