//! Bits that flip in a GPU's memory, and in what it copied to the host, while it sorts, codes and
//! restores a block: whatever changes the bytes of the block is found.
//!
//! A wrong position may make a kernel access other memory, after which the process cannot use the
//! GPU any more. So the flips happen in processes of their own, each of which goes on until its GPU
//! no longer works; the next one continues. Several processes share the GPU.
//!
//! | variable | meaning |
//! |---|---|
//! | `BWZ_FLIPS` | number of flips |
//! | `BWZ_FLIP_PROCESSES` | number of processes at a time |
//! | `BWZ_FLIP_SECONDS` | time after which no more flips are made |

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
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Flips of a usual run of the tests.
const USUAL: u32 = 300;
/// Processes of a usual run.
const PROCESSES: u32 = 2;
/// Maximum bytes of a block.
const LEN: usize = 120_000;
const RATE: u32 = 1 << 12;

/// Blocks that are sorted in different ways, with their names.
fn blocks() -> Vec<(&'static str, Vec<u8>)> {
    let text = cases::text(LEN);
    // Phrases of 700 bytes that occur four times each, with other bytes between them: many repeats
    // that are not long, for which the sort is the skew algorithm with prefix doubling.
    let once = cases::random(LEN / 2, 200);
    let phrases = once[..LEN / 8].chunks(700).cycle();
    let phrases: Vec<u8> = cases::random(LEN, 200)[LEN / 2..]
        .chunks(700)
        .zip(phrases)
        .flat_map(|(other, phrase)| [other, phrase].concat())
        .take(LEN)
        .collect();
    let mut runs = text[..LEN / 2].to_vec();
    for (n, run) in runs.chunks_mut(5_000).enumerate() {
        let len = (1_000 * (n % 5)).min(run.len());
        run[..len].fill(b'n');
    }
    vec![("text", text), ("phrases", phrases), ("runs", runs)]
}

