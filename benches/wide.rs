//! Blocks above 2 GiB sorted on one GPU, each a text like a genome:
//! `cargo bench --features cuda --bench wide -- [--size N] [--text plain,repeats,young]`.
//!
//! Prints for each text: the first sort, which allocates the memory of the device; the best of
//! several further sorts, from the host's pinned memory to its pinned memory, and the part of it
//! without copies; the device's memory; and the number of unresolved suffixes after each round. The
//! pinned memory is allocated before.
//!
//! Every transform is checked: the CPU inverts it, and the result is compared with the text. The
//! inverse goes from each sampled row to the next, and fails if the samples contradict it. This
//! takes another 5 bytes of the host's memory per byte, beside 3.

mod common;
#[path = "common/genome.rs"]
mod genome;

use bwz::bwt::{self, Bwt};
use bwz::internals::gpu::GpuSorter;
use bwz::{Error, Result};
use clap::Parser;
use common::prove;
use genome::Genome;
use std::time::Instant;

/// Measure the sort of blocks above 2 GiB on one GPU
#[derive(Parser)]
struct Bench {
    /// Bytes of each text
    #[arg(long, value_name = "N", default_value_t = 3_100_000_000)]
    size: usize,
    /// Kinds of text, with commas between: plain, repeats, young
    #[arg(
        long,
        value_name = "KIND",
        default_value = "plain,repeats",
        value_delimiter = ','
    )]
    text: Vec<String>,
    /// The distance between sampled positions, a power of two [default: that of such a block]
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Sorts that are timed after the first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    runs: u16,
    /// The number of the GPU
    #[arg(long, value_name = "N", default_value_t = 0)]
    gpu: u32,
    /// Cargo passes it to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let mut sorter = GpuSorter::new(bench.gpu)?;
    bench
        .text
        .iter()
        .try_for_each(|kind| bench.measure(kind, &mut sorter))
}

impl Bench {
    fn measure(&self, kind: &str, sorter: &mut GpuSorter) -> Result<()> {
        let unknown = || Error::Usage(format!("there is no text {kind}").into());
        let genome = Genome::named(kind).ok_or_else(unknown)?;
        let from = Instant::now();
        let text = genome.text(self.size);
        println!(
            "{kind}: {} bytes, made in {:.1} s",
            text.len(),
            from.elapsed().as_secs_f64()
        );
        let rate = self
            .rate
            .unwrap_or_else(|| bwt::sample_rate(text.len()));
        let from = Instant::now();
        sorter.input(text.len())?.copy_from_slice(&text);
        sorter.reserve_output(text.len() as u32)?;
        println!(
            "  pinned memory was taken and filled in {:.1} s",
            from.elapsed().as_secs_f64()
        );
        self.time(rate, sorter)?;
        let view = sorter.sort_input(rate)?;
        let samples = view
            .samples
            .iter()
            .copied()
            .map(u64::from)
            .collect();
        prove(
            Bwt {
                bytes: view.bytes.to_vec(),
                sample_rate: rate,
                samples,
            },
            &text,
        )
    }

    fn time(&self, rate: u32, sorter: &mut GpuSorter) -> Result<()> {
        let mut best = f64::INFINITY;
        let mut kernels = f32::INFINITY;
        for run in 0..=self.runs {
            let from = Instant::now();
            sorter.sort_input(rate)?;
            let seconds = from.elapsed().as_secs_f64();
            if run == 0 {
                println!("  the first sort took {seconds:.3} s");
                continue;
            }
            (best, kernels) = (
                best.min(seconds),
                kernels.min(sorter.report().milliseconds / 1e3),
            );
        }
        let report = sorter.report();
        let gb = |bytes: usize| bytes as f64 / 1e9;
        println!(
            "  best of {}: {best:.3} s with copies, {kernels:.3} s without",
            self.runs
        );
        let each = report.memory as f64 / self.size as f64;
        println!(
            "  {:.1} GB of the GPU's memory, {each:.1} bytes per suffix",
            gb(report.memory)
        );
        println!("  unresolved after each round: {:?}", report.rounds);
        Ok(())
    }
}
