//! Files that the codings of slices, the filters and the tables reject: FORMAT.md chapters 12 to
//! 15, and section 8.2.

use super::patient::{BLOCK, Parts, Patient};
use crate::common::{self, cases, compressed, decompressed};
use bwz::Effort;
use bwz::internals::coder::{Coding, SliceDecoder};
use bwz::internals::filter::{Filtered, undo};
use bwz::internals::separate_sequences;

/// Files for R15, with one slice and with two.
pub fn size_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let text = coded(&cases::text(9000), Effort::Default);
    let models_size = text.parts().models.len() as u64;
    let coded_size = text.parts().slice.len() as u64;
    let with = |sizes: &[u64]| {
        text.with_parts(Parts {
            sizes: sizes.to_vec(),
            ..text.parts()
        })
    };
    // The coded bytes are read as two slices of 4000 and 5000 bytes.
    let two = |raw: u64, coded: u64| with(&[2, raw, models_size, coded]);
    let message = decompressed(&two(4000, 100).0)
        .1
        .unwrap_err()
        .to_string();
    assert!(message.contains("a slice"), "{message}");
    let count = "no slices, or more";
    let misfit = "do not add up";
    vec![
        ("R15-slice-count-0", with(&[0, models_size]), count),
        (
            "R15-slice-count-large",
            with(&[4, 1, models_size, 1]),
            count,
        ),
        ("R15-models-size-0", with(&[1, 0]), misfit),
        (
            "R15-models-size-large",
            with(&[1, models_size + coded_size + 1]),
            "models of the block",
        ),
        (
            "R15-models-size-of-all",
            with(&[1, models_size + coded_size]),
            misfit,
        ),
        ("R15-raw-size-0", two(0, 100), misfit),
        ("R15-raw-size-large", two(9000, 100), misfit),
        ("R15-coded-size-0", two(4000, 0), misfit),
        ("R15-coded-size-large", two(4000, coded_size), misfit),
        ("R15-coded-size-above-raw-size", two(99, 100), misfit),
        ("R15-last-coded-size-above-raw-size", two(8999, 100), misfit),
    ]
}

/// Files for R17.
pub fn slice_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let text = cases::text(900);
    let [fixed, mixing] = [Effort::Default, Effort::Best].map(|effort| coded(&text, effort));
    let sent = coded(&cases::text(9000), Effort::Default);
    let cut = |patient: &Patient, at: usize| patient.with_slice(&patient.parts().slice[..at]);
    let short = |patient: &Patient, by: usize| cut(patient, patient.parts().slice.len() - by);
    let longer = |patient: &Patient, by: usize| {
        patient.with_slice(&[patient.parts().slice, &[0; 4][..by]].concat())
    };
    let models = fixed.parts().models;
    let small_state = [&[0; 4], &fixed.parts().slice[4..]].concat();
    let early = "end too early";
    let run = "a run that does not fit";
    let end = "do not end with its runs";
    let behind = "past the end of its list";
    let exact = "longer or shorter";
    let last = "continues after its last run";
    let behind_models = "left over after the models";
    let no_bytes = "models for no bytes";
    let weights = "weights are out of range";
    let long_run = "a run longer than any slice";
    vec![
        (
            "R17-models-cut",
            fixed.with_models(&models_that_are(early)),
            early,
        ),
        (
            "R17-models-left-over",
            fixed.with_models(&[models, &[0; 4]].concat()),
            behind_models,
        ),
        (
            "R17-models-of-no-bytes",
            fixed.with_models(&models_that_are(no_bytes)),
            no_bytes,
        ),
        ("R17-models-weight", flipped_models(&sent, weights), weights),
        ("R17-static-cut-in-states", cut(&fixed, 7), early),
        (
            "R17-static-state-too-small",
            fixed.with_slice(&small_state),
            "too small",
        ),
        (
            "R17-static-width",
            fixed.with_slice(&slice_that_is(&fixed, long_run)),
            long_run,
        ),
        ("R17-static-cut", short(&fixed, 2), last),
        ("R17-static-left-over", longer(&fixed, 2), exact),
        ("R17-static-run", flipped(&fixed, run), run),
        ("R17-static-mtf-rank", flipped(&fixed, behind), behind),
        ("R17-static-last-rank", flipped(&fixed, last), last),
        ("R17-static-end-state", flipped(&fixed, end), end),
        ("R17-mixing-cut-in-present", cut(&mixing, 31), early),
        (
            "R17-mixing-nothing-present",
            mixing.with_slice(&[0; 32]),
            "names no byte",
        ),
        ("R17-mixing-cut-in-weights", cut(&mixing, 34), early),
        ("R17-mixing-cut", short(&mixing, 8), early),
        ("R17-mixing-left-over", longer(&mixing, 4), end),
        ("R17-mixing-run", flipped(&mixing, run), run),
        ("R17-mixing-offset", flipped(&mixing, end), end),
    ]
}

