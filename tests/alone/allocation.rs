//! A size that a file merely claims causes no allocation, on any thread.

use crate::common;
use crate::common::layout::{self, BLOCK_HEADER, End, FOOTER, HEADER, SEEK_MARKER};
use crate::common::mutation::parts::varint;
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

/// `file` with other bytes in place of its seek table, and the sizes in its footer that they need.
fn with_table(file: &[u8], table: &[u8]) -> Vec<u8> {
    let (before, footer) = file.split_at(file.len() - FOOTER);
    let start = before
        .windows(8)
        .rposition(|bytes| bytes == SEEK_MARKER)
        .unwrap();
    let size = |offset: usize, len: usize| {
        let field = footer[offset..offset + len].iter().rev();
        field.fold(0, |all, byte| all << 8 | u64::from(*byte))
    };
    let end = End {
        raw_size: size(0, 7),
        table_size: table.len() as u64,
        features: size(12, 4) as u32,
        checksum: size(16, 4) as u32,
        frame_size: (start + table.len() + FOOTER) as u64,
    };
    [&file[..start], table, &end.footer()].concat()
}

/// A file without blocks whose header has these bytes as tables.
fn with_header_tables(tables: &[u8]) -> Vec<u8> {
    let mut header = layout::frame_header(0, 0);
    header[6] = 1;
    let header = layout::sealed(&[&header[..19]]);
    let table = layout::seek_table(&[0, 0]);
    let before = [&header[..], tables, &table].concat();
    let end = End {
        table_size: table.len() as u64,
        frame_size: (before.len() + FOOTER) as u64,
        ..End::default()
    };
    [before, end.footer()].concat()
}

#[test]
fn a_claimed_size_allocates_nothing() {
    let _alone = crate::alone();
    let text = compressed(&cases::text(5000), 5000);
    let stored = compressed(&cases::random(500, 256), 500);
    let empty = compressed(b"", 1);
    let block = HEADER..HEADER + BLOCK_HEADER - 4;
    let huge = varint(1 << 30);
    let shape = [0; 4];
    let table = |content: &[&[u8]]| layout::seek_table(&content.concat());
    let of_size = [&SEEK_MARKER[..], &huge, &[0; 4]].concat();
    let columns = [0, 0, 41, 0];
    let counted = table(&[&huge, &[0, 1], &shape, &columns]);
    let of_shapes = table(&[&[1, 0], &huge, &shape]);
    let typed = [&[0x11, 0x80][..], &huge, &[0; 4]].concat();
    let claims = [
        ("Block_Size", claim(text.clone(), 14, 0..19)),
        ("Raw_Size", claim(text, HEADER + 12, block.clone())),
        ("Coded_Size", claim(stored.clone(), HEADER + 17, block)),
        ("Block_Count", with_table(&stored, &counted)),
        ("Shape_Count", with_table(&stored, &of_shapes)),
        ("Content_Size", with_table(&stored, &of_size)),
        ("Content_Size of none", with_table(&empty, &of_size)),
        ("Block_Count of none", with_table(&empty, &counted)),
        ("Tables_Size", with_header_tables(&huge)),
        (
            "Size of a table",
            with_header_tables(&[&varint((1 << 30) + 11)[..], &typed].concat()),
        ),
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
