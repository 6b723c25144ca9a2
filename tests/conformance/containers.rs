//! Right files with parts that bwz does not write, or writes only if asked.

use crate::common::{self, cases, compressed};
use crate::frames::{
    Block, Frame, Payload, column_of, other_frame, packed, table, tables, take_varint, uint, varint,
};
use crate::kit::Entry;
use crate::patient::Patient;
use crate::seek_content::SeekContent;
use bwz::Effort;
use bwz::bwt::Sorter;
use bwz::internals::coder::{self, CodedBwt, Coding, SliceLimits};

/// The digests of `cases::text(3000)`.
pub const XXH3: [u8; 8] = 0x6eca_5436_ecc3_eac5_u64.to_be_bytes();
pub const BLAKE3: [u8; 32] = *b"\x87\xc8\x5d\x34\xc7\xaf\x73\xb7\xbf\x72\xd2\x5e\x98\x00\xe6\xe4\
    \x52\xdd\x10\x91\x87\x18\xbe\x96\xe3\x39\xf4\x83\x71\x05\xf2\x8f";

/// Types of tables.
pub const TOTAL_RAW_SIZE: u16 = 0x8010;
pub const METADATA: u16 = 0x8011;
pub const STREAM_CHECK: u16 = 0x8003;

/// Right files with unusual parts.
pub fn entries() -> Vec<Entry> {
    let mut all = other_kinds();
    all.extend(first_tables());
    all.extend(stream_checks());
    all.extend(unknown_parts());
    all.extend(seek_tables());
    all.extend(slices());
    all
}

/// A frame of three blocks, of different shapes and sizes.
pub fn three_blocks() -> Frame {
    Frame::of(&[
        Block::new(&cases::text(900)),
        Block::stored(b"in the middle\n"),
        Block::new(&cases::text(700)).with_tables(&tables(&[(0xC000, b"abc")])),
    ])
}

/// `raw` as a file of one block that is coded by context mixing.
pub fn best(raw: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let options = common::options(8 << 20).effort(Effort::Best);
    bwz::compress(raw, &mut file, &options).unwrap();
    file
}

fn other_kinds() -> Vec<Entry> {
    let text = cases::text(700);
    let data = compressed(&text, 1 << 20);
    let private = other_frame(128, *b"demo", b"hello");
    let around = [
        &private[..],
        &data,
        &other_frame(128, [0xFF; 4], b""),
        &data,
        &private,
    ];
    let kind_200 = Patient(other_frame(200, *b"demo", b"of a later kind"));
    let kind_200 = kind_200.frame(6, &[255, 3, 9, 1]).0;
    let padded = [&data[..], &[0; 100]].concat();
    vec![
        Entry::valid(
            "private-frame",
            "a private frame alone: an empty raw stream",
            b"",
            private.clone(),
        ),
        Entry::valid(
            "private-frames-around",
            "private frames before, between and after two frames of data",
            &text.repeat(2),
            around.concat(),
        ),
        Entry::valid(
            "frame-kind-200",
            "a frame of an unknown kind above 128, passed over; its Flags and Check_Type are ignored",
            &text,
            [&kind_200[..], &data].concat(),
        ),
        Entry::valid(
            "padding",
            "zeros after the last frame are padding",
            &text,
            padded,
        ),
    ]
}

/// The content of the table Metadata.
pub fn metadata(pairs: &[[&str; 2]]) -> Vec<u8> {
    let mut content = Vec::new();
    for text in pairs.as_flattened() {
        content.extend(varint(text.len() as u64));
        content.extend(text.bytes());
    }
    content
}

fn first_tables() -> Vec<Entry> {
    let frame = three_blocks();
    let raw = frame.raw();
    let size = uint(raw.len() as u64, 7);
    let notes = metadata(&[["comment", "a set of texts"], ["made of", "L\u{e4}rm"]]);
    let malformed = metadata(&[["key=", "no key has ="]]);
    // Key_Size, a key of one byte and a Value_Size of three bytes come before the value.
    let [most, too_many] = [65_531, 65_532].map(|size| metadata(&[["k", &"v".repeat(size)]]));
    assert_eq!(most.len(), 1 << 16);
    let with = |all: &[(u16, &[u8])]| {
        Frame {
            first_tables: tables(all),
            ..frame.clone()
        }
        .to_bytes()
    };
    vec![
        Entry::valid(
            "total-raw-size",
            "the table Total_Raw_Size before the blocks",
            &raw,
            with(&[(TOTAL_RAW_SIZE, &size)]),
        ),
        Entry::valid(
            "metadata",
            "the table Metadata, of two pairs",
            &raw,
            with(&[(METADATA, &notes)]),
        ),
        Entry::valid(
            "metadata-malformed",
            "Metadata with a wrong key, passed over with a warning",
            &raw,
            with(&[(METADATA, &malformed)]),
        ),
        Entry::valid(
            "metadata-empty",
            "Metadata without a pair, passed over with a warning",
            &raw,
            with(&[(METADATA, b"")]),
        ),
        Entry::valid(
            "metadata-large",
            "Metadata of 65537 bytes, passed over with a warning",
            &raw,
            with(&[(METADATA, &too_many)]),
        ),
        Entry::valid(
            "metadata-largest",
            "Metadata of 65536 bytes",
            &raw,
            with(&[(METADATA, &most)]),
        ),
        Entry::valid(
            "metadata-and-size",
            "Metadata and Total_Raw_Size",
            &raw,
            with(&[(METADATA, &notes), (TOTAL_RAW_SIZE, &size)]),
        ),
    ]
}

