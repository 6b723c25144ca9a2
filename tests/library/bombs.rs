//! A few bytes that claim to be very large: nothing is decoded for which the caller has not allowed
//! memory or output.

use crate::common;
use crate::common::layout::{self, BLOCK_HEADER, Block, End, HEADER};
use crate::common::{cases, compressed, indexed};
use bwz::internals::coder::{self, Coding, SliceLimits};
use bwz::{Archive, Error, Options};
use std::io::{Cursor, Read};

/// Raw bytes of the block: more than any level's.
const SIZE: u32 = 320 << 20;

/// Sound samples, models and slices of [`SIZE`] zeros, in a few hundred bytes.
fn payload() -> Vec<u8> {
    // The suffix at position p of a run is at row SIZE - p.
    let samples: Vec<u32> = (0..SIZE)
        .step_by(1 << 22)
        .map(|pos| SIZE - pos)
        .collect();
    let limits = SliceLimits {
        runs: 1,
        bytes: 1 << 24,
    };
    let coded = coder::encode_slices(&vec![0; 1 << 24], limits, Coding::StaticRans);
    let models = &coded.models;
    let slice = &coded.slices[0];
    let array = |values: &[u32]| {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes());
        [32].into_iter().chain(bytes).collect::<Vec<u8>>()
    };
    let sizes = [
        array(&[20]),
        array(&[1 << 24; 19]),
        array(&[models.len() as u32]),
        array(&[slice.len() as u32; 19]),
    ];
    [
        &sizes.concat()[..],
        models,
        &array(&samples),
        &slice.repeat(20),
    ]
    .concat()
}

/// The CRC-32 of [`SIZE`] zeros.
fn checksum_of_zeros() -> u32 {
    let part = crc32fast::hash(&[0; 1 << 16]);
    let mut hasher = crc32fast::Hasher::new();
    for _ in 0..SIZE >> 16 {
        hasher.combine(&crc32fast::Hasher::new_with_initial_len(part, 1 << 16));
    }
    hasher.finalize()
}

/// A frame of one block of [`SIZE`] zeros.
fn bomb() -> Vec<u8> {
    let payload = payload();
    let checksum = checksum_of_zeros();
    let features = layout::STATIC_RANS | layout::WIDE;
    let block = Block {
        shape: [1, 0, 0, 22],
        raw_size: SIZE.into(),
        coded_size: payload.len() as u64,
        raw_checksum: checksum,
        raw_offset: 0,
        payload_checksum: crc32fast::hash(&payload),
    };
    let table = layout::seek_table(&layout::one_block(block.shape));
    let start = layout::frame_header(SIZE.into(), features);
    let before = [start, block.header(), payload, table.clone()].concat();
    let end = End {
        raw_size: SIZE.into(),
        table_size: table.len() as u64,
        features,
        checksum,
        frame_size: (before.len() + layout::FOOTER) as u64,
    };
    [before, end.footer()].concat()
}

/// The error of every way to read a file's bytes.
fn every_way(file: &[u8], options: &Options) -> Vec<(&'static str, Error)> {
    let open = || Archive::open(Cursor::new(file), options).unwrap();
    let end = open().raw_size();
    vec![
        (
            "decompress",
            bwz::decompress(file, std::io::sink(), options).unwrap_err(),
        ),
        (
            "decoder",
            Error::from(
                bwz::Decoder::new(file, options)
                    .read_to_end(&mut Vec::new())
                    .unwrap_err(),
            ),
        ),
        (
            "range",
            open()
                .read_range(0..end, std::io::sink())
                .unwrap_err(),
        ),
        ("extract", open().extract(0..end).unwrap_err()),
        (
            "recover",
            bwz::recover(Cursor::new(file), std::io::sink(), options).unwrap_err(),
        ),
    ]
}

#[test]
fn a_block_above_the_largest_level_takes_asking_for_memory() {
    let file = bomb();
    assert!(file.len() < 2_000);
    let count = Archive::open(Cursor::new(&file), &Options::new())
        .unwrap()
        .count(&["x"]);
    let ways = every_way(&file, &Options::new());
    for (way, end) in ways
        .into_iter()
        .chain([("count", count.unwrap_err())])
    {
        let Error::Limit {
            what,
            needed,
            allowed,
            ..
        } = &end
        else {
            panic!("{way}: {end}")
        };
        assert!(
            what.contains("335544320 bytes") && what.contains("(block 0, at byte 23)"),
            "{end}"
        );
        assert!(
            *needed > 7 * u64::from(SIZE) && needed > allowed,
            "{way}: {end}"
        );
    }
}

