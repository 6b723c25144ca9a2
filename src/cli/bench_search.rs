//! `bwz bench search`: many patterns in an index in memory, each file as one block, on the CPU and
//! on a GPU.
//!
//! Patterns are cut from all over the text, the same at every run. For each way, the best and the
//! median of all runs, in millions of symbols of pattern per second:
//!
//! - `one thread`: the CPU on one thread, with a part of the patterns,
//! - `cpu`: on all threads,
//! - `cuda`: on a GPU; packing the patterns, copying them, and copying the intervals back included.
//!   The index and the memory are there, as they are after the first search; what that takes is
//!   said apart.
//!
//! With `--limit`, positions are located too, in millions per second. What a GPU finds is compared
//! with what the CPU finds.

use super::args::Talk;
use super::bench::say;
use super::bench_args::SearchBenchArgs;
use super::console::Task;
use super::exit::Exit;
use super::files;
use super::input::Input;
use bwz::bwt::{self, Sorter};
use bwz::fm_index::FmIndex;
use bwz::{Device, Error, Result, gpu};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io::{self, Read};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Patterns that one thread searches.
const FEW: usize = 100_000;

/// Sampled positions for `--limit`.
const RATE: u32 = 8;

/// Backward search in the paper from which the GPU sorter `skew-pd` comes.
const PUBLISHED: &str = "published for a GPU, a K20c of 2012: 28.6 and 77 M symbols/s";

/// Measures with each file.
pub fn run(args: &SearchBenchArgs) -> Exit {
    let talk = Talk { verbose: 0, quiet: false, no_progress: true };
    files::each(&args.files, None, talk, Task::Compressing, |name| {
        let mut text = Vec::new();
        Input::open(name, true)?.source.read_to_end(&mut text)?;
        if text.len() < args.length.max(1) {
            return Err(Error::Usage("it is shorter than a pattern".into()));
        }
        let (count, length) = (args.patterns, args.length);
        say(format_args!("{name}: {} bytes, {count} patterns of {length} symbols", text.len()))?;
        one(args, &text)
    })
}

/// A way to search, and what it was measured to do.
struct Way<'a> {
    args: &'a SearchBenchArgs,
    index: &'a FmIndex,
    pool: &'a ThreadPool,
    name: &'a str,
}

fn one(args: &SearchBenchArgs, text: &[u8]) -> Result<()> {
    let mut index = FmIndex::new(Sorter::Cpu.sort(text, bwt::sample_rate(text.len()))?)?;
    if args.limit > 0 {
        index = index.with_sample_rate(RATE)?;
    }
    let patterns = patterns(text, args);
    let (alone, all) = (pool(1)?, pool(args.threads.into())?);
    let few = &patterns[..patterns.len().min(FEW)];
    let cpu = |name, pool| Way { args, index: &index, pool, name };
    cpu("one thread", &alone).measure(None, few)?;
    let expected = cpu("cpu", &all).measure(None, &patterns)?;
    let bits = index.size() as f64 * 8.0 / text.len() as f64;
    say(format_args!("    {bits:.1} bits of memory per symbol of text"))?;
    let Device::Cuda(number) = args.device else {
        return Ok(());
    };
    let started = Instant::now();
    let mut gpu = gpu::Searcher::new(number)?;
    let opened = started.elapsed();
    let started = Instant::now();
    all.install(|| index.search_on(&mut gpu, &patterns, &mut vec![0..0; patterns.len()]))?;
    let (opened, loaded) = (1e3 * opened.as_secs_f64(), 1e3 * started.elapsed().as_secs_f64());
    let found = cpu("cuda", &all).measure(Some(&mut gpu), &patterns)?;
    say(format_args!("    {opened:.0} ms to open it, {loaded:.0} ms for the first search"))?;
    say(format_args!("    {PUBLISHED}"))?;
    let same = |(a, b): (&Range<u32>, &Range<u32>)| a == b || a.is_empty() && b.is_empty();
    assert!(expected.0.iter().zip(&found.0).all(same), "a GPU counts what the CPU does not");
    assert!(expected.1 == found.1, "a GPU locates what the CPU does not");
    Ok(())
}

/// Patterns from all over the text.
fn patterns<'t>(text: &'t [u8], args: &SearchBenchArgs) -> Vec<&'t [u8]> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = state as usize % (text.len() - args.length + 1);
        &text[at..at + args.length]
    };
    (0..args.patterns).map(|_| next()).collect()
}

fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Io(io::Error::other(e)))
}

impl Way<'_> {
    /// Prints the speed, and gives what was found: intervals and positions.
    fn measure(
        &self,
        mut gpu: Option<&mut gpu::Searcher>,
        patterns: &[&[u8]],
    ) -> Result<(Vec<Range<u32>>, Vec<u32>)> {
        let mut intervals = vec![0..0; patterns.len()];
        let times = self.time(|| match &mut gpu {
            Some(gpu) => self.index.search_on(gpu, patterns, &mut intervals),
            None => {
                self.index.search(patterns, &mut intervals);
                Ok(())
            }
        })?;
        self.row(patterns.len() * self.args.length, &times, "symbols/s")?;
        let rows: Vec<u32> =
            intervals.iter().flat_map(|rows| rows.clone().take(self.args.limit)).collect();
        let mut positions = Vec::new();
        if !rows.is_empty() {
            let times = self.time(|| {
                positions = match &mut gpu {
                    Some(gpu) => self.index.positions_on(gpu, &rows)?,
                    None => self.index.positions(&rows)?,
                };
                Ok(())
            })?;
            self.row(rows.len(), &times, "positions/s")?;
        }
        Ok((intervals, positions))
    }

    /// The times of all runs, in order.
    fn time(&self, mut work: impl FnMut() -> Result<()> + Send) -> Result<Vec<Duration>> {
        let mut times = Vec::new();
        for _ in 0..self.args.runs {
            let start = Instant::now();
            self.pool.install(&mut work)?;
            times.push(start.elapsed());
        }
        times.sort();
        Ok(times)
    }

    fn row(&self, items: usize, times: &[Duration], unit: &str) -> Result<()> {
        let speed = |time: Duration| items as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        let (best, median) = (speed(times[0]), speed(times[times.len() / 2]));
        say(format_args!("  {:<10} {best:>9.1} {median:>9.1} M {unit}", self.name))
    }
}
