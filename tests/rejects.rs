//! What a decoder must reject, FORMAT.md section 11: one file or more per number, in `format/examples/reject/`.
//!
//! The files are made here from sound ones by changing a field and making the checksums around it right again, so that each is
//! rejected for its own reason. After a change of the format: `BWZ_BLESS=1 cargo test --test rejects`.

mod common;

use bwz::{Effort, coder};
use common::{cases, compressed, decompressed, indexed};
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A file with one block, or the first of several, whose parts are known by their offsets.
#[derive(Clone)]
struct Patient(Vec<u8>);

const BLOCK: usize = 16;
const PAYLOAD: usize = BLOCK + 40;

impl Patient {
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn payload(&self) -> Range<usize> {
        PAYLOAD..PAYLOAD + self.u32(BLOCK + 16) as usize
    }

    /// Where the seek table of a file with one block starts.
    fn table(&self) -> usize {
        self.payload().end
    }

    fn footer(&self) -> usize {
        self.0.len() - 32
    }

    fn set(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn seal(self, checked: Range<usize>, at: usize) -> Self {
        let checksum = crc32fast::hash(&self.0[checked]);
        self.set(at, &checksum.to_le_bytes())
    }

    fn frame(self, at: usize, bytes: &[u8]) -> Self {
        self.set(at, bytes).seal(0..12, 12)
    }

    fn block(self, at: usize, bytes: &[u8]) -> Self {
        self.set(BLOCK + at, bytes).seal(BLOCK..BLOCK + 36, BLOCK + 36)
    }

    fn seek_table(self, at: usize, bytes: &[u8]) -> Self {
        let table = self.table();
        let entries = table + 28..self.footer();
        self.set(table + at, bytes).seal(entries, table + 20).seal(table..table + 24, table + 24)
    }

    fn foot(self, at: usize, bytes: &[u8]) -> Self {
        let footer = self.footer();
        self.set(footer + at, bytes).seal(footer..footer + 24, footer + 24)
    }

    /// The file with another payload in its only block.
    fn with_payload(self, payload: &[u8]) -> Self {
        let old = self.payload();
        let mut file = self;
        file.0.splice(old, payload.iter().copied());
        let file = file.block(16, &(payload.len() as u32).to_le_bytes());
        let checksum = crc32fast::hash(payload).to_le_bytes();
        file.block(32, &checksum)
    }

    /// The payload's parts: the one sample, and the one segment.
    fn parts(&self) -> (u64, &[u8]) {
        let bytes = &self.0[self.payload()];
        let (sample, rest) = one_value(bytes);
        let (size, segment) = one_value(rest);
        assert_eq!(size as usize, segment.len());
        (sample, segment)
    }

    /// The file with another segment in its only block.
    fn with_segment(&self, segment: &[u8]) -> Self {
        self.clone().with_parts(self.parts().0, segment.len() as u64, segment)
    }

    fn with_parts(self, sample: u64, size: u64, segment: &[u8]) -> Self {
        self.with_payload(&[&packed(16, sample), &packed(16, size), segment].concat())
    }
}

/// The file with another index in its only block, whose checksum is right again.
fn with_index(patient: &Patient, change: impl FnOnce(&mut Vec<u8>)) -> Patient {
    let payload = patient.0[patient.payload()].to_vec();
    let behind_samples = one_value(&payload).1.len();
    let behind_sizes = one_value(one_value(&payload).1).1.len();
    let (sizes, start) = (payload.len() - behind_samples, payload.len() - behind_sizes);
    let counts_size = u32::from_le_bytes(payload[start + 4..start + 8].try_into().unwrap());
    let end = start + 20 + 4 + 2 * 128 + counts_size as usize;
    let mut index = payload[start..end].to_vec();
    change(&mut index);
    let checked = [&payload[sizes..start], &index[..16], &index[20..]].concat();
    index[16..20].copy_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    patient.clone().with_payload(&[&payload[..start], &index, &payload[end..]].concat())
}

/// The counts of an index uncompressed, and changed.
fn with_counts(patient: &Patient, change: impl FnOnce(&mut Vec<u8>)) -> Patient {
    with_index(patient, |index| {
        let mut counts = index.split_off(24 + 2 * 128);
        if index[0] == 1 {
            counts = zstd::bulk::decompress(&counts, 2000).unwrap();
        }
        change(&mut counts);
        index[0] = 0;
        index[4..8].copy_from_slice(&(counts.len() as u32).to_le_bytes());
        index.extend(counts);
    })
}

/// A Packed_Array of one value.
fn packed(width: u8, value: u64) -> Vec<u8> {
    let mut bytes = vec![width];
    bytes.extend(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
    bytes
}

fn one_value(bytes: &[u8]) -> (u64, &[u8]) {
    let (value, rest) = bytes[1..].split_at(usize::from(bytes[0]).div_ceil(8));
    let mut wide = [0; 8];
    wide[..value.len()].copy_from_slice(value);
    (u64::from_le_bytes(wide), rest)
}

/// Name, bytes, and a part of the message of every file.
type Reject = (&'static str, Vec<u8>, &'static str);

static REJECTS: LazyLock<Vec<Reject>> = LazyLock::new(rejects);

fn rejects() -> Vec<Reject> {
    let raw = cases::text(900);
    let text = Patient(compressed(&raw, 1 << 20));
    let stored = Patient(compressed(&cases::random(50, 256), 1 << 20));
    let blocks = Patient(compressed(&raw, 500));
    let empty = Patient(compressed(b"", 1 << 20));
    let (table, footer, size) = (text.table(), text.footer(), text.0.len());
    let long = (1u32 << 31).to_le_bytes();
    let (sample, segment) = text.parts();
    let segment_size = segment.len() as u64;
    let short = &segment[..segment.len() - 1];
    let longer = [segment, &[0]].concat();
    let with_segment = |segment: &[u8]| text.with_segment(segment);
    let changed = |at: usize, bytes: &[u8]| {
        let mut segment = segment.to_vec();
        segment[at..at + bytes.len()].copy_from_slice(bytes);
        with_segment(&segment)
    };
    // Segment_Kind, Last_Symbol, Symbols, then the states.
    let states = 2 + usize::from(segment[1]) + 1;
    // As kind 3, with other bytes where its tables begin.
    let counted = |tables: &[u8]| with_segment(&[&[3], &segment[1..states], tables].concat());
    let t = || text.clone();
    let searchable = Patient(indexed(&raw, 1 << 20, Some(0)));
    let put = |at: usize, bytes: &'static [u8]| {
        with_index(&searchable, |index| index[at..at + bytes.len()].copy_from_slice(bytes))
    };
    let count_changed = |at: usize, by: u8| with_counts(&searchable, |counts| counts[at] ^= by);
    let with_wrong_sum = |at: usize| {
        let mut payload = searchable.0[searchable.payload()].to_vec();
        payload[at] ^= 1;
        searchable.clone().with_payload(&payload)
    };
    let behind = one_value(one_value(&searchable.0[searchable.payload()]).1).1.len();
    let first_of_counts = searchable.payload().len() - behind + 24 + 256;

    let files = [
        ("R01-empty", Patient(vec![]), "it is empty"),
        ("R01-bzip2", Patient(b"BZh91AY&SY".to_vec()), "not a bwz file"),
        ("R02-version-2", t().frame(4, &[2]), "version"),
        ("R02-version-2-other-checksum", t().set(4, &[2]), "version"),
        ("R03-frame-header-checksum", t().set(13, &[0xEE]), "frame header is damaged"),
        ("R04-index-reserved", put(1, &[1]), "reserved bit of the index"),
        ("R04-frame-flags", t().frame(5, &[1]), "reserved bit of the frame header"),
        ("R04-frame-reserved", t().frame(7, &[0x80]), "reserved bit of the frame header"),
        ("R04-block-flags", t().block(9, &[16]), "reserved bit of the block header"),
        ("R04-filters-and-index", t().block(9, &[9]), "both filters and an index"),
        ("R04-stored-flags", stored.clone().block(9, &[1]), "reserved bit of the block header"),
        ("R04-stored-rate", stored.clone().block(10, &[16]), "reserved bit of the block header"),
        ("R04-seek-table", t().seek_table(9, &[1]), "reserved bit of the seek table"),
        ("R05-block-size-too-large", t().frame(8, &long), "block size is out of range"),
        ("R05-block-size-0", t().frame(8, &[0; 4]), "says it has none"),
        ("R05-block-size-without-blocks", empty.clone().frame(8, &[1]), "promises blocks"),
        ("R06-marker", t().set(BLOCK, &[0]), "neither a block nor the seek table"),
        ("R07-block-header-checksum", t().set(BLOCK + 36, &[0]), "block header is damaged"),
        ("R08-kind-2", t().block(8, &[2]), "unknown kind"),
        ("R09-sample-rate-log-2", t().block(10, &[2]), "sample rate or segment size"),
        ("R09-sample-rate-log-32", t().block(10, &[32]), "sample rate or segment size"),
        ("R09-segment-size-log-15", t().block(11, &[15]), "sample rate or segment size"),
        ("R09-segment-size-log-32", t().block(11, &[32]), "sample rate or segment size"),
        ("R10-raw-size-0", stored.clone().block(12, &[0; 8]), "raw size is out of range"),
        ("R10-raw-size-above-block-size", t().frame(8, &[100, 0, 0, 0]), "larger than the frame"),
        ("R10-short-block-not-last", blocks.clone().frame(8, &[0, 4, 0, 0]), "must be the last"),
        ("R11-stored-coded-size", stored.clone().block(16, &[49]), "coded size does not fit"),
        ("R11-bwt-coded-size", t().block(16, &900u32.to_le_bytes()), "coded size does not fit"),
        ("R12-raw-offset", t().block(24, &[1]), "raw offset"),
        ("R13-payload-checksum", t().set(PAYLOAD + 9, &[0]), "checksum of its payload"),
        ("R14-width-0", t().with_payload(&[0, 1, 2, 3]), "impossible width"),
        ("R14-width-33", t().with_payload(&[33; 40]), "impossible width"),
        ("R14-padding", t().with_payload(&[10, 1, 0x80, 0, 0]), "bits set after its last value"),
        ("R15-samples-cut", t().with_payload(&[16, 1]), "longer than the block"),
        ("R15-sizes-missing", t().with_payload(&[8, 1]), "longer than the block"),
        ("R15-size-0", t().with_parts(sample, 0, segment), "do not add up"),
        ("R15-size-short", t().with_parts(sample, segment_size - 1, segment), "do not add up"),
        ("R15-size-long", t().with_parts(sample, segment_size + 1, segment), "do not add up"),
        ("R16-sample-0", t().with_parts(0, segment_size, segment), "no row of the block"),
        ("R16-sample-901", t().with_parts(901, segment_size, segment), "no row of the block"),
        ("R17-segment-cut", t().with_parts(sample, segment_size - 1, short), "a segment"),
        (
            "R17-segment-too-long",
            t().with_parts(sample, segment_size + 1, &longer),
            "longer or shorter",
        ),
        ("R17-segment-kind-9", changed(0, &[9]), "unknown kind"),
        ("R17-symbol-twice", changed(2, &[segment[3]]), "twice"),
        ("R17-state-too-small", changed(states, &[0; 4]), "too small"),
        ("R17-stored-segment-short", with_segment(&[0; 500]), "wrong length"),
        ("R17-table-of-17", counted(&[17; 60]), "more than 16 symbols"),
        ("R17-tables-cut", counted(&[0, 2, 1]), "end too early"),
        ("R17-symbols-cut", with_segment(&segment[..states - 1]), "end too early"),
        ("R18-raw-checksum", t().block(20, &[0; 4]), "restored bytes"),
        ("R19-seek-table-checksum", t().set(table + 24, &[0; 4]), "seek table is damaged"),
        ("R19-entries-checksum", t().set(table + 28, &[9]), "seek table is damaged"),
        ("R20-form-2", t().seek_table(8, &[2]), "unknown form"),
        ("R20-form-zstd", t().seek_table(8, &[1]), "not of the size they must have"),
        ("R20-block-count", t().seek_table(12, &[2]), "as many entries as there are blocks"),
        ("R20-entry", t().seek_table(28 + 8, &[17]), "does not match the blocks"),
        ("R21-footer-magic", t().set(size - 1, &[0]), "bwz footer"),
        ("R21-footer-checksum", t().set(footer + 24, &[0; 4]), "footer is damaged"),
        ("R22-total-raw-size", t().foot(0, &[0; 8]), "raw size does not match"),
        ("R22-frame-size", t().foot(8, &[0; 8]), "sizes do not match the frame"),
        ("R22-seek-table-size", t().foot(16, &[0; 4]), "sizes do not match the frame"),
        ("R22-stream-checksum", t().foot(20, &[0; 4]), "stream's checksum"),
        ("R23-cut-in-header", Patient(t().0[..10].to_vec()), "was cut off"),
        ("R23-cut-in-payload", Patient(t().0[..PAYLOAD + 50].to_vec()), "was cut off"),
        ("R23-cut-before-footer", Patient(t().0[..footer].to_vec()), "was cut off"),
        ("R25-samples-checksum", put(12, &[0; 4]), "checksum of its samples"),
        ("R25-index-checksum", with_wrong_sum(first_of_counts), "index is damaged"),
        ("R26-form-2", put(0, &[2]), "index is of an unknown form"),
        ("R26-too-long", put(4, &[0, 0, 1, 0]), "longer than the block"),
        (
            "R26-counts-short",
            with_counts(&searchable, |c| c.truncate(c.len() - 1)),
            "index's counts",
        ),
        ("R26-no-symbols", with_counts(&searchable, |c| *c = vec![0; 32]), "index's counts"),
        ("R27-primary-index", put(8, &[1, 0, 0, 0]), "not the first sample"),
        ("R27-segment-checksum", put(20, &[0; 4]), "does not match its segments"),
        ("R27-count", count_changed(32, 1), "does not match its segments"),
        ("R27-head", put(24, &[0]), "does not match its ends"),
        ("R27-tail", put(24 + 128, &[0]), "does not match its ends"),
        ("R24-trailing-garbage", Patient([&t().0[..], b"more"].concat()), "trailing garbage"),
    ];
    files
        .into_iter()
        .chain(segment_rejects())
        .chain(filter_rejects())
        .map(|(name, file, says)| (name, file.0, says))
        .collect()
}

/// Those of R17 that only one segment coding has, or that each has in its own way: adaptive rANS is kind 1, context
/// mixing kind 2, static rANS kind 3.
fn segment_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let text = cases::text(900);
    let [adaptive, mixing] = [Effort::Default, Effort::Best].map(|effort| coded(&text, effort));
    let fixed = coded(&cases::random(12_000, 4), Effort::Fast);
    // Segment_Kind, Last_Symbol and Symbols come before the states.
    let adaptive_states = 2 + usize::from(adaptive.parts().1[1]) + 1;
    let cut = |patient: &Patient, at: usize| patient.with_segment(&patient.parts().1[..at]);
    let short = |patient: &Patient, by: usize| cut(patient, patient.parts().1.len() - by);
    let longer = |patient: &Patient, by: usize| {
        patient.with_segment(&[patient.parts().1, &[0; 4][..by]].concat())
    };
    // Segment_Kind, Last_Symbol, four Symbols, tables without weights, whose symbols are nearly always 15, and states.
    let untold = |states: [u32; 2]| {
        let head = [&[3, 3], &b"\0\x01\x02\x03"[..], &[0; 39]].concat();
        fixed.with_segment(&[head, states.map(u32::to_le_bytes).concat()].concat())
    };
    // Segment_Kind, Present and no more.
    let nothing_present = mixing.with_segment(&[&[2][..], &[0; 32]].concat());
    let (early, run, end) =
        ("end too early", "a run that does not fit", "do not end where its runs do");
    let (behind, exact) = ("behind the end of its list", "longer or shorter");
    vec![
        ("R17-adaptive-cut-in-states", cut(&adaptive, adaptive_states + 7), early),
        ("R17-adaptive-run", flipped(&adaptive, run), run),
        ("R17-adaptive-place", flipped(&adaptive, behind), behind),
        ("R17-adaptive-end-state", flipped(&adaptive, end), end),
        ("R17-mixing-cut-in-present", cut(&mixing, 32), early),
        ("R17-mixing-nothing-present", nothing_present, "no symbols"),
        ("R17-mixing-cut-in-weights", cut(&mixing, 35), early),
        ("R17-mixing-cut", short(&mixing, 8), early),
        ("R17-mixing-left-over", longer(&mixing, 4), end),
        ("R17-mixing-run", flipped(&mixing, run), run),
        ("R17-mixing-offset", flipped(&mixing, end), end),
        (
            "R17-static-cut-in-states",
            fixed.with_segment(&[&[3, 3, 0, 1, 2, 3][..], &[0; 39], &[1; 7]].concat()),
            early,
        ),
        ("R17-static-state-too-small", untold([1 << 16, (1 << 16) - 1]), "too small"),
        ("R17-static-width", untold([u32::MAX; 2]), "longer than any segment"),
        ("R17-static-cut", short(&fixed, 2), end),
        ("R17-static-left-over", longer(&fixed, 2), exact),
        ("R17-static-run", flipped(&fixed, run), run),
        ("R17-static-place", flipped(&fixed, behind), behind),
        ("R17-static-end-state", flipped(&fixed, end), end),
    ]
}

