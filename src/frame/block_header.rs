//! Block_Header, and a block as it is stored in the file. FORMAT.md chapter 4.

use super::field_bytes::{
    checksum_holds, ensure, ensure_checksum, put_checksum, put_uint, u32_at, uint_at,
};
use super::filter_list::{FilterIds, FilterList};
use crate::base::allocation;
use crate::base::error::{Error, Flaw, Release, Unknown, Unreadable};
use crate::coder::Coding;
use crate::filter::sequence::{self, Contribution};
use std::io::{self, Read};

pub(crate) const SYNC_MARKER: [u8; 8] = [0xB5, 0xE1, 0x7A, 0x96, 0x2C, 0xD4, 0x0F, 0x83];

/// The form in which a block's payload holds its raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Stored,
    Bwt(Shape),
    /// A form that this version does not know, and the header's fields that describe it.
    Unknown(Unknown, [u8; 4]),
}

/// The properties of a bwt block's payload that its header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub coding: Coding,
    /// True if filters were applied before the sort. Those of an indexed block keep the sequences
    /// that are searched for.
    pub filtered: bool,
    /// True if the payload has tables.
    pub tables: bool,
    /// True if one of these tables is an index.
    pub indexed: bool,
    pub sample_rate_log: u8,
}

/// Bits of Flags.
const FILTERED: u8 = 1;
const TABLES: u8 = 2;
const INDEXED: u8 = 4;

/// The header of a block, which lies in front of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub kind: BlockKind,
    /// Below 2^40. The coded size has the same limit.
    pub raw_size: u64,
    pub coded_size: u64,
    /// CRC-32 of the raw bytes.
    pub raw_checksum: u32,
    /// Position of the first raw byte in the frame's raw stream.
    pub raw_offset: u64,
    /// CRC-32 of the payload.
    pub payload_checksum: u32,
}

/// A block as it is stored: on its way from the encoder to the file, or from the file to the
/// decoder, where only its header has been checked.
#[derive(Clone, Debug)]
pub(crate) struct CodedBlock {
    pub header: BlockHeader,
    pub payload: Vec<u8>,
    /// The block's contribution to a frame of sequences that is being written.
    pub sequences: Option<(sequence::Kind, Contribution)>,
    /// For a block that is being written: bytes of its header and the front of its payload, if it
    /// has an index, else 0.
    pub front_size: u64,
    /// For a block that is being written: bytes of its index, else 0.
    pub index_size: u64,
    /// For a block that is being written: line feeds in its raw bytes.
    pub line_feeds: u64,
    /// The first release of bwz that reads the frame.
    pub needed: Release,
    /// Number of the block in the file, counted from 0.
    pub number: u64,
    /// Offset of its header in the file; 0 while the block is being made.
    pub offset: u64,
}

/// Bytes of a payload that are read before memory is allocated for more. After that, the buffer
/// grows to [`AHEAD`] times the bytes that have been read.
const FIRST: usize = 1 << 20;
const AHEAD: usize = 64;

/// Payloads up to this size, in bytes, have their memory allocated before any byte is read.
const SMALL: u64 = 1 << 16;

/// Reads a payload of `size` bytes, or as much of it as the input has. Memory grows with the bytes
/// that have been read. Its pages are first touched by the code that reads into it, which may be
/// several threads.
pub(crate) fn read_payload(input: &mut (impl Read + ?Sized), size: u64) -> io::Result<Vec<u8>> {
    // A small payload is read in one call.
    let small = allocation::with_capacity(size.min(SMALL) as usize);
    let mut payload = small.ok_or(io::ErrorKind::OutOfMemory)?;
    input
        .take(size.min(FIRST as u64))
        .read_to_end(&mut payload)?;
    let mut room = FIRST;
    while payload.len() == room && (room as u64) < size {
        room = size.min(room as u64 * AHEAD as u64) as usize;
        let mut larger = allocation::zeroed(room).ok_or(io::ErrorKind::OutOfMemory)?;
        let came = payload.len();
        larger[..came].copy_from_slice(&payload);
        payload = larger;
        let more = fill(input, &mut payload[came..])?;
        payload.truncate(came + more);
    }
    Ok(payload)
}

/// Reads a payload like [`read_payload`], into the memory of an earlier one if that is enough.
pub(crate) fn read_payload_into(
    mut memory: Vec<u8>,
    input: &mut (impl Read + ?Sized),
    size: u64,
) -> io::Result<Vec<u8>> {
    if (memory.capacity() as u64) < size {
        return read_payload(input, size);
    }
    memory.resize(size as usize, 0);
    let came = fill(input, &mut memory)?;
    memory.truncate(came);
    Ok(memory)
}

