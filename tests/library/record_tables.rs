//! The table of records: it agrees with the blocks, it is read alone, and a wrong one is detected.

use crate::common::mutation::parts::{self, Kind as PartKind};
use crate::common::{self, cases, options};
use bwz::internals::sequence::{Kind, ListedRecord};
use bwz::internals::{blocks, frame, records_content, records_table};
use bwz::{Archive, Error, Options, RecordInfo};
use std::io::Cursor;
use std::sync::{Arc, Mutex};

/// Enough bases that a table is a small part of the file.
fn bases(count: usize, record: usize) -> Vec<u8> {
    let start = 6000 * record;
    let letters = cases::random(start + count, 4);
    letters[start..]
        .iter()
        .map(|&letter| b"ACGT"[usize::from(letter)])
        .collect()
}

/// Records with these names and lengths, in lines of `columns` columns.
fn fasta(records: &[(&[u8], usize)], columns: usize, end: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    for (n, (name, length)) in records.iter().enumerate() {
        raw.extend([b">", *name, b" text", end].concat());
        for line in bases(*length, n).chunks(columns) {
            raw.extend([line, end].concat());
        }
    }
    raw
}

fn fastq(count: usize, length: usize) -> Vec<u8> {
    let mut raw = Vec::new();
    for n in 0..count {
        raw.extend(format!("@read{n} {n}\n").bytes());
        raw.extend([&bases(length, n)[..], b"\n+\n", &vec![b'I'; length], b"\n"].concat());
    }
    raw
}

fn fastq_in_lines(count: usize, length: usize) -> Vec<u8> {
    let mut raw = Vec::new();
    for n in 0..count {
        raw.extend(format!("@read{n}\n").bytes());
        bases(length, n)
            .chunks(70)
            .for_each(|line| raw.extend([line, b"\n"].concat()));
        raw.extend(b"+\n");
        vec![b'@'; length]
            .chunks(70)
            .for_each(|line| raw.extend([line, b"\n"].concat()));
    }
    raw
}

fn variants() -> Vec<(&'static str, Vec<u8>)> {
    let three: [(&[u8], usize); 3] = [(b"one", 3000), (b"two", 5000), (b"three", 61)];
    let marked = [
        &b"\xEF\xBB\xBF>m x\nACGT\n\n;c\nAC\n"[..],
        &fasta(&three, 60, b"\n"),
    ]
    .concat();
    let blanks = [&fasta(&three, 60, b" \n")[..], b">  u\nAC GT\nAC\t\n"].concat();
    let uneven = [&fasta(&three, 60, b"\n")[..], b">u\nACGT\nACGTACGT\n\nAC\n"].concat();
    vec![
        ("FASTA", fasta(&three, 60, b"\n")),
        ("FASTQ", fastq(6, 1600)),
        ("uneven lines", uneven),
        ("CRLF", fasta(&three, 70, b"\r\n")),
        ("one line a record", fasta(&three, 9000, b"\n")),
        (
            "no residues",
            fasta(&[(b"a", 0), (b"b", 4000), (b"c", 0), (b"d", 0)], 60, b"\n"),
        ),
        (
            "duplicate names",
            fasta(&[(b"a", 3000), (b"a", 3000), (b"b", 9)], 60, b"\n"),
        ),
        ("empty names", fasta(&[(b"", 3000), (b"", 3000)], 60, b"\n")),
        (
            "names that are not UTF-8",
            fasta(&[(b"\xFF\x00\x80", 4000), (b"\xC3", 9)], 60, b"\n"),
        ),
        (
            "one record over many blocks",
            fasta(&[(b"a", 40_000)], 60, b"\n"),
        ),
        (
            "one line over many blocks",
            fasta(&[(b"a", 40_000), (b"b", 9)], 50_000, b"\n"),
        ),
        (
            "a name of 64 KiB",
            fasta(&[(b"b", 9), (&[b'n'; 1 << 16], 40_000)], 60, b"\n"),
        ),
        ("FASTQ in lines", fastq_in_lines(6, 1600)),
        ("a read over many blocks", fastq(1, 40_000)),
        ("a mark, blank lines and comments", marked),
        ("blanks", blanks),
        (
            "no last line end",
            fasta(&three, 60, b"\n")[..8000].to_vec(),
        ),
    ]
}

