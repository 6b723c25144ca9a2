//! Files with holes: the list of the parts that are not holes, and an output that fills the holes
//! with zeros.

use super::UNIT;
use super::decimal::number;
use std::io::{self, Write};
use tar::{GnuExtSparseHeader, GnuHeader, GnuSparseHeader};

/// Maximum number of parts of one file.
const MOST_PARTS: usize = 1 << 20;

/// The parts of a file that are not holes: offset and length of each, in order. Together they are
/// what the archive stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SparseParts(Vec<(u64, u64)>);

impl SparseParts {
    /// Adds a part. `None` if it overlaps the one before.
    pub(super) fn add(&mut self, offset: u64, len: u64) -> Option<()> {
        offset.checked_add(len)?;
        let (last, size) = self.0.last().copied().unwrap_or_default();
        (self.0.len() < MOST_PARTS && offset >= last + size).then(|| self.0.push((offset, len)))
    }

    /// Parses `offset,length,offset,length`.
    pub(super) fn from_list(list: &[u8]) -> Option<Self> {
        let mut numbers = list
            .split(|&byte| byte == b',')
            .filter(|digits| !digits.is_empty());
        let mut parts = SparseParts::default();
        while let Some(offset) = numbers.next() {
            parts.add(number(offset)?, number(numbers.next()?)?)?;
        }
        Some(parts)
    }

    /// The parts in a header of GNU tar's old form.
    pub(super) fn of_header(header: &GnuHeader) -> Option<Self> {
        let mut parts = SparseParts::default();
        parts.add_fields(&header.sparse)?;
        Some(parts)
    }

    /// Adds those in a header behind it. Returns true if one more follows.
    pub(super) fn add_header(&mut self, bytes: &[u8]) -> Option<bool> {
        let mut header = GnuExtSparseHeader::new();
        header.as_mut_bytes().copy_from_slice(bytes);
        self.add_fields(header.sparse())?;
        Some(header.is_extended())
    }

    fn add_fields(&mut self, fields: &[GnuSparseHeader]) -> Option<()> {
        for field in fields.iter().filter(|field| !field.is_empty()) {
            self.add(field.offset().ok()?, field.length().ok()?)?;
        }
        Some(())
    }

    /// Reads the list in front of a content: the number of parts, then offset and length of each, a
    /// line each, filled up to a whole unit. Returns the list and its size, or `None` if `content`
    /// does not begin with all of it.
    pub(crate) fn from_content(content: &[u8]) -> Option<(Self, u64)> {
        let mut rest = content;
        let mut line = || {
            let end = memchr::memchr(b'\n', rest)?;
            let found: u64 = number(&rest[..end])?;
            rest = &rest[end + 1..];
            Some(found)
        };
        let mut parts = SparseParts::default();
        for _ in 0..line()? {
            let offset = line()?;
            parts.add(offset, line()?)?;
        }
        let size = (content.len() - rest.len()) as u64;
        Some((parts, size.next_multiple_of(UNIT)))
    }

    /// Bytes that the archive stores.
    pub(crate) fn stored(&self) -> Option<u64> {
        self.0
            .iter()
            .try_fold(0_u64, |sum, (_, len)| sum.checked_add(*len))
    }
}

/// Writes a file of `size` bytes, given the bytes of its parts one after the other.
pub(crate) struct SparseOutput<W> {
    output: W,
    parts: std::vec::IntoIter<(u64, u64)>,
    /// Bytes that are left of the current part.
    left: u64,
    /// Bytes written so far.
    at: u64,
    size: u64,
}

impl<W: Write> SparseOutput<W> {
    pub(crate) fn new(output: W, parts: SparseParts, size: u64) -> Self {
        SparseOutput {
            output,
            parts: parts.0.into_iter(),
            left: 0,
            at: 0,
            size,
        }
    }

    /// Writes the hole up to `end`.
    fn fill(&mut self, end: u64) -> io::Result<()> {
        let hole = end.min(self.size).saturating_sub(self.at);
        let written = io::copy(&mut io::Read::take(io::repeat(0), hole), &mut self.output)?;
        self.at += written;
        Ok(())
    }

    /// Writes the last hole.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.fill(self.size)?;
        self.output.flush()
    }
}

impl<W: Write> Write for SparseOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.left == 0 {
            // Bytes behind the last part only fill up the unit.
            let Some((offset, len)) = self.parts.next() else {
                return Ok(bytes.len());
            };
            self.fill(offset)?;
            self.left = len;
        }
        let part = self.left.min(bytes.len() as u64);
        let within = part.min(self.size.saturating_sub(self.at));
        self.output.write_all(&bytes[..within as usize])?;
        self.left -= part;
        self.at += within;
        Ok(part as usize)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
