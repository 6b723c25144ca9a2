//! Blocks that end behind a separator: the cuts, through both entry points, and that nothing else
//! in the file changes.

use crate::common::{cases, decompressed, options};
use bwz::internals::{blocks, restore};
use bwz::{Archive, Encoder, Options};
use std::io::{Cursor, Write};

/// The raw bytes of each block.
fn pieces(file: &[u8]) -> Vec<Vec<u8>> {
    blocks(file, &options(1 << 20))
        .map(|block| restore(block.unwrap()).unwrap())
        .collect()
}

fn compressed(raw: &[u8], options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, options).unwrap();
    file
}

/// The rule, implemented a second time: a full block ends behind its last separator, if it has one.
fn expected(mut raw: &[u8], size: usize, separator: u8) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !raw.is_empty() {
        let block = &raw[..raw.len().min(size)];
        let last = block.iter().rposition(|&byte| byte == separator);
        let len = last
            .filter(|_| block.len() == size)
            .map_or(block.len(), |at| at + 1);
        pieces.push(raw.split_off(..len).unwrap());
    }
    pieces
}

/// Texts, each with the sizes of its blocks.
fn texts() -> Vec<(&'static str, Vec<u8>, Vec<usize>)> {
    let lines: Vec<u8> = (0..60)
        .flat_map(|n: u32| [b"line ", &vec![b'x'; n as usize % 41][..], b"\n"].concat())
        .collect();
    let sizes = vec![7, 64, 100, 1000, 1 << 20];
    let long_line = [&b"short\n"[..], &cases::random(500, 9), b"\nshort\n"].concat();
    vec![
        ("empty", Vec::new(), sizes.clone()),
        ("lines", lines.clone(), sizes.clone()),
        (
            "no end at the end",
            lines[..lines.len() - 3].to_vec(),
            vec![64, 100, lines.len() - 3],
        ),
        ("a line of many blocks", long_line, sizes.clone()),
        ("none", b"no separator at all".repeat(50), vec![7, 100, 950]),
        (
            "CRLF",
            b"one\r\ntwo\r\nthree\r\n".repeat(40),
            vec![4, 5, 6, 17, 100, 680],
        ),
        (
            "at the end of each block",
            b"123456\n".repeat(20),
            vec![6, 7, 8, 14, 140],
        ),
        ("separators alone", vec![b'\n'; 300], vec![1, 7, 100, 300]),
        (
            "a run of another byte",
            [vec![b'a'; 100], vec![b'\n'; 3], vec![b'a'; 77]].concat(),
            vec![10, 90, 101, 180],
        ),
        (
            "a short block before full ones",
            [&b"a\n"[..], &[b'b'; 95]].concat(),
            vec![50, 97],
        ),
    ]
}

#[test]
fn blocks_end_behind_the_last_separator_through_both_doors() {
    for (name, raw, sizes) in texts() {
        for size in sizes {
            for separator in [b'\n', b' ', 0] {
                let options = options(size as u32).split_at(separator);
                let file = compressed(&raw, &options);
                let what = format!("{name} in blocks of {size} behind {separator}");
                assert_eq!(pieces(&file), expected(&raw, size, separator), "{what}");
                assert!(
                    compressed(&raw, &options.clone().threads(1)) == file,
                    "{what}"
                );
                for written in [1 << 20, 333] {
                    let mut encoder = Encoder::new(Vec::new(), &options);
                    raw.chunks(written)
                        .for_each(|bytes| encoder.write_all(bytes).unwrap());
                    assert!(
                        encoder.finish().unwrap().0 == file,
                        "{what}, {written} at a time"
                    );
                }
                assert!(decompressed(&file).0 == raw, "{what}");
            }
        }
    }
}

#[test]
fn several_frames_are_one_file() {
    let lines = b"she sells\nsea shells\n".repeat(30);
    let options = options(64).split_at(b'\n').index(8).unwrap();
    let file = [
        compressed(&lines, &options),
        compressed(b"", &options),
        compressed(&lines, &options),
    ];
    let mut archive = Archive::open(Cursor::new(file.concat()), &options).unwrap();
    let raw = lines.repeat(2);
    assert_eq!(archive.raw_size(), raw.len() as u64);
    assert_eq!(archive.count(&["sea shells\nshe"]).unwrap(), [59]);
    let ends = archive
        .blocks()
        .iter()
        .map(|block| block.raw.end as usize);
    assert!(ends.clone().count() > 15);
    assert!(ends.into_iter().all(|end| raw[end - 1] == b'\n'));
}

/// If the cuts are at the usual positions, the file is the same. So the format does not know of the
/// option.
#[test]
fn a_file_whose_blocks_are_not_cut_is_the_same() {
    let raw = b"123456\n".repeat(100);
    assert!(compressed(&raw, &options(70)) == compressed(&raw, &options(70).split_at(b'\n')));
    let text = cases::text(3000);
    assert!(compressed(&text, &options(999)) == compressed(&text, &options(999).split_at(0)));
}

#[test]
fn sequences_are_cut_between_records_first() {
    let reads = cases::reads(9000);
    let indexed = options(1000).index(8).unwrap();
    let both = compressed(&reads, &indexed.clone().split_at(b'\n'));
    assert!(both == compressed(&reads, &indexed));
    assert!(pieces(&both).len() > 5 && pieces(&both).iter().all(|piece| piece[0] == b'@'));
    // A sequence in one line has no line end in the second half of the block before it.
    let genome = [b">chr1\n".to_vec(), b"ACGTTGCA".repeat(1000)].concat();
    let pieces = pieces(&compressed(&genome, &indexed.split_at(b'\n')));
    assert_eq!(pieces[0], b">chr1\n");
    assert_eq!(pieces[1].len(), 1000);
}
