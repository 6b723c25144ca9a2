//! Frame_Header, FORMAT.md chapter 3.

use super::field_bytes::{ensure, ensure_checksum, put_checksum, put_uint, uint_at};
use crate::base::error::{Error, Flaw};

/// The bytes with which every compressed file begins.
pub const MAGIC: [u8; 4] = *b"\xF7bwz";

/// The draft of the format, until the format is frozen. All other code takes the number from here.
/// `format/FORMAT.md` and `format/decoder.py` state it themselves, as specifications do.
pub const DRAFT: u8 = 17;
const IS_DRAFT: u8 = 0x80;
/// The byte Version, with the draft in its low bits.
pub const VERSION: u8 = IS_DRAFT | DRAFT;

/// The properties of a frame, written before its first block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// Maximum raw size of a block; 0 if there are no blocks.
    pub block_size: u64,
}

impl FrameHeader {
    pub(crate) const SIZE: usize = 16;

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        put_uint::<5>(&mut bytes, 7, self.block_size);
        put_checksum(&mut bytes, 12);
        bytes
    }

    /// Parses the header that is at `offset` in the file.
    pub(crate) fn at(bytes: &[u8; Self::SIZE], offset: u64) -> Result<Self, Error> {
        other_version(bytes, offset).map_or(Ok(()), Err)?;
        Self::from_bytes(bytes).map_err(|flaw| flaw.at(None, offset))
    }

    fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[..4] == MAGIC, NOT_BWZ)?;
        ensure_checksum(
            bytes,
            12,
            "the frame header is damaged: its checksum is wrong",
        )?;
        ensure(
            bytes[5..7] == [0; 2],
            "a reserved bit of the frame header is set",
        )?;
        Ok(FrameHeader {
            block_size: uint_at::<5>(bytes, 7),
        })
    }
}

/// The error for a frame of another version of the format, if its first bytes, which are at
/// `offset`, say so.
pub(crate) fn other_version(first: &[u8], offset: u64) -> Option<Error> {
    let version = *first.strip_prefix(&MAGIC)?.first()?;
    let by = match version {
        VERSION => return None,
        1 => "draft 8 of the bwz format, or an earlier one".to_owned(),
        IS_DRAFT.. => format!("draft {} of the bwz format", version - IS_DRAFT),
        _ => format!("version {version} of the bwz format"),
    };
    let what = format!("the file was written by {by}; this bwz reads draft {DRAFT}").into();
    Some(Error::Version { what, offset })
}

pub(crate) const NOT_BWZ: &str = "not a bwz file: its first bytes are not the bwz magic";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_these_bytes() {
        let bytes = FrameHeader {
            block_size: 32 << 20,
        }
        .to_bytes();
        #[rustfmt::skip]
        assert_eq!(bytes[..12], [
            0xF7, b'b', b'w', b'z', // Magic
            0x80 + DRAFT, // Version
            0, // Flags
            0, // Reserved
            0, 0, 0, 2, 0, // Block_Size = 32 MiB
        ]);
        assert_eq!(
            FrameHeader::from_bytes(&bytes),
            Ok(FrameHeader {
                block_size: 32 << 20
            })
        );
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = FrameHeader {
            block_size: 1 << 20,
        }
        .to_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(FrameHeader::at(&bad, 0).is_err(), "bit {bit}");
        }
    }
}
