//! A damaged Index.

use super::damaged;
use crate::common::{cases, indexed};
use crate::frames::{
    Block, Frame, HAS_FILTERS, INDEXED, Payload, column, table, take_varint, varint,
};
use crate::kit::Entry;
use crate::patient::Patient;

/// Offsets in the Content of the Index of a block with one slice and at least 128 bytes.
const FRONT_CHECKSUM: usize = 0;
const SAMPLES_CHECKSUM: usize = 4;
const PRIMARY_INDEX: usize = 8;
const SEARCHED: usize = 13;
const SLICE_CHECKSUM: usize = 18;
const HEAD: usize = 22;
const TAIL: usize = HEAD + 128;
const COUNTS: usize = TAIL + 128;
const OMITTED: usize = COUNTS + 32;
const LISTS: usize = OMITTED + 1;

/// Bytes of the values `a`, `b` and `d`: about 1200, 600 and 200 times.
fn sound() -> Block {
    let raw: Vec<u8> = cases::random(2000, 10)
        .iter()
        .map(|&value| b"aaaaaabbbd"[usize::from(value)])
        .collect();
    Block::of(&raw, &indexed(&raw, 1 << 20, Some(0)))
}

/// The block with another Index, and the Checksum of its table made right.
fn with_content(content: &[u8]) -> Block {
    let mut parts = Payload::of(&sound());
    let table = table(0x8020, content);
    parts.tables = [varint(table.len() as u64), table].concat();
    Block {
        payload: parts.to_bytes(),
        ..sound()
    }
}

fn content() -> Vec<u8> {
    let parts = Payload::of(&sound());
    let mut rest = &parts.tables[..];
    take_varint(&mut rest);
    rest = &rest[2..];
    let size = take_varint(&mut rest) as usize;
    rest[4..][..size].to_vec()
}

fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Patient {
    let mut content = content();
    change(&mut content);
    Patient::of(&[with_content(&content)])
}

fn put(at: usize, bytes: &[u8]) -> Patient {
    changed(|content| content[at..at + bytes.len()].copy_from_slice(bytes))
}

/// Number of times that each of the bytes occurs in the only slice.
fn counts(raw: &[u8]) -> [u64; 3] {
    b"abd".map(|byte| raw.iter().filter(|&&other| other == byte).count() as u64)
}

/// Lists: a value of order 3 for each list that is not omitted.
fn lists(counts: &[u64]) -> Vec<u8> {
    let mut bits = Vec::new();
    for count in counts {
        let value = count + 8;
        let width = value.ilog2();
        bits.extend(vec![0; width as usize - 3]);
        bits.push(1);
        bits.extend((0..width).map(|bit| (value >> bit & 1) as u8));
        assert_ne!(*count, 0, "Zeros would follow");
    }
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (n, bit) in bits.iter().enumerate() {
        bytes[n / 8] |= bit << (n % 8);
    }
    bytes
}

/// The Index with other Lists.
fn with_lists(lists: &[u8]) -> Patient {
    changed(|content| {
        content.truncate(LISTS);
        content.extend(lists);
    })
}

/// A damaged Index.
pub fn entries() -> Vec<Entry> {
    let mut all = fields();
    all.extend(tables());
    all.extend(damaged_counts());
    all
}

fn fields() -> Vec<Entry> {
    let slices = "does not match its slices";
    let ends = "does not match its ends";
    vec![
        damaged(
            "R25-front-checksum",
            "a wrong Front_Checksum",
            put(FRONT_CHECKSUM, &[0; 4]),
            "checksum of the fields around it",
        ),
        damaged(
            "R25-samples-checksum",
            "a wrong Samples_Checksum",
            put(SAMPLES_CHECKSUM, &[0; 4]),
            "checksum of its samples",
        ),
        damaged(
            "R27-primary-index",
            "a Primary_Index that is not the first sample",
            put(PRIMARY_INDEX, &[1, 0]),
            "not the first sample",
        ),
        damaged(
            "R27-searched",
            "a Searched that is not Text_Size, in a block without filters",
            put(SEARCHED, &[0xCF]),
            "",
        ),
        damaged(
            "R28-searched",
            "a Searched above Text_Size",
            put(SEARCHED, &[0xD1]),
            "",
        ),
        damaged(
            "R27-slice-checksum",
            "a Slice_Checksum that is not that of the slice",
            put(SLICE_CHECKSUM, &[0; 4]),
            slices,
        ),
        damaged(
            "R27-head",
            "a Head that is not the beginning of the text",
            put(HEAD, b"z"),
            ends,
        ),
        damaged(
            "R27-tail",
            "a Tail that is not the end of the text",
            put(TAIL, b"z"),
            ends,
        ),
    ]
}

