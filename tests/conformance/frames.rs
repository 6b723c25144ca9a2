//! Frames that are put together from blocks, with whatever a test asks for around them. All sizes
//! and checksums are right, so a file has only the fault that is put into it.

use bwz::internals::{self, BlockBytes};
use std::ops::Range;

pub const MAGIC: [u8; 4] = *b"\xF7bwz";
pub const SYNC_MARKER: [u8; 8] = *b"\xB5\xE1\x7A\x96\x2C\xD4\x0F\x83";
pub const SEEK_MARKER: [u8; 8] = *b"\xB5\xE1\x7A\x96\xD3\x2B\xF0\x7C";
pub const FOOTER_MAGIC: [u8; 4] = *b"zwb\xF7";
pub const FRAME_HEADER_SIZE: usize = 23;
pub const BLOCK_HEADER_SIZE: usize = 41;
pub const FOOTER_SIZE: usize = 36;

/// Bits of Features.
pub const INDEX: u32 = 1 << 16;
const NO_BIT_OF_ITS_OWN: u32 = 1 << 15;

/// Flags of a block.
pub const HAS_FILTERS: u8 = 1;
pub const HAS_TABLES: u8 = 2;
pub const INDEXED: u8 = 4;

/// A block that is not yet in a frame.
#[derive(Clone)]
pub struct Block {
    /// Block_Kind, Coding, Flags, Sample_Rate_Log.
    pub shape: [u8; 4],
    pub raw: Vec<u8>,
    pub payload: Vec<u8>,
}

impl Block {
    pub fn stored(raw: &[u8]) -> Self {
        Block {
            shape: [0; 4],
            raw: raw.to_vec(),
            payload: raw.to_vec(),
        }
    }

    /// The only block of a file that the library wrote.
    pub fn of(raw: &[u8], file: &[u8]) -> Self {
        let blocks: Vec<_> = internals::blocks(file, &crate::common::options(1))
            .map(Result::unwrap)
            .collect();
        assert_eq!(blocks.len(), 1);
        Block::from_bytes(raw, blocks[0].clone())
    }

    pub fn from_bytes(raw: &[u8], block: BlockBytes) -> Self {
        let (header, payload) = block;
        Block {
            shape: header[8..12].try_into().unwrap(),
            raw: raw.to_vec(),
            payload,
        }
    }

    /// `raw` as a block in the default effort.
    pub fn new(raw: &[u8]) -> Self {
        Block::of(raw, &crate::common::compressed(raw, 8 << 20))
    }

    /// A block whose text is that of `plain`, a block without filters and tables.
    pub fn filtered(plain: &Block, raw: &[u8], filters: &[Filter]) -> Self {
        let mut payload = Payload::of(plain);
        payload.list = vec![filters.len() as u8];
        for filter in filters {
            payload.list.push(filter.id);
            payload.list.extend(varint(filter.size));
            payload
                .list
                .extend(varint(filter.side.len() as u64));
            payload.side.extend(&filter.side);
        }
        let mut block = Block {
            raw: raw.to_vec(),
            payload: payload.to_bytes(),
            ..plain.clone()
        };
        block.shape[2] |= HAS_FILTERS;
        block
    }

    /// The block with these Tables. It must have none.
    pub fn with_tables(&self, tables: &[u8]) -> Self {
        let mut payload = Payload::of(self);
        payload.tables = tables.to_vec();
        let mut block = self.clone();
        block.payload = payload.to_bytes();
        block.shape[2] |= HAS_TABLES;
        block
    }

    fn is_known(&self) -> bool {
        self.shape[0] < 2 && self.shape[1] < 2
    }

    fn has(&self, flag: u8) -> bool {
        self.shape[0] == 1 && self.is_known() && self.shape[2] & flag != 0
    }

    /// The Filter_Ids, as far as the list can be read.
    fn filter_ids(&self) -> Vec<u8> {
        if !self.has(HAS_FILTERS) {
            return Vec::new();
        }
        let mut at = 1;
        let mut ids = Vec::new();
        for _ in 0..self.payload[0] {
            ids.extend(self.payload.get(at));
            at += 1;
            for _ in 0..2 {
                while self
                    .payload
                    .get(at)
                    .is_some_and(|byte| byte & 128 != 0)
                {
                    at += 1;
                }
                at += 1;
            }
        }
        ids
    }

