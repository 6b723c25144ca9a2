//! Damaged lists of filters, regions and matches.

use super::damaged;
use crate::common::cases;
use crate::filters::{FIELDS, MATCHES, REGIONS};
use crate::frames::{Block, Filter, HAS_FILTERS, Payload};
use crate::kit::Entry;
use crate::patient::Patient;

/// Bytes of the block that has the filters.
const SIZE: u64 = 600;

/// The number 600 as a varint.
const ALL: [u8; 2] = [0xD8, 4];

/// One region of all bytes that stays unchanged.
const PLAIN: [u8; 3] = [ALL[0], ALL[1], 0];

/// No matches.
const NO_MATCHES: [u8; 10] = [0, 8, 0, 0, 0, 0, 0, 0, 0, 0];

/// Damaged filters.
pub fn entries() -> Vec<Entry> {
    let mut all = lists();
    all.extend(sides());
    all.extend(regions());
    all.extend(matches());
    all
}

fn raw() -> Vec<u8> {
    cases::random(SIZE as usize, 4)
}

/// A block with these filters. The text has all bytes.
fn filtered(filters: &[(u8, u64, &[u8])]) -> Patient {
    let filters: Vec<_> = filters
        .iter()
        .map(|&(id, size, side)| Filter {
            id,
            size,
            side: side.to_vec(),
        })
        .collect();
    Patient::of(&[Block::filtered(&Block::new(&raw()), &raw(), &filters)])
}

/// A block with one filter that keeps the size.
fn side(id: u8, side: &[u8]) -> Patient {
    filtered(&[(id, SIZE, side)])
}

/// A block whose Filter_List is these bytes.
fn listed(list: &[u8]) -> Patient {
    let mut parts = Payload::of(&Block::new(&raw()));
    parts.list = list.to_vec();
    parts.side = PLAIN.to_vec();
    let mut block = Block::new(&raw());
    block.shape[2] |= HAS_FILTERS;
    block.payload = parts.to_bytes();
    Patient::of(&[block])
}

fn lists() -> Vec<Entry> {
    let count = "has no filters, or more";
    let id = "impossible filter";
    let size = "size of the filtered text";
    let regions = [REGIONS, ALL[0], ALL[1], 3];
    let twice = [&[2], &regions[..], &regions].concat();
    let same: Vec<u8> = (1..=9)
        .flat_map(|id| [id, ALL[0], ALL[1], 0])
        .collect();
    vec![
        damaged(
            "R28-filter-count-0",
            "a Filter_Count of 0",
            listed(&[0]),
            count,
        ),
        damaged(
            "R28-filter-count-9",
            "a Filter_Count of 9",
            listed(&[&[9], &same[..]].concat()),
            count,
        ),
        damaged(
            "R28-filter-id-0",
            "a Filter_Id of 0",
            filtered(&[(0, SIZE, &PLAIN)]),
            id,
        ),
        damaged(
            "R28-filter-id-128",
            "a Filter_Id of 128: no filter may be passed over",
            filtered(&[(128, SIZE, &PLAIN)]),
            id,
        ),
        damaged(
            "R28-filter-twice",
            "a Filter_Id that occurs twice",
            listed(&twice),
            id,
        ),
        damaged(
            "R28-filtered-size-0",
            "a Filtered_Size of 0",
            filtered(&[(REGIONS, 0, &PLAIN)]),
            size,
        ),
        damaged(
            "R28-filtered-size-large",
            "a Filtered_Size above Raw_Size",
            filtered(&[(REGIONS, SIZE + 1, &PLAIN)]),
            size,
        ),
        damaged(
            "R28-filtered-size-grows",
            "a second filter whose Filtered_Size is above that of the first",
            filtered(&[(FIELDS, 500, b""), (MATCHES, SIZE, &NO_MATCHES)]),
            size,
        ),
        damaged(
            "R28-filter-unknown-twice",
            "an unknown Filter_Id that occurs twice: damaged, not unsupported",
            filtered(&[(5, SIZE, b""), (5, SIZE, b"")]),
            id,
        ),
        damaged(
            "R28-filter-varint",
            "a Filtered_Size of 7 bytes, which is no varint",
            listed(&[1, REGIONS, 0xD8, 0x84, 128, 128, 128, 128, 0, 3]),
            "",
        ),
        damaged(
            "R28-text-size-small",
            "a Text_Size too small for Sample_Rate_Log",
            {
                let raw = vec![b'a'; 1 << 20];
                let plain = Block::new(b"a text of a few bytes");
                let _ = plain;
                let mut block = Block::filtered(
                    &Block::new(&cases::text(900)),
                    &raw,
                    &[Filter {
                        id: MATCHES,
                        size: 900,
                        side: NO_MATCHES.to_vec(),
                    }],
                );
                // 17 is the largest for 2^24 bytes, 16 for 2^20, and for 900 bytes.
                block.shape[3] = 16;
                Patient::of(&[block])
            },
            "",
        ),
    ]
}