fn tables() -> Vec<Entry> {
    let mut parts = Payload::of(&sound());
    parts.tables = crate::frames::tables(&[(0xC000, b"abc")]);
    let missing = Block {
        payload: parts.to_bytes(),
        ..sound()
    };
    let mut unannounced = sound();
    unannounced.shape[2] &= !INDEXED;
    let mut filtered = Block::filtered(
        &Block::new(&cases::text(900)),
        &cases::text(900),
        &[crate::frames::Filter {
            id: crate::filters::REGIONS,
            size: 900,
            side: vec![0x84, 7, 0],
        }],
    )
    .with_tables(&crate::frames::tables(&[(0x8020, &[0; 400])]));
    filtered.shape[2] |= INDEXED | HAS_FILTERS;
    let frame = Frame::of(&[sound()]);
    let mut seek = frame.content();
    // Front_Sizes and Line_Feeds are columns of one value.
    let line_feeds = column(&[0]);
    let front = seek.len() - line_feeds.len() - 3;
    seek[front] ^= 1;
    let front_size = Frame {
        seek_content: Some(seek),
        ..frame
    };
    vec![
        damaged(
            "R26-missing",
            "an Indexed block without an Index",
            Patient::of(&[missing]),
            "no index where its header says so",
        ),
        damaged(
            "R26-not-announced",
            "an Index in a block that is not Indexed",
            Patient::of(&[unannounced]),
            "one that it does not mention",
        ),
        damaged(
            "R26-cut",
            "an Index that ends within Tail",
            changed(|content| content.truncate(TAIL + 5)),
            "ends too early",
        ),
        damaged(
            "R04-indexed-with-regions",
            "an Indexed block with the filter regions",
            Patient::of(&[filtered]),
            "both an index and filters",
        ),
        damaged(
            "R20-front-size",
            "a Front_Size that is not that of the block",
            Patient(front_size.to_bytes()),
            "does not match the blocks",
        ),
    ]
}

fn damaged_counts() -> Vec<Entry> {
    let raw = sound().raw;
    let [_, b, d] = counts(&raw);
    let good = lists(&[b, d]);
    assert_eq!(content()[OMITTED], 0);
    assert_eq!(content()[LISTS..], good);
    let invalid = "counts are not valid";
    let mut longer = good.clone();
    longer.push(0);
    let mut last_bits = good.clone();
    *last_bits.last_mut().unwrap() ^= 0x80;
    let letter = usize::from(b'd' / 8);
    let slices = "does not match its slices";
    vec![
        damaged(
            "R26-counts-of-no-bytes",
            "a Bitmap without a bit set",
            changed(|content| {
                content.truncate(COUNTS);
                content.extend([0; 33]);
            }),
            "counts",
        ),
        damaged(
            "R26-counts-omitted",
            "an Omitted of 3 with three lists",
            put(OMITTED, &[3]),
            "counts",
        ),
        damaged(
            "R26-counts-cut",
            "Counts without their last byte",
            with_lists(&good[..good.len() - 1]),
            invalid,
        ),
        damaged(
            "R26-counts-left-over",
            "Counts with one more byte",
            with_lists(&longer),
            invalid,
        ),
        damaged(
            "R26-counts-bits",
            "Counts with a bit set after the last value",
            with_lists(&last_bits),
            invalid,
        ),
        damaged(
            "R26-counts-32-zeros",
            "32 bits 0 before a bit 1",
            with_lists(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
            invalid,
        ),
        damaged(
            "R27-counts-count-above-raw-size",
            "a count above the Raw_Size of its slice",
            with_lists(&lists(&[2001, d])),
            invalid,
        ),
        damaged(
            "R27-counts-sum-above-raw-size",
            "counts of a slice that are together above its Raw_Size",
            with_lists(&lists(&[1999, d])),
            invalid,
        ),
        damaged(
            "R27-counts-count",
            "counts that are not those of the slice",
            with_lists(&lists(&[b - 1, d])),
            slices,
        ),
        damaged(
            "R27-counts-bitmap",
            "a Bitmap with the bit of a byte that does not occur in place of one that does",
            changed(|content| content[COUNTS + letter] ^= 1 << (b'd' % 8) | 1 << (b'e' % 8)),
            slices,
        ),
        damaged(
            "R27-counts-bitmap-more",
            "a Bitmap with one bit more, of a byte with the count 0",
            changed(|content| {
                content[COUNTS + letter] |= 1 << (b'e' % 8);
                content.truncate(LISTS);
                content.extend(with_a_zero(&[b, d]));
            }),
            slices,
        ),
    ]
}

/// Lists of these counts and of a count 0.
fn with_a_zero(counts: &[u64]) -> Vec<u8> {
    let good = lists(counts);
    let bits: usize = counts
        .iter()
        .map(|count| 2 * (count + 8).ilog2() as usize - 3 + 1)
        .sum();
    let mut bytes = good;
    // The value 0 of order 3: a bit 1 and three bits 0. There is one slice, so no Zeros follow.
    bytes.resize((bits + 4).div_ceil(8), 0);
    bytes[bits / 8] |= 1 << (bits % 8);
    bytes
}
