//! Files that this version's encoder does not write. Files of other writers are read. Files of
//! other versions and files with larger blocks are refused by name and not called damaged.

use crate::common;
use crate::common::draft_8::DRAFT_8;
use crate::common::layout::{self, Block, End, FOOTER};
use crate::common::mutation::parts::{self, Kind, Part, varint};
use crate::common::mutation::random::Random;
use crate::common::mutation::repair::{self, Care};
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

/// A reader in order restores the frames before one of another version, and names it. A reader by
/// position passes over it, since it tells its size, and reads the frames behind it too.
#[test]
fn a_frame_of_another_version_is_named_and_the_others_are_read() {
    let text = common::compressed(b"text", 1);
    let mut later = parts::parse(&common::compressed(&cases::text(900), 1 << 20));
    later[0].set(4, 1, 0x80 + 31);
    later.last_mut().unwrap().set(27, 1, 0x80 + 31);
    repair::sign(&mut later, Care::All, &mut Random::new(0));
    let later = parts::join(&later);
    for (frames, at, before) in [
        ([&text[..], &later, &text], text.len(), 4),
        ([&text, &text, &later], 2 * text.len(), 8),
        ([&later, &text, &text], 0, 0),
    ] {
        let file = frames.concat();
        let (restored, end) = decompressed(&file);
        assert!(restored == b"texttext"[..before]);
        let end = end.unwrap_err();
        assert!(
            matches!(end, Error::Version { offset, .. } if offset == at as u64),
            "{end}"
        );
        let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        assert_eq!(archive.raw_size(), 8);
        assert_eq!(archive.extract(1..4).unwrap(), b"ext");
        assert_eq!(archive.extract(5..7).unwrap(), b"ex");
        let end = archive
            .count(&["t"])
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(end.contains("written by draft 31"), "{end}");
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(&file), &mut saved, &options(1)).unwrap();
        assert!(saved == b"texttext" && recovery.lacks_only_unsupported());
        assert_eq!(recovery.unsupported_frames, 1);
    }
}

/// Bytes before a sound frame may be fewer than a footer has.
#[test]
fn the_begin_of_a_frame_of_another_version_before_a_sound_frame_is_named() {
    let text = common::compressed(b"text", 1);
    for size in [5, 20, 35] {
        let file = [&DRAFT_8[..size], &text].concat();
        for error in said(&file, &options(1)) {
            assert!(
                matches!(error, Error::Version { offset: 0, .. }),
                "{size}: {error}"
            );
        }
    }
}

/// Drafts up to 17 have other footers, which do not tell where their frames begin.
#[test]
fn a_frame_of_an_old_draft_is_named_by_a_reader_in_order() {
    let file = [&common::compressed(b"text", 1)[..], &DRAFT_8].concat();
    let (restored, end) = decompressed(&file);
    assert_eq!(restored, b"text");
    assert!(matches!(end, Err(Error::Version { .. })));
    let opened = Archive::open(Cursor::new(&file), &options(1)).unwrap_err();
    assert!(matches!(opened, Error::Format { .. }), "{opened}");
}

/// Raw bytes of the frames and blocks of the files below.
const BLOCK: usize = 3000;

/// `file`, an unindexed or indexed one of three blocks, with the second block changed into one that
/// this version does not know. Sizes and checksums are right.
fn with_unknown_block(file: &[u8], change: impl Fn(&mut Vec<Part>, usize)) -> Vec<u8> {
    let mut parts = parts::parse(file);
    let mut blocks = (0..parts.len()).filter(|&n| parts[n].kind == Kind::BlockHeader);
    let second = blocks.nth(1).unwrap();
    change(&mut parts, second);
    repair::sizes(&mut parts);
    repair::sign(&mut parts, Care::All, &mut Random::new(0));
    parts::join(&parts)
}