fn indexed(raw: &[u8], options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, options).unwrap();
    file
}

/// The contents of the tables of a file of one frame.
fn tables(file: &[u8]) -> Vec<Vec<u8>> {
    let parts = parts::parse(file).into_iter();
    parts
        .filter(|part| part.kind == PartKind::Content)
        .map(|part| part.bytes)
        .collect()
}

/// The file with other tables, with right checksums.
fn with_tables(file: &[u8], sequences: &[u8], records: Option<&[u8]>) -> Vec<u8> {
    let options = options(1 << 20);
    let blocks = blocks(file, &options).map(Result::unwrap);
    let mut all = vec![(0x8001, sequences)];
    all.extend(records.map(|content| (0x8002, content)));
    frame(blocks, &all).unwrap()
}

type Warnings = Arc<Mutex<Vec<String>>>;

fn open(file: &[u8], options: &Options) -> (Archive<Cursor<Vec<u8>>>, Warnings) {
    let (options, warnings) = common::hearing(options.clone());
    (
        Archive::open(Cursor::new(file.to_vec()), &options).unwrap(),
        warnings,
    )
}

/// Name, numbers, offset of qualities and regularity of a record.
type Said = (Vec<u8>, [u64; 4], Option<u64>, bool);

fn said(records: &[RecordInfo]) -> Vec<Said> {
    let of = |r: &RecordInfo| {
        let numbers = [r.length, r.offset, r.line_bases, r.line_width];
        (r.name.clone(), numbers, r.quality_offset, r.is_regular)
    };
    records.iter().map(of).collect()
}

#[test]
fn a_table_says_what_the_blocks_say_and_is_read_alone() {
    for (name, raw) in variants() {
        for block_size in [3500, 1 << 20] {
            let options = options(block_size).index(8).unwrap();
            let file = indexed(&raw, &options);
            let tables = tables(&file);
            assert_eq!(tables.len(), 2, "{name} in blocks of {block_size}");
            let (mut archive, warnings) = open(&file, &options);
            let listed = said(archive.records().unwrap());
            let cost = archive.search_cost();
            assert_eq!(
                (cost.blocks, cost.slices),
                (0, 0),
                "{name} in blocks of {block_size}"
            );
            let (mut other, _) = open(&with_tables(&file, &tables[0], None), &options);
            assert_eq!(
                listed,
                said(other.records().unwrap()),
                "{name} in {block_size}"
            );
            let whole: Vec<_> = (0..listed.len())
                .map(|n| (n, 0..u64::MAX))
                .collect();
            assert_eq!(
                archive.regions(&whole).unwrap(),
                other.regions(&whole).unwrap(),
                "{name}"
            );
            archive
                .check_tables()
                .unwrap_or_else(|e| panic!("{name} in {block_size}: {e}"));
            let (mut verified, _) = open(&file, &options.clone().verify(true));
            assert_eq!(
                listed,
                said(verified.records().unwrap()),
                "{name} in {block_size}"
            );
            assert!(warnings.lock().unwrap().is_empty(), "{name}: {warnings:?}");
        }
    }
}

#[test]
fn frames_behind_each_other_have_their_own_tables() {
    let options = options(1 << 20).index(8).unwrap();
    let raws: Vec<_> = variants()
        .into_iter()
        .map(|(_, raw)| raw)
        .collect();
    let files: Vec<_> = raws
        .iter()
        .map(|raw| indexed(raw, &options))
        .collect();
    let (mut all, warnings) = open(&files.concat(), &options);
    let mut expected = Vec::new();
    let mut start = 0;
    for (raw, file) in raws.iter().zip(&files) {
        let (mut one, _) = open(file, &options);
        for (name, numbers, qualities, is_regular) in said(one.records().unwrap()) {
            let [length, offset, bases, width] = numbers;
            let numbers = [length, offset + start, bases, width];
            expected.push((name, numbers, qualities.map(|at| at + start), is_regular));
        }
        start += raw.len() as u64;
    }
    assert_eq!(said(all.records().unwrap()), expected);
    all.check_tables().unwrap();
    assert!(warnings.lock().unwrap().is_empty());
}

