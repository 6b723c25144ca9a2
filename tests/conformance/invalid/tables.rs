//! Damaged Tables, in all three places, and damaged tables of the known types.

use super::damaged;
use crate::common::cases;
use crate::containers::{BLAKE3, METADATA, TOTAL_RAW_SIZE, XXH3, checked};
use crate::frames::{Block, FRAME_HEADER_SIZE, Frame, table, tables, uint, varint};
use crate::kit::Entry;
use crate::patient::Patient;

/// Damaged tables.
pub fn entries() -> Vec<Entry> {
    let mut all = forms();
    all.extend(places());
    all.extend(sizes());
    all.extend(raw_sizes());
    all.extend(stream_checks());
    all
}

fn in_block(tables: &[u8]) -> Patient {
    Patient::of(&[Block::new(&cases::text(900)).with_tables(tables)])
}

fn at_the_beginning(tables: &[u8]) -> Patient {
    let frame = Frame {
        first_tables: tables.to_vec(),
        ..Frame::of(&[Block::new(&cases::text(900))])
    };
    Patient(frame.to_bytes())
}

fn at_the_end(tables: &[u8]) -> Patient {
    let frame = Frame {
        last_tables: tables.to_vec(),
        ..Frame::of(&[Block::new(&cases::text(900))])
    };
    Patient(frame.to_bytes())
}

const MISFIT: &str = "do not add up";
const DAMAGED: &str = "checksum is wrong";

/// Faults of Tables, in a block.
fn forms() -> Vec<Entry> {
    // Tables_Size 10; Type, Size 3, Checksum, abc.
    let sound = tables(&[(0xC000, b"abc")]);
    assert_eq!(sound.len(), 11);
    let changed = |at: usize, byte: u8| {
        let mut tables = sound.clone();
        tables[at] = byte;
        in_block(&tables)
    };
    let many: Vec<(u16, &[u8])> = (0x8800..0x8901)
        .map(|kind| (kind, &b""[..]))
        .collect();
    vec![
        damaged(
            "R29-no-table",
            "Tables without a table",
            in_block(&[0]),
            MISFIT,
        ),
        damaged(
            "R29-tables-size-small",
            "a Tables_Size that is one too small",
            changed(0, 9),
            MISFIT,
        ),
        damaged(
            "R29-tables-size-large",
            "a Tables_Size that is one too large",
            changed(0, 11),
            MISFIT,
        ),
        damaged(
            "R29-tables-size-above-payload",
            "a Tables_Size above the payload",
            in_block(&[0xFF, 0x7F, 1, 0xC0, 0]),
            "",
        ),
        damaged(
            "R29-size-small",
            "a Size that is one too small",
            changed(3, 2),
            "",
        ),
        damaged(
            "R29-size-large",
            "a Size above Tables_Size",
            changed(3, 100),
            "",
        ),
        damaged(
            "R29-size-no-varint",
            "a Size that is no varint",
            {
                let table = [&[0x00, 0xC0][..], &[128; 8], &[0; 9]].concat();
                in_block(&[varint(table.len() as u64), table].concat())
            },
            "",
        ),
        damaged("R29-type", "a changed Type", changed(1, 1), DAMAGED),
        damaged(
            "R29-content",
            "a changed byte of Content",
            changed(9, b'x'),
            DAMAGED,
        ),
        damaged(
            "R29-type-twice",
            "two tables of one Type",
            in_block(&tables(&[(0xC000, b"a"), (0xC000, b"b")])),
            "",
        ),
        damaged(
            "R29-257-tables",
            "257 tables",
            at_the_end(&tables(&many)),
            "",
        ),
        damaged(
            "R29-type-that-must-be-known",
            "a wrong Checksum of a table of the unknown Type 4000: damaged, not unsupported",
            {
                let mut table = table(0x4000, b"abc");
                table[8] = b'x';
                in_block(&[varint(table.len() as u64), table].concat())
            },
            DAMAGED,
        ),
    ]
}

/// Faults of Tables before the blocks and after the Seek_Table.
fn places() -> Vec<Entry> {
    let mut wrong = tables(&[(0xC000, b"abc")]);
    wrong[9] = b'x';
    vec![
        damaged(
            "R29-first-no-table",
            "Tables without a table after Frame_Header",
            at_the_beginning(&[0]),
            MISFIT,
        ),
        damaged(
            "R29-first-content",
            "a wrong Checksum of a table after Frame_Header",
            at_the_beginning(&wrong),
            DAMAGED,
        ),
        damaged(
            "R29-last-no-table",
            "Tables without a table after the Seek_Table",
            at_the_end(&[0]),
            MISFIT,
        ),
        damaged(
            "R29-last-content",
            "a wrong Checksum of a table after the Seek_Table",
            at_the_end(&wrong),
            DAMAGED,
        ),
    ]
}

