//! A size that a file merely claims causes no allocation, on any thread.

use crate::common;
use crate::common::{cases, compressed};
use crate::watched_memory::largest_allocation;
use std::io::Cursor;
use std::ops::Range;

/// A file that claims a gigabyte at `at`. The checksum behind `checked` is made right again.
fn claim(mut file: Vec<u8>, at: usize, checked: Range<usize>) -> Vec<u8> {
    file[at..at + 4].copy_from_slice(&(1u32 << 30).to_le_bytes());
    let checksum = crc32fast::hash(&file[checked.clone()]);
    file[checked.end..checked.end + 4].copy_from_slice(&checksum.to_le_bytes());
    file
}

#[test]
fn a_claimed_size_allocates_nothing() {
    let _alone = crate::alone();
    let text = compressed(&cases::text(5000), 5000);
    let stored = compressed(&cases::random(500, 256), 500);
    let empty = compressed(b"", 1);
    let table = stored.len() - 32 - 16 - 28;
    let claims = [
        ("Block_Size", claim(text.clone(), 7, 0..12)),
        ("Raw_Size", claim(text, 16 + 12, 16..54)),
        ("Coded_Size", claim(stored.clone(), 16 + 17, 16..54)),
        (
            "Block_Count",
            claim(stored.clone(), table + 10, table..table + 24),
        ),
        ("Entries_Size", claim(stored, table + 15, table..table + 24)),
        ("Entries_Size of none", claim(empty, 16 + 15, 16..40)),
    ];
    let options = common::options(1).threads(1).memory(64 << 20);
    for (what, file) in claims {
        // With zeros behind the file, the claimed bytes are there to read.
        let longer = [&file[..], &vec![0; 3 << 20]].concat();
        let largest = largest_allocation(|| {
            for file in [&file, &longer] {
                assert!(
                    bwz::decompress(&file[..], std::io::sink(), &options).is_err(),
                    "{what}"
                );
                let archive = bwz::Archive::open(Cursor::new(file), &options);
                let read = archive.and_then(|mut a| a.read_range(0..a.raw_size(), std::io::sink()));
                assert!(read.is_err() || what == "Block_Size", "{what}");
                let _ = bwz::recover(Cursor::new(file), std::io::sink(), &options);
            }
        });
        assert!(largest <= 8 << 20, "{what}: {largest} bytes at once");
    }
}
