//! Any input is restored, through every entry point of the library, and always as the same bytes.

use crate::common::{cases, compressed, decompressed, options};
use bwz::{Archive, Decoder, Encoder};
use proptest::prelude::*;
use std::io::{Cursor, Read, Write};
use std::ops::Range;

#[test]
fn every_case_is_restored() {
    for (name, raw) in cases::all() {
        let file = compressed(&raw, 1 << 20);
        let (restored, end) = decompressed(&file);
        let summary = end.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(restored == raw, "{name}: restored bytes differ");
        assert_eq!(
            (summary.raw_size, summary.coded_size),
            (raw.len() as u64, file.len() as u64)
        );
        assert!(
            file.len() <= raw.len() + 160,
            "{name}: a block that does not shrink is stored"
        );
    }
}

#[test]
fn sizes_around_block_borders_are_restored() {
    for block in [1, 2, 3, 100, 1024, 4096] {
        for blocks in [1, 2, 5] {
            for size in block * blocks - 1..=block * blocks + 1 {
                let raw = cases::text(size);
                let (restored, end) = decompressed(&compressed(&raw, block as u32));
                end.unwrap();
                assert!(restored == raw, "{size} bytes in blocks of {block}");
            }
        }
    }
}

#[test]
fn sizes_around_slice_and_sample_borders_are_restored() {
    for border in [1 << 16, 1 << 20, 1 << 21] {
        for size in border - 1..=border + 1 {
            for raw in [cases::text(size), cases::random(size, 3), vec![b'r'; size]] {
                let (restored, end) = decompressed(&compressed(&raw, 8 << 20));
                end.unwrap();
                assert!(restored == raw, "{size}");
            }
        }
    }
}

#[test]
fn threads_and_memory_do_not_change_a_byte() {
    let raw = [cases::text(700_000), cases::random(300_000, 256)].concat();
    let file = compressed(&raw, 1 << 17);
    for threads in [1, 2, 3, 8] {
        for memory in [26 << 20, 100 << 20] {
            let options = options(1 << 17).threads(threads).memory(memory);
            let mut again = Vec::new();
            bwz::compress(&raw[..], &mut again, &options).unwrap();
            assert!(again == file, "{threads} threads");
            let mut restored = Vec::new();
            bwz::decompress(&file[..], &mut restored, &options).unwrap();
            assert!(restored == raw, "{threads} threads");
        }
    }
}

/// Small blocks take over the choices of earlier ones like them, whoever is first to have one.
#[test]
fn threads_do_not_change_a_byte_of_lines_whose_kind_changes() {
    let size = 400_000;
    let mut raw = Vec::new();
    for round in 0..2 {
        for (name, bytes, _) in cases::filtered(size) {
            if matches!(name, "log" | "comma-separated values" | "lists" | "reads") {
                raw.extend(&bytes[round * 50_000..]);
            }
            if name == "table" {
                raw.extend(vec![b'7'; 150_000]);
                raw.extend(&bytes[..90_000]);
            }
        }
        raw.extend(cases::text(100_000));
    }
    let file = compressed(&raw, 1 << 16);
    for threads in [1, 2, 3, 8] {
        let options = options(1 << 16).threads(threads);
        let mut again = Vec::new();
        bwz::compress(&raw[..], &mut again, &options).unwrap();
        assert!(again == file, "{threads} threads");
        let mut encoder = Encoder::new(Vec::new(), &options);
        encoder.write_all(&raw).unwrap();
        assert!(encoder.finish().unwrap().0 == file, "{threads} threads");
    }
    assert!(decompressed(&file).0 == raw);
}

