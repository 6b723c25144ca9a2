//! The examples of FORMAT.md are decoded unchanged, by the library and by `decoder.py`.

use crate::common::{decompressed, options};
use crate::filters::{FIELDS, MATCHES, REGIONS, SEQUENCES};
use crate::frames::{Block, Frame, SEEK_MARKER, crc, read_uint, sealed, uint};
use crate::python::{format_folder, python, reference_decoder};
use bwz::Archive;
use bwz::bwt::{Bwt, Sorter, invert};
use bwz::internals::coder;
use bwz::internals::filter::{Filtered, undo};
use bwz::internals::sequence::Kind;
use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::sync::LazyLock;

/// The bytes of each block of FORMAT.md that is marked `hex`, by its name.
static EXAMPLES: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let page = fs::read_to_string(format_folder().join("FORMAT.md")).unwrap();
    let blocks = page
        .split("\n```hex ")
        .skip(1)
        .map(|rest| rest.split_once('\n').unwrap());
    blocks
        .map(|(name, rest)| (name.to_owned(), bytes(rest.split("```").next().unwrap())))
        .collect()
});

fn example(name: &str) -> &'static [u8] {
    &EXAMPLES[name]
}

/// Bytes in hexadecimal. `61*20` means twenty times 61, and `#` begins a remark.
fn bytes(text: &str) -> Vec<u8> {
    let words = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap().split_whitespace());
    let runs = words.map(|word| word.split_once('*').unwrap_or((word, "1")));
    let byte = |hex| u8::from_str_radix(hex, 16).unwrap();
    runs.flat_map(|(hex, times)| vec![byte(hex); times.parse().unwrap()])
        .collect()
}

/// The value of an expression over `decoder.py`'s functions, in which `x` is the example of this
/// name. `None` if there is no Python.
fn by_python(name: &str, expression: &str) -> Option<String> {
    let hex: String = example(name)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let lines = [
        &*format!("import sys; sys.path.insert(0, {:?})", format_folder()),
        &*format!("from decoder import *; x = bytes.fromhex({hex:?})"),
        &*format!("print({expression})"),
    ];
    let output = python(&["-B", "-c", &lines.join("\n")], b"")?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .trim()
            .to_owned(),
    )
}

fn assert_python_says(name: &str, expression: &str, expected: &str) {
    if let Some(said) = by_python(name, expression) {
        assert_eq!(said, expected, "{name}");
    }
}

/// Both decoders restore `file` to `expected`.
fn assert_restored(file: &[u8], expected: &[u8]) {
    let (raw, end) = decompressed(file);
    end.unwrap();
    assert_eq!(raw, expected);
    let Some(output) = reference_decoder(file) else {
        return;
    };
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && output.stdout == expected,
        "{message}"
    );
}

#[test]
fn chapters_3_to_7_files() {
    let [header, block, seek_table, footer] =
        ["frame-header", "block", "seek-table", "footer"].map(example);
    let raw = [b'a'; 64];
    assert_restored(&[header, block, seek_table, footer].concat(), &raw);
    assert_restored(example("empty-file"), b"");
    assert_restored(example("private-frame"), b"");
    // The other header makes the frame longer.
    let other = example("frame-header-tables");
    let size = [other, block, seek_table, footer].concat().len() as u64;
    let checked = [&footer[..20], &uint(size, 7), &footer[27..28]].concat();
    let footer = [&sealed(checked)[..], &footer[32..]].concat();
    assert_restored(&[other, block, seek_table, &footer].concat(), &raw);
}

#[test]
fn chapter_1_varint() {
    assert_python_says("varint", "Fields(x).varint()", "300");
}

#[test]
fn chapter_5_seek_table_of_shapes() {
    let table = example("seek-table-shapes");
    let content = &table[13..];
    assert_eq!(table[..8], SEEK_MARKER);
    assert_eq!(usize::from(table[8]), content.len());
    assert_eq!(table[9..13], crc(&[&table[8..9], content].concat()));
    let [raw_size, coded_size] = [2040, 1422];
    let again = bwz::internals::seek_content(content, 3, raw_size, coded_size);
    assert_eq!(again.unwrap(), content);
    let fields = "[t := read_seek_content(x[13:], 3)] and \
        (t.shape_numbers, t.raw_sizes, t.stored_sizes, t.line_feeds)";
    let expected = "([0, 0, 1], [1000, 1000], [700, 641], [500, 250, 0])";
    assert_python_says("seek-table-shapes", fields, expected);
}

#[test]
fn section_5_3_stream_check() {
    let expected = "{32771: '2d06800538d394c2'}";
    let digest = "{t: c.hex() for t, c in check_tables(bytes([len(x)]) + x, 0, 99)[0].items()}";
    assert_python_says("stream-check", digest, expected);
    let computed = "__import__('checks').Xxh3().digest() == x[7:]";
    assert_python_says("stream-check", computed, "True");
}

