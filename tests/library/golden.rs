//! Files that must decode forever, `format/examples/*.bwz`, by the library and by the decoder that
//! was written from the specification alone. The same decoder is also run on fresh files and on
//! those that it must reject.
//!
//! After a change of the format: `just bless`. `decoder.py` needs Python. Without it these tests
//! print that they are skipped, or fail if BWZ_REQUIRE_PYTHON is set.

mod examples;

use crate::common;
use crate::common::say::skip;
use crate::common::{cases, compressed, decompressed, indexed};
use bwz::Effort;
use bwz::bwt::Sorter;
use bwz::internals::coder::{self, CodedBwt, Coding, SliceLimits};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format")
}

/// Files of the kinds for which there are filters, in the order of [`cases::filtered`].
const FILTERED: [&str; 12] = [
    "sequences",
    "reads",
    "table",
    "image",
    "x86",
    "arm64",
    "regions",
    "matches",
    "sequences-and-matches",
    "log",
    "values",
    "lists",
];

/// Name, raw bytes, and the file: as this version writes it, or put together from parts.
fn golden() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let kinds: [(_, Vec<u8>, u32); 12] = [
        ("empty", vec![], 1 << 20),
        ("one-byte", vec![b'!'], 1 << 20),
        ("stored", cases::random(300, 256), 1 << 20),
        ("text", cases::text(3000), 1 << 20),
        ("text-blocks", cases::text(3000), 1000),
        ("binary", binary(), 1 << 20),
        ("run", vec![b'a'; 100_000], 1 << 20),
        ("long-run", vec![b'a'; 5_000_000], 8 << 20),
        ("sparse", sparse(), 1 << 20),
        ("batches", cases::random(50_000, 4), 1 << 20),
        ("samples", runs(), 1 << 20),
        ("many-entries", vec![0; 3000], 64),
    ];
    let mut all: Vec<_> = kinds
        .into_iter()
        .map(|(name, raw, block)| (name, raw.clone(), compressed(&raw, block)))
        .collect();
    let text = cases::text(30_000);
    let bits = cases::random(200_000, 2);
    all.push(("indexed", text.clone(), indexed(&text, 20_000, Some(64))));
    all.push((
        "indexed-for-counting",
        bits.clone(),
        indexed(&bits, 1 << 20, Some(0)),
    ));
    for (name, raw) in [
        ("fasta-indexed", common::fasta(9000)),
        ("fasta-oddities", common::odd_fasta()),
        ("fasta-blanks-indexed", common::fasta_with_blanks()),
        ("fastq-indexed", cases::reads(9000)),
        ("fastq-wrapped-indexed", common::wrapped_fastq()),
    ] {
        let file = common::indexed_sequences(&raw);
        assert_eq!(file[16 + 9], 9, "{name}: sequences and an index");
        all.push((name, raw, file));
    }
    // Filters are tried on blocks that are large enough.
    let filtered = cases::filtered(33_000);
    assert_eq!(filtered.len(), FILTERED.len());
    for (name, (_, raw, filters)) in FILTERED.into_iter().zip(filtered) {
        let file = compressed(&raw, 1 << 20);
        assert_eq!(file[16 + 9], filters, "{name}: flags of the block");
        all.push((name, raw, file));
    }
    for (name, raw, effort) in [
        ("best-text", cases::text(3000), Effort::Best),
        ("best-binary", binary(), Effort::Best),
        ("best-long-run", vec![b'a'; 1_000_000], Effort::Best),
        ("best-random", cases::random(20_000, 4), Effort::Best),
        // These are longer, since few runs would be coded as in the default effort.
        ("fast-text", cases::text(50_000), Effort::Fast),
        ("fast-binary", binary().repeat(9), Effort::Fast),
        ("fast-long-run", just_below_long_runs(), Effort::Fast),
        ("fast-random", cases::random(50_000, 4), Effort::Fast),
    ] {
        let mut file = Vec::new();
        let options = common::options(8 << 20).effort(effort);
        bwz::compress(&raw[..], &mut file, &options).unwrap();
        all.push((name, raw, file));
    }
    // Files that this encoder does not write and that decoders must read.
    let text = cases::text(9000);
    all.push(("uneven", text.clone(), common::uneven(&text, None)));
    all.push((
        "uneven-indexed",
        text.clone(),
        common::uneven(&text, Some(16)),
    ));
    all.push(("tables", text.clone(), common::with_tables(&text, Some(16))));
    let parts = [cases::text(700), vec![], cases::random(100, 256)];
    let file = parts
        .iter()
        .flat_map(|raw| compressed(raw, 512))
        .collect();
    all.push(("concatenated", parts.concat(), file));
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

#[test]
fn golden_files_decode_and_are_what_is_written_today() {
    let bless = std::env::var_os("BWZ_BLESS").is_some();
    for (name, raw, file) in golden() {
        let path = folder()
            .join("examples")
            .join(name)
            .with_extension("bwz");
        if bless {
            fs::write(&path, &file).unwrap();
        }
        let kept = fs::read(&path).unwrap();
        let (restored, end) = decompressed(&kept);
        end.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(restored == raw, "{name}: restored bytes differ");
        assert!(
            kept == file,
            "{name}: the same input no longer gives the same bytes"
        );
    }
}

