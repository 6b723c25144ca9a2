//! Damaged files, FORMAT.md chapter 16: one or more for each number. Here are those whose fault is
//! in the container.

mod endings;
mod features;
mod fields;
mod filters;
mod footers;
mod index;
mod payload;
mod seek_tables;
mod sequences;
mod shapes;
mod tables;

use crate::common::cases;
use crate::frames::{Block, other_frame};
use crate::kit::Entry;
use crate::patient::{BLOCK, PAYLOAD, Patient};

/// Damaged files.
pub fn entries() -> Vec<Entry> {
    [
        frame_headers(),
        block_headers(),
        seek_tables::entries(),
        shapes::entries(),
        footers::entries(),
        ends(),
        in_two_ways(),
        features::entries(),
        payload::entries(),
        endings::entries(),
        index::entries(),
        tables::entries(),
        filters::entries(),
        sequences::entries(),
        fields::entries(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A file of one block of text.
fn text() -> Patient {
    Patient::of(&[Block::new(&cases::text(900))])
}

/// A file of one stored block.
fn stored() -> Patient {
    Patient::of(&[Block::stored(&cases::random(50, 256))])
}

/// A file of one block of an unknown Block_Kind.
fn unknown_kind() -> Patient {
    Patient::of(&[Block {
        shape: [2, 0, 0, 0],
        raw: cases::text(900),
        payload: b"what".to_vec(),
    }])
}

fn damaged(name: &str, reason: &'static str, file: Patient, says: &'static str) -> Entry {
    Entry::damaged(name, reason, file.0, says)
}

fn frame_headers() -> Vec<Entry> {
    let empty = Patient::of(&[]);
    let not_bwz = "not a bwz file";
    let reserved = "reserved bit of the frame header";
    vec![
        damaged(
            "R01-empty",
            "a file of 0 bytes",
            Patient(vec![]),
            "it is empty",
        ),
        damaged(
            "R01-other-magic",
            "the Magic of bzip2",
            Patient(b"BZh91AY&SY".to_vec()),
            not_bwz,
        ),
        damaged(
            "R01-three-bytes",
            "three bytes that do not begin Magic",
            Patient(b"\xF7bz".to_vec()),
            not_bwz,
        ),
        damaged(
            "R01-zeros-first",
            "zeros before the first frame are no padding",
            Patient([&[0; 4], &text().0[..]].concat()),
            not_bwz,
        ),
        damaged(
            "R03-checksum",
            "a wrong Header_Checksum in Frame_Header",
            text().set(22, &[0xEE]),
            "frame header is damaged",
        ),
        damaged(
            "R04-frame-flags",
            "a Reserved bit of Flags in Frame_Header",
            text().frame(6, &[2]),
            reserved,
        ),
        damaged(
            "R05-block-size-0",
            "Block_Size 0, and a block follows",
            text().frame(14, &[0; 5]),
            "says it has none",
        ),
        damaged(
            "R05-block-size-without-blocks",
            "Block_Size 1, and no block follows",
            empty.frame(14, &[1]),
            "promises blocks",
        ),
        damaged(
            "R06-marker",
            "neither Sync_Marker nor Seek_Marker after Frame_Header",
            text().set(BLOCK, &[0]),
            "neither a block nor the seek table",
        ),
        damaged(
            "R06-marker-after-a-block",
            "neither Sync_Marker nor Seek_Marker after a block",
            {
                let file = text();
                let table = file.table();
                file.set(table + 7, &[0])
            },
            "neither a block nor the seek table",
        ),
    ]
}

fn block_headers() -> Vec<Entry> {
    let reserved = "reserved bit of the block header";
    let rate = "sample rate is out of range";
    let size = "coded size does not fit";
    vec![
        damaged(
            "R04-block-flags",
            "a Reserved bit of Flags in a bwt block",
            text().block(10, &[8]),
            reserved,
        ),
        damaged(
            "R04-indexed-without-tables",
            "Indexed is set and Has_Tables is not",
            text().block(10, &[4]),
            "index",
        ),
        damaged(
            "R04-stored-coding",
            "a stored block with a Coding",
            stored().block(9, &[1]),
            reserved,
        ),
        damaged(
            "R04-stored-flags",
            "a stored block with Has_Filters",
            stored().block(10, &[1]),
            reserved,
        ),
        damaged(
            "R04-stored-rate",
            "a stored block with a Sample_Rate_Log",
            stored().block(11, &[16]),
            reserved,
        ),
        damaged(
            "R07-checksum",
            "a wrong Header_Checksum in a Block_Header",
            text().set(BLOCK + 37, &[0]),
            "block header is damaged",
        ),
        damaged(
            "R08-block-kind-128",
            "Block_Kind 128: no block may be passed over",
            text().block(8, &[128]),
            "impossible kind",
        ),
        damaged(
            "R09-coding-128",
            "Coding 128: no coding may be passed over",
            text().block(9, &[128]),
            "impossible coding",
        ),
        damaged(
            "R09-sample-rate-log-2",
            "a Sample_Rate_Log of 2",
            text().block(11, &[2]),
            rate,
        ),
        damaged(
            "R09-sample-rate-log-17",
            "a Sample_Rate_Log of 17 in a block of 900 bytes",
            text().block(11, &[17]),
            rate,
        ),
        damaged(
            "R10-raw-size-0",
            "a stored block of no bytes",
            stored().block(12, &[0; 10]),
            "raw size is 0",
        ),
        damaged(
            "R10-raw-size-above-block-size",
            "a block that is larger than Block_Size",
            text().frame(14, &[131, 3]),
            "larger than the frame",
        ),
        damaged(
            "R11-stored",
            "a stored block whose Coded_Size is not Raw_Size",
            stored().block(17, &[49]),
            size,
        ),
        damaged(
            "R11-bwt-not-smaller",
            "a bwt block whose Coded_Size is Raw_Size",
            text().block(17, &[132, 3]),
            size,
        ),
        damaged(
            "R11-bwt-0",
            "a bwt block whose Coded_Size is 0",
            text().block(17, &[0; 5]),
            size,
        ),
        damaged(
            "R11-unknown-kind-0",
            "a block of an unknown Block_Kind whose Coded_Size is 0",
            unknown_kind().block(17, &[0; 5]),
            size,
        ),
        damaged(
            "R12-raw-offset",
            "a first block whose Raw_Offset is 1",
            text().block(26, &[1]),
            "raw offset",
        ),
        damaged(
            "R13-payload",
            "a wrong Payload_Checksum",
            text().set(PAYLOAD + 9, &[0]),
            "checksum of its payload",
        ),
        damaged(
            "R13-unknown-kind",
            "a wrong Payload_Checksum in a block of an unknown Block_Kind: damaged, not unsupported",
            unknown_kind().set(PAYLOAD + 1, b"W"),
            "checksum of its payload",
        ),
        damaged(
            "R18-raw-checksum",
            "a wrong Raw_Checksum in a bwt block",
            text().block(22, &[0; 4]),
            "restored bytes",
        ),
        damaged(
            "R18-raw-checksum-of-a-stored-block",
            "a wrong Raw_Checksum in a stored block",
            stored().block(22, &[0; 4]),
            "restored bytes",
        ),
    ]
}

fn ends() -> Vec<Entry> {
    let footer = text().footer();
    let table = text().table();
    let followed = |by: &[u8]| Patient([&text().0[..], by].concat());
    let cut = "was cut off";
    let garbage = "trailing garbage";
    let padding = "here is another byte";
    let all = text();
    vec![
        damaged(
            "R23-in-magic",
            "a file of the first two bytes of Magic",
            text().cut(2),
            cut,
        ),
        damaged(
            "R23-in-frame-header",
            "a file that ends within Frame_Header",
            text().cut(10),
            cut,
        ),
        damaged(
            "R23-in-block-header",
            "a file that ends within a Block_Header",
            text().cut(BLOCK + 20),
            cut,
        ),
        damaged(
            "R23-in-payload",
            "a file that ends within a payload",
            text().cut(PAYLOAD + 50),
            cut,
        ),
        damaged(
            "R23-in-seek-table",
            "a file that ends within the Seek_Table",
            text().cut(table + 15),
            cut,
        ),
        damaged(
            "R23-before-footer",
            "a file that ends before the Footer",
            text().cut(footer),
            cut,
        ),
        damaged(
            "R23-in-the-next-magic",
            "a frame followed by the first two bytes of Magic",
            followed(&[0xF7, b'b']),
            cut,
        ),
        damaged(
            "R24-garbage",
            "other bytes after the last frame",
            followed(b"more"),
            garbage,
        ),
        damaged(
            "R24-padding-with-another-byte",
            "zeros and another byte after the last frame",
            followed(&[0, 0, 0, 1, 0]),
            padding,
        ),
        damaged(
            "R24-padding-between-frames",
            "zeros between two frames are no padding",
            followed(&[&[0; 20], &all.0[..]].concat()),
            padding,
        ),
    ]
}

/// Files that are damaged in one place and unsupported behind it. A decoder that goes on there has
/// both results, and reports the damage.
fn in_two_ways() -> Vec<Entry> {
    let unknown = Block {
        shape: [2, 0, 0, 0],
        raw: cases::text(900),
        payload: b"what".to_vec(),
    };
    let blocks = Patient::of(&[Block::new(&cases::text(900)), unknown]);
    let frames = |first: Patient| Patient([first.0, other_frame(1, *b"what", b"content")].concat());
    vec![
        damaged(
            "R13-before-an-unknown-block",
            "a wrong Payload_Checksum, and the next block is unsupported",
            blocks.set(PAYLOAD + 9, &[0]),
            "checksum of its payload",
        ),
        damaged(
            "R18-before-an-unknown-frame",
            "a wrong Raw_Checksum, and the next frame is unsupported",
            frames(stored().block(22, &[0; 4])),
            "restored bytes",
        ),
    ]
}