/// Names of ids in messages, and three blocks of which the second is unknown by this id.
fn unknown_blocks(raw: &[u8], rate: Option<u32>) -> Vec<(&'static str, Vec<u8>)> {
    let pieces: Vec<&[u8]> = raw.chunks(BLOCK).collect();
    let plain = || pieces.iter().map(|piece| block_of(piece, rate));
    let file = internals::frame(plain(), &[]).unwrap();
    let set =
        |at: usize, value: u64| with_unknown_block(&file, |parts, n| parts[n].set(at, 1, value));
    // Filters in front of the block's others, of which there are none.
    let filter = with_unknown_block(&file, |parts, n| {
        let flags = parts[n].get(10, 1);
        parts[n].set(10, 1, flags | 1);
        let list = [
            Part::new(Kind::FilterCount, &[1]),
            Part::new(Kind::FilterId, &[77]),
            Part::new(Kind::FilteredSize, &varint(BLOCK as u64)),
            Part::new(Kind::SideSize, &[0]),
        ];
        parts.splice(n + 1..n + 1, list);
    });
    let mut files = vec![
        ("kind 5", set(8, 5)),
        ("coding 9", set(9, 9)),
        ("filter 77", filter),
    ];
    // A block has one list of tables, and an index is in it.
    if rate.is_none() {
        let tables: [(u16, &[u8]); 2] = [(0x8005, b"may be passed"), (200, b"must be known")];
        let mut blocks: Vec<_> = plain().collect();
        blocks[1] = internals::with_tables(blocks[1].clone(), &tables).unwrap();
        files.push((
            "a table of type 200",
            internals::frame(blocks, &[]).unwrap(),
        ));
    }
    files
}

/// True if an error is of block 1, which this version does not know by its `id`.
fn is_unknown_block(error: &Error, id: &str) -> bool {
    let said = error.to_string();
    matches!(error, Error::Unsupported { block: Some(1), .. })
        && said.contains(&format!("block 1 has {id}, which this bwz does not know"))
}

/// Everything of the other blocks is read, and nothing looks like the whole.
#[test]
fn a_block_of_a_later_version_is_unsupported_and_the_others_are_read() {
    let raw = cases::text(3 * BLOCK);
    for rate in [None, Some(8)] {
        for (id, file) in unknown_blocks(&raw, rate) {
            let (restored, end) = decompressed(&file);
            assert!(restored == raw[..BLOCK], "{id}");
            assert!(is_unknown_block(&end.unwrap_err(), id), "{id}");
            let mut pulled = Vec::new();
            let end = Decoder::new(&file[..], &options(1)).read_to_end(&mut pulled);
            assert!(pulled == raw[..BLOCK], "{id}");
            assert!(is_unknown_block(&end.unwrap_err().into(), id), "{id}");

            let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
            assert_eq!((archive.blocks().len(), archive.raw_size()), (3, 9000));
            for range in [0..3000, 1..2999, 6000..9000, 8999..9000, 3000..3000] {
                let wanted = &raw[range.start as usize..range.end as usize];
                let mut read = Vec::new();
                archive
                    .read_range(range.clone(), &mut read)
                    .unwrap();
                assert!(read == wanted, "{id}, {range:?}");
                assert!(archive.extract(range.clone()).unwrap() == wanted, "{id}");
            }
            for range in [0..9000, 2999..3001, 3000..6000, 5999..6001] {
                let mut read = Vec::new();
                let end = archive.read_range(range.clone(), &mut read);
                assert!(is_unknown_block(&end.unwrap_err(), id), "{id}, {range:?}");
                let end = archive.extract(range);
                assert!(is_unknown_block(&end.unwrap_err(), id), "{id}");
            }
            let many: Vec<&[u8]> = raw.windows(6).step_by(30).collect();
            for verify in [false, true] {
                let options = options(1).verify(verify);
                let open = || Archive::open(Cursor::new(&file), &options).unwrap();
                for end in [
                    open().count(&["e"]).map(drop),
                    open().count(&many).map(drop),
                    open().locate(&["e"], 3).map(drop),
                    open().locate(&many, 1).map(drop),
                    open()
                        .counts(["e"])
                        .try_for_each(|found| found.map(drop)),
                ] {
                    let end = end.expect_err("a search that is not complete");
                    assert!(is_unknown_block(&end, id), "{id}: {end}");
                }
            }
            if rate.is_some() {
                let mut open = Archive::open(Cursor::new(&file[..]), &options(1)).unwrap();
                for number in [0, 2] {
                    let found = internals::locate_on_disk(&mut open, number, b"e", 9);
                    assert_eq!(found.unwrap().unwrap().len(), 9, "{id}");
                }
                let end = internals::locate_on_disk(&mut open, 1, b"e", 9);
                assert!(is_unknown_block(&end.unwrap_err(), id), "{id}");
            }
            assert_saves_others(id, &raw, &file);
        }
    }
}

