//! Damaged payloads: arrays, sizes, samples, models and slices.

use super::damaged;
use crate::common::cases;
use crate::containers::best;
use crate::frames::{Block, Payload, packed, take_packed};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::coder::{Coding, SliceDecoder};

/// Damaged payloads.
pub fn entries() -> Vec<Entry> {
    let mut all = arrays();
    all.extend(sizes());
    all.extend(models());
    all.extend(static_slices());
    all.extend(mixed_slices());
    all
}

/// A block with one slice and one sample whose payload is changed.
#[derive(Clone)]
pub struct Subject(pub Block);

impl Subject {
    pub fn parts(&self) -> Payload {
        Payload::of(&self.0)
    }

    pub fn with(&self, change: impl FnOnce(&mut Payload)) -> Patient {
        let mut parts = self.parts();
        change(&mut parts);
        let mut block = self.0.clone();
        block.payload = parts.to_bytes();
        Patient::of(&[block])
    }

    /// Slice_Count to Coded_Sizes, each an array of one value.
    fn with_sizes(&self, sizes: &[u64]) -> Patient {
        self.with(|parts| {
            parts.sizes = sizes
                .iter()
                .flat_map(|&size| packed(16, &[size]))
                .collect();
        })
    }

    pub fn with_slice(&self, slice: &[u8]) -> Patient {
        self.with(|parts| parts.slices = slice.to_vec())
    }

    pub fn with_models(&self, models: &[u8]) -> Patient {
        self.with(|parts| {
            parts.sizes = [packed(1, &[1]), packed(16, &[models.len() as u64])].concat();
            parts.models = models.to_vec();
        })
    }
}

pub fn fixed() -> Subject {
    Subject(Block::new(&cases::text(900)))
}

pub fn mixing() -> Subject {
    let text = cases::text(900);
    Subject(Block::of(&text, &best(&text)))
}

fn arrays() -> Vec<Entry> {
    let width = "impossible width";
    let too_long = "longer than the block";
    let with_samples = |samples: Vec<u8>| fixed().with(|parts| parts.samples = samples);
    let sample = |row: u64| with_samples(packed(10, &[row]));
    let primary = take_packed(&mut &fixed().parts().samples[..], 1)[0];
    vec![
        damaged(
            "R14-array-width-0",
            "a Packed_Array of Width 0",
            fixed().with(|parts| parts.sizes = vec![0, 1, 2, 3]),
            width,
        ),
        damaged(
            "R14-array-width-41",
            "a Packed_Array of Width 41",
            fixed().with(|parts| parts.sizes = vec![41; 40]),
            width,
        ),
        damaged(
            "R14-array-bits",
            "Samples with a bit set after the last value",
            with_samples(vec![10, 1, 0x80]),
            "bits set after its last value",
        ),
        damaged(
            "R15-sizes-cut",
            "a payload that ends within Slice_Count",
            fixed().with(|parts| {
                *parts = Payload {
                    sizes: vec![16, 1],
                    ..Payload::default()
                }
            }),
            too_long,
        ),
        damaged(
            "R15-samples-cut",
            "a payload that ends within Samples",
            fixed().with(|parts| {
                parts.samples.truncate(2);
                parts.slices.clear();
            }),
            too_long,
        ),
        damaged(
            "R16-sample-0",
            "a sample of 0",
            sample(0),
            "not a row of the block",
        ),
        damaged(
            "R16-sample-901",
            "a sample above Text_Size",
            sample(901),
            "not a row of the block",
        ),
        damaged(
            "R18-sample-of-another-row",
            "a sample that is a row of the block, but of another suffix",
            sample(primary % 900 + 1),
            "",
        ),
    ]
}