/// A file of one block with one segment.
fn coded(raw: &[u8], effort: Effort) -> Patient {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &common::options(1 << 20).effort(effort)).unwrap();
    Patient(file)
}

/// The file with the first bit of its segment inverted for which the segment is rejected with these words.
fn flipped(patient: &Patient, says: &str) -> Patient {
    let mut segment = patient.parts().1.to_vec();
    let mut out = vec![0; patient.u32(BLOCK + 12) as usize];
    for bit in 0..segment.len() * 8 {
        segment[bit / 8] ^= 1 << (bit % 8);
        if coder::decode(&segment, &mut out).is_err_and(|flaw| flaw.0.contains(says)) {
            return patient.with_segment(&segment);
        }
        segment[bit / 8] ^= 1 << (bit % 8);
    }
    panic!("no bit makes a segment that is rejected with {says:?}");
}

/// Those of R28, made from a block of bwt kind by putting a Side in front of its payload.
fn filter_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let raw = cases::random(600, 4);
    let plain = Patient(compressed(&raw, 1 << 20));
    let payload = &plain.0[plain.payload()];
    let filtered = |flags: u8, text_size: u32, side_size: u32, side: &[u8]| {
        let sizes = [text_size.to_le_bytes(), side_size.to_le_bytes()].concat();
        plain.clone().with_payload(&[&sizes, side, payload].concat()).block(9, &[flags])
    };
    let text_size = raw.len() as u32;
    let side = |flags: u8, side: &[u8]| filtered(flags, text_size, side.len() as u32, side);
    // The number 600 as a varint: lines of that width break nothing, so this side is sound.
    let all = [0xD8, 4];
    let sound = [0xD8, 4, 0];
    assert_eq!(decompressed(&side(1, &sound).0).0, raw);
    let sizes = |text: u32, side: u32| filtered(1, text, side, &sound);
    let region = |kind: &[u8]| side(2, &[&all, kind].concat());
    let larger = (text_size + 1).to_le_bytes();
    // One match in 8 bytes, which begin with these.
    let one_match = |coded: [u8; 4]| side(4, &[&all[..], &[1, 8], &coded, &[0; 4]].concat());
    vec![
        ("R28-text-size-0", sizes(0, 3), "what the filters left"),
        ("R28-text-size-large", sizes(text_size + 1, 3), "what the filters left"),
        ("R28-side-size", sizes(text_size, u32::MAX), "end after the block"),
        ("R28-side-cut", side(1, &sound[..2]), "end too early"),
        ("R28-side-left-over", side(1, &[&sound[..], &[0]].concat()), "do not restore as many"),
        ("R28-varint", side(1, &[0xFF; 6]), "out of range"),
        ("R28-lines-width-0", side(1, &[0, 0]), "0 bytes wide"),
        ("R28-lines-width", side(1, &[59, 0]), "lines do not add up"),
        ("R28-lines-not-there", side(1, &[&all[..], &[1, 100, 1]].concat()), "lines do not add up"),
        ("R28-region-empty", side(2, &[0, 0]), "regions of a block do not add up"),
        ("R28-region-large", side(2, &[0xFF, 0xFF, 0xFF, 1, 0]), "regions of a block do not"),
        ("R28-region-kind-4", region(&[4]), "unknown kind"),
        ("R28-records-stride-0", region(&[1, 0, 0, 0]), "impossible shape"),
        ("R28-records-width-9", region(&[1, 24, 9, 0]), "impossible shape"),
        ("R28-records-width-above-stride", region(&[1, 2, 4, 0]), "impossible shape"),
        ("R28-records-row", region(&[1, 24, 4, 24]), "impossible shape"),
        (
            "R28-another-size",
            region(&[0]).frame(8, &larger).block(12, &larger),
            "do not restore as many",
        ),
        ("R28-matches-size", side(4, &[10, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]), "matches and literals"),
        (
            "R28-matches-large",
            side(4, &[0xFF, 0xFF, 0xFF, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            "matches and",
        ),
        ("R28-matches-cut", side(4, &[&all[..], &[0, 3, 0, 0, 0]].concat()), "do not end where"),
        (
            "R28-matches-form",
            side(4, &[&all[..], &[1, 8, 0, 0, 0, 0, 0, 0, 0, 0]].concat()),
            "matches and",
        ),
        ("R28-matches-form-above-5", one_match([244, 0, 0, 0]), "matches and"),
        ("R28-matches-distance", one_match([253, 226, 0, 0]), "matches and"),
        ("R28-matches-literals", one_match([173, 185, 189, 0]), "matches and"),
        ("R28-matches-left-over", one_match([196, 37, 230, 157]), "do not end where"),
        ("R28-lines-twice", side(1, &[&all[..], &[1, 0, 2]].concat()), "lines do not add up"),
        ("R28-records-cut", region(&[1, 24]), "end too early"),
    ]
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
    let found: BTreeSet<_> = fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(found, names);
}

#[test]
fn every_number_of_the_specification_has_a_file() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("format/FORMAT.md");
    let spec = fs::read_to_string(spec).unwrap();
    let numbers: Vec<&str> =
        spec.lines().filter_map(|line| line.strip_prefix("| R")?.get(..2)).collect();
    let numbers: Vec<&str> =
        numbers.into_iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit())).collect();
    assert_eq!(numbers.len(), 28);
    for number in numbers {
        let prefix = format!("R{number}-");
        assert!(
            REJECTS.iter().any(|(name, ..)| name.starts_with(&prefix)),
            "R{number} has no file"
        );
    }
}
