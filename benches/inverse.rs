//! Forward and inverse transform in MB/s, against the inverse of libsais in the same run.
//!
//! `cargo bench --bench inverse -- FILE...` takes each file as one block, or its first BYTES as
//! `FILE@BYTES`; without files a text is generated. All figures are medians.

#[path = "../tests/common/cases.rs"]
#[allow(dead_code, reason = "only the text generator is used")]
mod cases;

use bwz::bwt::{Bwt, Sorter, invert, sample_rate};
use libsais::bwt::{AuxIndicesSamplingRate, BwtWithAuxIndices};
use libsais::typestate::OwnedBuffer;
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 5;

fn main() {
    // Cargo hands its own flags on.
    let names: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    println!(
        "{:24} {:>9} {:>7} {:>9} | libsais inverse, plain and",
        "", "bytes", "rate", "forward"
    );
    println!("{:53} with samples | ours, 1 and 2 threads, times libsais plain", "");
    if names.is_empty() {
        report("generated text", &cases::text(1 << 24));
    }
    for name in names {
        report(name.rsplit('/').next().unwrap_or(&name), &read(&name));
    }
}

fn report(name: &str, block: &[u8]) {
    let rate = sample_rate(block.len());
    let bwt = Sorter::Cpu.sort(block, rate).expect("memory to sort");
    let speed = |seconds: f64| block.len() as f64 / 1e6 / seconds;
    let forward = median(3, || time(|| Sorter::Cpu.sort(block, rate)));
    let plain = median(3, || time_libsais_plain(&bwt));
    let sampled = median(3, || time_libsais_sampled(&bwt));
    print!("{name:24} {:9} {rate:7} {:9.1} |", block.len(), speed(forward));
    print!(" {:7.1} {:7.1} |", speed(plain), speed(sampled));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        assert!(pool.install(|| invert(bwt.clone())).is_ok_and(|text| text == block), "wrong text");
        let ours = median(RUNS, || {
            let bwt = bwt.clone();
            pool.install(|| time(|| invert(bwt)))
        });
        print!(" {:7.1} ({:4.1}x)", speed(ours), plain / ours);
    }
    println!();
}

fn time_libsais_plain(bwt: &Bwt) -> f64 {
    let (bytes, primary) = (bwt.bytes.clone(), bwt.samples[0] as usize);
    // SAFETY: the parts come from libsais, by way of `Sorter::Cpu`.
    let bwt = unsafe { libsais::bwt::Bwt::<u8, OwnedBuffer>::from_parts(bytes, primary) };
    time(|| bwt.unbwt().with_owned_temporary_array_buffer32().single_threaded().run())
}

fn time_libsais_sampled(bwt: &Bwt) -> f64 {
    let samples = bwt.samples.iter().map(|row| row.cast_signed()).collect();
    let rate = AuxIndicesSamplingRate::new(bwt.sample_rate.cast_signed());
    // SAFETY: the parts come from libsais, by way of `Sorter::Cpu`.
    let bwt: BwtWithAuxIndices<u8, i32, OwnedBuffer, OwnedBuffer> =
        unsafe { BwtWithAuxIndices::from_parts(bwt.bytes.clone(), samples, rate) };
    time(|| bwt.unbwt().single_threaded().run())
}

fn time<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn median(runs: usize, run: impl FnMut() -> f64) -> f64 {
    let mut times: Vec<f64> = std::iter::repeat_with(run).take(runs).collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

fn read(name: &str) -> Vec<u8> {
    let (path, len) = match name.rsplit_once('@') {
        Some((path, len)) => (path, len.parse().expect("FILE@BYTES")),
        None => (name, usize::MAX),
    };
    let mut block = std::fs::read(path).expect("a readable file");
    block.truncate(len);
    block
}