#[test]
fn a_name_that_no_record_has_takes_no_block() {
    let raw = fasta(
        &[(b"one", 3000), (b"two\xFF", 5000), (b"three", 61)],
        60,
        b"\n",
    );
    let options = options(1 << 20).index(8).unwrap();
    let file = indexed(&raw, &options);
    let (mut archive, warnings) = open(&file, &options);
    for name in [&b"absent"[..], b"onetwo", b"two\x00", b"ACGT"] {
        assert_eq!(archive.find_record(name).unwrap(), None, "{name:?}");
    }
    assert_eq!(archive.search_cost().blocks, 0);
    let names = [&b"three"[..], b"absent"];
    assert_eq!(archive.find_records(&names).unwrap(), [Some(2), None]);
    // Only whole names are found: not a description, not a prefix, not a single byte.
    for name in [&b"text"[..], b"thre", b"\xFF", b""] {
        assert_eq!(archive.find_record(name).unwrap(), None, "{name:?}");
    }
    assert_eq!(archive.find_record(b"two\xFF").unwrap(), Some(1));
    assert!(warnings.lock().unwrap().is_empty());
    let (mut verified, _) = open(&file, &options.clone().verify(true));
    assert_eq!(verified.find_records(&names).unwrap(), [Some(2), None]);
}

/// Each change leaves the table well formed.
#[test]
fn a_table_that_lies_is_found_out() {
    type Change = fn(&mut Vec<ListedRecord>);
    let changes: [(&str, Change); 9] = [
        ("a name", |records| records[1].name = b"other".to_vec()),
        ("names swapped", |records| {
            let first = records[0].name.clone();
            records[0].name = std::mem::replace(&mut records[1].name, first);
        }),
        ("a length", |records| records[1].length -= 1),
        ("two lengths", |records| {
            records[0].length += 1;
            records[1].length -= 1;
        }),
        ("an offset", |records| records[1].offset += 1),
        ("a width", |records| records[1].line_width += 1),
        ("the columns", |records| records[1].line_bases -= 1),
        ("one record less", |records| drop(records.pop())),
        ("one record more", |records| {
            records.push(records[0].clone())
        }),
    ];
    let raw = fasta(&[(b"one", 3000), (b"two", 5000), (b"three", 61)], 60, b"\n");
    for block_size in [3500, 1 << 20] {
        let options = options(block_size).index(8).unwrap();
        let file = indexed(&raw, &options);
        let (mut sound, _) = open(&file, &options);
        let expected = said(sound.records().unwrap());
        let bases: Vec<_> = ["one", "two", "three"]
            .map(|n| sound.region(n, 5..90).unwrap())
            .into();
        let tables = tables(&file);
        for (what, change) in changes {
            let mut records = records_table(&tables[1], Kind::Fasta).unwrap();
            change(&mut records);
            let content = records_content(&records, Kind::Fasta).unwrap();
            found_out(
                &with_tables(&file, &tables[0], Some(&content)),
                what,
                &options,
            );
        }
        found_out(
            &with_tables(&file, &tables[0], Some(b"\x07nonsense")),
            "nonsense",
            &options,
        );
        found_out(
            &with_tables(&file, &tables[0], Some(b"")),
            "nothing",
            &options,
        );
        for (name, bases) in ["one", "two", "three"].iter().zip(&bases) {
            assert_eq!(sound.region(name, 5..90).unwrap(), *bases);
        }
        assert_eq!(said(sound.records().unwrap()), expected);
    }

    fn found_out(file: &[u8], what: &str, options: &Options) {
        let raw = fasta(&[(b"one", 3000), (b"two", 5000), (b"three", 61)], 60, b"\n");
        let is_damage = |e: &Error| matches!(e, Error::Format { .. });
        let (mut archive, warnings) = open(file, options);
        assert!(
            archive
                .check_tables()
                .is_err_and(|e| is_damage(&e)),
            "{what}"
        );
        for (n, name) in ["two", "one", "three", "two"]
            .into_iter()
            .enumerate()
        {
            let expected = match name {
                "one" => bases(3000, 0),
                "two" => bases(5000, 1),
                _ => bases(61, 2),
            };
            let region = archive.region(name, 5..50).unwrap();
            assert_eq!(region, expected[5..50], "{what}: {name}, {n}");
        }
        assert_eq!(warnings.lock().unwrap().len(), 1, "{what}: {warnings:?}");
        assert!(archive.find_record("other").unwrap().is_none(), "{what}");
        let (mut verified, _) = open(file, &options.clone().verify(true));
        assert!(
            verified
                .count(&["ACGT"])
                .is_err_and(|e| is_damage(&e)),
            "{what}"
        );
        // Positions and their names.
        let (mut archive, _) = open(file, options);
        archive.records().unwrap();
        let pattern = &bases(5000, 1)[100..130];
        let offset = archive.locate(&[pattern], 2).unwrap()[0].positions[0];
        let line = raw[offset as usize..]
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap();
        assert!(pattern.starts_with(&line[..line.len().min(30)]), "{what}");
        let (record, base) = archive.places(&[offset]).unwrap()[0]
            .base
            .unwrap();
        assert_eq!((record, base), (1, 100), "{what}");
        assert_eq!(archive.records().unwrap()[1].name, b"two", "{what}");
        assert!(
            bwz::decompress(file, std::io::sink(), options).is_ok(),
            "{what}"
        );
    }
}

