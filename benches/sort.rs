//! Suffix sorting alone, each file as one block:
//! `cargo bench --bench sort -- [--algorithm NAME,...] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s: of the CPU on one thread and on all, and of
//! a GPU by each algorithm:
//!
//! - `with copies`: from the host's pinned memory to its pinned memory, as in a program that fills
//!   the sorter's input itself,
//! - `kernels`: without the copies, by the device's clock,
//! - `ordinary`: from ordinary memory to ordinary memory.
//!
//! The memory taken on the device and the number of unresolved suffixes after each round follow.
//! Each algorithm's BWT is compared with the CPU's.

mod common;

use bwz::Result;
use bwz::bwt::{self, Bwt, Sorter};
use bwz::internals::gpu;
use clap::Parser;
use common::{Common, Devices, Times};
use std::time::Duration;

/// Measure suffix sorting alone, each file as one block
#[derive(Parser)]
struct Bench {
    /// How a GPU sorts: default, ls, skew or skew-pd, or several of them with commas between
    #[arg(long, value_name = "NAME", default_value = "default", value_delimiter = ',')]
    algorithm: Vec<String>,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    bench.common.each(|text| {
        let rate = bwt::sample_rate(text.len());
        let expected = if bench.devices.no_cpu { None } else { Some(bench.cpu(text, rate)?) };
        let gpu = bench.devices.gpu();
        gpu.map_or(Ok(()), |number| bench.gpu(number, text, rate, expected.as_ref()))
    })
}

impl Bench {
    fn cpu(&self, text: &[u8], rate: u32) -> Result<Bwt> {
        let one = common::pool(1)?;
        let sort = |()| one.install(|| Sorter::Cpu.sort(text, rate));
        let (times, bwt) = self.common.time(|| Ok(()), sort)?;
        times.row("cpu", text.len(), "MB/s", "on one thread");
        let pool = self.common.pool()?;
        let threads = pool.current_num_threads();
        let sort = |()| pool.install(|| Sorter::Cpu.sort_on(threads, text, rate));
        let (times, same) = self.common.time(|| Ok(()), sort)?;
        assert!(same == bwt, "{threads} threads do not give what one gives");
        times.row("", text.len(), "MB/s", "on all threads");
        Ok(bwt)
    }

    fn gpu(&self, number: u32, text: &[u8], rate: u32, expected: Option<&Bwt>) -> Result<()> {
        for name in &self.algorithm {
            let mut sorter = gpu::GpuSorter::new(number, name.parse()?)?;
            // The first sort allocates the memory.
            sorter.sort(text, rate)?;
            sorter.input(text.len())?.copy_from_slice(text);
            let mut kernels = Vec::new();
            let sort = |()| {
                sorter.sort_input(rate)?;
                kernels.push(Duration::from_secs_f32(sorter.report().milliseconds / 1e3));
                Ok(())
            };
            let (times, ()) = self.common.time(|| Ok(()), sort)?;
            let view = sorter.sort_input(rate)?;
            let samples = || view.samples.iter().copied().map(u64::from);
            let is_same =
                |e: &Bwt| e.bytes == view.bytes && e.samples.iter().copied().eq(samples());
            let same = expected.is_none_or(is_same);
            assert!(same, "{name} does not give what the CPU gives");
            times.row(name, text.len(), "MB/s", "with copies");
            Times::new(kernels).row("", text.len(), "MB/s", "kernels");
            let (times, _) = self.common.time(|| Ok(()), |()| sorter.sort(text, rate))?;
            times.row("", text.len(), "MB/s", "ordinary");
            let report = sorter.report();
            let memory = report.memory as f64 / text.len() as f64;
            let left = &report.rounds;
            println!("    {memory:.1} bytes per suffix, unresolved after each round: {left:?}");
        }
        Ok(())
    }
}