/// A few bytes with the complete header of a block of 2^39 bytes, and a payload that is cut off.
#[test]
fn a_header_may_claim_half_a_terabyte() {
    let size = 1_u64 << 39;
    let start = layout::frame_header(size, layout::STATIC_RANS | layout::WIDE);
    let block = Block {
        shape: [1, 0, 0, 30],
        raw_size: size,
        coded_size: 1 << 38,
        ..Block::default()
    };
    let file = [start, block.header(), vec![40; 3000]].concat();
    for options in [Options::new(), Options::new().memory(1 << 36)] {
        for end in [
            bwz::decompress(&file[..], std::io::sink(), &options).unwrap_err(),
            bwz::Decoder::new(&file[..], &options)
                .read_to_end(&mut Vec::new())
                .unwrap_err()
                .into(),
        ] {
            let Error::Limit { what, needed, .. } = &end else {
                panic!("{end}")
            };
            assert!(
                what.contains("549755813888 bytes") && *needed > 6 << 39,
                "{end}"
            );
        }
        // A scan counts it as lost, since the file ends before the block.
        let mut saved = Vec::new();
        bwz::recover(Cursor::new(&file), &mut saved, &options).unwrap();
        assert!(saved.is_empty());
    }
    // Even if the options allow memory that does not exist, none is allocated before the bytes are
    // there.
    let end = bwz::decompress(&file[..], std::io::sink(), &Options::new().memory(1 << 50));
    assert!(end.unwrap_err().to_string().contains("cut off"));
}

/// Permission is recognised by the next thing that is refused, so that the test needs no gigabytes.
#[test]
fn memory_or_a_block_size_that_was_asked_for_is_permission() {
    let file = bomb();
    let none = || Options::new().limit_output(0);
    for (way, end) in every_way(&file, &none().memory(1 << 40)) {
        assert!(matches!(end, Error::OutputLimit { .. }), "{way}: {end}");
    }
    for (way, end) in every_way(&file, &none().with_block_size(SIZE.into()).unwrap()) {
        assert!(!end.to_string().contains("unless"), "{way}: {end}");
    }
    let tight = every_way(&file, &none().memory(1 << 30));
    let decompressed = &tight[0].1;
    assert!(
        matches!(
            decompressed,
            Error::Limit {
                allowed: 0x4000_0000,
                ..
            }
        ),
        "{decompressed}"
    );
}

#[test]
fn output_ends_before_the_block_that_would_be_too_much() {
    let raw = cases::text(10_000);
    let file = [
        compressed(&raw[..4_500], 1_000),
        compressed(&raw[4_500..], 1_000),
    ]
    .concat();
    let options = |limit| common::options(1).limit_output(limit);
    for (limit, whole) in [
        (0, 0),
        (999, 0),
        (4_499, 4_000),
        (4_500, 4_500),
        (9_999, 9_500),
    ] {
        for (way, end) in every_way(&file, &options(limit)) {
            let Error::OutputLimit {
                needed, allowed, ..
            } = end
            else {
                panic!("{way}: {end}")
            };
            assert!(needed > limit && allowed == limit, "{way}");
        }
        let mut out = Vec::new();
        let end = bwz::decompress(&file[..], &mut out, &options(limit))
            .unwrap_err()
            .to_string();
        assert!(out == raw[..whole], "{limit}: {} bytes", out.len());
        let block = format!("block {} of ", whole.div_ceil(1_000));
        assert!(end.contains(&block) && end.contains("at byte"), "{end}");
        let mut saved = Vec::new();
        assert!(bwz::recover(Cursor::new(&file), &mut saved, &options(limit)).is_err());
        assert!(
            saved == raw[..whole],
            "{limit}: {} bytes saved",
            saved.len()
        );
    }
    let mut out = Vec::new();
    bwz::decompress(&file[..], &mut out, &options(10_000)).unwrap();
    assert!(out == raw);
    let mut archive = Archive::open(Cursor::new(&file), &options(10)).unwrap();
    assert_eq!(archive.extract(4_495..4_505).unwrap(), &raw[4_495..4_505]);
    assert!(archive.extract_all(&[0..6, 4..9]).is_err());
}