    fn features(&self) -> u32 {
        if !self.is_known() {
            return NO_BIT_OF_ITS_OWN;
        }
        if self.shape[0] == 0 {
            return 0;
        }
        let mut features = 1 << self.shape[1];
        for id in self.filter_ids() {
            features |= match id {
                1..=4 => 2 << id,
                _ => NO_BIT_OF_ITS_OWN,
            };
        }
        if self.has(INDEXED) {
            features |= INDEX;
        }
        features
    }

    fn header(&self, raw_offset: u64) -> Vec<u8> {
        sealed(
            [
                &SYNC_MARKER[..],
                &self.shape,
                &uint(self.raw.len() as u64, 5),
                &uint(self.payload.len() as u64, 5),
                &crc(&self.raw),
                &uint(raw_offset, 7),
                &crc(&self.payload),
            ]
            .concat(),
        )
    }

    /// The block's shape, as in the Seek_Table.
    fn shape_bytes(&self) -> Vec<u8> {
        let mut shape = self.shape.to_vec();
        if self.has(HAS_FILTERS) {
            let ids = self.filter_ids();
            shape.push(ids.len() as u8);
            shape.extend(ids);
        }
        shape
    }

    fn front_size(&self) -> u64 {
        if self.has(INDEXED) && self.has(HAS_TABLES) {
            (BLOCK_HEADER_SIZE + Payload::of(self).front_size()) as u64
        } else {
            0
        }
    }
}

/// A filter of a block.
#[derive(Clone)]
pub struct Filter {
    pub id: u8,
    /// Filtered_Size.
    pub size: u64,
    pub side: Vec<u8>,
}

/// The parts of a payload of Block_Kind bwt.
#[derive(Clone, Default)]
pub struct Payload {
    pub list: Vec<u8>,
    /// Slice_Count to Coded_Sizes.
    pub sizes: Vec<u8>,
    pub tables: Vec<u8>,
    pub models: Vec<u8>,
    pub samples: Vec<u8>,
    pub side: Vec<u8>,
    pub slices: Vec<u8>,
}

impl Payload {
    /// The parts of a sound block.
    pub fn of(block: &Block) -> Self {
        let mut rest = &block.payload[..];
        let mut parts = Payload::default();
        let mut text_size = block.raw.len() as u64;
        let mut side_size = 0;
        if block.shape[2] & HAS_FILTERS != 0 {
            let before = rest;
            let count = take(&mut rest, 1)[0];
            for _ in 0..count {
                take(&mut rest, 1);
                text_size = take_varint(&mut rest);
                side_size += take_varint(&mut rest) as usize;
            }
            parts.list = before[..before.len() - rest.len()].to_vec();
        }
        let before = rest;
        let slices = take_packed(&mut rest, 1)[0] as usize;
        if slices > 1 {
            take_packed(&mut rest, slices - 1);
        }
        let mut models_size = 0;
        if block.shape[1] == 0 {
            models_size = take_packed(&mut rest, 1)[0] as usize;
        }
        if slices > 1 {
            take_packed(&mut rest, slices - 1);
        }
        parts.sizes = before[..before.len() - rest.len()].to_vec();
        let before = rest;
        if block.shape[2] & HAS_TABLES != 0 {
            let size = take_varint(&mut rest) as usize;
            take(&mut rest, size);
        }
        parts.tables = before[..before.len() - rest.len()].to_vec();
        parts.models = take(&mut rest, models_size).to_vec();
        let before = rest;
        let samples = text_size.div_ceil(1 << block.shape[3]);
        take_packed(&mut rest, samples as usize);
        parts.samples = before[..before.len() - rest.len()].to_vec();
        parts.side = take(&mut rest, side_size).to_vec();
        parts.slices = rest.to_vec();
        parts
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        [
            &self.list[..],
            &self.sizes,
            &self.tables,
            &self.models,
            &self.samples,
            &self.side,
            &self.slices,
        ]
        .concat()
    }

    fn front_size(&self) -> usize {
        self.list.len() + self.sizes.len() + self.tables.len() + self.models.len()
    }
}

/// A frame of data.
#[derive(Clone, Default)]
pub struct Frame {
    pub blocks: Vec<Block>,
    /// Features that are announced and not used.
    pub announced: u32,
    pub check_type: u8,
    /// Tables of Frame_Header.
    pub first_tables: Vec<u8>,
    /// Tables of the Seek_Table.
    pub last_tables: Vec<u8>,
    /// Content of the Seek_Table, if it is not that of the blocks.
    pub seek_content: Option<Vec<u8>>,
}