/// Blocks of a single byte value are coded once, and later copies are recognised. Each is the same
/// as in a file of its own, except for its offset.
#[test]
fn blocks_of_one_byte_are_like_others() {
    const BLOCK: usize = 1 << 16;
    let mut raw = vec![0; 5 * BLOCK];
    raw.extend(vec![9; 2 * BLOCK]);
    raw.extend(cases::text(BLOCK + 1));
    raw.extend(vec![0; 2 * BLOCK - 1]);
    raw.extend(vec![9; BLOCK + 77]);
    for indexed in [false, true] {
        let plain = options(BLOCK as u32).threads(3);
        let options = if indexed {
            plain.index(64).unwrap()
        } else {
            plain
        };
        let file = |raw: &[u8]| {
            let mut file = Vec::new();
            bwz::compress(raw, &mut file, &options).unwrap();
            file
        };
        let whole = file(&raw);
        let mut encoder = Encoder::new(Vec::new(), &options);
        raw.chunks(1000)
            .for_each(|piece| encoder.write_all(piece).unwrap());
        assert!(encoder.finish().unwrap().0 == whole);
        // Headers are 41 bytes long, and their bytes from 26 on state the offset.
        let blocks = |file: &[u8]| {
            let archive = Archive::open(Cursor::new(file), &options).unwrap();
            let part = |range: Range<u64>| file[range.start as usize..range.end as usize].to_vec();
            archive
                .blocks()
                .iter()
                .map(|block| part(block.coded.clone()))
                .collect::<Vec<_>>()
        };
        for (block, part) in blocks(&whole).iter().zip(raw.chunks(BLOCK)) {
            let alone = &blocks(&file(part))[0];
            assert!(block.ends_with(&alone[41..]) && block[..26].ends_with(&alone[8..26]));
        }
        let mut restored = Vec::new();
        bwz::decompress(&whole[..], &mut restored, &options).unwrap();
        assert!(restored == raw);
        let mut restored = Vec::new();
        let mut decoder = Decoder::new(&whole[..], &options);
        let mut piece = [1; 777];
        while let n @ 1.. = decoder.read(&mut piece).unwrap() {
            restored.extend_from_slice(&piece[..n]);
        }
        assert!(restored == raw);
        let mut archive = Archive::open(Cursor::new(&whole), &options).unwrap();
        for range in [
            0..1,
            1..BLOCK * 4,
            BLOCK - 1..BLOCK * 9 + 5,
            raw.len() - 78..raw.len(),
        ] {
            let mut part = Vec::new();
            archive
                .read_range(range.start as u64..range.end as u64, &mut part)
                .unwrap();
            assert!(part == raw[range]);
        }
    }
}

/// Bytes that are skipped in runs give the same result as if each were examined.
#[test]
fn runs_of_all_lengths_come_back() {
    for byte in [0, 1, b'e', 255] {
        let mut raw = Vec::new();
        for (n, piece) in cases::text(300_000).chunks(900).enumerate() {
            raw.extend_from_slice(piece);
            raw.extend(std::iter::repeat_n(byte, n * n * n * 7919 % 9001));
        }
        for block in [1 << 20, 8 << 20] {
            let (restored, end) = decompressed(&compressed(&raw, block));
            end.unwrap();
            assert!(restored == raw);
        }
    }
}

/// A lone block is cut in two for several threads, and the BWTs of the parts are merged.
#[test]
fn a_lone_block_is_the_same_on_any_number_of_threads() {
    let text = cases::text(2_500_000);
    for raw in [
        text.clone(),
        text[..1_300_000].repeat(2),
        cases::random(2_500_000, 3),
    ] {
        let alone = |threads| {
            let mut file = Vec::new();
            bwz::compress(&raw[..], &mut file, &options(8 << 20).threads(threads)).unwrap();
            file
        };
        let file = alone(1);
        assert!(
            [2, 3, 4, 7]
                .into_iter()
                .all(|threads| alone(threads) == file)
        );
        let mut encoder = Encoder::new(Vec::new(), &options(8 << 20));
        encoder.write_all(&raw).unwrap();
        assert!(encoder.finish().unwrap().0 == file);
        assert!(decompressed(&file).0 == raw);
    }
}

#[test]
fn the_encoder_writes_what_compress_writes() {
    let raw = cases::text(300_000);
    for piece in [1, 1000, 65_536, 65_537, 300_000] {
        let mut encoder = Encoder::new(Vec::new(), &options(1 << 16));
        raw.chunks(piece)
            .for_each(|bytes| encoder.write_all(bytes).unwrap());
        encoder.flush().unwrap();
        let (file, summary) = encoder.finish().unwrap();
        assert!(file == compressed(&raw, 1 << 16), "pieces of {piece}");
        assert_eq!(summary.raw_size, 300_000);
    }
    let (empty, _) = Encoder::new(Vec::new(), &options(1 << 16))
        .finish()
        .unwrap();
    assert_eq!(empty, compressed(b"", 1 << 16));
}

