//! Compares encoding and decoding on a GPU with the CPU: the same bytes, and the same flaws in
//! damaged slices.

use super::*;
use crate::cases;
use crate::coder::{self, Coding, SliceDecoder, SliceLimits};
use crate::gpu::BwtEncoder;
use crate::gpu::testing::{gpu, random, say};
use std::thread;

const SMALL: SliceLimits = SliceLimits {
    runs: 1000,
    bytes: 20_000,
};
const USUAL: SliceLimits = SliceLimits {
    runs: 1 << 16,
    bytes: 1 << 24,
};

fn on_cpu(bwt: &[u8], limits: SliceLimits) -> CodedBwt {
    coder::encode_slices(bwt, limits, Coding::StaticRans)
}

struct Coders {
    encoder: BwtEncoder,
    decoder: BwtDecoder,
}

fn both() -> Coders {
    Coders {
        encoder: BwtEncoder::new(0).unwrap(),
        decoder: BwtDecoder::new(0).unwrap(),
    }
}

/// Encodes a BWT on both machines, and decodes it on the GPU. Returns the number of slices.
fn check(coders: &mut Coders, name: &str, bwt: &[u8], limits: SliceLimits) -> usize {
    let expected = on_cpu(bwt, limits);
    let coded = coders.encoder.encode(bwt, limits).unwrap();
    let about = format!("{name}, {} bytes, {limits:?}", bwt.len());
    assert_eq!(coded.raw_sizes, expected.raw_sizes, "{about}: slices");
    assert_eq!(coded.models, expected.models, "{about}: models");
    for (k, (coded, expected)) in coded
        .slices
        .iter()
        .zip(&expected.slices)
        .enumerate()
    {
        assert!(coded == expected, "{about}: slice {k}");
    }
    let decoded = coders.decoder.decode(&expected).unwrap();
    assert!(
        decoded.is_some_and(|decoded| decoded == bwt),
        "{about}: decoded"
    );
    coded.slices.len()
}

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut both = both();
    let mut slices = 0;
    for (name, text) in cases::all()
        .iter()
        .filter(|(_, text)| !text.is_empty())
    {
        for limits in [USUAL, SMALL] {
            slices += check(&mut both, name, text, limits);
        }
    }
    say(format_args!("{slices} slices coded"));
}

/// Text-like bytes: runs of all lengths, with few or many symbols.
fn runs(len: usize, seed: u64) -> Vec<u8> {
    let pairs = random(len, 1 << 16, seed)
        .into_iter()
        .flat_map(|noise| {
            let symbols = [2, 5, 30, 256][seed as usize % 4];
            let len = match noise % 32 {
                0 => 1 << (noise >> 5 & 7),
                1..8 => 1 + (noise >> 5 & 15),
                _ => 1,
            };
            std::iter::repeat_n((noise >> 8) as u8 % symbols.min(255) as u8, len as usize)
        });
    pairs.take(len).collect()
}

#[test]
fn random_slices() {
    if gpu().is_none() {
        return;
    }
    let mut both = both();
    let mut slices = 0;
    for seed in 0..200 {
        let [len, most, bytes] = [
            random(1, 60_000, seed)[0],
            random(1, 3000, seed + 1)[0],
            random(1, 9000, seed + 2)[0],
        ]
        .map(|number| number as usize + 1);
        let limits = SliceLimits {
            runs: most,
            bytes: bytes + 200,
        };
        slices += check(&mut both, "runs", &runs(len, seed), limits);
    }
    say(format_args!("{slices} slices coded"));
}

/// Runs that are cut by slices, and runs with every number of extra bits.
#[test]
fn long_runs() {
    if gpu().is_none() {
        return;
    }
    let mut both = both();
    let mut slices = 0;
    for log in 0..26 {
        for len in [(1 << log) - 1, 1 << log, (1 << log) + 1] {
            let bwt = [&vec![1; len][..], &[2, 3], &vec![1; len]].concat();
            slices += check(&mut both, "two runs", &bwt, USUAL);
        }
    }
    for (len, bytes) in [(100_000, 1000), (100_001, 1000), (5, 2), (3000, 1 << 10)] {
        let limits = SliceLimits { runs: 7, bytes };
        slices += check(&mut both, "one run", &vec![9; len], limits);
        slices += check(&mut both, "runs", &runs(len, 1), limits);
    }
    say(format_args!("{slices} slices coded"));
}

