//! Frame_Header, FORMAT.md chapter 3.

use super::features::Features;
use super::field_bytes::{ensure, ensure_checksum, put_checksum, put_uint, u32_at, uint_at};
use crate::base::error::{Error, Flaw, Release, Unknown};

/// The bytes with which every compressed file begins.
pub const MAGIC: [u8; 4] = *b"\xF7bwz";

/// The draft of the format, until the format is frozen. All other code takes the number from here.
/// `format/FORMAT.md` and `format/decoder.py` state it themselves, as specifications do.
pub const DRAFT: u8 = 18;
const IS_DRAFT: u8 = 0x80;
/// The byte Version, with the draft in its low bits.
pub const VERSION: u8 = IS_DRAFT | DRAFT;

/// The first release of bwz that reads what this one writes: minor and major number.
pub(crate) const NEEDED: Release = Release([0, 1]);

/// The properties of a frame of data, written before its first block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// True if tables follow the header.
    pub tables: bool,
    /// The check of the whole raw stream beside its CRC-32, as an id.
    pub check: u8,
    /// The first release of bwz that reads all of the frame.
    pub needed: Release,
    /// The features that the frame may use.
    pub features: Features,
    /// Maximum raw size of a block; 0 if there are no blocks.
    pub block_size: u64,
}

/// The header of a frame of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyHeader {
    Data(FrameHeader),
    /// A frame without raw bytes, which may be passed over.
    Private(PrivateHeader),
    /// A frame of a kind that this version does not know, with content of this size.
    Unknown(Unknown, u64),
}

/// The header of a frame with private content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrivateHeader {
    /// The kind of frame, 128 to 255.
    pub kind: u8,
    /// Whoever made the frame.
    pub owner: u32,
    /// Bytes between header and footer.
    pub content_size: u64,
}

/// The Frame_Kind of a frame that holds private content.
const PRIVATE: u8 = 128;

/// Bytes of the header of a frame of any kind, without the tables behind it.
pub(crate) const HEADER_SIZE: usize = 23;

const TABLES: u8 = 1;

impl FrameHeader {
    /// The header of a frame of blocks of up to `block_size` bytes that may use `features`.
    pub(crate) fn new(block_size: u64, features: Features) -> Self {
        FrameHeader {
            tables: false,
            check: 0,
            needed: NEEDED,
            features: features.with(Features::of_size(block_size)),
            block_size,
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let flags = if self.tables { TABLES } else { 0 };
        let [minor, major] = self.needed.0;
        let fields = [0, flags, self.check, minor, major];
        with_checksum(fields, self.features.bits(), self.block_size)
    }
}

impl PrivateHeader {
    pub(crate) fn of(owner: u32, content_size: u64) -> Self {
        PrivateHeader {
            kind: PRIVATE,
            owner,
            content_size,
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        with_checksum([self.kind, 0, 0, 0, 0], self.owner, self.content_size)
    }
}

fn with_checksum(fields: [u8; 5], word: u32, size: u64) -> [u8; HEADER_SIZE] {
    let mut bytes = [0; HEADER_SIZE];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = VERSION;
    bytes[5..10].copy_from_slice(&fields);
    bytes[10..14].copy_from_slice(&word.to_le_bytes());
    put_uint::<5>(&mut bytes, 14, size);
    put_checksum(&mut bytes, 19);
    bytes
}

impl AnyHeader {
    /// Parses the header that is at `offset` in the file.
    pub(crate) fn at(bytes: &[u8; HEADER_SIZE], offset: u64) -> Result<Self, Error> {
        other_version(bytes, offset).map_or(Ok(()), Err)?;
        Self::from_bytes(bytes).map_err(|flaw| flaw.at(None, offset))
    }

    fn from_bytes(bytes: &[u8; HEADER_SIZE]) -> Result<Self, Flaw> {
        ensure(bytes[..4] == MAGIC, NOT_BWZ)?;
        ensure_checksum(
            bytes,
            19,
            "the frame header is damaged: its checksum is wrong",
        )?;
        let [kind, flags, check, minor, major] = [5, 6, 7, 8, 9].map(|at| bytes[at]);
        let word = u32_at(bytes, 10);
        let size = uint_at::<5>(bytes, 14);
        let reserved = match kind {
            0 => flags & !TABLES,
            PRIVATE => flags | check | minor | major,
            // A later version may use these fields.
            _ => 0,
        };
        ensure(reserved == 0, "a reserved bit of the frame header is set")?;
        Ok(match kind {
            0 => AnyHeader::Data(FrameHeader {
                tables: flags & TABLES != 0,
                check,
                needed: Release([minor, major]),
                features: Features::from_bits(word),
                block_size: size,
            }),
            PRIVATE.. => AnyHeader::Private(PrivateHeader {
                kind,
                owner: word,
                content_size: size,
            }),
            _ => AnyHeader::Unknown(
                Unknown {
                    what: "kind",
                    id: kind.into(),
                },
                size,
            ),
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
    let part = if offset == 0 { "file" } else { "frame" };
    let what = format!("the {part} was written by {by}; this bwz reads draft {DRAFT}").into();
    Some(Error::Version { what, offset })
}

pub(crate) const NOT_BWZ: &str = "not a bwz file: its first bytes are not the bwz magic";

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: FrameHeader = FrameHeader {
        tables: true,
        check: 129,
        needed: Release([4, 1]),
        features: Features::from_bits(0x0102_0304),
        block_size: 32 << 20,
    };

    #[test]
    fn a_header_is_these_bytes() {
        let bytes = HEADER.to_bytes();
        #[rustfmt::skip]
        assert_eq!(bytes[..19], [
            0xF7, b'b', b'w', b'z', // Magic
            0x80 + DRAFT, // Version
            0, 1, 129, // Frame_Kind, Flags, Check_Type
            4, 1, // Needed_Release = 1.4
            4, 3, 2, 1, // Features
            0, 0, 0, 2, 0, // Block_Size = 32 MiB
        ]);
        assert_eq!(AnyHeader::from_bytes(&bytes), Ok(AnyHeader::Data(HEADER)));
    }

    #[test]
    fn frames_of_other_kinds_are_passed_over_or_unknown() {
        let private = PrivateHeader {
            kind: PRIVATE,
            owner: u32::from_le_bytes(*b"mine"),
            content_size: 99,
        };
        let bytes = private.to_bytes();
        assert_eq!(
            AnyHeader::from_bytes(&bytes),
            Ok(AnyHeader::Private(private))
        );
        let unknown = PrivateHeader { kind: 5, ..private };
        let what = Unknown {
            what: "kind",
            id: 5,
        };
        assert_eq!(
            AnyHeader::from_bytes(&unknown.to_bytes()),
            Ok(AnyHeader::Unknown(what, 99))
        );
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = HEADER.to_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(AnyHeader::at(&bad, 0).is_err(), "bit {bit}");
        }
    }
}
