//! Any bytes as a file, on one thread: its blocks read, restored and searched, one after another.

use super::{alone, u16_at};
use bwz::{Archive, Options, internals};
use std::io::Cursor;

/// The largest block that is restored, and the largest that is searched on disk: time goes by them.
const LARGEST: u32 = 1 << 16;
const LARGEST_SEARCHED: u64 = 1 << 13;

/// Never a panic or a hang. What is a whole file to one who reads it from the start is one to who begins at its tables.
pub fn blocks(file: &[u8]) {
    alone();
    let whole = restore(file);
    internals::landmarks(file).for_each(drop);
    let archive = Archive::open(Cursor::new(file), &Options::new().threads(1));
    if let Some(raw_size) = whole {
        assert_eq!(archive.as_ref().unwrap().raw_size(), raw_size);
    }
    if let Ok(archive) = archive {
        search(archive, file);
    }
}

/// The raw size of the file if its structures are sound, whatever its blocks hold.
fn restore(file: &[u8]) -> Option<u64> {
    let mut sum = 0;
    for block in internals::blocks(file) {
        let (header, payload) = block.ok()?;
        let raw_size = u32::from_le_bytes(*header[12..].first_chunk().unwrap());
        sum += u64::from(raw_size);
        if raw_size <= LARGEST
            && let Ok(raw) = internals::restore((header, payload))
        {
            assert_eq!(raw.len(), raw_size as usize);
        }
    }
    Some(sum)
}

/// A pattern and a range from the end of the file, where its tables are.
fn search(mut archive: Archive<Cursor<&[u8]>>, file: &[u8]) {
    let choice = &file[file.len() - 4..];
    let pattern = &choice[..usize::from(choice[0] % 4)];
    for number in 0..archive.blocks().len().min(4) {
        let raw = &archive.blocks()[number].raw;
        let size = (raw.end - raw.start).min(LARGEST_SEARCHED) as usize;
        if raw.end - raw.start <= LARGEST_SEARCHED {
            let start = u16_at(choice, 1) % size;
            let _ = internals::search_on_disk(&mut archive, number, pattern, start..size);
        }
    }
}
