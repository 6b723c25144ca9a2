//! The lines that are printed for events of the library. Each warning is printed once a run. With
//! `-vv` there is one line for each block and, at the end, one for each GPU.
//!
//! A block's line has the times at which each step began and ended, in seconds since work on the
//! file began. If the pipeline works well, steps of different blocks overlap.

use crate::cli::arguments::args::Talk;
use crate::cli::files::input_name::Name;
use crate::cli::files::stoppable_input::Stop;
use crate::cli::report::timeline::{Timeline, words};
use crate::cli::report::work_estimate::WorkEstimate;
use bwz::{Device, Event, Options, Result, Step};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The warnings and steps of this run so far.
#[derive(Clone, Default)]
pub(crate) struct EventLines {
    /// Warnings that were printed.
    said: Arc<Mutex<HashSet<String>>>,
    timeline: Arc<Timeline>,
    steps: WorkEstimate,
}

/// The finished steps of a block.
type Steps = Vec<(Step, Instant, Instant)>;

impl EventLines {
    /// Creates the lines of a run. `trace` is the file for the timeline, if any; `force` overwrites
    /// it.
    pub(crate) fn with(trace: Option<&Path>, force: bool) -> Result<Self> {
        let timeline = Arc::new(Timeline::start(trace, force)?);
        Ok(EventLines {
            said: Arc::default(),
            timeline,
            steps: WorkEstimate::default(),
        })
    }

    /// Returns these lines with a progress bar that is moved by `steps`.
    pub(crate) fn moving(&self, steps: WorkEstimate) -> Self {
        EventLines {
            steps,
            ..self.clone()
        }
    }

    /// Returns `options` for work on one file. Its events are printed as `talk` says. If the work
    /// fails, it does not wait for its input any longer.
    pub(crate) fn add_to(
        &self,
        options: &Options,
        name: &Name,
        talk: Talk,
        stop: Option<Stop>,
    ) -> Options {
        let lines = self.clone();
        let name = name.clone();
        let started = Instant::now();
        let file = Arc::from(name.to_string());
        let blocks = Mutex::new(BTreeMap::<u64, Steps>::new());
        options.clone().on_event(move |event| {
            lines.steps.count(&event);
            match event {
                Event::Warning(what) if lines.is_new(&what) => talk.warn(&name, what),
                Event::Done {
                    block,
                    step,
                    from,
                    to,
                    ..
                } => {
                    lines.timeline.add(&file, block, step, from, to);
                    if !talk.wants_blocks() {
                        return;
                    }
                    let mut blocks = blocks
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    let steps = blocks.entry(block).or_default();
                    steps.push((step, from, to));
                    if step == Step::Write {
                        talk.report(&name, line(block, started, steps));
                        blocks.remove(&block);
                    }
                }
                Event::Failed => stop.iter().for_each(Stop::now),
                _ => (),
            }
        })
    }

    /// Prints how busy the GPUs were, and writes the timeline if it is wanted.
    pub(crate) fn end(&self, talk: Talk) -> Result<()> {
        let (gpus, all) = self.timeline.busy();
        for (gpu, busy) in gpus.into_iter().filter(|_| talk.wants_blocks()) {
            let busy = busy.as_secs_f64();
            let all = all.as_secs_f64();
            let share = 100.0 * busy / all.max(1e-9);
            talk.sum_up(format_args!(
                "cuda:{gpu} busy {busy:.3} s of {all:.3} s, {share:.0} %"
            ));
        }
        self.timeline.write()
    }

    fn is_new(&self, what: &str) -> bool {
        self.said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(what.to_owned())
    }
}

fn line(block: u64, started: Instant, steps: &Steps) -> String {
    let mut line = format!("block {block}:");
    for (n, (step, from, to)) in steps.iter().enumerate() {
        let since = |moment: &Instant| {
            moment
                .saturating_duration_since(started)
                .as_secs_f64()
        };
        let comma = if n > 0 { "," } else { "" };
        let _ = write!(
            line,
            "{comma} {} {:.3}-{:.3}",
            verb(*step),
            since(from),
            since(to)
        );
    }
    line + " s"
}

fn verb(step: Step) -> String {
    match words(step) {
        (_, verb, gpu @ Device::Cuda(_)) => format!("{verb} on {gpu}"),
        (_, verb, _) => verb.into(),
    }
}