#[test]
fn large_blocks() {
    if gpu().is_none() {
        return;
    }
    let mut both = both();
    let blocks = [
        cases::text(40_000_000),
        runs(40_000_000, 2),
        cases::random(20_000_000, 256),
    ];
    let slices: usize = blocks
        .iter()
        .map(|block| check(&mut both, "a large block", block, USUAL))
        .sum();
    say(format_args!("{slices} slices coded"));
}

/// The fewest and smallest texts that go through every kernel, for the tools of
/// `compute-sanitizer`.
#[test]
fn every_kernel_of_the_coder_once() {
    if gpu().is_none() {
        return;
    }
    let mut both = both();
    check(&mut both, "runs", &runs(9001, 3), SMALL);
    check(&mut both, "noise", &cases::random(4097, 256), SMALL);
    say("2 blocks coded");
}

/// Words in the CPU's error for each flaw number of the GPU. Several flaws share one error.
const WORDS: [&str; 9] = [
    "",
    "coded bytes end too early",
    "a coder state that is too small",
    "a run longer than any",
    "a run that does not fit",
    "continues after its last run",
    "do not end with its runs",
    "longer or shorter than they should be",
    "a byte past the end of its list",
];

/// Decodes slices, sound and damaged, on both machines. Returns the number of damaged ones.
fn count_flaws(decoder: &mut BwtDecoder, coded: &CodedBwt) -> usize {
    let cpu = SliceDecoder::new(Coding::StaticRans, &coded.models).unwrap();
    decoder.load(coded).unwrap();
    let flaws = decoder.decode_loaded().unwrap().to_vec();
    let mut bwt = decoder.download().unwrap();
    let sizes = coded
        .slices
        .iter()
        .zip(&coded.raw_sizes)
        .zip(&flaws)
        .enumerate();
    for (k, ((slice, &size), &flaw)) in sizes {
        let mut expected = vec![0; size as usize];
        let found = bwt.split_off(..size as usize);
        match cpu.decode(slice, &mut expected) {
            Ok(()) => assert!(flaw == 0 && found == Some(&expected), "slice {k}: {flaw}"),
            Err(Flaw(words)) => {
                let same = flaw > 0 && words.contains(WORDS[flaw as usize]);
                assert!(same, "slice {k}: {flaw}, not {words}");
            }
        }
    }
    flaws.iter().filter(|&&flaw| flaw > 0).count()
}

/// Copies of the slices of `coded` with bits changed, bytes left out, or bytes replaced.
fn damaged(coded: &CodedBwt, copies: u64) -> CodedBwt {
    let mut slices = CodedBwt {
        raw_sizes: Vec::new(),
        slices: Vec::new(),
        ..coded.clone()
    };
    for seed in 0..copies {
        for (k, (slice, &size)) in coded
            .slices
            .iter()
            .zip(&coded.raw_sizes)
            .enumerate()
        {
            let noise = random(8, 1 << 32, seed * 1000 + k as u64);
            let at = |n: usize| noise[n] as usize % slice.len();
            let mut other = slice.clone();
            match noise[0] % 4 {
                0 => other[at(1)] ^= 1 << (noise[2] % 8),
                1 => other.truncate(at(1).max(1)),
                2 => (1..8).for_each(|n| other[at(n)] = noise[n] as u8),
                _ => {
                    other = noise
                        .iter()
                        .map(|&byte| byte as u8)
                        .cycle()
                        .take(at(1) + 1)
                        .collect()
                }
            }
            slices.slices.push(other);
            slices.raw_sizes.push(size);
        }
    }
    slices
}

