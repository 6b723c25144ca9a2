//! What the segment codings and the filters reject: FORMAT.md chapters 12 to 16.

use crate::common::{self, cases, compressed, decompressed};
use crate::patient::{BLOCK, Patient};
use bwz::Effort;
use bwz::internals::coder;

/// Those of R17 that only one segment coding has, or that each has in its own way: adaptive rANS is
/// kind 1, context mixing kind 2, static rANS kind 3.
pub fn segment_rejects() -> Vec<(&'static str, Patient, &'static str)> {
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
    // Segment_Kind, Last_Symbol, four Symbols, tables without weights, whose symbols are nearly
    // always 15, and states.
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

/// The file with the first bit of its segment inverted for which the segment is rejected with these
/// words.
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
pub fn filter_rejects() -> Vec<(&'static str, Patient, &'static str)> {
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
