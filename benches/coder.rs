//! The coder alone:
//! `cargo bench --bench coder -- [--block MIB] [-T N] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s of raw bytes, each way and with each effort,
//! and the coded size, models included. The slices of all blocks are coded side by side. All slices
//! are decoded and compared with the input.

mod common;

use bwz::bwt::{self, Sorter};
use bwz::internals::coder::{self, CodedBwt, Coding, Effort, SliceDecoder, SliceLimits};
use bwz::{Error, Result};
use clap::Parser;
use common::Common;
use rayon::prelude::*;

/// Measure the coder alone
#[derive(Parser)]
struct Bench {
    /// Cut files into blocks of MIB MiB
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..2048))]
    block: u32,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let pool = bench.common.pool()?;
    bench.common.each(|text| {
        let blocks = text.chunks((bench.block as usize) << 20);
        let sort = |block: &[u8]| {
            Ok(Sorter::Cpu
                .sort(block, bwt::sample_rate(block.len()))?
                .bytes)
        };
        let bwts = blocks.map(sort).collect::<Result<Vec<_>>>()?;
        let efforts = [
            ("default", Effort::Default),
            ("--fast", Effort::Fast),
            ("--best", Effort::Best),
        ];
        efforts
            .into_iter()
            .try_for_each(|(name, effort)| {
                pool.install(|| bench.both_ways(name, effort, text.len(), &bwts))
            })
    })
}

impl Bench {
    fn both_ways(&self, name: &str, effort: Effort, len: usize, bwts: &[Vec<u8>]) -> Result<()> {
        let limits = SliceLimits::new((self.block as usize) << 20, effort);
        let coding = effort.into();
        let encode = |bwt: &Vec<u8>| coder::encode_slices(bwt, limits, coding);
        let encode_all = |()| Ok(bwts.par_iter().map(encode).collect());
        let (times, coded): (_, Vec<CodedBwt>) = self.common.time(|| Ok(()), encode_all)?;
        let size: usize = coded.iter().map(CodedBwt::size).sum();
        times.row(name, len, "MB/s", &format!("to encode, {size} bytes"));
        let decode_all = |()| {
            coded
                .par_iter()
                .map(|coded| decode(coded, coding))
                .collect()
        };
        let (times, decoded): (_, Vec<_>) = self.common.time(|| Ok(()), decode_all)?;
        assert!(decoded == bwts, "the coder does not give back what went in");
        times.row("", len, "MB/s", "to decode");
        Ok(())
    }
}

fn decode(
    CodedBwt {
        models,
        raw_sizes,
        slices,
    }: &CodedBwt,
    coding: Coding,
) -> Result<Vec<u8>> {
    let mut bwt = vec![0; raw_sizes.iter().map(|&size| size as usize).sum()];
    let decoder = SliceDecoder::new(coding, models).map_err(Error::from)?;
    coder::decode_slices(&decoder, raw_sizes, slices, &mut bwt).map_err(Error::from)?;
    Ok(bwt)
}
