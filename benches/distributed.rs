//! The supersteps and words of `bsp` (accelerated sampling on a bulk-synchronous parallel machine)
//! on virtual processors, beside the paper's formulas, and those of `doubling` (prefix doubling):
//! `cargo bench --bench distributed -- [--processors P,...] [--megabytes N] [--csv] [FILE...]`.
//!
//! Prints a row for each level of the recursion of `bsp`: the length n; the period v and the number
//! of elements |D| of its difference cover; its supersteps; h, which is the highest number of words
//! that a processor sends plus the highest number that one receives, summed over the supersteps; v
//! n / p, which bounds h up to a constant factor in the paper; and their quotient. A row for all
//! levels follows, with n / p of the text and the number of levels: the paper has O(log log p),
//! with the constant of its formula (`critical_round`). The last row is for all rounds of
//! `doubling`. Without files the text is the Fibonacci word, which repeats itself so strongly that
//! no level is skipped.
//!
//! With `--gpus`, GPUs sort each text together, by kernels:
//! `cargo bench --features cuda --bench distributed -- --gpus 0,1 [--genome KIND] [FILE...]`.
//! A number that is given several times means several processors on one GPU. This shows the cost of
//! the exchanges and no speed-up. Prints, for the best of the runs, from memory to memory: GB/s of
//! the text; GB/s without copies from and to the host; the share of exchanges in that time, with
//! the wait for the other processors; the bytes sent and their rate (to be compared with
//! `alltoall_perf` of NVIDIA's nccl-tests: its "busbw"). The sort on the first GPU alone follows.
//! All transforms are compared with the transform of that sort. If the text is too large for one
//! GPU, the CPU inverts the transform to check it, which takes another 5 bytes of memory per byte.
//! With `--bsp` the GPUs sort by accelerated sampling; this also works with one GPU: `--gpus 0`.
//!
//! With `--ranks HOST:PORT`, processes that a launcher has started sort together by prefix
//! doubling, each with one GPU:
//! `mpirun -np 2 target/release/deps/distributed-... --ranks localhost:7000 [FILE...]`.

mod common;
#[path = "common/genome.rs"]
mod genome;

use bwz::bwt::{self, Bwt};
use bwz::internals::distributed::{
    Blocks, Exchange, Level, Processor, Superstep, critical_round, h_relations, levels,
    run_virtual, sort_by_doubling, suffix_array,
};
use bwz::internals::gpu::{GpuSorter, JointReport, JointSorter, MOST_SORTED, SortedText};
use bwz::internals::{sort_by_ranks, sort_by_sampling};
use bwz::{Device, Error, JoinedRank, Ranks, Result};
use clap::Parser;
use common::{Common, prove};
use genome::Genome;
use std::time::Instant;

/// Count the supersteps and words of accelerated sampling, or time it on GPUs
#[derive(Parser)]
struct Bench {
    /// How many virtual processors
    #[arg(long, value_name = "P", default_value = "4,16", value_delimiter = ',')]
    processors: Vec<usize>,
    /// Letters of the Fibonacci word, or of the genome that --genome names, in units of 2^20
    #[arg(long, value_name = "N", default_value_t = 1)]
    megabytes: usize,
    /// Print values with commas between
    #[arg(long)]
    csv: bool,
    /// Sort on these GPUs together instead; one that comes twice is two processors
    #[arg(long, value_name = "N", value_delimiter = ',')]
    gpus: Vec<u32>,
    /// Sort by prefix doubling in any case
    #[arg(long, requires = "gpus")]
    doubling: bool,
    /// Exchange by NCCL, also with --doubling
    #[arg(long, requires = "gpus")]
    nccl: bool,
    /// Sort by bsp, accelerated sampling
    #[arg(long, requires = "gpus", conflicts_with_all = ["doubling", "nccl"])]
    bsp: bool,
    /// Sort together with the processes that a launcher has started
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "gpus")]
    ranks: Option<String>,
    /// A text like a genome in place of the Fibonacci word: plain, repeats or young
    #[arg(long, value_name = "KIND")]
    genome: Option<String>,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    if !bench.gpus.is_empty() {
        return bench.each(|text| bench.joint(text));
    }
    if let Some(address) = &bench.ranks {
        return match JoinedRank::join(address, Device::Auto)? {
            JoinedRank::First(ranks) => bench.each(|text| bench.ranks(text, &ranks)),
            JoinedRank::Other(rank) => rank.serve(),
        };
    }
    let header = "p,text,level,n,v,|D|,supersteps,h,v n / p,h p / (v n)";
    bench.row(header.split(',').map(str::to_owned));
    bench.each(|text| bench.text(text))
}

