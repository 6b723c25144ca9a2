//! Files that a decoder must reject, FORMAT.md chapter 16: one file or more per number, in
//! `format/examples/reject/`.
//!
//! The files are made here from sound ones, by changing a field and making the checksums around it
//! right again. So each is rejected for its own reason. After a change of the format: `just bless`.

mod fields;
mod parts;
mod patient;

use crate::common::{cases, compressed, decompressed, indexed};
use bwz::internals::{DRAFT, VERSION};
use fields::{field_rejects, joined_rejects, list_rejects, packed_rejects};
use parts::{filter_rejects, sequence_rejects, size_rejects, slice_rejects, table_rejects};
use patient::{BLOCK, PAYLOAD, Parts, Patient, one_value, with_counts, with_index};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Parts of the messages about a file of the next draft.
static NEXT_DRAFT: LazyLock<[String; 2]> = LazyLock::new(|| {
    [
        format!("draft {} of the bwz format", DRAFT + 1),
        format!("this bwz reads draft {DRAFT}"),
    ]
});

/// Name, bytes, and a part of the error message of every file.
type Reject = (&'static str, Vec<u8>, &'static str);

static REJECTS: LazyLock<Vec<Reject>> = LazyLock::new(rejects);

fn rejects() -> Vec<Reject> {
    let raw = cases::text(900);
    let text = Patient(compressed(&raw, 1 << 20));
    let stored = Patient(compressed(&cases::random(50, 256), 1 << 20));
    let empty = Patient(compressed(b"", 1 << 20));
    let table = text.table();
    let footer = text.footer();
    let size = text.0.len();
    let with_sample = |sample: u64| {
        text.with_parts(Parts {
            sample,
            ..text.parts()
        })
    };
    let t = || text.clone();
    let searchable = Patient(indexed(&raw, 1 << 20, Some(0)));
    let put = |at: usize, bytes: &'static [u8]| {
        with_index(&searchable, |index| {
            index[at..at + bytes.len()].copy_from_slice(bytes)
        })
    };
    let count_changed = |at: usize, by: u8| with_counts(&searchable, |counts| counts[at] ^= by);
    let with_wrong_sum = |at: usize| {
        let mut payload = searchable.0[searchable.payload()].to_vec();
        payload[at] ^= 1;
        searchable.clone().with_payload(&payload)
    };
    let behind = one_value(one_value(one_value(&searchable.0[searchable.payload()]).1).1)
        .1
        .len();
    let index_start = searchable.payload().len() - behind;
    let first_of_counts = index_start + 24 + 256;
    let counts_size = searchable.u32(PAYLOAD + index_start + 2) as usize;
    let first_of_models = first_of_counts + counts_size;

    let [next_draft, this_draft] = NEXT_DRAFT.each_ref().map(String::as_str);
    let files = [
        ("R01-empty", Patient(vec![]), "it is empty"),
        (
            "R01-bzip2",
            Patient(b"BZh91AY&SY".to_vec()),
            "not a bwz file",
        ),
        (
            "R02-version-1",
            t().frame(4, &[1]),
            "draft 8 of the bwz format, or an earlier one",
        ),
        (
            "R02-version-2",
            t().frame(4, &[2]),
            "version 2 of the bwz format",
        ),
        ("R02-next-draft", t().frame(4, &[VERSION + 1]), next_draft),
        (
            "R02-next-draft-other-checksum",
            t().set(4, &[VERSION + 1]),
            this_draft,
        ),
        (
            "R03-frame-header-checksum",
            t().set(13, &[0xEE]),
            "frame header is damaged",
        ),
        (
            "R04-index-reserved",
            put(1, &[1]),
            "reserved bit of the index",
        ),
        (
            "R04-frame-flags",
            t().frame(5, &[1]),
            "reserved bit of the frame header",
        ),
        (
            "R04-frame-reserved",
            t().frame(6, &[0x80]),
            "reserved bit of the frame header",
        ),
        (
            "R04-block-flags",
            t().block(9, &[64]),
            "reserved bit of the block header",
        ),
        (
            "R04-fields-and-index",
            t().block(9, &[40]),
            "both an index and filters",
        ),
        (
            "R04-sequences-and-fields",
            t().block(9, &[33]),
            "both filters, sequences and fields",
        ),
        (
            "R04-regions-and-index",
            t().block(9, &[10]),
            "both an index and filters",
        ),
        (
            "R04-matches-and-index",
            t().block(9, &[13]),
            "both an index and filters",
        ),
        (
            "R04-stored-flags",
            stored.clone().block(9, &[1]),
            "reserved bit of the block header",
        ),
        (
            "R04-stored-rate",
            stored.clone().block(10, &[16]),
            "reserved bit of the block header",
        ),
        (
            "R04-seek-table",
            t().seek_table(9, &[2]),
            "reserved bit of the seek table",
        ),
        (
            "R05-block-size-0",
            t().frame(7, &[0; 5]),
            "says it has none",
        ),
        (
            "R05-block-size-without-blocks",
            empty.clone().frame(7, &[1]),
            "promises blocks",
        ),
        (
            "R06-marker",
            t().set(BLOCK, &[0]),
            "neither a block nor the seek table",
        ),
        (
            "R07-block-header-checksum",
            t().set(BLOCK + 38, &[0]),
            "block header is damaged",
        ),
        ("R08-kind-2", t().block(8, &[2]), "unknown kind"),
        (
            "R09-sample-rate-log-2",
            t().block(10, &[2]),
            "sample rate is out of range",
        ),
        (
            "R09-sample-rate-log-32",
            t().block(10, &[32]),
            "sample rate is out of range",
        ),
        ("R09-coding-2", t().block(11, &[2]), "unknown coding"),
        ("R09-coding-255", t().block(11, &[255]), "unknown coding"),
        (
            "R10-raw-size-0",
            stored.clone().block(12, &[0; 10]),
            "raw size is 0",
        ),
        (
            "R10-raw-size-above-block-size",
            t().frame(7, &[100, 0, 0, 0]),
            "larger than the frame",
        ),
        (
            "R11-stored-coded-size",
            stored.clone().block(17, &[49]),
            "coded size does not fit",
        ),
        (
            "R11-bwt-coded-size",
            t().block(17, &900u32.to_le_bytes()),
            "coded size does not fit",
        ),
        (
            "R11-bwt-coded-size-0",
            t().block(17, &[0; 5]),
            "coded size does not fit",
        ),
        ("R12-raw-offset", t().block(26, &[1]), "raw offset"),
        (
            "R13-payload-checksum",
            t().set(PAYLOAD + 9, &[0]),
            "checksum of its payload",
        ),
        (
            "R14-width-0",
            t().with_payload(&[0, 1, 2, 3]),
            "impossible width",
        ),
        (
            "R14-width-41",
            t().with_payload(&[41; 40]),
            "impossible width",
        ),
        (
            "R14-padding",
            t().with_payload(&[10, 1, 0x80, 0, 0]),
            "bits set after its last value",
        ),
        (
            "R15-samples-cut",
            t().with_payload(&[16, 1]),
            "longer than the block",
        ),
        (
            "R15-sizes-missing",
            t().with_payload(&[8, 1]),
            "longer than the block",
        ),
        ("R16-sample-0", with_sample(0), "not a row of the block"),
        ("R16-sample-901", with_sample(901), "not a row of the block"),
        ("R18-raw-checksum", t().block(22, &[0; 4]), "restored bytes"),
        (
            "R19-seek-table-checksum",
            t().set(table + 24, &[0; 4]),
            "seek table is damaged",
        ),
        (
            "R19-entries-checksum",
            t().set(table + 28, &[9]),
            "seek table is damaged",
        ),
        ("R20-form-2", t().seek_table(8, &[2]), "unknown form"),
        (
            "R20-form-zstd",
            t().seek_table(8, &[1]),
            "have the wrong size",
        ),
        (
            "R20-block-count",
            t().seek_table(10, &[2]),
            "as many entries as there are blocks",
        ),
        (
            "R20-entry",
            t().seek_table(28 + 8, &[17]),
            "does not match the blocks",
        ),
        ("R21-footer-magic", t().set(size - 1, &[0]), "bwz footer"),
        (
            "R21-footer-checksum",
            t().set(footer + 24, &[0; 4]),
            "footer is damaged",
        ),
        (
            "R22-total-raw-size",
            t().foot(0, &[0; 8]),
            "raw size does not match",
        ),
        (
            "R22-frame-size",
            t().foot(8, &[0; 8]),
            "sizes do not match the frame",
        ),
        (
            "R22-seek-table-size",
            t().foot(15, &[0; 5]),
            "sizes do not match the frame",
        ),
        (
            "R22-stream-checksum",
            t().foot(20, &[0; 4]),
            "stream's checksum",
        ),
        (
            "R23-cut-in-header",
            Patient(t().0[..10].to_vec()),
            "was cut off",
        ),
        (
            "R23-cut-in-payload",
            Patient(t().0[..PAYLOAD + 50].to_vec()),
            "was cut off",
        ),
        (
            "R23-cut-before-footer",
            Patient(t().0[..footer].to_vec()),
            "was cut off",
        ),
        (
            "R25-samples-checksum",
            put(12, &[0; 4]),
            "checksum of its samples",
        ),
        (
            "R25-index-checksum",
            with_wrong_sum(first_of_counts),
            "index is damaged",
        ),
        (
            "R25-index-checksum-of-models",
            with_wrong_sum(first_of_models),
            "index is damaged",
        ),
        ("R26-form-2", put(0, &[2]), "index is of an unknown form"),
        (
            "R26-too-long",
            put(2, &[0, 0, 1, 0]),
            "longer than the block",
        ),
        (
            "R26-counts-short",
            with_counts(&searchable, |c| c.truncate(c.len() - 1)),
            "index's counts",
        ),
        (
            "R26-no-symbols",
            with_counts(&searchable, |c| *c = vec![0; 32]),
            "index's counts",
        ),
        (
            "R27-primary-index",
            put(7, &[1, 0, 0, 0]),
            "not the first sample",
        ),
        (
            "R27-slice-checksum",
            put(20, &[0; 4]),
            "does not match its slices",
        ),
        (
            "R27-count",
            count_changed(32, 1),
            "does not match its slices",
        ),
        ("R27-head", put(24, &[0]), "does not match its ends"),
        ("R27-tail", put(24 + 128, &[0]), "does not match its ends"),
        (
            "R24-trailing-garbage",
            Patient([&t().0[..], b"more"].concat()),
            "trailing garbage",
        ),
        (
            "R24-padding-with-another-byte",
            Patient([&t().0[..], &[0, 0, 0, 1, 0]].concat()),
            "here is another byte",
        ),
        (
            "R24-padding-between-frames",
            Patient([&t().0[..], &[0; 20], &t().0].concat()),
            "here is another byte",
        ),
    ];
    files
        .into_iter()
        .chain(size_rejects())
        .chain(slice_rejects())
        .chain(filter_rejects())
        .chain(sequence_rejects())
        .chain(field_rejects())
        .chain(joined_rejects())
        .chain(list_rejects())
        .chain(packed_rejects())
        .chain(table_rejects())
        .map(|(name, file, says)| (name, file.0, says))
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format/examples/reject")
}

