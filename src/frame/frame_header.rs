//! Frame_Header, FORMAT.md chapter 3.

use super::fields::{checksum_holds, ensure, u32_at};
use crate::error::{Error, Flaw};
use crate::options::MAX_BLOCK_SIZE;

/// The bytes that every compressed file begins with.
pub const MAGIC: [u8; 4] = *b"\xF7bwz";
const VERSION: u8 = 1;

/// What a frame says before its first block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// Raw size of every block but the last; 0 when there are no blocks.
    pub block_size: u32,
}

impl FrameHeader {
    pub const SIZE: usize = 16;

    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[8..12].copy_from_slice(&self.block_size.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..12]);
        bytes[12..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header that stands at `offset` in the file.
    pub fn at(bytes: &[u8; Self::SIZE], offset: u64) -> Result<Self, Error> {
        Self::from_bytes(bytes).map_err(|flaw| match bytes[4] {
            version if bytes[..4] == MAGIC && version != VERSION => Error::Format {
                what: format!("{}: {version}, and this bwz reads {VERSION}", flaw.0).into(),
                block: None,
                offset,
            },
            _ => flaw.at(None, offset),
        })
    }

    fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[..4] == MAGIC, NOT_BWZ)?;
        ensure(bytes[4] == VERSION, "the file is of another version of the format")?;
        ensure(
            checksum_holds(u32_at(bytes, 12), &bytes[..12]),
            "the frame header is damaged: its checksum is wrong",
        )?;
        ensure(bytes[5..8] == [0; 3], "a reserved bit of the frame header is set")?;
        let block_size = u32_at(bytes, 8);
        ensure(block_size <= MAX_BLOCK_SIZE, "the frame header's block size is out of range")?;
        Ok(FrameHeader { block_size })
    }
}

pub(crate) const NOT_BWZ: &str = "not a bwz file: its first bytes are not the bwz magic";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_these_bytes() {
        let bytes = FrameHeader { block_size: 32 << 20 }.to_bytes();
        #[rustfmt::skip]
        assert_eq!(bytes[..12], [
            0xF7, b'b', b'w', b'z', // Magic
            1, // Version
            0, // Flags
            0, 0, // Reserved
            0, 0, 0, 2, // Block_Size = 32 MiB
        ]);
        assert_eq!(FrameHeader::from_bytes(&bytes), Ok(FrameHeader { block_size: 32 << 20 }));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = FrameHeader { block_size: 1 << 20 }.to_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(FrameHeader::from_bytes(&bad).is_err(), "bit {bit}");
        }
    }
}
