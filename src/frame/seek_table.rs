//! Seek_Table, FORMAT.md chapter 5: the raw and the coded offset of every block.

use super::field_bytes::{
    checksum_holds, ensure, ensure_checksum, put_checksum, put_uint, u32_at, uint_at,
};
use super::table_form::{from_form, to_form};
use crate::base::error::Flaw;

pub(crate) const SEEK_MARKER: [u8; 8] = [0xB5, 0xE1, 0x7A, 0x96, 0xD3, 0x2B, 0xF0, 0x7C];

const MISFIT: Flaw = Flaw("the seek table's entries have the wrong size");

/// The offsets at which one block starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub raw_offset: u64,
    pub frame_offset: u64,
}

impl Entry {
    const SIZE: usize = 16;

    fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.raw_offset.to_le_bytes());
        bytes[8..].copy_from_slice(&self.frame_offset.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Entry {
            raw_offset: uint_at::<8>(bytes, 0),
            frame_offset: uint_at::<8>(bytes, 8),
        }
    }
}

/// The part of the table in front of its entries. The entries stay in the file until they are
/// needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekTable {
    compressed: bool,
    /// True if tables follow the entries.
    pub tables: bool,
    block_count: u64,
    pub entries_size: u64,
    entries_checksum: u32,
}

impl SeekTable {
    pub(crate) const HEADER_SIZE: usize = 28;

    /// The whole table, followed by `tables` if there are any. `entries.len()` fits in 28 bits.
    pub(crate) fn to_bytes(entries: &[Entry], tables: &[u8]) -> Vec<u8> {
        let (form, coded) = to_form(
            entries
                .iter()
                .flat_map(|entry| entry.to_bytes())
                .collect(),
        );
        let mut header = [0; Self::HEADER_SIZE];
        header[..8].copy_from_slice(&SEEK_MARKER);
        header[8] = form;
        header[9] = u8::from(!tables.is_empty());
        put_uint::<5>(&mut header, 10, entries.len() as u64);
        put_uint::<5>(&mut header, 15, coded.len() as u64);
        header[20..24].copy_from_slice(&crc32fast::hash(&coded).to_le_bytes());
        put_checksum(&mut header, 24);
        [&header[..], &coded, tables].concat()
    }

    pub(crate) fn header_from_bytes(bytes: &[u8; Self::HEADER_SIZE]) -> Result<Self, Flaw> {
        ensure(
            bytes[..8] == SEEK_MARKER,
            "there is no seek table where one must be",
        )?;
        ensure_checksum(
            bytes,
            24,
            "the seek table is damaged: its header's checksum is wrong",
        )?;
        ensure(bytes[8] <= 1, "the seek table is of an unknown form")?;
        ensure(bytes[9] <= 1, "a reserved bit of the seek table is set")?;
        Ok(SeekTable {
            compressed: bytes[8] == 1,
            tables: bytes[9] == 1,
            block_count: uint_at::<5>(bytes, 10),
            entries_size: uint_at::<5>(bytes, 15),
            entries_checksum: u32_at(bytes, 20),
        })
    }

    /// Checks that the header fits a frame of `block_count` blocks, before its entries are read.
    pub(crate) fn check_size(&self, block_count: u64) -> Result<(), Flaw> {
        ensure(
            self.block_count == block_count,
            "the seek table does not have as many entries as there are blocks",
        )?;
        let coded = self.entries_size;
        let plain = block_count * Entry::SIZE as u64;
        ensure(
            if self.compressed {
                coded < plain
            } else {
                coded == plain
            },
            MISFIT.0,
        )
    }

    /// Parses the entries of a table whose size was checked.
    pub(crate) fn entries(&self, coded: &[u8]) -> Result<Vec<Entry>, Flaw> {
        ensure(
            checksum_holds(self.entries_checksum, coded),
            "the seek table is damaged: its entries' checksum is wrong",
        )?;
        let size = self.block_count as usize * Entry::SIZE;
        let plain = from_form(self.compressed, coded, size, MISFIT)?;
        ensure(plain.len() == size, MISFIT.0)?;
        Ok(plain
            .chunks_exact(Entry::SIZE)
            .map(Entry::from_bytes)
            .collect())
    }

    /// Number of entries that the header claims.
    pub(crate) fn block_count(&self) -> u64 {
        self.block_count
    }

    /// Size in the file, without the tables behind it.
    pub(crate) fn size(&self) -> u64 {
        Self::HEADER_SIZE as u64 + self.entries_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reread(bytes: &[u8], count: u64) -> Result<Vec<Entry>, Flaw> {
        let (header, entries) = bytes.split_at(SeekTable::HEADER_SIZE);
        let table = SeekTable::header_from_bytes(header.try_into().unwrap())?;
        table.check_size(count)?;
        table.entries(entries)
    }

    #[test]
    fn entries_survive_in_both_forms() {
        for count in [0, 1, 1000] {
            let entries: Vec<Entry> = (0..count)
                .map(|n| Entry {
                    raw_offset: n << 20,
                    frame_offset: 16 + n * 4711,
                })
                .collect();
            let bytes = SeekTable::to_bytes(&entries, &[]);
            assert_eq!(bytes[8], u8::from(count == 1000), "form");
            assert_eq!(reread(&bytes, count), Ok(entries));
            assert!(reread(&bytes, count + 1).is_err());
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let entries = [Entry {
            raw_offset: 0,
            frame_offset: 16,
        }; 40];
        let good = SeekTable::to_bytes(&entries, &[]);
        for bit in 64..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(reread(&bad, 40).is_err(), "bit {bit}");
        }
    }
}
