//! `bwz bench --sort`: measures suffix sorts alone, that of bwz and published ones, and compares
//! their results with libsais.

use crate::cli::arguments::args::BenchArgs;
use crate::cli::arguments::size::human;
use crate::cli::bench_line::say;
use bwz::bwt::Bwt;
use bwz::papers::{Measured, PaperAlgorithm, PaperSorter, sort_by_libsais};
use bwz::{Error, Result};
use std::time::Duration;

/// Sorters that are open for all files.
pub(super) struct SortBench {
    sorters: Vec<(PaperAlgorithm, PaperSorter)>,
    runs: usize,
}

/// The times of some runs.
#[derive(Default)]
struct Times(Vec<Duration>);

impl SortBench {
    /// Opens a sorter for each of the named algorithms.
    pub(super) fn new(args: &BenchArgs) -> Result<Self> {
        let options = args.resources.options();
        let mut sorters = Vec::new();
        for &algorithm in &args.sort {
            let mut sorter = PaperSorter::new(algorithm, &options)?;
            if args.resources.threads > 0 {
                sorter = sorter.processors(args.resources.thread_count());
            }
            sorters.push((algorithm, sorter));
        }
        Ok(SortBench {
            sorters,
            runs: args.runs.into(),
        })
    }

    /// Prints the table of one text.
    pub(super) fn report(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let len = text.len();
        let runs = self.runs;
        say(format_args!(
            "{name}: {len} bytes as one block, median of {runs}"
        ))?;
        if text.is_empty() {
            return say(format_args!("nothing to measure"));
        }
        for (_, sorter) in &self.sorters {
            sorter.check(len)?;
        }
        say(format_args!(
            "{:<10} {:>10} {:>10} {:>11}  {:<9}  on",
            "sort", "MB/s", "kernels", "memory", "libsais"
        ))?;
        let expected = sort_by_libsais(text)?;
        for (algorithm, sorter) in &mut self.sorters {
            row(*algorithm, sorter, runs, text, &expected)?;
        }
        Ok(())
    }
}

/// Measures one sort, and prints its row.
fn row(
    algorithm: PaperAlgorithm,
    sorter: &mut PaperSorter,
    runs: usize,
    text: &[u8],
    expected: &Bwt,
) -> Result<()> {
    let mut whole = Times::default();
    let mut kernels = Times::default();
    let mut memory = None;
    if sorter.is_on_gpu() {
        // The first sort also allocates the memory.
        sorter.sort(text)?;
    }
    for _ in 0..runs {
        let run = sorter.sort(text)?;
        check(algorithm, sorter, &run, expected)?;
        whole.0.push(run.whole);
        kernels.0.extend(run.kernels);
        memory = run.memory;
    }
    say(format_args!(
        "{:<10} {:>10} {:>10} {:>11}  {:<9}  {}",
        algorithm.name(),
        whole.speed(text.len()),
        kernels.speed(text.len()),
        memory.map_or("-".to_owned(), human),
        "equal",
        sorter.place(),
    ))
}

/// Refuses a result that is not that of libsais.
fn check(
    algorithm: PaperAlgorithm,
    sorter: &PaperSorter,
    run: &Measured,
    expected: &Bwt,
) -> Result<()> {
    if run.bwt == *expected {
        return Ok(());
    }
    let place = sorter.place();
    let what = format!("{algorithm} on {place} does not give the BWT that libsais gives");
    Err(Error::Device(what.into()))
}

impl Times {
    /// The median speed in MB/s, or a dash if nothing was timed.
    fn speed(&mut self, bytes: usize) -> String {
        self.0.sort();
        let Some(median) = self.0.get(self.0.len() / 2) else {
            return "-".to_owned();
        };
        format!("{:.1}", bytes as f64 / 1e6 / median.as_secs_f64().max(1e-9))
    }
}
