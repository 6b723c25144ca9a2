//! Recovery of files with false claims: the time stays linear, and every loss is reported.

use crate::common::layout::{self, BLOCK_HEADER, Block, End, FOOTER, HEADER};
use crate::common::mutation::parts::varint;
use crate::common::{cases, compressed, options};
use bwz::{Lost, Recovery};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

/// A file that counts the bytes read from it, and the reads.
struct Counted {
    file: Cursor<Vec<u8>>,
    bytes: u64,
    calls: u64,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(out)?;
        self.bytes += read as u64;
        self.calls += 1;
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// The header of a stored block.
fn header(size: u32, raw_checksum: u32, raw_offset: u64, payload_checksum: u32) -> Vec<u8> {
    let block = Block {
        shape: [0; 4],
        raw_size: size.into(),
        coded_size: size.into(),
        raw_checksum,
        raw_offset,
        payload_checksum,
    };
    block.header()
}

/// The front of a seek table whose content takes `size` bytes.
fn seek_table(size: u32) -> Vec<u8> {
    [&layout::SEEK_MARKER[..], &varint(size.into()), &[0; 4]].concat()
}

/// A stored block with an undamaged payload and a wrong raw checksum, inside another such block,
/// and so on.
fn nested(depth: usize, innermost: Vec<u8>) -> Vec<u8> {
    // Built back to front, so that the time is quadratic only in the checksums.
    let mut reversed: Vec<u8> = innermost.into_iter().rev().collect();
    for _ in 0..depth {
        let payload: Vec<u8> = reversed.iter().rev().copied().collect();
        let outer = header(payload.len() as u32, 0, 0, crc32fast::hash(&payload));
        reversed.extend(outer.into_iter().rev());
    }
    reversed.reverse();
    reversed
}

fn hostile_files() -> Vec<(&'static str, Vec<u8>)> {
    let frame = compressed(b"", 1);
    vec![
        ("long payloads", header(200_001, 0, 0, 0).repeat(20_000)),
        ("one end", {
            let starts = (1..10_000_u32).rev();
            starts
                .flat_map(|n| header(BLOCK_HEADER as u32 * n + 1, 0, 0, 0))
                .chain([0; 100])
                .collect()
        }),
        (
            "nested blocks",
            [nested(2_000, vec![1; 100]), vec![0; 50]].concat(),
        ),
        ("blocks of one byte", {
            let block = [
                header(1, crc32fast::hash(b"x"), 0, crc32fast::hash(b"x")),
                b"x".to_vec(),
            ];
            block.concat().repeat(10_000)
        }),
        ("seek tables that claim much", {
            [
                seek_table(300_000).repeat(20_000),
                header(1, 0, 0, 0),
                vec![0],
            ]
            .concat()
        }),
        ("footers that claim much", {
            let table = layout::seek_table(&[0, 0]);
            let end = End {
                raw_size: u64::MAX,
                table_size: table.len() as u64,
                frame_size: u64::MAX,
                ..End::default()
            };
            [table, end.footer()].concat().repeat(10_000)
        }),
        ("empty frames", frame.repeat(10_000)),
        (
            "empty frames and garbage",
            [frame.repeat(10_000), vec![0; 1]].concat(),
        ),
    ]
}

#[test]
fn time_is_linear_whatever_the_file_claims() {
    for (name, file) in hostile_files() {
        let size = file.len() as u64;
        let mut input = Counted {
            file: Cursor::new(file),
            bytes: 0,
            calls: 0,
        };
        let end = bwz::recover(&mut input, std::io::sink(), &options(1));
        let recovery = end.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            input.bytes < 24 * size,
            "{name}: {} bytes of {size}",
            input.bytes
        );
        assert!(
            input.calls < size / 4,
            "{name}: {} reads for {size} bytes",
            input.calls
        );
        let most = 2 * (recovery.blocks as usize + 1);
        assert!(
            recovery.lost.len() <= most,
            "{name}: {} lost parts",
            recovery.lost.len()
        );
    }
}

fn recover(file: Vec<u8>) -> (Vec<u8>, Recovery) {
    let mut saved = Vec::new();
    let recovery = bwz::recover(Cursor::new(file), &mut saved, &options(1)).unwrap();
    (saved, recovery)
}

/// True if no loss is known, and exactly this frame contradicts its footer.
fn contradicts(recovery: &Recovery, frame: Range<u64>) -> bool {
    recovery.lost.is_empty() && recovery.contradicted == [frame] && !recovery.is_complete()
}

