//! `bsp`: construction of the suffix array by accelerated sampling in the bulk-synchronous parallel
//! (BSP) model, Algorithm 3 of the paper, with a function for each step.
//!
//! M. Felice Pace and A. Tiskin, *Parallel suffix array construction by accelerated sampling*,
//! 2013.
//!
//! # As in the paper
//! The suffixes at positions of a difference cover of period v are sorted by recursion. v is 3 at
//! first and v^(5/4) on the next level, until one processor can sort them alone. The other suffixes
//! are sorted by them, and all are merged.
//!
//! The costs of the steps are those of the paper too. For n symbols on p processors with n >= p^4.5
//! each processor moves O(n / p) words, in O(log log p) supersteps. For smaller n, and any p, the
//! result is right, but no such bound is claimed.
//!
//! # Different
//! The empty suffix is a position of the sample too (`sampling/sample`, which says why). A suffix
//! that is the beginning of another comes before it: 0 stands for the paper's -1 behind the end,
//! and symbols and ranks are numbered from 1. All are words of 64 bits. The processors here run one
//! after the other, on one thread (`virtual_processors`).
//!
//! # Figures
//! A level takes 39 supersteps, and h, the words that a processor sends and receives in it, is
//! below 24 v n / p (benches/results/2026-11-bsp-supersteps.csv). The Fibonacci word of 2^24
//! letters on 64 processors takes 62 s and 140 bytes for each letter (benches/README.md).
//!
//! GPUs that sort a text together by `bsp` do so in kernels: `papers::gpu_sampling`.

use super::block_distribution::{BlockPart, Blocks, distribute, with_items_behind};
use super::exchange::{Alone, Exchange};
use super::processor::Processor;
use super::string_rows::StringRows;
use super::string_sort::{SortedRows, heads, sort_strings};
use super::suffix_merge::merge_sets;
use crate::base::error::Result;
use crate::papers::sampling::{Level, SampledPositions};
use std::ops::Range;
use std::pin::Pin;

/// A text on the way through a level: this processor's part of it and the v symbols behind.
#[derive(Debug)]
struct Text {
    part: BlockPart,
    blocks: Blocks,
    sample: SampledPositions,
    level: Level,
}

/// Builds the suffix array of a text that lies on all processors, in blocks. Each processor gives
/// its block of the text and receives its block of the suffix array.
///
/// `n` is the length of the whole text, and its symbols are numbers from 1 on.
///
/// ```
/// use bwz::internals::distributed::{Blocks, Exchange, Processor, run_virtual, suffix_array};
///
/// let text = b"banana";
/// let blocks = run_virtual(2, async |exchange| {
///     let own = Blocks::new(text.len(), exchange.count()).range(exchange.number());
///     let symbols = text[own].iter().map(|&byte| u64::from(byte) + 1).collect();
///     suffix_array(&mut Processor::new(exchange), symbols, text.len()).await
/// })?;
/// assert_eq!(blocks, [[5, 3, 1], [0, 4, 2]]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// As [`Exchange::all_to_all`].
///
/// # Panics
/// If the text of this processor is not its block.
pub async fn suffix_array<E: Exchange>(
    processor: &mut Processor<E>,
    text: Vec<u64>,
    n: usize,
) -> Result<Vec<u64>> {
    let own = Blocks::new(n, processor.count()).range(processor.number());
    assert_eq!(
        text.len(),
        own.len(),
        "the block of processor {}",
        processor.number()
    );
    sort(processor, text, Level::first(n, processor.count())).await
}

/// Sorts a string on one level of the recursion.
fn sort<'a, E: Exchange>(
    processor: &'a mut Processor<E>,
    text: Vec<u64>,
    level: Level,
) -> Pin<Box<dyn Future<Output = Result<Vec<u64>>> + 'a>> {
    Box::pin(async move {
        if let Some(sorted) = sort_distinct(processor, &text, level).await? {
            return Ok(sorted);
        }
        let text = prepare(processor, text, level).await?;
        let ranks = sort_sample(processor, &text).await?;
        let orders = sort_the_rest(processor, &text, &ranks).await?;
        let sorted = sort_by_first_symbols(processor, &text).await?;
        processor.enter(level.number, "4 merge");
        merge_sets(processor, &text.sample, sorted, &orders, &ranks).await
    })
}