/// A file of one block with one slice.
fn coded(raw: &[u8], effort: Effort) -> Patient {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &common::options(1 << 20).effort(effort)).unwrap();
    Patient(file)
}

/// True if `patient` with this slice is rejected with this message.
fn is_rejected(patient: &Patient, decoder: &SliceDecoder, slice: &[u8], says: &str) -> bool {
    let mut out = vec![0; patient.u32(BLOCK + 12) as usize];
    decoder
        .decode(slice, &mut out)
        .is_err_and(|flaw| flaw.0.contains(says))
}

fn decoder(patient: &Patient) -> SliceDecoder {
    let coding = [Coding::StaticRans, Coding::ContextMixing][usize::from(patient.0[BLOCK + 11])];
    SliceDecoder::new(coding, patient.parts().models).unwrap()
}

/// The file with one bit of its slice inverted: the first bit for which the slice is rejected with
/// this message.
fn flipped(patient: &Patient, says: &str) -> Patient {
    let decoder = decoder(patient);
    let found =
        flips(patient.parts().slice).find(|slice| is_rejected(patient, &decoder, slice, says));
    patient.with_slice(&found.unwrap_or_else(|| panic!("no bit makes {says:?}")))
}

/// The file with one bit of its models inverted: the first bit for which they are rejected with
/// this message.
fn flipped_models(patient: &Patient, says: &str) -> Patient {
    let found = flips(patient.parts().models).find(|models| are_rejected(models, says));
    patient.with_models(&found.unwrap_or_else(|| panic!("no bit makes {says:?}")))
}

fn are_rejected(models: &[u8], says: &str) -> bool {
    SliceDecoder::new(Coding::StaticRans, models).is_err_and(|flaw| flaw.0.contains(says))
}

/// `bytes` with each of its bits inverted.
fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..8 * bytes.len()).map(|bit| {
        let mut bytes = bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    })
}

/// Models that are rejected with this message.
fn models_that_are(says: &str) -> Vec<u8> {
    let mut all = (0..=255).flat_map(|byte| (1..=12).map(move |size| vec![byte; size]));
    all.find(|models| are_rejected(models, says))
        .expect("there are such models")
}

/// A slice that is rejected with this message because of its first state.
fn slice_that_is(patient: &Patient, says: &str) -> Vec<u8> {
    let decoder = decoder(patient);
    let slice = |state: u32| [&state.to_le_bytes()[..], &[0xFF; 100]].concat();
    let mut slices = (1 << 16..1 << 22).map(slice);
    slices
        .find(|slice| is_rejected(patient, &decoder, slice, says))
        .expect("there is such a slice")
}

