//! Files that are not damaged, and that this version cannot restore: unknown ids, with other blocks
//! and frames around, and other versions.

mod versions;

use crate::common::{cases, compressed, indexed};
use crate::containers::three_blocks;
use crate::filters::{MATCHES, REGIONS};
use crate::frames::{Block, Filter, Frame, other_frame, tables};
use crate::kit::Entry;
use crate::patient::Patient;

/// Files that are unsupported.
pub fn entries() -> Vec<Entry> {
    let mut all = versions::entries();
    all.extend(frames());
    all.extend(blocks());
    all.extend(unmentioned());
    all.extend(unknown_tables());
    all
}

fn frames() -> Vec<Entry> {
    let data = compressed(&cases::text(700), 1 << 20);
    let kind = |kind| [&data[..], &other_frame(kind, *b"what", b"content"), &data].concat();
    let of_kind_1 = || Patient(other_frame(1, *b"what", b"content"));
    let with_raw_size = of_kind_1().foot(0, &[99]).foot(12, &[2]);
    let with_flags = of_kind_1().frame(6, &[255, 3, 4, 2]);
    let check = |check_type: u8| {
        let frame = Frame {
            check_type,
            ..three_blocks()
        };
        [&data[..], &frame.to_bytes(), &data].concat()
    };
    vec![
        Entry::unsupported(
            "U01-frame-kind-1",
            "a frame of Frame_Kind 1 between two frames of data",
            kind(1),
            "kind",
        ),
        Entry::unsupported(
            "U01-frame-kind-64-private",
            "a frame of the private Frame_Kind 64, which must be known",
            kind(64),
            "kind",
        ),
        Entry::unsupported(
            "U01-frame-kind-1-raw-size",
            "a frame of Frame_Kind 1 with Total_Raw_Size and Features of its own between two frames of data",
            [&data[..], &with_raw_size.0, &data].concat(),
            "kind",
        ),
        Entry::unsupported(
            "U01-frame-kind-1-flags",
            "a frame of Frame_Kind 1 alone, with Flags and Check_Type of its own and Needed_Release 2.4",
            with_flags.0,
            "kind",
        ),
        Entry::unsupported(
            "U06-check-type-1",
            "a frame of Check_Type 1 between two others",
            check(1),
            "stream check",
        ),
        Entry::unsupported(
            "U06-check-type-127-private",
            "a frame of the private Check_Type 127 between two others",
            check(127),
            "stream check",
        ),
    ]
}

/// Three blocks, of which this one is the second.
fn between(block: Block) -> Vec<u8> {
    let mut frame = three_blocks();
    frame.blocks[1] = block;
    frame.to_bytes()
}

