//! Suffix arrays with LCP arrays, and the longest common regions of two sequences:
//! `cargo bench --bench lcp -- [--bases MB,...] [--shape MB] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s for each file: first libsais with its
//! permuted LCP array on one thread (`benches/libsais` has it on several), then a GPU:
//!
//! - `with copies`: from the host's pinned memory to its pinned memory, with both arrays in the
//!   form in which they cross the bus: an LCP value takes one byte, or 5; a suffix takes 4 bytes,
//!   or 3 in a text of up to 2^24 bytes,
//! - `sorting`, `LCP`: the kernels of either step, by the device's clock,
//! - `library`: from ordinary memory to ordinary memory that is already mapped, by
//!   `bwz::lcp::LcpSorter::sort_into`,
//! - `new memory`: as `library`, but to memory that the system has yet to map.
//!
//! The arrays are compared with those of libsais. With `--bases` the input is two sequences of the
//! given number of million bases. Half of one sequence is taken from the other, with 1 % of its
//! bases changed. Their longest common region is found by `bwz::overlap` on the available device,
//! by libsais on one thread, and by the serial method of the paper that poses the problem
//! (`bwz::papers::longest_overlap`), which runs once.
//!
//! With `--queries` nothing is measured: range minima and longest common extensions are compared
//! with naive ones.

mod common;

use bwz::internals;
use bwz::internals::gpu::GpuLcpSorter;
use bwz::lcp::{Extensions, LcpArrays, LcpSorter, RangeMinima};
use bwz::overlap::{Sequences, Strands, longest_common_on};
use bwz::papers::longest_overlap;
use bwz::{Device, GpuSet, Options, Result};
use clap::Parser;
use common::{Common, Devices, Times, random_queries};
use libsais::SuffixArrayConstruction;
use std::time::{Duration, Instant};

/// Bytes of each shape whose queries are compared.
const QUERIED: usize = 20_000;

/// Measure suffix arrays with LCP arrays
#[derive(Parser)]
struct Bench {
    /// Measure with two sequences of MB million bases each in place of files
    #[arg(
        long,
        value_name = "MB",
        value_delimiter = ',',
        conflicts_with = "files"
    )]
    bases: Vec<usize>,
    /// Leave out the paper's serial method
    #[arg(long, requires = "bases")]
    no_paper: bool,
    /// Measure with MB million times the letter a, and with other shapes, in place of files
    #[arg(long, value_name = "MB", conflicts_with_all = ["files", "bases"])]
    shape: Option<usize>,
    /// Compare N queries of each kind with naive ones, of each file or of all shapes, in place of
    /// measuring
    #[arg(long, value_name = "N", conflicts_with_all = ["shape", "bases"])]
    queries: Option<usize>,
    /// How a GPU sorts: default, ls, skew or skew-pd, or several of them with commas between
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        value_delimiter = ','
    )]
    algorithm: Vec<String>,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    if let Some(queries) = bench.queries {
        return match bench.common.has_files() {
            true => bench
                .common
                .each(|text| bench.queries(queries, text)),
            false => common::shapes(QUERIED)
                .into_iter()
                .try_for_each(|(name, text)| {
                    println!("{name}: {} bytes", text.len());
                    bench.queries(queries, &text)
                }),
        };
    }
    if let Some(size) = bench.shape {
        let size = size * 1_000_000;
        bench
            .common
            .report("a repeated", &vec![b'a'; size], |text| bench.text(text))?;
        return bench
            .common
            .report("Fibonacci", &common::fibonacci(size), |text| {
                bench.text(text)
            });
    }
    if bench.bases.is_empty() {
        return bench.common.each(|text| bench.text(text));
    }
    bench
        .bases
        .iter()
        .try_for_each(|million| bench.regions(million * 1_000_000))
}

/// Both arrays by libsais on one thread.
fn libsais(text: &[u8]) -> LcpArrays {
    let sa = SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run();
    let permuted = sa
        .expect("memory")
        .plcp_construction()
        .single_threaded()
        .run();
    let lcp = permuted
        .expect("memory")
        .lcp_construction()
        .single_threaded()
        .run();
    let (suffixes, lcp, ..) = lcp.expect("memory").into_parts();
    let unsigned = |all: Vec<i32>| all.into_iter().map(i32::cast_unsigned).collect();
    LcpArrays {
        suffixes: unsigned(suffixes),
        lcp: unsigned(lcp),
    }
}

