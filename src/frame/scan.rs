//! Finding blocks and frame ends where the order of a frame is broken. FORMAT.md section 10, "A damaged file".

use super::block::SYNC_MARKER;
use super::seek_table::SEEK_MARKER;
use super::{BlockHeader, Footer, SeekTable};
use crate::error::Result;
use std::io::{Read, Seek, SeekFrom};

/// Bytes looked through at a time.
const WINDOW: usize = 1 << 20;

/// A sound structure, somewhere in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landmark {
    /// A block whose header is sound, and where that stands.
    Block(u64, BlockHeader),
    /// The end of a frame whose seek table's header and footer are sound.
    FrameEnd(Footer),
}

/// The first landmark at or after `from`, and where the search goes on behind it.
pub(crate) fn next<R: Read + Seek>(
    input: &mut R,
    mut from: u64,
) -> Result<Option<(Landmark, u64)>> {
    while let Some(offset) = next_marker(input, from)? {
        let landmark = match block_at(input, offset)? {
            Some(found) => Some(found),
            None => frame_end_at(input, offset)?,
        };
        if landmark.is_some() {
            return Ok(landmark);
        }
        from = offset + 1;
    }
    Ok(None)
}

fn block_at<R: Read + Seek>(input: &mut R, offset: u64) -> Result<Option<(Landmark, u64)>> {
    let Some(bytes) = read_at::<{ BlockHeader::SIZE }, R>(input, offset)? else {
        return Ok(None);
    };
    if bytes[..8] != SYNC_MARKER {
        return Ok(None);
    }
    let Ok(header) = BlockHeader::from_bytes(&bytes) else {
        return Ok(None);
    };
    let header_end = offset + BlockHeader::SIZE as u64;
    let end = header_end + u64::from(header.coded_size);
    // A stored payload may hold a bwz file itself: it is searched only if the frame does not go on behind it.
    let goes_on = matches!(read_at::<8, R>(input, end)?, Some(SYNC_MARKER | SEEK_MARKER));
    let next = if goes_on { end } else { header_end };
    Ok(Some((Landmark::Block(offset, header), next)))
}

fn frame_end_at<R: Read + Seek>(input: &mut R, offset: u64) -> Result<Option<(Landmark, u64)>> {
    let Some(bytes) = read_at::<{ SeekTable::HEADER_SIZE }, R>(input, offset)? else {
        return Ok(None);
    };
    if bytes[..8] != SEEK_MARKER {
        return Ok(None);
    }
    let Ok(table) = SeekTable::header_from_bytes(&bytes) else {
        return Ok(None);
    };
    let footer_start = offset + table.size();
    let footer = read_at::<{ Footer::SIZE }, R>(input, footer_start)?;
    let footer = footer.and_then(|bytes| Footer::from_bytes(&bytes).ok());
    Ok(footer.map(|footer| (Landmark::FrameEnd(footer), footer_start + Footer::SIZE as u64)))
}

/// The offset of the first marker of either kind at or after `from`.
fn next_marker<R: Read + Seek>(input: &mut R, mut from: u64) -> Result<Option<u64>> {
    input.seek(SeekFrom::Start(from))?;
    let mut window = Vec::with_capacity(WINDOW + SYNC_MARKER.len());
    loop {
        let read = input.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
        if let Some(at) = window.windows(8).position(|w| w == SYNC_MARKER || w == SEEK_MARKER) {
            return Ok(Some(from + at as u64));
        }
        if read == 0 {
            return Ok(None);
        }
        // A marker may lie across two windows: keep all but one of its bytes.
        let done = window.len().saturating_sub(SYNC_MARKER.len() - 1);
        window.drain(..done);
        from += done as u64;
    }
}

/// The `N` bytes at `offset`, or `None` where the file ends before them.
fn read_at<const N: usize, R: Read + Seek>(input: &mut R, offset: u64) -> Result<Option<[u8; N]>> {
    input.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(N);
    input.by_ref().take(N as u64).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use std::io::Cursor;

    #[test]
    fn blocks_are_found_at_any_offset_and_across_windows() {
        let header = BlockHeader {
            kind: Kind::Stored,
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
            let mut file = Cursor::new(file);
            let offset = offset as u64;
            let found = next(&mut file, 0).unwrap().unwrap();
            assert_eq!(found, (Landmark::Block(offset, header), offset + BlockHeader::SIZE as u64));
            assert_eq!(next(&mut file, offset + 1).unwrap(), None);
        }
    }

    #[test]
    fn the_end_of_a_frame_is_found() {
        let footer =
            Footer { total_raw_size: 5, frame_size: 99, seek_table_size: 28, stream_checksum: 7 };
        let file = [&b"xyz"[..], &SeekTable::to_bytes(&[]), &footer.to_bytes()].concat();
        let end = file.len() as u64;
        let found = next(&mut Cursor::new(file), 0).unwrap();
        assert_eq!(found, Some((Landmark::FrameEnd(footer), end)));
    }
}
