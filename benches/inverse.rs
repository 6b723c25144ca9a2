//! The inverse BWT alone, by libsais on one thread, on the CPU and on a GPU:
//! `cargo bench --bench inverse -- [--block MIB] [-j N] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s. A file is one block, or with `--block`
//! several. On a GPU each block has its own memory, and `-j` blocks are in flight at a time. The
//! time for all of them is measured from the host's pinned memory to its pinned memory. Every text
//! is compared with the sorted one.

mod common;

use bwz::bwt::{self, Bwt, Sorter};
use bwz::internals::gpu::GpuInverse;
use bwz::{Device, Error, GpuSet, Result};
use clap::Parser;
use common::{Common, Devices, Times};
use libsais::bwt::{AuxIndicesSamplingRate, Bwt as PlainBwt, BwtWithAuxIndices};
use libsais::typestate::OwnedBuffer;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Measure the inverse BWT alone
#[derive(Parser)]
struct Bench {
    /// Cut files into blocks of MIB MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..2048))]
    block: Option<u32>,
    /// Blocks in flight on the GPU
    #[arg(short = 'j', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    in_flight: u16,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    bench.common.each(|text| {
        let size = bench
            .block
            .map_or(text.len(), |mib| (mib as usize) << 20);
        let gpu = bench.devices.gpu();
        let device = match gpu {
            Some(number) => Device::Cuda(GpuSet::new([number])?),
            None => Device::Cpu,
        };
        let mut sorter = Sorter::new(device)?;
        let sort = |block: &[u8]| sorter.sort(block, bwt::sample_rate(block.len()));
        let blocks = text
            .chunks(size)
            .map(sort)
            .collect::<Result<Vec<_>>>()?;
        drop(sorter);
        if !bench.devices.no_cpu {
            bench.libsais(text, &blocks)?;
            bench.cpu(text, &blocks)?;
        }
        gpu.map_or(Ok(()), |number| bench.gpu(number, text, size, &blocks))
    })
}

impl Bench {
    /// libsais without and with samples. It uses samples as the starts of several walks.
    fn libsais(&self, text: &[u8], blocks: &[Bwt]) -> Result<()> {
        let plain = |block: &Bwt| {
            let bytes = block.bytes.clone();
            let primary = block.samples[0] as usize;
            // SAFETY: the parts are those of a sorted block, and `Sorter` returns them in the form
            // of libsais.
            unsafe { PlainBwt::<u8, OwnedBuffer>::from_parts(bytes, primary) }
        };
        let prepare = || Ok(blocks.iter().map(plain).collect());
        let (times, _) = self.common.time(prepare, |blocks: Vec<_>| {
            let invert = |block: PlainBwt<u8, OwnedBuffer>| {
                block
                    .unbwt()
                    .with_owned_temporary_array_buffer32()
                    .single_threaded()
                    .run()
            };
            blocks
                .into_iter()
                .map(invert)
                .collect::<Result<Vec<_>, _>>()
                .map_err(refused)
        })?;
        times.row("libsais", text.len(), "MB/s", "on one thread");

        let sampled = |block: &Bwt| {
            let samples = block
                .samples
                .iter()
                .map(|&row| row as i32)
                .collect();
            let rate = AuxIndicesSamplingRate::new(block.sample_rate.cast_signed());
            // SAFETY: as above.
            unsafe { BwtWithAuxIndices::from_parts(block.bytes.clone(), samples, rate) }
        };
        let prepare = || Ok(blocks.iter().map(sampled).collect());
        let (times, _) = self.common.time(prepare, |blocks: Vec<_>| {
            let invert = |block: BwtWithAuxIndices<u8, i32, OwnedBuffer, OwnedBuffer>| {
                block.unbwt().single_threaded().run()
            };
            blocks
                .into_iter()
                .map(invert)
                .collect::<Result<Vec<_>, _>>()
                .map_err(refused)
        })?;
        times.row("", text.len(), "MB/s", "with samples");
        Ok(())
    }

    /// bwz, one block after the other.
    fn cpu(&self, text: &[u8], blocks: &[Bwt]) -> Result<()> {
        let one = common::pool(1)?;
        let all = self.common.pool()?;
        for (name, pool, note) in [("cpu", one, "on one thread"), ("", all, "on all threads")] {
            let invert = |blocks: Vec<Bwt>| {
                pool.install(|| {
                    blocks
                        .into_iter()
                        .map(bwt::invert)
                        .collect::<Result<Vec<_>>>()
                })
            };
            let (times, texts) = self.common.time(|| Ok(blocks.to_vec()), invert)?;
            assert!(
                texts.concat() == text,
                "the CPU does not give back what went in"
            );
            times.row(name, text.len(), "MB/s", note);
        }
        Ok(())
    }

    fn gpu(&self, number: u32, text: &[u8], size: usize, blocks: &[Bwt]) -> Result<()> {
        let in_flight = usize::from(self.in_flight).min(blocks.len());
        let jobs = blocks
            .iter()
            .zip(text.chunks(size))
            .map(|(bwt, text)| {
                let mut inverse = GpuInverse::new(number)?;
                inverse.reserve(bwt.bytes.len() as u32, bwt.samples.len() as u32)?;
                Ok(Job { bwt, text, inverse })
            });
        let mut jobs = jobs.collect::<Result<Vec<Job>>>()?;
        // The first run lets the driver initialise.
        restore_all(&mut jobs, in_flight)?;
        let runs = (0..self.common.runs).map(|_| restore_all(&mut jobs, in_flight));
        let times = Times::new(runs.collect::<Result<_>>()?);
        let memory = jobs[0].inverse.memory() as f64 / jobs[0].text.len() as f64;
        times.row(
            "gpu",
            text.len(),
            "MB/s",
            &format!("with copies, {in_flight} in flight"),
        );
        println!("    {memory:.1} bytes of memory per byte of a block");
        Ok(())
    }
}

fn refused(error: libsais::LibsaisError) -> Error {
    Error::Usage(format!("libsais: {error:?}").into())
}

/// A block, and the inverse that restores it.
struct Job<'a> {
    bwt: &'a Bwt,
    text: &'a [u8],
    inverse: GpuInverse,
}

/// The time to restore all blocks, with `in_flight` of them at a time.
fn restore_all(jobs: &mut [Job], in_flight: usize) -> Result<Duration> {
    for Job { bwt, inverse, .. } in &mut *jobs {
        inverse
            .input(bwt.bytes.len())?
            .copy_from_slice(&bwt.bytes);
    }
    let next = Mutex::new(jobs.iter_mut());
    let restored = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let job = next.lock().expect("no panic").next();
            let Some(Job { bwt, text, inverse }) = job else {
                return Ok(());
            };
            let out = inverse.invert_input(bwt.sample_rate, &bwt.samples)?;
            restored
                .lock()
                .expect("no panic")
                .push((out, *text));
        }
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..in_flight)
            .map(|_| scope.spawn(work))
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    let took = start.elapsed();
    let restored = restored.into_inner().expect("no panic");
    assert!(
        restored.iter().all(|(out, text)| out == text),
        "the GPU gives another text"
    );
    Ok(took)
}
