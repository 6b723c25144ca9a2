//! `bwz bench`: measures the speed of compressing and decompressing whole files, and the compressed
//! size. Everything is in memory: no file is read or written while the clock runs. With `--sort` it
//! measures suffix sorts alone (`bench_sorts`). `cargo bench` measures other stages (`benches/`).

use crate::cli::arguments::args::{BenchArgs, Talk};
use crate::cli::arguments::size::{human, ratio_text};
use crate::cli::bench_line::say;
use crate::cli::bench_sorts::SortBench;
use crate::cli::files::input::OpenInput;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity};
use crate::cli::report::exit::Exit;
use bwz::{Options, Result};
use std::io::Read;
use std::time::Instant;

/// Bytes of text to generate if no file is named.
const GENERATED: usize = 16 << 20;

/// Measures each file, or generated text if no file is named.
pub(super) fn run(args: &BenchArgs) -> Exit {
    if args.sort.is_empty() {
        return with_texts(args, Bench::new(args), Bench::report);
    }
    with_texts(args, SortBench::new(args), SortBench::report)
}

/// Calls `report` with the name and the bytes of each file, or with generated text.
fn with_texts<B>(
    args: &BenchArgs,
    bench: Result<B>,
    report: impl Fn(&mut B, &str, &[u8]) -> Result<()>,
) -> Exit {
    let mut bench = match bench {
        Ok(bench) => bench,
        Err(e) => return console::fail(&e),
    };
    if !args.files.is_empty() {
        let talk = Talk {
            verbose: 0,
            quiet: false,
            no_progress: true,
        };
        return named_files::each(
            &args.files,
            Directories::Refused,
            talk,
            Activity::Compressing,
            |name| {
                let mut text = Vec::new();
                OpenInput::open(name, true)?
                    .source
                    .read_to_end(&mut text)?;
                report(&mut bench, &name.to_string(), &text)
            },
        );
    }
    match report(&mut bench, "(generated text)", &generated(GENERATED)) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e),
    }
}

struct Bench {
    options: Options,
    threads: usize,
    runs: usize,
}

impl Bench {
    fn new(args: &BenchArgs) -> Result<Self> {
        let threads = args.resources.thread_count();
        let options = args
            .resources
            .options()
            .effort(args.effort.chosen());
        let options = args.block_size.add_to(options)?;
        Ok(Bench {
            options,
            threads,
            runs: args.runs.into(),
        })
    }

    /// Prints the table of one text.
    fn report(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let block = human(self.options.block_size());
        let threads = self.threads;
        say(format_args!(
            "{name}: {} bytes, blocks of {block}, threads {threads}, median of {}",
            text.len(),
            self.runs
        ))?;
        if text.is_empty() {
            return say(format_args!("nothing to measure"));
        }
        say(format_args!(
            "{:<12} {:>10} {:>13} {:>8}",
            "", "MB/s", "bytes", "ratio"
        ))?;
        let (speed, file) = self.time(text, || {
            let mut file = Vec::new();
            bwz::compress(text, &mut file, &self.options).map(|_| file)
        })?;
        let ratio = ratio_text(text.len() as u64, file.len() as u64);
        say(format_args!(
            "{:<12} {speed:>10.1} {:>13} {ratio:>8}",
            "compress",
            file.len()
        ))?;
        let (speed, restored) = self.time(text, || {
            let mut restored = Vec::with_capacity(text.len());
            bwz::decompress(&file[..], &mut restored, &self.options).map(|_| restored)
        })?;
        assert!(restored == text, "decompression does not restore the input");
        say(format_args!("{:<12} {speed:>10.1}", "decompress"))
    }

    /// Returns the median speed of `work` on `text` in MB/s, and the result of `work`.
    fn time<T>(&self, text: &[u8], mut work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
        let mut seconds = Vec::new();
        loop {
            let started = Instant::now();
            let made = work()?;
            seconds.push(started.elapsed().as_secs_f64());
            if seconds.len() == self.runs {
                seconds.sort_by(f64::total_cmp);
                let median = seconds[seconds.len() / 2].max(1e-9);
                return Ok((text.len() as f64 / 1e6 / median, made));
            }
        }
    }
}

/// Generates text of words whose frequencies differ widely. The generator gives the same text on
/// every machine.
fn generated(size: usize) -> Vec<u8> {
    const SYLLABLES: [&str; 16] = [
        "an", "ber", "co", "da", "el", "fi", "gor", "hu", "is", "jo", "ka", "lu", "mer", "no",
        "or", "pe",
    ];
    let mut text = Vec::with_capacity(size + 64);
    let mut state = 1_u64;
    while text.len() < size {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let rank = state >> 60;
        let mut word = state >> 33 & 0xFFF;
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