fn sides() -> Vec<Entry> {
    let cut = "end too early";
    let misfit = "do not restore as many";
    let longer = [&PLAIN[..], &[0]].concat();
    let large = [1, REGIONS, ALL[0], ALL[1], 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    let two = filtered(&[(REGIONS, SIZE, &PLAIN), (MATCHES, SIZE, &NO_MATCHES[..9])]);
    let block = Block::filtered(
        &Block::new(&raw()),
        &[&raw()[..], b"!"].concat(),
        &[Filter {
            id: MATCHES,
            size: SIZE,
            side: NO_MATCHES.to_vec(),
        }],
    );
    vec![
        damaged(
            "R28-side-size",
            "a Side that ends after the payload",
            listed(&large),
            "end after the block",
        ),
        damaged(
            "R28-side-cut",
            "a Side that ends before its last field",
            side(REGIONS, &PLAIN[..2]),
            cut,
        ),
        damaged(
            "R28-side-left-over",
            "a Side with a byte after its last field",
            side(REGIONS, &longer),
            misfit,
        ),
        damaged(
            "R28-side-cut-before-another",
            "the second Side is cut off; the first is not",
            two,
            "",
        ),
        damaged(
            "R28-side-varint",
            "a field of Side that is no varint",
            side(REGIONS, &[0xFF; 6]),
            "",
        ),
        damaged(
            "R28-output-short",
            "a filter whose output is smaller than Raw_Size",
            Patient::of(&[block]),
            "",
        ),
    ]
}

fn regions() -> Vec<Entry> {
    let misfit = "regions of a block do not";
    let shape = "impossible shape";
    let region = |kind: &[u8]| side(REGIONS, &[&ALL, kind].concat());
    let block = Block::filtered(
        &Block::new(&raw()),
        &[&raw()[..], b"!"].concat(),
        &[Filter {
            id: REGIONS,
            size: SIZE,
            side: PLAIN.to_vec(),
        }],
    );
    vec![
        damaged(
            "R28-region-size-0",
            "a Region_Size of 0",
            side(REGIONS, &[0, 0]),
            misfit,
        ),
        damaged(
            "R28-region-size-large",
            "a Region_Size above the bytes left",
            side(REGIONS, &[0xD9, 4, 0]),
            misfit,
        ),
        damaged(
            "R28-region-kind-4",
            "a Region_Kind of 4",
            region(&[4]),
            "unknown kind",
        ),
        damaged(
            "R28-region-filtered-size",
            "regions whose Filtered_Size is not Output_Size",
            Patient::of(&[block]),
            "",
        ),
        damaged(
            "R28-delta-stride-0",
            "delta: a Stride of 0",
            region(&[1, 0, 0, 0]),
            shape,
        ),
        damaged(
            "R28-delta-element-9",
            "delta: an Element_Size of 9",
            region(&[1, 24, 9, 0]),
            shape,
        ),
        damaged(
            "R28-delta-element-above-stride",
            "delta: an Element_Size above Stride",
            region(&[1, 2, 4, 0]),
            shape,
        ),
        damaged(
            "R28-delta-pitch",
            "delta: a Pitch that is not above Stride",
            region(&[1, 24, 4, 24]),
            shape,
        ),
        damaged(
            "R28-delta-cut",
            "delta: a Side that ends after Stride",
            region(&[1, 24]),
            "end too early",
        ),
    ]
}

fn matches() -> Vec<Entry> {
    let misfit = "matches and";
    let end = "do not end where";
    // One match in 8 bytes, which begin with `coded`.
    let one_match = |coded: [u8; 4]| side(MATCHES, &[&[1, 8], &coded[..], &[0; 4]].concat());
    let wrong_end = [&[0, 8], &[1; 8][..]].concat();
    vec![
        damaged(
            "R28-matches-coded-cut",
            "Matches of fewer bytes than the binary coder begins with",
            side(MATCHES, &[0, 3, 0, 0, 0]),
            end,
        ),
        damaged(
            "R28-matches-output",
            "a match in a block whose text has all of its bytes",
            one_match([0; 4]),
            misfit,
        ),
        damaged(
            "R28-matches-code-6",
            "a Distance_Code above 5",
            one_match([244, 0, 0, 0]),
            misfit,
        ),
        damaged(
            "R28-matches-distance",
            "a Distance above the size of the output so far",
            one_match([253, 226, 0, 0]),
            misfit,
        ),
        damaged(
            "R28-matches-literals",
            "more literals than the input has",
            one_match([173, 185, 189, 0]),
            misfit,
        ),
        damaged(
            "R28-matches-end",
            "the binary coder is not at its end after the last match",
            side(MATCHES, &wrong_end),
            end,
        ),
    ]
}
