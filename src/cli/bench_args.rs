//! The arguments of `bwz bench`.

use super::args::{Effort, Level, Resources, device};
use super::size;
use bwz::Device;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub stage: Option<Stage>,
    /// Files to measure with, held in memory; none is generated text
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Runs of each stage, of which the median counts
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    #[command(flatten)]
    pub level: Level,
    #[command(flatten)]
    pub effort: Effort,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Subcommand, Debug)]
pub enum Stage {
    /// Measure suffix sorting alone, each file as one block
    Sort(SortArgs),
    /// Measure the inverse transform alone
    Inverse(InverseArgs),
    /// Measure search in memory, each file as one block
    Search(SearchBenchArgs),
}

/// A GPU, with the CPU beside it.
#[derive(Args, Clone, Copy, Debug)]
pub struct Beside {
    /// The GPU to measure: cuda or cuda:N; cpu or auto measures the CPU alone
    #[arg(long, default_value = "cuda", value_parser = device)]
    pub device: Device,
    /// Runs, of which the best and the median are said
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    /// Leave out the CPU
    #[arg(long)]
    pub no_cpu: bool,
}

#[derive(Args, Debug)]
pub struct SortArgs {
    /// Files to sort, held in memory
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// How a GPU sorts: default, ls, skew or skew-pd, or several of them with commas between
    #[arg(long, value_name = "NAME", default_value = "default", value_delimiter = ',')]
    pub algorithm: Vec<String>,
    #[command(flatten)]
    pub beside: Beside,
}

#[derive(Args, Debug)]
pub struct InverseArgs {
    /// Files to sort and restore, held in memory
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Cut files into blocks of SIZE
    #[arg(long, value_name = "SIZE", value_parser = size::bytes)]
    pub block: Option<u64>,
    /// Blocks in flight on the GPU
    #[arg(short = 'j', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub in_flight: u16,
    #[command(flatten)]
    pub beside: Beside,
}

#[derive(Args, Debug)]
pub struct SearchBenchArgs {
    /// Files to search, held in memory
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// How many patterns to cut from the text
    #[arg(long, value_name = "N", default_value_t = 2_097_152)]
    pub patterns: usize,
    /// Symbols of each pattern
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub length: usize,
    /// Locate up to N occurrences of each pattern too
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub limit: usize,
    /// The GPU to measure: cuda or cuda:N; cpu or auto measures the CPU alone
    #[arg(long, default_value = "cuda", value_parser = device)]
    pub device: Device,
    /// Threads that search or pack patterns; 0 is one per core
    #[arg(short = 'T', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Runs, of which the best and the median are said
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
}
