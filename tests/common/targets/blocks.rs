//! Any bytes as a file, on one thread: the blocks are read, restored and searched, one after
//! another.

use super::on_one_thread;
use bwz::{Archive, Options, internals};
use std::io::Cursor;
use std::sync::LazyLock;

/// Maximum raw size of a block that is restored, and of a block that is searched on disk, in bytes.
/// They bound the time.
const LARGEST: u64 = 1 << 16;
const LARGEST_SEARCHED: u64 = 1 << 13;
const LOCATED: usize = 4;

/// Created once, since creating options asks the system for the amount of memory.
static OPTIONS: LazyLock<Options> = LazyLock::new(|| Options::new().threads(1));

/// Never a panic or a hang. A file is whole for a reader from the start exactly if it is whole for
/// a reader that begins at its tables.
pub fn blocks(file: &[u8]) {
    on_one_thread();
    let whole = restore(file);
    let archive = Archive::open(Cursor::new(file), &OPTIONS);
    if let Some(raw_size) = whole {
        assert_eq!(archive.as_ref().unwrap().raw_size(), raw_size);
    }
    if let Ok(archive) = archive {
        search(archive, file);
    }
}

/// The raw size of the file if its structures are sound, for any content of its blocks.
fn restore(file: &[u8]) -> Option<u64> {
    let mut sum = 0;
    for block in internals::blocks(file, &OPTIONS) {
        let (header, payload) = block.ok()?;
        let raw_size = header[12..17]
            .iter()
            .rev()
            .fold(0, |size, byte| size << 8 | u64::from(*byte));
        sum += raw_size;
        if raw_size <= LARGEST
            && let Ok(raw) = internals::restore((header, payload))
        {
            assert_eq!(raw.len(), raw_size as usize);
        }
    }
    Some(sum)
}

/// Patterns are taken from the middle of the file, in which an index keeps the ends of its block.
fn search(mut archive: Archive<Cursor<&[u8]>>, file: &[u8]) {
    if archive.has_sequences() && archive.raw_size() <= LARGEST {
        for pattern in [&b"A"[..], b"GT", b"\n"] {
            let found = internals::find_sequences(&mut archive, pattern, LOCATED);
            let within = |at: &u64| *at <= archive.raw_size();
            assert!(found.unwrap_or_default().iter().all(within));
        }
    }
    for number in 0..archive.blocks().len().min(4) {
        let raw = &archive.blocks()[number].raw;
        if raw.end - raw.start <= LARGEST_SEARCHED {
            for len in 0..3 {
                let pattern = &file[file.len() / 2..][..len];
                let _ = internals::locate_on_disk(&mut archive, number, pattern, LOCATED);
            }
        }
    }
}
