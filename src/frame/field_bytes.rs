//! The fields of structures, and their checks.

use crate::base::error::Flaw;
use crc32fast::Hasher;
use rayon::prelude::*;
use std::io::{self, Read, Seek, SeekFrom};

/// A little-endian integer of 4 bytes.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// A little-endian integer of `SIZE` bytes, 1 to 8.
pub(super) fn uint_at<const SIZE: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..SIZE].copy_from_slice(&bytes[at..at + SIZE]);
    u64::from_le_bytes(wide)
}

/// Puts the low `SIZE` bytes of `value` at `at`. The other bytes of `value` are 0.
pub(super) fn put_uint<const SIZE: usize>(bytes: &mut [u8], at: usize, value: u64) {
    debug_assert!(
        value >> (8 * SIZE - 1) <= 1,
        "{value} does not fit {SIZE} bytes"
    );
    bytes[at..at + SIZE].copy_from_slice(&value.to_le_bytes()[..SIZE]);
}

/// Reads the `N` bytes at `offset`, or returns `None` if the file ends before them. Leaves `input`
/// behind the bytes that were read.
pub(crate) fn read_at<const N: usize>(
    input: &mut (impl Read + Seek + ?Sized),
    offset: u64,
) -> io::Result<Option<[u8; N]>> {
    input.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(N);
    input.take(N as u64).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok())
}

/// Fails with `flaw` unless `holds`.
pub(super) fn ensure(holds: bool, flaw: &'static str) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(Flaw(flaw)) }
}

/// Puts the checksum of the bytes before `at` at `at`.
pub(super) fn put_checksum(bytes: &mut [u8], at: usize) {
    let checksum = crc32fast::hash(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// Fails with `flaw` unless the checksum at `at` is that of the bytes before it.
pub(super) fn ensure_checksum(bytes: &[u8], at: usize, flaw: &'static str) -> Result<(), Flaw> {
    ensure(checksum_holds(u32_at(bytes, at), &bytes[..at]), flaw)
}

/// The CRC-32 of a block's raw bytes. All threads of the current rayon pool share the work of a
/// block of 1 GiB or more.
pub(crate) fn raw_checksum(bytes: &[u8]) -> u32 {
    const LARGE: usize = 1 << 30;
    const PIECE: usize = 16 << 20;
    match bytes.len() < LARGE {
        true => crc32fast::hash(bytes),
        false => checksum_of_pieces(bytes, PIECE),
    }
}

fn checksum_of_pieces(bytes: &[u8], size: usize) -> u32 {
    let piece = |piece: &[u8]| {
        let mut hasher = Hasher::new();
        hasher.update(piece);
        hasher
    };
    let pieces: Vec<Hasher> = bytes.par_chunks(size).map(piece).collect();
    let mut all = Hasher::new();
    pieces.iter().for_each(|piece| all.combine(piece));
    all.finalize()
}

/// True if `checksum` is that of a block's raw bytes, or always under fuzzing (see
/// [`checksum_holds`]).
pub(crate) fn raw_checksum_holds(checksum: u32, bytes: &[u8]) -> bool {
    cfg!(fuzzing) || checksum == raw_checksum(bytes)
}

/// True if `checksum` is that of `bytes`. Under fuzzing every checksum holds, so that changed bytes
/// reach the code behind this check.
pub(crate) fn checksum_holds(checksum: u32, bytes: &[u8]) -> bool {
    cfg!(fuzzing) || checksum == crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn pieces_have_the_checksum_of_all() {
        for len in [0, 1, 99, 100, 101, 5000] {
            let bytes = cases::random(len, 256);
            assert_eq!(
                checksum_of_pieces(&bytes, 100),
                crc32fast::hash(&bytes),
                "{len}"
            );
            assert_eq!(raw_checksum(&bytes), crc32fast::hash(&bytes));
        }
    }
}
