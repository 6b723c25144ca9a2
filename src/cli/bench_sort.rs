//! `bwz bench sort`: suffix sorting alone, each file as one block, on a GPU by each algorithm and on one CPU thread.
//!
//! `MB/s` counts everything from the block in ordinary memory to its transform there. `kernels` is the same without the
//! copies, as the device's clock has it. Each algorithm's transform is compared with the CPU's.

use super::args::{SortArgs, Talk};
use super::bench::say;
use super::console::Task;
use super::exit::Exit;
use super::files;
use super::input::Input;
use bwz::bwt::{self, Bwt, Sorter};
use bwz::{Device, Error, Result};
use std::io::Read;
use std::time::{Duration, Instant};

/// Measures with each file.
pub fn run(args: &SortArgs) -> Exit {
    let talk = Talk { verbose: 0, quiet: false, no_progress: true };
    files::each(&args.files, None, talk, Task::Compressing, |name| {
        let mut text = Vec::new();
        Input::open(name, true)?.source.read_to_end(&mut text)?;
        if text.is_empty() {
            return Err(Error::Usage("there is nothing to sort".into()));
        }
        say(format_args!("{name}: {} bytes, best and median of {}", text.len(), args.runs))?;
        one(args, &text)
    })
}

fn one(args: &SortArgs, text: &[u8]) -> Result<()> {
    let rate = bwt::sample_rate(text.len());
    let mut expected = None;
    if !args.no_cpu {
        let (times, bwt) = time(args.runs, || Sorter::Cpu.sort(text, rate))?;
        row("libsais", text.len(), &times, "")?;
        expected = Some(bwt);
    }
    match args.device {
        Device::Cuda(number) => gpu(args, number, text, rate, expected.as_ref()),
        Device::Auto | Device::Cpu => Ok(()),
    }
}

#[cfg(feature = "cuda")]
fn gpu(args: &SortArgs, number: u32, text: &[u8], rate: u32, expected: Option<&Bwt>) -> Result<()> {
    for name in &args.algorithm {
        let mut sorter = bwz::gpu::Sorter::new(number, name.parse()?)?;
        let mut fastest = f32::INFINITY;
        sorter.sort(text, rate)?;
        let (times, sorted) = time(args.runs, || {
            let sorted = sorter.sort(text, rate)?;
            fastest = fastest.min(sorter.report().milliseconds);
            Ok(sorted)
        })?;
        let report = sorter.report();
        let kernels = text.len() as f64 / 1e3 / f64::from(fastest);
        let memory = report.memory as f64 / text.len() as f64;
        let left: Vec<String> = report
            .rounds
            .iter()
            .map(|&left| format!("{:.1}", 100.0 * f64::from(left) / text.len() as f64))
            .collect();
        let left = left.join(" ");
        let more =
            format!("  kernels {kernels:.0} MB/s, {memory:.1} bytes of memory each, % left {left}");
        row(name, text.len(), &times, &more)?;
        let same = expected.is_none_or(|e| e.bytes == sorted.bytes && e.samples == sorted.samples);
        assert!(same, "{name} does not give what the CPU gives");
    }
    Ok(())
}

#[cfg(not(feature = "cuda"))]
fn gpu(_: &SortArgs, number: u32, _: &[u8], _: u32, _: Option<&Bwt>) -> Result<()> {
    Sorter::new(Device::Cuda(number)).map(drop)
}

/// The times of all runs in order, and what came of the last.
fn time<T>(runs: u16, mut work: impl FnMut() -> Result<T>) -> Result<(Vec<Duration>, T)> {
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let done = work()?;
        times.push(start.elapsed());
        if times.len() == usize::from(runs) {
            times.sort();
            return Ok((times, done));
        }
    }
}

fn row(name: &str, len: usize, times: &[Duration], more: &str) -> Result<()> {
    let speed = |time: Duration| len as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    let (best, median) = (speed(times[0]), speed(times[times.len() / 2]));
    say(format_args!("  {name:<10} {best:>8.1} {median:>8.1} MB/s{more}"))
}
