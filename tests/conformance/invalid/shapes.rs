//! Damaged shapes of a Seek_Table whose other fields are right.

use super::damaged;
use super::seek_tables::changed;
use crate::common::{cases, indexed};
use crate::containers::three_blocks;
use crate::filters::{MATCHES, REGIONS};
use crate::frames::{Block, Filter, Frame, tables};
use crate::kit::Entry;
use crate::patient::Patient;
use crate::seek_content::SeekContent;

/// Bytes of a shape.
const KIND: usize = 0;
const CODING: usize = 1;
const FLAGS: usize = 2;
const RATE: usize = 3;

/// Damaged shapes.
pub fn entries() -> Vec<Entry> {
    let mut all = lists();
    all.extend(ids());
    all.extend(reserved());
    all.extend(filters());
    all
}

/// Three blocks: bwt, stored, and bwt with Tables.
fn with(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Patient {
    changed(&three_blocks(), |content| change(&mut content.shapes))
}

/// Three blocks, with one byte of one of their shapes changed.
fn byte(shape: usize, at: usize, to: u8) -> Patient {
    with(|shapes| shapes[shape][at] = to)
}

/// Three blocks, of which the first and the last have the same shape.
fn two_shapes() -> Frame {
    let [text, stored, _] = three_blocks().blocks.try_into().ok().unwrap();
    Frame::of(&[text.clone(), stored, text])
}

/// The lists of shapes and of their numbers.
fn lists() -> Vec<Entry> {
    let invalid = "entries are not valid";
    let mixing = [1, 1, 0, 3].to_vec();
    let three = |change: fn(&mut SeekContent)| changed(&three_blocks(), change);
    vec![
        damaged(
            "R20-shape-count-0",
            "no shapes",
            three(|content| content.shape_count = 0),
            invalid,
        ),
        damaged(
            "R20-shape-count-large",
            "four shapes of three blocks",
            changed(&three_blocks(), |content| {
                content.shape_count = 4;
                content.shapes.push(mixing.clone());
            }),
            invalid,
        ),
        damaged(
            "R20-shapes-equal",
            "two equal shapes",
            changed(&two_shapes(), |content| {
                content.shape_count = 3;
                content.shapes.push(content.shapes[0].clone());
                content.shape_numbers = vec![0, 1, 2];
            }),
            invalid,
        ),
        damaged(
            "R20-shape-not-used",
            "a shape that no block has",
            changed(&two_shapes(), |content| {
                content.shape_count = 3;
                content.shapes.push(mixing);
            }),
            invalid,
        ),
        damaged(
            "R20-shape-order",
            "shapes that are not in the order of their first use",
            three(|content| {
                content.shapes.rotate_left(1);
                content.shape_numbers = vec![2, 0, 1];
            }),
            invalid,
        ),
        damaged(
            "R20-shape-number",
            "the number of a shape that does not exist",
            three(|content| content.shape_numbers[2] = 3),
            invalid,
        ),
        damaged(
            "R20-shape",
            "a shape with another Sample_Rate_Log than its block",
            with(|shapes| shapes[0][RATE] ^= 1),
            "does not match the blocks",
        ),
    ]
}

/// Ids and rates that no block may have.
fn ids() -> Vec<Entry> {
    let invalid = "entries are not valid";
    vec![
        damaged(
            "R20-shape-block-kind-128",
            "a shape of Block_Kind 128",
            byte(1, KIND, 128),
            "",
        ),
        damaged(
            "R20-shape-coding-128",
            "a shape of Block_Kind bwt and Coding 128",
            byte(0, CODING, 128),
            "",
        ),
        damaged(
            "R20-shape-sample-rate-log-2",
            "a shape with a Sample_Rate_Log of 2",
            byte(0, RATE, 2),
            invalid,
        ),
        damaged(
            "R20-shape-sample-rate-log-17",
            "a shape with a Sample_Rate_Log of 17, of a block of 900 bytes",
            byte(0, RATE, 17),
            invalid,
        ),
    ]
}

/// Reserved bits, and the bit Indexed.
fn reserved() -> Vec<Entry> {
    vec![
        damaged(
            "R20-shape-stored-coding",
            "a shape of Block_Kind stored with a Coding",
            byte(1, CODING, 1),
            "",
        ),
        damaged(
            "R20-shape-stored-flags",
            "a shape of Block_Kind stored with a bit of Flags",
            byte(1, FLAGS, 2),
            "",
        ),
        damaged(
            "R20-shape-stored-rate",
            "a shape of Block_Kind stored with a Sample_Rate_Log",
            byte(1, RATE, 16),
            "",
        ),
        damaged(
            "R20-shape-flags",
            "a Reserved bit of Flags in a shape of Block_Kind bwt",
            byte(0, FLAGS, 8),
            "",
        ),
        damaged(
            "R20-shape-indexed-without-tables",
            "a shape that is Indexed and has no Tables",
            changed(&Frame::of(&[an_indexed_block()]), |content| {
                content.shapes[0][FLAGS] = 4;
            }),
            "",
        ),
        damaged(
            "R20-shape-indexed-with-regions",
            "a shape that is Indexed and has the filter regions",
            changed(&filtered(), |content| {
                content.shapes[0][FLAGS] |= 4;
                content.front_sizes = vec![100];
            }),
            "",
        ),
    ]
}

fn an_indexed_block() -> Block {
    let raw = cases::text(900);
    Block::of(&raw, &indexed(&raw, 1 << 20, Some(16)))
}

/// A block with Tables and the filters regions and long-range matches, which change nothing.
fn filtered() -> Frame {
    let raw = cases::text(900);
    let filter = |id, side: &[u8]| Filter {
        id,
        size: 900,
        side: side.to_vec(),
    };
    let filters = [
        filter(REGIONS, &[0x84, 7, 0]),
        filter(MATCHES, &[0, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let block = Block::filtered(&Block::new(&raw), &raw, &filters);
    Frame::of(&[block.with_tables(&tables(&[(0xC000, b"abc")]))])
}

/// The filters of a shape.
fn filters() -> Vec<Entry> {
    let list = |ids: &[u8]| {
        changed(&filtered(), |content| {
            content.shapes[0].truncate(4);
            content.shapes[0].push(ids.len() as u8);
            content.shapes[0].extend(ids);
        })
    };
    let count = "has no filters, or more";
    vec![
        damaged(
            "R20-shape-filter-count-0",
            "a shape with a Filter_Count of 0",
            list(&[]),
            count,
        ),
        damaged(
            "R20-shape-filter-count-9",
            "a shape with a Filter_Count of 9",
            list(&[1, 2, 3, 4, 5, 6, 7, 8, 9]),
            count,
        ),
        damaged(
            "R20-shape-filter-id-0",
            "a shape with a Filter_Id of 0",
            list(&[0, MATCHES]),
            "",
        ),
        damaged(
            "R20-shape-filter-id-128",
            "a shape with a Filter_Id of 128",
            list(&[REGIONS, 128]),
            "",
        ),
        damaged(
            "R20-shape-filter-twice",
            "a shape with a Filter_Id that occurs twice",
            list(&[REGIONS, REGIONS]),
            "",
        ),
        damaged(
            "R20-shape-filter-order",
            "a shape with the filters of its block in another order",
            list(&[MATCHES, REGIONS]),
            "does not match the blocks",
        ),
    ]
}
