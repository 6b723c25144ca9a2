//! Files that this version's encoder does not write. Files of other writers are read. Files of
//! other versions and files with larger blocks are refused by name and not called damaged.

use crate::common;
use crate::common::draft_8::DRAFT_8;
use crate::common::{block_of, cases, decompressed, options};
use bwz::internals::DRAFT;
use bwz::{Archive, Bound, Decoder, Error, Options, internals};
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};

/// Pairs of raw bytes and a file of them.
fn files() -> Vec<(Vec<u8>, Vec<u8>)> {
    let text = cases::text(9000);
    let genome = common::fasta(9000);
    let mut files = vec![(genome.clone(), common::indexed_sequences(&genome))];
    for rate in [None, Some(16)] {
        files.push((text.clone(), common::uneven(&text, rate)));
        files.push((text.clone(), common::with_tables(&text, rate)));
    }
    files
}

#[test]
fn files_of_other_writers_are_read_from_the_start_and_by_position() {
    for (raw, file) in files() {
        let (restored, end) = decompressed(&file);
        assert_eq!(end.unwrap().raw_size, raw.len() as u64);
        assert!(restored == raw);
        let mut restored = Vec::new();
        Decoder::new(&file[..], &options(1))
            .read_to_end(&mut restored)
            .unwrap();
        assert!(restored == raw);
        let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        for start in [
            0, 1, 2999, 3000, 3001, 3002, 3003, 3703, 4499, 4500, 7704, 8990,
        ] {
            for len in [1, 2, 700, 5000] {
                let end = (start + len).min(raw.len());
                let mut part = Vec::new();
                archive
                    .read_range(start as u64..end as u64, &mut part)
                    .unwrap();
                assert!(part == raw[start..end], "{start}..{end}");
                assert!(archive.extract(start as u64..end as u64).unwrap() == raw[start..end]);
            }
        }
    }
}

#[test]
fn files_of_other_writers_are_recovered() {
    for (raw, mut file) in files() {
        let blocks = Archive::open(Cursor::new(&file), &options(1))
            .unwrap()
            .blocks()
            .to_vec();
        let lost = &blocks[1];
        file[lost.coded.start as usize + 45] ^= 1;
        // With the tables at its end, and by its markers alone.
        for end in [file.len(), file.len() - 1] {
            let mut saved = Vec::new();
            let recovery =
                bwz::recover(Cursor::new(&file[..end]), &mut saved, &options(1)).unwrap();
            let start = lost.raw.start;
            let end = lost.raw.end;
            assert_eq!(
                recovery.lost[0],
                bwz::Lost {
                    start,
                    end: Some(end)
                }
            );
            assert!(saved == [&raw[..start as usize], &raw[end as usize..]].concat());
        }
    }
}

/// The end of a frame is found by its marker, behind its tables.
#[test]
fn a_frame_with_tables_ends_where_it_does() {
    let raw = cases::text(2000);
    let mut file = common::with_tables(&raw, None);
    file.extend(b"garbage");
    let mut saved = Vec::new();
    let recovery = bwz::recover(Cursor::new(&file), &mut saved, &options(1)).unwrap();
    assert!(saved == raw);
    assert_eq!(
        recovery.lost,
        [bwz::Lost {
            start: 2000,
            end: None
        }]
    );
}

/// The error of each way to read a file. Recovery is last, if it saves nothing.
fn said(file: &[u8], options: &Options) -> Vec<Error> {
    let open = || Archive::open(Cursor::new(file), options);
    let decoder = Decoder::new(file, options).read_to_end(&mut Vec::new());
    let recovery = bwz::recover(Cursor::new(file), std::io::sink(), options);
    let said = [
        bwz::decompress(file, std::io::sink(), options).unwrap_err(),
        Error::from(decoder.unwrap_err()),
        open()
            .and_then(|mut archive| archive.read_range(0..1, std::io::sink()))
            .unwrap_err(),
        open()
            .and_then(|mut archive| archive.count(&["a"]))
            .unwrap_err(),
    ];
    said.into_iter().chain(recovery.err()).collect()
}

#[test]
fn another_version_is_named_and_not_called_damaged() {
    let empty = common::compressed(b"", 1);
    let mut later = common::compressed(&cases::text(900), 1);
    later[4] = 0x80 + 31;
    let mut frozen = empty.clone();
    frozen[4] = 2;
    let reads = |what: &str| format!("{what}; this bwz reads draft {DRAFT}");
    let draft_8 = reads("draft 8 of the bwz format, or an earlier one");
    for (file, name) in [
        (&DRAFT_8[..], draft_8.clone()),
        (&DRAFT_8[..100], draft_8.clone()),
        (&DRAFT_8[..5], draft_8),
        (&empty[..14], "the file ends in the middle".to_owned()),
        (&later[..50], reads("draft 31 of the bwz format")),
        (&frozen[..20], reads("version 2 of the bwz format")),
    ] {
        let said = said(file, &options(1));
        assert_eq!(said.len(), 5);
        for (way, error) in said.iter().enumerate() {
            if name.starts_with("draft") || name.starts_with("version") {
                assert!(
                    matches!(error, Error::Version { offset: 0, .. }),
                    "{way}: {error}"
                );
                assert!(error.to_string().contains(&name), "{way}: {error}");
            } else {
                assert!(matches!(error, Error::Format { .. }), "{way}: {error}");
            }
        }
    }
}

