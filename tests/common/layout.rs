//! Structures of a file with right checksums, written by hand: FORMAT.md chapters 3 to 6.

use super::mutation::parts::varint;
use bwz::internals;

/// Bytes of Frame_Header, Block_Header and Footer.
pub const HEADER: usize = 23;
pub const BLOCK_HEADER: usize = 41;
pub const FOOTER: usize = 36;

/// Bits of Features.
pub const STATIC_RANS: u32 = 1;
pub const WIDE: u32 = 1 << 6;

pub const SYNC_MARKER: [u8; 8] = [0xB5, 0xE1, 0x7A, 0x96, 0x2C, 0xD4, 0x0F, 0x83];
pub const SEEK_MARKER: [u8; 8] = [0xB5, 0xE1, 0x7A, 0x96, 0xD3, 0x2B, 0xF0, 0x7C];

/// `parts`, followed by their checksum.
pub fn sealed(parts: &[&[u8]]) -> Vec<u8> {
    let bytes = parts.concat();
    let checksum = crc32fast::hash(&bytes).to_le_bytes();
    [&bytes[..], &checksum].concat()
}

/// A number of `size` bytes.
pub fn uint(number: u64, size: usize) -> Vec<u8> {
    number.to_le_bytes()[..size].to_vec()
}

pub fn frame_header(block_size: u64, features: u32) -> Vec<u8> {
    frame_of_kind(0, block_size, features)
}

/// The header of a frame of any kind. `size` is its Block_Size or its Content_Size.
pub fn frame_of_kind(kind: u8, size: u64, features: u32) -> Vec<u8> {
    let [a, b, c, d] = bwz::MAGIC;
    let start = [a, b, c, d, internals::VERSION, kind, 0, 0, 0, 0];
    sealed(&[&start, &features.to_le_bytes(), &uint(size, 5)])
}

/// The fields of a Block_Header.
#[derive(Clone, Copy, Default)]
pub struct Block {
    /// Block_Kind, Coding, Flags and Sample_Rate_Log.
    pub shape: [u8; 4],
    pub raw_size: u64,
    pub coded_size: u64,
    pub raw_checksum: u32,
    pub raw_offset: u64,
    pub payload_checksum: u32,
}

impl Block {
    pub fn header(&self) -> Vec<u8> {
        sealed(&[
            &SYNC_MARKER,
            &self.shape,
            &uint(self.raw_size, 5),
            &uint(self.coded_size, 5),
            &self.raw_checksum.to_le_bytes(),
            &uint(self.raw_offset, 7),
            &self.payload_checksum.to_le_bytes(),
        ])
    }
}

/// A Seek_Table without tables.
pub fn seek_table(content: &[u8]) -> Vec<u8> {
    let size = varint(content.len() as u64);
    let checksum = crc32fast::hash(&[&size, content].concat()).to_le_bytes();
    [&SEEK_MARKER[..], &size, &checksum, content].concat()
}

/// The content of the Seek_Table of one block of this shape without filters.
pub fn one_block(shape: [u8; 4]) -> Vec<u8> {
    [&[1, 0, 1][..], &shape].concat()
}

/// The fields of a Footer.
#[derive(Clone, Copy, Default)]
pub struct End {
    pub raw_size: u64,
    pub table_size: u64,
    pub features: u32,
    pub checksum: u32,
    pub frame_size: u64,
}

impl End {
    pub fn footer(&self) -> Vec<u8> {
        let fields = [
            uint(self.raw_size, 7),
            uint(self.table_size, 5),
            self.features.to_le_bytes().to_vec(),
            self.checksum.to_le_bytes().to_vec(),
            uint(self.frame_size, 7),
            vec![internals::VERSION],
        ];
        [&sealed(&[&fields.concat()])[..], b"zwb\xF7"].concat()
    }
}
