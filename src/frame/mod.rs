//! The bytes on disk and nothing else: one file per chapter of `format/FORMAT.md`.
//!
//! A structure of fixed size is a struct with `to_bytes` above `from_bytes`; the latter checks all
//! that can be checked without its surroundings. [`FrameWriter`] and [`FrameReader`] put structures
//! in order and check what they say about each other; [`landmarks`] finds blocks where that order is
//! broken. Nothing here compresses a byte.

mod block_header;
mod block_index;
mod bwt_payload;
mod footer;
mod frame_header;
mod frame_reader;
mod frame_writer;
pub(crate) mod landmarks;
pub(crate) mod packed_array;
mod range_checksums;
mod seek_table;
mod table_form;

pub(crate) use block_header::{BlockHeader, CodedBlock, Kind, Shape, read_payload};
pub(crate) use block_index::{BlockIndex, BlockIndexHeader, EDGE, histogram};
pub(crate) use bwt_payload::{BwtPayload, Filtered};
pub(crate) use footer::{Footer, NO_FOOTER};
pub use frame_header::MAGIC;
pub(crate) use frame_header::{FrameHeader, NOT_BWZ};
pub(crate) use frame_reader::{CUT_OFF, FrameReader};
pub(crate) use frame_writer::FrameWriter;
pub(crate) use range_checksums::RangeChecksums;
pub(crate) use seek_table::{Entry, SeekTable};

use crate::error::Flaw;
use std::io::{self, Read, Seek, SeekFrom};

/// The little-endian integers of a structure, field by field.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The `N` bytes at `offset`, or `None` where the file ends before them. Leaves `input` behind what
/// was read.
pub(crate) fn read_at<const N: usize>(
    input: &mut (impl Read + Seek),
    offset: u64,
) -> io::Result<Option<[u8; N]>> {
    input.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(N);
    input.take(N as u64).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok())
}

/// Fails with `flaw` unless `holds`.
fn ensure(holds: bool, flaw: &'static str) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(Flaw(flaw)) }
}

/// Whether `checksum` is that of `bytes`. Under fuzzing every checksum holds, so that changed bytes
/// reach what is behind it.
pub(crate) fn checksum_holds(checksum: u32, bytes: &[u8]) -> bool {
    cfg!(fuzzing) || checksum == crc32fast::hash(bytes)
}
