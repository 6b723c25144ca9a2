//! A damaged Footer, and damaged frames without blocks.

use super::{damaged, text};
use crate::frames::{FRAME_HEADER_SIZE, other_frame, uint};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::VERSION;

/// Damaged footers and frames without blocks.
pub fn entries() -> Vec<Entry> {
    let mut all = footers();
    all.extend(frame_sizes());
    all.extend(seek_table_sizes());
    all.extend(without_blocks());
    all.extend(private_frames());
    all.extend(other_frames());
    all
}

fn footers() -> Vec<Entry> {
    let file = text();
    let footer = file.footer();
    let size = file.0.len();
    vec![
        damaged(
            "R21-magic",
            "a wrong Footer_Magic",
            text().set(size - 1, &[0]),
            "bwz footer",
        ),
        damaged(
            "R21-checksum",
            "a wrong Footer_Checksum",
            text().set(footer + 28, &[0; 4]),
            "footer is damaged",
        ),
        damaged(
            "R22-total-raw-size",
            "a Total_Raw_Size of 0 after a block",
            text().foot(0, &[0; 7]),
            "raw size does not match",
        ),
        damaged(
            "R22-stream-checksum",
            "a wrong Stream_Checksum",
            text().foot(16, &[0; 4]),
            "stream's checksum",
        ),
        damaged(
            "R22-version",
            "another Version in the Footer than in Frame_Header",
            text().foot(27, &[VERSION - 1]),
            "version",
        ),
    ]
}

const SIZES: &str = "sizes do not match the frame";

fn frame_sizes() -> Vec<Entry> {
    let size = text().0.len() as u64;
    let with = |frame_size: u64| text().foot(20, &uint(frame_size, 7));
    let two = Patient([text().0, text().0].concat());
    vec![
        damaged(
            "R22-frame-size",
            "a Frame_Size of 0",
            text().foot(20, &[0; 7]),
            SIZES,
        ),
        damaged(
            "R22-frame-size-73",
            "a Frame_Size of 73, less than any frame of data has",
            with(73),
            SIZES,
        ),
        damaged(
            "R22-frame-size-one-less",
            "a Frame_Size that leads to the second byte of Magic",
            with(size - 1),
            SIZES,
        ),
        damaged(
            "R22-frame-size-beyond-the-file",
            "a Frame_Size that is larger than the file",
            with(size + 1),
            SIZES,
        ),
        damaged(
            "R22-frame-size-largest",
            "a Frame_Size of 2^56 - 1",
            with((1 << 56) - 1),
            SIZES,
        ),
        damaged(
            "R22-frame-size-of-two-frames",
            "a second frame whose Frame_Size leads to the first frame",
            two.foot(20, &uint(2 * size, 7)),
            SIZES,
        ),
    ]
}

fn seek_table_sizes() -> Vec<Entry> {
    let right = (text().footer() - text().table()) as u64;
    let blocks = (text().table() - FRAME_HEADER_SIZE) as u64;
    let with = |seek_table_size: u64| text().foot(7, &uint(seek_table_size, 5));
    vec![
        damaged(
            "R22-seek-table-size",
            "a Seek_Table_Size of 0",
            text().foot(7, &[0; 5]),
            SIZES,
        ),
        damaged(
            "R22-seek-table-size-14",
            "a Seek_Table_Size of 14, less than any Seek_Table has",
            with(14),
            SIZES,
        ),
        damaged(
            "R22-seek-table-size-one-less",
            "a Seek_Table_Size that leads to the second byte of Seek_Marker",
            with(right - 1),
            SIZES,
        ),
        damaged(
            "R22-seek-table-size-to-a-block",
            "a Seek_Table_Size that leads to Sync_Marker of a block",
            with(right + blocks),
            SIZES,
        ),
        damaged(
            "R22-seek-table-size-into-the-header",
            "a Seek_Table_Size that leads into Frame_Header",
            with(right + blocks + 1),
            SIZES,
        ),
        damaged(
            "R22-seek-table-size-beyond-the-file",
            "a Seek_Table_Size that is larger than the file",
            with((1 << 40) - 1),
            SIZES,
        ),
    ]
}

