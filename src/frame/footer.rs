//! Footer, FORMAT.md chapter 6: the last 32 bytes of a frame.

use super::field_bytes::{ensure, ensure_checksum, put_checksum, put_uint, u32_at, uint_at};
use crate::base::error::Flaw;

const FOOTER_MAGIC: [u8; 4] = *b"zwb\xF7";

pub(crate) const NO_FOOTER: Flaw =
    Flaw("the file does not end in a bwz footer: it was cut off, or something was added");

/// The totals of a frame, written after its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub total_raw_size: u64,
    pub frame_size: u64,
    /// Size of Seek_Table with the frame's tables, if it has any.
    pub seek_table_size: u64,
    /// CRC-32 of the frame's raw stream.
    pub stream_checksum: u32,
}

impl Footer {
    pub(crate) const SIZE: usize = 32;

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.total_raw_size.to_le_bytes());
        put_uint::<7>(&mut bytes, 8, self.frame_size);
        put_uint::<5>(&mut bytes, 15, self.seek_table_size);
        bytes[20..24].copy_from_slice(&self.stream_checksum.to_le_bytes());
        put_checksum(&mut bytes, 24);
        bytes[28..].copy_from_slice(&FOOTER_MAGIC);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[28..] == FOOTER_MAGIC, NO_FOOTER.0)?;
        ensure_checksum(bytes, 24, "the footer is damaged: its checksum is wrong")?;
        Ok(Footer {
            total_raw_size: uint_at::<8>(bytes, 0),
            frame_size: uint_at::<7>(bytes, 8),
            seek_table_size: uint_at::<5>(bytes, 15),
            stream_checksum: u32_at(bytes, 20),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_survives_and_a_flipped_bit_does_not() {
        let footer = Footer {
            total_raw_size: 1 << 40,
            frame_size: 1 << 55,
            seek_table_size: 1 << 39,
            stream_checksum: 0xCBF4_3926,
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