/// Runs `decoder.py` on `file` as its standard input. `None` if there is no Python.
fn reference_decoder(file: &[u8]) -> Option<Output> {
    python(&[folder().join("decoder.py")], file)
}

/// Runs Python with these arguments and this standard input. `None` if there is no Python.
fn python<S: AsRef<OsStr>>(arguments: &[S], input: &[u8]) -> Option<Output> {
    let child = Command::new("python3")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        assert!(
            std::env::var_os("BWZ_REQUIRE_PYTHON").is_none(),
            "python3 is required"
        );
        skip("no python3, so decoder.py was not run");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Some(output)
}

#[test]
fn the_reference_decoder_restores_golden_files() {
    for (name, raw, file) in golden() {
        let Some(output) = reference_decoder(&file) else {
            return;
        };
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {message}");
        assert!(output.stdout == raw, "{name}: restored bytes differ");
    }
}

/// A file that bwz itself would not write but must read: several slices in a small block, dense
/// samples, tables of the maximum width.
fn foreign() -> (Vec<u8>, Vec<u8>) {
    let raw = cases::text(150_000);
    let bwt = Sorter::Cpu.sort(&raw, 8).unwrap();
    let limits = SliceLimits {
        runs: 1 << 14,
        bytes: 1 << 15,
    };
    let CodedBwt {
        models,
        raw_sizes,
        slices,
    } = coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans);
    let coded_sizes = slices
        .iter()
        .map(|slice| slice.len() as u32)
        .collect();
    // The sizes of the last slice are not stored.
    let others = |mut sizes: Vec<u32>| {
        sizes.pop();
        wide(sizes)
    };
    fn wide(values: Vec<u32>) -> Vec<u8> {
        let bytes = values
            .iter()
            .flat_map(|v| u64::from(*v).to_le_bytes().into_iter().take(5));
        [40].into_iter().chain(bytes).collect()
    }
    let payload = [
        wide(
            bwt.samples
                .iter()
                .map(|&row| row as u32)
                .collect(),
        ),
        wide(vec![slices.len() as u32]),
        others(raw_sizes),
        wide(vec![models.len() as u32]),
        others(coded_sizes),
        models,
        slices.concat(),
    ]
    .concat();
    // The bytes around the payload are taken from a sound file of the same raw bytes.
    let ours = compressed(&raw, 1 << 20);
    let table = ours.len() - 32 - 16 - 28;
    let mut head = ours[..58].to_vec();
    let mut tail = ours[table..].to_vec();
    head[16 + 10..16 + 12].copy_from_slice(&[3, 0]);
    head[16 + 17..16 + 21].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    head[16 + 34..16 + 38].copy_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    let checksum = crc32fast::hash(&head[16..54]);
    head[54..].copy_from_slice(&checksum.to_le_bytes());
    let size = (head.len() + payload.len() + tail.len()) as u64;
    let footer = tail.len() - 32;
    tail[footer + 8..footer + 15].copy_from_slice(&size.to_le_bytes()[..7]);
    let checksum = crc32fast::hash(&tail[footer..footer + 24]);
    tail[footer + 24..footer + 28].copy_from_slice(&checksum.to_le_bytes());
    (raw, [head, payload, tail].concat())
}

#[test]
fn both_decoders_read_what_another_encoder_may_write() {
    let (raw, file) = foreign();
    let (restored, end) = decompressed(&file);
    end.unwrap();
    assert!(restored == raw);
    let Some(output) = reference_decoder(&file) else {
        return;
    };
    assert!(output.status.success() && output.stdout == raw);
}

#[test]
fn the_reference_decoder_restores_every_named_case() {
    // All in one file, one frame each: Python starts once in place of forty times.
    let raws: Vec<Vec<u8>> = cases::named()
        .into_iter()
        .map(|(_, raw)| raw)
        .collect();
    let small: Vec<_> = raws
        .iter()
        .map(|raw| &raw[..raw.len().min(9_000)])
        .collect();
    let file: Vec<u8> = small
        .iter()
        .flat_map(|raw| compressed(raw, 4_000))
        .collect();
    let Some(output) = reference_decoder(&file) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout == small.concat());
}

#[test]
fn the_reference_decoder_reads_a_file_named_by_its_argument() {
    let path = folder().join("examples/text.bwz");
    let Some(output) = python(&[folder().join("decoder.py"), path], b"") else {
        return;
    };
    assert!(output.stdout == cases::text(3000));
}

#[test]
fn the_reference_decoder_rejects_what_must_be_rejected() {
    let mut seen = 0;
    for entry in fs::read_dir(folder().join("examples/reject")).unwrap() {
        let path = entry.unwrap().path();
        let Some(output) = reference_decoder(&fs::read(&path).unwrap()) else {
            return;
        };
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let number = path.file_stem().unwrap().to_str().unwrap()[..3].to_owned();
        assert!(
            message.contains(&number),
            "{path:?} is not rejected as {number}: {message}"
        );
        assert_eq!(output.status.code(), Some(2), "{path:?}: {message}");
        seen += 1;
    }
    assert!(seen > 40, "the files to reject were not found");
}
