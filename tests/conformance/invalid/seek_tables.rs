//! A damaged Seek_Table.

use super::{damaged, text};
use crate::containers::three_blocks;
use crate::frames::{Frame, column, column_of, seek_table, varint};
use crate::kit::Entry;
use crate::patient::Patient;

/// A frame of three blocks with this Content of its Seek_Table.
fn with_content(content: Vec<u8>) -> Patient {
    let frame = Frame {
        seek_content: Some(content),
        ..three_blocks()
    };
    Patient(frame.to_bytes())
}

/// The parts of the Content of three blocks.
struct Content {
    /// Up to Shape_Count.
    start: Vec<u8>,
    shapes: Vec<u8>,
    shape_numbers: Vec<u64>,
    raw_sizes: Vec<u64>,
    stored_sizes: Vec<u64>,
    line_feeds: Vec<u64>,
}

impl Content {
    fn of_three_blocks() -> Self {
        let blocks = three_blocks().blocks;
        let content = Content {
            start: vec![3, 1, 3],
            shapes: blocks
                .iter()
                .flat_map(|block| block.shape)
                .collect(),
            shape_numbers: vec![0, 1, 2],
            raw_sizes: blocks[..2]
                .iter()
                .map(|block| block.raw.len() as u64)
                .collect(),
            stored_sizes: blocks[..2]
                .iter()
                .map(|block| block.payload.len() as u64 + 41)
                .collect(),
            line_feeds: blocks
                .iter()
                .map(|block| {
                    block
                        .raw
                        .iter()
                        .filter(|&&byte| byte == b'\n')
                        .count() as u64
                })
                .collect(),
        };
        assert!(content.to_bytes() == three_blocks().content());
        content
    }

    fn to_bytes(&self) -> Vec<u8> {
        [
            &self.start[..],
            &self.shapes,
            &column(&self.shape_numbers),
            &column(&self.raw_sizes),
            &column(&self.stored_sizes),
            &column(&self.line_feeds),
        ]
        .concat()
    }
}

/// A frame of three blocks with a changed Content of its Seek_Table.
fn content(change: impl FnOnce(&mut Content)) -> Patient {
    let mut content = Content::of_three_blocks();
    change(&mut content);
    with_content(content.to_bytes())
}

/// A damaged Seek_Table.
pub fn entries() -> Vec<Entry> {
    let mut all = contents();
    all.extend(columns());
    all
}

fn contents() -> Vec<Entry> {
    let sound = three_blocks().content();
    let no_blocks = Frame {
        seek_content: Some(vec![0, 1]),
        ..Frame::default()
    };
    let table = text().table();
    let misfit = "the seek table";
    let invalid = "entries are not valid";
    vec![
        damaged(
            "R04-seek-table-flags",
            "a Reserved bit of Content_Flags",
            content(|c| c.start[1] |= 4),
            "reserved bit of the seek table",
        ),
        damaged(
            "R19-checksum",
            "a wrong Checksum of the Seek_Table",
            text().set(table + 9, &[0; 4]),
            "seek table is damaged",
        ),
        damaged(
            "R19-content",
            "a changed byte in the Content of the Seek_Table",
            text().set(table + 14, &[9]),
            "seek table is damaged",
        ),
        damaged(
            "R20-block-count",
            "a Block_Count of 2 after three blocks",
            content(|c| c.start[0] = 2),
            "as many entries as there are blocks",
        ),
        damaged(
            "R20-shape-count-0",
            "no shapes",
            content(|c| c.start[2] = 0),
            invalid,
        ),
        damaged(
            "R20-shapes-equal",
            "two equal shapes",
            content(|c| {
                let first = c.shapes[..4].to_vec();
                c.start[2] = 4;
                c.shapes.extend(first);
                c.shape_numbers = vec![0, 1, 2];
            }),
            invalid,
        ),
        damaged(
            "R20-shape-order",
            "shapes that are not in the order of their first use",
            content(|c| {
                c.shapes.rotate_left(4);
                c.shape_numbers = vec![2, 0, 1];
            }),
            invalid,
        ),
        damaged(
            "R20-shape-number",
            "the number of a shape that does not exist",
            content(|c| c.shape_numbers[2] = 3),
            invalid,
        ),
        damaged(
            "R20-shape",
            "a shape with another Sample_Rate_Log than its block",
            content(|c| c.shapes[3] ^= 1),
            misfit,
        ),
        damaged(
            "R20-raw-size",
            "a Raw_Size that is not that of the block",
            content(|c| c.raw_sizes[1] += 1),
            misfit,
        ),
        damaged(
            "R20-stored-size",
            "a Stored_Size that is not that of the block",
            content(|c| c.stored_sizes[0] += 1),
            misfit,
        ),
        damaged(
            "R20-line-feeds",
            "a number of line feeds that is not that of the block",
            content(|c| c.line_feeds[2] += 1),
            "the line feeds in the seek table",
        ),
        damaged(
            "R20-line-feeds-without-blocks",
            "Has_Line_Feeds in a frame without blocks",
            Patient(no_blocks.to_bytes()),
            "reserved bit of the seek table",
        ),
        damaged(
            "R20-content-cut",
            "Content that is one byte too short",
            with_content(sound[..sound.len() - 1].to_vec()),
            "longer than the block",
        ),
        damaged(
            "R20-content-left-over",
            "Content that is one byte too long",
            with_content([&sound[..], &[0]].concat()),
            "seek table has the wrong size",
        ),
        damaged(
            "R20-content-size",
            "a Content_Size above 64 + 64 * Block_Count",
            with_content([&sound[..], &[0; 300]].concat()),
            "seek table has the wrong size",
        ),
        damaged(
            "R20-varint",
            "a Block_Count of 7 bytes, which is no varint",
            with_content([&[0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0], &sound[1..]].concat()),
            "seek table",
        ),
    ]
}

fn columns() -> Vec<Entry> {
    let with = |line_feeds: Vec<u8>| {
        let mut content = Content::of_three_blocks();
        content.line_feeds = vec![0];
        let mut bytes = content.to_bytes();
        bytes.truncate(bytes.len() - 2);
        bytes.extend(line_feeds);
        with_content(bytes)
    };
    let line_feeds = Content::of_three_blocks().line_feeds;
    let mut bits = column_of(&line_feeds, 0, 7);
    *bits.last_mut().unwrap() |= 128;
    let most = [&varint((1 << 40) - 1)[..], &[1, 1]].concat();
    vec![
        damaged(
            "R14-column-width-41",
            "a Column of Width 41",
            with([&[0, 41][..], &[0; 16]].concat()),
            "impossible width",
        ),
        damaged(
            "R14-column-bits",
            "a Column with a bit set after its last value",
            with(bits),
            "bits set after its last value",
        ),
        damaged(
            "R14-column-integer",
            "a Column with an integer of 2^40",
            with(most),
            "larger than any block",
        ),
        damaged(
            "R20-column-least",
            "a Column whose Least is no varint",
            with(vec![128; 8]),
            "out of range",
        ),
    ]
}

#[test]
fn a_seek_table_is_these_bytes() {
    assert_eq!(
        seek_table(&[0, 0], &[])[8..],
        [2, 0x7C, 0x0D, 0xC5, 0xFC, 0, 0]
    );
}
