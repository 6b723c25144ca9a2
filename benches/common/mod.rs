//! Code shared by the benches: their arguments, the texts, and the rows of their tables.
//!
//! Each bench is a program that needs no other file, and no cargo. A program built by
//! `cargo bench --no-run` runs on any machine with a processor of that kind.

#![allow(dead_code, reason = "each bench uses a part")]

#[path = "../../tests/common/cases.rs"]
mod cases;
pub mod random_queries;

use bwz::bwt::{self, Bwt};
use bwz::{Error, Result, cuda};
use clap::Args;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Common {
    /// Files to measure with, held in memory; FILE@BYTES is the first BYTES of FILE, and none is
    /// generated text
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Runs, of which the best and the median are printed
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    /// Threads of the CPU; 0 is one per core
    #[arg(short = 'T', long, value_name = "N", default_value_t = 0)]
    threads: u16,
    /// Cargo passes it to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

impl Common {
    /// True if a file is named.
    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Measures with each text in turn.
    pub fn each(&self, mut measure: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.files.is_empty() {
            return self.report("generated text", &generated(), measure);
        }
        self.files
            .iter()
            .try_for_each(|name| self.report(name, &read(name)?, &mut measure))
    }

    /// Measures with a text of this name.
    pub fn report(
        &self,
        name: &str,
        text: &[u8],
        measure: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        println!(
            "{name}: {} bytes, best and median of {}",
            text.len(),
            self.runs
        );
        if text.is_empty() {
            return Err(Error::Usage("there is nothing to measure".into()));
        }
        measure(text)
    }

    /// The threads of the CPU.
    pub fn pool(&self) -> Result<ThreadPool> {
        pool(self.threads.into())
    }

    /// Times `work` on the values that `prepare` returns, and returns the result of the last run.
    pub fn time<A, B>(
        &self,
        mut prepare: impl FnMut() -> Result<A>,
        mut work: impl FnMut(A) -> Result<B>,
    ) -> Result<(Times, B)> {
        let mut times = Vec::new();
        loop {
            let input = prepare()?;
            let start = Instant::now();
            let made = work(input)?;
            times.push(start.elapsed());
            if times.len() == usize::from(self.runs) {
                return Ok((Times::new(times), made));
            }
        }
    }
}

/// The first `len` letters of the Fibonacci word.
pub fn fibonacci(len: usize) -> Vec<u8> {
    cases::fibonacci(len)
}

/// All named shapes of texts, of about `len` bytes.
pub fn shapes(len: usize) -> Vec<(String, Vec<u8>)> {
    cases::shapes(len)
}

/// The text that is measured if no file is named.
pub fn generated() -> Vec<u8> {
    cases::text(1 << 24)
}

/// Reads FILE or FILE@BYTES.
fn read(name: &str) -> Result<Vec<u8>> {
    let cut = name
        .rsplit_once('@')
        .and_then(|(path, len)| Some((path, len.parse().ok()?)));
    let (path, len) = cut.unwrap_or((name, usize::MAX));
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{path}: {e}"));
    let mut text = std::fs::read(path).map_err(named)?;
    text.truncate(len);
    Ok(text)
}

/// A GPU, with the CPU beside it.
#[derive(Args)]
pub struct Devices {
    /// The number of the GPU to measure [default: 0 where there is one]
    #[arg(long, value_name = "N")]
    gpu: Option<u32>,
    /// Measure the CPU alone
    #[arg(long, conflicts_with = "gpu")]
    no_gpu: bool,
    /// Leave out the CPU
    #[arg(long)]
    pub no_cpu: bool,
}

impl Devices {
    /// The GPU to measure, if any.
    pub fn gpu(&self) -> Option<u32> {
        let first = || {
            cuda::devices()
                .ok()?
                .first()
                .map(|device| device.number)
        };
        if self.no_gpu {
            None
        } else {
            self.gpu.or_else(first)
        }
    }
}

/// The times of the runs, shortest first.
pub struct Times(Vec<Duration>);

impl Times {
    pub fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Times(times)
    }

    /// The shortest time.
    pub fn best(&self) -> Duration {
        self.0[0]
    }

    /// Prints a row: the best and the median, in millions of items per second.
    pub fn row(&self, name: &str, items: usize, unit: &str, note: &str) {
        let speed = |time: Duration| items as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        let best = speed(self.0[0]);
        let median = speed(self.0[self.0.len() / 2]);
        println!("  {name:<10} {best:>9.1} {median:>9.1} {unit} {note}");
    }
}

/// A pool of `threads` threads; 0 means one per core.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build();
    pool.map_err(|e| Error::Io(io::Error::other(e)))
}

/// Inverts a transform on the CPU and compares the result with `text`. The inverse goes from each
/// sampled row to the next, and fails if the samples contradict it.
pub fn prove(transform: Bwt, text: &[u8]) -> Result<()> {
    let pool = pool(0)?;
    let from = Instant::now();
    let restored = pool.install(|| bwt::invert(transform))?;
    assert!(restored == text, "the transform is not that of the text");
    println!(
        "  proved by its inverse in {:.1} s",
        from.elapsed().as_secs_f64()
    );
    Ok(())
}