/// A damaged block is lost, and is no reason to ask for memory.
#[test]
fn recover_asks_for_no_room_for_what_is_damaged() {
    let raw = cases::random(3_000, 256);
    let mut file = compressed(&raw, 1_000);
    file[HEADER + BLOCK_HEADER + 1_000 + 100] ^= 1;
    for cut in [file.len(), file.len() - 1] {
        let input = Cursor::new(&file[..cut]);
        let mut saved = Vec::new();
        bwz::recover(input, &mut saved, &common::options(1).limit_output(2_000)).unwrap();
        assert!(saved == [&raw[..1_000], &raw[2_000..]].concat());
    }
}

/// This holds even if a small file claims very many records.
#[test]
fn a_list_of_records_takes_no_more_memory_than_is_allowed() {
    let mut file = Vec::new();
    let options = Options::new()
        .index(bwz::DEFAULT_SAMPLE_RATE)
        .unwrap();
    let reads = b">a\nA\n".repeat(200_000);
    bwz::compress(&reads[..], &mut file, &options).unwrap();
    let records = |memory| {
        let mut archive = Archive::open(Cursor::new(&file), &options.clone().memory(memory))?;
        archive.records().map(<[_]>::len)
    };
    assert_eq!(records(256 << 20).unwrap(), 200_000);
    assert!(matches!(records(32 << 20), Err(Error::Limit { .. })));
}

/// This holds even if a search needs only few slices of a block that is not decoded.
#[test]
fn an_index_on_disk_takes_no_more_memory_than_is_allowed() {
    let raw = cases::text(4 << 20);
    let file = common::indexed(&raw, 4 << 20, Some(8));
    let pattern = &raw[1000..1008];
    let locate = |memory| {
        let options = Options::new().memory(memory);
        let mut archive = Archive::open(Cursor::new(&file), &options)?;
        archive
            .locate(&[pattern], 1)
            .map(|found| found[0].positions.clone())
    };
    assert!(raw[locate(8 << 20).unwrap()[0] as usize..].starts_with(pattern));
    let end = locate(4 << 20);
    let Err(Error::Limit { what, needed, .. }) = end else {
        panic!("{end:?}")
    };
    assert!(
        what.contains("the index of a block of 4194304 bytes (block 0"),
        "{what}"
    );
    // 4 MiB for half a million samples, and the samples in their stored form of 22 bits each.
    assert!((5 << 20..7 << 20).contains(&needed), "{needed}");
}

#[test]
fn slices_of_long_runs_take_no_more_memory_than_is_allowed() {
    let file = common::indexed(&vec![b'a'; 48 << 20], 64 << 20, Some(16));
    let count = |threads, memory| {
        let options = Options::new().threads(threads).memory(memory);
        Archive::open(Cursor::new(&file), &options)?.count(&["aa"])
    };
    assert_eq!(count(2, 16 << 20).unwrap(), [(48 << 20) - 1]);
    // 1 MiB for each of two slices per thread and for each of 4 kept slices, and 4 KiB for its
    // counts. With this little memory there is one thread.
    assert_eq!(count(16, 16 << 20).unwrap(), [(48 << 20) - 1]);
    let end = count(16, 4 << 20);
    let Err(Error::Limit { needed, .. }) = end else {
        panic!("{end:?}")
    };
    assert!((6 << 20..7 << 20).contains(&needed), "{needed}");
}

#[test]
fn a_block_that_there_is_no_memory_for_is_searched_where_it_is() {
    let bases = cases::random(5_000_000, 4).into_iter();
    let text: Vec<u8> = bases
        .map(|base| b"ACGT"[usize::from(base)])
        .collect();
    let patterns: Vec<&[u8]> = (0..250)
        .map(|n| &text[n * 19_000..][..12 + n % 50])
        .collect();
    let counts = patterns
        .iter()
        .map(|p| memchr::memmem::find_iter(&text, p).count() as u64);
    let counts: Vec<u64> = counts.collect();
    let file = indexed(&text, 6 << 20, Some(16));
    // Blocks that can be decoded but not kept would be decoded for each batch.
    for (memory, blocks) in [(1 << 30, 1), (60 << 20, 0), (24 << 20, 0)] {
        let options = Options::new().threads(2).memory(memory);
        let mut archive = Archive::open(Cursor::new(&file[..]), &options).unwrap();
        let mut searcher = archive.searcher().unwrap();
        for _ in 0..20 {
            assert_eq!(searcher.count(&patterns).unwrap(), counts);
        }
        drop(searcher);
        assert_eq!(archive.search_cost().blocks, blocks, "with {memory} bytes");
    }
}