fn sizes() -> Vec<Entry> {
    let subject = Subject(Block::new(&cases::text(9000)));
    let models_size = subject.parts().models.len() as u64;
    let coded_size = subject.parts().slices.len() as u64;
    let with = |sizes: &[u64]| subject.with_sizes(sizes);
    // The coded bytes are read as two slices of 4000 and 5000 bytes.
    let two = |raw: u64, coded: u64| with(&[2, raw, models_size, coded]);
    let count = "no slices, or more";
    let misfit = "do not add up";
    let models = "models of the block";
    let file = damaged;
    vec![
        file(
            "R15-slice-count-0",
            "a Slice_Count of 0",
            with(&[0, models_size]),
            count,
        ),
        file(
            "R15-slice-count-large",
            "4 slices in a text of 9000 bytes, which may have 3",
            with(&[4, 1, models_size, 1]),
            count,
        ),
        file(
            "R15-models-size-0",
            "a Models_Size of 0",
            with(&[1, 0]),
            misfit,
        ),
        file(
            "R15-models-size-large",
            "Models that end after the payload",
            with(&[1, models_size + coded_size + 9]),
            models,
        ),
        file(
            "R15-raw-size-0",
            "a first slice of 0 BWT bytes",
            two(0, 100),
            misfit,
        ),
        file(
            "R15-raw-size-large",
            "a first slice of all BWT bytes, and a second one",
            two(9000, 100),
            misfit,
        ),
        file(
            "R15-coded-size-0",
            "a first slice of 0 coded bytes",
            two(4000, 0),
            misfit,
        ),
        file(
            "R15-coded-size-large",
            "a first slice of all coded bytes, and a second one",
            two(4000, coded_size),
            misfit,
        ),
        file(
            "R15-coded-size-above-raw-size",
            "a first slice with more coded bytes than BWT bytes",
            two(99, 100),
            misfit,
        ),
        file(
            "R15-last-coded-size-above-raw-size",
            "a last slice with more coded bytes than BWT bytes",
            two(8999, 100),
            misfit,
        ),
    ]
}

fn models() -> Vec<Entry> {
    let early = "end too early";
    let no_bytes = "models for no bytes";
    let weights = "weights are out of range";
    let sent = Subject(Block::new(&cases::text(9000)));
    let longer = [&fixed().parts().models[..], &[0; 4]].concat();
    vec![
        damaged(
            "R17-models-cut",
            "Models that end too early",
            fixed().with_models(&models_that_are(early)),
            early,
        ),
        damaged(
            "R17-models-left-over",
            "4 bytes after the end of Models",
            fixed().with_models(&longer),
            "left over after the models",
        ),
        damaged(
            "R17-models-of-no-bytes",
            "an Alphabet of no bytes",
            fixed().with_models(&models_that_are(no_bytes)),
            no_bytes,
        ),
        damaged(
            "R17-models-weight",
            "a frequency table whose weights are out of range",
            flipped_models(&sent, weights),
            weights,
        ),
    ]
}

fn static_slices() -> Vec<Entry> {
    let subject = fixed();
    let slice = subject.parts().slices;
    let cut = |at: usize| subject.with_slice(&slice[..at]);
    let small_state = [&[0; 4], &slice[4..]].concat();
    let longer = [&slice[..], &[0; 2]].concat();
    let early = "end too early";
    let run = "a run that does not fit";
    let end = "do not end with its runs";
    let behind = "past the end of its list";
    let exact = "longer or shorter";
    let last = "continues after its last run";
    let long_run = "a run longer than any slice";
    vec![
        damaged(
            "R17-static-cut-in-states",
            "static rANS: a slice of 7 bytes, less than its two states",
            cut(7),
            early,
        ),
        damaged(
            "R17-static-state",
            "static rANS: a first state that is too small",
            subject.with_slice(&small_state),
            "too small",
        ),
        damaged(
            "R17-static-width",
            "static rANS: a run longer than any slice",
            subject.with_slice(&slice_that_is(&subject, long_run)),
            long_run,
        ),
        damaged(
            "R17-static-cut",
            "static rANS: a slice without its last word",
            cut(slice.len() - 2),
            last,
        ),
        damaged(
            "R17-static-left-over",
            "static rANS: a word after the end of a slice",
            subject.with_slice(&longer),
            exact,
        ),
        damaged(
            "R17-static-run",
            "static rANS: a run beyond the end of the slice",
            flipped(&subject, run),
            run,
        ),
        damaged(
            "R17-static-rank",
            "static rANS: a byte moved behind the end of the list",
            flipped(&subject, behind),
            behind,
        ),
        damaged(
            "R17-static-last-rank",
            "static rANS: a symbol after the last run",
            flipped(&subject, last),
            last,
        ),
        damaged(
            "R17-static-end-state",
            "static rANS: a last state that is not 2^16",
            flipped(&subject, end),
            end,
        ),
    ]
}

