//! bwz against its peers, as whole processes in one run:
//! `cargo bench --bench peers -- [-n RUNS] [-T THREADS] [--only NAME,...] [--csv CSV] [FILE...]`.
//!
//! Every program takes its turn in every round, so that a machine whose speed drifts is equally
//! unfair to all. A program that has taken 4 seconds does not run again. Prints medians: MB/s of
//! raw bytes each way, the ratio to the first program (`lbzip2 -9`), exact size and peak memory.
//! `--csv` writes them to a file from which `benches/plot.py` draws. Peers are the installed
//! programs of Debian; the others are listed as missing.

mod common;

use clap::Parser;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const BWZ: &str = env!("CARGO_BIN_EXE_bwz");

/// Seconds after which a program is not run again on the same file.
const ENOUGH: f64 = 4.0;

/// Name, program, levels, and arguments each way, in which @ is replaced by the number of threads.
/// All programs read standard input and write standard output.
const PROGRAMS: [(&str, &str, &[&str], &str, &str); 7] = [
    ("lbzip2", "lbzip2", &["-9", "-1"], "-n@", "-d -n@"),
    (
        "bwz",
        BWZ,
        &[
            "-1",
            "-3",
            "-6",
            "-9",
            "-6 --fast",
            "-1 --best",
            "-6 --best",
            "-9 --best",
        ],
        "-T@",
        "-d -T@",
    ),
    ("bzip3", "bzip3", &["-b 1", "-b 32"], "-e -j@", "-d -j@"),
    ("bzip2", "bzip2", &["-1", "-9"], "", "-d"),
    (
        "zstd",
        "zstd",
        &["-1", "-3", "-12", "-19"],
        "-q -T@",
        "-q -d",
    ),
    ("xz", "xz", &["-0", "-2", "-6", "-9e"], "-T@", "-d -T@"),
    ("brotli", "brotli", &["-q 2", "-q 5", "-q 9"], "-w 24", "-d"),
];

/// Measure bwz against its peers
#[derive(Parser)]
struct Bench {
    /// Files to measure with; none is generated text
    files: Vec<PathBuf>,
    /// Rounds, of which the median counts
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Threads of the programs that have several
    #[arg(short = 'T', long, value_name = "N", default_value_t = 2)]
    threads: u16,
    /// Run these programs only
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Write the figures to this file too
    #[arg(long, value_name = "CSV")]
    csv: Option<PathBuf>,
    /// Cargo passes it to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A program at a level, and the costs of its runs each way.
struct Entry {
    name: &'static str,
    program: &'static str,
    level: &'static str,
    compress: String,
    decompress: String,
    there: Vec<Cost>,
    back: Vec<Cost>,
    size: u64,
}

/// Seconds and peak megabytes of a run.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    peak: f64,
}

fn main() -> io::Result<()> {
    let mut bench = Bench::parse();
    let folder = std::env::temp_dir().join(format!("bwz-peers-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    if bench.files.is_empty() {
        bench.files.push(folder.join("generated-text"));
        fs::write(&bench.files[0], common::generated())?;
    }
    let result = bench.run(&folder);
    fs::remove_dir_all(&folder)?;
    result
}

impl Bench {
    fn run(&self, folder: &Path) -> io::Result<()> {
        let mut csv: Box<dyn Write> = match &self.csv {
            Some(path) => Box::new(File::create(path)?),
            None => Box::new(io::sink()),
        };
        writeln!(
            csv,
            "program,level,file,raw bytes,bytes,compress MB/s,decompress MB/s,compress MB,\
             decompress MB,runs,threads,machine"
        )?;
        for file in &self.files {
            let raw = fs::metadata(file)?.len();
            let entries = self.measure(file, folder)?;
            println!("{}: {raw} bytes, medians of {}", file.display(), self.runs);
            print(raw, &entries);
            let name = file.file_name().unwrap_or_default().display();
            for entry in entries {
                let [there, back] = entry.costs();
                let speeds = [there, back].map(|cost| raw as f64 / 1e6 / cost.seconds);
                let Entry {
                    name: program,
                    level,
                    size,
                    ..
                } = entry;
                writeln!(
                    csv,
                    "{program},{level},{name},{raw},{size},{:.2},{:.2},{:.1},{:.1},{},{},{}",
                    speeds[0],
                    speeds[1],
                    there.peak,
                    back.peak,
                    entry.there.len(),
                    self.threads,
                    machine()
                )?;
            }
        }
        Ok(())
    }

    /// Times all programs on one file.
    fn measure(&self, file: &Path, folder: &Path) -> io::Result<Vec<Entry>> {
        let [restored, coded] = ["restored", "coded"].map(|name| folder.join(name));
        let mut entries = self.entries();
        for round in 0..self.runs {
            for entry in entries
                .iter_mut()
                .filter(|entry| entry.seconds() < ENOUGH)
            {
                let there = run(entry.program, &entry.compress, file, &coded)?;
                let back = run(entry.program, &entry.decompress, &coded, &restored)?;
                entry.there.push(there);
                entry.back.push(back);
                entry.size = fs::metadata(&coded)?.len();
                let same = round > 0 || are_equal(file, &restored)?;
                assert!(same, "{} does not restore the file", entry.name);
            }
        }
        Ok(entries)
    }

    /// The entries to measure, for all installed programs.
    fn entries(&self) -> Vec<Entry> {
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|n| n == name);
        let mut entries = Vec::new();
        for (name, program, levels, compress, decompress) in PROGRAMS {
            if wanted(name) && !is_installed(program) {
                println!("{name} is not installed");
            } else if wanted(name) {
                let full = |args: &str| args.replace('@', &self.threads.to_string());
                entries.extend(levels.iter().map(|level| Entry {
                    name,
                    program,
                    level,
                    compress: full(&format!("{level} {compress}")),
                    decompress: full(decompress),
                    there: Vec::new(),
                    back: Vec::new(),
                    size: 0,
                }));
            }
        }
        entries
    }
}

