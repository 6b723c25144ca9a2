//! Footer, FORMAT.md chapter 6: the last 36 bytes of a frame.

use super::features::Features;
use super::field_bytes::{ensure, ensure_checksum, put_checksum, put_uint, u32_at, uint_at};
use super::frame_header::{HEADER_SIZE, MAGIC, VERSION};
use crate::base::error::Flaw;

const FOOTER_MAGIC: [u8; 4] = *b"zwb\xF7";

pub(crate) const NO_FOOTER: Flaw =
    Flaw("the file does not end in a bwz footer: it was cut off, or something was added");

/// The totals of a frame, written after its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub total_raw_size: u64,
    /// Size of Seek_Table with the frame's tables, if it has any; 0 in a frame of another kind.
    pub seek_table_size: u64,
    /// The features that the blocks of the frame use.
    pub features: Features,
    /// CRC-32 of the frame's raw stream, or of the content of a frame of another kind.
    pub stream_checksum: u32,
    pub frame_size: u64,
}

impl Footer {
    pub(crate) const SIZE: usize = 36;
    /// Bytes of the smallest frame of this version. A reader that goes from frame to frame would
    /// not come to an end if one had no bytes.
    pub(crate) const LEAST_FRAME: u64 = (HEADER_SIZE + Self::SIZE) as u64;
    /// Bytes of the smallest frame of any version: magic, version and footer.
    const LEAST_OF_ANY_VERSION: u64 = (MAGIC.len() + 1 + Self::SIZE) as u64;

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        put_uint::<7>(&mut bytes, 0, self.total_raw_size);
        put_uint::<5>(&mut bytes, 7, self.seek_table_size);
        bytes[12..16].copy_from_slice(&self.features.bits().to_le_bytes());
        bytes[16..20].copy_from_slice(&self.stream_checksum.to_le_bytes());
        put_uint::<7>(&mut bytes, 20, self.frame_size);
        bytes[27] = VERSION;
        put_checksum(&mut bytes, 28);
        bytes[32..].copy_from_slice(&FOOTER_MAGIC);
        bytes
    }

    /// The size of the frame, if the checksum is right and a frame may have this size. Its place is
    /// the same in all versions.
    pub(crate) fn frame_size(bytes: &[u8; Self::SIZE]) -> Option<u64> {
        let sound = bytes[32..] == FOOTER_MAGIC && ensure_checksum(bytes, 28, "").is_ok();
        let size = uint_at::<7>(bytes, 20);
        (sound && size >= Self::LEAST_OF_ANY_VERSION).then_some(size)
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[32..] == FOOTER_MAGIC, NO_FOOTER.0)?;
        ensure_checksum(bytes, 28, "the footer is damaged: its checksum is wrong")?;
        ensure(
            bytes[27] == VERSION,
            "the footer is of another version of the format than its frame",
        )?;
        Ok(Footer {
            total_raw_size: uint_at::<7>(bytes, 0),
            seek_table_size: uint_at::<5>(bytes, 7),
            features: Features::from_bits(u32_at(bytes, 12)),
            stream_checksum: u32_at(bytes, 16),
            frame_size: uint_at::<7>(bytes, 20),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_frame_is_smaller_than_its_magic_version_and_footer() {
        let footer = |frame_size| Footer {
            total_raw_size: 0,
            seek_table_size: 0,
            features: Features::NONE,
            stream_checksum: 0,
            frame_size,
        };
        for (size, is_sound) in [(0, false), (40, false), (41, true)] {
            let bytes = footer(size).to_bytes();
            assert_eq!(Footer::frame_size(&bytes).is_some(), is_sound, "{size}");
        }
    }

    #[test]
    fn a_footer_survives_and_a_flipped_bit_does_not() {
        let footer = Footer {
            total_raw_size: 1 << 40,
            seek_table_size: 1 << 39,
            features: Features::INDEX,
            stream_checksum: 0xCBF4_3926,
            frame_size: 1 << 55,
        };
        let good = footer.to_bytes();
        assert_eq!(Footer::from_bytes(&good), Ok(footer));
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Footer::from_bytes(&bad).is_err(), "bit {bit}");
        }
    }
}