#[test]
fn chapters_8_and_11_packed_array_tables_and_binary_coder() {
    // The library's own tests of both are beside their code, which is not public.
    assert_python_says(
        "packed-array",
        "read_packed_array(x, 0, 3)",
        "([1, 18, 31], 3)",
    );
    assert_eq!(bwz::internals::tables(example("tables")), [Some(11); 2]);
    assert_python_says(
        "tables",
        "check_tables(x, 0, len(x))",
        "({49152: b'abc'}, 11)",
    );
    assert_python_says("column", "Fields(x).column(3)", "[1000, 1003, 1001]");
    let symbols = "[d := BinaryDecoder(x, 0, '')] and \
        ([d.read(p) for p in (32768, 32768, 49152, 65000, 1000)], d.require_end())";
    assert_python_says("binary-symbols", symbols, "([1, 0, 1, 1, 0], None)");
    let adaptive = "[(d := BinaryDecoder(x, 0, ''), b := new_bit_model(), n := NumberModel())] and \
        ([read_bit(d, b) for _ in range(3)], BitTree(3).read(d), n.read(d), n.read(d), \
        d.require_end())";
    assert_python_says("adaptive-bits", adaptive, "([1, 1, 0], 5, 4, 40, None)");
}

#[test]
fn chapter_9_the_bwt() {
    let bwt = Sorter::Cpu.sort(b"mississippi", 4).unwrap();
    let samples = vec![5, 3, 7];
    let expected = Bwt {
        bytes: example("bwt").to_vec(),
        sample_rate: 4,
        samples,
    };
    assert_eq!(bwt, expected);
    assert_eq!(invert(expected).unwrap(), b"mississippi");
    assert_python_says("bwt", "invert(x, [5, 3, 7], 4).decode()", "mississippi");
}

#[test]
fn chapter_10_index() {
    let raw = [b'a'; 512];
    let block = Block {
        shape: [1, 0, 6, 9],
        raw: raw.to_vec(),
        payload: example("indexed-payload").to_vec(),
    };
    let file = Frame::of(&[block]).to_bytes();
    assert_restored(&file, &raw);
    let mut archive = Archive::open(Cursor::new(&file), &options(1 << 20)).unwrap();
    assert_eq!(archive.count(&["aaa", "b"]).unwrap(), [510, 0]);
}

#[test]
fn section_10_2_counts() {
    let counts = example("counts");
    let rows = [
        vec![4064, 4071, 4074, 4066, 4093],
        vec![12, 0, 0, 0, 3],
        vec![20, 25, 22, 30, 0],
    ];
    assert_eq!(bwz::internals::counts_content(&rows), counts[32..]);
    let expected = "{97: [4064, 4071, 4074, 4066, 4093], 98: [12, 0, 0, 0, 3], \
        99: [20, 25, 22, 30, 0]}";
    let sorted = "dict(sorted(read_counts(x, [4096] * 5).items()))";
    assert_python_says("counts", sorted, expected);
}

#[test]
fn section_12_1_filter_list() {
    let list = "[tuple(f) for f in read_filter_list(Fields(x), 1200)[0]]";
    assert_python_says("filter-list", list, "[(1, 950, 60), (3, 600, 45)]");
    let list = example("filter-list");
    assert_eq!(list[0], 2);
    assert_eq!(read_uint(&list[1..2]), u64::from(SEQUENCES));
}

#[test]
fn chapter_12_filters() {
    let reads: String = (1..=16)
        .map(|number| format!("@{number}\nAC\n+\nII\n"))
        .collect();
    let lists = format!(
        "Bern,'B\u{e4}rn; Bern; Berne; Rom; Bernese'{}",
        "\nRom,Roma".repeat(15)
    );
    let repeated = ["abcd".repeat(11), "xy".to_owned()].concat();
    for (name, filter, text, raw) in [
        ("matches", MATCHES, &b"abcdxy"[..], repeated.as_bytes()),
        (
            "delta",
            REGIONS,
            example("text-delta"),
            example("raw-delta"),
        ),
        ("x86", REGIONS, example("text-x86"), example("raw-x86")),
        (
            "arm64",
            REGIONS,
            example("text-arm64"),
            example("raw-arm64"),
        ),
        (
            "sequences",
            SEQUENCES,
            example("text-sequences"),
            example("raw-sequences"),
        ),
        (
            "fields",
            FIELDS,
            example("text-fields"),
            lines_of_fields().as_bytes(),
        ),
        ("reads", FIELDS, example("text-reads"), reads.as_bytes()),
        ("lists", FIELDS, example("text-lists"), lists.as_bytes()),
        (
            "packed",
            FIELDS,
            example("text-packed"),
            b"c0ffee 7\n012345 10\nabcdef 5\n",
        ),
    ] {
        let name = format!("side-{name}");
        let side = example(&name);
        let filtered = Filtered::by(filter, text.to_vec(), side.to_vec());
        assert_eq!(undo(filtered, raw.len()).unwrap(), raw, "{name}");
        let undo = format!(
            "list(bytes(undo_filters(bytes({text:?}), [Filter({filter}, {}, {})], x, {})))",
            text.len(),
            side.len(),
            raw.len()
        );
        assert_python_says(&name, &undo, &format!("{raw:?}"));
    }
}