impl Bench {
    /// Measures with each file, or with the generated text that is asked for.
    fn each(&self, measure: impl Fn(&[u8]) -> Result<()>) -> Result<()> {
        let size = self.megabytes << 20;
        match &self.genome {
            _ if self.common.has_files() => self.common.each(measure),
            Some(kind) => {
                let unknown = || Error::Usage(format!("there is no text {kind}").into());
                measure(
                    &Genome::named(kind)
                        .ok_or_else(unknown)?
                        .text(size),
                )
            }
            None => measure(&common::fibonacci(size)),
        }
    }

    /// The best of the runs after a first one: its seconds, its report and its result. The sorter's
    /// memory is free again when this returns.
    fn best(&self, text: &[u8], rate: u32) -> Result<(f64, JointReport, SortedText)> {
        let sorter = JointSorter::new(&self.gpus)?;
        let mut sorter = match (self.nccl, self.doubling) {
            (true, _) => sorter.by_nccl(),
            (false, true) => sorter.by_doubling(),
            (false, false) => sorter,
        };
        let mut best = f64::INFINITY;
        let mut report = JointReport::default();
        let sort = match self.bsp {
            true => sort_by_sampling,
            false => JointSorter::sort,
        };
        let mut sorted = sort(&mut sorter, text, rate)?;
        for _ in 0..self.common.runs {
            let from = Instant::now();
            sorted = sort(&mut sorter, text, rate)?;
            let seconds = from.elapsed().as_secs_f64();
            if seconds < best {
                (best, report) = (seconds, sorter.report().clone());
            }
        }
        Ok((best, report, sorted))
    }

    fn joint(&self, text: &[u8]) -> Result<()> {
        let rate = bwt::sample_rate(text.len());
        let gb = |seconds: f64| text.len() as f64 / 1e9 / seconds;
        let (best, report, sorted) = self.best(text, rate)?;
        let sorting = report.sorting.as_secs_f64();
        let sent = report.transferred.bytes as f64;
        let [time, copying] =
            [report.transferred.time, report.transferred.copying].map(|time| time.as_secs_f64());
        println!(
            "{} bytes on GPUs {:?}: {best:.4} s, {:.3} GB/s; {sorting:.4} s, {:.3} GB/s without copies",
            text.len(),
            self.gpus,
            gb(best),
            gb(sorting),
        );
        println!(
            "  {:.1} % of that in exchanges; {:.3} GB sent to others, {:.1} GB/s by each while it \
             copies; {:.1} bytes of memory a suffix",
            100.0 * time / sorting,
            sent / 1e9,
            sent / 1e9 / self.gpus.len() as f64 / copying,
            report.memory as f64 / text.len() as f64,
        );
        match self.bsp {
            true => println!("  symbols of each level that all sort: {:?}", report.left),
            false => println!("  unresolved after each round: {:?}", report.left),
        }
        self.check(text, rate, self.gpus[0], sorted)
    }

    /// Compares the transform with that of one GPU, or inverts it.
    fn check(&self, text: &[u8], rate: u32, gpu: u32, sorted: SortedText) -> Result<()> {
        if text.len() <= MOST_SORTED as usize {
            return self.alone(text, rate, gpu, &sorted);
        }
        prove(
            Bwt {
                bytes: sorted.bytes,
                sample_rate: rate,
                samples: sorted.samples,
            },
            text,
        )
    }

    /// Sorts with all ranks; this process is the first.
    fn ranks(&self, text: &[u8], ranks: &Ranks) -> Result<()> {
        let rate = bwt::sample_rate(text.len());
        let mut sorted = sort_by_ranks(ranks, text, rate)?;
        let mut best = f64::INFINITY;
        for _ in 0..self.common.runs {
            let from = Instant::now();
            sorted = sort_by_ranks(ranks, text, rate)?;
            best = best.min(from.elapsed().as_secs_f64());
        }
        println!(
            "{} bytes by {} ranks: {best:.4} s",
            text.len(),
            ranks.count()
        );
        self.check(text, rate, 0, sorted)
    }