/// A frame with a second check of this type, of the raw bytes `cases::text(3000)`.
pub fn checked(check_type: u8, digest: Option<&[u8]>) -> Frame {
    let raw = cases::text(3000);
    Frame {
        check_type,
        last_tables: digest.map_or(vec![], |digest| tables(&[(STREAM_CHECK, digest)])),
        ..Frame::of(&[Block::new(&raw[..2000]), Block::new(&raw[2000..])])
    }
}

fn stream_checks() -> Vec<Entry> {
    let text = cases::text(3000);
    let of_nothing = 0x2d06_8005_38d3_94c2_u64.to_be_bytes();
    let empty = Frame {
        check_type: 128,
        last_tables: tables(&[(STREAM_CHECK, &of_nothing)]),
        ..Frame::default()
    };
    let unknown = checked(200, Some(b"of a later version")).to_bytes();
    let without_table = checked(200, None).to_bytes();
    let xxh3 = checked(128, Some(&XXH3)).to_bytes();
    let blake3 = checked(129, Some(&BLAKE3)).to_bytes();
    vec![
        Entry::valid("check-xxh3", "Check_Type 128: XXH3 of 64 bits", &text, xxh3),
        Entry::valid(
            "check-xxh3-empty",
            "XXH3 of an empty raw stream",
            b"",
            empty.to_bytes(),
        ),
        Entry::valid("check-blake3", "Check_Type 129: BLAKE3", &text, blake3),
        Entry::valid(
            "check-unknown",
            "an unknown Check_Type above 128: read without this check",
            &text,
            unknown,
        ),
        Entry::valid(
            "check-unknown-without-table",
            "an unknown Check_Type above 128 without the table Stream_Check",
            &text,
            without_table,
        ),
    ]
}

fn unknown_parts() -> Vec<Entry> {
    let text = cases::text(900);
    let unknown: [(u16, &[u8]); 3] = [(0x8005, b"content"), (0xFFFF, b""), (0xC000, &[7; 300])];
    let everywhere = Frame {
        first_tables: tables(&unknown),
        last_tables: tables(&unknown),
        ..Frame::of(&[
            Block::new(&text).with_tables(&tables(&unknown)),
            Block::new(&text),
        ])
    };
    let elsewhere: [(u16, &[u8]); 2] = [(TOTAL_RAW_SIZE, b"\x01"), (METADATA, b"no pairs")];
    let elsewhere = Frame {
        first_tables: tables(&[(STREAM_CHECK, b"no digest")]),
        last_tables: tables(&elsewhere),
        ..Frame::of(&[Block::new(&text).with_tables(&tables(&elsewhere))])
    };
    let feature = Frame {
        announced: 0x4000_2000,
        ..Frame::of(&[Block::new(&text)])
    };
    let later = Patient(feature.to_bytes()).frame(8, &[4, 2]);
    vec![
        Entry::valid(
            "tables-unknown",
            "tables of unknown Types in all three places, passed over",
            &everywhere.raw(),
            everywhere.to_bytes(),
        ),
        Entry::valid(
            "tables-elsewhere",
            "tables of known Types where they have no meaning, passed over",
            &text,
            elsewhere.to_bytes(),
        ),
        Entry::valid(
            "features-unknown",
            "unknown bits of Features, and the Needed_Release 2.4: both only announce",
            &text,
            later.0,
        ),
    ]
}