/// Reads until `bytes` is full or the input ends. Returns the number of bytes read.
pub(super) fn fill(input: &mut (impl Read + ?Sized), bytes: &mut [u8]) -> io::Result<usize> {
    let mut came = 0;
    while came < bytes.len() {
        match input.read(&mut bytes[came..]) {
            Ok(0) => break,
            Ok(more) => came += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(came)
}

impl CodedBlock {
    /// Checks the checksum of the payload as it is stored in the file, before anything is decoded.
    pub(crate) fn check_payload(&self) -> Result<(), Flaw> {
        ensure(
            checksum_holds(self.header.payload_checksum, &self.payload),
            "the block is damaged: the checksum of its payload is wrong",
        )
    }

    /// The filters of the block. Empty if their list is damaged.
    pub(crate) fn filters(&self) -> FilterIds {
        self.listed_filters().unwrap_or_default()
    }

    /// The filters of the block. `None` if their list is damaged.
    pub(super) fn listed_filters(&self) -> Option<FilterIds> {
        match self.header.kind {
            BlockKind::Bwt(shape) if shape.filtered => {
                let list = FilterList::read(&mut &self.payload[..], self.header.raw_size);
                list.ok().map(|list| list.ids())
            }
            _ => Some(FilterIds::default()),
        }
    }

    /// The error for what cannot be read in this block.
    pub(crate) fn error(&self, why: impl Into<Unreadable>) -> Error {
        why.into()
            .at(Some(self.number), self.offset, self.needed)
    }
}

impl BlockHeader {
    pub(crate) const SIZE: usize = 41;

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&SYNC_MARKER);
        bytes[8..12].copy_from_slice(&self.kind.to_bytes());
        put_uint::<5>(&mut bytes, 12, self.raw_size);
        put_uint::<5>(&mut bytes, 17, self.coded_size);
        bytes[22..26].copy_from_slice(&self.raw_checksum.to_le_bytes());
        put_uint::<7>(&mut bytes, 26, self.raw_offset);
        bytes[33..37].copy_from_slice(&self.payload_checksum.to_le_bytes());
        put_checksum(&mut bytes, 37);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Result<Self, Flaw> {
        ensure(
            bytes[..8] == SYNC_MARKER,
            "there is no block where one must be",
        )?;
        ensure_checksum(
            bytes,
            37,
            "the block header is damaged: its checksum is wrong",
        )?;
        let header = BlockHeader {
            kind: BlockKind::from_bytes([bytes[8], bytes[9], bytes[10], bytes[11]])?,
            raw_size: uint_at::<5>(bytes, 12),
            coded_size: uint_at::<5>(bytes, 17),
            raw_checksum: u32_at(bytes, 22),
            raw_offset: uint_at::<7>(bytes, 26),
            payload_checksum: u32_at(bytes, 33),
        };
        header
            .kind
            .check_sizes(header.raw_size, header.coded_size)?;
        Ok(header)
    }
}

/// Largest sample rate (as its logarithm) that a text of `size` bytes may have. A large text has at
/// least 64 samples, so no file can make a decoder walk it in one long lane.
pub(super) fn largest_sample_rate_log(size: u64) -> u8 {
    (size.next_power_of_two().ilog2() as u8)
        .saturating_sub(7)
        .max(16)
}

impl Shape {
    /// Checks that a block of this shape may have these filters.
    pub(super) fn check_filters(self, filters: FilterIds) -> Result<(), Flaw> {
        ensure(
            !self.indexed || filters.may_keep_text(),
            "the block has both an index and filters that hide its text",
        )
    }
}

impl BlockKind {
    /// Block_Kind, Coding, Flags and Sample_Rate_Log.
    pub(super) fn to_bytes(self) -> [u8; 4] {
        match self {
            BlockKind::Stored => [0; 4],
            BlockKind::Unknown(_, bytes) => bytes,
            BlockKind::Bwt(shape) => {
                let flags = [
                    (shape.filtered, FILTERED),
                    (shape.tables, TABLES),
                    (shape.indexed, INDEXED),
                ];
                let flags = flags
                    .iter()
                    .fold(0, |all, &(set, flag)| if set { all | flag } else { all });
                [1, shape.coding as u8, flags, shape.sample_rate_log]
            }
        }
    }

    pub(super) fn from_bytes(bytes: [u8; 4]) -> Result<Self, Flaw> {
        let [kind, coding, flags, sample_rate_log] = bytes;
        let reserved = match (kind, coding) {
            (0, _) => coding | flags | sample_rate_log,
            (1, 0 | 1) => flags & !(FILTERED | TABLES | INDEXED),
            _ => 0,
        };
        ensure(reserved == 0, "a reserved bit of the block header is set")?;
        ensure(kind < 128, "the block is of an impossible kind")?;
        let coding = match (kind, coding) {
            (0, _) => return Ok(BlockKind::Stored),
            (1, 0) => Coding::StaticRans,
            (1, 1) => Coding::ContextMixing,
            (1, 128..) => return Err(Flaw("the block is of an impossible coding")),
            (1, _) => return Ok(Self::unknown("coding", coding, bytes)),
            _ => return Ok(Self::unknown("kind", kind, bytes)),
        };
        let [filtered, tables, indexed] = [FILTERED, TABLES, INDEXED].map(|flag| flags & flag != 0);
        ensure(
            tables || !indexed,
            "the block has an index, but no table that could be it",
        )?;
        Ok(BlockKind::Bwt(Shape {
            coding,
            filtered,
            tables,
            indexed,
            sample_rate_log,
        }))
    }

    /// Checks that a block of this kind may have these sizes.
    pub(super) fn check_sizes(self, raw_size: u64, coded_size: u64) -> Result<(), Flaw> {
        ensure(raw_size > 0, "the block's raw size is 0")?;
        let coded_fits = match self {
            BlockKind::Stored => coded_size == raw_size,
            BlockKind::Bwt(_) => (1..raw_size).contains(&coded_size),
            BlockKind::Unknown(..) => coded_size > 0,
        };
        ensure(
            coded_fits,
            "the block's coded size does not fit its raw size",
        )?;
        match self {
            BlockKind::Stored | BlockKind::Unknown(..) => Ok(()),
            BlockKind::Bwt(shape) => ensure(
                (3..=largest_sample_rate_log(raw_size)).contains(&shape.sample_rate_log),
                "the block's sample rate is out of range",
            ),
        }
    }

    fn unknown(what: &'static str, id: u8, bytes: [u8; 4]) -> Self {
        let id = id.into();
        BlockKind::Unknown(Unknown { what, id }, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    /// An input that gives a few bytes at a time, is interrupted between them, and ends early.
    struct Trickle<'a>(&'a [u8], bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let len = bytes.len().min(700_001);
            self.0.read(&mut bytes[..len])
        }
    }

    #[test]
    fn a_payload_is_read_as_far_as_it_is_there() {
        let bytes = cases::random(AHEAD * FIRST + 3 * FIRST, 1);
        for size in [
            0,
            1,
            FIRST - 1,
            FIRST,
            FIRST + 1,
            5 * FIRST,
            AHEAD * FIRST + 1,
            bytes.len(),
        ] {
            let payload = read_payload(&mut Trickle(&bytes, false), size as u64).unwrap();
            assert!(payload == bytes[..size], "{size}");
            for claimed in [size as u64 + 1, 1 << 39] {
                let payload = read_payload(&mut Trickle(&bytes[..size], false), claimed).unwrap();
                assert!(payload == bytes[..size], "{size} of {claimed}");
            }
        }
    }

    const HEADER: BlockHeader = BlockHeader {
        kind: BlockKind::Bwt(Shape {
            coding: Coding::ContextMixing,
            filtered: true,
            tables: true,
            indexed: false,
            sample_rate_log: 16,
        }),
        raw_size: 0x50_4030_2010,
        coded_size: 0x05_0403_0201,
        raw_checksum: 0xAABB_CCDD,
        raw_offset: 0x0102_0304_0506,
        payload_checksum: 0x1122_3344,
    };

    #[test]
    fn a_header_is_these_bytes() {
        let bytes = HEADER.to_bytes();
        #[rustfmt::skip]
        assert_eq!(bytes[8..37], [
            1, 1, 3, 16, // Block_Kind, Coding, Flags, Sample_Rate_Log
            0x10, 0x20, 0x30, 0x40, 0x50, // Raw_Size
            1, 2, 3, 4, 5, // Coded_Size
            0xDD, 0xCC, 0xBB, 0xAA, // Raw_Checksum
            6, 5, 4, 3, 2, 1, 0, // Raw_Offset
            0x44, 0x33, 0x22, 0x11, // Payload_Checksum
        ]);
        assert_eq!(BlockHeader::from_bytes(&bytes), Ok(HEADER));
    }

    #[test]
    fn unknown_kinds_and_codings_are_no_damage() {
        let said = |bytes| BlockKind::from_bytes(bytes);
        for (bytes, what, id) in [
            ([2, 255, 255, 255], "kind", 2),
            ([1, 5, 255, 0], "coding", 5),
            ([1, 127, 0, 0], "coding", 127),
        ] {
            let unknown = BlockKind::Unknown(Unknown { what, id }, bytes);
            assert_eq!(said(bytes), Ok(unknown));
            assert_eq!(unknown.to_bytes(), bytes);
        }
        for bytes in [
            [128, 0, 0, 0],
            [1, 128, 0, 0],
            [1, 0, 8, 3],
            [0, 1, 0, 0],
            [1, 0, 4, 3],
        ] {
            assert!(said(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn sizes_must_fit_the_kind() {
        let stored = BlockHeader {
            kind: BlockKind::Stored,
            coded_size: HEADER.raw_size,
            ..HEADER
        };
        let reread = |header: BlockHeader| BlockHeader::from_bytes(&header.to_bytes());
        assert_eq!(reread(stored), Ok(stored));
        assert!(
            reread(BlockHeader {
                coded_size: 5,
                ..stored
            })
            .is_err()
        );
        assert!(
            reread(BlockHeader {
                coded_size: HEADER.raw_size,
                ..HEADER
            })
            .is_err()
        );
        assert!(
            reread(BlockHeader {
                raw_size: 0,
                ..HEADER
            })
            .is_err()
        );
    }
}
