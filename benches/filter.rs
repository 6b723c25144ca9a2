//! The filters alone:
//! `cargo bench --bench filter -- [--block MIB] [--genomes N] [-T N] [FILE...]`.
//!
//! Prints the best and the median of all runs in MB/s of raw bytes, each way, for the blocks one
//! after the other, and the number of bytes that remain to be sorted. The restored blocks are
//! compared with the input. The steps of the filter of fields follow, measured alone. With
//! `--whole` the blocks are also sorted and coded, with filters and without.

mod common;

use bwz::Result;
use bwz::bwt::{Sorter, sample_rate};
use bwz::internals::coder::{self, Coding, Effort, SliceLimits};
use bwz::internals::filter::Filtered;
use bwz::internals::{Tokens, choose_fields, filter_on, take_fields_apart_on, undo_on};
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
    /// Measure with N similar genomes of 4.6 MB instead of files
    #[arg(long, value_name = "N", conflicts_with = "files")]
    genomes: Option<usize>,
    /// Measure the sort and the coder too, with filters and without
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    common: Common,
}

fn main() -> Result<()> {
    let bench = Bench::parse();
    let pool = Arc::new(bench.common.pool()?);
    match bench.genomes {
        Some(count) => bench
            .common
            .report("genomes", &genomes(count), |text| bench.all(&pool, text)),
        None => bench.common.each(|text| bench.all(&pool, text)),
    }
}

impl Bench {
    fn all(&self, pool: &Arc<ThreadPool>, text: &[u8]) -> Result<()> {
        self.both_ways(pool, text)?;
        self.fields(pool, text)?;
        if self.whole {
            self.compressed(pool, text, "filtered", |block| {
                Ok(filter_on(Arc::clone(pool), block)?)
            })?;
            self.compressed(pool, text, "plain", |block| Ok(Filtered::unchanged(block)))?;
        }
        Ok(())
    }

    fn blocks(&self, text: &[u8]) -> Vec<Vec<u8>> {
        text.chunks((self.block as usize) << 20)
            .map(<[u8]>::to_vec)
            .collect()
    }

    fn both_ways(&self, pool: &Arc<ThreadPool>, text: &[u8]) -> Result<()> {
        let apply = |blocks: Vec<Vec<u8>>| {
            let filtered = blocks
                .into_iter()
                .map(|block| Ok(filter_on(Arc::clone(pool), block)?));
            filtered.collect::<Result<Vec<_>>>()
        };
        let (times, filtered) = self
            .common
            .time(|| Ok(self.blocks(text)), apply)?;
        let kept: usize = filtered
            .iter()
            .map(|block| block.text.len())
            .sum();
        let side: usize = filtered.iter().map(side_size).sum();
        times.row(
            "apply",
            text.len(),
            "MB/s",
            &format!("{kept} bytes and {side} beside"),
        );
        let undo = |blocks: Vec<Filtered>| {
            let both = blocks
                .into_iter()
                .zip(text.chunks((self.block as usize) << 20));
            let undone = both.map(|(block, raw)| Ok(undo_on(Arc::clone(pool), block, raw.len())?));
            undone.collect::<Result<Vec<_>>>()
        };
        let (times, undone) = self.common.time(|| Ok(filtered.clone()), undo)?;
        assert!(
            undone == self.blocks(text),
            "the filters do not give back what went in"
        );
        times.row("undo", text.len(), "MB/s", "");
        Ok(())
    }

    /// Measures the steps of the filter of fields. The choice of slots uses only a sample of each
    /// block.
    fn fields(&self, pool: &Arc<ThreadPool>, text: &[u8]) -> Result<()> {
        let blocks = self.blocks(text);
        let choose = |()| {
            let chosen = blocks
                .iter()
                .map(|block| choose_fields(Arc::clone(pool), block));
            Ok(chosen.collect::<Result<Vec<_>, _>>()?)
        };
        let (times, chosen) = self.common.time(|| Ok(()), choose)?;
        times.row("choose", text.len(), "MB/s", "of fields");
        let of_fields: Vec<(&Vec<u8>, Tokens)> = blocks
            .iter()
            .zip(chosen)
            .filter_map(|(block, tokens)| Some((block, tokens?)))
            .collect();
        let size = of_fields
            .iter()
            .map(|(block, _)| block.len())
            .sum();
        if size == 0 {
            return Ok(());
        }
        let take_apart = |()| {
            let apart = of_fields
                .iter()
                .map(|(block, tokens)| take_fields_apart_on(Arc::clone(pool), block, *tokens));
            Ok(apart.collect::<Result<Vec<_>, _>>()?)
        };
        let (times, apart) = self.common.time(|| Ok(()), take_apart)?;
        times.row("take apart", size, "MB/s", "");
        let put_together = |apart: Vec<Option<Filtered>>| {
            let together = of_fields
                .iter()
                .zip(apart)
                .filter_map(|((block, _), apart)| {
                    Some(undo_on(Arc::clone(pool), apart?, block.len()))
                });
            Ok(together.collect::<Result<Vec<_>, _>>()?)
        };
        let (times, _) = self
            .common
            .time(|| Ok(apart.clone()), put_together)?;
        times.row("put together", size, "MB/s", "");
        Ok(())
    }

    /// Compresses blocks, one after the other, from raw to coded, after `filter`.
    fn compressed(
        &self,
        pool: &ThreadPool,
        text: &[u8],
        name: &str,
        filter: impl Fn(Vec<u8>) -> Result<Filtered>,
    ) -> Result<()> {
        let coded_size = |filtered: Filtered| {
            let Filtered { text, .. } = &filtered;
            let threads = pool.current_num_threads();
            let bwt = Sorter::Cpu.sort_on(threads, text, sample_rate(text.len()))?;
            let limits = SliceLimits::new(text.len(), Effort::Default);
            let coded = coder::encode_slices(&bwt.bytes, limits, Coding::StaticRans);
            Ok(coded.size() + side_size(&filtered))
        };
        let compress = |blocks: Vec<Vec<u8>>| {
            let sizes = blocks.into_iter().map(|block| {
                let filtered = filter(block)?;
                pool.install(|| coded_size(filtered))
            });
            sizes.sum::<Result<usize>>()
        };
        let (times, size) = self
            .common
            .time(|| Ok(self.blocks(text)), compress)?;
        times.row(name, text.len(), "MB/s", &format!("{size} bytes coded"));
        Ok(())
    }
}

/// Bytes of the parameters of all filters.
fn side_size(filtered: &Filtered) -> usize {
    filtered
        .steps
        .iter()
        .map(|step| step.side.len())
        .sum()
}

/// A bacterial genome and its relatives. Each relative has one letter in 1000 changed, and ten
/// stretches moved elsewhere.
fn genomes(count: usize) -> Vec<u8> {
    const LEN: usize = 4_600_000;
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize % bound
    };
    let first: Vec<u8> = (0..LEN).map(|_| b"ACGT"[below(4)]).collect();
    let mut all = first.clone();
    for _ in 1..count {
        let mut genome = first.clone();
        for _ in 0..LEN / 1000 {
            genome[below(LEN)] = b"ACGT"[below(4)];
        }
        for _ in 0..10 {
            let start = below(LEN - 200_000);
            let len = 1000 + below(50_000);
            genome[start..start + 200_000].rotate_left(len);
        }
        all.extend(genome);
    }
    all
}
