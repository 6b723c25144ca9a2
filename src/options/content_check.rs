//! The checks of a whole raw stream.

/// The check of a whole raw stream, which stands at the end of its frame.
///
/// Every block has two CRC-32s: one of its bytes as they are stored, and one of its raw bytes. Both
/// must miss an accident for it to go unnoticed, which is one in 2^64. So CRC-32 is enough for data
/// that nobody forges, and the others are for those who compare files by digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamCheck {
    /// CRC-32 alone, which every frame has.
    #[default]
    Crc32,
    /// XXH3 of 64 bits too.
    Xxh3,
    /// BLAKE3 of 256 bits too, which also tells forgeries.
    Blake3,
}
