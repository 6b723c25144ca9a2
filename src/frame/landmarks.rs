//! Finds blocks and frame ends if the order of a frame is broken. FORMAT.md section 7.3, "A damaged
//! file".
//!
//! The file is scanned in windows, each read once. Only a footer is read on its own, since its seek
//! table may be longer than a window.

use super::backward_reader::ReadSeek;
use super::block_header::{BlockHeader, SYNC_MARKER};
use super::field_bytes::read_at;
use super::footer::Footer;
use super::frame_at_end::{TableRoom, read_frame};
use super::frame_header::{AnyHeader, HEADER_SIZE, MAGIC, PrivateHeader};
use super::frame_info::FrameInfo;
use super::seek_table::{self, SEEK_MARKER};
use crate::base::error::{Error, Result};
use crate::base::leb128;
use memchr::memchr2_iter;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of a scan window.
const WINDOW: usize = 1 << 20;

/// A valid structure, found somewhere in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Landmark {
    /// A block with a valid header.
    Block { offset: u64, header: BlockHeader },
    /// The end of a frame whose footer is valid and leads to its seek table; `end` is behind it.
    FrameEnd { footer: Footer, end: u64 },
    /// A whole frame of a kind that has no blocks, or whose blocks are not known.
    OtherFrame { frame: FrameInfo },
}

/// Finds landmarks in the front of a file. Keeps the window that is being scanned.
pub(crate) struct Scanner {
    /// End of the scan. Payloads may go beyond it.
    end: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl Scanner {
    /// Creates a scanner of a file up to `end`.
    pub(crate) fn new(end: u64) -> Self {
        Scanner {
            end,
            window: Vec::new(),
            window_start: 0,
        }
    }

    /// The first landmark at or after `from`.
    pub(crate) fn next<R: Read + Seek>(
        &mut self,
        input: &mut R,
        mut from: u64,
    ) -> Result<Option<Landmark>> {
        while let Some(offset) = self.next_marker(input, from)? {
            if let Some(landmark) = self.landmark_at(input, offset)? {
                return Ok(Some(landmark));
            }
            from = offset + 1;
        }
        Ok(None)
    }

    fn landmark_at<R: Read + Seek>(
        &mut self,
        input: &mut R,
        offset: u64,
    ) -> Result<Option<Landmark>> {
        if let Some(block) = self.block_at(input, offset)? {
            return Ok(Some(block));
        }
        match self.frame_end_at(input, offset)? {
            Some(end) => Ok(Some(end)),
            None => self.other_frame_at(input, offset),
        }
    }

    /// The offset of the first marker, or Magic, at or after `from`.
    fn next_marker<R: Read + Seek>(&mut self, input: &mut R, mut from: u64) -> Result<Option<u64>> {
        // Both markers begin with the same four bytes.
        let [first, magic] = [&SYNC_MARKER[..4], &MAGIC];
        loop {
            let window = self.window_at(input, from, SYNC_MARKER.len())?;
            let is_marker = |at: &usize| match window[*at..].first_chunk() {
                Some(&SYNC_MARKER | &SEEK_MARKER) => true,
                Some(bytes) => bytes.starts_with(magic),
                None => false,
            };
            let found = memchr2_iter(first[0], magic[0], window).find(is_marker);
            if let Some(at) = found {
                return Ok(Some(from + at as u64));
            }
            if window.len() < SYNC_MARKER.len() {
                return Ok(None);
            }
            // A marker may lie across two windows: the next window begins one byte less than a
            // marker before the end of this one.
            from += (window.len() - (SYNC_MARKER.len() - 1)) as u64;
        }
    }

    /// Bytes of the file from `from` on: at least `size`, unless the file ends before that.
    fn window_at(
        &mut self,
        input: &mut (impl Read + Seek),
        from: u64,
        size: usize,
    ) -> io::Result<&[u8]> {
        let end = self.window_start + self.window.len() as u64;
        if from < self.window_start || from + size as u64 > end {
            input.seek(SeekFrom::Start(from))?;
            self.window.clear();
            self.window_start = from;
            let most = self.end.saturating_sub(from).min(WINDOW as u64);
            input.take(most).read_to_end(&mut self.window)?;
        }
        Ok(&self.window[(from - self.window_start) as usize..])
    }

    fn block_at(
        &mut self,
        input: &mut (impl Read + Seek),
        offset: u64,
    ) -> Result<Option<Landmark>> {
        let bytes = self
            .window_at(input, offset, BlockHeader::SIZE)?
            .first_chunk();
        let header = bytes.and_then(|bytes| BlockHeader::from_bytes(bytes).ok());
        Ok(header.map(|header| Landmark::Block { offset, header }))
    }

    fn frame_end_at(
        &mut self,
        input: &mut (impl Read + Seek),
        offset: u64,
    ) -> Result<Option<Landmark>> {
        let front = self.window_at(input, offset, SEEK_TABLE_FRONT)?;
        let Some(table) = SeekTableFront::read(front) else {
            return Ok(None);
        };
        let mut footer_start = offset + table.size;
        if table.has_tables {
            // Tables_Size is a varint, and at least one table follows.
            let bytes = read_at::<6>(input, footer_start)?;
            let mut rest = bytes.as_ref().map_or(&[][..], |bytes| &bytes[..]);
            let before = rest.len();
            let size = leb128::read(&mut rest).unwrap_or(0) as u64;
            footer_start += (before - rest.len()) as u64 + size;
        }
        let end = footer_start + Footer::SIZE as u64;
        if end > self.end {
            return Ok(None);
        }
        let footer = read_at::<{ Footer::SIZE }>(input, footer_start)?;
        let footer = footer.and_then(|bytes| Footer::from_bytes(&bytes).ok());
        let footer = footer.filter(|footer| footer.seek_table_size == footer_start - offset);
        Ok(footer.map(|footer| Landmark::FrameEnd { footer, end }))
    }

    fn other_frame_at<R: Read + Seek>(
        &mut self,
        input: &mut R,
        offset: u64,
    ) -> Result<Option<Landmark>> {
        let frame = other_frame(input, offset, self.end)?;
        Ok(frame.map(|frame| Landmark::OtherFrame { frame }))
    }
}

/// Reads a frame without blocks at `offset`, whose content may look like blocks.
fn other_frame(input: &mut dyn ReadSeek, offset: u64, most: u64) -> Result<Option<FrameInfo>> {
    let header = read_at(input, offset)?.map(|bytes| AnyHeader::at(&bytes, offset));
    let content_size = match header {
        Some(Ok(AnyHeader::Private(PrivateHeader { content_size, .. }))) => content_size,
        Some(Ok(AnyHeader::Unknown(_, content_size))) => content_size,
        _ => return Ok(None),
    };
    let end = offset + (HEADER_SIZE + Footer::SIZE) as u64 + content_size;
    if end > most {
        return Ok(None);
    }
    match read_frame(input, end, TableRoom::NONE) {
        Ok((frame, _)) if frame.coded == (offset..end) => Ok(Some(frame)),
        Err(error @ Error::Io(_)) => Err(error),
        _ => Ok(None),
    }
}

/// Maximum bytes of a seek table up to Content_Flags.
const SEEK_TABLE_FRONT: usize = 8 + 6 + 4 + 6 + 1;

/// The facts that lead from a seek table to the footer behind it.
struct SeekTableFront {
    /// Bytes of the table.
    size: u64,
    has_tables: bool,
}

impl SeekTableFront {
    /// Parses the front of a table. `None` if it is none.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&SEEK_MARKER)?;
        let content_size = leb128::read(&mut rest).ok()? as u64;
        rest.split_off(..4)?;
        let before_content = (bytes.len() - rest.len()) as u64;
        leb128::read(&mut rest).ok()?;
        let flags = *rest.split_off_first()?;
        Some(SeekTableFront {
            size: before_content + content_size,
            has_tables: flags & seek_table::TABLES != 0,
        })
    }
}

