//! Files of a few hundred bytes and half a terabyte of holes. The sizes that their tables and
//! headers claim are neither read nor allocated.

use crate::common::layout::{self, BLOCK_HEADER, Block, End, FOOTER, HEADER};
use crate::common::mutation::parts::varint;
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

/// A frame with an area of `area` bytes for its blocks, which starts with `front`, and a seek table
/// whose content begins with `content` and has `size` bytes.
fn frame(front: &[u8], area: u64, size: u64, content: &[u8]) -> Sparse {
    let start = [&layout::frame_header(1 << 39, layout::WIDE), front].concat();
    let mut table = layout::seek_table(content);
    if size > content.len() as u64 {
        // The checksum is not reached.
        table = [&layout::SEEK_MARKER[..], &varint(size), &[0; 4], content].concat();
    }
    let table_size = table.len() as u64 + size - content.len() as u64;
    let at = HEADER as u64 + area;
    let end = End {
        raw_size: area - BLOCK_HEADER as u64,
        table_size,
        features: layout::WIDE,
        checksum: 0,
        frame_size: at + table_size + FOOTER as u64,
    };
    Sparse::new(vec![
        (0, start),
        (at, table),
        (at + table_size, end.footer()),
    ])
}

/// A frame with one stored block of `size` zero bytes.
fn one_large_block(size: u64) -> Sparse {
    let block = Block {
        raw_size: size,
        coded_size: size,
        ..Block::default()
    };
    let content = layout::one_block(block.shape);
    frame(&block.header(), BLOCK_HEADER as u64 + size, 7, &content)
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
    // A long content, and a short one of very many blocks that are alike.
    let columns = [1, 0, 43, 0];
    let shape = [1, 0, 0, 0, 0];
    let alike = [&varint(count)[..], &[0], &shape, &columns].concat();
    for (size, content, said) in [
        (16 << 30, &[][..], "a seek table"),
        (alike.len() as u64, &alike, "1073741824 blocks"),
    ] {
        let end = Archive::open(frame(&[], area, size, content), &options(1));
        let Err(Error::Limit { what, needed, .. }) = end else {
            panic!("{end:?}")
        };
        assert!(what.contains(said) && needed > 16 << 30, "{what}");
    }
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
