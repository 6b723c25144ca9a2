//! A damaged Seek_Table.

use super::{damaged, text};
use crate::common::{cases, indexed};
use crate::containers::three_blocks;
use crate::frames::{Block, Frame, column_of, seek_table, varint};
use crate::kit::Entry;
use crate::patient::Patient;
use crate::seek_content::SeekContent;

/// A frame of three blocks with this Content of its Seek_Table.
fn with_content(content: Vec<u8>) -> Patient {
    let frame = Frame {
        seek_content: Some(content),
        ..three_blocks()
    };
    Patient(frame.to_bytes())
}

/// A frame of three blocks with a changed Content of its Seek_Table.
fn content(change: impl FnOnce(&mut SeekContent)) -> Patient {
    changed(&three_blocks(), change)
}

/// The frame with a changed Content of its Seek_Table.
pub fn changed(frame: &Frame, change: impl FnOnce(&mut SeekContent)) -> Patient {
    let mut content = SeekContent::of(frame);
    change(&mut content);
    let frame = Frame {
        seek_content: Some(content.to_bytes()),
        ..frame.clone()
    };
    Patient(frame.to_bytes())
}

/// A damaged Seek_Table.
pub fn entries() -> Vec<Entry> {
    let mut all = contents();
    all.extend(columns());
    all.extend(block_counts());
    all.extend(raw_sizes());
    all.extend(stored_sizes());
    all.extend(front_sizes());
    all
}

