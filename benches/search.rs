//! Search of many patterns in an FM-index in memory, each file as one block:
//! `cargo bench --bench search -- [--patterns N] [--length N] [--limit N] [FILE...]`.
//!
//! Patterns are cut from all parts of the text, the same in every run. Prints the best and the
//! median of all runs, in millions of pattern symbols per second:
//!
//! - `one thread`: the CPU on one thread, with a part of the patterns,
//! - `cpu`: the CPU on all threads,
//! - `gpu`: a GPU, including packing and copying the patterns, and copying the intervals back. The
//!   index and the memory are there, as they are after the first search; the time for these is
//!   printed separately,
//! - `with the text`: counting by the CPU with the block's text in memory; the time to restore the
//!   text is printed separately.
//!
//! With `--limit`, positions are located too, in millions per second. The GPU's results are
//! compared with the CPU's.

mod common;

use bwz::bwt::{self, Sorter};
use bwz::fm_index::FmIndex;
use bwz::internals::gpu;
use bwz::{Error, Result};
use clap::Parser;
use common::{Common, Devices};
use rayon::ThreadPool;
use std::ops::Range;
use std::time::Instant;

/// Number of patterns that one thread searches.
const FEW: usize = 100_000;

/// Distance between sampled positions for `--limit`.
const RATE: u32 = 8;

/// Measure search in memory, each file as one block
#[derive(Parser)]
struct Bench {
    /// How many patterns to cut from the text
    #[arg(long, value_name = "N", default_value_t = 2_097_152)]
    patterns: usize,
    /// Symbols of each pattern
    #[arg(long, value_name = "N", default_value_t = 100)]
    length: usize,
    /// Locate up to N occurrences of each pattern too
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    common: Common,
}

/// The device that searches.
enum SearchDevice {
    Cpu,
    Gpu(Box<gpu::GpuSearch>),
}

impl SearchDevice {
    fn search(
        &mut self,
        index: &FmIndex,
        patterns: &[&[u8]],
        intervals: &mut [Range<u32>],
    ) -> Result<()> {
        match self {
            SearchDevice::Cpu => {
                index.search(patterns, intervals);
                Ok(())
            }
            SearchDevice::Gpu(gpu) => index.search_on(gpu, patterns, intervals),
        }
    }

    fn positions(&mut self, index: &FmIndex, rows: &[u32]) -> Result<Vec<u32>> {
        match self {
            SearchDevice::Cpu => index.positions(rows),
            SearchDevice::Gpu(gpu) => index.positions_on(gpu, rows),
        }
    }
}

/// The intervals of all patterns, and the positions of some of their rows.
type Found = (Vec<Range<u32>>, Vec<u32>);

fn main() -> Result<()> {
    let bench = Bench::parse();
    let alone = common::pool(1)?;
    let all = bench.common.pool()?;
    bench.common.each(|text| {
        if text.len() < bench.length.max(1) {
            return Err(Error::Usage("it is shorter than a pattern".into()));
        }
        let mut index = FmIndex::new(Sorter::Cpu.sort(text, bwt::sample_rate(text.len()))?)?;
        if bench.limit > 0 {
            index = index.with_sample_rate(RATE)?;
        }
        let patterns = bench.cut(text);
        let mut expected = None;
        if !bench.devices.no_cpu {
            let few = &patterns[..patterns.len().min(FEW)];
            bench.measure("one thread", &alone, &mut SearchDevice::Cpu, &index, few)?;
            expected =
                Some(bench.measure("cpu", &all, &mut SearchDevice::Cpu, &index, &patterns)?);
            let bits = index.size() as f64 * 8.0 / text.len() as f64;
            println!("    {bits:.1} bits of memory per symbol of text");
        }
        let gpu = bench.devices.gpu();
        if let Some(number) = gpu {
            bench.gpu(number, &all, &index, &patterns, expected.as_ref())?;
        }
        expected.map_or(Ok(()), |(intervals, _)| {
            bench.text(index, &all, &patterns, &intervals)
        })
    })
}

impl Bench {
    /// Patterns from all parts of the text.
    fn cut<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = state as usize % (text.len() - self.length + 1);
            &text[at..at + self.length]
        };
        (0..self.patterns).map(|_| next()).collect()
    }

    fn gpu(
        &self,
        number: u32,
        pool: &ThreadPool,
        index: &FmIndex,
        patterns: &[&[u8]],
        expected: Option<&Found>,
    ) -> Result<()> {
        let started = Instant::now();
        let mut gpu = SearchDevice::Gpu(Box::new(gpu::GpuSearch::new(number)?));
        let opened = 1e3 * started.elapsed().as_secs_f64();
        let started = Instant::now();
        pool.install(|| gpu.search(index, patterns, &mut vec![0..0; patterns.len()]))?;
        let loaded = 1e3 * started.elapsed().as_secs_f64();
        let found = self.measure("gpu", pool, &mut gpu, index, patterns)?;
        println!("    {opened:.0} ms to open it, {loaded:.0} ms for the first search");
        if let Some(expected) = expected {
            let same = |(a, b): (&Range<u32>, &Range<u32>)| a == b || a.is_empty() && b.is_empty();
            let counted = expected.0.iter().zip(&found.0).all(same);
            assert!(counted, "a GPU counts what the CPU does not");
            assert!(expected.1 == found.1, "a GPU locates what the CPU does not");
        }
        Ok(())
    }

    /// Counts with the text in memory.
    fn text(
        &self,
        mut index: FmIndex,
        pool: &ThreadPool,
        patterns: &[&[u8]],
        intervals: &[Range<u32>],
    ) -> Result<()> {
        let started = Instant::now();
        pool.install(|| index.add_text(RATE))?;
        let restored = 1e3 * started.elapsed().as_secs_f64();
        let count = |()| pool.install(|| index.count_all(patterns));
        let (times, counts) = self.common.time(|| Ok(()), count)?;
        times.row(
            "with the text",
            patterns.len() * self.length,
            "M symbols/s",
            "",
        );
        println!("    {restored:.0} ms to restore it");
        assert!(
            counts
                .into_iter()
                .eq(intervals.iter().map(|of| of.len() as u32))
        );
        Ok(())
    }

    /// Prints the speed, and returns the results.
    fn measure(
        &self,
        name: &str,
        pool: &ThreadPool,
        device: &mut SearchDevice,
        index: &FmIndex,
        patterns: &[&[u8]],
    ) -> Result<Found> {
        let mut intervals = vec![0..0; patterns.len()];
        let mut search = |()| pool.install(|| device.search(index, patterns, &mut intervals));
        let (times, ()) = self.common.time(|| Ok(()), &mut search)?;
        times.row(name, patterns.len() * self.length, "M symbols/s", "");
        let rows: Vec<u32> = intervals
            .iter()
            .flat_map(|rows| rows.clone().take(self.limit))
            .collect();
        if rows.is_empty() {
            return Ok((intervals, rows));
        }
        let locate = |()| pool.install(|| device.positions(index, &rows));
        let (times, positions) = self.common.time(|| Ok(()), locate)?;
        times.row("", rows.len(), "M positions/s", "");
        Ok((intervals, positions))
    }
}