/// Recursion base: sorts the symbols. If they are distinct, this is the result. Seven supersteps.
async fn sort_distinct<E: Exchange>(
    processor: &mut Processor<E>,
    text: &[u64],
    level: Level,
) -> Result<Option<Vec<u64>>> {
    processor.enter(level.number, "base");
    let start = Blocks::new(level.n, processor.count())
        .range(processor.number())
        .start;
    let mut rows = StringRows::new(2);
    for (i, &symbol) in (start as u64..).zip(text) {
        rows.extend([symbol, i]);
    }
    let SortedRows { rows, .. } = only(sort_strings(processor, vec![rows]).await?);
    let is_repeated = heads(processor, &rows).await?.contains(&false);
    let somewhere = processor
        .broadcast(&[u64::from(is_repeated)])
        .await?
        .concat();
    Ok((!somewhere.contains(&1)).then(|| rows.indices().map(|i| i as u64).collect()))
}

/// Step 0: makes the difference cover, and fetches the v symbols behind each block. One superstep.
async fn prepare<E: Exchange>(
    processor: &mut Processor<E>,
    text: Vec<u64>,
    level: Level,
) -> Result<Text> {
    processor.enter(level.number, "0 sample");
    let blocks = Blocks::new(level.n, processor.count());
    let part = with_items_behind(processor, blocks, text, level.period).await?;
    Ok(Text {
        part,
        blocks,
        sample: SampledPositions::new(level.n, level.period),
        level,
    })
}

impl Text {
    /// Positions of this processor's part.
    fn positions<E: Exchange>(&self, processor: &Processor<E>) -> Range<usize> {
        self.blocks.range(processor.number())
    }
}

/// Step 1: ranks the sample suffixes, by recursion. The rank is 0 at other positions. Eight
/// supersteps before the recursion and two after it.
async fn sort_sample<E: Exchange>(processor: &mut Processor<E>, text: &Text) -> Result<BlockPart> {
    let Text { sample, level, .. } = text;
    processor.enter(level.number, "1 sample suffixes");
    let x = super_characters(processor, text).await?;
    let next = level.next(sample.len());
    let sorted = match next.is_sorted_alone() {
        true => sort_alone(processor, x, next).await?,
        false => sort(processor, x, next).await?,
    };
    processor.enter(level.number, "1 sample suffixes");
    let first = Blocks::new(sample.len(), processor.count())
        .range(processor.number())
        .start;
    let positions = sorted
        .iter()
        .map(|&index| sample.position(index as usize));
    let ranks = positions
        .zip(first as u64 + 1..)
        .filter(|(position, _)| *position < level.n);
    let ranks = distribute(processor, text.blocks, ranks).await?;
    with_items_behind(processor, text.blocks, ranks, level.period).await
}

/// Makes the string X' of step 1: each super-character x[i..i + v) of the sample is sorted, and
/// replaced by its rank among the distinct ones. Eight supersteps.
async fn super_characters<E: Exchange>(
    processor: &mut Processor<E>,
    text: &Text,
) -> Result<Vec<u64>> {
    let sample = &text.sample;
    let v = text.level.period;
    let mut rows = StringRows::new(v + 1);
    let own = text.positions(processor);
    // The empty suffix is on the processor of the last suffix that is not empty.
    let end = own.end + usize::from(own.end == text.level.n && !own.is_empty());
    for i in own.start..end {
        if let Some(index) = sample.index(i) {
            rows.extend(
                text.part
                    .slice(i..i + v)
                    .iter()
                    .copied()
                    .chain([index as u64]),
            );
        }
    }
    let SortedRows { rows, .. } = only(sort_strings(processor, vec![rows]).await?);
    let heads = heads(processor, &rows).await?;
    let distinct = heads.iter().filter(|&&head| head).count() as u64;
    let distinct = processor.broadcast(&[distinct]).await?.concat();
    let mut rank: u64 = distinct[..processor.number()].iter().sum();
    let ranks = heads.into_iter().map(|head| {
        rank += u64::from(head);
        rank
    });
    let blocks = Blocks::new(sample.len(), processor.count());
    distribute(processor, blocks, rows.indices().zip(ranks)).await
}