impl Frame {
    pub fn of(blocks: &[Block]) -> Self {
        Frame {
            blocks: blocks.to_vec(),
            ..Frame::default()
        }
    }

    pub fn raw(&self) -> Vec<u8> {
        self.blocks
            .iter()
            .flat_map(|block| block.raw.clone())
            .collect()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let features = self
            .blocks
            .iter()
            .fold(0, |features, block| features | block.features());
        let mut out = self.header(features);
        out.extend(&self.first_tables);
        let mut raw_offset = 0;
        for block in &self.blocks {
            out.extend(block.header(raw_offset));
            out.extend(&block.payload);
            raw_offset += block.raw.len() as u64;
        }
        let seek_table = self.seek_table();
        out.extend(&seek_table);
        let frame_size = out.len() + FOOTER_SIZE;
        let numbers = [
            &uint(raw_offset, 7)[..],
            &uint(seek_table.len() as u64, 5),
            &features.to_le_bytes(),
            &crc(&self.raw()),
            &uint(frame_size as u64, 7),
            &[internals::VERSION],
        ];
        out.extend(sealed(numbers.concat()));
        out.extend(FOOTER_MAGIC);
        out
    }

    fn header(&self, features: u32) -> Vec<u8> {
        let block_size = self
            .blocks
            .iter()
            .map(|block| block.raw.len())
            .max()
            .unwrap_or(0);
        let has_tables = u8::from(!self.first_tables.is_empty());
        let fields = [
            &MAGIC[..],
            &[internals::VERSION, 0, has_tables, self.check_type, 0, 1],
            &(features | self.announced).to_le_bytes(),
            &uint(block_size as u64, 5),
        ];
        sealed(fields.concat())
    }

    fn seek_table(&self) -> Vec<u8> {
        let content = match &self.seek_content {
            Some(content) => content.clone(),
            None => self.content(),
        };
        seek_table(&content, &self.last_tables)
    }

    /// The Content of the Seek_Table.
    pub fn content(&self) -> Vec<u8> {
        let blocks = &self.blocks;
        let has_tables = if self.last_tables.is_empty() { 0 } else { 2 };
        let has_line_feeds = u8::from(!blocks.is_empty());
        let mut content = varint(blocks.len() as u64);
        content.push(has_line_feeds | has_tables);
        if blocks.is_empty() {
            return content;
        }
        let mut shapes = Vec::new();
        let mut numbers = Vec::new();
        for block in blocks {
            let shape = block.shape_bytes();
            let number = shapes
                .iter()
                .position(|known| *known == shape)
                .unwrap_or(shapes.len());
            if number == shapes.len() {
                shapes.push(shape);
            }
            numbers.push(number as u64);
        }
        content.extend(varint(shapes.len() as u64));
        content.extend(shapes.concat());
        if shapes.len() > 1 {
            content.extend(column(&numbers));
        }
        let of = |value: &dyn Fn(&Block) -> u64| -> Vec<u64> { blocks.iter().map(value).collect() };
        if blocks.len() > 1 {
            let last = blocks.len() - 1;
            content.extend(column(&of(&|block| block.raw.len() as u64)[..last]));
            let stored = of(&|block| (BLOCK_HEADER_SIZE + block.payload.len()) as u64);
            content.extend(column(&stored[..last]));
        }
        if blocks.iter().any(|block| block.has(INDEXED)) {
            content.extend(column(&of(&Block::front_size)));
        }
        let line_feeds = |block: &Block| {
            block
                .raw
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count() as u64
        };
        content.extend(column(&of(&line_feeds)));
        content
    }
}

/// A Seek_Table with this Content and these Tables.
pub fn seek_table(content: &[u8], tables: &[u8]) -> Vec<u8> {
    let size = varint(content.len() as u64);
    let checksum = crc(&[&size[..], content].concat());
    [&SEEK_MARKER[..], &size, &checksum, content, tables].concat()
}

/// A frame of another kind than data.
pub fn other_frame(kind: u8, owner: [u8; 4], content: &[u8]) -> Vec<u8> {
    let header = [
        &MAGIC[..],
        &[internals::VERSION, kind, 0, 0, 0, 0],
        &owner,
        &uint(content.len() as u64, 5),
    ];
    let frame_size = FRAME_HEADER_SIZE + content.len() + FOOTER_SIZE;
    let footer = [
        &[0; 16][..],
        &crc(content),
        &uint(frame_size as u64, 7),
        &[internals::VERSION],
    ];
    [
        &sealed(header.concat())[..],
        content,
        &sealed(footer.concat()),
        &FOOTER_MAGIC,
    ]
    .concat()
}

