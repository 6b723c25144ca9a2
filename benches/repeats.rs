//! The search for repeats:
//! `cargo bench --bench repeats -- [-N LENGTH] [-T N] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s, for each file alone, and the number of
//! repeated bytes. Without files the input is random text and the shapes that are hard for suffix
//! sorters. With `--parts` the memory is limited to a third of the file's size, so that it is
//! searched in parts; the results are compared.

mod common;

use bwz::repeats::Search;
use bwz::{Options, Result};
use clap::Parser;
use common::Common;

/// Measure the search for repeats
#[derive(Parser)]
struct Bench {
    /// Find stretches of LENGTH bytes
    #[arg(short = 'N', long, value_name = "LENGTH", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    length: u64,
    /// Search in parts too
    #[arg(long)]
    parts: bool,
    /// Measure with this many MB of shapes that repeat themselves, in place of files
    #[arg(long, value_name = "MB", conflicts_with = "files")]
    shapes: Option<usize>,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let Some(size) = bench.shapes else {
        return bench.common.each(|text| bench.text(text));
    };
    let size = size * 1_000_000;
    let period: Vec<u8> = (0..=255).cycle().take(size).collect();
    bench
        .common
        .report("one byte", &vec![b'a'; size], |text| bench.text(text))?;
    bench
        .common
        .report("all bytes in turn", &period, |text| bench.text(text))?;
    bench
        .common
        .report("Fibonacci", &common::fibonacci(size), |text| {
            bench.text(text)
        })
}

impl Bench {
    fn text(&self, text: &[u8]) -> Result<()> {
        let options = Options::new().threads(self.common.pool()?.current_num_threads());
        let search = Search::new(self.length)?;
        let (times, whole) = self
            .common
            .time(|| Ok(()), |()| search.find(&[text], &options))?;
        let repeated: u64 = whole.files[0]
            .ranges
            .iter()
            .map(|range| range.end - range.start)
            .sum();
        times.row("repeats", text.len(), "MB/s", &format!("{repeated} bytes"));
        if self.parts {
            let options = options.memory(text.len() as u64 / 3);
            let (times, parts) = self
                .common
                .time(|| Ok(()), |()| search.find(&[text], &options))?;
            assert!(
                parts.files == whole.files,
                "parts do not give what the whole gives"
            );
            times.row(
                "in parts",
                text.len(),
                "MB/s",
                &format!("{} parts", parts.parts),
            );
        }
        Ok(())
    }
}
