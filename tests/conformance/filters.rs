//! Right files with filters in orders and forms that bwz does not write, or seldom.

use crate::common::cases;
use crate::frames::{Block, Filter, Frame};
use crate::kit::Entry;
use bwz::internals::filter::Filtered;
use bwz::internals::{change_region, separate_sequences, take_fields_apart, take_out_repeats};

/// Ids of filters.
pub const SEQUENCES: u8 = 1;
pub const REGIONS: u8 = 2;
pub const MATCHES: u8 = 3;
pub const FIELDS: u8 = 4;

/// Right files with unusual filters.
pub fn entries() -> Vec<Entry> {
    let forms = Frame::of(&[block_of_forms()]);
    let plain = Frame::of(&[plain_filters()]);
    let mut all = vec![
        Entry::valid(
            "fields-forms",
            "the filter fields with columns of the forms 3, 4, 5, 6 and 9",
            &forms.raw(),
            forms.to_bytes(),
        ),
        Entry::valid(
            "filters-that-change-nothing",
            "a plain region and no matches",
            &plain.raw(),
            plain.to_bytes(),
        ),
    ];
    let raw = records();
    for first in [SEQUENCES, REGIONS, MATCHES, FIELDS] {
        let orders = orders_from(first);
        let blocks: Vec<_> = orders
            .iter()
            .filter_map(|order| block_in_order(&raw, order))
            .collect();
        assert!(blocks.len() >= 4, "orders that begin with {first}");
        let frame = Frame::of(&blocks);
        let name = ["", "sequences", "regions", "matches", "fields"][usize::from(first)];
        all.push(Entry::valid(
            &format!("filter-orders-{name}-first"),
            "blocks with orders of two and of four filters that begin with this one",
            &frame.raw(),
            frame.to_bytes(),
        ));
    }
    all
}

/// Orders of two filters, and of four, that begin with `first`. Those in which a filter has
/// nothing to change are left out later.
fn orders_from(first: u8) -> Vec<Vec<u8>> {
    let others: Vec<u8> = (1..=4).filter(|&id| id != first).collect();
    let mut orders: Vec<Vec<u8>> = others.iter().map(|&id| vec![first, id]).collect();
    for a in 0..3 {
        for b in (0..3).filter(|&b| b != a) {
            orders.push(vec![first, others[a], others[b], others[3 - a - b]]);
        }
    }
    orders
}

/// FASTA that each filter changes: records of numbers, sequences of which some are repeated, and
/// a call in the machine code of x86 in each header line.
fn records() -> Vec<u8> {
    let letters: Vec<u8> = cases::random(4800, 4)
        .iter()
        .map(|&letter| b"ACGT"[usize::from(letter)])
        .collect();
    let mut raw = Vec::new();
    for number in 0..60 {
        raw.extend(format!(">read {} of run 7 ", 1000 + number).bytes());
        raw.extend(b"\xE8\x20\x01\x00\x00\n");
        let start = number % 20 * 240;
        for line in letters[start..start + 240].chunks(60) {
            raw.extend(line);
            raw.push(b'\n');
        }
    }
    raw
}

/// `None` if a filter of the order is of no use there.
fn block_in_order(raw: &[u8], order: &[u8]) -> Option<Block> {
    let mut text = raw.to_vec();
    let mut filters = Vec::new();
    for &id in order {
        let filtered = match id {
            SEQUENCES => Some(separate_sequences(&text, false).unwrap()),
            // All of it is x86.
            REGIONS => Some(change_region(text.clone(), &[2]).unwrap()),
            MATCHES => take_out_repeats(text.clone())
                .unwrap()
                .or_else(|| Some(Filtered::by(MATCHES, text.clone(), NO_MATCHES.to_vec()))),
            _ => [0, b' ', b'+']
                .iter()
                .find_map(|&delimiter| take_fields_apart(&text, delimiter).unwrap()),
        }?;
        if filtered.text.len() > text.len() {
            return None;
        }
        filters.push(Filter {
            id,
            size: filtered.text.len() as u64,
            side: filtered.steps[0].side.clone(),
        });
        text = filtered.text;
    }
    Some(Block::filtered(&Block::new(&text), raw, &filters))
}

/// Match_Count 0, and a binary coder that has nothing to decode.
const NO_MATCHES: [u8; 10] = [0, 8, 0, 0, 0, 0, 0, 0, 0, 0];

fn plain_filters() -> Block {
    let raw = cases::text(900);
    let filters = [
        Filter {
            id: REGIONS,
            size: 900,
            side: change_region(raw.clone(), &[0]).unwrap().steps[0]
                .side
                .clone(),
        },
        Filter {
            id: MATCHES,
            size: 900,
            side: NO_MATCHES.to_vec(),
        },
    ];
    Block::filtered(&Block::new(&raw), &raw, &filters)
}

/// Lines of six values, of which all but the first have their columns in an unusual form.
fn block_of_forms() -> Block {
    let mut raw = Vec::new();
    let mut keys = vec![0];
    // Numbers by the key: each 1 more than the one of this key before.
    let mut numbers = b"\x03\x01\n".to_vec();
    // Sums: the number before, and 2.
    let mut sums = b"\x04\x01\x00\n".to_vec();
    let mut raised = vec![5];
    // By the key, four slots before.
    let mut predicted = vec![6, 4];
    // By the value before, with commas.
    let mut lists = b"\x09\x01,\n".to_vec();
    for n in 0..48 {
        let key = ["a", "b"][n % 2];
        let number = [5, 100][n % 2] + n / 2;
        let name = ["\u{e9}t\u{e9}", "\u{f6}l"][n % 2];
        let line = format!(
            "{key} {number} {} \u{e4}{} {name} {name},x\n",
            number + 2,
            n % 3
        );
        raw.extend(line.bytes());
        keys.extend([key.as_bytes()[0], b'\n']);
        match n {
            0 => numbers.push(16 + 10),
            1 => numbers.push(16 + 190),
            _ => numbers.push(16 + 2),
        }
        sums.push(16 + 4);
        raised.extend(raise(format!("\u{e4}{}", n % 3).as_bytes()));
        raised.push(b'\n');
        if n < 2 {
            predicted.extend(raise(name.as_bytes()));
        }
        predicted.push(b'\n');
        lists.extend(b"\x00\x01x\n");
    }
    let template = b"\x01 \x01 \x01 \x01 \x01 \x01\n";
    let text = [
        &template[..],
        &[1; 48],
        &keys,
        &numbers,
        &sums,
        &raised,
        &predicted,
        &lists,
    ]
    .concat();
    // Template_Count, Use_Code, Packed_Count.
    let side = vec![1, 96, 0];
    let fields = Filter {
        id: FIELDS,
        size: text.len() as u64,
        side,
    };
    Block::filtered(&Block::new(&text), &raw, &[fields])
}

fn raise(value: &[u8]) -> Vec<u8> {
    value.iter().map(|byte| byte ^ 0x80).collect()
}
