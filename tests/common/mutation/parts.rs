//! Takes a file apart: its structures, tables and slices in the order of the file. FORMAT.md
//! chapters 2 to 6, 8, 10 and 12.
//!
//! Bytes that cannot be parsed are kept unchanged. The parts of any bytes, one after the other, are
//! the same bytes.

use std::ops::Range;

pub const MAGIC: &[u8] = b"\xF7bwz";
const SYNC_MARKER: &[u8] = b"\xB5\xE1\x7A\x96\x2C\xD4\x0F\x83";
/// Maximum number of values of a Column that are looked at.
const MOST_BLOCKS: usize = 1 << 16;

const SEEK_MARKER: &[u8] = b"\xB5\xE1\x7A\x96\xD3\x2B\xF0\x7C";

/// The kind of a part. All parts from a `BlockHeader` to the next header, table or footer are a
/// block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    FrameHeader,
    /// The content of a frame that is none of data.
    Foreign,
    BlockHeader,
    /// The raw bytes of a stored block.
    Stored,
    FilterCount,
    FilterId,
    FilteredSize,
    SideSize,
    SliceCount,
    RawSizes,
    ModelsSize,
    CodedSizes,
    /// Tables_Size.
    TablesSize,
    /// Type, Size and Checksum of a table; its content is the next parts.
    TableType,
    TableSize,
    TableChecksum,
    Content,
    /// The first 18 bytes of an Index.
    IndexHeader,
    SliceChecksums,
    /// Head or Tail of an Index.
    Edge,
    Counts,
    Models,
    Samples,
    /// One field of Side.
    Side,
    /// Sequence_Size, in Side.
    SequenceSize,
    /// Layout_Checksum, in Side.
    LayoutChecksum,
    Slice,
    SeekMarker,
    /// Content_Size of a Seek_Table.
    SeekSize,
    SeekChecksum,
    /// Block_Count or Shape_Count.
    SeekNumber,
    SeekFlags,
    Shape,
    Column,
    Footer,
    Unknown,
}

impl Kind {
    /// True for the content of a table.
    pub fn is_content(self) -> bool {
        use Kind::{Content, Counts, Edge, IndexHeader, SliceChecksums};
        [Content, IndexHeader, SliceChecksums, Edge, Counts].contains(&self)
    }

    /// True for the content of a Seek_Table.
    pub fn is_seek_content(self) -> bool {
        use Kind::{Column, SeekFlags, SeekNumber, Shape};
        [SeekNumber, SeekFlags, Shape, Column].contains(&self)
    }

    pub fn is_side(self) -> bool {
        use Kind::{LayoutChecksum, SequenceSize, Side};
        [Side, SequenceSize, LayoutChecksum].contains(&self)
    }
}

#[derive(Clone, Debug)]
pub struct Part {
    pub kind: Kind,
    pub bytes: Vec<u8>,
    /// Packed_Array, Column: number of values. Side: number of the filter that it belongs to.
    /// BlockHeader: line feeds in the raw bytes of the block, as the seek table says.
    pub count: usize,
}

