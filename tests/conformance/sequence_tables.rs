//! The tables Sequences and Records of a frame, right and wrong. No restored bytes depend on them,
//! so all of these files are right to a decoder. A reader that tests the file, as `bwz --test`,
//! calls a wrong table damaged (R33).

use crate::frames::{Block, Frame, tables};
use crate::kit::Entry;
use std::process::{Command, Stdio};

/// FASTA of one stored block.
const RAW: &[u8] = b">a x\nACGTTG\nGC\n>b\n";

/// Sequences of [`RAW`]: Kind, then Records_Before, Continued, Residues and State of its block.
const SEQUENCES: [u8; 5] = [0, 0, 0, 8, 0];

/// Records of [`RAW`]: Form, Record_Count, names, and five columns.
const RECORDS: &[u8] = b"\0\x02a\nb\n\x08\0\x06\0\x01\0\x0A\x06\0\0";

fn with(sequences: &[u8], records: &[u8]) -> Vec<u8> {
    with_tables(&[(0x8001, sequences), (0x8002, records)])
}

fn with_tables(all: &[(u16, &[u8])]) -> Vec<u8> {
    let frame = Frame {
        last_tables: tables(all),
        ..Frame::of(&[Block::stored(RAW)])
    };
    frame.to_bytes()
}

/// `bytes` with one of them changed.
fn put(bytes: &[u8], at: usize, to: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = to;
    bytes
}

/// Files with these tables.
pub fn entries() -> Vec<Entry> {
    let mut all = vec![Entry::valid(
        "sequence-tables",
        "the tables Sequences and Records of one stored block of FASTA",
        RAW,
        with(&SEQUENCES, RECORDS),
    )];
    all.extend(wrong());
    all
}

/// Files with a wrong table.
fn wrong() -> Vec<Entry> {
    let sequences = |at, to| with(&put(&SEQUENCES, at, to), RECORDS);
    let records = |at, to| with(&SEQUENCES, &put(RECORDS, at, to));
    let files = [
        (
            "wrong-sequences-kind",
            "the table Sequences has the Kind 2; R33 to a reader that tests the file, passed over by others",
            sequences(0, 2),
        ),
        (
            "wrong-sequences-of-fastq",
            "the table Sequences has the Kind of FASTQ in a frame of FASTA",
            sequences(0, 1),
        ),
        (
            "wrong-sequences-residues",
            "the table Sequences has one residue too many",
            sequences(3, 9),
        ),
        (
            "wrong-sequences-state",
            "the table Sequences has a State of 9",
            sequences(4, 9),
        ),
        (
            "wrong-sequences-cut",
            "the table Sequences ends too early",
            with(&SEQUENCES[..4], RECORDS),
        ),
        (
            "wrong-sequences-left-over",
            "the table Sequences has a byte more than its blocks require",
            with(&[&SEQUENCES[..], &[0]].concat(), RECORDS),
        ),
        (
            "wrong-records-form",
            "the table Records has the Form 2",
            records(0, 2),
        ),
        (
            "wrong-records-count",
            "the table Records has a Record_Count of 0",
            records(1, 0),
        ),
        (
            "wrong-records-name",
            "the table Records has another name than the record",
            records(2, b'c'),
        ),
        (
            "wrong-records-length",
            "the table Records has a Length of 7 for a record of 8 residues",
            records(6, 7),
        ),
        (
            "wrong-records-gap",
            "the table Records has another Gap than the second record",
            records(13, 4),
        ),
        (
            "wrong-records-irregular",
            "the table Records calls a regular record irregular",
            records(14, 1),
        ),
        (
            "wrong-records-cut",
            "the table Records ends too early",
            with(&SEQUENCES, &RECORDS[..15]),
        ),
        (
            "wrong-records-alone",
            "the table Records without the table Sequences",
            with_tables(&[(0x8002, RECORDS)]),
        ),
    ];
    let entry = |(name, reason, file)| Entry::valid(name, reason, RAW, file);
    files.map(entry).into()
}

#[test]
fn a_test_finds_wrong_tables_of_sequences() {
    let mut wrong = Vec::new();
    for entry in entries() {
        let is_right = entry.name == "sequence-tables";
        let status = Command::new(env!("CARGO_BIN_EXE_bwz"))
            .arg("-t")
            .arg(entry.committed())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let expected = if is_right { 0 } else { 2 };
        if status.code() != Some(expected) {
            wrong.push(format!("{}: {status}", entry.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