/// The raw bytes of the example of section 12.9.
fn lines_of_fields() -> String {
    (995..=1010)
        .map(|number| format!("at {number}: 7\n"))
        .collect()
}

/// This encoder writes exactly the example.
#[test]
fn section_12_9_fields() {
    let lines = lines_of_fields();
    let apart = bwz::internals::take_fields_apart(lines.as_bytes(), 0)
        .unwrap()
        .unwrap();
    assert_eq!(apart.text, example("text-fields"), "{:02X?}", apart.text);
    assert_eq!(apart.steps[0].side, example("side-fields"));
}

/// This encoder writes exactly the example.
#[test]
fn section_12_8_sequences() {
    let separated = bwz::internals::separate_sequences(example("raw-sequences"), false).unwrap();
    assert_eq!(separated.text, example("text-sequences"));
    assert_eq!(
        separated.steps[0].side,
        example("side-sequences"),
        "{:02X?}",
        separated.steps[0].side
    );
}

#[test]
fn section_5_1_sequences() {
    let table = bwz::internals::sequences_table(example("sequences-table"), 2);
    assert_eq!(table.unwrap(), [[0, 0, 10], [2, 3, 4]]);
    assert!(bwz::internals::sequences_table(example("sequences-table"), 3).is_err());
}

#[test]
fn section_5_2_records() {
    let table = bwz::internals::records_table(example("records-table"), Kind::Fasta).unwrap();
    let of = |n: usize| (&table[n].name[..], table[n].length, table[n].offset);
    assert_eq!([of(0), of(1)], [(&b"a"[..], 6, 5), (&b"b"[..], 0, 16)]);
    assert_eq!(
        (
            table[0].line_bases,
            table[0].line_width,
            table[0].is_regular
        ),
        (4, 5, true)
    );
    let expected = "[(b'a', 6, 5, 4, 5), (b'b', 0, 16, 0, 0)]";
    assert_python_says("records-table", "read_records_table(x, False)", expected);
    let written = bwz::internals::records_content(&table, Kind::Fasta).unwrap();
    assert_eq!(written, example("records-table"));
}

#[test]
fn section_5_4_members() {
    let content = example("members-table");
    let members = bwz::internals::members_table(content, 1024).unwrap();
    let [member] = &members[..] else {
        panic!("{members:?}")
    };
    assert_eq!((&member.name[..], member.size), (&b"a.txt"[..], 5));
    assert_eq!(
        (&member.user[..], &member.group[..]),
        (&b"root"[..], &b"root"[..])
    );
    assert_eq!((member.mode, member.modified), (0o644, 1_700_000_000));
    assert_eq!((member.offset, member.data.clone()), (0, 512..517));
    assert!(bwz::internals::members_table(content, 516).is_err());
    let expected = "[(b'a.txt', b'', b'root', b'root', 48, 420, 5, 0, 512, 517, 1700000000)]";
    assert_python_says("members-table", "read_members_table(x, 1024)", expected);
    assert_eq!(bwz::internals::members_content(&members).unwrap(), content);
}

/// Slices, with the Models of static rANS as decoder.py reads them, and their content.
#[test]
fn chapters_13_to_15_slices() {
    use coder::Coding::{ContextMixing, StaticRans};
    let runs = [
        (20, b'a'),
        (3, b'b'),
        (2, b'a'),
        (3, b'c'),
        (4, b'a'),
        (2, b'b'),
    ];
    let runs: Vec<u8> = runs
        .iter()
        .flat_map(|&(len, byte)| vec![byte; len])
        .collect();
    let long = [[b'a'; 39].as_slice(), b"bbb"].concat();
    for (name, coding, models, slice) in [
        ("slice-stored", ContextMixing, None, &b"aab"[..]),
        ("slice-static", StaticRans, Some("models"), &runs),
        ("slice-mixing", ContextMixing, None, &long),
    ] {
        let decoder = coder::SliceDecoder::new(coding, models.map_or(&[], example)).unwrap();
        let mut out = vec![0; slice.len()];
        decoder.decode(example(name), &mut out).unwrap();
        assert_eq!(out, slice, "{name}");
        let models = models.map_or("None".to_owned(), |models| {
            format!("Models(bytes({:?}))", example(models))
        });
        let decode = format!("decode_slice(x, {}, {models}).decode()", slice.len());
        assert_python_says(name, &decode, std::str::from_utf8(slice).unwrap());
    }
}

#[test]
fn section_14_5_models() {
    coder::SliceDecoder::new(coder::Coding::StaticRans, example("models-sent")).unwrap();
    let classes = "[m := Models(x)] and \
        (m.alphabet, len(m.runs.tables), len(m.ranks.tables))";
    assert_python_says("models-sent", classes, "([97, 98], 1, 3)");
}

#[test]
fn every_example_is_decoded() {
    let here = include_str!("page.rs");
    for name in EXAMPLES.keys() {
        let stem = name
            .split_once('-')
            .map_or(&**name, |(_, stem)| stem);
        let named = here.contains(&format!("{name:?}")) || here.contains(&format!("{stem:?}"));
        assert!(named, "no test decodes the example {name}");
    }
    assert_eq!(EXAMPLES.len(), 48);
}
