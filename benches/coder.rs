//! The coder alone: `cargo bench --bench coder -- [--block MIB] [-T N] [FILE...]`.
//!
//! The best and the median of all runs in MB/s of raw bytes, each way and with each effort, of the
//! segments of all blocks side by side; and the bytes that they take. All segments are decoded and
//! compared with what was encoded.

mod common;

use bwz::bwt::{self, Sorter};
use bwz::internals::coder;
use bwz::{Effort, Error, Result};
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

/// A block's BWT in coded segments.
struct Coded {
    segment_log: u8,
    segments: Vec<Vec<u8>>,
    len: usize,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let pool = bench.common.pool()?;
    bench.common.each(|text| {
        let blocks = text.chunks((bench.block as usize) << 20);
        let sort = |block: &[u8]| Ok(Sorter::Cpu.sort(block, bwt::sample_rate(block.len()))?.bytes);
        let bwts = blocks.map(sort).collect::<Result<Vec<_>>>()?;
        let efforts =
            [("fast", Effort::Fast), ("default", Effort::Default), ("best", Effort::Best)];
        efforts.into_iter().try_for_each(|(name, effort)| {
            pool.install(|| bench.both_ways(name, effort, text.len(), &bwts))
        })
    })
}

impl Bench {
    fn both_ways(&self, name: &str, effort: Effort, len: usize, bwts: &[Vec<u8>]) -> Result<()> {
        let encode_all = |()| Ok(bwts.par_iter().map(|bwt| encode(bwt, effort)).collect());
        let (times, coded): (_, Vec<Coded>) = self.common.time(|| Ok(()), encode_all)?;
        let size: usize = coded.iter().flat_map(|block| &block.segments).map(Vec::len).sum();
        times.row(name, len, "MB/s", &format!("to encode, {size} bytes"));
        let decode_all = |()| coded.par_iter().map(decode).collect();
        let (times, decoded): (_, Vec<_>) = self.common.time(|| Ok(()), decode_all)?;
        assert!(decoded == bwts, "the coder does not give back what went in");
        times.row("", len, "MB/s", "to decode");
        Ok(())
    }
}

fn encode(bwt: &[u8], effort: Effort) -> Coded {
    let segment_log = coder::segment_log(bwt, effort);
    let segments = coder::encode_segments(bwt, segment_log, effort);
    Coded { segment_log, segments, len: bwt.len() }
}

fn decode(coded: &Coded) -> Result<Vec<u8>> {
    let mut bwt = vec![0; coded.len];
    coder::decode_segments(coded.segment_log, &coded.segments, &mut bwt).map_err(Error::from)?;
    Ok(bwt)
}