impl Entry {
    /// Total seconds of its runs so far.
    fn seconds(&self) -> f64 {
        self.there
            .iter()
            .chain(&self.back)
            .map(|cost| cost.seconds)
            .sum()
    }

    /// The medians each way.
    fn costs(&self) -> [Cost; 2] {
        [median(&self.there), median(&self.back)]
    }
}

fn print(raw: u64, entries: &[Entry]) {
    println!(
        "{:<16}{:>11}{:>9}{:>7}{:>7}{:>9}{:>7}{:>7}",
        "", "bytes", "c MB/s", "ratio", "MB", "d MB/s", "ratio", "MB"
    );
    let Some(base) = entries.first().map(Entry::costs) else {
        return;
    };
    for entry in entries {
        print!(
            "{:<16}{:>11}",
            format!("{} {}", entry.name, entry.level),
            entry.size
        );
        for (cost, base) in entry.costs().iter().zip(base) {
            let speed = raw as f64 / 1e6 / cost.seconds;
            print!(
                "{speed:>9.1}{:>7.2}{:>7.1}",
                base.seconds / cost.seconds,
                cost.peak
            );
        }
        println!();
    }
}

/// The name of the processor and the number of cores available to this process.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{} x {cores}",
        model
            .map_or("unknown", |(_, name)| name)
            .replace(',', "")
    )
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok()
}

/// True if two files are equal. They are not read as wholes: the memory of this process when it
/// starts a program counts as part of that program's peak memory.
fn are_equal(one: &Path, other: &Path) -> io::Result<bool> {
    let [mut one, mut other] = [
        BufReader::new(File::open(one)?),
        BufReader::new(File::open(other)?),
    ];
    loop {
        let bytes = one.fill_buf()?;
        let others = other.fill_buf()?;
        let len = bytes.len().min(others.len());
        if bytes[..len] != others[..len] || len == 0 {
            return Ok(bytes == others);
        }
        one.consume(len);
        other.consume(len);
    }
}

/// Runs a filter from one file to another.
fn run(program: &str, args: &str, from: &Path, to: &Path) -> io::Result<Cost> {
    let mut command = Command::new(program);
    command
        .args(args.split_whitespace())
        .stdin(File::open(from)?)
        .stdout(File::create(to)?);
    let start = Instant::now();
    let peak = peak_of(command.spawn()?.id())?;
    Ok(Cost {
        seconds: start.elapsed().as_secs_f64(),
        peak,
    })
}

/// Waits for a child and returns its peak memory in megabytes.
fn peak_of(pid: u32) -> io::Result<f64> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the types that wait4 writes.
    if unsafe { libc::wait4(pid as i32, &mut status, 0, &mut usage) } < 0 {
        return Err(io::Error::last_os_error());
    }
    assert_eq!(status, 0, "a program failed");
    Ok(usage.ru_maxrss as f64 * 1024.0 / 1e6)
}

fn median(costs: &[Cost]) -> Cost {
    let middle = |value: fn(&Cost) -> f64| {
        let mut values: Vec<f64> = costs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[(values.len() - 1) / 2]
    };
    Cost {
        seconds: middle(|cost| cost.seconds),
        peak: middle(|cost| cost.peak),
    }
}