impl Bench {
    fn text(&self, text: &[u8]) -> Result<()> {
        let mut expected = None;
        if !self.devices.no_cpu {
            let (times, arrays) = self
                .common
                .time(|| Ok(()), |()| Ok(libsais(text)))?;
            times.row("libsais", text.len(), "MB/s", "on one thread");
            let sorter = LcpSorter::new(
                &Options::new()
                    .device(Device::Cpu)
                    .memory(u64::MAX),
            )?;
            let (times, same) = self
                .common
                .time(|| Ok(()), |()| sorter.sort(text))?;
            assert!(same == arrays, "the CPU does not give what libsais gives");
            times.row("cpu", text.len(), "MB/s", "comparing on all threads");
            expected = Some(arrays);
        }
        if let Some(number) = self.devices.gpu() {
            for name in &self.algorithm {
                self.gpu(number, name, text, expected.as_ref())?;
            }
            self.library(number, text, expected.as_ref())?;
        }
        Ok(())
    }

    fn gpu(
        &self,
        number: u32,
        name: &str,
        text: &[u8],
        expected: Option<&LcpArrays>,
    ) -> Result<()> {
        let mut sorter = internals::open_for_lcp(name.parse()?, number)?;
        sorter.input(text.len())?.copy_from_slice(text);
        // The first sort allocates the memory.
        sorter.sort_input(0, |_| Ok(()))?;
        let mut sorting = Vec::new();
        let mut comparing = Vec::new();
        let (times, ()) = self.common.time(
            || Ok(()),
            |()| {
                sorter.sort_input(0, |_| Ok(()))?;
                let report = sorter.report();
                sorting.push(Duration::from_secs_f32(report.sorting / 1e3));
                comparing.push(Duration::from_secs_f32(report.lcp / 1e3));
                Ok(())
            },
        )?;
        if let Some(expected) = expected {
            let mut suffixes = vec![0; text.len()];
            let mut lcp = vec![0; text.len()];
            sorter.sort_input(0, |chunk| chunk.write(&mut suffixes, &mut lcp))?;
            let same = suffixes == expected.suffixes && lcp == expected.lcp;
            assert!(same, "the GPU does not give what libsais gives");
        }
        let sorting = Times::new(sorting);
        let comparing = Times::new(comparing);
        times.row(name, text.len(), "MB/s", "with copies");
        sorting.row("", text.len(), "MB/s", "sorting");
        comparing.row("", text.len(), "MB/s", "LCP");
        let memory = sorter.report().memory as f64 / text.len() as f64;
        let more = |time: Duration| 100.0 * time.as_secs_f64() / sorting.best().as_secs_f64();
        println!(
            "    {memory:.1} bytes per suffix; LCP adds {:.0} % to sorting, all with copies {:.0} %",
            more(comparing.best()),
            more(times.best()) - 100.0
        );
        Ok(())
    }

    fn library(&self, number: u32, text: &[u8], expected: Option<&LcpArrays>) -> Result<()> {
        let device = Device::Cuda(GpuSet::new([number])?);
        let sorter = LcpSorter::new(&Options::new().device(device).memory(u64::MAX))?;
        let mut arrays = sorter.sort(text)?;
        let sort_into = |()| sorter.sort_into(text, &mut arrays);
        let (times, ()) = self.common.time(|| Ok(()), sort_into)?;
        times.row("", text.len(), "MB/s", "library");
        assert!(
            expected.is_none_or(|expected| *expected == arrays),
            "the library does not either"
        );
        drop(arrays);
        let (times, _) = self
            .common
            .time(|| Ok(()), |()| sorter.sort(text))?;
        times.row("", text.len(), "MB/s", "new memory");
        Ok(())
    }

    fn device(&self) -> Result<Device> {
        Ok(match self.devices.gpu() {
            Some(number) => Device::Cuda(GpuSet::new([number])?),
            None => Device::Cpu,
        })
    }

    /// Compares range minima and extensions with naive ones.
    fn queries(&self, count: usize, text: &[u8]) -> Result<()> {
        let options = Options::new()
            .device(self.device()?)
            .memory(u64::MAX);
        let arrays = LcpArrays::new(text, &options)?;
        let minima = RangeMinima::new(arrays.lcp.clone(), &options)?;
        let ranges = random_queries::ranges(count, arrays.lcp.len() as u32);
        let from = Instant::now();
        let found = minima.all(&ranges, &options)?;
        let took = from.elapsed();
        for (&(start, end), found) in ranges.iter().zip(found) {
            let naive = arrays.lcp[start as usize..end as usize]
                .iter()
                .min();
            assert_eq!(
                found,
                naive.copied().unwrap_or(u32::MAX),
                "the least of {start}..{end}"
            );
        }
        println!("    {} ranges are the naive ones; {took:.1?}", ranges.len());

        let pairs = random_queries::pairs(count, &arrays.suffixes);
        let extensions = Extensions::new(arrays, &options)?;
        let from = Instant::now();
        let found = extensions.all(&pairs, &options)?;
        let took = from.elapsed();
        for (&(a, b), found) in pairs.iter().zip(found) {
            let both = text[a as usize..].iter().zip(&text[b as usize..]);
            let naive = both.take_while(|(a, b)| a == b).count();
            assert_eq!(found as usize, naive, "the extension of {a} and {b}");
        }
        println!(
            "    {} extensions are the naive ones; {took:.1?}",
            pairs.len()
        );
        Ok(())
    }

