//! Bits that flip in a GPU's memory while it sorts, codes and restores a block: whatever changes
//! the bytes of the block is found.
//!
//! A wrong position may make a kernel access other memory, after which the process cannot use the
//! GPU any more. So the flips happen in processes of their own, each of which goes on where the one
//! before it ended. `BWZ_FLIPS` sets the number of flips.

use super::Proof;
use crate::base::error::Error;
use crate::bwt::{self, Bwt};
use crate::cases;
use crate::coder::{self, Coding, Effort, SliceLimits};
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::encode::block_sorter::could_be;
use crate::engine::encode::sorting_gpu::{GpuSorted, SortingGpu, SortingTask};
use crate::gpu::runtime::faults::{self, Fault};
use crate::gpu::testing::{self, say};
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Flips of a usual run of the tests.
const USUAL: u32 = 300;
/// Bytes of the block.
const LEN: usize = 120_000;
const RATE: u32 = 1 << 12;

fn block() -> Vec<u8> {
    cases::text(LEN)
}

fn opened() -> SortingGpu {
    let limits = SliceLimits::new(LEN, Effort::Default);
    let task = SortingTask {
        block_size: LEN as u32,
        sample_rate: RATE,
        limits: Some(limits),
        proves: true,
        threads: 1,
    };
    SortingGpu::open(0, task).unwrap()
}

/// Restores a transform on the CPU. `None` if it is damaged.
fn restored(sorted: &Sorted) -> Option<Vec<u8>> {
    let bwt = match sorted {
        Sorted::Bwt(bwt) => bwt.clone(),
        Sorted::Coded(CodedTransform {
            coded,
            sample_rate,
            samples,
        }) => {
            let decoder = coder::SliceDecoder::new(Coding::StaticRans, &coded.models).ok()?;
            let size: u64 = coded
                .raw_sizes
                .iter()
                .map(|&size| u64::from(size))
                .sum();
            let mut bytes = vec![0; usize::try_from(size).ok()?];
            coder::decode_slices(&decoder, &coded.raw_sizes, &coded.slices, &mut bytes).ok()?;
            Bwt {
                bytes,
                sample_rate: *sample_rate,
                samples: samples.clone(),
            }
        }
    };
    bwt::invert(bwt).ok()
}

/// The word for what became of a flip.
fn outcome(done: Result<GpuSorted, Error>, sound: &Sorted, text: &[u8]) -> &'static str {
    let done = match done {
        Err(Error::Device(_)) => return "failed",
        Err(_) => return "refused",
        Ok(done) => done,
    };
    let is_sound = restored(&done.sorted).as_deref() == Some(text);
    match (done.proof, is_sound) {
        (Proof::Restored, true) if done.sorted == *sound => "unchanged",
        (Proof::Restored, true) => "other-bytes-that-restore",
        (Proof::Differs, true) => "wrong-alarm",
        (Proof::Differs, false) if could_be(&done.sorted, done.counts, text) => "found-not-by-sums",
        (Proof::Differs, false) => "found-by-sums-too",
        (Proof::Restored, false) => "MISSED",
        (Proof::Missing, _) => "NOT-PROVED",
    }
}

/// A number that looks random, and is another one for each seed: the last step of SplitMix64.
fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Does the flips from `BWZ_FLIP_FROM` to `BWZ_FLIPS`, and prints a line about each. Ends if the
/// GPU does not work any more after a flip, or gives something else: the bit may be one of a table.
#[test]
#[ignore = "run as a process of its own by the test below"]
fn flips_of_one_process() {
    let number = |name: &str| -> u32 { env::var(name).unwrap().parse().unwrap() };
    let text = block();
    let mut gpu = opened();
    faults::begin(None);
    let sound = gpu.sort(&text, RATE).unwrap();
    let (steps, _) = faults::end();
    assert_eq!(sound.proof, Proof::Restored);
    for flip in number("BWZ_FLIP_FROM")..number("BWZ_FLIPS") {
        faults::begin(Some(Fault {
            after: flip % steps,
            bit: mixed(flip.into()),
        }));
        let done = gpu.sort(&text, RATE);
        let (_, hit) = faults::end();
        let hit = hit.unwrap_or("nothing");
        say(format!(
            "flip {flip} {hit} {}",
            outcome(done, &sound.sorted, &text)
        ));
        let works = gpu
            .sort(&text, RATE)
            .is_ok_and(|again| again.sorted == sound.sorted && again.proof == Proof::Restored);
        if !works {
            std::process::exit(0);
        }
    }
}

/// Runs a process that flips from number `from` on. Calls `line` with each line about a flip.
fn process(from: u32, flips: u32, mut line: impl FnMut(&str)) {
    const WAIT: Duration = Duration::from_secs(30);
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture"])
        .arg("engine::encode::gpu_proof::tests::flips_of_one_process")
        .env("BWZ_FLIP_FROM", from.to_string())
        .env("BWZ_FLIPS", flips.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .try_for_each(|line| send.send(line))
    });
    while let Ok(text) = receive.recv_timeout(WAIT) {
        if let Some(at) = text.find("flip ") {
            line(&text[at..]);
        }
    }
    // A kernel may not end after a flip.
    let _ = child.kill();
    child.wait().unwrap();
    let _ = reader.join();
}

#[test]
fn no_flipped_bit_changes_a_block_unnoticed() {
    if testing::gpu().is_none() {
        return;
    }
    let flips = env::var("BWZ_FLIPS").map_or(USUAL, |flips| flips.parse().unwrap());
    let mut outcomes: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut next = 0;
    while next < flips {
        let before = next;
        process(next, flips, |line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, number, hit, what] = words[..] else {
                return;
            };
            next = number.parse::<u32>().unwrap() + 1;
            *outcomes
                .entry((hit.into(), what.into()))
                .or_default() += 1;
        });
        if next == before {
            // The process ended in the middle of this flip.
            *outcomes
                .entry(("unknown".into(), "ended".into()))
                .or_default() += 1;
            next += 1;
        }
    }
    for ((hit, what), count) in &outcomes {
        say(format!("{hit}: {what}: {count}"));
    }
    let of = |word: &str| -> u32 {
        let of = outcomes
            .iter()
            .filter(|((_, what), _)| what == word);
        of.map(|(_, count)| count).sum()
    };
    assert_eq!((of("MISSED"), of("NOT-PROVED")), (0, 0));
    assert!(of("unchanged") > 0 && of("found-not-by-sums") + of("found-by-sums-too") > 0);
}
