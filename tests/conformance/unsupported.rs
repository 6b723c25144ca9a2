//! Files that are not damaged, and that this version cannot restore: unknown ids, with other blocks
//! and frames around, and other versions.

use crate::common::{cases, compressed};
use crate::containers::three_blocks;
use crate::filters::{MATCHES, REGIONS};
use crate::frames::{Block, Filter, Frame, other_frame, tables};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::{DRAFT, VERSION};
use std::sync::LazyLock;

/// Parts of the messages about a file of the next draft.
static NEXT_DRAFT: LazyLock<[String; 2]> = LazyLock::new(|| {
    [
        format!("draft {} of the bwz format", DRAFT + 1),
        format!("this bwz reads draft {DRAFT}"),
    ]
});

/// Files that are unsupported.
pub fn entries() -> Vec<Entry> {
    let mut all = versions();
    all.extend(frames());
    all.extend(blocks());
    all.extend(unknown_tables());
    all
}

fn versions() -> Vec<Entry> {
    let sound = Patient(compressed(&cases::text(900), 1 << 20));
    let version = |version: u8| sound.clone().frame(4, &[version]).0;
    let [next_draft, this_draft] = NEXT_DRAFT.each_ref().map(String::as_str);
    vec![
        Entry::unsupported(
            "R02-version-1",
            "Version 1: one of the drafts 1 to 8",
            version(1),
            "draft 8 of the bwz format, or an earlier one",
        ),
        Entry::unsupported(
            "R02-version-2",
            "Version 2, which may be a frozen one later",
            version(2),
            "version 2 of the bwz format",
        ),
        Entry::unsupported(
            "R02-next-draft",
            "the next draft",
            version(VERSION + 1),
            next_draft,
        ),
        Entry::unsupported(
            "R02-next-draft-other-checksum",
            "the next draft, with a checksum that is not where it is now",
            sound.set(4, &[VERSION + 1]).0,
            this_draft,
        ),
    ]
}

fn frames() -> Vec<Entry> {
    let data = compressed(&cases::text(700), 1 << 20);
    let kind = |kind| [&data[..], &other_frame(kind, *b"what", b"content"), &data].concat();
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
            "U04-filter-127-private",
            "a block with the private Filter_Id 127 between two known filters",
            filtered(&[region, same(127), no_matches]),
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
    let last = Frame {
        last_tables: tables(&[(2, b"")]),
        ..three_blocks()
    };
    vec![
        Entry::unsupported(
            "U05-dictionary",
            "the table Dictionary before the blocks",
            first.to_bytes(),
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
            last.to_bytes(),
            "table",
        ),
    ]
}
