//! Suffix sorting alone, each file as one block:
//! `cargo bench --bench sort -- [--algorithm NAME,...] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s: of the CPU on one thread and on all, and of
//! a GPU by each algorithm of `bwz::papers`:
//!
//! - `with copies`: from the host's pinned memory to its pinned memory, as in a program that fills
//!   the sorter's input itself,
//! - `kernels`: without the copies, by the device's clock,
//! - `ordinary`: from ordinary memory to ordinary memory.
//!
//! The memory taken on the device and the number of unresolved suffixes after each round follow.
//! Each BWT is compared with that of libsais. `bwz bench --sort` has the medians alone.

mod common;

use bwz::bwt::Bwt;
use bwz::papers::{Measured, PaperAlgorithm, PaperSorter, sort_by_libsais};
use bwz::{Device, GpuSet, Options, Result};
use clap::Parser;
use common::{Common, Devices, Times};
use std::time::Duration;

/// Measure suffix sorting alone, each file as one block
#[derive(Parser)]
struct Bench {
    /// How a GPU sorts: default, skew, skew-pd, ls or bsp, or several of them with commas between
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        value_delimiter = ','
    )]
    algorithm: Vec<PaperAlgorithm>,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    bench.common.each(|text| {
        let expected = sort_by_libsais(text)?;
        if !bench.devices.no_cpu {
            bench.cpu(1, text, &expected)?;
            bench.cpu(bench.common.pool()?.current_num_threads(), text, &expected)?;
        }
        for &algorithm in &bench.algorithm {
            if let Some(number) = bench.devices.gpu() {
                bench.gpu(number, algorithm, text, &expected)?;
            }
        }
        Ok(())
    })
}

impl Bench {
    fn cpu(&self, threads: usize, text: &[u8], expected: &Bwt) -> Result<()> {
        let options = Options::new()
            .device(Device::Cpu)
            .threads(threads);
        let mut sorter = PaperSorter::new(PaperAlgorithm::Default, &options)?;
        let runs = self.runs(&mut sorter, text, expected)?;
        times(&runs, |run| Some(run.whole)).row("cpu", text.len(), "MB/s", &sorter.place());
        Ok(())
    }

    fn gpu(
        &self,
        number: u32,
        algorithm: PaperAlgorithm,
        text: &[u8],
        expected: &Bwt,
    ) -> Result<()> {
        let options = Options::new().device(Device::Cuda(GpuSet::new([number])?));
        let mut sorter = PaperSorter::new(algorithm, &options)?;
        // The first sort allocates the memory.
        sorter.sort(text)?;
        let runs = self.runs(&mut sorter, text, expected)?;
        let pinned = times(&runs, |run| run.pinned);
        pinned.row(algorithm.name(), text.len(), "MB/s", "with copies");
        times(&runs, |run| run.kernels).row("", text.len(), "MB/s", "kernels");
        times(&runs, |run| Some(run.whole)).row("", text.len(), "MB/s", "ordinary");
        let last = &runs[runs.len() - 1];
        let memory = last.memory.unwrap_or(0) as f64 / text.len() as f64;
        let left = &last.rounds;
        println!("    {memory:.1} bytes per suffix, unresolved after each round: {left:?}");
        Ok(())
    }

    /// Sorts as often as is asked for. The runs keep no BWT.
    fn runs(&self, sorter: &mut PaperSorter, text: &[u8], expected: &Bwt) -> Result<Vec<Measured>> {
        let mut runs = Vec::new();
        for _ in 0..self.common.runs {
            let mut run = sorter.sort(text)?;
            assert!(
                run.bwt == *expected,
                "this is not the BWT that libsais gives"
            );
            run.bwt.bytes = Vec::new();
            runs.push(run);
        }
        Ok(runs)
    }
}

/// The times of all runs that `time` finds in them.
fn times(runs: &[Measured], time: impl Fn(&Measured) -> Option<Duration>) -> Times {
    Times::new(runs.iter().filter_map(time).collect())
}