/// With the tables at the end of the file, and by its markers alone.
fn assert_saves_others(id: &str, raw: &[u8], file: &[u8]) {
    for end in [file.len(), file.len() - 1] {
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(&file[..end]), &mut saved, &options(1)).unwrap();
        assert!(saved == [&raw[..BLOCK], &raw[2 * BLOCK..]].concat(), "{id}");
        let lost = bwz::Lost {
            start: 3000,
            end: Some(6000),
        };
        assert_eq!((recovery.lost[0], recovery.unsupported), (lost, 3000));
        assert!(!recovery.is_complete(), "{id}");
        let is_whole = end == file.len();
        assert_eq!(recovery.lacks_only_unsupported(), is_whole, "{id}");
    }
}

/// A damaged block is damaged, whatever its id.
#[test]
fn an_unknown_block_that_is_damaged_is_called_damaged() {
    let raw = cases::text(3 * BLOCK);
    for (id, mut file) in unknown_blocks(&raw, None) {
        let archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        let block = archive.blocks()[1].coded.clone();
        file[block.end as usize - 1] ^= 1;
        let (restored, end) = decompressed(&file);
        assert!(restored == raw[..BLOCK], "{id}");
        let end = end.unwrap_err();
        assert!(
            matches!(end, Error::Format { block: Some(1), .. }),
            "{id}: {end}"
        );
        let recovery = bwz::recover(Cursor::new(&file), std::io::sink(), &options(1)).unwrap();
        assert!(
            recovery.unsupported == 0 && !recovery.lacks_only_unsupported(),
            "{id}"
        );
    }
}

/// A frame that holds `content` and no blocks.
fn frame_of_kind(kind: u8, content: &[u8]) -> Vec<u8> {
    let header = layout::frame_of_kind(kind, content.len() as u64, u32::from_le_bytes(*b"mine"));
    let end = End {
        checksum: crc32fast::hash(content),
        frame_size: (header.len() + content.len() + FOOTER) as u64,
        ..End::default()
    };
    [&header, content, &end.footer()].concat()
}

/// A private frame may hold anything, even bwz files, and be anywhere.
#[test]
fn private_frames_are_passed_over() {
    let raw = cases::text(2000);
    let inner = common::compressed(&cases::text(700), 1 << 20);
    for (kind, content) in [
        (128, &b""[..]),
        (128, &inner),
        (129, b"other"),
        (255, &[0; 70_000]),
    ] {
        let private = frame_of_kind(kind, content);
        let [first, second] =
            [&raw[..900], &raw[900..]].map(|raw| common::indexed(raw, 500, Some(8)));
        for file in [
            [&private[..], &first, &second].concat(),
            [&first[..], &private, &private, &second].concat(),
            [&first[..], &second, &private].concat(),
        ] {
            let (restored, end) = decompressed(&file);
            let summary = end.unwrap();
            assert!(restored == raw);
            assert_eq!(summary.coded_size, file.len() as u64);
            let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
            let private = archive
                .frames()
                .iter()
                .filter(|frame| frame.private.is_some());
            assert!(private.clone().count() > 0 && archive.raw_size() == 2000);
            let owners: Vec<_> = private
                .filter_map(|frame| frame.private)
                .collect();
            assert!(
                owners
                    .iter()
                    .all(|owner| owner.to_le_bytes() == *b"mine")
            );
            assert!(archive.extract(0..2000).unwrap() == raw);
            let count = raw.iter().filter(|&&byte| byte == b'e').count();
            assert_eq!(archive.count(&["e"]).unwrap(), [count as u64]);
            let mut saved = Vec::new();
            let recovery = bwz::recover(Cursor::new(&file), &mut saved, &options(1)).unwrap();
            assert!(saved == raw && recovery.is_complete(), "{recovery:?}");
            for bit in (0..private_bits(&file, kind)).step_by(3) {
                let mut bad = file.clone();
                let at = file.len().min(bit / 8);
                bad[at] ^= 1 << (bit % 8);
                assert!(decompressed(&bad).1.is_err(), "bit {bit}");
            }
        }
        let alone = decompressed(&private);
        assert!(alone.0.is_empty() && alone.1.is_ok());
        let archive = Archive::open(Cursor::new(&private), &options(1)).unwrap();
        assert_eq!((archive.raw_size(), archive.blocks().len()), (0, 0));
    }
}