#[test]
fn damaged_slices_have_the_same_flaws() {
    if gpu().is_none() {
        return;
    }
    let mut decoder = BwtDecoder::new(0).unwrap();
    let mut flaws = 0;
    let mut all = 0;
    for seed in 0..12 {
        let bwt = match seed {
            0..9 => runs(30_000, seed),
            9 => cases::text(30_000),
            10 => cases::random(3000, 256),
            _ => [vec![7; 70_000], runs(3000, 2)].concat(),
        };
        for limits in [
            SMALL,
            SliceLimits {
                runs: 40,
                bytes: 5000,
            },
        ] {
            let slices = damaged(&on_cpu(&bwt, limits), 20);
            (flaws, all) = (
                flaws + count_flaws(&mut decoder, &slices),
                all + slices.slices.len(),
            );
        }
    }
    assert!(flaws > all / 2, "{flaws} of {all}");
    say(format_args!(
        "{flaws} of {all} slices are damaged, and found to be"
    ));
}

/// Slices cut to every possible length; and a whole slice whose raw size is said to be larger or
/// smaller.
#[test]
fn truncated_slices_are_flaws() {
    if gpu().is_none() {
        return;
    }
    let mut decoder = BwtDecoder::new(0).unwrap();
    let bwt = runs(3000, 2);
    let coded = on_cpu(&bwt, USUAL);
    let whole = &coded.slices[0];
    let slices: Vec<_> = (1..whole.len())
        .map(|len| whole[..len].to_vec())
        .collect();
    let raw_sizes = vec![bwt.len() as u32; slices.len()];
    let cut = CodedBwt {
        models: coded.models.clone(),
        raw_sizes,
        slices,
    };
    assert_eq!(count_flaws(&mut decoder, &cut), cut.slices.len());
    let raw_sizes: Vec<_> = (2900..3100)
        .filter(|&size| size != 3000)
        .collect();
    let slices = vec![whole.clone(); raw_sizes.len()];
    let resized = CodedBwt {
        models: coded.models.clone(),
        raw_sizes,
        slices,
    };
    assert_eq!(count_flaws(&mut decoder, &resized), 199);
}

#[test]
fn models_and_sizes_that_do_not_fit_are_flaws() {
    if gpu().is_none() {
        return;
    }
    let mut decoder = BwtDecoder::new(0).unwrap();
    let coded = on_cpu(&runs(9000, 1), SMALL);
    let mut refuse = |change: fn(&mut CodedBwt)| {
        let mut wrong = coded.clone();
        change(&mut wrong);
        assert!(matches!(decoder.decode(&wrong), Err(Error::Format { .. })));
    };
    refuse(|coded| coded.models.clear());
    refuse(|coded| coded.models.push(0));
    refuse(|coded| coded.slices.clear());
    refuse(|coded| coded.raw_sizes.truncate(1));
    refuse(|coded| coded.slices[0].clear());
    refuse(|coded| coded.raw_sizes[0] = coded.slices[0].len() as u32 - 1);
    refuse(|coded| coded.raw_sizes[0] = 1 << 31);
    assert!(decoder.decode(&coded).unwrap().is_some());
}

#[test]
fn several_work_side_by_side() {
    if gpu().is_none() {
        return;
    }
    thread::scope(|scope| {
        for n in 1..=6 {
            scope.spawn(move || {
                let mut both = both();
                for round in 0..5 {
                    let bwt = runs(n * 300_000 + round, n as u64);
                    check(&mut both, "runs", &bwt, SMALL);
                }
            });
        }
    });
    say("30 blocks coded");
}

#[test]
fn a_failure_leaves_both_usable() {
    if gpu().is_none() {
        return;
    }
    let Coders {
        mut encoder,
        mut decoder,
    } = both();
    let bwt = runs(50_000, 1);
    let mut failures = 0;
    let expected = on_cpu(&bwt, SMALL);
    loop {
        encoder.fail_after(failures);
        match encoder.encode(&bwt, SMALL) {
            Err(Error::Device(_)) => failures += 1,
            coded => break assert_eq!(coded.unwrap(), expected),
        }
    }
    assert_eq!(failures, 7, "kernels were launched");
    decoder.fail_after(0);
    assert!(matches!(decoder.decode(&expected), Err(Error::Device(_))));
    decoder.fail_after(u32::MAX);
    assert!(
        decoder
            .decode(&expected)
            .unwrap()
            .is_some_and(|decoded| decoded == bwt)
    );
    encoder.fail_after(u32::MAX);
    assert_eq!(
        check(&mut Coders { encoder, decoder }, "runs", &bwt, USUAL),
        1
    );
}