/// Files for R28, made from a block of bwt kind by putting a Side in front of its payload.
pub fn filter_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let raw = cases::random(600, 4);
    let plain = Patient(compressed(&raw, 1 << 20));
    let payload = &plain.0[plain.payload()];
    let filtered = |flags: u8, text_size: u32, side_size: u32, side: &[u8]| {
        let sizes = [text_size, side_size].map(|size| u64::from(size).to_le_bytes());
        let sizes = [&sizes[0][..5], &sizes[1][..5]].concat();
        plain
            .clone()
            .with_payload(&[&sizes, side, payload].concat())
            .block(9, &[flags])
    };
    let text_size = raw.len() as u32;
    let side = |flags: u8, side: &[u8]| filtered(flags, text_size, side.len() as u32, side);
    // The number 600 as a varint, and one region of that many bytes that stays unchanged.
    let all = [0xD8, 4];
    let sound = [0xD8, 4, 0];
    assert_eq!(decompressed(&side(2, &sound).0).0, raw);
    let sizes = |text: u32, side: u32| filtered(2, text, side, &sound);
    let region = |kind: &[u8]| side(2, &[&all, kind].concat());
    let larger = (text_size + 1).to_le_bytes();
    // One match in 8 bytes, which begin with `coded`.
    let one_match = |coded: [u8; 4]| side(4, &[&all[..], &[1, 8], &coded, &[0; 4]].concat());
    vec![
        ("R28-text-size-0", sizes(0, 3), "size of the filtered text"),
        (
            "R28-text-size-large",
            sizes(text_size + 1, 3),
            "size of the filtered text",
        ),
        (
            "R28-side-size",
            sizes(text_size, u32::MAX),
            "end after the block",
        ),
        ("R28-side-cut", side(2, &sound[..2]), "end too early"),
        (
            "R28-side-left-over",
            side(2, &[&sound[..], &[0]].concat()),
            "do not restore as many",
        ),
        ("R28-varint", side(2, &[0xFF; 6]), "out of range"),
        (
            "R28-region-empty",
            side(2, &[0, 0]),
            "regions of a block do not add up",
        ),
        (
            "R28-region-large",
            side(2, &[0xFF, 0xFF, 0xFF, 1, 0]),
            "regions of a block do not",
        ),
        ("R28-region-kind-4", region(&[4]), "unknown kind"),
        (
            "R28-records-stride-0",
            region(&[1, 0, 0, 0]),
            "impossible shape",
        ),
        (
            "R28-records-width-9",
            region(&[1, 24, 9, 0]),
            "impossible shape",
        ),
        (
            "R28-records-width-above-stride",
            region(&[1, 2, 4, 0]),
            "impossible shape",
        ),
        (
            "R28-records-row",
            region(&[1, 24, 4, 24]),
            "impossible shape",
        ),
        (
            "R28-another-size",
            region(&[0]).frame(7, &larger).block(12, &larger),
            "do not restore as many",
        ),
        (
            "R28-matches-size",
            side(4, &[10, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            "matches and literals",
        ),
        (
            "R28-matches-large",
            side(4, &[0xFF, 0xFF, 0xFF, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            "matches and",
        ),
        (
            "R28-matches-cut",
            side(4, &[&all[..], &[0, 3, 0, 0, 0]].concat()),
            "do not end where",
        ),
        (
            "R28-matches-form",
            side(4, &[&all[..], &[1, 8, 0, 0, 0, 0, 0, 0, 0, 0]].concat()),
            "matches and",
        ),
        (
            "R28-matches-form-above-5",
            one_match([244, 0, 0, 0]),
            "matches and",
        ),
        (
            "R28-matches-distance",
            one_match([253, 226, 0, 0]),
            "matches and",
        ),
        (
            "R28-matches-literals",
            one_match([173, 185, 189, 0]),
            "matches and",
        ),
        (
            "R28-matches-left-over",
            one_match([196, 37, 230, 157]),
            "do not end where",
        ),
        ("R28-records-cut", region(&[1, 24]), "end too early"),
    ]
}

/// Files for R28 with a layout of sequences.
pub fn sequence_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let letters: Vec<u8> = cases::random(600, 4)
        .iter()
        .map(|&letter| b"ACGT"[usize::from(letter)])
        .collect();
    let with = |text: &[u8], side: &[u8]| {
        let plain = Patient(compressed(text, 1 << 20));
        let sizes = [text.len() as u64, side.len() as u64].map(u64::to_le_bytes);
        let payload = &plain.0[plain.payload()];
        let payload = [&sizes[0][..5], &sizes[1][..5], side, payload].concat();
        plain
            .clone()
            .with_payload(&payload)
            .block(9, &[1])
    };
    let side = |block: &[u8]| separate_sequences(block, false).unwrap().side;
    let odd = side(&common::odd_fasta()[..600]);
    // A single line of residues is its own text.
    let sound = side(&letters);
    assert_eq!(decompressed(&with(&letters, &sound).0).0, letters);
    let header = side(&[b">\n", &letters[2..]].concat());
    let escaped = side(&[b"\xFF\n", &letters[2..]].concat());
    let other = [&letters[1..], &[0xBE]].concat();
    let mut size = sound.clone();
    size[0] -= 1;
    let extended = side(&common::fasta_with_blanks()[..600]);
    let flipped = |odd: &[u8], says: &str| {
        let found = flips(&odd[3..odd.len() - 4])
            .map(|layout| sealed(&[&odd[..3], &layout].concat()))
            .find(|side| {
                let filtered = Filtered {
                    text: letters.clone(),
                    flags: 1,
                    side: side.clone(),
                };
                undo(filtered, letters.len()).is_err_and(|flaw| flaw.0.contains(says))
            });
        with(
            &letters,
            &found.unwrap_or_else(|| panic!("no bit makes {says:?}")),
        )
    };
    let lead = "a unit of an unknown kind";
    let lines = "do not add up to the block";
    let width = "an impossible width";
    let stretch = "ends too late";
    let end = "does not end where its coded bytes do";
    let block = "is not that of the block";
    let record = "does not begin where its layout says";
    let below = "is not mapped";
    let escape = "is invalid";
    vec![
        (
            "R28-layout-checksum",
            with(&letters, &size),
            "its checksum is wrong",
        ),
        ("R28-layout-lines", flipped(&odd, lines), lines),
        ("R28-layout-lead", flipped(&extended, lead), lead),
        ("R28-layout-width", flipped(&odd, width), width),
        ("R28-layout-stretch", flipped(&odd, stretch), stretch),
        ("R28-layout-end", flipped(&odd, end), end),
        ("R28-layout-of-another-block", flipped(&odd, block), block),
        (
            "R28-sequence-size",
            with(&letters, &sealed(&size[..size.len() - 4])),
            block,
        ),
        ("R28-sequence-record", with(&other, &header), record),
        ("R28-sequence-other", with(&letters, &header), below),
        ("R28-sequence-escape", with(&letters, &escaped), escape),
    ]
}

/// A layout followed by its checksum.
fn sealed(layout: &[u8]) -> Vec<u8> {
    [layout, &crc32fast::hash(layout).to_le_bytes()].concat()
}

/// Files for R29 and R30, in a block and in a frame.
pub fn table_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let plain = Patient(compressed(&cases::text(900), 1 << 20));
    let payload = &plain.0[plain.payload()];
    let in_block = |tables: &[u8]| {
        plain
            .clone()
            .with_payload(&[tables, payload].concat())
            .block(9, &[16])
    };
    let in_frame = |tables: &[u8]| {
        let mut file = plain.clone().seek_table(9, &[1]);
        let footer = plain.footer();
        file.0
            .splice(footer..footer, tables.iter().copied());
        let table = 44 + tables.len() as u8;
        let size = file.0.len() as u64;
        file.foot(15, &[table])
            .foot(8, &size.to_le_bytes()[..7])
    };
    // Tables_Size; Type, Size, Checksum and Content of one table.
    let sound = |kind: u8| {
        let table = [kind, 3, 0, 0, 0, 0];
        let sum = crc32fast::hash(&[&table[..], b"abc"].concat()).to_le_bytes();
        [&[13, 0, 0, 0, 0], &table[..], &sum, b"abc"].concat()
    };
    for file in [in_block(&sound(127)), in_frame(&sound(127))] {
        assert_eq!(decompressed(&file.0).0, cases::text(900));
    }
    decompressed(&in_frame(&sound(127)).0).1.unwrap();
    let changed = |at: usize, byte: u8| {
        let mut tables = sound(2);
        tables[at] = byte;
        tables
    };
    let misfit = "do not add up";
    let damaged = "checksum is wrong";
    let later = "a later bwz reads it";
    vec![
        ("R29-no-table", in_block(&[0; 5]), misfit),
        ("R29-tables-size-small", in_block(&changed(0, 12)), misfit),
        ("R29-tables-size-large", in_block(&changed(0, 14)), misfit),
        ("R29-table-size", in_block(&changed(6, 2)), damaged),
        ("R29-table-size-large", in_block(&changed(10, 1)), misfit),
        (
            "R29-longer-than-the-block",
            in_block(&[0, 0, 0, 0, 1, 1, 0xF6, 0xFF, 0xFF, 0xFF, 0]),
            "longer than the",
        ),
        ("R29-content", in_block(&changed(15, b'b')), damaged),
        ("R29-type", in_block(&changed(5, 129)), damaged),
        ("R29-no-table-of-the-frame", in_frame(&[0; 5]), misfit),
        (
            "R29-content-of-the-frame",
            in_frame(&changed(15, b'b')),
            damaged,
        ),
        ("R30-block", in_block(&sound(128)), later),
        ("R30-frame", in_frame(&sound(255)), later),
    ]
}