/// Sorts a string on processor 0, by the same algorithm with p = 1, which is the paper's Algorithm
/// 1. Two supersteps.
async fn sort_alone<E: Exchange>(
    processor: &mut Processor<E>,
    text: Vec<u64>,
    level: Level,
) -> Result<Vec<u64>> {
    processor.enter(level.number, "alone");
    let text = processor.send(Some(0), text).await?.concat();
    let mut messages = processor.messages();
    if processor.number() == 0 {
        let sorted = sort(&mut Processor::new(Alone), text, Level::alone(level.n)).await?;
        let blocks = Blocks::new(level.n, processor.count());
        for (to, message) in messages.iter_mut().enumerate() {
            message.extend(&sorted[blocks.range(to)]);
        }
    }
    Ok(processor.all_to_all(messages).await?.concat())
}

/// Step 2: finds the order of each suffix within the set S_k of those at positions k modulo v. For
/// sample suffixes it is their rank. The others are sorted by tuples of the symbols up to a sample
/// suffix and its rank. Six supersteps.
async fn sort_the_rest<E: Exchange>(
    processor: &mut Processor<E>,
    text: &Text,
    ranks: &BlockPart,
) -> Result<Vec<u64>> {
    let cover = text.sample.cover();
    let v = text.level.period;
    processor.enter(text.level.number, "2 other suffixes");
    let residues = (0..v).filter(|&k| cover.column(k).is_none());
    // For each k, the least distance l to a sample suffix.
    let lengths = residues.map(|k| (k, (1..).find(|l| cover.column(k + l).is_some())));
    let lengths: Vec<(usize, usize)> = lengths
        .map(|(k, length)| (k, length.expect("a cover has elements")))
        .collect();
    let sequence = |&(k, length): &(usize, usize)| {
        let mut rows = StringRows::new(length + 2);
        let own = text.positions(processor);
        for i in (own.start + (k + v - own.start % v) % v..own.end).step_by(v) {
            let symbols = text.part.slice(i..i + length).iter().copied();
            rows.extend(symbols.chain([ranks.get(i + length), i as u64]));
        }
        rows
    };
    let sequences = lengths.iter().map(sequence).collect();
    let sorted = sort_strings(processor, sequences).await?;
    let orders = sorted
        .iter()
        .flat_map(|SortedRows { rows, first }| rows.indices().zip(*first as u64..));
    let mut orders = distribute(processor, text.blocks, orders).await?;
    for (i, order) in text.positions(processor).zip(&mut orders) {
        if cover.column(i).is_some() {
            *order = ranks.get(i);
        }
    }
    Ok(orders)
}

/// Step 3: sorts all suffixes by their first v symbols. Five supersteps.
async fn sort_by_first_symbols<E: Exchange>(
    processor: &mut Processor<E>,
    text: &Text,
) -> Result<StringRows> {
    let v = text.level.period;
    processor.enter(text.level.number, "3 first symbols");
    let mut rows = StringRows::new(v + 1);
    for i in text.positions(processor) {
        rows.extend(
            text.part
                .slice(i..i + v)
                .iter()
                .copied()
                .chain([i as u64]),
        );
    }
    Ok(only(sort_strings(processor, vec![rows]).await?).rows)
}

/// Returns the only sequence that was sorted.
fn only(sequences: Vec<SortedRows>) -> SortedRows {
    sequences
        .into_iter()
        .next()
        .expect("as many sequences as there were")
}
