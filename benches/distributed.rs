//! The supersteps and words of `bsp` on virtual processors, beside the paper's formulas, and those
//! of `default`:
//! `cargo bench --bench distributed -- [--processors P,...] [--megabytes N] [--csv] [FILE...]`.
//!
//! A row for each level of the recursion of `bsp`: the length n, the period v and the elements |D|
//! of its difference cover; its supersteps; h, which is the most words that a processor sends plus
//! the most that one receives, summed over them; v n / p, of which the paper says that h is O; and
//! their quotient. Then a row for all levels, with n / p of the text, and how many levels there
//! are: the paper has O(log log p), with the constant of its formula (`critical_round`). Then one
//! for all rounds of `default`. Without files it takes the letters of the Fibonacci word, which
//! repeats itself so much that no level is left out.

mod common;

use bwz::Result;
use bwz::internals::distributed::{
    Blocks, Exchange, Level, Processor, Superstep, critical_round, h_relations, levels,
    run_virtual, sort_by_doubling, suffix_array,
};
use clap::Parser;
use common::Common;

/// Count the supersteps and words of accelerated sampling
#[derive(Parser)]
struct Bench {
    /// How many virtual processors
    #[arg(long, value_name = "P", default_value = "4,16", value_delimiter = ',')]
    processors: Vec<usize>,
    /// Letters of the Fibonacci word, in units of 2^20
    #[arg(long, value_name = "N", default_value_t = 1)]
    megabytes: usize,
    /// Print values with commas between
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let header = "p,text,level,n,v,|D|,supersteps,h,v n / p,h p / (v n)";
    bench.row(header.split(',').map(str::to_owned));
    if bench.common.has_files() {
        return bench.common.each(|text| bench.text(text));
    }
    bench.text(&common::fibonacci(bench.megabytes << 20))
}

impl Bench {
    fn text(&self, text: &[u8]) -> Result<()> {
        self.processors.iter().try_for_each(|&count| self.sort(text, count))
    }

    fn sort(&self, text: &[u8], count: usize) -> Result<()> {
        let blocks = Blocks::new(text.len(), count);
        let supersteps = run_virtual(count, async |exchange| {
            let own = blocks.range(exchange.number());
            let symbols = text[own].iter().map(|&byte| u64::from(byte) + 1).collect();
            let mut processor = Processor::new(exchange);
            suffix_array(&mut processor, symbols, text.len()).await?;
            Ok(processor.into_supersteps())
        })?;
        let supersteps = h_relations(&supersteps);
        let deepest = taken(&supersteps);
        for level in levels(text.len(), count).iter().filter(|level| level.number <= deepest) {
            let of_level = supersteps.iter().filter(|superstep| superstep.level == level.number);
            self.level(text, count, *level, &of_level.copied().collect::<Vec<_>>());
        }
        let formula = critical_round(count);
        self.all(text, count, &format!("{deepest} levels (formula: {formula:.1})"), &supersteps);
        let supersteps = run_virtual(count, async |exchange| {
            let own = blocks.range(exchange.number());
            let mut processor = Processor::new(exchange);
            sort_by_doubling(&mut processor, &text[own], text.len()).await?;
            Ok(processor.into_supersteps())
        })?;
        let supersteps = h_relations(&supersteps);
        let rounds = taken(&supersteps);
        self.all(text, count, &format!("default: {rounds} rounds"), &supersteps);
        Ok(())
    }

    fn all(&self, text: &[u8], count: usize, name: &str, supersteps: &[Superstep]) {
        let (per, h) = (text.len() as f64 / count as f64, h(supersteps));
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
        self.row([count.to_string(), text.len().to_string()].into_iter().chain(cells));
    }

    fn level(&self, text: &[u8], count: usize, level: Level, supersteps: &[Superstep]) {
        let (h, words) = (h(supersteps), level.words(count));
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
        self.row([count.to_string(), text.len().to_string()].into_iter().chain(cells));
    }

    fn row(&self, cells: impl Iterator<Item = String>) {
        let cells: Vec<String> = cells.collect();
        if self.csv {
            return println!("{}", cells.join(","));
        }
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>12}")).collect();
        println!("{}", cells.join("  "));
    }
}

/// The words of some supersteps.
fn h(supersteps: &[Superstep]) -> u64 {
    supersteps.iter().map(|superstep| superstep.sent + superstep.received).sum()
}

/// The number of the last level or round.
fn taken(supersteps: &[Superstep]) -> u32 {
    supersteps.iter().map(|superstep| superstep.level).max().unwrap_or(0)
}
