//! Right files as this version of bwz writes them. Every later version must read them.

use crate::common::{self, cases, compressed, indexed};
use crate::frames::features;
use crate::kit::Entry;
use bwz::Effort;

/// Name and reason of the files of the kinds for which there are filters, in the order of
/// [`cases::filtered`].
const FILTERED: [[&str; 2]; 12] = [
    ["sequences", "FASTA: the filter sequences"],
    [
        "reads",
        "FASTQ: the filter fields, with templates of four lines",
    ],
    [
        "table",
        "records of binary numbers: the filters regions (delta) and long-range matches",
    ],
    [
        "image",
        "an image with 16 bits a sample: the filter regions (delta with a Pitch)",
    ],
    ["x86", "machine code of x86: the filter regions"],
    ["arm64", "machine code of ARM64: the filter regions"],
    [
        "regions",
        "a table, machine code and text: several regions, and long-range matches",
    ],
    [
        "matches",
        "versions of a text: the filter long-range matches",
    ],
    [
        "sequences-and-matches",
        "versions of a sequence: the filters sequences and long-range matches",
    ],
    ["log", "lines of a log: the filter fields"],
    ["values", "values separated by commas: the filter fields"],
    [
        "lists",
        "values that are lists: the filter fields, with columns of lists",
    ],
];

/// Right files, as bwz writes them.
pub fn entries() -> Vec<Entry> {
    let mut all = plain();
    all.extend(searchable());
    all.extend(filtered());
    all.extend(by_effort());
    all
}

fn plain() -> Vec<Entry> {
    let kinds: [(_, _, Vec<u8>, u32); 12] = [
        (
            "empty",
            "an empty raw stream: a frame without blocks",
            vec![],
            1 << 20,
        ),
        ("one-byte", "one byte: a stored block", vec![b'!'], 1 << 20),
        (
            "stored",
            "random bytes: a stored block",
            cases::random(300, 256),
            1 << 20,
        ),
        ("text", "a text in one block", cases::text(3000), 1 << 20),
        (
            "text-blocks",
            "the same text in blocks of 1000 bytes",
            cases::text(3000),
            1000,
        ),
        ("binary", "small binary numbers", binary(), 1 << 20),
        (
            "run",
            "one byte 100,000 times",
            vec![b'a'; 100_000],
            1 << 20,
        ),
        (
            "long-run",
            "one byte 5,000,000 times",
            vec![b'a'; 5_000_000],
            8 << 20,
        ),
        ("sparse", "islands in long runs", sparse(), 1 << 20),
        (
            "batches",
            "random bytes of 4 values: many short runs",
            cases::random(50_000, 4),
            1 << 20,
        ),
        (
            "samples",
            "many samples: the inverse BWT starts in many places",
            runs(),
            1 << 20,
        ),
        (
            "many-blocks",
            "47 equal blocks of 64 bytes",
            vec![0; 3000],
            64,
        ),
    ];
    let mut all: Vec<_> = kinds
        .into_iter()
        .map(|(name, reason, raw, block)| Entry::valid(name, reason, &raw, compressed(&raw, block)))
        .collect();
    let parts = [cases::text(700), vec![], cases::random(100, 256)];
    let file = parts
        .iter()
        .flat_map(|raw| compressed(raw, 512))
        .collect();
    let reason = "three frames, the second without blocks";
    all.push(Entry::valid("concatenated", reason, &parts.concat(), file));
    all
}