/// Tables_Size that is no varint in each of the places, or leads too far.
fn sizes() -> Vec<Entry> {
    let no_varint = [[128; 6].to_vec(), vec![0; 20]].concat();
    let sound = tables(&[(0xC000, b"abc")]);
    // Tables_Size, and Size of the table.
    let larger = |by: [u8; 2]| {
        let mut tables = sound.clone();
        tables[0] += by[0];
        tables[3] += by[1];
        tables
    };
    let with_tables = at_the_end(&sound);
    let [table, footer] = [with_tables.table(), with_tables.footer()];
    let without = uint((footer - table - sound.len()) as u64, 5);
    let size = uint((footer - table + 1) as u64, 5);
    vec![
        damaged(
            "R29-tables-size-no-varint",
            "a Tables_Size of a block that is no varint",
            in_block(&no_varint),
            "",
        ),
        damaged(
            "R29-first-tables-size-no-varint",
            "a Tables_Size after Frame_Header that is no varint",
            at_the_beginning(&no_varint),
            "",
        ),
        damaged(
            "R29-last-tables-size-no-varint",
            "a Tables_Size after the Seek_Table that is no varint",
            at_the_end(&no_varint),
            "",
        ),
        damaged(
            "R29-first-type-twice",
            "two tables of one Type after Frame_Header",
            at_the_beginning(&tables(&[(0xC000, b"a"), (0xC000, b"b")])),
            "",
        ),
        damaged(
            "R06-first-tables-over-the-seek-table",
            "Tables after Frame_Header that reach over the block into the Seek_Table",
            over_the_seek_table(),
            "neither a block nor the seek table",
        ),
        damaged(
            "R29-first-tables-into-the-block",
            "a Tables_Size after Frame_Header that is one too large",
            at_the_beginning(&larger([1, 0])),
            MISFIT,
        ),
        damaged(
            "R29-last-tables-into-the-footer",
            "a Tables_Size after the Seek_Table that is one too large",
            at_the_end(&larger([1, 0])),
            MISFIT,
        ),
        damaged(
            "R23-last-tables-behind-the-file",
            "a table after the Seek_Table whose Content ends behind the Footer",
            at_the_end(&larger([40, 40])),
            "was cut off",
        ),
        damaged(
            "R22-seek-table-size-without-tables",
            "a Seek_Table_Size without the Tables",
            at_the_end(&sound).foot(7, &without),
            "sizes do not match the frame",
        ),
        damaged(
            "R22-seek-table-size-above-tables",
            "Tables that are one byte too short for Seek_Table_Size",
            at_the_end(&sound).foot(7, &size),
            "sizes do not match the frame",
        ),
    ]
}

/// One table of a private Type whose Content is the first block and 4 bytes of the Seek_Table, with
/// a right Checksum.
fn over_the_seek_table() -> Patient {
    let sound = Patient::of(&[Block::new(&cases::text(900))]);
    let end = sound.table() + 4;
    let rest = sound.0[end..].to_vec();
    let tables = tables(&[(0xC000, &sound.0[FRAME_HEADER_SIZE..end])]);
    let frame_size = FRAME_HEADER_SIZE + tables.len() + rest.len();
    let header = sound.cut(FRAME_HEADER_SIZE).frame(6, &[1]).0;
    Patient([header, tables, rest].concat()).foot(20, &uint(frame_size as u64, 7))
}

fn raw_sizes() -> Vec<Entry> {
    let with = |content: &[u8]| {
        at_the_beginning(&tables(&[
            (TOTAL_RAW_SIZE, content),
            (METADATA, b"\x01k\x01v"),
        ]))
    };
    vec![
        damaged(
            "R22-table-raw-size",
            "a table Total_Raw_Size that is not that of the Footer",
            with(&uint(901, 7)),
            "content size in the frame header does not match",
        ),
        damaged(
            "R22-table-raw-size-8-bytes",
            "a table Total_Raw_Size of 8 bytes",
            with(&uint(900, 8)),
            "wrong size",
        ),
    ]
}

fn stream_checks() -> Vec<Entry> {
    let with = |kind: u8, digest: Option<&[u8]>| Patient(checked(kind, digest).to_bytes());
    let misfit = "stream check";
    let mut xxh3 = XXH3;
    xxh3.reverse();
    let mut blake3 = BLAKE3;
    blake3[31] ^= 1;
    vec![
        damaged(
            "R32-missing",
            "Check_Type 128 and no Stream_Check",
            with(128, None),
            misfit,
        ),
        damaged(
            "R32-not-announced",
            "a Stream_Check and Check_Type 0",
            with(0, Some(&XXH3)),
            misfit,
        ),
        damaged(
            "R32-xxh3-size",
            "XXH3 of 9 bytes",
            with(128, Some(&[&XXH3[..], &[0]].concat())),
            misfit,
        ),
        damaged(
            "R32-xxh3-digest",
            "XXH3 with the least significant byte first",
            with(128, Some(&xxh3)),
            "",
        ),
        damaged(
            "R32-blake3-size",
            "BLAKE3 of 8 bytes",
            with(129, Some(&BLAKE3[..8])),
            misfit,
        ),
        damaged(
            "R32-blake3-digest",
            "BLAKE3 with a changed bit",
            with(129, Some(&blake3)),
            "",
        ),
    ]
}
