//! Takes a file apart: its structures, tables and slices in the order of the file. FORMAT.md
//! chapters 2 to 6, 8, 10 and 12.
//!
//! Bytes that cannot be parsed are kept unchanged. The parts of any bytes, one after the other, are
//! the same bytes, except for parts that were decompressed.

use bwz::internals::filter;
use std::ops::Range;

pub const MAGIC: &[u8] = b"\xF7bwz";
const SYNC_MARKER: &[u8] = b"\xB5\xE1\x7A\x96\x2C\xD4\x0F\x83";
const SEEK_MARKER: &[u8] = b"\xB5\xE1\x7A\x96\xD3\x2B\xF0\x7C";

/// Maximum size in bytes of a table that is decompressed.
const MOST_UNPACKED: usize = 1 << 18;

/// The kind of a part. All parts from a `BlockHeader` to the next header or footer are a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    FrameHeader,
    BlockHeader,
    /// The raw bytes of a stored block.
    Stored,
    /// Tables_Size.
    TablesSize,
    /// Type, Size and Checksum of a table; its content is the next part.
    TypedTable,
    Content,
    /// Text_Size and Side_Size.
    FilterSizes,
    /// One field of Side.
    Side,
    /// Sequence_Size, in Side.
    SequenceSize,
    /// Layout_Checksum, in Side.
    LayoutChecksum,
    Samples,
    SliceCount,
    RawSizes,
    ModelsSize,
    CodedSizes,
    /// The first 20 bytes of an Index.
    IndexHeader,
    SliceChecksums,
    /// Head or Tail of an Index.
    Edge,
    Counts,
    Models,
    Slice,
    TableHeader,
    Entries,
    Footer,
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Part {
    pub kind: Kind,
    pub bytes: Vec<u8>,
    /// Number of values of a Packed_Array.
    pub count: usize,
    /// True if the bytes are compressed in the file.
    pub packed: bool,
}

impl Part {
    pub fn new(kind: Kind, bytes: &[u8]) -> Self {
        Part {
            kind,
            bytes: bytes.to_vec(),
            count: 0,
            packed: false,
        }
    }

    /// The little-endian number of `size` bytes at `at`; 0 if there are fewer bytes.
    pub fn get(&self, at: usize, size: usize) -> u64 {
        self.bytes.get(at..at + size).map_or(0, number)
    }

