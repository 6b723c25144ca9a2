//! Step 4: merges the sets of suffixes that begin with the same v symbols. A set is merged on its
//! processor, or, if it spans several, on those.
//!
//! It takes ten supersteps, whatever sets there are. A processor has rows of at most two spanning
//! sets.

use super::block_distribution::{BlockPart, Blocks};
use super::exchange::{Exchange, Messages, put_segment, segments};
use super::processor::Processor;
use super::spanning_sets::{SpanningSet, spanning_sets};
use super::string_rows::StringRows;
use super::string_sort::heads;
use super::suffix_order::SuffixOrder;
use crate::base::error::Result;
use crate::papers::sampling::SampledPositions;
use std::collections::BTreeMap;

/// This processor's suffixes of spanning sets, by the number of the set.
type Shares = BTreeMap<usize, StringRows>;

/// Completes the order of suffixes that are sorted by their first v symbols. `orders` and `ranks`
/// are those of the suffixes of this processor's part of the text. Returns its block of the suffix
/// array.
pub(super) async fn merge_sets<E: Exchange>(
    processor: &mut Processor<E>,
    sample: &SampledPositions,
    sorted: StringRows,
    orders: &[u64],
    ranks: &BlockPart,
) -> Result<Vec<u64>> {
    let n = sample.text_len();
    let order = SuffixOrder::new(sample.cover());
    let heads = heads(processor, &sorted).await?;
    let sets = spanning_sets(processor, n, &heads).await?;
    let positions = sorted.indices().collect();
    drop(sorted);
    let suffixes = fetch(processor, sample, positions, orders, ranks).await?;
    let blocks = Blocks::new(n, processor.count());
    let spanning = merge_spanning(processor, order, blocks, &sets, &suffixes).await?;
    let start = blocks.range(processor.number()).start;
    let mut merged = merge_inside(order, &suffixes, &heads);
    for (row, positions) in segments(&spanning) {
        merged[row - start..][..positions.len()].copy_from_slice(positions);
    }
    Ok(merged)
}

/// Fetches the rows needed to merge the suffixes at these positions, from the processors that hold
/// them. Two supersteps.
async fn fetch<E: Exchange>(
    processor: &mut Processor<E>,
    sample: &SampledPositions,
    positions: Vec<usize>,
    orders: &[u64],
    ranks: &BlockPart,
) -> Result<StringRows> {
    let cover = sample.cover();
    let blocks = Blocks::new(sample.text_len(), processor.count());
    let start = blocks.range(processor.number()).start;
    let mut messages = processor.messages();
    for &i in &positions {
        messages[blocks.owner(i)].push(i as u64);
    }
    let asked = processor.all_to_all(messages).await?;
    let columns = cover.elements().len();
    let answer = |&i: &u64| {
        let i = i as usize;
        let ranks = (0..columns).map(move |column| ranks.get(i + cover.distance(i, column)));
        std::iter::once(orders[i - start]).chain(ranks)
    };
    let answers = asked
        .iter()
        .map(|message| message.iter().flat_map(answer).collect());
    let answers = processor.all_to_all(answers.collect()).await?;
    let mut answers: Vec<_> = answers
        .iter()
        .map(|message| message.chunks_exact(1 + columns))
        .collect();
    let mut suffixes = StringRows::new(2 + columns);
    for i in positions {
        let answer = answers[blocks.owner(i)]
            .next()
            .expect("an answer for each position");
        suffixes.extend(std::iter::once(i as u64).chain(answer.iter().copied()));
    }
    Ok(suffixes)
}

/// Returns the positions of this processor's rows. Each set is merged as if it had no rows
/// elsewhere.
fn merge_inside(order: SuffixOrder, suffixes: &StringRows, heads: &[bool]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(suffixes.len());
    let mut start = 0;
    while start < suffixes.len() {
        let behind = heads[start + 1..].iter().position(|&head| head);
        let end = behind.map_or(suffixes.len(), |rows| start + 1 + rows);
        let set = suffixes.part(start..end);
        if end - start == 1 {
            merged.push(set[0]);
        } else {
            let set = StringRows::from_words(order.width(), set.to_vec());
            merged.extend(order.merge(&set).rows().map(|suffix| suffix[0]));
        }
        start = end;
    }
    merged
}

/// Merges spanning sets. Returns the positions of their rows on this processor as segments, with
/// the row as a tag. Six supersteps.
async fn merge_spanning<E: Exchange>(
    processor: &mut Processor<E>,
    order: SuffixOrder<'_>,
    blocks: Blocks,
    sets: &[SpanningSet],
    suffixes: &StringRows,
) -> Result<Messages> {
    let start = blocks.range(processor.number()).start;
    let shares = divide(processor, order, sets, suffixes, start).await?;
    let secondary = secondary_samples(processor, order, sets, &shares).await?;
    let shares = send_sub_blocks(processor, order, sets, shares, &secondary).await?;
    send_to_rows(processor, blocks, sets, shares).await
}