fn blocks() -> Vec<Entry> {
    let raw = cases::text(800);
    let block = |shape: [u8; 4], payload: &[u8]| {
        between(Block {
            shape,
            raw: raw.clone(),
            payload: payload.to_vec(),
        })
    };
    let plain = Block::new(&raw);
    let same = |id: u8| Filter {
        id,
        size: 800,
        side: vec![7; 3],
    };
    let region = Filter {
        id: REGIONS,
        size: 800,
        side: vec![0xA0, 6, 0],
    };
    let no_matches = Filter {
        id: MATCHES,
        size: 800,
        side: vec![0, 8, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    let filtered = |filters: &[Filter]| between(Block::filtered(&plain, &raw, filters));
    let with_index = Block::of(&raw, &indexed(&raw, 1 << 20, Some(16)));
    let with_index = Block::filtered(&with_index, &raw, &[same(5)]);
    vec![
        Entry::unsupported(
            "U02-block-kind-2",
            "a block of Block_Kind 2 between two others; it is larger than its raw bytes",
            block([2, 0, 0, 0], &[9; 900]),
            "kind",
        ),
        Entry::unsupported(
            "U02-block-kind-127-private",
            "a block of the private Block_Kind 127; bytes 9 to 11 of its header are as that kind says",
            block([127, 255, 255, 255], b"what"),
            "kind",
        ),
        Entry::unsupported(
            "U03-coding-2",
            "a bwt block of Coding 2 between two others; its Flags and Sample_Rate_Log are as that coding says",
            block([1, 2, 255, 255], b"how"),
            "coding",
        ),
        Entry::unsupported(
            "U03-coding-64-private",
            "a bwt block of the private Coding 64",
            block([1, 64, 0, 3], &plain.payload),
            "coding",
        ),
        Entry::unsupported(
            "U04-filter-5",
            "a block with Filter_Id 5 between two others",
            filtered(&[same(5)]),
            "filter",
        ),
        Entry::unsupported(
            "U04-filter-5-indexed",
            "an Indexed block with Filter_Id 5 between two others",
            between(with_index),
            "filter",
        ),
        Entry::unsupported(
            "U04-filter-127-private",
            "a block with the private Filter_Id 127 between two known filters",
            filtered(&[region, same(127), no_matches]),
            "filter",
        ),
    ]
}

/// Unknown ids that Features do not mention: a later version may give them a bit of their own, and
/// neither Frame_Header nor Footer needs bit 15.
fn unmentioned() -> Vec<Entry> {
    let raw = cases::text(800);
    let without_bit_15 = |block: Block| {
        let file = Patient(between(block));
        file.frame(10, &[1, 0]).foot(12, &[1, 0]).0
    };
    let block = |shape: [u8; 4]| Block {
        shape,
        raw: raw.clone(),
        payload: b"what".to_vec(),
    };
    let filter = Filter {
        id: 100,
        size: 800,
        side: vec![],
    };
    vec![
        Entry::unsupported(
            "U02-block-kind-5-unmentioned",
            "a block of Block_Kind 5, which Features do not mention",
            without_bit_15(block([5, 1, 2, 3])),
            "kind",
        ),
        Entry::unsupported(
            "U03-coding-3-unmentioned",
            "a bwt block of Coding 3, which Features do not mention",
            without_bit_15(block([1, 3, 0, 16])),
            "coding",
        ),
        Entry::unsupported(
            "U04-filter-100-unmentioned",
            "a block with Filter_Id 100, which Features do not mention",
            without_bit_15(Block::filtered(&Block::new(&raw), &raw, &[filter])),
            "filter",
        ),
    ]
}

fn unknown_tables() -> Vec<Entry> {
    let needed: [(u16, &[u8]); 2] = [(0x8005, b"may be passed over"), (0x7FFF, b"private")];
    let dictionary: [(u16, &[u8]); 1] = [(1, b"words")];
    let block = Block::new(&cases::text(800)).with_tables(&tables(&needed));
    let first = Frame {
        first_tables: tables(&dictionary),
        ..three_blocks()
    };
    let at_the_end = |all: &[(u16, &[u8])]| {
        let frame = Frame {
            last_tables: tables(all),
            ..three_blocks()
        };
        frame.to_bytes()
    };
    vec![
        Entry::unsupported(
            "U05-dictionary",
            "the table Dictionary before the blocks",
            first.to_bytes(),
            "table",
        ),
        Entry::unsupported(
            "U05-dictionary-of-a-block",
            "a block with a table Dictionary between two others",
            between(Block::new(&cases::text(800)).with_tables(&tables(&dictionary))),
            "table",
        ),
        Entry::unsupported(
            "U05-dictionary-at-the-end",
            "a table Dictionary after the Seek_Table",
            at_the_end(&dictionary),
            "table",
        ),
        Entry::unsupported(
            "U05-table-of-a-block",
            "a block with a table of the private Type 7FFF between two others",
            between(block),
            "table",
        ),
        Entry::unsupported(
            "U05-table-at-the-end",
            "a table of Type 0002 after the Seek_Table",
            at_the_end(&[(2, b"")]),
            "table",
        ),
    ]
}
