//! The lines that events of the library become: warnings, each text once a run, and with `-vv` one
//! for each block.
//!
//! The line has the times at which each step began and ended, in seconds since work on the file
//! began. Steps of different blocks overlap where all goes well.

use super::args::Talk;
use super::input_name::Name;
use super::size::human;
use super::stoppable_input::Stop;
use bwz::{Device, Event, Options, Step};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Warnings of this run, each of which is said once.
#[derive(Clone, Default)]
pub struct EventLines(Arc<Mutex<HashSet<String>>>);

/// The steps of a block that were done so far.
type Steps = Vec<(Step, Instant, Instant)>;

impl EventLines {
    /// `options` for work on one file: their events are said as `talk` has it, and what fails does
    /// not wait for its input.
    pub fn add_to(
        &self,
        options: &Options,
        name: &Name,
        talk: Talk,
        stop: Option<Stop>,
    ) -> Options {
        let (lines, name, started) = (self.clone(), name.clone(), Instant::now());
        let blocks = Mutex::new(BTreeMap::<u64, Steps>::new());
        options.clone().on_event(move |event| match event {
            Event::Warning(what) if lines.is_new(&what) => talk.warn(&name, what),
            Event::Done { offset, step, from, to } if talk.wants_blocks() => {
                let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
                let steps = blocks.entry(offset).or_default();
                steps.push((step, from, to));
                if matches!(step, Step::Code | Step::Check) {
                    talk.report(&name, line(offset, started, steps));
                    blocks.remove(&offset);
                }
            }
            Event::Failed => stop.iter().for_each(Stop::now),
            _ => (),
        })
    }

    fn is_new(&self, what: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned())
    }
}

fn line(offset: u64, started: Instant, steps: &Steps) -> String {
    let mut line = format!("block at {}:", human(offset));
    for (n, (step, from, to)) in steps.iter().enumerate() {
        let since = |moment: &Instant| moment.saturating_duration_since(started).as_secs_f64();
        let comma = if n > 0 { "," } else { "" };
        let _ = write!(line, "{comma} {} {:.3}-{:.3}", verb(*step), since(from), since(to));
    }
    line + " s"
}

fn verb(step: Step) -> String {
    match step {
        Step::Read => "read".into(),
        Step::Filter => "filtered".into(),
        Step::CopyIn => "copied in".into(),
        Step::Sort(Device::Cuda(number)) => format!("sorted on cuda:{number}"),
        Step::Sort(_) => "sorted".into(),
        Step::CopyOut => "copied out".into(),
        Step::Code => "coded".into(),
        Step::Decode => "decoded".into(),
        Step::Invert(Device::Cuda(number)) => format!("restored on cuda:{number}"),
        Step::Invert(_) => "restored".into(),
        Step::Unfilter => "unfiltered".into(),
        Step::Check => "checked".into(),
        _ => "worked on".into(),
    }
}