/// True if a marker at `offset` continues a frame.
pub(crate) fn goes_on_at<R: Read + Seek>(input: &mut R, offset: u64) -> Result<bool> {
    Ok(matches!(
        read_at(input, offset)?,
        Some(SYNC_MARKER | SEEK_MARKER)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::BlockKind;
    use super::super::features::Features;
    use super::super::seek_table::SeekTable;
    use super::*;
    use std::io::Cursor;

    #[test]
    fn blocks_are_found_at_any_offset_and_across_windows() {
        let header = BlockHeader {
            kind: BlockKind::Stored,
            raw_size: 3,
            coded_size: 3,
            raw_checksum: 0,
            raw_offset: 0,
            payload_checksum: 0,
        };
        for offset in [0, 1, 99, WINDOW - 40, WINDOW - 5, WINDOW, 2 * WINDOW - 1] {
            let mut file = vec![0xB5; offset];
            file.extend(header.to_bytes());
            file.extend(b"raw");
            let mut scanner = Scanner::new(file.len() as u64);
            let mut file = Cursor::new(file);
            let offset = offset as u64;
            let found = scanner.next(&mut file, 0).unwrap();
            assert_eq!(found, Some(Landmark::Block { offset, header }));
            assert_eq!(scanner.next(&mut file, offset + 1).unwrap(), None);
            assert_eq!(scanner.next(&mut file, 0).unwrap(), found);
        }
    }

    #[test]
    fn the_end_of_a_frame_is_found() {
        let footer = Footer {
            total_raw_size: 5,
            frame_size: 99,
            seek_table_size: 15,
            features: Features::NONE,
            stream_checksum: 7,
        };
        let file = [
            &b"xyz"[..],
            &SeekTable::default().to_bytes(),
            &footer.to_bytes(),
        ]
        .concat();
        let end = file.len() as u64;
        let found = Scanner::new(end)
            .next(&mut Cursor::new(&file), 0)
            .unwrap();
        assert_eq!(found, Some(Landmark::FrameEnd { footer, end }));
        assert_eq!(
            Scanner::new(end - 1)
                .next(&mut Cursor::new(&file), 0)
                .unwrap(),
            None
        );
    }
}
