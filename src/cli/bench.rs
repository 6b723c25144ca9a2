//! `bwz bench`: speed and size in memory, of each stage alone and of all together. Nothing is read
//! or written meanwhile.
//!
//! Stages run as they do inside the library, on a pool of as many threads as `-T` says: segments of
//! all blocks are coded side by side, blocks are sorted and restored one after another. End to end,
//! all of this goes on at the same time.

use super::args::Talk;
use super::bench_args::{BenchArgs, Stage};
use super::console::{self, Task, printable};
use super::descriptors;
use super::exit::Exit;
use super::files;
use super::input::Input;
use super::size::{human, ratio_text};
use super::{bench_inverse, bench_search, bench_sort};
use bwz::bwt::{self, Bwt, Sorter};
use bwz::{Device, Effort, Error, Options, Result, coder};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io::{self, Read, Write};
use std::time::Instant;

/// Text to generate where no file is named.
const GENERATED: usize = 16 << 20;

/// Measures with each file, or with generated text.
pub fn run(args: &BenchArgs) -> Exit {
    match &args.stage {
        Some(Stage::Sort(args)) => return bench_sort::run(args),
        Some(Stage::Search(args)) => return bench_search::run(args),
        Some(Stage::Inverse(args)) => return bench_inverse::run(args),
        None => (),
    }
    let bench = match Bench::new(args) {
        Ok(bench) => bench,
        Err(e) => return console::fail(&e),
    };
    if !args.files.is_empty() {
        let talk = Talk { verbose: 0, quiet: false, no_progress: true };
        return files::each(&args.files, None, talk, Task::Compressing, |name| {
            let mut text = Vec::new();
            Input::open(name, true)?.source.read_to_end(&mut text)?;
            bench.report(&name.to_string(), &text)
        });
    }
    match bench.report("(generated text)", &generated(GENERATED)) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e),
    }
}

struct Bench {
    options: Options,
    device: Device,
    effort: Effort,
    runs: usize,
    pool: ThreadPool,
}

/// A block's BWT in coded segments.
struct Coded {
    segment_log: u8,
    segments: Vec<Vec<u8>>,
}

impl Bench {
    fn new(args: &BenchArgs) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(args.resources.threads.into()).build();
        Ok(Bench {
            options: args.resources.options().effort(args.effort.chosen()).level(args.level.0)?,
            effort: args.effort.chosen(),
            device: args.resources.device,
            runs: args.runs.into(),
            pool: pool.map_err(|e| Error::Io(io::Error::other(e)))?,
        })
    }

    /// Prints the table of one text.
    fn report(&self, name: &str, text: &[u8]) -> Result<()> {
        let (block, threads) =
            (human(self.options.block_size().into()), self.pool.current_num_threads());
        say(format_args!(
            "{name}: {} bytes, blocks of {block}, threads {threads}, median of {}",
            text.len(),
            self.runs
        ))?;
        if text.is_empty() {
            return say(format_args!("nothing to measure"));
        }
        say(format_args!("{:<12} {:>10} {:>13} {:>8}", "stage", "MB/s", "bytes", "ratio"))?;
        self.stages(text)?;
        self.end_to_end(text)
    }

    fn stages(&self, text: &[u8]) -> Result<()> {
        let mut sorter = Sorter::new(self.device)?;
        let blocks: Vec<&[u8]> = text.chunks(self.options.block_size() as usize).collect();
        let threads = if blocks.len() == 1 { self.pool.current_num_threads() } else { 1 };
        let sort = |block: &&[u8]| sorter.sort_on(threads, block, bwt::sample_rate(block.len()));
        let (speed, sorted) = self.time(text, each(&blocks, sort))?;
        row("sort", speed, text.len(), None)?;

        let (speed, coded) =
            self.time(text, side_by_side(&sorted, |bwt| Ok(encode(bwt, self.effort))))?;
        let size = coded.iter().flat_map(|block| &block.segments).map(Vec::len).sum();
        row("encode", speed, text.len(), Some(size))?;

        let lengths: Vec<usize> = sorted.iter().map(|bwt| bwt.bytes.len()).collect();
        let jobs: Vec<(&Coded, usize)> = coded.iter().zip(lengths).collect();
        let (speed, decoded) =
            self.time(text, side_by_side(&jobs, |(coded, length)| decode(coded, *length)))?;
        row("decode", speed, text.len(), None)?;
        check(decoded.iter().eq(sorted.iter().map(|bwt| &bwt.bytes)))?;

        let invert = |bwt: &Bwt| bwt::invert(bwt.clone()).map_err(broken);
        let (speed, restored) = self.time(text, each(&sorted, invert))?;
        row("invert", speed, text.len(), None)?;
        check(restored.concat() == text)
    }

    fn end_to_end(&self, text: &[u8]) -> Result<()> {
        let (speed, file) = self.time(text, || {
            let mut file = Vec::new();
            bwz::compress(text, &mut file, &self.options).map(|_| file)
        })?;
        row("compress", speed, text.len(), Some(file.len()))?;
        let (speed, restored) = self.time(text, || {
            let mut restored = Vec::with_capacity(text.len());
            bwz::decompress(&file[..], &mut restored, &self.options).map(|_| restored)
        })?;
        row("decompress", speed, text.len(), None)?;
        check(restored == text)
    }

    /// The median speed of `work` on `text` in MB/s, and what it made.
    fn time<T: Send>(
        &self,
        text: &[u8],
        mut work: impl FnMut() -> Result<T> + Send,
    ) -> Result<(f64, T)> {
        let mut seconds = Vec::new();
        let mut made = None;
        for _ in 0..self.runs {
            drop(made.take());
            let started = Instant::now();
            made = Some(self.pool.install(&mut work)?);
            seconds.push(started.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2].max(1e-9);
        Ok((text.len() as f64 / 1e6 / median, made.expect("there is at least one run")))
    }
}

