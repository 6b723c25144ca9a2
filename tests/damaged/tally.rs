//! What came of the damaged files: counts, and what must not be.

use crate::library::Outcome;
use crate::reference::{Reference, Verdict};
use crate::{say, skip};
use bwz::Error;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Of the rejected files one of so many is shown to `decoder.py`.
const SAMPLE: u64 = 25;

/// Of the accepted files with more bytes than this one of `SAMPLE`, since it is slow.
const SLOW: usize = 100_000;

/// A file for `decoder.py`, and what the library made of it.
struct Question {
    seed: u64,
    name: String,
    file: Vec<u8>,
    outcome: Outcome,
}

#[derive(Default)]
struct Answers {
    complaints: Vec<String>,
    decoded: u64,
    rejected: u64,
    too_long: u64,
    time: Duration,
}

pub struct Tally {
    questions: Option<SyncSender<Question>>,
    asking: Option<JoinHandle<Answers>>,
    complaints: Vec<String>,
    /// How many files were accepted, or why they were rejected.
    ends: BTreeMap<String, u64>,
    /// The largest of all, and its seed.
    slowest: (Duration, u64),
    memory: (usize, u64),
    time: Duration,
}

impl Tally {
    pub fn start() -> Self {
        let reference = Reference::start();
        if reference.is_none() {
            skip("no python3, so decoder.py was not run");
        }
        let (questions, asked) = sync_channel::<Question>(64);
        let asking = reference.map(|mut reference| {
            thread::spawn(move || {
                let mut answers = Answers::default();
                asked.iter().for_each(|question| answers.add(&mut reference, &question));
                answers
            })
        });
        Tally {
            questions: asking.is_some().then_some(questions),
            asking,
            complaints: Vec::new(),
            ends: BTreeMap::new(),
            slowest: Default::default(),
            memory: Default::default(),
            time: Duration::ZERO,
        }
    }

    pub fn measured(&mut self, seed: u64, time: Duration, memory: usize) {
        self.slowest = self.slowest.max((time, seed));
        self.memory = self.memory.max((memory, seed));
        self.time += time;
    }

    pub fn complain(&mut self, seed: u64, panic: Box<dyn Any + Send>) {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        self.complaints.push(format!("seed {seed}: {what}"));
    }

    pub fn done(&mut self, seed: u64, name: &str, file: Vec<u8>, outcome: Outcome) {
        let end = match &outcome.end {
            Ok(()) => "accepted".to_owned(),
            Err(Error::Format { what, .. }) => what.replace(|c: char| c.is_ascii_digit(), ""),
            Err(Error::Limit { .. }) => "needs more memory than is allowed".to_owned(),
            Err(e) => return self.complaints.push(format!("seed {seed}: {name}: {e:?}")),
        };
        *self.ends.entry(end).or_default() += 1;
        let sampled = seed % SAMPLE == 0;
        let asked = match outcome.end {
            Ok(()) => outcome.output.len() <= SLOW || sampled,
            Err(Error::Limit { .. }) => false,
            Err(_) => sampled,
        };
        if let Some(questions) = self.questions.as_ref().filter(|_| asked) {
            let question = Question { seed, name: name.to_owned(), file, outcome };
            questions.send(question).expect("decoder.py is asked until the end");
        }
    }

    /// Says what came of all, and fails where something must not be.
    pub fn end(mut self, most_memory: usize) {
        drop(self.questions.take());
        let answers = self.asking.take().map(|asking| asking.join().unwrap()).unwrap_or_default();
        self.complaints.extend(answers.complaints);
        for (end, count) in &self.ends {
            say(format_args!("{count:8}  {end}"));
        }
        say(format_args!(
            "decoder.py: {} decoded alike, {} rejected, {} took too long; {:?}",
            answers.decoded, answers.rejected, answers.too_long, answers.time
        ));
        let (time, seed) = self.slowest;
        say(format_args!("the library: {:?}; slowest: {time:?}, seed {seed}", self.time));
        let (memory, seed) = self.memory;
        say(format_args!("largest: {} KiB, seed {seed}", memory >> 10));
        assert!(memory <= most_memory, "seed {seed} takes {memory} bytes of memory");
        assert!(self.complaints.is_empty(), "{}", self.complaints.join("\n"));
    }
}

impl Answers {
    fn add(&mut self, reference: &mut Reference, question: &Question) {
        let Question { seed, name, file, outcome } = question;
        let started = Instant::now();
        let (verdict, output) = reference.judge(file);
        self.time += started.elapsed();
        let mut complain =
            |what: String| self.complaints.push(format!("seed {seed}: {name}: {what}"));
        match (&outcome.end, verdict) {
            (Ok(()), Verdict::Decoded) if output == outcome.output => self.decoded += 1,
            (Ok(()), Verdict::Decoded) => complain("decoder.py gives other bytes".to_owned()),
            (Ok(()), Verdict::Rejected(why)) => complain(format!("decoder.py rejects it: {why}")),
            // Where it cannot look into compressed tables it takes them as they are.
            (Err(_), Verdict::Decoded) if !reference.knows_zstd => {}
            (Err(e), Verdict::Decoded) => complain(format!("decoder.py accepts it, not so: {e}")),
            (Err(_), Verdict::Rejected(_)) => {
                let (a, b) = (&output, &outcome.output);
                if !a.starts_with(b) && !b.starts_with(a) {
                    complain("before the damage decoder.py gives other bytes".to_owned());
                }
                self.rejected += 1;
            }
            (_, Verdict::Failed(how)) => complain(format!("decoder.py fails: {how}")),
            (_, Verdict::TooLong) => self.too_long += 1,
        }
    }
}