/// The file with other bytes at `at`. The checksum behind `checked` is made right again.
fn resealed(mut file: Vec<u8>, at: usize, bytes: &[u8], checked: Range<usize>) -> Vec<u8> {
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let checksum = crc32fast::hash(&file[checked.clone()]).to_le_bytes();
    file[checked.end..checked.end + 4].copy_from_slice(&checksum);
    file
}

/// A frame of one block of one byte, whose header states that it is empty. The footer agrees.
#[test]
fn a_footer_that_forgets_a_byte_is_contradicted_by_its_checksum() {
    let file = compressed(b"!", 1);
    let footer = file.len() - FOOTER;
    let file = resealed(file, HEADER + 12, &[0; 4], HEADER..HEADER + 37);
    let file = resealed(file, footer, &[0; 7], footer..footer + 28);
    let (saved, recovery) = recover(file);
    assert!(
        saved.is_empty() && contradicts(&recovery, 0..0),
        "{recovery:?}"
    );
}

/// A frame of three blocks. No decoder accepts the header of the last one, and the footer does not
/// count it.
#[test]
fn a_footer_that_forgets_a_block_is_contradicted_by_its_checksum() {
    let raw = cases::random(3_000, 256);
    let file = compressed(&raw, 1_000);
    let third = HEADER + 2 * (BLOCK_HEADER + 1_000);
    let footer = file.len() - FOOTER;
    let file = resealed(file, third + 9, &[0x80], third..third + 37);
    let file = resealed(file, footer, &2_000_u32.to_le_bytes(), footer..footer + 28);
    let (saved, recovery) = recover(file);
    assert!(
        saved == raw[..2_000] && contradicts(&recovery, 0..2_000),
        "{recovery:?}"
    );
}

/// A frame whose tables are sound and list two blocks, but whose checksum is that of three.
#[test]
fn sound_tables_of_fewer_blocks_are_contradicted_by_the_checksum() {
    let raw = cases::random(3_000, 256);
    let mut shorter = compressed(&raw[..2_000], 1_000);
    let whole = compressed(&raw, 1_000);
    let footer = shorter.len() - FOOTER;
    let of_whole = whole.len() - FOOTER;
    shorter = resealed(
        shorter,
        footer + 16,
        &whole[of_whole + 16..][..4],
        footer..footer + 28,
    );
    let file = [compressed(b"before", 9), shorter, compressed(b"behind", 9)].concat();
    let (saved, recovery) = recover(file);
    assert!(saved == [b"before", &raw[..2_000], b"behind"].concat());
    assert!(contradicts(&recovery, 6..2_006), "{recovery:?}");
}

#[test]
fn a_block_that_the_total_does_not_count_in_is_saved_and_said() {
    let raw = cases::random(2_000, 256);
    let file = compressed(&raw, 1_000);
    let footer = file.len() - FOOTER;
    let file = resealed(file, footer, &1_000_u32.to_le_bytes(), footer..footer + 28);
    let (saved, recovery) = recover([&file[..], &compressed(b"!", 1)].concat());
    assert!(saved == [&raw[..], b"!"].concat());
    assert!(contradicts(&recovery, 0..2_000), "{recovery:?}");
}

#[test]
fn losses_that_touch_are_one() {
    let raw = cases::random(9_000, 256);
    let mut file = compressed(&raw, 1_000);
    for block in [2, 3, 4, 7] {
        file[HEADER + block * (BLOCK_HEADER + 1_000) + 100] ^= 1;
    }
    let lost = |start, end| Lost {
        start,
        end: Some(end),
    };
    assert_eq!(
        recover(file).1.lost,
        [lost(2_000, 5_000), lost(7_000, 8_000)]
    );
}

/// The content of a private frame is not searched for blocks, even before damage.
#[test]
fn blocks_within_a_private_frame_are_not_saved() {
    let inside = [
        compressed(b"inside", 9),
        vec![1; 3 << 20],
        compressed(b"inside", 9),
    ]
    .concat();
    let private = bwz::private_frame(1, &inside).unwrap();
    let other = compressed(b"other", 9);
    let mut last = other.clone();
    *last.last_mut().unwrap() ^= 1;
    let (saved, recovery) = recover([&private[..], &other, &private, &private, &last].concat());
    assert!(saved == b"otherother", "{} bytes", saved.len());
    assert_eq!(
        recovery.lost,
        [Lost {
            start: 10,
            end: None
        }]
    );
    // A private frame that is cut off may be anything.
    let (saved, _) = recover([&other[..], &private[..private.len() - 1]].concat());
    assert!(saved.ends_with(b"inside"));
}
