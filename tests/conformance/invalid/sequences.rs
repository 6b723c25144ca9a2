//! Damaged layouts of sequences.

use super::damaged;
use super::payload::flips;
use crate::common::{self, cases};
use crate::filters::SEQUENCES;
use crate::frames::{Block, Filter, sealed};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::filter::{Filtered, undo};
use bwz::internals::separate_sequences;

/// A line of residues, which is its own text.
fn letters() -> Vec<u8> {
    cases::random(600, 4)
        .iter()
        .map(|&letter| b"ACGT"[usize::from(letter)])
        .collect()
}

/// A block of 600 bytes with this text and this Side.
fn with(text: &[u8], side: &[u8]) -> Patient {
    let filter = Filter {
        id: SEQUENCES,
        size: text.len() as u64,
        side: side.to_vec(),
    };
    Patient::of(&[Block::filtered(&Block::new(text), &letters(), &[filter])])
}

fn side(block: &[u8]) -> Vec<u8> {
    let filtered = separate_sequences(block, false).unwrap();
    filtered.steps[0].side.clone()
}

/// The block of letters with one bit of this layout inverted: the first bit for which it is
/// rejected with this message.
fn flipped(layout: &[u8], says: &str) -> Patient {
    let found = flips(&layout[3..layout.len() - 4])
        .map(|changed| sealed([&layout[..3], &changed].concat()))
        .find(|side| {
            let filtered = Filtered::by(SEQUENCES, letters(), side.clone());
            undo(filtered, letters().len()).is_err_and(|flaw| flaw.0.contains(says))
        });
    with(
        &letters(),
        &found.unwrap_or_else(|| panic!("no bit makes {says:?}")),
    )
}

/// Damaged layouts of sequences.
pub fn entries() -> Vec<Entry> {
    let letters = letters();
    let odd = side(&common::odd_fasta()[..600]);
    let extended = side(&common::fasta_with_blanks()[..600]);
    let header = side(&[b">\n", &letters[2..]].concat());
    let escaped = side(&[b"\xFF\n", &letters[2..]].concat());
    let other = [&letters[1..], &[0xBE]].concat();
    let mut size = side(&letters);
    size[0] -= 1;
    let sealed_size = sealed(size[..size.len() - 4].to_vec());
    let lead = "a unit of an unknown kind";
    let lines = "do not add up to the block";
    let width = "an impossible width";
    let stretch = "ends too late";
    let end = "does not end where its coded bytes do";
    let block = "is not that of the block";
    vec![
        damaged(
            "R28-layout-checksum",
            "sequences: a wrong checksum of the layout",
            with(&letters, &size),
            "its checksum is wrong",
        ),
        damaged(
            "R28-layout-lines",
            "sequences: lines that are not Output_Size bytes",
            flipped(&odd, lines),
            lines,
        ),
        damaged(
            "R28-layout-lead",
            "sequences: a unit of an unknown kind",
            flipped(&extended, lead),
            lead,
        ),
        damaged(
            "R28-layout-width",
            "sequences: a width that is out of range",
            flipped(&odd, width),
            width,
        ),
        damaged(
            "R28-layout-stretch",
            "sequences: a stretch that ends after the sequences",
            flipped(&odd, stretch),
            stretch,
        ),
        damaged(
            "R28-layout-end",
            "sequences: the binary coder is not at its end",
            flipped(&odd, end),
            end,
        ),
        damaged(
            "R28-layout-of-another-block",
            "sequences: a layout that is not that of the input",
            flipped(&odd, block),
            block,
        ),
        damaged(
            "R28-sequence-size",
            "sequences: a Sequence_Size that is one too small",
            with(&letters, &sealed_size),
            block,
        ),
        damaged(
            "R28-sequence-record",
            "sequences: a record that does not begin where the layout says",
            with(&other, &header),
            "does not begin where its layout says",
        ),
        damaged(
            "R28-sequence-other",
            "sequences: a byte that is not mapped",
            with(&letters, &header),
            "is not mapped",
        ),
        damaged(
            "R28-sequence-escape",
            "sequences: an escape that is invalid",
            with(&letters, &escaped),
            "is invalid",
        ),
    ]
}
