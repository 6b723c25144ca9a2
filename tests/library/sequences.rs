//! Streams of sequences that get an index: the cuts between their blocks, the tables of their
//! frames, and that they are restored.

use crate::common;
use crate::common::mutation::parts::{self, Kind as PartKind};
use crate::common::{cases, decompressed, odd_fasta, options};
use bwz::internals::sequence::{Kind, LineState, OddBytes, split};
use bwz::internals::{blocks, restore, sequences_table};
use bwz::{Archive, Encoder, Options};
use std::io::{Cursor, Write};

/// Name, kind and bytes of streams of sequences.
fn streams() -> Vec<(&'static str, Kind, Vec<u8>)> {
    let one_line = [b">chr1\n".to_vec(), b"ACGTTGCA".repeat(1000)].concat();
    vec![
        ("FASTA", Kind::Fasta, common::fasta(9000)),
        ("oddities", Kind::Fasta, odd_fasta()),
        ("one line", Kind::Fasta, one_line),
        (
            "a run",
            Kind::Fasta,
            [&b">n\n"[..], &[b'N'; 9000], b"\n"].concat(),
        ),
        ("FASTQ", Kind::Fastq, cases::reads(9000)),
        (
            "FASTQ that breaks off",
            Kind::Fastq,
            cases::reads(9000)[..7777].to_vec(),
        ),
    ]
}

const BLOCK_SIZES: [u32; 6] = [64, 500, 1000, 4096, 9000, 1 << 20];

fn indexed(raw: &[u8], options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, options).unwrap();
    file
}

/// The raw bytes of each block.
fn pieces(file: &[u8]) -> Vec<Vec<u8>> {
    blocks(file, &options(1 << 20))
        .map(|block| restore(block.unwrap()).unwrap())
        .collect()
}

#[test]
fn every_stream_comes_back_through_both_doors() {
    for (name, _, raw) in streams() {
        for block_size in BLOCK_SIZES {
            let options = options(block_size).index(8).unwrap();
            let file = indexed(&raw, &options);
            let (restored, end) = decompressed(&file);
            end.unwrap_or_else(|e| panic!("{name} in blocks of {block_size}: {e}"));
            assert!(restored == raw, "{name} in blocks of {block_size}");
            let mut encoder = Encoder::new(Vec::new(), &options);
            raw.chunks(333)
                .for_each(|bytes| encoder.write_all(bytes).unwrap());
            assert!(
                encoder.finish().unwrap().0 == file,
                "{name} in blocks of {block_size}"
            );
        }
    }
}

#[test]
fn blocks_end_where_lines_and_records_do() {
    for (name, kind, raw) in streams() {
        for block_size in [500, 1000, 4096] {
            let pieces = pieces(&indexed(&raw, &options(block_size).index(8).unwrap()));
            assert!(pieces.len() > 1, "{name}");
            for (piece, next) in pieces.iter().zip(&pieces[1..]) {
                let has_end = piece[piece.len() / 2..].contains(&b'\n');
                assert!(
                    !has_end || piece.ends_with(b"\n"),
                    "{name} in blocks of {block_size}"
                );
                let torn = kind == Kind::Fastq && next[0] != b'@';
                assert!(!torn, "{name} in blocks of {block_size}");
            }
        }
    }
}

#[test]
fn the_table_of_the_frame_says_what_its_blocks_hold() {
    for (name, kind, raw) in streams() {
        for block_size in BLOCK_SIZES {
            let file = indexed(&raw, &options(block_size).index(8).unwrap());
            let pieces = pieces(&file);
            let parts = parts::parse(&file);
            let Some(content) = parts
                .iter()
                .find(|part| part.kind == PartKind::Content)
            else {
                assert!(
                    kind == Kind::Fastq && block_size < 300,
                    "the first record is not in it"
                );
                continue;
            };
            let table = sequences_table(&content.bytes, pieces.len()).unwrap();
            // Computed here from the text of all blocks.
            let mut records = 0;
            let mut continued = 0;
            let mut before_piece = OddBytes::default();
            for (piece, [records_before, before, residues]) in pieces.iter().zip(table) {
                assert_eq!(
                    (records_before, before),
                    (records, continued),
                    "{name}, {block_size}"
                );
                let (text, layout) = split(piece, kind, before_piece.state()).unwrap();
                before_piece.add(piece, kind);
                let text = &text[..layout.sequence_size()];
                let begin = text.iter().filter(|&&byte| byte == b'\n').count();
                assert_eq!(
                    residues as usize,
                    text.len() - begin,
                    "{name}, {block_size}"
                );
                let last = text.iter().rposition(|&byte| byte == b'\n');
                continued = match last {
                    Some(at) => (text.len() - at - 1) as u64,
                    None => continued + residues,
                };
                records += begin as u64;
            }
        }
    }
}

#[test]
fn an_index_of_bytes_and_other_files_know_no_sequences() {
    let genome = common::fasta(9000);
    let of_bytes = options(4096)
        .index(8)
        .unwrap()
        .index_of_bytes(true);
    let text = cases::text(9000);
    let of_sequences = options(4096).index(8).unwrap();
    for (raw, options) in [(&genome, of_bytes), (&text, of_sequences)] {
        let file = indexed(raw, &options);
        let parts = parts::parse(&file);
        assert!(
            !parts
                .iter()
                .any(|part| part.kind == PartKind::TableType && part.bytes == [0x01, 0x80])
        );
        assert!(
            !parts
                .iter()
                .any(|part| part.kind == PartKind::FilterId)
        );
        let sizes: Vec<usize> = pieces(&file).iter().map(Vec::len).collect();
        assert!(
            sizes[..sizes.len() - 1]
                .iter()
                .all(|&size| size == 4096)
        );
    }
}

/// A small stream stays small: a layout takes a few bytes per record.
#[test]
fn a_layout_is_small() {
    let lines = cases::random(200_000, 4);
    let mut genome = Vec::new();
    for (n, sequence) in lines.chunks(20_000).enumerate() {
        genome.extend(format!(">chromosome {n}\n").bytes());
        for line in sequence.chunks(60) {
            genome.extend(
                line.iter()
                    .map(|&letter| b"ACGT"[usize::from(letter)]),
            );
            genome.push(b'\n');
        }
    }
    let (_, layout) = split(&genome, Kind::Fasta, LineState::default()).unwrap();
    let mut side = Vec::new();
    layout.write(&mut side);
    assert!(side.len() < 60, "{} bytes", side.len());
    let (_, layout) = split(&cases::reads(230_000), Kind::Fastq, LineState::default()).unwrap();
    let mut side = Vec::new();
    let records = layout.records();
    layout.write(&mut side);
    assert!(
        side.len() < records,
        "{} bytes for {records} records",
        side.len()
    );
}

/// Bytes between lines are noticed even if a block ends next to them.
#[test]
fn a_record_with_an_empty_line_is_odd_wherever_blocks_end() {
    let lines = |count| b"ACGTACGTACGTACGTACGT\n".repeat(count);
    let raw = [
        &b">odd\n"[..],
        &lines(20),
        b"\n",
        &lines(20),
        b">even\n",
        &lines(30),
    ]
    .concat();
    for block in 100..raw.len() as u32 {
        let options = options(1)
            .with_block_size(block.into())
            .unwrap()
            .index(8)
            .unwrap();
        let file = indexed(&raw, &options);
        let mut archive = Archive::open(Cursor::new(&file), &options).unwrap();
        let regular: Vec<bool> = archive
            .records()
            .unwrap()
            .iter()
            .map(|r| r.is_regular)
            .collect();
        assert_eq!(regular, [false, true], "blocks of {block}");
    }
}