    /// The time of the kernels, without the rows that a caller may want.
    fn kernels(&self, number: u32, text: &[u8]) -> Result<()> {
        let mut sorter = GpuLcpSorter::new(number)?;
        sorter.input(text.len())?.copy_from_slice(text);
        let mut best = (f32::INFINITY, f32::INFINITY);
        for _ in 0..=self.common.runs {
            sorter.sort_input(0, |_| Ok(()))?;
            let report = sorter.report();
            best = (best.0.min(report.sorting), best.1.min(report.lcp));
        }
        println!(
            "    of which {:.3} ms are sorting, {:.3} ms LCP",
            best.0, best.1
        );
        Ok(())
    }

    /// The longest common regions of two sequences.
    fn regions(&self, bases: usize) -> Result<()> {
        let (first, second) = two_sequences(bases);
        println!(
            "two sequences of {bases} bases, best and median of {}",
            self.common.runs
        );
        let mut a = Sequences::new();
        let mut b = Sequences::new();
        a.add(b"a", &first)?;
        b.add(b"b", &second)?;
        let device = self.device()?;
        let sorter = LcpSorter::new(&Options::new().device(device).memory(u64::MAX))?;
        // The first call opens the GPU and allocates the memory.
        let find = || longest_common_on(&sorter, &a, &b, Strands::Forward);
        let found = find()?;
        let (times, _) = self.common.time(|| Ok(()), |()| find())?;
        times.row("overlap", 2 * bases, "MB/s", &device.to_string());
        let ours = times.best();
        let length = found.first().map_or(0, |first| first.length);
        println!("    {} of {length} bases in {ours:.4?}", found.len());

        let text = [&first[..], b"$", &second].concat();
        if let Some(number) = self.devices.gpu() {
            self.kernels(number, &text)?;
        }
        let border = first.len() as u32 + 1;
        let against = |name: &str, found: usize, took: Duration| {
            assert_eq!(found, length as usize, "{name} finds another length");
            Times::new(vec![took]).row(name, 2 * bases, "MB/s", "on one thread");
            println!(
                "    {took:.1?}: {:.0} times as long",
                took.as_secs_f64() / ours.as_secs_f64()
            );
        };
        if !self.devices.no_cpu {
            let find = |()| {
                let LcpArrays { suffixes, lcp } = libsais(&text);
                Ok(longest_of_neighbours(&suffixes, &lcp, border))
            };
            let (times, found) = self.common.time(|| Ok(()), find)?;
            against("libsais", found, times.best());
        }
        if !self.no_paper {
            let from = Instant::now();
            let found = longest_overlap(&first, &second)?;
            against("paper", found.length, from.elapsed());
        }
        Ok(())
    }
}

/// Two sequences of `bases` bases. Half of the second is taken from the first, with 1 % of its
/// bases changed.
fn two_sequences(bases: usize) -> (Vec<u8>, Vec<u8>) {
    let mut state = 4711_u64;
    let mut next = |below: u64| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    };
    let mut random = |count| {
        (0..count)
            .map(|_| b"ACGT"[next(4) as usize])
            .collect::<Vec<u8>>()
    };
    let first = random(bases);
    let mut second = random(bases);
    for (to, &from) in second
        .iter_mut()
        .zip(&first)
        .skip(bases / 4)
        .take(bases / 2)
    {
        if next(100) > 0 {
            *to = from;
        }
    }
    (first, second)
}

/// The length of the longest common region of the parts of a text before and behind `border`, from
/// the arrays alone: neighbours in the suffix array are enough.
fn longest_of_neighbours(suffixes: &[u32], lcp: &[u32], border: u32) -> usize {
    let pairs = suffixes.windows(2).zip(&lcp[1..]);
    let across = pairs.filter(|(pair, _)| (pair[0] < border) != (pair[1] < border));
    across
        .map(|(_, &length)| length as usize)
        .max()
        .unwrap_or(0)
}