fn searchable() -> Vec<Entry> {
    let text = cases::text(30_000);
    let bits = cases::random(200_000, 2);
    let mut all = vec![
        Entry::valid(
            "indexed",
            "blocks with an Index",
            &text,
            indexed(&text, 20_000, Some(64)),
        ),
        Entry::valid(
            "indexed-for-counting",
            "an Index of many slices, for counting: few samples",
            &bits,
            indexed(&bits, 1 << 20, Some(0)),
        ),
    ];
    let kinds = [
        (
            "fasta-indexed",
            "FASTA with an Index; the tables Sequences and Records",
            common::fasta(9000),
        ),
        (
            "fasta-oddities",
            "FASTA with CRLF, comments, blank lines and lower case",
            common::odd_fasta(),
        ),
        (
            "fasta-blanks-indexed",
            "FASTA with blanks and other bytes in its lines",
            common::fasta_with_blanks(),
        ),
        ("fastq-indexed", "FASTQ with an Index", cases::reads(9000)),
        (
            "fastq-wrapped-indexed",
            "FASTQ whose sequences are wrapped",
            common::wrapped_fastq(),
        ),
    ];
    for (name, reason, raw) in kinds {
        let file = common::indexed_sequences(&raw);
        // Index and sequences.
        assert_eq!(features(&file) & 0x1003C, 0x10004, "{name}");
        all.push(Entry::valid(name, reason, &raw, file));
    }
    all
}

fn filtered() -> Vec<Entry> {
    // Filters are tried on blocks that are large enough.
    let filtered = cases::filtered(33_000);
    assert_eq!(filtered.len(), FILTERED.len());
    let mut all = Vec::new();
    for ([name, reason], (_, raw, filters)) in FILTERED.into_iter().zip(filtered) {
        let file = compressed(&raw, 1 << 20);
        let used = filters.iter().fold(0, |used, id| used | 2 << id);
        assert_eq!(features(&file) & 0x3C, used, "{name}: filters of the block");
        all.push(Entry::valid(name, reason, &raw, file));
    }
    all
}

fn by_effort() -> Vec<Entry> {
    let files = [
        (
            "best-text",
            "context mixing: a text",
            cases::text(3000),
            Effort::Best,
        ),
        (
            "best-binary",
            "context mixing: binary numbers",
            binary(),
            Effort::Best,
        ),
        (
            "best-long-run",
            "context mixing: one byte 1,000,000 times",
            vec![b'a'; 1_000_000],
            Effort::Best,
        ),
        (
            "best-random",
            "context mixing: random bytes of 4 values",
            cases::random(20_000, 4),
            Effort::Best,
        ),
        // These are longer, since few runs would be coded as in the default effort.
        (
            "fast-text",
            "a text, as --fast codes it",
            cases::text(50_000),
            Effort::Fast,
        ),
        (
            "fast-binary",
            "binary numbers, as --fast codes them",
            binary().repeat(9),
            Effort::Fast,
        ),
        (
            "fast-long-run",
            "long runs, as --fast codes them",
            just_below_long_runs(),
            Effort::Fast,
        ),
        (
            "fast-random",
            "random bytes, as --fast codes them",
            cases::random(50_000, 4),
            Effort::Fast,
        ),
    ];
    let mut all = Vec::new();
    for (name, reason, raw, effort) in files {
        let mut file = Vec::new();
        let options = common::options(8 << 20).effort(effort);
        bwz::compress(&raw[..], &mut file, &options).unwrap();
        all.push(Entry::valid(name, reason, &raw, file));
    }
    all
}

/// Runs that no filter changes, long enough for many samples.
fn runs() -> Vec<u8> {
    (0..200)
        .flat_map(|n| vec![b'a' + (n * n % 5) as u8; 900 + n])
        .collect()
}

/// Islands in runs that are matches.
fn sparse() -> Vec<u8> {
    let [zeros, ones] = [vec![0; 200_000], vec![255; 100_000]];
    [
        &zeros[..],
        &cases::text(2000),
        &ones,
        &zeros,
        &cases::random(300, 256),
        &zeros,
    ]
    .concat()
}

/// Runs of one letter that are too short to be matches. Together they are a long run in the BWT.
fn just_below_long_runs() -> Vec<u8> {
    let noise = cases::random(20_000, 5);
    let parts = noise.chunks(16).enumerate();
    parts
        .flat_map(|(n, noise)| [&vec![b'a'; 4095 - n % 50], noise].concat())
        .collect()
}

/// Numbers as in a program's data: little-endian, slowly growing, with zeros between.
fn binary() -> Vec<u8> {
    (0..700u32)
        .flat_map(|n| (n * n % 1009 + n).to_le_bytes())
        .collect()
}
