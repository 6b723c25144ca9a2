//! Any bytes as a file, on one thread: its blocks read, restored and searched, one after another.

use super::on_one_thread;
use bwz::{Archive, Options, internals};
use std::io::Cursor;
use std::sync::LazyLock;

/// The largest block that is restored, the largest that is searched on disk, and how often: time
/// goes by them.
const LARGEST: u64 = 1 << 16;
const LARGEST_SEARCHED: u64 = 1 << 13;
const LOCATED: usize = 4;

/// Made once: they ask the system how much memory there is.
static OPTIONS: LazyLock<Options> = LazyLock::new(|| Options::new().threads(1));

/// Never a panic or a hang. What is a whole file to one who reads it from the start is one to who
/// begins at its tables.
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

/// The raw size of the file if its structures are sound, whatever its blocks hold.
fn restore(file: &[u8]) -> Option<u64> {
    let mut sum = 0;
    for block in internals::blocks(file, &OPTIONS) {
        let (header, payload) = block.ok()?;
        let raw_size =
            header[12..17].iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
        sum += raw_size;
        if raw_size <= LARGEST
            && let Ok(raw) = internals::restore((header, payload))
        {
            assert_eq!(raw.len(), raw_size as usize);
        }
    }
    Some(sum)
}

/// The patterns come from the middle of the file, where an index keeps the ends of its block.
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
