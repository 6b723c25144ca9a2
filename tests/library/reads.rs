//! Reads of a file by position: each may be a request to a server, so that there are few.

use crate::common::{cases, indexed};
use bwz::{Archive, Options};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that counts requests: reads that do not go on where the one before ended.
struct Requests<'r> {
    file: Cursor<Vec<u8>>,
    end: Option<u64>,
    count: &'r AtomicUsize,
}

impl Read for Requests<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.end != Some(self.file.position()) {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        let came = self.file.read(out)?;
        self.end = Some(self.file.position());
        Ok(came)
    }
}

impl Seek for Requests<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn a_list_is_two_requests_and_a_range_one_more() {
    let raw = cases::text(900_000);
    for block_size in [1000, 300_000] {
        let file = indexed(&raw, block_size, Some(8));
        let count = AtomicUsize::new(0);
        let requests = Requests {
            file: Cursor::new(file),
            end: None,
            count: &count,
        };
        let mut archive = Archive::open(requests, &Options::new().threads(1)).unwrap();
        assert_eq!(
            archive.blocks().len(),
            raw.len().div_ceil(block_size as usize)
        );
        assert_eq!(archive.info().all(), archive.blocks().len() as u64);
        assert!(count.load(Ordering::Relaxed) <= 2, "{count:?} to list");
        let before = count.swap(0, Ordering::Relaxed);
        let mut part = Vec::new();
        archive
            .read_range(450_100..450_200, &mut part)
            .unwrap();
        assert_eq!(part, raw[450_100..450_200]);
        assert_eq!(count.load(Ordering::Relaxed), 1, "after {before} to list");
    }
}