fn without_blocks() -> Vec<Entry> {
    let empty = || Patient::of(&[]);
    vec![
        damaged(
            "R22-raw-size-without-blocks",
            "a Total_Raw_Size of 1 in a frame without blocks",
            empty().foot(0, &[1]),
            "raw size does not match",
        ),
        damaged(
            "R22-stream-checksum-without-blocks",
            "a Stream_Checksum of 1 in a frame without blocks",
            empty().foot(16, &[1]),
            "stream's checksum",
        ),
    ]
}

fn private_frames() -> Vec<Entry> {
    let private = || Patient(other_frame(128, *b"demo", b"content"));
    let misfit = "does not match the content";
    let reserved = "reserved bit of the frame header";
    vec![
        damaged(
            "R03-private-frame",
            "a wrong Header_Checksum in a private frame",
            private().set(22, &[0xEE]),
            "frame header is damaged",
        ),
        damaged(
            "R04-private-frame-flags",
            "Flags in a private frame",
            private().frame(6, &[1]),
            reserved,
        ),
        damaged(
            "R04-private-frame-check",
            "a Check_Type in a private frame",
            private().frame(7, &[128]),
            reserved,
        ),
        damaged(
            "R04-private-frame-release",
            "a Needed_Release in a private frame",
            private().frame(9, &[1]),
            reserved,
        ),
        damaged(
            "R21-private-frame",
            "a wrong Footer_Checksum in a private frame",
            private().set(23 + 7 + 28, &[0; 4]),
            "footer is damaged",
        ),
        damaged(
            "R22-private-frame-content",
            "the Content of a private frame does not have the Stream_Checksum",
            private().set(23, b"C"),
            misfit,
        ),
        damaged(
            "R22-private-frame-raw-size",
            "a private frame with a Total_Raw_Size",
            private().foot(0, &[1]),
            misfit,
        ),
        damaged(
            "R22-private-frame-features",
            "a private frame with Features in its Footer",
            private().foot(12, &[1]),
            misfit,
        ),
        damaged(
            "R22-private-frame-size",
            "a private frame with a wrong Frame_Size",
            private().foot(20, &[1]),
            misfit,
        ),
        damaged(
            "R22-private-frame-size-to-content",
            "a private frame whose Frame_Size leads to its Content",
            private().foot(20, &[43]),
            misfit,
        ),
        damaged(
            "R22-private-frame-size-of-two-frames",
            "a private frame whose Frame_Size leads to the frame before",
            Patient([private().0, private().0].concat()).foot(20, &[132]),
            misfit,
        ),
        damaged(
            "R22-private-frame-seek-table-size",
            "a private frame with a Seek_Table_Size",
            private().foot(7, &[1]),
            misfit,
        ),
        damaged(
            "R22-private-frame-checksum",
            "a wrong Stream_Checksum in a private frame without Content",
            Patient(other_frame(128, *b"demo", b"")).foot(16, &[1]),
            misfit,
        ),
        damaged(
            "R22-private-frame-version",
            "another Version in the Footer of a private frame than in its Frame_Header",
            private().foot(27, &[VERSION + 1]),
            "version",
        ),
        damaged(
            "R23-private-frame",
            "a file that ends within a private frame",
            private().cut(28),
            "was cut off",
        ),
    ]
}

/// Frames of the unknown kind 200, which are passed over.
fn other_frames() -> Vec<Entry> {
    let frame = || Patient(other_frame(200, *b"demo", b"of a later kind"));
    let misfit = "does not match the content";
    vec![
        damaged(
            "R22-frame-kind-200-raw-size",
            "a frame of kind 200 with a Total_Raw_Size",
            frame().foot(0, &[1]),
            misfit,
        ),
        damaged(
            "R22-frame-kind-200-features",
            "a frame of kind 200 with Features in its Footer",
            frame().foot(15, &[1]),
            misfit,
        ),
        damaged(
            "R22-frame-kind-200-seek-table-size",
            "a frame of kind 200 with a Seek_Table_Size",
            frame().foot(7, &[15]),
            misfit,
        ),
        damaged(
            "R22-frame-kind-200-content",
            "the Content of a frame of kind 200 does not have the Stream_Checksum",
            frame().set(FRAME_HEADER_SIZE, b"O"),
            misfit,
        ),
        damaged(
            "R22-frame-kind-200-size",
            "a frame of kind 200 with a wrong Frame_Size",
            frame().foot(20, &[73]),
            misfit,
        ),
    ]
}