    pub fn set(&mut self, at: usize, size: usize, value: u64) {
        if let Some(field) = self.bytes.get_mut(at..at + size) {
            field.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// The values of a Packed_Array.
    pub fn values(&self) -> Vec<u64> {
        unpack(&self.bytes, self.count)
    }

    pub fn set_values(&mut self, width: u8, values: &[u64]) {
        self.bytes = pack(width, values);
        self.count = values.len();
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The values of a Packed_Array, by FORMAT.md chapter 8. Missing bits are 0.
fn unpack(bytes: &[u8], count: usize) -> Vec<u64> {
    let width = usize::from(bytes.first().copied().unwrap_or(0).min(40));
    let bit = |at: usize| {
        bytes
            .get(1 + at / 8)
            .map_or(0, |byte| u64::from(byte >> (at % 8) & 1))
    };
    let value = |at: usize| (0..width).fold(0, |value, n| value | bit(at + n) << n);
    (0..count).map(|n| value(n * width)).collect()
}

fn pack(width: u8, values: &[u64]) -> Vec<u8> {
    let bits = usize::from(width.min(40));
    let mut bytes = vec![0; 1 + (values.len() * bits).div_ceil(8)];
    bytes[0] = width;
    for (n, value) in values.iter().enumerate() {
        for k in (0..bits).filter(|k| value >> k & 1 == 1) {
            bytes[1 + (n * bits + k) / 8] |= 1 << ((n * bits + k) % 8);
        }
    }
    bytes
}

/// True if a block, or any bytes in its place, ends before a part of this kind.
pub fn ends_block(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::FrameHeader | Kind::BlockHeader | Kind::TableHeader | Kind::Footer
    )
}

/// The parts of the block that starts at `start`, its header included.
pub fn block_at(parts: &[Part], start: usize) -> Range<usize> {
    let behind = parts
        .iter()
        .skip(start + 1)
        .position(|part| ends_block(part.kind));
    start..behind.map_or(parts.len(), |n| start + 1 + n)
}

/// The parts of the frame that starts at `start`.
pub fn frame_at(parts: &[Part], start: usize) -> Range<usize> {
    let behind = parts
        .iter()
        .skip(start + 1)
        .position(|part| part.kind == Kind::FrameHeader);
    start..behind.map_or(parts.len(), |n| start + 1 + n)
}

/// The parts of `file`. If `unpacked` is true, its compressed tables are decompressed.
pub fn parse(file: &[u8], unpacked: bool) -> Vec<Part> {
    let mut reader = Reader {
        rest: file,
        parts: vec![],
        unpacked,
    };
    while reader.frame().is_some() {}
    reader.remainder();
    reader.parts
}

/// The file of these parts.
pub fn join(parts: &[Part]) -> Vec<u8> {
    parts
        .iter()
        .flat_map(|part| &part.bytes)
        .copied()
        .collect()
}

struct Reader<'a> {
    rest: &'a [u8],
    parts: Vec<Part>,
    unpacked: bool,
}

/// Each method reads the structure that it names. It returns `None` if the bytes end or are
/// something else.
impl<'a> Reader<'a> {
    fn part(&mut self, kind: Kind, size: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        self.parts.push(Part::new(kind, bytes));
        Some(bytes)
    }

    fn remainder(&mut self) {
        if !self.rest.is_empty() {
            self.part(Kind::Unknown, self.rest.len());
        }
    }

    fn frame(&mut self) -> Option<()> {
        if !self.rest.starts_with(MAGIC) {
            return None;
        }
        self.part(Kind::FrameHeader, 16)?;
        while self.rest.starts_with(SYNC_MARKER) {
            self.block()?;
        }
        if self.rest.starts_with(SEEK_MARKER) {
            let header = self.part(Kind::TableHeader, 28)?;
            let entries_size = number(&header[15..20]) as usize;
            self.table(Kind::Entries, entries_size, header[8] == 1)?;
            if header[9] & 1 != 0 {
                self.tables()?;
            }
        }
        self.part(Kind::Footer, 32).map(|_| ())
    }

    fn block(&mut self) -> Option<()> {
        let header = self.part(Kind::BlockHeader, 42)?;
        let size = self
            .rest
            .len()
            .min(number(&header[17..22]) as usize);
        let (payload, behind) = self.rest.split_at(size);
        self.rest = payload;
        if header[8] == 0 {
            self.part(Kind::Stored, size);
        } else {
            let _ = self.payload(header);
            self.remainder();
        }
        self.rest = behind;
        Some(())
    }

    fn payload(&mut self, header: &[u8]) -> Option<()> {
        if header[9] & 16 != 0 {
            self.tables()?;
        }
        let mut text_size = number(&header[12..17]) as usize;
        let mut searched = text_size;
        if header[9] & filter::ALL != 0 {
            let sizes = self.part(Kind::FilterSizes, 10)?;
            text_size = number(&sizes[..5]) as usize;
            let first = self.parts.len();
            self.side(header[9], text_size, number(&sizes[5..]) as usize)?;
            let part = self
                .parts
                .get(first)
                .filter(|part| part.kind == Kind::SequenceSize);
            searched = part.map_or(text_size, |part| from_varint(&part.bytes));
        }
        self.array(Kind::Samples, text_size.div_ceil(1 << header[10].min(30)))?;
        let slices = self.array(Kind::SliceCount, 1)?[0].clamp(1, 1 << 20) as usize;
        self.others(Kind::RawSizes, slices)?;
        let models = if header[11] == 0 {
            self.array(Kind::ModelsSize, 1)?[0]
        } else {
            0
        };
        let sizes = self.others(Kind::CodedSizes, slices)?;
        if header[9] & 8 != 0 {
            let index = self.part(Kind::IndexHeader, 20)?;
            self.part(Kind::SliceChecksums, 4 * slices)?;
            self.part(Kind::Edge, searched.min(128))?;
            self.part(Kind::Edge, searched.min(128))?;
            self.table(Kind::Counts, number(&index[2..7]) as usize, index[0] == 1)?;
        }
        if header[11] == 0 {
            self.part(Kind::Models, models as usize)?;
        }
        for size in sizes {
            self.part(Kind::Slice, size as usize)?;
        }
        self.part(Kind::Slice, self.rest.len())
            .map(|_| ())
    }

    /// Tables, by section 8.2.
    fn tables(&mut self) -> Option<()> {
        let size = number(self.part(Kind::TablesSize, 5)?) as usize;
        let end = self.rest.len().checked_sub(size)?;
        while self.rest.len() > end {
            let content = number(&self.part(Kind::TypedTable, 10)?[1..6]) as usize;
            self.part(Kind::Content, content)?;
        }
        Some(())
    }

    /// The sizes of all slices except the last.
    fn others(&mut self, kind: Kind, slices: usize) -> Option<Vec<u64>> {
        if slices == 1 {
            Some(vec![])
        } else {
            self.array(kind, slices - 1)
        }
    }

    fn array(&mut self, kind: Kind, count: usize) -> Option<Vec<u64>> {
        let width = usize::from(*self.rest.first().filter(|width| **width > 0)?);
        self.part(kind, 1 + (count * width).div_ceil(8))?;
        let part = self.parts.last_mut()?;
        part.count = count;
        Some(part.values())
    }

    fn table(&mut self, kind: Kind, size: usize, zstd: bool) -> Option<()> {
        let bytes = self.part(kind, size)?;
        if zstd
            && self.unpacked
            && let Ok(plain) = zstd::bulk::decompress(bytes, MOST_UNPACKED)
        {
            let part = self.parts.last_mut()?;
            (part.bytes, part.packed) = (plain, true);
        }
        Some(())
    }

    /// The fields of Side, chapter 12.
    fn side(&mut self, filters: u8, text_size: usize, size: usize) -> Option<()> {
        let (side, behind) = self.rest.split_at_checked(size)?;
        self.rest = side;
        let _ = self.side_fields(filters, text_size);
        if !self.rest.is_empty() {
            self.part(Kind::Side, self.rest.len());
        }
        self.rest = behind;
        Some(())
    }

    fn side_fields(&mut self, filters: u8, text_size: usize) -> Option<()> {
        let mut size = text_size;
        if filters & 4 != 0 {
            size = self.varint(Kind::Side)?;
            self.varint(Kind::Side)?;
            let matches = self.varint(Kind::Side)?;
            self.part(Kind::Side, matches)?;
        }
        while filters & 2 != 0 && size > 0 {
            size = size.saturating_sub(self.varint(Kind::Side)?);
            if self.part(Kind::Side, 1)? == [1] {
                self.part(Kind::Side, 1)?;
                self.part(Kind::Side, 1)?;
                self.varint(Kind::Side)?;
            }
        }
        if filters & 32 != 0 {
            self.varint(Kind::Side)?;
            self.varint(Kind::Side)?;
            self.varint(Kind::Side)?;
        }
        if filters & 1 != 0 {
            self.varint(Kind::SequenceSize)?;
            let layout = self.varint(Kind::Side)?;
            self.part(Kind::Side, layout)?;
            self.part(Kind::LayoutChecksum, 4)?;
        }
        Some(())
    }

    fn varint(&mut self, kind: Kind) -> Option<usize> {
        let size = self
            .rest
            .iter()
            .take(6)
            .position(|byte| byte & 0x80 == 0)?
            + 1;
        self.part(kind, size).map(from_varint)
    }
}

/// A number of FORMAT.md section 12.2.
pub fn from_varint(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .fold(0, |number, digit| number << 7 | usize::from(digit & 0x7F))
}