/// The first frame is restored, and the second is named in the error.
#[test]
fn a_frame_of_another_version_behind_one_of_this_is_named() {
    let file = [&common::compressed(b"text", 1)[..], &DRAFT_8].concat();
    let (restored, end) = decompressed(&file);
    assert_eq!(restored, b"text");
    let start = (file.len() - DRAFT_8.len()) as u64;
    let is_named =
        |error: &Error| matches!(error, Error::Version { offset, .. } if *offset == start);
    assert!(is_named(&end.unwrap_err()));
    let opened = Archive::open(Cursor::new(&file), &options(1)).unwrap_err();
    assert!(is_named(&opened), "{opened}");
}

#[test]
fn a_table_that_must_be_known_is_of_a_later_version() {
    let raw = cases::text(3000);
    let must: [(u8, &[u8]); 2] = [(1, b"may be passed"), (200, b"must be known")];
    for rate in [None, Some(8)] {
        let block = || block_of(&raw, rate);
        let in_block = internals::with_tables(block(), &must).unwrap();
        let of_block = internals::frame([in_block], &[]).unwrap();
        let of_frame = internals::frame([block()], &must).unwrap();
        for file in [&of_block, &of_frame] {
            for error in said(file, &options(1)) {
                assert!(matches!(error, Error::Version { .. }), "{error}");
                assert!(
                    error.to_string().contains("a later bwz reads it"),
                    "{error}"
                );
            }
        }
        let mut archive = Archive::open(Cursor::new(&of_block[..]), &options(1)).unwrap();
        let on_disk = internals::locate_on_disk(&mut archive, 0, b"x", 1);
        assert!(rate.is_none() || matches!(on_disk, Err(Error::Version { .. })));
        // If only a frame's table is of a later version, its blocks can be restored.
        let mut saved = Vec::new();
        bwz::recover(Cursor::new(&of_frame), &mut saved, &options(1)).unwrap();
        assert!(saved == raw);
    }
}

/// A file with a stored block of 2^31 bytes, all of which are a hole.
fn larger_than_any() -> File {
    let sealed = |parts: &[&[u8]]| {
        let bytes = parts.concat();
        [&bytes[..], &crc32fast::hash(&bytes).to_le_bytes()].concat()
    };
    let size: u64 = 1 << 31;
    let five = |number: u64| number.to_le_bytes()[..5].to_vec();
    let frame_header = sealed(&[&common::frame_start(), &five(size)]);
    let marker = [0xB5, 0xE1, 0x7A, 0x96, 0x2C, 0xD4, 0x0F, 0x83, 0, 0, 0, 0];
    let block = sealed(&[&marker, &five(size), &five(size), &[7; 4], &[0; 8], &[7; 4]]);
    let entries = [0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0];
    let marker = [0xB5, 0xE1, 0x7A, 0x96, 0xD3, 0x2B, 0xF0, 0x7C, 0, 0];
    let sum = crc32fast::hash(&entries).to_le_bytes();
    let table = [
        sealed(&[&marker, &five(1), &five(16), &sum]),
        entries.to_vec(),
    ]
    .concat();
    let frame_size = 16 + 42 + size + 44 + 32;
    let sizes = [
        &size.to_le_bytes()[..],
        &frame_size.to_le_bytes()[..7],
        &five(44),
    ]
    .concat();
    let footer = [&sealed(&[&sizes, &[7; 4]])[..], b"zwb\xF7"].concat();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[frame_header, block].concat())
        .unwrap();
    file.seek(SeekFrom::Current(size as i64)).unwrap();
    file.write_all(&[table, footer].concat()).unwrap();
    file
}

#[test]
fn blocks_above_the_memory_are_listed_but_refused_and_not_called_damaged() {
    let mut file = larger_than_any();
    let options = options(1).memory(8 << 30);
    let mut archive = Archive::open(file.try_clone().unwrap(), &options).unwrap();
    assert_eq!(
        (archive.raw_size(), archive.frames()[0].block_size),
        (1 << 31, 1 << 31)
    );
    let mut errors = vec![
        archive
            .read_range(5..6, std::io::sink())
            .unwrap_err(),
        archive.count(&["a"]).unwrap_err(),
        archive.extract(5..6).unwrap_err(),
    ];
    file.rewind().unwrap();
    errors.push(bwz::decompress(&file, std::io::sink(), &options).unwrap_err());
    file.rewind().unwrap();
    let decoder = Decoder::new(&file, &options).read_to_end(&mut Vec::new());
    errors.push(Error::from(decoder.unwrap_err()));
    for error in errors {
        let is_refused = matches!(
            error,
            Error::Limit {
                needed: 0x3_8000_0000..,
                by: Bound::Memory,
                ..
            }
        );
        assert!(is_refused, "{error:?}");
        let said = "a block of 2147483648 bytes (block 0, at byte ";
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(
            error
                .to_string()
                .contains("MiB of memory, 8192 MiB allowed"),
            "{error}"
        );
    }
}
