//! The examples of FORMAT.md are decoded unchanged, by the library and by `decoder.py`.

use super::{folder, python, reference_decoder};
use crate::common::{decompressed, options};
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
    let page = fs::read_to_string(folder().join("FORMAT.md")).unwrap();
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
        &*format!("import sys; sys.path.insert(0, {:?})", folder()),
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

#[test]
fn chapters_3_to_7_files() {
    let parts = ["frame-header", "block", "seek-table", "footer"].map(example);
    for (file, expected) in [
        (&*parts.concat(), &[b'a'; 64][..]),
        (example("empty-file"), b""),
    ] {
        let (raw, end) = decompressed(file);
        end.unwrap();
        assert_eq!(raw, expected);
        let Some(output) = reference_decoder(file) else {
            continue;
        };
        assert!(output.status.success() && output.stdout == expected);
    }
}

#[test]
fn chapters_8_and_11_packed_array_tables_and_binary_coder() {
    // The library's own tests of both are beside their code, which is not public.
    assert_python_says(
        "packed-array",
        "read_packed_array(x, 0, 3)",
        "([1, 18, 31], 3)",
    );
    assert_eq!(bwz::internals::tables(example("tables")), [Some(18); 2]);
    assert_python_says("tables", "check_tables(x, 0, len(x))", "18");
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
    let payload = example("indexed-payload");
    let file = indexed_file(payload);
    let raw = [b'a'; 512];
    assert_eq!(decompressed(&file).0, raw);
    let mut archive = Archive::open(Cursor::new(&file), &options(1 << 20)).unwrap();
    assert_eq!(archive.count(&["aaa", "b"]).unwrap(), [510, 0]);
    let Some(output) = reference_decoder(&file) else {
        return;
    };
    assert!(output.status.success() && output.stdout == raw);
}

/// A file of one block of 512 times `a`, with this payload.
fn indexed_file(payload: &[u8]) -> Vec<u8> {
    let sealed = |bytes: Vec<u8>| [&bytes[..], &crc(&bytes)].concat();
    let coded_size = payload.len() as u64;
    let size = |size: u64| size.to_le_bytes()[..5].to_vec();
    let frame_header = sealed([&example("frame-header")[..7], &size(512)].concat());
    let block = sealed(
        [
            &example("block")[..8],
            &[1, 8, 9, 0],
            &size(512),
            &size(coded_size),
            &crc(&[b'a'; 512]),
            &[0; 8],
            &crc(payload),
        ]
        .concat(),
    );
    let frame_size = 16 + 42 + coded_size + 44 + 32;
    let sizes = [512, frame_size].map(u64::to_le_bytes).concat();
    let footer = sealed([&sizes[..15], &size(44), &crc(&[b'a'; 512])].concat());
    let magic = &example("footer")[28..];
    [
        &frame_header,
        &block,
        payload,
        example("seek-table"),
        &footer,
        magic,
    ]
    .concat()
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    crc32fast::hash(bytes).to_le_bytes()
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
    for (name, flags, text, raw) in [
        ("matches", 4, &b"abcdxy"[..], repeated.as_bytes()),
        ("delta", 2, example("text-delta"), example("raw-delta")),
        ("x86", 2, example("text-x86"), example("raw-x86")),
        ("arm64", 2, example("text-arm64"), example("raw-arm64")),
        (
            "sequences",
            1,
            example("text-sequences"),
            example("raw-sequences"),
        ),
        (
            "fields",
            32,
            example("text-fields"),
            lines_of_fields().as_bytes(),
        ),
        ("reads", 32, example("text-reads"), reads.as_bytes()),
        ("lists", 32, example("text-lists"), lists.as_bytes()),
        (
            "packed",
            32,
            example("text-packed"),
            b"c0ffee 7\n012345 10\nabcdef 5\n",
        ),
    ] {
        let name = format!("side-{name}");
        let filtered = Filtered {
            text: text.to_vec(),
            flags,
            side: example(&name).to_vec(),
        };
        assert_eq!(undo(filtered, raw.len()).unwrap(), raw, "{name}");
        let undo = format!(
            "list(undo_filters(bytes({text:?}), {flags}, x, {}))",
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
    assert_eq!(apart.side, example("side-fields"));
}

/// This encoder writes exactly the example.
#[test]
fn section_12_8_sequences() {
    let separated = bwz::internals::separate_sequences(example("raw-sequences"), false).unwrap();
    assert_eq!(separated.text, example("text-sequences"));
    assert_eq!(
        separated.side,
        example("side-sequences"),
        "{:02X?}",
        separated.side
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
    let here = include_str!("examples.rs");
    for name in EXAMPLES.keys() {
        let stem = name
            .split_once('-')
            .map_or(&**name, |(_, stem)| stem);
        let named = here.contains(&format!("{name:?}")) || here.contains(&format!("{stem:?}"));
        assert!(named, "no test decodes the example {name}");
    }
    assert_eq!(EXAMPLES.len(), 39);
}
