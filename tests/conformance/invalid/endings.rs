//! Coded parts that are right but for their end, and blocks with many samples of which one is
//! wrong.
//!
//! Each has one fault. A decoder that leaves out the check restores the right bytes, or finds the
//! fault by Raw_Checksum only.

use super::damaged;
use super::payload::{Subject, decoder, fixed, is_rejected, mixing};
use crate::common::cases;
use crate::containers::block_of_bwt;
use crate::frames::{packed, take_packed};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::bwt::Sorter;
use bwz::internals::coder::{self, Coding, SliceLimits};

const LEFT_OVER: &str = "do not end with its runs";

/// Coded parts with a wrong end, and wrong samples.
pub fn entries() -> Vec<Entry> {
    let mut all = samples();
    all.extend(states());
    all.extend(codes());
    all
}

/// A block with one slice and a sample at every 8th position.
fn dense(raw: Vec<u8>) -> Subject {
    let limits = SliceLimits {
        runs: 1 << 20,
        bytes: 1 << 20,
    };
    let bwt = Sorter::Cpu.sort(&raw, 8).unwrap();
    let coded = coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans);
    Subject(block_of_bwt(raw, coded, &bwt.samples, 10))
}

fn samples() -> Vec<Entry> {
    let subject = dense(cases::text(900));
    let count = 900_usize.div_ceil(8);
    let right = take_packed(&mut &subject.parts().samples[..], count);
    let with = |change: &dyn Fn(&mut [u64])| {
        let mut samples = right.clone();
        change(&mut samples);
        subject.with(|parts| parts.samples = packed(10, &samples))
    };
    let another_row = |sample: &mut u64| *sample = *sample % 900 + 1;
    let not_a_row = "not a row of the block";
    vec![
        damaged(
            "R16-last-sample-0",
            "a last sample of 0, of 113",
            with(&|samples| samples[count - 1] = 0),
            not_a_row,
        ),
        damaged(
            "R16-second-sample-901",
            "a second sample above Text_Size, of 113",
            with(&|samples| samples[1] = 901),
            not_a_row,
        ),
        damaged(
            "R18-second-sample",
            "a second sample that is the row of another suffix, of 113",
            with(&|samples| another_row(&mut samples[1])),
            "",
        ),
        damaged(
            "R18-last-sample",
            "a last sample that is the row of another suffix, of 113",
            with(&|samples| another_row(&mut samples[count - 1])),
            "",
        ),
        damaged(
            "R18-samples-exchanged",
            "two samples that are exchanged",
            with(&|samples| samples.swap(40, 41)),
            "",
        ),
    ]
}

fn states() -> Vec<Entry> {
    let slice = fixed().parts().slices;
    let small_state = [&slice[..4], &[0xFF, 0xFF, 0, 0], &slice[8..]].concat();
    vec![
        damaged(
            "R17-static-state-1",
            "static rANS: a second state that is too small",
            fixed().with_slice(&small_state),
            "too small",
        ),
        damaged(
            "R17-static-end-state-0",
            "static rANS: State_0 alone is not 2^16 at the end",
            with_end_state(0),
            LEFT_OVER,
        ),
        damaged(
            "R17-static-end-state-1",
            "static rANS: State_1 alone is not 2^16 at the end",
            with_end_state(4),
            LEFT_OVER,
        ),
        damaged(
            "R17-static-left-over-byte",
            "static rANS: one byte after the end of a slice",
            fixed().with_slice(&[&slice[..], &[0]].concat()),
            "",
        ),
    ]
}

/// A block of 64 equal bytes, whose slice is two states. The state at `at` is larger by a multiple
/// of 2^15, so that its symbols are the same and its end is another.
fn with_end_state(at: usize) -> Patient {
    let subject = dense(vec![b'a'; 64]);
    let slice = subject.parts().slices;
    assert_eq!(slice.len(), 8);
    let state = u32::from_le_bytes(*slice[at..].first_chunk().unwrap());
    let changed = |by: u32| {
        let mut slice = slice.clone();
        slice[at..at + 4].copy_from_slice(&(state + (by << 15)).to_le_bytes());
        slice
    };
    let found = (1..1 << 10)
        .map(changed)
        .find(|slice| restores(&subject, slice));
    subject.with_slice(&found.expect("some state has the same symbols"))
}

/// True if the slice has the right runs and a wrong end.
fn restores(subject: &Subject, slice: &[u8]) -> bool {
    let decoder = decoder(subject);
    let [mut right, mut out] = [(); 2].map(|()| vec![0; subject.0.raw.len()]);
    decoder
        .decode(&subject.parts().slices, &mut right)
        .unwrap();
    let end = decoder.decode(slice, &mut out);
    end.is_err_and(|flaw| flaw.0.contains(LEFT_OVER)) && out == right
}

/// Ends of the binary coder.
fn codes() -> Vec<Entry> {
    let subject = mixing();
    let mut slice = subject.parts().slices;
    let longer = [&slice[..], &[0]].concat();
    *slice.last_mut().unwrap() ^= 1;
    assert!(restores(&subject, &slice));
    assert!(is_rejected(
        &subject,
        &decoder(&subject),
        &longer,
        LEFT_OVER
    ));
    let mut models = fixed().parts().models;
    let longer_models = [&models[..], &[0]].concat();
    *models.last_mut().unwrap() ^= 1;
    vec![
        damaged(
            "R17-models-code",
            "Models whose Code is 1 at the end",
            fixed().with_models(&models),
            "left over after the models",
        ),
        damaged(
            "R17-models-left-over-byte",
            "one byte after the end of Models",
            fixed().with_models(&longer_models),
            "left over after the models",
        ),
        damaged(
            "R17-mixing-code",
            "context mixing: a slice whose Code is 1 at the end",
            subject.with_slice(&slice),
            LEFT_OVER,
        ),
        damaged(
            "R17-mixing-left-over-byte",
            "context mixing: one byte after the end of a slice",
            subject.with_slice(&longer),
            LEFT_OVER,
        ),
    ]
}
