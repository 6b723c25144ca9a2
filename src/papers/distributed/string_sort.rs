//! Parallel string sorting by regular sampling: Algorithm 2 of the paper.
//!
//! A. Chan and F. Dehne, *A note on coarse grained parallel integer sorting*, 1999, after H. Shi
//! and J. Schaeffer. It takes five supersteps. In each of them a processor sends and receives O(w m
//! / p) words for m rows of w words, if m is at least p^3.

use super::block_distribution::Blocks;
use super::exchange::{Exchange, Messages, put_segment, segments};
use super::processor::Processor;
use super::string_rows::StringRows;
use crate::base::error::Result;

/// Rows of a sequence that is sorted over all processors.
#[derive(Debug)]
pub(super) struct SortedRows {
    /// Rows of this processor, distributed as by [`Blocks`].
    pub rows: StringRows,
    /// Number of rows before them, on other processors.
    pub first: usize,
}

/// Sorts several sequences, each by itself and all in the same supersteps. Each processor gives its
/// rows of each sequence, in any order, and receives its block of each sorted sequence.
///
/// As Section 5.1 says on step 2, each sequence has a designated processor of its own, if there are
/// enough.
pub(super) async fn sort_strings<E: Exchange>(
    processor: &mut Processor<E>,
    mut sequences: Vec<StringRows>,
) -> Result<Vec<SortedRows>> {
    sequences.iter_mut().for_each(StringRows::sort);
    let widths: Vec<usize> = sequences.iter().map(StringRows::width).collect();
    let primary = send_primary_samples(processor, &sequences).await?;
    let secondary = broadcast_secondary_samples(processor, primary, &widths).await?;
    let mut sequences = send_blocks(processor, sequences, &secondary).await?;
    sequences.iter_mut().for_each(StringRows::sort);
    balance(processor, sequences).await
}

/// Collects rows that came in segments, one for each sequence.
fn collect(received: &Messages, widths: &[usize]) -> Vec<StringRows> {
    let mut sequences: Vec<_> = widths
        .iter()
        .map(|&width| StringRows::new(width))
        .collect();
    for (sequence, words) in segments(received) {
        sequences[sequence].extend(words.iter().copied());
    }
    sequences
}

/// Sends p + 1 samples of each processor's sorted rows to the designated processor.
async fn send_primary_samples<E: Exchange>(
    processor: &mut Processor<E>,
    sequences: &[StringRows],
) -> Result<Messages> {
    let p = processor.count();
    let mut messages = processor.messages();
    for (number, rows) in sequences.iter().enumerate() {
        put_segment(&mut messages[number % p], number, &rows.samples(p));
    }
    processor.all_to_all(messages).await
}

/// Sorts the primary samples on the designated processor, and sends p + 1 of them to all
/// processors.
async fn broadcast_secondary_samples<E: Exchange>(
    processor: &mut Processor<E>,
    primary: Messages,
    widths: &[usize],
) -> Result<Vec<StringRows>> {
    let mut message = Vec::new();
    for (number, mut samples) in collect(&primary, widths).into_iter().enumerate() {
        samples.sort();
        put_segment(&mut message, number, &samples.samples(processor.count()));
    }
    let received = processor.broadcast(&message).await?;
    Ok(collect(&received, widths))
}

/// Divides the rows by the secondary samples into p blocks, one for each processor.
async fn send_blocks<E: Exchange>(
    processor: &mut Processor<E>,
    sequences: Vec<StringRows>,
    secondary: &[StringRows],
) -> Result<Vec<StringRows>> {
    let p = processor.count();
    let mut messages = processor.messages();
    let widths: Vec<usize> = sequences.iter().map(StringRows::width).collect();
    for (number, rows) in sequences
        .into_iter()
        .enumerate()
        .filter(|(_, rows)| rows.len() > 0)
    {
        let mut start = 0;
        for (block, message) in messages.iter_mut().enumerate() {
            let end = match block + 1 {
                next if next < p => rows.partition_point(|row| row < secondary[number].row(next)),
                _ => rows.len(),
            };
            put_segment(message, number, rows.part(start..end));
            start = end;
        }
    }
    let received = processor.all_to_all(messages).await?;
    Ok(collect(&received, &widths))
}

/// Gives each processor its m / p of the sorted rows. It takes two supersteps: one for the number
/// of rows that each processor has, and one for the rows.
async fn balance<E: Exchange>(
    processor: &mut Processor<E>,
    sequences: Vec<StringRows>,
) -> Result<Vec<SortedRows>> {
    let widths: Vec<usize> = sequences.iter().map(StringRows::width).collect();
    let lens: Vec<u64> = sequences
        .iter()
        .map(|rows| rows.len() as u64)
        .collect();
    let lens = processor.broadcast(&lens).await?;
    let p = processor.count();
    let me = processor.number();
    let mut messages = processor.messages();
    let mut blocks = Vec::new();
    for (number, rows) in sequences.into_iter().enumerate() {
        let sum = |lens: &[Vec<u64>]| {
            lens.iter()
                .map(|lens| lens[number] as usize)
                .sum()
        };
        let first: usize = sum(&lens[..me]);
        let all: usize = sum(&lens);
        let distribution = Blocks::new(all, p);
        for (to, message) in messages.iter_mut().enumerate() {
            let block = distribution.range(to);
            let part = block.start.max(first)..block.end.min(first + rows.len());
            if !part.is_empty() {
                put_segment(
                    message,
                    number,
                    rows.part(part.start - first..part.end - first),
                );
            }
        }
        blocks.push(distribution.range(me).start);
    }
    let received = processor.all_to_all(messages).await?;
    let sorted = collect(&received, &widths)
        .into_iter()
        .zip(blocks);
    Ok(sorted
        .map(|(rows, first)| SortedRows { rows, first })
        .collect())
}

/// For each row, returns whether its string differs from that of the row before, which may be on
/// the processor before. One superstep.
pub(super) async fn heads<E: Exchange>(
    processor: &mut Processor<E>,
    rows: &StringRows,
) -> Result<Vec<bool>> {
    let last = rows
        .len()
        .checked_sub(1)
        .map_or(Vec::new(), |last| rows.string(last).to_vec());
    let next = processor.number() + 1;
    let before = processor.send(Some(next), last).await?.concat();
    let head = |row| match row {
        0 => rows.string(0) != before,
        _ => rows.string(row) != rows.string(row - 1),
    };
    Ok((0..rows.len()).map(head).collect())
}