/// A stage: `work` on one item after the other.
fn each<'a, A, B>(
    items: &'a [A],
    mut work: impl FnMut(&A) -> Result<B> + 'a,
) -> impl FnMut() -> Result<Vec<B>> + 'a {
    move || items.iter().map(&mut work).collect()
}

/// A stage: `work` on all items at a time.
fn side_by_side<'a, A: Sync, B: Send>(
    items: &'a [A],
    work: impl Fn(&A) -> Result<B> + Sync + 'a,
) -> impl FnMut() -> Result<Vec<B>> + 'a {
    move || items.par_iter().map(&work).collect()
}

fn encode(bwt: &Bwt, effort: Effort) -> Coded {
    let segment_log = coder::segment_log(&bwt.bytes, effort);
    let segments = coder::encode_segments(&bwt.bytes, segment_log, effort);
    Coded { segment_log, segments }
}

fn decode(coded: &Coded, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    coder::decode_segments(coded.segment_log, &coded.segments, &mut bytes)
        .map_err(|flaw| broken(flaw.at(None, 0)))?;
    Ok(bytes)
}

/// Damage in what a stage made itself is a bug: no input is to blame.
fn broken(error: Error) -> Error {
    if let Error::Format { what, .. } = error {
        panic!("a stage does not take back what it made: {what}");
    }
    error
}

fn check(same: bool) -> Result<()> {
    assert!(same, "a stage does not give back what went in");
    Ok(())
}

fn row(stage: &str, speed: f64, raw: usize, size: Option<usize>) -> Result<()> {
    let Some(size) = size else {
        return say(format_args!("{stage:<12} {speed:>10.1}"));
    };
    let ratio = ratio_text(raw as u64, size as u64);
    say(format_args!("{stage:<12} {speed:>10.1} {size:>13} {ratio:>8}"))
}

/// A line on standard output, at once: the next one may take a while.
pub fn say(line: std::fmt::Arguments) -> Result<()> {
    Ok(descriptors::stdout()?.write_all((printable(&line.to_string()) + "\n").as_bytes())?)
}

/// Words drawn by a generator that is the same everywhere; some words are much more frequent than
/// others.
fn generated(size: usize) -> Vec<u8> {
    const SYLLABLES: [&str; 16] = [
        "an", "ber", "co", "da", "el", "fi", "gor", "hu", "is", "jo", "ka", "lu", "mer", "no",
        "or", "pe",
    ];
    let mut text = Vec::with_capacity(size + 64);
    let mut state = 1_u64;
    while text.len() < size {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (rank, mut word) = (state >> 60, state >> 33 & 0xFFF);
        word >>= rank.min(11);
        while word > 0 {
            text.extend(SYLLABLES[word as usize & 15].as_bytes());
            word >>= 4;
        }
        text.push(if state >> 28 & 15 == 0 { b'\n' } else { b' ' });
    }
    text.truncate(size);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_text_is_always_the_same() {
        let text = generated(1000);
        assert_eq!(text.len(), 1000);
        assert!(generated(2000).starts_with(&text));
    }
}