#[test]
fn each_is_rejected_for_its_own_reason() {
    for (name, file, says) in &*REJECTS {
        let (_, end) = decompressed(file);
        let message = end.expect_err(name).to_string();
        assert!(message.contains(says), "{name}: {message}");
    }
}

#[test]
fn the_files_in_the_folder_are_these() {
    let bless = std::env::var_os("BWZ_BLESS").is_some();
    if bless {
        let _ = fs::remove_dir_all(folder());
        fs::create_dir_all(folder()).unwrap();
    }
    let mut names = BTreeSet::new();
    for (name, file, _) in &*REJECTS {
        let path = folder().join(name).with_extension("bwz");
        if bless {
            fs::write(&path, file).unwrap();
        }
        assert!(
            fs::read(&path).unwrap() == *file,
            "{name} is not what is made here: see this file's head"
        );
        names.insert(path);
    }
    let found: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(found, names);
}

#[test]
fn every_number_of_the_specification_has_a_file() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("format/FORMAT.md");
    let spec = fs::read_to_string(spec).unwrap();
    let (chapters, list) = spec
        .split_once("\n## 16. What a decoder must reject")
        .unwrap();
    let numbers = list
        .lines()
        .filter_map(|line| line.strip_prefix("| R")?.get(..2));
    let numbers: Vec<&str> = numbers.collect();
    assert_eq!(numbers.len(), 30);
    for number in numbers {
        assert!(
            chapters.contains(&format!("R{number}")),
            "no chapter rejects R{number}"
        );
        let prefix = format!("R{number}-");
        assert!(
            REJECTS
                .iter()
                .any(|(name, ..)| name.starts_with(&prefix)),
            "R{number} has no file"
        );
    }
}
