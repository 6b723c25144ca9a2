//! Files of a few hundred bytes and half a terabyte of holes. The sizes that their tables and
//! headers claim are neither read nor allocated.

use crate::common::{cases, compressed, options};
use bwz::{Archive, Error};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// A file that consists of holes except for some parts. A reader may read at most 16 MiB of it.
struct Sparse {
    parts: Vec<(u64, Vec<u8>)>,
    pos: u64,
    unread: u64,
}

impl Sparse {
    fn new(parts: Vec<(u64, Vec<u8>)>) -> Self {
        Sparse {
            parts,
            pos: 0,
            unread: 16 << 20,
        }
    }

    fn size(&self) -> u64 {
        let ends = self
            .parts
            .iter()
            .map(|(start, part)| start + part.len() as u64);
        ends.max().unwrap_or(0)
    }
}

impl Read for Sparse {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = (out.len() as u64).min(self.size().saturating_sub(self.pos));
        let unread = self.unread.checked_sub(size);
        self.unread = unread.ok_or_else(|| io::Error::other("more is read than there is"))?;
        let out = &mut out[..size as usize];
        out.fill(0);
        for (start, part) in &self.parts {
            for (at, byte) in (*start..).zip(part) {
                if let Some(out) = at
                    .checked_sub(self.pos)
                    .and_then(|at| out.get_mut(at as usize))
                {
                    *out = *byte;
                }
            }
        }
        self.pos += size;
        Ok(size as usize)
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pos = match to {
            SeekFrom::Start(pos) => pos,
            SeekFrom::End(by) => self.size().saturating_add_signed(by),
            SeekFrom::Current(by) => self.pos.saturating_add_signed(by),
        };
        Ok(self.pos)
    }
}

/// `bytes` followed by their checksum.
fn sealed(bytes: &[&[u8]]) -> Vec<u8> {
    let bytes = bytes.concat();
    let checksum = crc32fast::hash(&bytes).to_le_bytes();
    [&bytes[..], &checksum].concat()
}

/// A number of 40 bits.
fn uint5(number: u64) -> Vec<u8> {
    number.to_le_bytes()[..5].to_vec()
}

/// A frame with an area of `area` bytes for its blocks, which starts with `front`, and a seek table
/// of `count` entries in `size` bytes. Its first entry is `entry`.
fn frame(front: &[u8], area: u64, count: u64, size: u64, entry: &[u8]) -> Sparse {
    let start = [&compressed(b"", 1)[..5], &[0; 2], &uint5(1 << 39)].concat();
    let start = [&sealed(&[&start]), front].concat();
    let marker = [0xB5, 0xE1, 0x7A, 0x96, 0xD3, 0x2B, 0xF0, 0x7C, 0, 0];
    let checksum = crc32fast::hash(entry).to_le_bytes();
    let table = sealed(&[&marker, &uint5(count), &uint5(size), &checksum]);
    let table_size = 28 + size;
    let frame_size = (16 + area + table_size + 32).to_le_bytes();
    let sizes = [
        &(area - 42).to_le_bytes(),
        &frame_size[..7],
        &uint5(table_size),
    ]
    .concat();
    let footer = [&sealed(&[&sizes, &[0; 4]]), &b"zwb\xF7"[..]].concat();
    let at = 16 + area;
    Sparse::new(vec![
        (0, start),
        (at, [&table, entry].concat()),
        (at + table_size, footer),
    ])
}

/// A frame with one stored block of `size` zero bytes.
fn one_large_block(size: u64) -> Sparse {
    let marker = [0xB5, 0xE1, 0x7A, 0x96, 0x2C, 0xD4, 0x0F, 0x83, 0, 0, 0, 0];
    let header = sealed(&[&marker, &uint5(size), &uint5(size), &[0; 16]]);
    let entry = [0_u64.to_le_bytes(), 16_u64.to_le_bytes()].concat();
    frame(&header, 42 + size, 1, 16, &entry)
}

#[test]
fn the_payload_of_a_block_above_the_memory_limit_is_not_read_to_refuse_it() {
    let size = 1 << 39;
    let end = bwz::recover(one_large_block(size), io::sink(), &options(1));
    assert!(
        matches!(end, Err(Error::Limit { needed, .. }) if needed > size),
        "{end:?}"
    );
    // As before, with a damaged frame, so that blocks are searched for.
    let mut file = one_large_block(size);
    file.parts[2].1[0] ^= 1;
    let end = bwz::recover(file, io::sink(), &options(1));
    assert!(
        matches!(end, Err(Error::Limit { needed, .. }) if needed > size),
        "{end:?}"
    );
}

#[test]
fn a_seek_table_that_the_memory_does_not_hold_is_not_read() {
    let count = 1 << 30;
    let area = 43 << 30;
    let end = Archive::open(frame(&[], area, count, 16 * count, &[]), &options(1));
    let Err(Error::Limit { what, needed, .. }) = end else {
        panic!("{end:?}")
    };
    assert!(
        what.contains("1073741824 blocks") && needed > 16 * count,
        "{what}"
    );
}

#[test]
fn a_file_whose_seek_table_the_memory_does_not_hold_is_saved_by_a_scan() {
    let raw = cases::random(60_000, 256);
    let file = compressed(&raw, 1);
    let tight = options(1).threads(1).memory(14 << 20);
    let end = Archive::open(Cursor::new(&file), &tight);
    assert!(
        matches!(
            end,
            Err(Error::Limit {
                allowed: 0xe0_0000,
                ..
            })
        ),
        "{end:?}"
    );
    let mut saved = Vec::new();
    let recovery = bwz::recover(Cursor::new(&file), &mut saved, &tight).unwrap();
    assert!(recovery.is_complete() && saved == raw);
}