/// Opens the GPU. If `proves` is false, it does not restore what it makes.
fn opened(proves: bool) -> SortingGpu {
    let limits = SliceLimits::new(LEN, Effort::Default);
    let task = SortingTask {
        block_size: LEN as u32,
        sample_rate: RATE,
        limits: Some(limits),
        proves,
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

/// The steps of a block on the GPU, from which flips are chosen.
struct Steps {
    all: Vec<&'static str>,
    /// Number of steps that sort, code and copy. The others restore.
    making: usize,
}

/// Part of the flips, in percent, that hit the steps which restore.
const RESTORING: u64 = 15;

impl Steps {
    /// The fault of flip `flip`. All names of steps are chosen equally often, however often such a
    /// step runs.
    fn fault(&self, flip: u32) -> Fault {
        let number = |n: u64| mixed(u64::from(flip) << 3 | n);
        let steps = match number(0) % 100 < RESTORING {
            true => self.making..self.all.len(),
            false => 0..self.making,
        };
        let named = &self.all[steps.clone()];
        let names: BTreeSet<&str> = named.iter().copied().collect();
        let name = names.iter().nth(number(1) as usize % names.len());
        let named: Vec<usize> = steps
            .filter(|&step| Some(&self.all[step]) == name)
            .collect();
        Fault {
            after: named[number(2) as usize % named.len()] as u32,
            place: number(3),
            bit: number(4) as u8 % 8,
        }
    }
}

/// A block with its sound transform and the steps that make it.
struct Case {
    text: Vec<u8>,
    sound: Sorted,
    steps: Steps,
}

fn cases(gpu: &mut SortingGpu) -> Vec<Case> {
    let mut trusted = opened(false);
    let mut case = |(_, text): (_, Vec<u8>)| {
        let steps = |gpu: &mut SortingGpu| {
            faults::begin(None);
            let done = gpu.sort(&text, RATE).unwrap();
            (done, faults::end())
        };
        let (_, making) = steps(&mut trusted);
        let (sound, all) = steps(gpu);
        assert_eq!(sound.proof, Proof::Restored);
        assert_eq!(all[..making.len()], making);
        let steps = Steps {
            all,
            making: making.len(),
        };
        Case {
            text,
            sound: sound.sorted,
            steps,
        }
    };
    blocks().into_iter().map(&mut case).collect()
}

/// Number of flips without effect after which a process looks whether its GPU still works.
const TRUSTED: u32 = 16;

/// Does the flips from `BWZ_FLIP_FROM` to `BWZ_FLIPS`, and prints a line about each. Ends if the
/// GPU does not work any more after a flip, or gives something else: the bit may be one of a table.
#[test]
#[ignore = "run as a process of its own by the test below"]
fn flips_of_one_process() {
    let number = |name: &str| -> u32 { env::var(name).unwrap().parse().unwrap() };
    let mut gpu = opened(true);
    let cases = cases(&mut gpu);
    for flip in number("BWZ_FLIP_FROM")..number("BWZ_FLIPS") {
        let case = &cases[flip as usize % cases.len()];
        let fault = case.steps.fault(flip);
        let step = case.steps.all[fault.after as usize];
        let place = match fault.after < case.steps.making as u32 {
            true => "",
            false => "restoring:",
        };
        faults::begin(Some(fault));
        let done = gpu.sort(&case.text, RATE);
        faults::end();
        let outcome = outcome(done, &case.sound, &case.text);
        say(format!("flip {flip} {place}{step} {outcome}"));
        if outcome == "unchanged" && flip % TRUSTED > 0 {
            continue;
        }
        let again = gpu.sort(&case.text, RATE);
        let works =
            again.is_ok_and(|again| again.sorted == case.sound && again.proof == Proof::Restored);
        if !works {
            std::process::exit(0);
        }
    }
}

/// Runs a process that does the flips of a range. Calls `line` with each line about a flip.
fn process(flips: Range<u32>, mut line: impl FnMut(&str)) {
    const WAIT: Duration = Duration::from_secs(20);
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture"])
        .arg("engine::encode::gpu_proof::tests::flips_of_one_process")
        .env("BWZ_FLIP_FROM", flips.start.to_string())
        .env("BWZ_FLIPS", flips.end.to_string())
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

/// How often each outcome came after a flip at each step.
type Outcomes = BTreeMap<String, BTreeMap<String, u32>>;

/// Does the flips of a range in one process after the other, until `end`.
fn outcomes(flips: Range<u32>, end: Instant) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut count = |step: &str, what: &str| {
        *outcomes
            .entry(step.into())
            .or_default()
            .entry(what.into())
            .or_default() += 1;
    };
    let mut next = flips.start;
    while next < flips.end && Instant::now() < end {
        let before = next;
        // A process does so many that it seldom runs much beyond the time.
        const MOST: u32 = 400;
        let part = next..flips.end.min(next + MOST);
        process(part, |line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, number, step, what] = words[..] else {
                return;
            };
            next = number.parse::<u32>().unwrap() + 1;
            count(step, what);
        });
        if next == before {
            // The process ended in the middle of this flip.
            count("unknown", "ended");
            next += 1;
        }
    }
    outcomes
}

#[test]
fn no_flipped_bit_changes_a_block_unnoticed() {
    if testing::gpu().is_none() {
        return;
    }
    let number = |name, usual| env::var(name).map_or(usual, |n| n.parse().unwrap());
    let flips = number("BWZ_FLIPS", USUAL);
    let processes = number("BWZ_FLIP_PROCESSES", PROCESSES);
    let seconds = number("BWZ_FLIP_SECONDS", 600);
    let end = Instant::now() + Duration::from_secs(seconds.into());
    let part = move |n| (u64::from(flips) * u64::from(n) / u64::from(processes)) as u32;
    let threads: Vec<_> = (0..processes)
        .map(|n| thread::spawn(move || outcomes(part(n)..part(n + 1), end)))
        .collect();
    let mut all = Outcomes::new();
    for (step, outcomes) in threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
    {
        let known = all.entry(step).or_default();
        for (what, count) in outcomes {
            *known.entry(what.clone()).or_default() += count;
        }
    }
    let mut total: BTreeMap<String, u32> = BTreeMap::new();
    for (step, outcomes) in &all {
        say(format!("{step}: {outcomes:?}"));
        for (what, count) in outcomes {
            *total.entry(what.clone()).or_default() += count;
        }
    }
    say(format!("flips in all: {total:?}"));
    let of = |word: &str| total.get(word).copied().unwrap_or(0);
    assert_eq!((of("MISSED"), of("NOT-PROVED")), (0, 0));
    assert!(of("unchanged") > 0 && of("found-not-by-sums") + of("found-by-sums-too") > 0);
}
