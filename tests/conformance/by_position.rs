//! The library as a reader by position (FORMAT.md section 7.2), on the files of the kit and on
//! files that only such a reader finds damaged. A reader in order ends before it comes to the
//! fault.

use crate::common::{cases, compressed, options};
use crate::containers::three_blocks;
use crate::frames::{Block, Frame, other_frame, uint};
use crate::kit::{Entry, Expected, KIT};
use crate::patient::Patient;
use crate::seek_content::SeekContent;
use bwz::internals::VERSION;
use bwz::{Archive, Error};
use std::io::Cursor;

/// Beginnings of names: faults that section 7.2 lists.
const LISTED: [&str; 15] = [
    "R01",
    "R03",
    "R04-frame",
    "R04-private",
    "R04-seek",
    "R05",
    "R14-column",
    "R19",
    "R20",
    "R21",
    "R22",
    "R23",
    "R24",
    "R31",
    "R32",
];

/// Files with such a fault that the reader does not find before it reads blocks or the Content of
/// frames and tables.
const UNSEEN: [&str; 13] = [
    // Possible values, which the block contradicts.
    "R20-raw-size",
    "R20-stored-size",
    "R20-shape",
    "R20-shape-filter-order",
    "R20-line-feeds",
    "R20-front-size",
    // Possible too: the block before Seek_Table could be that large.
    "R22-frame-size-of-two-frames",
    // These need all raw bytes, or all of Content.
    "R22-stream-checksum",
    "R22-private-frame-content",
    "R22-private-frame-checksum",
    "R22-frame-kind-200-content",
    "R32-xxh3-digest",
    "R32-blake3-digest",
];

/// Files whose fault the reader does not find when it restores all blocks.
const UNREAD: [&str; 10] = [
    "R20-line-feeds",
    "R20-front-size",
    "R22-stream-checksum",
    "R22-private-frame-content",
    "R22-private-frame-checksum",
    "R22-frame-kind-200-content",
    "R32-xxh3-digest",
    "R32-blake3-digest",
    // Tables that may be passed over.
    "R29-first-content",
    "R29-last-content",
];

type OpenFile<'a> = Archive<Cursor<&'a [u8]>>;

fn open(file: &[u8]) -> Result<OpenFile<'_>, Error> {
    Archive::open(Cursor::new(file), &options(1 << 20))
}

/// The whole raw stream.
fn read(archive: &mut OpenFile) -> Result<Vec<u8>, Error> {
    let all = 0..archive.raw_size();
    archive.extract(all)
}

fn damaged() -> impl Iterator<Item = &'static Entry> {
    KIT.iter()
        .filter(|entry| matches!(entry.expected, Expected::Damaged(_)))
}

fn is_damage<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Format { .. }))
}

#[test]
fn right_files_are_restored() {
    for entry in KIT.iter() {
        let Expected::Raw(raw) = &entry.expected else {
            continue;
        };
        let mut archive = open(&entry.file).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        assert!(read(&mut archive).unwrap() == *raw, "{}", entry.name);
    }
}

#[test]
fn faults_are_found_without_reading_a_block() {
    let mut unseen = Vec::new();
    for entry in damaged() {
        let is_listed = LISTED
            .iter()
            .any(|begin| entry.name.starts_with(begin));
        if is_listed && !is_damage(&open(&entry.file)) {
            unseen.push(&entry.name[..]);
        }
    }
    assert_eq!(sorted(&unseen), sorted(&UNSEEN));
}

