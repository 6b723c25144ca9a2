//! Blocks whose positions do not fit in 32 bits, without such large blocks: all blocks are treated
//! like them. The bytes are the same, and so are the matches found in them.

use crate::common::cases;
use bwz::{Archive, Effort, Options, internals};
use std::io::Cursor;

/// Options in their usual form, and with the methods for large blocks.
fn both(options: Options) -> [Options; 2] {
    [options.clone(), internals::wide(options)]
}

fn options(block_size: u64) -> Options {
    Options::new()
        .with_block_size(block_size)
        .unwrap()
        .threads(2)
        .memory(2 << 30)
}

fn compressed(raw: &[u8], options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, options).unwrap();
    file
}

fn texts() -> Vec<(String, Vec<u8>)> {
    let mut texts = cases::named();
    texts.extend(cases::shapes(40_000));
    texts.extend(
        cases::filtered(60_000)
            .into_iter()
            .map(|(name, block, _)| (name.into(), block)),
    );
    texts
}

#[test]
fn files_are_the_same_and_restored_either_way() {
    for (name, raw) in texts() {
        for (block_size, effort) in [(1 << 20, Effort::Default), (9_000, Effort::Best)] {
            if effort == Effort::Best && raw.len() > 20_000 {
                continue;
            }
            let both = both(options(block_size).effort(effort));
            let files = both
                .each_ref()
                .map(|options| compressed(&raw, options));
            assert!(files[0] == files[1], "{name}: other bytes");
            for options in &both {
                let mut restored = Vec::new();
                bwz::decompress(&files[0][..], &mut restored, options).unwrap();
                assert!(restored == raw, "{name}");
            }
            let mut saved = Vec::new();
            bwz::recover(Cursor::new(&files[0]), &mut saved, &both[1]).unwrap();
            assert!(saved == raw, "{name} recovered");
        }
    }
}

/// The block is cut in parts, which needs a block of a few megabytes.
#[test]
fn large_parts_are_merged() {
    let raw = [cases::text(1_500_000), cases::random(1_500_000, 4)].concat();
    for options in [
        options(4 << 20),
        options(4 << 20)
            .index(256)
            .unwrap()
            .index_of_bytes(true),
    ] {
        let both = both(options);
        let files = both
            .each_ref()
            .map(|options| compressed(&raw, options));
        assert!(files[0] == files[1]);
        let mut restored = Vec::new();
        bwz::decompress(&files[0][..], &mut restored, &both[1]).unwrap();
        assert!(restored == raw);
    }
}

/// Searches by an index on disk and in memory, and without one.
#[test]
fn searches_find_the_same() {
    for (name, raw) in texts()
        .into_iter()
        .filter(|(_, raw)| raw.len() > 300)
    {
        let part = raw.len() / 3..raw.len() / 3 + 9;
        let few = [&raw[..1], &raw[1..4], &raw[part.clone()], b"\xFFabsent"];
        let many: Vec<&[u8]> = raw
            .windows(5)
            .step_by(raw.len() / 250 + 1)
            .collect();
        for rate in [None, Some(0), Some(16)] {
            let options = options(1 << 20).index_of_bytes(true);
            let indexed = rate.map_or(options.clone(), |rate| options.index(rate).unwrap());
            let file = compressed(&raw, &indexed);
            let [narrow, wide] = both(indexed).map(|options| {
                let mut archive = Archive::open(Cursor::new(&file[..]), &options).unwrap();
                let few = archive.locate(&few, usize::MAX).unwrap();
                let counted = archive.count(&many).unwrap();
                let located = archive.locate(&many, 20).unwrap();
                let range = part.start as u64..part.end as u64;
                let extracted = archive.extract(range.clone()).unwrap();
                let mut read = Vec::new();
                archive.read_range(range, &mut read).unwrap();
                assert!(
                    extracted == raw[part.clone()] && read == extracted,
                    "{name}"
                );
                let found = |all: Vec<bwz::Matches>| -> Vec<_> {
                    all.into_iter()
                        .map(|found| (found.count, found.positions))
                        .collect()
                };
                (found(few), counted, found(located))
            });
            assert!(narrow == wide, "{name}, index {rate:?}");
        }
    }
}

#[test]
fn searches_by_sequence_find_the_same() {
    let bases: Vec<u8> = cases::random(60_000, 4)
        .iter()
        .map(|&base| b"ACGT"[usize::from(base)])
        .collect();
    let mut raw = Vec::new();
    for (number, record) in bases.chunks(20_000).enumerate() {
        raw.extend(format!(">record {number}\n").bytes());
        record
            .chunks(60)
            .for_each(|line| raw.extend([line, b"\n"].concat()));
    }
    for rate in [0, 16] {
        let both = both(options(1 << 20).index(rate).unwrap());
        let files = both
            .each_ref()
            .map(|options| compressed(&raw, options));
        assert!(files[0] == files[1]);
        let [narrow, wide] = both.map(|options| {
            let mut archive = Archive::open(Cursor::new(&files[0][..]), &options).unwrap();
            let patterns: Vec<&[u8]> = bases.chunks(50).step_by(3).collect();
            let counts = archive.count(&patterns).unwrap();
            let found = archive
                .locate(&[&bases[55..75], b"acgtac"], usize::MAX)
                .unwrap();
            assert!(counts.iter().all(|&count| count > 0) && found[0].count > 0);
            let region = archive.region(b"record", 10..90).unwrap();
            let found: Vec<_> = found
                .into_iter()
                .map(|found| found.positions)
                .collect();
            (counts, found, region)
        });
        assert!(narrow == wide);
    }
}

#[test]
fn blocks_that_stay_on_disk_are_searched() {
    let raw = cases::text(300_000);
    let file = compressed(&raw, &options(1 << 20).index(16).unwrap());
    let [narrow, wide] = both(options(1 << 20)).map(|options| {
        let mut archive = Archive::open(Cursor::new(&file[..]), &options).unwrap();
        internals::locate_on_disk(&mut archive, 0, b"the", 50)
            .unwrap()
            .unwrap()
    });
    assert!(narrow.len() == 50 && narrow == wide);
    assert!(
        narrow
            .iter()
            .all(|&at| raw[at as usize..].starts_with(b"the"))
    );
}

/// The memory that a large block needs is known before it is read, and reported.
#[test]
fn a_block_takes_memory_for_positions_of_64_bits() {
    let raw = cases::text(9 << 20);
    let end = |options: &Options| bwz::compress(&raw[..], std::io::sink(), options);
    // 6 and 1 bytes per byte, or 10 and 1, and about 20 MiB.
    let both = both(options(16 << 20).memory(100 << 20));
    assert!(end(&both[0]).is_ok());
    let Err(bwz::Error::Limit {
        needed, allowed, ..
    }) = end(&both[1])
    else {
        panic!()
    };
    assert!(needed > 11 * (9 << 20) && allowed == 100 << 20);
    assert!(end(&both[1].clone().memory(needed)).is_ok());
}
