//! Files whose tables of records or residues contradict their blocks, with matching checksums. `-t`
//! detects that. A search answers from the blocks, with a warning.

use crate::mutation::parts::{self, Kind as PartKind};
use crate::support::{Dir, has_all, stderr, stdout};
use bwz::Options;
use bwz::internals::sequence::{Kind, ListedRecord};
use bwz::internals::{blocks, frame, records_content, records_table};

/// Records of these lengths, in lines of 60, whose bases look random.
const LENGTHS: [(&str, usize); 4] = [
    ("one", 60_000),
    ("two", 90_000),
    ("empty", 0),
    ("three", 50_061),
];

fn bases(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut base = || {
        state = state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        b"ACGT"[(state >> 24) as usize % 4]
    };
    std::iter::repeat_with(&mut base)
        .take(length)
        .collect()
}

fn genome() -> Vec<u8> {
    let mut raw = Vec::new();
    for ((name, length), seed) in LENGTHS.iter().zip(1..) {
        raw.extend(format!(">{name} of some\n").bytes());
        for line in bases(*length, seed).chunks(60) {
            raw.extend([line, b"\n"].concat());
        }
    }
    raw
}

/// The contents of the tables of a file of one frame.
fn tables(file: &[u8]) -> Vec<Vec<u8>> {
    let parts = parts::parse(file).into_iter();
    parts
        .filter(|part| part.kind == PartKind::Content)
        .map(|part| part.bytes)
        .collect()
}

/// The blocks of a file with other tables, with right checksums.
fn with_tables(file: &[u8], residues: &[u8], records: &[u8]) -> Vec<u8> {
    let options = Options::new().memory(1 << 30);
    let blocks = blocks(file, &options).map(Result::unwrap);
    frame(blocks, &[(0x8001, residues), (0x8002, records)]).unwrap()
}

type Change = fn(&mut Vec<ListedRecord>);

fn changes() -> [(&'static str, Change); 5] {
    [
        ("a name", |records| records[1].name = b"other".to_vec()),
        ("a length", |records| records[1].length -= 1),
        ("an offset", |records| records[1].offset += 1),
        ("a width", |records| records[1].line_width += 1),
        ("columns", |records| records[1].line_bases -= 1),
    ]
}

/// Runs every command of a user on a file with a wrong table. Each prints up to `most` lines about
/// it. A list of records, which is made of the tables alone, may not detect it.
fn ask(dir: &Dir, what: &str, most: usize, is_listed_right: bool) {
    for arguments in [
        "-t x.bwz",
        "-tq x.bwz",
        "extract --verify --region two:1-9 x.bwz",
    ] {
        let said = stderr(dir.bwz(arguments).assert().code(2).stdout(""));
        has_all(&said, &["x.bwz: ", "at byte "]);
    }
    for arguments in ["count --verify ACGT x.bwz", "locate --verify ACGT x.bwz"] {
        let said = stderr(dir.bwz(arguments).assert().code(2).stdout(""));
        has_all(&said, &["x.bwz: ", "at byte "]);
    }
    let warned = |arguments: &str| {
        let run = dir.bwz(arguments).assert().success();
        let said = stderr(dir.bwz(arguments).assert());
        let lines = said.lines().count();
        assert!(
            (1..=most).contains(&lines) && said.contains("x.bwz: "),
            "{what}: {arguments}: {said}"
        );
        stdout(run)
    };
    let two = String::from_utf8(bases(90_000, 2)).unwrap();
    let shown = warned("extract --region two:70001-70050 --region two:5-9 x.bwz");
    let far = &two[70_000..70_050];
    let near = &two[4..9];
    assert_eq!(
        shown,
        format!(">two:70001-70050\n{far}\n>two:5-9\n{near}\n"),
        "{what}"
    );
    let shown = warned(&format!("locate {} x.bwz", &two[80_000..80_040]));
    // Behind the header and the lines of the first record, and the header of the second.
    let offset = 13 + 61_000 + 13 + 80_000 / 60 * 61 + 80_000 % 60;
    assert_eq!(
        shown,
        format!(
            "x.bwz\t{}\t{offset}\ttwo:80001-80040\n",
            &two[80_000..80_040]
        )
    );
    dir.bwz("-dc x.bwz")
        .assert()
        .success()
        .stdout(genome());
    if !is_listed_right {
        return;
    }
    let shown = warned("-l --records x.bwz");
    let wanted = "one\t60000\t13\t60\t61\ntwo\t90000\t61026\t60\t61\nempty\t0\t152541\t0\t0\n\
                  three\t50061\t152556\t60\t61\n";
    assert_eq!(shown, wanted, "{what}");
}

#[test]
fn a_wrong_table_of_records_has_one_warning_and_right_answers() {
    let dir = Dir::new();
    dir.write("x", &genome());
    for block in ["64K", "1M"] {
        dir.bwz(&format!("-fk --block {block} --index x"))
            .assert()
            .success();
        let file = dir.read("x.bwz");
        let [residues, listed] = &tables(&file)[..] else {
            panic!("two tables")
        };
        for (what, change) in changes() {
            let mut records = records_table(listed, Kind::Fasta).unwrap();
            change(&mut records);
            let content = records_content(&records, Kind::Fasta).unwrap();
            dir.write("x.bwz", &with_tables(&file, residues, &content));
            ask(&dir, &format!("{what} in blocks of {block}"), 1, false);
        }
    }
}

#[test]
fn a_wrong_table_of_residues_has_a_warning_and_right_answers() {
    let dir = Dir::new();
    dir.write("x", &genome());
    for block in ["64K", "1M"] {
        dir.bwz(&format!("-fk --block {block} --index x"))
            .assert()
            .success();
        let file = dir.read("x.bwz");
        let [residues, listed] = &tables(&file)[..] else {
            panic!("two tables")
        };
        for wrong in [&b"\x09\x09"[..], b"", b"\x00\x00\x07\x05\x01"] {
            assert_ne!(wrong, residues);
            dir.write("x.bwz", &with_tables(&file, wrong, listed));
            ask(&dir, &format!("{wrong:?} in blocks of {block}"), 2, true);
        }
    }
}
