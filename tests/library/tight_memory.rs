//! Searches in blocks that do not fit in the memory: they find the same as with enough memory, and
//! no slice is decoded more often than necessary.

use crate::common::{cases, indexed};
use bwz::{Archive, Device, Error, Letters, Options, ReadCost};
use std::io::Cursor;

fn options(memory: u64) -> Options {
    Options::new()
        .device(Device::Cpu)
        .threads(2)
        .memory(memory)
}

fn open(file: &[u8], options: &Options) -> Archive<Cursor<Vec<u8>>> {
    Archive::open(Cursor::new(file.to_vec()), options).unwrap()
}

fn occurrences(text: &[u8], pattern: &[u8]) -> Vec<u64> {
    let windows = text.windows(pattern.len()).zip(0..);
    windows
        .filter(|(window, _)| *window == pattern)
        .map(|(_, at)| at)
        .collect()
}

/// If one pattern is a prefix of another, its interval of rows contains the other's.
#[test]
fn many_places_are_found_on_disk() {
    let text = cases::dna(600_000);
    let patterns = [
        "A",
        "AC",
        "ACG",
        "AC",
        "ACGT",
        "TTTTTTTTTTTTTTTTTTTT",
        "GATTACA",
        "CA",
    ];
    let all: Vec<_> = patterns
        .iter()
        .map(|p| occurrences(&text, p.as_bytes()))
        .collect();
    for rate in [16, 256] {
        let file = indexed(&text, 300_000, Some(rate));
        for limit in [usize::MAX, 70_000, 1000, 3, 1, 0] {
            let found = open(&file, &options(8 << 20))
                .locate(&patterns, limit)
                .unwrap();
            for ((pattern, found), all) in patterns.iter().zip(found).zip(&all) {
                assert_eq!(found.count, all.len() as u64, "{pattern}");
                assert_eq!(
                    found.positions,
                    all[..all.len().min(limit)],
                    "{pattern} up to {limit}"
                );
            }
        }
    }
}

/// A letter that matches several symbols has as many intervals.
#[test]
fn many_places_of_classes_are_found_on_disk() {
    let bases = cases::dna(400_000);
    let lines = bases.chunks(70).enumerate();
    let fasta = lines.flat_map(|(n, line)| {
        let header = if n % 50 == 0 {
            format!(">r{n}\n")
        } else {
            String::new()
        };
        [header.as_bytes(), line, b"\n"].concat()
    });
    let fasta: Vec<u8> = fasta.collect();
    let file = indexed(&fasta, 250_000, Some(64));
    let patterns = ["RY", "ANA", "A", "CAN"];
    for limit in [usize::MAX, 2000] {
        let locate = |memory| {
            let options = options(memory).letters(Letters::Iupac);
            open(&file, &options)
                .locate(&patterns, limit)
                .unwrap()
        };
        let found = locate(10 << 20);
        assert!(found == locate(1 << 30) && found.iter().all(|of| of.count > 10_000));
    }
}

/// Cost of locating a frequent letter, in slices decoded.
fn located(file: &[u8], letter: &str, limit: usize) -> ReadCost {
    let mut archive = open(file, &options(3 << 20));
    assert_eq!(
        archive.locate(&[letter], limit).unwrap()[0]
            .positions
            .len(),
        limit
    );
    archive.search_cost()
}

/// There is no memory for half of the slices. A walk from each row to a sample would decode all
/// slices for each step of some rows, and again for the steps of others.
#[test]
fn slices_are_decoded_for_all_rows_together() {
    let text = cases::text(4 << 20);
    let file = indexed(&text, 4 << 20, Some(32));
    let few = located(&file, "e", 500).slices;
    assert!((1..2000).contains(&few), "{few} slices");
}

#[test]
fn slices_are_kept_for_the_next_patterns() {
    let text = cases::dna(900_000);
    let file = indexed(&text, 300_000, Some(64));
    let patterns: Vec<&[u8]> = text.windows(20).step_by(301).collect();
    let slices = |batches: usize| {
        let mut archive = open(&file, &options(8 << 20));
        let mut searcher = archive.searcher().unwrap();
        for _ in 0..batches {
            assert!(
                searcher
                    .count(&patterns)
                    .unwrap()
                    .iter()
                    .all(|&count| count > 0)
            );
        }
        drop(searcher);
        archive.search_cost().slices
    };
    let once = slices(1);
    assert!(once > 0);
    assert_eq!(slices(3), once);
}

/// Each pattern fits in the memory, but not all together.
#[test]
fn a_stream_of_patterns_is_located_in_smaller_batches() {
    let text = cases::dna(600_000);
    let file = indexed(&text, 300_000, Some(64));
    let patterns: Vec<String> = ["ACG", "CGT", "TTA", "GAT", "CCA"]
        .iter()
        .map(|&p| p.to_owned())
        .cycle()
        .take(20)
        .collect();
    let mut archive = open(&file, &options(1 << 20));
    let together = archive.locate(&patterns, usize::MAX);
    assert!(matches!(together, Err(Error::Limit { .. })));
    let found: bwz::Result<Vec<_>> = archive
        .matches(patterns.iter(), usize::MAX)
        .collect();
    for (pattern, found) in found.unwrap() {
        assert_eq!(
            found.positions,
            occurrences(&text, pattern.as_bytes()),
            "{pattern}"
        );
    }
    let mut one_too_many = archive.matches(["ACG", "A", "CGT"], usize::MAX);
    assert!(one_too_many.next().unwrap().is_ok());
    assert!(matches!(
        one_too_many.next(),
        Some(Err(Error::Limit { .. }))
    ));
    assert!(one_too_many.next().is_none());
}

/// The data kept for a frame takes memory, even if it has no block.
#[test]
fn frames_without_blocks_take_memory_too() {
    let mut empty = Vec::new();
    bwz::compress(&b""[..], &mut empty, &options(1 << 30)).unwrap();
    let file = empty.repeat(20_000);
    let opened = Archive::open(Cursor::new(&file), &options(1 << 20));
    let error = opened
        .expect_err("so many frames take more than a MiB")
        .to_string();
    assert!(error.contains("frames or more, with 0 blocks"), "{error}");
    assert_eq!(open(&file, &options(16 << 20)).frames().len(), 20_000);
    // If the frames are read in order, nothing is kept of them.
    bwz::decompress(&file[..], std::io::sink(), &options(1 << 20)).unwrap();
}
