//! bwz against its peers, as whole processes in one run:
//! `cargo bench --bench peers -- [-n RUNS] [FILE...]`.
//!
//! Every program takes its turn in every round, so that a machine whose speed drifts is unfair to
//! all alike. Printed are medians: MB/s of raw bytes each way, the ratio to the first peer found,
//! exact size and peak memory. Peers are those of Debian (lbzip2, bzip3, bzip2, zstd, xz) that are
//! installed; the others are named as missing.

#[path = "../tests/common/cases.rs"]
#[allow(dead_code, reason = "only the text generator is used")]
mod cases;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const BWZ: &str = env!("CARGO_BIN_EXE_bwz");

/// Name, program, and arguments each way; all read standard input and write standard output.
const PEERS: [(&str, &str, &str, &str); 10] = [
    ("lbzip2 -9 -n2", "lbzip2", "-9 -n2", "-d -n2"),
    ("bwz -6 -T2", BWZ, "-6 -T2", "-d -T2"),
    ("bwz -9 -T2", BWZ, "-9 -T2", "-d -T2"),
    ("bwz -6 --fast -T2", BWZ, "-6 --fast -T2", "-d -T2"),
    ("bwz -9 --best -T2", BWZ, "-9 --best -T2", "-d -T2"),
    ("bwz -6 -T1", BWZ, "-6 -T1", "-d -T1"),
    ("bzip3 -b32 -j2", "bzip3", "-e -b 32 -j 2", "-d -j 2"),
    ("bzip2 -9", "bzip2", "-9", "-d"),
    ("zstd -12 -T2", "zstd", "-q -12 -T2", "-q -d"),
    ("xz -2 -T2", "xz", "-2 -T2", "-d -T2"),
];

/// Seconds and peak megabytes of a run.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    peak: f64,
}

fn main() -> io::Result<()> {
    let (mut runs, mut files) = (5, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-n" => runs = args.next().and_then(|n| n.parse().ok()).expect("-n takes a number"),
            "--bench" => {}
            _ => files.push(PathBuf::from(arg)),
        }
    }
    let folder = std::env::temp_dir().join(format!("bwz-peers-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    if files.is_empty() {
        files.push(folder.join("generated-text"));
        fs::write(&files[0], cases::text(16_000_000))?;
    }
    let result = files.iter().try_for_each(|file| compare(file, &folder, runs));
    fs::remove_dir_all(&folder)?;
    result
}

/// Times all peers on one file and prints their table.
fn compare(file: &Path, folder: &Path, runs: usize) -> io::Result<()> {
    let (here, missing): (Vec<_>, Vec<_>) = PEERS.iter().partition(|peer| is_installed(peer.1));
    let mut costs = vec![(Vec::new(), Vec::new()); here.len()];
    let (raw, back) = (fs::read(file)?, folder.join("back"));
    // Round 0 warms up and checks, and is not counted.
    for round in 0..=runs {
        for (n, (name, program, compress, decompress)) in here.iter().enumerate() {
            let coded = folder.join(n.to_string());
            let there = run(program, compress, file, &coded)?;
            let again = run(program, decompress, &coded, &back)?;
            if round > 0 {
                costs[n].0.push(there);
                costs[n].1.push(again);
            } else {
                assert!(fs::read(&back)? == raw, "{name} does not restore the file");
            }
        }
    }
    println!("{}: {} bytes, medians of {runs}", file.display(), raw.len());
    println!(
        "{:<16}{:>11}{:>9}{:>7}{:>7}{:>9}{:>7}{:>7}",
        "", "bytes", "c MB/s", "ratio", "MB", "d MB/s", "ratio", "MB"
    );
    let base = costs.first().map(|(there, again)| (median(there).seconds, median(again).seconds));
    let base = base.unwrap_or((1.0, 1.0));
    for (n, (name, ..)) in here.iter().enumerate() {
        let size = fs::metadata(folder.join(n.to_string()))?.len();
        print!("{name:<16}{size:>11}");
        for (cost, base) in [(median(&costs[n].0), base.0), (median(&costs[n].1), base.1)] {
            let speed = raw.len() as f64 / 1e6 / cost.seconds;
            print!("{speed:>9.1}{:>7.2}{:>7.1}", base / cost.seconds, cost.peak);
        }
        println!();
    }
    missing.iter().for_each(|peer| println!("{:<16} is not installed", peer.0));
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Runs a filter from one file to another.
fn run(program: &str, args: &str, from: &Path, to: &Path) -> io::Result<Cost> {
    let mut command = Command::new(program);
    command.args(args.split(' ')).stdin(File::open(from)?).stdout(File::create(to)?);
    let start = Instant::now();
    let peak = peak_of(command.spawn()?.id())?;
    Ok(Cost { seconds: start.elapsed().as_secs_f64(), peak })
}

/// Waits for a child and gives its peak memory in megabytes.
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
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Cost { seconds: middle(|cost| cost.seconds), peak: middle(|cost| cost.peak) }
}
