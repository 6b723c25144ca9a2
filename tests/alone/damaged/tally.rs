//! The results of the damaged files: counts, and failures.

use super::reference::{Reference, Verdict};
use crate::common::say::{say, skip};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// One rejected file in this many is given to `decoder.py`.
const SAMPLE: u64 = 25;

/// Size in bytes above which only one accepted file in `SAMPLE` is given to `decoder.py`, since it
/// is slow.
const SLOW: usize = 100_000;

/// A damaged file and its result.
pub struct Case {
    pub seed: u64,
    /// Name of the file from which it was made.
    pub source: String,
    pub file: Vec<u8>,
    /// The output; for a rejected file, the bytes before the damage.
    pub output: Vec<u8>,
    pub end: End,
}

pub enum End {
    Accepted,
    /// Rejected for this reason.
    Rejected(String),
    /// The file is not damaged as far as it was read, but has a part of this unknown kind.
    Unsupported(String),
    /// The file asks for more memory than is allowed, or claims to be of another version.
    Refused,
}

#[derive(Default)]
struct Answers {
    complaints: Vec<String>,
    decoded: u64,
    rejected: u64,
    unsupported: u64,
    too_long: u64,
}

pub struct Tally {
    cases: Option<SyncSender<Case>>,
    judge: Option<JoinHandle<Answers>>,
    complaints: Vec<String>,
    /// Number of files that were accepted, and that were rejected for each reason.
    ends: BTreeMap<String, u64>,
    time: Duration,
    /// The slowest case and the largest one, with their seeds.
    slowest: (Duration, u64),
    largest: (usize, u64),
}

impl Tally {
    pub fn start() -> Self {
        let (cases, given) = sync_channel::<Case>(64);
        let judge = Reference::start().map(|mut reference| {
            thread::spawn(move || {
                let mut answers = Answers::default();
                given
                    .iter()
                    .for_each(|case| answers.add(&mut reference, &case));
                answers
            })
        });
        if judge.is_none() {
            skip("no python3, so decoder.py was not run");
        }
        Tally {
            cases: judge.is_some().then_some(cases),
            judge,
            complaints: Vec::new(),
            ends: BTreeMap::new(),
            time: Duration::ZERO,
            slowest: Default::default(),
            largest: Default::default(),
        }
    }

    /// Records the cost of a case: its time, and its memory in bytes.
    pub fn measured(&mut self, seed: u64, time: Duration, memory: usize) {
        self.time += time;
        self.slowest = self.slowest.max((time, seed));
        self.largest = self.largest.max((memory, seed));
    }

    pub fn complain(&mut self, seed: u64, panic: &(dyn Any + Send)) {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic");
        self.complaints
            .push(format!("seed {seed}: {what}"));
    }

    /// Counts a case. `decoder.py` judges it if it was accepted or belongs to the sample.
    pub fn done(&mut self, case: Case) {
        let sampled = case.seed.is_multiple_of(SAMPLE);
        let (end, asked) = match &case.end {
            End::Accepted => ("accepted", sampled || case.output.len() <= SLOW),
            End::Rejected(why) => (why.as_str(), sampled),
            End::Unsupported(why) => (why.as_str(), true),
            End::Refused => (
                "asks for more memory than is allowed, or is of another version",
                false,
            ),
        };
        // Two reasons that differ only in numbers are the same reason.
        let end = end.replace(|c: char| c.is_ascii_digit(), "");
        *self.ends.entry(end).or_default() += 1;
        if let Some(cases) = self.cases.as_ref().filter(|_| asked) {
            cases
                .send(case)
                .expect("decoder.py judges until the end");
        }
    }

    /// Prints the results, and fails if any of them is wrong.
    pub fn end(mut self, most_memory: usize) {
        drop(self.cases.take());
        let answers = self
            .judge
            .take()
            .map(|judge| judge.join().unwrap())
            .unwrap_or_default();
        self.complaints.extend(answers.complaints);
        for (end, count) in &self.ends {
            say(format_args!("{count:8}  {end}"));
        }
        let Answers {
            decoded,
            rejected,
            unsupported,
            too_long,
            ..
        } = answers;
        let (slow, slowest) = self.slowest;
        let (memory, largest) = self.largest;
        say(format_args!(
            "decoder.py: {decoded} decoded alike, {rejected} rejected, {unsupported} unsupported, \
             {too_long} took too long"
        ));
        say(format_args!(
            "{:.1?} in all, at most {slow:.1?} (seed {slowest}) and {} KiB (seed {largest})",
            self.time,
            memory >> 10
        ));
        assert!(self.complaints.is_empty(), "{}", self.complaints.join("\n"));
        assert!(
            memory <= most_memory,
            "seed {largest} takes {memory} bytes of memory"
        );
    }
}

impl Answers {
    fn add(&mut self, reference: &mut Reference, case: &Case) {
        let (verdict, output) = reference.judge(&case.file);
        let ours = &case.output;
        let same = output == case.output;
        let one_of_both = output.starts_with(ours) || ours.starts_with(&output);
        let complaint = match (&case.end, verdict) {
            (End::Accepted, Verdict::Decoded) if same => return self.decoded += 1,
            (End::Rejected(_), Verdict::Rejected(_)) if one_of_both => return self.rejected += 1,
            (End::Unsupported(_), Verdict::Unsupported(_)) if one_of_both => {
                return self.unsupported += 1;
            }
            (_, Verdict::TooLong) => return self.too_long += 1,
            (End::Accepted | End::Unsupported(_), Verdict::Rejected(why)) => {
                format!("decoder.py rejects it: {why}")
            }
            (End::Rejected(why) | End::Unsupported(why), Verdict::Decoded) => {
                format!("decoder.py accepts it: {why}")
            }
            (End::Accepted | End::Rejected(_), Verdict::Unsupported(why)) => {
                format!("decoder.py does not know it: {why}")
            }
            (_, Verdict::Failed(how)) => format!("decoder.py fails: {how}"),
            _ => "decoder.py gives other bytes".to_owned(),
        };
        self.complaints.push(format!(
            "seed {}, from {}: {complaint}",
            case.seed, case.source
        ));
    }
}