#[test]
fn a_wrong_table_of_residues_is_restored_from_the_blocks() {
    let raw = fasta(&[(b"one", 3000), (b"two", 5000), (b"three", 61)], 60, b"\n");
    for block_size in [3500, 1 << 20] {
        let options = options(block_size).index(8).unwrap();
        let file = indexed(&raw, &options);
        let tables = tables(&file);
        let mut wrong = vec![vec![9, 9, 9], Vec::new(), vec![7, 0, 0, 0]];
        // Kind, and then numbers: the third and fourth byte are the residues of the first block.
        // The state of the last block follows its residues.
        for at in [3, 4, tables[0].len() - 2] {
            let mut changed = tables[0].clone();
            changed[at] ^= 1;
            wrong.push(changed);
        }
        for sequences in wrong {
            let what = format!("{sequences:?} in blocks of {block_size}");
            let file = with_tables(&file, &sequences, Some(&tables[1]));
            let (mut archive, warnings) = open(&file, &options);
            let checked = archive.check_tables();
            assert!(
                matches!(checked, Err(Error::Format { .. })),
                "{what}: {checked:?}"
            );
            assert_eq!(
                archive.region("two", 10..40).unwrap(),
                bases(5000, 1)[10..40],
                "{what}"
            );
            let pattern = &bases(3000, 0)[200..240];
            assert_eq!(archive.count(&[pattern]).unwrap(), [1], "{what}");
            let offset = archive.locate(&[pattern], 1).unwrap()[0].positions[0];
            assert_eq!(
                archive.places(&[offset]).unwrap()[0].base,
                Some((0, 200)),
                "{what}"
            );
            assert!(!warnings.lock().unwrap().is_empty(), "{what}");
            let (mut verified, _) = open(&file, &options.clone().verify(true));
            assert!(verified.count(&["ACGT"]).is_err(), "{what}");
        }
    }
}

/// The number of a base is a sum over all blocks before it, none of which is searched.
#[test]
fn a_wrong_table_of_residues_moves_no_place() {
    let raw = fasta(&[(b"one", 30_000)], 60, b"\n");
    let options = options(3500).index(8).unwrap();
    let file = indexed(&raw, &options);
    let tables = tables(&file);
    let offset = raw.len() as u64 - 2;
    for at in [3, 4] {
        let mut wrong = tables[0].clone();
        wrong[at] ^= 1;
        let file = with_tables(&file, &wrong, None);
        let (mut archive, warnings) = open(&file, &options);
        let base = archive.places(&[offset]).unwrap()[0].base;
        assert_eq!(base, Some((0, 29_999)));
        assert!(!warnings.lock().unwrap().is_empty());
    }
}

#[test]
fn many_records_have_no_table_and_are_found_all_the_same() {
    let options = options(1 << 20).index(64).unwrap();
    let mut raw = Vec::new();
    for n in 0..100_000 {
        raw.extend(format!(">r{n}\nACGTACGTAC\n").bytes());
    }
    let file = indexed(&raw, &options);
    assert_eq!(tables(&file).len(), 1);
    let (mut archive, warnings) = open(&file, &options);
    assert_eq!(archive.records().unwrap().len(), 100_000);
    archive.check_tables().unwrap();
    assert!(warnings.lock().unwrap().is_empty());
}
