//! Suffix array and LCP array by libsais on several threads, as a baseline for GPUs:
//! `cargo run --release --manifest-path benches/libsais/Cargo.toml -- [-n RUNS] [-T N] FILE...`.
//!
//! Prints the best of all runs in MB/s: the suffix array alone, and with the permuted LCP array and
//! the LCP array. FILE may be `a:MB`: the letter a, MB million times.

use libsais::{SuffixArrayConstruction, ThreadCount};
use std::time::{Duration, Instant};

fn main() {
    let mut runs = 4;
    let mut threads = 16;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse().ok()).expect("a number");
        match argument.as_str() {
            "-n" => runs = number(),
            "-T" => threads = number(),
            _ => files.push(argument),
        }
    }
    for name in files {
        let text = match name.strip_prefix("a:") {
            Some(million) => vec![b'a'; million.parse::<usize>().expect("a number") * 1_000_000],
            None => std::fs::read(&name).expect("a file that can be read"),
        };
        let times: Vec<_> = (0..runs).map(|_| time(&text, threads as u16)).collect();
        let speed = |of: fn(&[Duration; 2]) -> Duration| {
            let best = times.iter().map(of).min().expect("a run");
            text.len() as f64 / 1e6 / best.as_secs_f64()
        };
        let sorted = speed(|times| times[0]);
        let all = speed(|times| times[1]);
        println!("{name}: {sorted:.1} MB/s, with LCP {all:.1} MB/s, on {threads} threads");
    }
}

/// The times of the suffix array, and of both arrays.
fn time(text: &[u8], threads: u16) -> [Duration; 2] {
    let start = Instant::now();
    let threads = ThreadCount::fixed(threads);
    let sorting = SuffixArrayConstruction::for_text(text).in_owned_buffer32();
    let sorted = sorting.multi_threaded(threads).run().expect("memory");
    let took = start.elapsed();
    let permuted = sorted.plcp_construction().multi_threaded(threads).run().expect("memory");
    let lcp = permuted.lcp_construction().multi_threaded(threads).run().expect("memory");
    let all = start.elapsed();
    assert_eq!(lcp.lcp().len(), text.len());
    [took, all]
}