impl Part {
    pub fn new(kind: Kind, bytes: &[u8]) -> Self {
        Part {
            kind,
            bytes: bytes.to_vec(),
            count: 0,
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

    pub fn varint(&self) -> u64 {
        from_varint(&self.bytes) as u64
    }

    pub fn set_varint(&mut self, value: u64) {
        self.bytes = varint(value);
    }

    /// The values of a Packed_Array.
    pub fn values(&self) -> Vec<u64> {
        unpack(&self.bytes, self.count)
    }

    /// The values of a Column.
    pub fn column(&self) -> Vec<u64> {
        let ends = |byte: &u8| byte & 0x80 == 0;
        let size = self
            .bytes
            .iter()
            .position(ends)
            .map_or(0, |at| at + 1);
        let least = from_varint(&self.bytes[..size]) as u64;
        let values = unpack(&self.bytes[size..], self.count).into_iter();
        values
            .map(|value| least.wrapping_add(value))
            .collect()
    }

    /// Gives a Column these values, with the least as Least.
    pub fn set_column(&mut self, values: &[u64]) {
        let least = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().copied().max().unwrap_or(0);
        let differences: Vec<u64> = values.iter().map(|value| value - least).collect();
        self.bytes = varint(least);
        self.bytes
            .extend(pack(width_of(most - least), &differences));
        self.count = values.len();
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

/// Bits of a number; 0 has none.
pub fn width_of(number: u64) -> u8 {
    (u64::BITS - number.leading_zeros()) as u8
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
        Kind::FrameHeader | Kind::BlockHeader | Kind::SeekMarker | Kind::Footer
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

/// The parts of `file`.
pub fn parse(file: &[u8]) -> Vec<Part> {
    let mut reader = Reader {
        rest: file,
        parts: vec![],
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
}

/// A filter of a block, as Filter_List has it.
struct Filter {
    id: u8,
    side_size: usize,
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
        let first = self.parts.len();
        let header = self.part(Kind::FrameHeader, 23)?;
        if header[5] != 0 {
            self.part(Kind::Foreign, number(&header[14..19]) as usize)?;
            return self.part(Kind::Footer, 36).map(|_| ());
        }
        if header[6] & 1 != 0 {
            self.tables(0)?;
        }
        while self.rest.starts_with(SYNC_MARKER) {
            self.block()?;
        }
        if self.rest.starts_with(SEEK_MARKER) {
            self.seek_table(first)?;
        }
        self.part(Kind::Footer, 36).map(|_| ())
    }

    fn block(&mut self) -> Option<()> {
        let header = self.part(Kind::BlockHeader, 41)?;
        let size = self
            .rest
            .len()
            .min(number(&header[17..22]) as usize);
        let (payload, behind) = self.rest.split_at(size);
        self.rest = payload;
        match (header[8], header[9]) {
            (0, _) => drop(self.part(Kind::Stored, size)),
            (1, 0 | 1) => drop(self.payload(header)),
            _ => {}
        }
        self.remainder();
        self.rest = behind;
        Some(())
    }

    fn payload(&mut self, header: &[u8]) -> Option<()> {
        let mut text_size = number(&header[12..17]) as usize;
        let mut filters = Vec::new();
        if header[10] & 1 != 0 {
            for _ in 0..self.part(Kind::FilterCount, 1)?[0] {
                let id = self.part(Kind::FilterId, 1)?[0];
                text_size = self.varint(Kind::FilteredSize)?;
                let side_size = self.varint(Kind::SideSize)?;
                filters.push(Filter { id, side_size });
            }
        }
        let slices = self.array(Kind::SliceCount, 1)?[0].clamp(1, 1 << 20) as usize;
        self.others(Kind::RawSizes, slices)?;
        let models = if header[9] == 0 {
            self.array(Kind::ModelsSize, 1)?[0]
        } else {
            0
        };
        let sizes = self.others(Kind::CodedSizes, slices)?;
        if header[10] & 2 != 0 {
            self.tables(slices)?;
        }
        if header[9] == 0 {
            self.part(Kind::Models, models as usize)?;
        }
        self.array(Kind::Samples, text_size.div_ceil(1 << header[11].min(30)))?;
        for (n, filter) in filters.into_iter().enumerate() {
            self.side(n, &filter)?;
        }
        for size in sizes {
            self.part(Kind::Slice, size as usize)?;
        }
        self.part(Kind::Slice, self.rest.len())
            .map(|_| ())
    }

    /// Tables, by section 8.2. Those of a block have an Index for its slices.
    fn tables(&mut self, slices: usize) -> Option<()> {
        let size = self.varint(Kind::TablesSize)?;
        let end = self.rest.len().checked_sub(size)?;
        while self.rest.len() > end {
            let kind = number(self.part(Kind::TableType, 2)?);
            let size = self.varint(Kind::TableSize)?;
            self.part(Kind::TableChecksum, 4)?;
            let (content, behind) = self.rest.split_at_checked(size)?;
            self.rest = content;
            if kind == 0x8020 {
                let _ = self.index(slices);
            }
            if !self.rest.is_empty() {
                self.part(Kind::Content, self.rest.len());
            }
            self.rest = behind;
        }
        Some(())
    }

    /// Index, chapter 10.
    fn index(&mut self, slices: usize) -> Option<()> {
        let edge = number(&self.part(Kind::IndexHeader, 18)?[13..]).min(128) as usize;
        self.part(Kind::SliceChecksums, 4 * slices)?;
        self.part(Kind::Edge, edge)?;
        self.part(Kind::Edge, edge)?;
        self.part(Kind::Counts, self.rest.len())
            .map(|_| ())
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

    /// Seek_Table, chapter 5, of the frame whose header is the part `first`.
    fn seek_table(&mut self, first: usize) -> Option<()> {
        self.part(Kind::SeekMarker, 8)?;
        let size = self.varint(Kind::SeekSize)?;
        self.part(Kind::SeekChecksum, 4)?;
        let (content, behind) = self.rest.split_at_checked(size)?;
        self.rest = content;
        let flags = content
            .iter()
            .position(|byte| byte & 0x80 == 0)
            .and_then(|at| content.get(at + 1));
        let _ = self.seek_content(first);
        self.remainder();
        self.rest = behind;
        if flags? & 2 != 0 {
            self.tables(0)?;
        }
        Some(())
    }

    fn seek_content(&mut self, first: usize) -> Option<()> {
        let blocks = self.varint(Kind::SeekNumber)?;
        let has_line_feeds = self.part(Kind::SeekFlags, 1)?[0] & 1 != 0;
        if blocks == 0 {
            return None;
        }
        let shapes = self.varint(Kind::SeekNumber)?;
        let mut is_indexed = false;
        for _ in 0..shapes {
            let [kind, coding, flags, _] = *self.rest.first_chunk()?;
            let is_known = kind == 1 && coding < 2;
            let filters = match is_known && flags & 1 != 0 {
                true => 1 + usize::from(*self.rest.get(4)?),
                false => 0,
            };
            self.part(Kind::Shape, 4 + filters)?;
            is_indexed |= is_known && flags & 4 != 0;
        }
        let columns = [
            (shapes > 1, blocks),
            (blocks > 1, blocks - 1),
            (blocks > 1, blocks - 1),
            (is_indexed, blocks),
            (has_line_feeds, blocks),
        ];
        for (_, count) in columns.iter().filter(|(is_there, _)| *is_there) {
            self.column(*count)?;
        }
        if has_line_feeds {
            let line_feeds = self.parts.last()?.column();
            let headers = self.parts[first..]
                .iter_mut()
                .filter(|part| part.kind == Kind::BlockHeader);
            headers
                .zip(line_feeds)
                .for_each(|(header, count)| header.count = count as usize);
        }
        Some(())
    }

    fn column(&mut self, count: usize) -> Option<()> {
        let least = self
            .rest
            .iter()
            .take(6)
            .position(|byte| byte & 0x80 == 0)?
            + 1;
        let width = usize::from(*self.rest.get(least)?);
        let bits = count
            .checked_mul(width)
            .filter(|_| count <= MOST_BLOCKS)?;
        self.part(Kind::Column, least + 1 + bits.div_ceil(8))?;
        self.parts.last_mut()?.count = count;
        Some(())
    }

    /// The fields of the Side of filter `number` of the block, chapter 12.
    fn side(&mut self, number: usize, filter: &Filter) -> Option<()> {
        let (side, behind) = self.rest.split_at_checked(filter.side_size)?;
        self.rest = side;
        let first = self.parts.len();
        let _ = self.side_fields(filter.id);
        if !self.rest.is_empty() {
            self.part(Kind::Side, self.rest.len());
        }
        self.parts[first..]
            .iter_mut()
            .for_each(|part| part.count = number);
        self.rest = behind;
        Some(())
    }

    fn side_fields(&mut self, filter: u8) -> Option<()> {
        match filter {
            1 => {
                self.varint(Kind::SequenceSize)?;
                let layout = self.varint(Kind::Side)?;
                self.part(Kind::Side, layout)?;
                self.part(Kind::LayoutChecksum, 4)?;
            }
            2 => {
                while !self.rest.is_empty() {
                    self.varint(Kind::Side)?;
                    if self.part(Kind::Side, 1)? == [1] {
                        self.part(Kind::Side, 1)?;
                        self.part(Kind::Side, 1)?;
                        self.varint(Kind::Side)?;
                    }
                }
            }
            3 => {
                self.varint(Kind::Side)?;
                let matches = self.varint(Kind::Side)?;
                self.part(Kind::Side, matches)?;
            }
            4 => {
                for _ in 0..3 {
                    self.varint(Kind::Side)?;
                }
            }
            _ => {}
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

/// A varint, section 1.1.
pub fn from_varint(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .fold(0, |number, digit| number << 7 | usize::from(digit & 0x7F))
}

pub fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A Column, section 8.3.
pub fn column(values: &[u64]) -> Part {
    let mut part = Part::new(Kind::Column, &[]);
    part.set_column(values);
    part
}