#[test]
fn other_faults_are_found_when_blocks_are_read() {
    let mut unread = Vec::new();
    for entry in damaged() {
        // The range is refused at once, since a frame is unsupported.
        if entry.name == "R18-before-an-unknown-frame" {
            continue;
        }
        let result = open(&entry.file).and_then(|mut archive| read(&mut archive));
        if !is_damage(&result) {
            unread.push(&entry.name[..]);
        }
    }
    assert_eq!(sorted(&unread), sorted(&UNREAD));
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// Frames of another version, and other unsupported parts, with something readable around them.
#[test]
fn blocks_and_frames_around_unsupported_ones_are_read() {
    let mut refused = Vec::new();
    for entry in KIT.iter() {
        if !matches!(entry.expected, Expected::Unsupported(_)) {
            continue;
        }
        let name = &entry.name;
        let mut archive = match open(&entry.file) {
            Ok(archive) => archive,
            Err(Error::Version { .. }) => {
                refused.push(&name[..]);
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        };
        let mut unsupported = archive
            .frames()
            .iter()
            .filter(|frame| frame.unsupported.is_some())
            .count();
        for block in archive.blocks().to_vec() {
            // The whole raw stream would include that of the unsupported frame.
            match archive.extract(block.raw.start..block.raw.end - 1) {
                Ok(_) => {}
                Err(Error::Unsupported { .. }) => unsupported += 1,
                Err(e) => panic!("{name}: {e}"),
            }
        }
        assert_eq!(unsupported, 1, "{name}");
    }
    // Files of one frame.
    let alone = [
        "R02-next-draft",
        "R02-next-draft-other-checksum",
        "R02-version-1",
        "R02-version-2",
        "R02-whole-frame",
        "R02-wrong-footer",
    ];
    assert_eq!(sorted(&refused), alone);
}

#[test]
fn a_frame_that_is_unsupported_may_be_damaged() {
    let mut wrong = Vec::new();
    for (name, file) in unsupported_and_damaged() {
        let result = open(&file);
        if !is_damage(&result) {
            wrong.push(format!("{name}: {:?}", result.err()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files with a frame or block that is unsupported, and a fault that is found by position.
fn unsupported_and_damaged() -> Vec<(&'static str, Vec<u8>)> {
    let sound = compressed(&cases::text(900), 1 << 20);
    let kind_1 = || Patient(other_frame(1, *b"what", b"content"));
    let next = [VERSION + 1];
    let other_version = || {
        Patient(sound.clone())
            .frame(4, &next)
            .foot(27, &next)
    };
    let after = |last: Patient| [&sound[..], &last.0].concat();
    let footer_checksum = other_version().footer() + 28;
    let unknown = Block {
        shape: [1, 2, 0, 3],
        raw: cases::text(800),
        payload: b"what".to_vec(),
    };
    let mut frame = three_blocks();
    frame.blocks[1] = unknown;
    let no_static_rans = Patient(frame.to_bytes()).foot(12, &[0]).0;
    vec![
        (
            "a kind 1 with a wrong Frame_Size",
            kind_1().foot(20, &[65]).0,
        ),
        (
            "a kind 1 whose Frame_Size leads to the frame before",
            after(kind_1().foot(20, &uint(sound.len() as u64 + 66, 7))),
        ),
        ("a kind 1 with a Seek_Table_Size", kind_1().foot(7, &[15]).0),
        (
            "another version with a Frame_Size of 40",
            after(other_version().foot(20, &uint(40, 7))),
        ),
        (
            "another version whose Frame_Size is too large",
            after(other_version().foot(20, &[255; 7])),
        ),
        (
            "another version with a wrong Footer_Checksum",
            after(other_version().set(footer_checksum, &[0; 4])),
        ),
        (
            "an unknown block with a Stored_Size of 41",
            with_stored_size(&frame, 41),
        ),
        ("Features of the Footer without a known bit", no_static_rans),
        (
            "an unknown coding in a frame with a wrong Checksum of the Seek_Table",
            with_wrong_checksum(&frame),
        ),
    ]
}

/// The frame with this Stored_Size of its second block.
fn with_stored_size(frame: &Frame, size: u64) -> Vec<u8> {
    let mut content = SeekContent::of(frame);
    content.stored_sizes[1] = size;
    let frame = Frame {
        seek_content: Some(content.to_bytes()),
        ..frame.clone()
    };
    frame.to_bytes()
}

fn with_wrong_checksum(frame: &Frame) -> Vec<u8> {
    let file = Patient(frame.to_bytes());
    // The last byte of Line_Feeds.
    let last = file.footer() - 1;
    let byte = file.0[last] ^ 1;
    file.set(last, &[byte]).0
}