fn mixed_slices() -> Vec<Entry> {
    let subject = mixing();
    let slice = subject.parts().slices;
    let cut = |at: usize| subject.with_slice(&slice[..at]);
    let longer = [&slice[..], &[0; 4]].concat();
    let early = "end too early";
    let run = "a run that does not fit";
    let end = "do not end with its runs";
    vec![
        damaged(
            "R17-mixing-cut-in-present",
            "context mixing: a slice that ends within Present",
            cut(31),
            early,
        ),
        damaged(
            "R17-mixing-nothing-present",
            "context mixing: Present names no byte",
            subject.with_slice(&[0; 32]),
            "names no byte",
        ),
        damaged(
            "R17-mixing-cut-in-weights",
            "context mixing: a slice that ends within the weights of its tree",
            cut(34),
            early,
        ),
        damaged(
            "R17-mixing-cut",
            "context mixing: a slice without its last 8 bytes",
            cut(slice.len() - 8),
            early,
        ),
        damaged(
            "R17-mixing-left-over",
            "context mixing: 4 bytes after the end of a slice",
            subject.with_slice(&longer),
            end,
        ),
        damaged(
            "R17-mixing-run",
            "context mixing: a run beyond the end of the slice",
            flipped(&subject, run),
            run,
        ),
        damaged(
            "R17-mixing-offset",
            "context mixing: the binary coder is not at its end",
            flipped(&subject, end),
            end,
        ),
    ]
}

/// True if the subject with this slice is rejected with this message.
pub fn is_rejected(subject: &Subject, decoder: &SliceDecoder, slice: &[u8], says: &str) -> bool {
    let mut out = vec![0; subject.0.raw.len()];
    decoder
        .decode(slice, &mut out)
        .is_err_and(|flaw| flaw.0.contains(says))
}

pub fn decoder(subject: &Subject) -> SliceDecoder {
    let coding = [Coding::StaticRans, Coding::ContextMixing][usize::from(subject.0.shape[1])];
    SliceDecoder::new(coding, &subject.parts().models).unwrap()
}

/// The file with one bit of its slice inverted: the first bit for which the slice is rejected with
/// this message.
fn flipped(subject: &Subject, says: &str) -> Patient {
    let decoder = decoder(subject);
    let slice = subject.parts().slices;
    let found = flips(&slice).find(|slice| is_rejected(subject, &decoder, slice, says));
    subject.with_slice(&found.unwrap_or_else(|| panic!("no bit makes {says:?}")))
}

/// The file with one bit of its models inverted: the first bit for which they are rejected with
/// this message.
fn flipped_models(subject: &Subject, says: &str) -> Patient {
    let found = flips(&subject.parts().models).find(|models| are_rejected(models, says));
    subject.with_models(&found.unwrap_or_else(|| panic!("no bit makes {says:?}")))
}

fn are_rejected(models: &[u8], says: &str) -> bool {
    SliceDecoder::new(Coding::StaticRans, models).is_err_and(|flaw| flaw.0.contains(says))
}

/// `bytes` with each of its bits inverted.
pub fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
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
fn slice_that_is(subject: &Subject, says: &str) -> Vec<u8> {
    let decoder = decoder(subject);
    let slice = |state: u32| [&state.to_le_bytes()[..], &[0xFF; 100]].concat();
    let mut slices = (1 << 16..1 << 22).map(slice);
    slices
        .find(|slice| is_rejected(subject, &decoder, slice, says))
        .expect("there is such a slice")
}

#[test]
fn a_block_has_one_slice_and_one_sample() {
    for subject in [fixed(), mixing()] {
        assert_eq!(take_packed(&mut &subject.parts().sizes[..], 1), [1]);
    }
}
