//! `bwz bench sort`: suffix sorting alone, each file as one block, on a GPU by each algorithm and
//! on one CPU thread.
//!
//! For each, the best and the median of all runs in MB/s. On a GPU these are
//!
//! - `with copies`: from pinned memory of the host to the same, as a program reads and writes that
//!   fills the sorter's input itself,
//! - `kernels`: the same without the copies, as the device's clock has it,
//! - `ordinary`: from ordinary memory to ordinary memory,
//!
//! then the memory taken on the device, and how many suffixes were left after each round. Each
//! algorithm's transform is compared with the CPU's.

use super::args::Talk;
use super::bench::say;
use super::bench_args::SortArgs;
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
        say(format_args!("{name}: {} bytes, best and median of {}", text.len(), args.beside.runs))?;
        one(args, &text)
    })
}

fn one(args: &SortArgs, text: &[u8]) -> Result<()> {
    let rate = bwt::sample_rate(text.len());
    let mut expected = None;
    if !args.beside.no_cpu {
        let (times, bwt) = time(args.beside.runs, || Sorter::Cpu.sort(text, rate))?;
        row("libsais", text.len(), &times, "")?;
        expected = Some(bwt);
    }
    match args.beside.device {
        Device::Cuda(number) => gpu(args, number, text, rate, expected.as_ref()),
        Device::Auto | Device::Cpu => Ok(()),
    }
}

fn gpu(args: &SortArgs, number: u32, text: &[u8], rate: u32, expected: Option<&Bwt>) -> Result<()> {
    for name in &args.algorithm {
        let mut sorter = bwz::gpu::Sorter::new(number, name.parse()?)?;
        // The first sort takes the memory.
        sorter.sort(text, rate)?;
        sorter.input(text.len())?.copy_from_slice(text);
        let mut kernels = Vec::new();
        let (times, ()) = time(args.beside.runs, || {
            sorter.sort_input(rate)?;
            kernels.push(Duration::from_secs_f32(sorter.report().milliseconds / 1e3));
            Ok(())
        })?;
        let view = sorter.sort_input(rate)?;
        let same = expected.is_none_or(|e| e.bytes == view.bytes && e.samples == view.samples);
        assert!(same, "{name} does not give what the CPU gives");
        row(name, text.len(), &times, "with copies")?;
        kernels.sort();
        row("", text.len(), &kernels, "kernels")?;
        let (times, _) = time(args.beside.runs, || sorter.sort(text, rate))?;
        row("", text.len(), &times, "ordinary")?;
        let report = sorter.report();
        let (memory, left) = (report.memory as f64 / text.len() as f64, &report.rounds);
        say(format_args!("    {memory:.1} bytes of memory each, left after each round: {left:?}"))?;
    }
    Ok(())
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

/// A line with the best and the median of times in order.
pub fn row(name: &str, len: usize, times: &[Duration], more: &str) -> Result<()> {
    let speed = |time: Duration| len as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    let (best, median) = (speed(times[0]), speed(times[times.len() / 2]));
    say(format_args!("  {name:<10} {best:>8.1} {median:>8.1} MB/s {more}"))
}