#[test]
fn the_decoder_gives_what_decompress_gives() {
    let raw = cases::text(300_000);
    let file = compressed(&raw, 1 << 16);
    for piece in [1, 1000, 65_536, 400_000] {
        let mut decoder = Decoder::new(&file[..], &options(1 << 16));
        let mut restored = Vec::new();
        let mut buffer = vec![0; piece];
        loop {
            let read = decoder.read(&mut buffer).unwrap();
            if read == 0 {
                break;
            }
            restored.extend_from_slice(&buffer[..read]);
        }
        assert!(restored == raw, "pieces of {piece}");
    }
}

#[test]
fn frames_concatenate_whatever_their_block_sizes() {
    let parts: [(&[u8], u32); 6] = [
        (b"", 1 << 16),
        (&cases::text(100_000), 1 << 12),
        (b"x", 1 << 20),
        (b"", 1),
        (&cases::text(200_000), 1 << 18),
        (&cases::random(5_000, 256), 100),
    ];
    let file: Vec<u8> = parts
        .iter()
        .flat_map(|(raw, block)| compressed(raw, *block))
        .collect();
    let raw: Vec<u8> = parts
        .iter()
        .flat_map(|(raw, _)| raw.to_vec())
        .collect();
    let (restored, end) = decompressed(&file);
    assert_eq!(end.unwrap().raw_size, raw.len() as u64);
    assert!(restored == raw);

    let mut pulled = Vec::new();
    Decoder::new(&file[..], &options(1))
        .read_to_end(&mut pulled)
        .unwrap();
    assert!(pulled == raw);

    let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    assert_eq!(archive.frames().len(), 6);
    assert_eq!(
        (archive.raw_size(), archive.coded_size()),
        (raw.len() as u64, file.len() as u64)
    );
    let mut ranged = Vec::new();
    archive
        .read_range(99_990..300_100, &mut ranged)
        .unwrap();
    assert!(ranged == raw[99_990..300_100]);
}

#[test]
fn any_range_is_read_by_decoding_its_blocks_only() {
    let raw = cases::text(100_000);
    let file = compressed(&raw, 10_000);
    let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    assert_eq!(archive.blocks().len(), 10);
    for (range, blocks) in [
        (0..0, 0),
        (0..1, 1),
        (9_999..10_000, 1),
        (9_999..10_001, 2),
        (10_000..20_000, 1),
        (55_555..77_777, 3),
        (0..100_000, 10),
        (100_000..100_000, 0),
    ] {
        let mut out = Vec::new();
        let cost = archive
            .read_range(range.clone(), &mut out)
            .unwrap();
        assert!(
            out == raw[range.start as usize..range.end as usize],
            "{range:?}"
        );
        assert_eq!(cost.blocks, blocks, "{range:?}");
        assert!(cost.coded_bytes <= file.len() as u64 * (blocks + 1) / 10);
    }
    for range in [0..100_001, 100_001..100_001, Range { start: 5, end: 4 }] {
        assert!(matches!(
            archive.read_range(range, Vec::new()),
            Err(bwz::Error::Usage(_))
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_in_any_blocks_are_restored(
        raw in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..5000),
            prop::collection::vec(0u8..3, 0..5000),
            (prop::collection::vec(any::<u8>(), 1..40), 1usize..200).prop_map(|(v, n)| v.repeat(n)),
        ],
        block in 1u32..3000,
        threads in 1usize..4,
    ) {
        let options = options(block).threads(threads);
        let mut file = Vec::new();
        bwz::compress(&raw[..], &mut file, &options).unwrap();
        let mut restored = Vec::new();
        bwz::decompress(&file[..], &mut restored, &options).unwrap();
        prop_assert_eq!(restored, raw);
    }

    #[test]
    fn any_range_is_the_same_slice(raw in prop::collection::vec(0u8..9, 1..4000), block in 1u32..900, a: usize, b: usize) {
        let a = a % (raw.len() + 1);
        let b = b % (raw.len() + 1);
        let start = a.min(b);
        let end = a.max(b);
        let mut archive = Archive::open(Cursor::new(compressed(&raw, block)), &options(block)).unwrap();
        let mut out = Vec::new();
        archive.read_range(start as u64..end as u64, &mut out).unwrap();
        prop_assert_eq!(&out[..], &raw[start..end]);
    }
}