    /// Sorts on one of the GPUs, and compares.
    fn alone(&self, text: &[u8], rate: u32, gpu: u32, sorted: &SortedText) -> Result<()> {
        let mut sorter = GpuSorter::new(gpu)?;
        sorter.sort(text, rate)?;
        let mut best = f64::INFINITY;
        let mut kernels = f32::INFINITY;
        for _ in 0..self.common.runs {
            let from = Instant::now();
            let alone = sorter.sort(text, rate)?;
            best = best.min(from.elapsed().as_secs_f64());
            kernels = kernels.min(sorter.report().milliseconds / 1e3);
            let samples = alone.samples.iter().copied().map(u64::from);
            assert!(alone.bytes == sorted.bytes && samples.eq(sorted.samples.iter().copied()));
        }
        println!("  one GPU alone: {best:.4} s; {kernels:.4} s without copies; the same transform");
        Ok(())
    }

    fn text(&self, text: &[u8]) -> Result<()> {
        self.processors
            .iter()
            .try_for_each(|&count| self.sort(text, count))
    }

    fn sort(&self, text: &[u8], count: usize) -> Result<()> {
        let blocks = Blocks::new(text.len(), count);
        let supersteps = run_virtual(count, async |exchange| {
            let own = blocks.range(exchange.number());
            let symbols = text[own]
                .iter()
                .map(|&byte| u64::from(byte) + 1)
                .collect();
            let mut processor = Processor::new(exchange);
            suffix_array(&mut processor, symbols, text.len()).await?;
            Ok(processor.into_supersteps())
        })?;
        let supersteps = h_relations(&supersteps);
        let deepest = taken(&supersteps);
        for level in levels(text.len(), count)
            .iter()
            .filter(|level| level.number <= deepest)
        {
            let of_level = supersteps
                .iter()
                .filter(|superstep| superstep.level == level.number);
            self.level(text, count, *level, &of_level.copied().collect::<Vec<_>>());
        }
        let formula = critical_round(count);
        self.all(
            text,
            count,
            &format!("{deepest} levels (formula: {formula:.1})"),
            &supersteps,
        );
        let supersteps = run_virtual(count, async |exchange| {
            let own = blocks.range(exchange.number());
            let mut processor = Processor::new(exchange);
            sort_by_doubling(&mut processor, &text[own], text.len()).await?;
            Ok(processor.into_supersteps())
        })?;
        let supersteps = h_relations(&supersteps);
        let rounds = taken(&supersteps);
        self.all(
            text,
            count,
            &format!("doubling: {rounds} rounds"),
            &supersteps,
        );
        Ok(())
    }

    fn all(&self, text: &[u8], count: usize, name: &str, supersteps: &[Superstep]) {
        let per = text.len() as f64 / count as f64;
        let h = h(supersteps);
        let cells = [
            name.to_owned(),
            text.len().to_string(),
            String::new(),
            String::new(),
            supersteps.len().to_string(),
            h.to_string(),
            format!("n / p = {per:.0}"),
            format!("{:.1}", h as f64 / per),
        ];
        self.row(
            [count.to_string(), text.len().to_string()]
                .into_iter()
                .chain(cells),
        );
    }

    fn level(&self, text: &[u8], count: usize, level: Level, supersteps: &[Superstep]) {
        let h = h(supersteps);
        let words = level.words(count);
        let cells = [
            level.number.to_string(),
            level.n.to_string(),
            level.period.to_string(),
            level.cover_len().to_string(),
            supersteps.len().to_string(),
            h.to_string(),
            format!("{words:.0}"),
            format!("{:.1}", h as f64 / words),
        ];
        self.row(
            [count.to_string(), text.len().to_string()]
                .into_iter()
                .chain(cells),
        );
    }

    fn row(&self, cells: impl Iterator<Item = String>) {
        let cells: Vec<String> = cells.collect();
        if self.csv {
            return println!("{}", cells.join(","));
        }
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| format!("{cell:>12}"))
            .collect();
        println!("{}", cells.join("  "));
    }
}

/// The sum of h over some supersteps, in words.
fn h(supersteps: &[Superstep]) -> u64 {
    supersteps
        .iter()
        .map(|superstep| superstep.sent + superstep.received)
        .sum()
}

/// The number of the last level or round.
fn taken(supersteps: &[Superstep]) -> u32 {
    supersteps
        .iter()
        .map(|superstep| superstep.level)
        .max()
        .unwrap_or(0)
}