fn contents() -> Vec<Entry> {
    let sound = three_blocks().content();
    let no_blocks = Frame {
        seek_content: Some(vec![0, 1]),
        ..Frame::default()
    };
    let table = text().table();
    vec![
        damaged(
            "R04-seek-table-flags",
            "a Reserved bit of Content_Flags",
            content(|c| c.flags |= 4),
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
            content(|c| c.block_count = 2),
            "as many entries as there are blocks",
        ),
        damaged(
            "R20-line-feeds",
            "a number of line feeds that is not that of the block",
            content(|c| c.line_feeds[2] += 1),
            "the line feeds in the seek table",
        ),
        damaged(
            "R20-line-feeds-above-raw-size",
            "more line feeds than the block has bytes",
            content(|c| c.line_feeds[1] = 15),
            "",
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
        let mut content = SeekContent::of(&three_blocks());
        content.line_feeds.clear();
        let mut bytes = content.to_bytes();
        bytes.extend(line_feeds);
        with_content(bytes)
    };
    let line_feeds = SeekContent::of(&three_blocks()).line_feeds;
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

fn block_counts() -> Vec<Entry> {
    let table = text().table();
    let size = text().0[table + 8];
    vec![
        damaged(
            "R20-block-count-0",
            "a Block_Count of 0 after three blocks",
            with_content(vec![0, 0]),
            "as many entries as there are blocks",
        ),
        damaged(
            "R20-block-count-large",
            "a Block_Count of 1000, with columns of 1000 equal integers, after three blocks",
            with_content(equal_blocks(1000)),
            "as many entries as there are blocks",
        ),
        damaged(
            "R23-content-beyond-the-file",
            "a Content_Size that reaches behind the Footer",
            text().set(table + 8, &[size + 40]),
            "was cut off",
        ),
    ]
}

/// Content of `count` stored blocks of 13 bytes.
fn equal_blocks(count: u64) -> Vec<u8> {
    let shape = [1, 0, 0, 0, 0];
    let [raw_sizes, stored_sizes] = [[13, 0], [54, 0]];
    [&varint(count)[..], &[0], &shape, &raw_sizes, &stored_sizes].concat()
}

/// Blocks of 900, 400 and 400 bytes of text.
fn three_texts() -> Frame {
    Frame::of(&[900, 400, 400].map(|size| Block::new(&cases::text(size))))
}

fn raw_sizes() -> Vec<Entry> {
    let with = |change: fn(&mut [u64])| changed(&three_texts(), |c| change(&mut c.raw_sizes));
    let invalid = "entries are not valid";
    vec![
        damaged(
            "R20-raw-size",
            "a Raw_Size that is not that of the block",
            with(|sizes| sizes[1] += 1),
            "the seek table",
        ),
        damaged(
            "R20-raw-size-0",
            "a Raw_Size of 0, and the last block has the rest",
            with(|sizes| sizes[1] = 0),
            invalid,
        ),
        damaged(
            "R20-raw-size-above-block-size",
            "a Raw_Size above Block_Size",
            with(|sizes| sizes[0] = 901),
            "the seek table",
        ),
        damaged(
            "R20-last-raw-size-0",
            "Raw_Sizes that leave 0 bytes for the last block",
            with(|sizes| sizes[1] = 800),
            invalid,
        ),
        damaged(
            "R20-last-raw-size-below-0",
            "Raw_Sizes that are together above Total_Raw_Size",
            with(|sizes| sizes[1] = 801),
            invalid,
        ),
        damaged(
            "R20-last-raw-size-above-block-size",
            "Raw_Sizes that leave more than Block_Size for the last block",
            changed(
                &Frame::of(&[400, 400, 400].map(|size| Block::new(&cases::text(size)))),
                |c| c.raw_sizes[0] -= 1,
            ),
            "the seek table",
        ),
    ]
}

fn stored_sizes() -> Vec<Entry> {
    let of_last = |frame: &Frame| frame.blocks.last().unwrap().payload.len() as u64 + 41;
    let last = of_last(&three_texts());
    let with =
        |change: &dyn Fn(&mut [u64])| changed(&three_texts(), |c| change(&mut c.stored_sizes));
    let invalid = "entries are not valid";
    // The last block may have up to 440 bytes.
    let room = 441 - last;
    vec![
        damaged(
            "R20-stored-size",
            "a Stored_Size that is not that of the block",
            with(&|sizes| sizes[0] += 1),
            "the seek table",
        ),
        damaged(
            "R20-stored-size-41",
            "a Stored_Size of 41, and the last block has the rest",
            changed(&short_and_long(), |c| c.stored_sizes[0] = 41),
            invalid,
        ),
        damaged(
            "R20-stored-size-of-a-bwt-block",
            "a bwt block whose Stored_Size is 41 + Raw_Size",
            changed(&short_and_long(), |c| c.stored_sizes[0] = 441),
            invalid,
        ),
        damaged(
            "R20-stored-size-of-a-stored-block",
            "a stored block whose Stored_Size is not 41 + Raw_Size",
            content(|c| c.stored_sizes[1] += 1),
            invalid,
        ),
        damaged(
            "R20-last-stored-size-41",
            "Stored_Sizes that leave 41 bytes for the last block",
            with(&|sizes| sizes[0] += last - 41),
            invalid,
        ),
        damaged(
            "R20-last-stored-size-below-0",
            "Stored_Sizes that are together above the bytes of all blocks",
            with(&|sizes| sizes[0] += last + 1),
            invalid,
        ),
        damaged(
            "R20-last-stored-size-large",
            "Stored_Sizes that leave 41 + Raw_Size for a last block that is not stored",
            with(&|sizes| sizes[0] -= room),
            invalid,
        ),
    ]
}

/// A block of 400 bytes, and one that is larger in the file by more than 400 bytes.
fn short_and_long() -> Frame {
    Frame::of(&[
        Block::new(&cases::text(400)),
        Block::new(&cases::random(8000, 4)),
    ])
}

fn front_sizes() -> Vec<Entry> {
    let raw = cases::text(900);
    let one = Block::of(&raw, &indexed(&raw, 1 << 20, Some(16)));
    let stored_size = one.payload.len() as u64 + 41;
    let frame = Frame::of(&[one, Block::new(&raw)]);
    let with = |fronts: [u64; 2]| changed(&frame, |c| c.front_sizes = fronts.to_vec());
    let front = SeekContent::of(&frame).front_sizes[0];
    vec![
        damaged(
            "R20-front-size-of-another-block",
            "a Front_Size of a block that is not Indexed",
            with([front, 99]),
            "",
        ),
        damaged("R20-front-size-41", "a Front_Size of 41", with([41, 0]), ""),
        damaged(
            "R20-front-size-large",
            "a Front_Size that is Stored_Size",
            with([stored_size, 0]),
            "",
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