/// Merges suffixes that came in segments.
fn collect(order: SuffixOrder, received: &Messages) -> Shares {
    let mut shares = Shares::new();
    for (set, words) in segments(received) {
        let share = shares
            .entry(set)
            .or_insert_with(|| StringRows::new(order.width()));
        share.extend(words.iter().copied());
    }
    shares
        .values_mut()
        .for_each(|share| *share = order.merge(share));
    shares
}

/// Gives the members of a set equal shares of its suffixes. If there are two, the first gets all.
async fn divide<E: Exchange>(
    processor: &mut Processor<E>,
    order: SuffixOrder<'_>,
    sets: &[SpanningSet],
    suffixes: &StringRows,
    start: usize,
) -> Result<Shares> {
    let mut messages = processor.messages();
    let end = start + suffixes.len();
    for (number, set) in sets.iter().enumerate() {
        for member in set.members() {
            let rows = set.rows_of(member);
            let rows = rows.start.max(start)..rows.end.min(end);
            if !rows.is_empty() {
                let words = suffixes.part(rows.start - start..rows.end - start);
                put_segment(&mut messages[member], number, words);
            }
        }
    }
    Ok(collect(order, &processor.all_to_all(messages).await?))
}

/// Returns the secondary samples of each set of this processor. The p' members take samples of
/// their shares, and the first member chooses p' + 1 of these.
async fn secondary_samples<E: Exchange>(
    processor: &mut Processor<E>,
    order: SuffixOrder<'_>,
    sets: &[SpanningSet],
    shares: &Shares,
) -> Result<Shares> {
    let mut messages = processor.messages();
    for (&number, share) in shares {
        let members = sets[number].members();
        put_segment(
            &mut messages[members.start],
            number,
            &share.samples(members.len()),
        );
    }
    let primary = collect(order, &processor.all_to_all(messages).await?);
    let mut messages = processor.messages();
    for (number, samples) in primary {
        let members = sets[number].members();
        let samples = samples.samples(members.len());
        messages[members]
            .iter_mut()
            .for_each(|message| put_segment(message, number, &samples));
    }
    Ok(collect(order, &processor.all_to_all(messages).await?))
}

/// Gives each member the suffixes between two secondary samples.
async fn send_sub_blocks<E: Exchange>(
    processor: &mut Processor<E>,
    order: SuffixOrder<'_>,
    sets: &[SpanningSet],
    shares: Shares,
    secondary: &Shares,
) -> Result<Shares> {
    let mut messages = processor.messages();
    for (number, share) in shares {
        let members = sets[number].members();
        let samples = &secondary[&number];
        let mut start = 0;
        for (sample, member) in (1..).zip(members.clone()) {
            let is_before = |row: &[u64]| order.compare(row, samples.row(sample)).is_lt();
            let is_last = member + 1 == members.end;
            let end = if is_last {
                share.len()
            } else {
                share.partition_point(is_before)
            };
            put_segment(&mut messages[member], number, share.part(start..end));
            start = end;
        }
    }
    Ok(collect(order, &processor.all_to_all(messages).await?))
}

/// Sends the positions of merged suffixes to the processors that have their rows, in segments with
/// the first row as a tag.
async fn send_to_rows<E: Exchange>(
    processor: &mut Processor<E>,
    blocks: Blocks,
    sets: &[SpanningSet],
    shares: Shares,
) -> Result<Messages> {
    let mut messages = processor.messages();
    for (&number, share) in &shares {
        for member in sets[number].members() {
            put_segment(&mut messages[member], number, &[share.len() as u64]);
        }
    }
    let lens = processor.all_to_all(messages).await?;
    let mut messages = processor.messages();
    for (number, share) in shares {
        let before = segments(&lens[..processor.number()]).filter(|(set, _)| *set == number);
        let first = sets[number].rows.start
            + before
                .map(|(_, len)| len[0] as usize)
                .sum::<usize>();
        let positions: Vec<u64> = share.rows().map(|suffix| suffix[0]).collect();
        for (to, message) in messages.iter_mut().enumerate() {
            let block = blocks.range(to);
            let rows = block.start.max(first)..block.end.min(first + share.len());
            if !rows.is_empty() {
                put_segment(
                    message,
                    rows.start,
                    &positions[rows.start - first..rows.end - first],
                );
            }
        }
    }
    processor.all_to_all(messages).await
}