/// Bits at the front of a file that begins with a frame of kind 128, in which each bit counts.
fn private_bits(file: &[u8], kind: u8) -> usize {
    match kind == 128 && file[5] == kind {
        true => 8 * layout::HEADER,
        false => 0,
    }
}

/// True if an error is of a frame at `offset` that this version does not know.
fn is_unknown_frame(error: &Error, offset: usize) -> bool {
    matches!(error, Error::Unsupported { block: None, offset: at, .. } if *at == offset as u64)
        && error
            .to_string()
            .contains("this bwz does not know")
}

#[test]
fn a_frame_of_an_unknown_kind_is_unsupported_and_the_others_are_read() {
    let raw = cases::text(2000);
    let nested = common::compressed(b"no block of the file", 1 << 20);
    let unknown = frame_of_kind(5, &nested);
    let [first, second] = [&raw[..900], &raw[900..]].map(|raw| common::indexed(raw, 500, Some(8)));
    for (at, whole, before, file) in [
        (0, false, 0, [&unknown[..], &first, &second].concat()),
        (
            first.len(),
            false,
            900,
            [&first[..], &unknown, &second].concat(),
        ),
        (
            first.len() + second.len(),
            true,
            2000,
            [&first[..], &second, &unknown].concat(),
        ),
    ] {
        let (restored, end) = decompressed(&file);
        assert!(restored == raw[..before]);
        assert!(is_unknown_frame(&end.unwrap_err(), at));
        let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        let kinds = archive
            .frames()
            .iter()
            .map(|frame| frame.unsupported.is_some());
        assert_eq!(kinds.filter(|&is| is).count(), 1);
        for range in [1..900, 900..1999, 1..10, 1000..1400] {
            let wanted = &raw[range.start as usize..range.end as usize];
            assert!(archive.extract(range.clone()).unwrap() == wanted);
            let mut read = Vec::new();
            archive.read_range(range, &mut read).unwrap();
            assert!(read == wanted);
        }
        let end = archive.read_range(0..2000, std::io::sink());
        assert!(is_unknown_frame(&end.unwrap_err(), at));
        let end = archive.extract(899..901).map(drop);
        assert_eq!(end.is_err(), before == 900, "{whole}");
        for end in [
            archive.count(&["e"]).map(drop),
            archive.count(&[""]).map(drop),
            archive.locate(&["e"], 1).map(drop),
            archive.records().map(drop),
        ] {
            let end = end.expect_err("not complete");
            assert!(is_unknown_frame(&end, at), "{end}");
        }
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(&file), &mut saved, &options(1)).unwrap();
        assert!(saved == raw, "{} bytes", saved.len());
        let start = before as u64;
        assert_eq!(recovery.lost, [bwz::Lost { start, end: None }]);
        assert!(recovery.lacks_only_unsupported() && !recovery.is_complete());
    }
}

