//! The coder on a GPU alone:
//! `cargo bench --features cuda --bench gpu_coder -- [--block MIB]
//! [--in-flight N,...] [--fast] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s of BWT bytes, each way. BWTs and coded slices
//! are resident on the device. The first block of a file is processed several times at once, each
//! time on its own stream. The time to encode includes the host's choice of models and the copies
//! for it. The coded bytes are compared with the CPU's bytes, and the decoded bytes with the BWT.

mod common;

use bwz::bwt::{self, Sorter};
use bwz::internals::coder::{self, CodedBwt, Coding, Effort, SliceLimits};
use bwz::internals::gpu::{BwtDecoder, BwtEncoder};
use bwz::{Error, Result};
use clap::Parser;
use common::{Common, Times};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Measure the coder on a GPU
#[derive(Parser)]
struct Bench {
    /// Take the first MIB MiB of each file as a block
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..2048))]
    block: u32,
    /// Blocks in flight
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 2, 8, 21, 64])]
    in_flight: Vec<u16>,
    /// Cut slices as --fast does
    #[arg(long)]
    fast: bool,
    /// Take the files as BWTs that need no sort
    #[arg(long)]
    sorted: bool,
    /// The number of the GPU to measure
    #[arg(long, value_name = "N", default_value_t = 0)]
    gpu: u32,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let pool = bench.common.pool()?;
    bench.common.each(|text| {
        let block = &text[..text.len().min((bench.block as usize) << 20)];
        let bwt = match bench.sorted {
            true => block.to_vec(),
            false => {
                Sorter::Cpu
                    .sort(block, bwt::sample_rate(block.len()))?
                    .bytes
            }
        };
        let effort = if bench.fast {
            Effort::Fast
        } else {
            Effort::Default
        };
        let limits = SliceLimits::new(block.len(), effort);
        let coded = pool.install(|| coder::encode_slices(&bwt, limits, Coding::StaticRans));
        let size: usize = coded.slices.iter().map(Vec::len).sum();
        println!(
            "  {} bytes in {} slices, {size} bytes coded",
            bwt.len(),
            coded.slices.len()
        );
        for &n in &bench.in_flight {
            bench.encode(n.into(), &bwt, limits, &coded)?;
            bench.decode(n.into(), &bwt, &coded)?;
        }
        Ok(())
    })
}

impl Bench {
    fn encode(&self, n: usize, bwt: &[u8], limits: SliceLimits, coded: &CodedBwt) -> Result<()> {
        let new = || {
            let mut encoder = BwtEncoder::new(self.gpu)?;
            encoder.load(bwt, limits)?;
            Ok(encoder)
        };
        let mut encoders = (0..n)
            .map(|_| new())
            .collect::<Result<Vec<_>>>()?;
        let run = |encoder: &mut BwtEncoder| encoder.encode_loaded(limits).map(drop);
        let times = self.measure(&mut encoders, run)?;
        let encoder = &mut encoders[0];
        let encoded = encoder.encode_loaded(limits)?;
        let same = encoded.models == coded.models
            && encoded.raw_sizes == coded.raw_sizes
            && encoder.download(&encoded)? == coded.slices.concat();
        assert!(same, "the GPU's coded bytes are not the CPU's");
        times.row("encode", n * bwt.len(), "MB/s", &format!("{n} in flight"));
        println!(
            "    {:.1} bytes of memory per byte",
            encoder.memory() as f64 / bwt.len() as f64
        );
        Ok(())
    }

    fn decode(&self, n: usize, bwt: &[u8], coded: &CodedBwt) -> Result<()> {
        let new = || {
            let mut decoder = BwtDecoder::new(self.gpu)?;
            decoder.load(coded)?;
            Ok(decoder)
        };
        let mut decoders = (0..n)
            .map(|_| new())
            .collect::<Result<Vec<_>>>()?;
        let run = |decoder: &mut BwtDecoder| match decoder.decode_loaded()?.iter().all(|&f| f == 0)
        {
            true => Ok(()),
            false => Err(Error::Usage("the GPU refuses a sound slice".into())),
        };
        let times = self.measure(&mut decoders, run)?;
        assert!(
            decoders[0].download()? == bwt,
            "the GPU decodes other bytes"
        );
        times.row("decode", n * bwt.len(), "MB/s", &format!("{n} in flight"));
        Ok(())
    }

    /// Times all jobs at once, each on its own thread, from their common start to the end of the
    /// last one.
    fn measure<T: Send>(
        &self,
        jobs: &mut [T],
        run: impl Fn(&mut T) -> Result<()> + Sync,
    ) -> Result<Times> {
        let mut once = || -> Result<Duration> {
            let start = Barrier::new(jobs.len() + 1);
            thread::scope(|scope| {
                let work = |job| {
                    start.wait();
                    run(job)
                };
                let workers: Vec<_> = jobs
                    .iter_mut()
                    .map(|job| scope.spawn(move || work(job)))
                    .collect();
                start.wait();
                let begun = Instant::now();
                let all = workers
                    .into_iter()
                    .map(|worker| worker.join().expect("no panic"));
                all.collect::<Result<Vec<()>>>()
                    .map(|_| begun.elapsed())
            })
        };
        // The first run lets the driver initialise.
        once()?;
        let times = (0..self.common.runs)
            .map(|_| once())
            .collect::<Result<_>>()?;
        Ok(Times::new(times))
    }
}