/// Blocks with all kinds of columns in their Seek_Table.
fn seek_tables() -> Vec<Entry> {
    let mut frame = three_blocks();
    let [a, b] = [frame.blocks[0].clone(), frame.blocks[2].clone()];
    let filtered = cases::text(700).repeat(6);
    let file = compressed(&filtered, 1 << 20);
    frame.blocks.extend([
        a.clone(),
        Block::of(&filtered, &file),
        b,
        Block::stored(b"x"),
        Block::stored(&[b'\n'; 40]),
        a,
    ]);
    let raw = frame.raw();
    let content = SeekContent::of(&frame);
    let with = |content: Vec<u8>| {
        Frame {
            seek_content: Some(content),
            ..frame.clone()
        }
        .to_bytes()
    };
    let mut all = vec![
        Entry::valid(
            "seek-table-shapes",
            "nine blocks of four shapes",
            &raw,
            frame.to_bytes(),
        ),
        Entry::valid(
            "seek-table-wide",
            "columns of Width 40 with a Least of 0",
            &raw,
            with(content.with_columns(|values| column_of(values, 0, 40))),
        ),
        Entry::valid(
            "seek-table-long-varints",
            "varints of more bytes than they need",
            &raw,
            with(content.with_columns(|values| {
                let least = *values.iter().min().unwrap();
                let column = column_of(values, least, 33);
                let mut rest = &column[..];
                take_varint(&mut rest);
                let mut long = varint(least);
                *long.last_mut().unwrap() |= 128;
                [&long, &[128, 0][..], rest].concat()
            })),
        ),
    ];
    let text = cases::text(900);
    let one = Frame::of(&[Block::new(&text)]);
    let mut bare = one.content();
    // Least, below 128, and Width 0.
    bare.truncate(bare.len() - 2);
    bare[1] = 0;
    let bare = Frame {
        seek_content: Some(bare),
        ..one
    };
    all.push(Entry::valid(
        "seek-table-no-line-feeds",
        "a Seek_Table without Line_Feeds",
        &text,
        bare.to_bytes(),
    ));
    all
}

fn slices() -> Vec<Entry> {
    let text = cases::text(9000);
    let uneven = |rate| {
        let pieces = common::uneven_pieces(&text).into_iter();
        let blocks: Vec<_> = pieces
            .map(|piece| Block::from_bytes(piece, common::block_of(piece, rate)))
            .collect();
        Frame::of(&blocks).to_bytes()
    };
    let many = many_slices();
    let stored = stored_slice();
    vec![
        Entry::valid(
            "uneven",
            "blocks of seven sizes, from 1 byte on",
            &text,
            uneven(None),
        ),
        Entry::valid(
            "uneven-indexed",
            "the same blocks with an Index",
            &text,
            uneven(Some(16)),
        ),
        Entry::valid(
            "slices-wide-arrays",
            "ten slices, dense samples, and arrays of Width 40",
            &many.raw,
            Frame::of(std::slice::from_ref(&many)).to_bytes(),
        ),
        Entry::valid(
            "slice-stored",
            "static rANS with a stored slice between two others",
            &stored.raw,
            Frame::of(std::slice::from_ref(&stored)).to_bytes(),
        ),
    ]
}

/// Several slices in a small block, dense samples, arrays of the maximum width.
fn many_slices() -> Block {
    let raw = cases::text(150_000);
    let limits = SliceLimits {
        runs: 1 << 14,
        bytes: 1 << 14,
    };
    let bwt = Sorter::Cpu.sort(&raw, 8).unwrap();
    block_of_bwt(
        raw,
        coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans),
        &bwt.samples,
        40,
    )
}

/// Three slices, of which the second is stored.
fn stored_slice() -> Block {
    let raw = cases::text(20_000);
    let limits = SliceLimits {
        runs: 1 << 20,
        bytes: 7000,
    };
    let bwt = Sorter::Cpu.sort(&raw, 8).unwrap();
    let mut coded = coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans);
    let first = coded.raw_sizes[0] as usize;
    let second = coded.raw_sizes[1] as usize;
    coded.slices[1] = bwt.bytes[first..first + second].to_vec();
    assert_eq!(coded.slices.len(), 3);
    block_of_bwt(raw, coded, &bwt.samples, 20)
}

/// A block of static rANS with these slices, whose arrays have this Width.
pub fn block_of_bwt(raw: Vec<u8>, coded: CodedBwt, samples: &[u64], width: u8) -> Block {
    let count = coded.slices.len();
    let of = |values: Vec<u64>| match values.is_empty() {
        true => vec![],
        false => packed(width, &values),
    };
    let raw_sizes = coded
        .raw_sizes
        .iter()
        .map(|&size| u64::from(size));
    let coded_sizes = coded
        .slices
        .iter()
        .map(|slice| slice.len() as u64);
    let sizes = [
        of(vec![count as u64]),
        of(raw_sizes.take(count - 1).collect()),
        of(vec![coded.models.len() as u64]),
        of(coded_sizes.take(count - 1).collect()),
    ];
    let payload = Payload {
        sizes: sizes.concat(),
        models: coded.models,
        samples: of(samples.to_vec()),
        slices: coded.slices.concat(),
        ..Payload::default()
    };
    Block {
        shape: [1, 0, 0, 3],
        raw,
        payload: payload.to_bytes(),
    }
}

#[test]
fn parts_of_a_payload_are_found() {
    let text = cases::text(9000);
    for rate in [None, Some(16)] {
        let block = Block::from_bytes(&text, common::block_of(&text, rate));
        assert!(Payload::of(&block).to_bytes() == block.payload);
    }
    assert_eq!(table(1, b"").len(), 7);
    assert_eq!(uint(258, 5), [2, 1, 0, 0, 0]);
}