/// Tables and checks of a whole frame. Its blocks can still be saved.
#[test]
fn a_frame_with_an_unknown_table_or_check_is_unsupported_and_the_others_are_read() {
    let raw = cases::text(2000);
    let whole = common::compressed(&raw, 1 << 20);
    let must: [(u16, &[u8]); 2] = [(0x8005, b"may be passed"), (200, b"must be known")];
    let of_frame = internals::frame([block_of(&raw, None)], &must).unwrap();
    let mut of_header = parts::parse(&whole);
    let table = [
        Part::new(Kind::TablesSize, &[0]),
        Part::new(Kind::TableType, &[1, 0]),
        Part::new(Kind::TableSize, &[0]),
        Part::new(Kind::TableChecksum, &[0; 4]),
        Part::new(Kind::Content, b"a dictionary"),
    ];
    of_header.splice(1..1, table);
    of_header[0].set(6, 1, 1);
    let mut checked = parts::parse(&whole);
    checked[0].set(7, 1, 9);
    let [of_header, checked] = [of_header, checked].map(|mut parts| {
        repair::sizes(&mut parts);
        repair::sign(&mut parts, Care::All, &mut Random::new(0));
        parts::join(&parts)
    });
    for frame in [of_frame, of_header, checked] {
        for error in said(&frame, &options(1)) {
            assert!(
                matches!(error, Error::Unsupported { block: None, .. }),
                "{error}"
            );
        }
        let other = common::compressed(b"other", 9);
        let file = [&other[..], &frame, &other].concat();
        let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        assert_eq!(archive.raw_size(), 2010);
        assert_eq!(archive.extract(0..5).unwrap(), b"other");
        assert_eq!(archive.extract(2005..2010).unwrap(), b"other");
        for range in [0..6, 5..6, 100..200, 2004..2006] {
            let end = archive
                .extract(range.clone())
                .map(drop)
                .unwrap_err();
            assert!(
                matches!(end, Error::Unsupported { block: None, .. }),
                "{end}"
            );
            let end = archive
                .read_range(range, std::io::sink())
                .unwrap_err();
            assert!(
                matches!(end, Error::Unsupported { block: None, .. }),
                "{end}"
            );
        }
        assert!(matches!(
            archive.count(&["e"]),
            Err(Error::Unsupported { .. })
        ));
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(&file), &mut saved, &options(1)).unwrap();
        assert!(
            saved == [b"other", &raw[..], b"other"].concat(),
            "{recovery:?}"
        );
    }
}

/// Features are for messages: the block that needs an unknown one says so.
#[test]
fn unknown_features_and_checks_that_may_be_passed_over_are_no_problem() {
    let raw = cases::text(2000);
    for header in [(10, 4, 0x7100_0081_u64), (7, 1, 200), (8, 2, 0x0905)] {
        let (at, size, value) = header;
        let mut parts = parts::parse(&common::indexed(&raw, 700, Some(8)));
        let old = parts[0].get(at, size);
        parts[0].set(at, size, if at == 10 { old | value } else { value });
        if at == 7 {
            // There must be a digest.
            let seek = parts
                .iter()
                .position(|part| part.kind == Kind::SeekFlags)
                .unwrap();
            parts[seek].set(0, 1, 3);
            let digest = [
                Part::new(Kind::TablesSize, &[0]),
                Part::new(Kind::TableType, &[3, 0x80]),
                Part::new(Kind::TableSize, &[0]),
                Part::new(Kind::TableChecksum, &[0; 4]),
                Part::new(Kind::Content, b"digest"),
            ];
            let end = parts.len() - 1;
            parts.splice(end..end, digest);
        }
        repair::sizes(&mut parts);
        repair::sign(&mut parts, Care::All, &mut Random::new(0));
        let file = parts::join(&parts);
        let (restored, end) = decompressed(&file);
        end.unwrap_or_else(|e| panic!("{at}: {e}"));
        assert!(restored == raw);
        let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        assert!(archive.extract(0..2000).unwrap() == raw);
        assert!(archive.count(&["e"]).unwrap()[0] > 0);
    }
}

/// A file with a stored block of 2^31 bytes, all of which are a hole.
fn larger_than_any() -> File {
    let size: u64 = 1 << 31;
    let block = Block {
        raw_size: size,
        coded_size: size,
        ..Block::default()
    };
    let start = [layout::frame_header(size, layout::WIDE), block.header()].concat();
    let table = layout::seek_table(&layout::one_block(block.shape));
    let end = End {
        raw_size: size,
        table_size: table.len() as u64,
        features: layout::WIDE,
        checksum: 0,
        frame_size: start.len() as u64 + size + (table.len() + FOOTER) as u64,
    };
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&start).unwrap();
    file.seek(SeekFrom::Current(size as i64)).unwrap();
    file.write_all(&[table, end.footer()].concat())
        .unwrap();
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