/// The Features of the Footers of all frames, or of the first Frame_Header if the end of the file
/// is not sound.
pub fn features(file: &[u8]) -> u32 {
    let end = file.len()
        - file
            .iter()
            .rev()
            .take_while(|&&byte| byte == 0)
            .count();
    footer_features(&file[..end]).unwrap_or_else(|| match file.get(10..14) {
        Some(features) if file[5] == 0 => u32::from_le_bytes(features.try_into().unwrap()),
        _ => 0,
    })
}

fn footer_features(mut file: &[u8]) -> Option<u32> {
    let mut all = 0;
    while !file.is_empty() {
        let footer = file.last_chunk::<FOOTER_SIZE>()?;
        let size = read_uint(&footer[20..27]) as usize;
        if footer[32..] != FOOTER_MAGIC || size == 0 {
            return None;
        }
        let frame = file.split_off(file.len().checked_sub(size)?..)?;
        if frame.get(5) == Some(&0) {
            all |= read_uint(&footer[12..16]) as u32;
        }
    }
    Some(all)
}

/// Tables that hold these.
pub fn tables(all: &[(u16, &[u8])]) -> Vec<u8> {
    let all: Vec<u8> = all
        .iter()
        .flat_map(|&(kind, content)| table(kind, content))
        .collect();
    [varint(all.len() as u64), all].concat()
}

pub fn table(kind: u16, content: &[u8]) -> Vec<u8> {
    let head = [&kind.to_le_bytes()[..], &varint(content.len() as u64)].concat();
    let checksum = crc(&[&head[..], content].concat());
    [&head[..], &checksum, content].concat()
}

/// A Column of the smallest Width.
pub fn column(values: &[u64]) -> Vec<u8> {
    let least = *values.iter().min().unwrap();
    let width = values
        .iter()
        .map(|value| {
            (value - least)
                .checked_ilog2()
                .map_or(0, |log| log + 1)
        })
        .max()
        .unwrap();
    column_of(values, least, width as u8)
}

pub fn column_of(values: &[u64], least: u64, width: u8) -> Vec<u8> {
    let values: Vec<u64> = values.iter().map(|value| value - least).collect();
    [&varint(least)[..], &[width], &bits(&values, width)].concat()
}

/// A Packed_Array.
pub fn packed(width: u8, values: &[u64]) -> Vec<u8> {
    [&[width][..], &bits(values, width)].concat()
}

fn bits(values: &[u64], width: u8) -> Vec<u8> {
    let width = usize::from(width);
    let mut bytes = vec![0; (values.len() * width).div_ceil(8)];
    for (n, value) in values.iter().enumerate() {
        for bit in 0..width {
            let at = n * width + bit;
            bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
        }
    }
    bytes
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

pub fn uint(value: u64, size: usize) -> Vec<u8> {
    value.to_le_bytes()[..size].to_vec()
}

pub fn read_uint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

pub fn crc(bytes: &[u8]) -> [u8; 4] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// Bytes followed by their CRC-32.
pub fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    [&bytes[..], &crc(&bytes)].concat()
}

pub fn take<'a>(rest: &mut &'a [u8], size: usize) -> &'a [u8] {
    rest.split_off(..size).unwrap()
}

pub fn take_varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0.. {
        let byte = take(rest, 1)[0];
        value |= u64::from(byte & 127) << (7 * place);
        if byte < 128 {
            break;
        }
    }
    value
}

/// The integers of a Column.
pub fn take_column(rest: &mut &[u8], count: usize) -> Vec<u64> {
    let least = take_varint(rest);
    if rest[0] == 0 {
        take(rest, 1);
        return vec![least; count];
    }
    let mut values = take_packed(rest, count);
    for value in &mut values {
        *value += least;
    }
    values
}

/// The values of a Packed_Array.
pub fn take_packed(rest: &mut &[u8], count: usize) -> Vec<u64> {
    let width = usize::from(take(rest, 1)[0]);
    let bytes = take(rest, (count * width).div_ceil(8));
    let value = |bits: Range<usize>| {
        bits.rev().fold(0, |value, bit| {
            value << 1 | u64::from(bytes[bit / 8] >> (bit % 8) & 1)
        })
    };
    (0..count)
        .map(|n| value(n * width..(n + 1) * width))
        .collect()
}
