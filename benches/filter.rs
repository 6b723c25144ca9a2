//! The filters alone: `cargo bench --bench filter -- [--block MIB] [-T N] [FILE...]`.
//!
//! The best and the median of all runs in MB/s of raw bytes, each way, of the blocks one after the
//! other; and the bytes that are left to sort. What is undone is compared with the blocks.

mod common;

use bwz::internals::filter::Filtered;
use bwz::internals::{filter_on, undo_on};
use bwz::{Error, Result};
use clap::Parser;
use common::Common;
use rayon::ThreadPool;
use std::sync::Arc;

/// Measure the filters alone
#[derive(Parser)]
struct Bench {
    /// Cut files into blocks of MIB MiB
    #[arg(long, value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..2048))]
    block: u32,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let pool = Arc::new(bench.common.pool()?);
    bench.common.each(|text| bench.both_ways(&pool, text))
}

impl Bench {
    fn both_ways(&self, pool: &Arc<ThreadPool>, text: &[u8]) -> Result<()> {
        let copies = || -> Vec<Vec<u8>> {
            text.chunks((self.block as usize) << 20).map(<[u8]>::to_vec).collect()
        };
        let apply = |blocks: Vec<Vec<u8>>| {
            let filtered = blocks.into_iter().map(|block| filter_on(Arc::clone(pool), block));
            filtered.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::from)
        };
        let (times, filtered) = self.common.time(|| Ok(copies()), apply)?;
        let kept: usize = filtered.iter().map(|block| block.text.len()).sum();
        let side: usize = filtered.iter().map(|block| block.side.len()).sum();
        times.row("apply", text.len(), "MB/s", &format!("{kept} bytes and {side} beside"));
        let undo = |blocks: Vec<Filtered>| {
            let both = blocks.into_iter().zip(copies());
            let undone = both.map(|(block, raw)| undo_on(Arc::clone(pool), block, raw.len()));
            undone.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::from)
        };
        let (times, undone) = self.common.time(|| Ok(filtered.clone()), undo)?;
        assert!(undone == copies(), "the filters do not give back what went in");
        times.row("undo", text.len(), "MB/s", "");
        Ok(())
    }
}
