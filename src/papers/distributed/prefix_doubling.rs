//! `doubling`: construction of the suffix array by prefix doubling, in groups that are refined
//! where they lie.
//!
//! 1. The first symbols of each suffix make a key of 64 bits, as many as fit by the alphabet of the
//!    text. All suffixes are sorted by their keys, by regular sampling: all words cross the network
//!    once, and once more if blocks were uneven.
//! 2. A suffix's rank is the row of the first of its group of equal keys. Each processor keeps the
//!    ranks of its part of the text, and the rows of its block of the suffix array.
//! 3. In a round, each suffix that is still in a group of several asks for the rank of the suffix h
//!    symbols behind it. Groups on one processor are sorted by that rank where they lie. Groups
//!    that span processors, of which there are fewer than p, are sorted together by regular
//!    sampling. New ranks go to the processors that keep them, and h doubles.
//!
//! A round takes 6 supersteps, and 6 more if groups span processors. It moves about 4 words for
//! each unresolved suffix. There are O(log(n / h)) rounds, while `bsp` has O(log log p) levels:
//! this is for texts with few unresolved suffixes after the first sort.
//!
//! N. J. Larsson and K. Sadakane, *Faster suffix sorting*, 2007, with the ranks distributed as in
//! P. Flick and S. Aluru, *Parallel distributed memory construction of suffix and longest common
//! prefix arrays*, 2015.
//!
//! GPUs that sort a text together take the same steps, in kernels, with first keys by the
//! alphabetic code and exact splitters: `gpu::distributed`.

use super::block_distribution::{Blocks, distribute, with_items_behind};
use super::exchange::Exchange;
use super::processor::Processor;
use super::spanning_sets::{SpanningSet, spanning_sets};
use super::string_rows::StringRows;
use super::string_sort::{heads, sort_strings};
use crate::base::error::Result;
use std::ops::Range;

/// A suffix in a round: the rank of its group, the rank of the suffix h behind, and its position.
type SuffixRow = [u64; 3];

/// This processor's block of the suffix array, as far as it is sorted.
#[derive(Debug)]
struct Refined {
    blocks: Blocks,
    /// First row of the block.
    start: usize,
    suffixes: Vec<usize>,
    /// For each row, whether a group begins there.
    heads: Vec<bool>,
    /// Groups that span processors, on all processors.
    spanning: Vec<SpanningSet>,
}

/// Suffixes with equal first symbols, or the part of them that is on this processor.
#[derive(Debug)]
struct SuffixGroup {
    rows: Range<usize>,
    rank: u64,
    is_spanning: bool,
}

/// Builds the suffix array of a text of n bytes that lies on all processors, in blocks. Each
/// processor gives its block of the text and receives its block of the suffix array.
///
/// ```
/// use bwz::internals::distributed::{Blocks, Exchange, Processor, run_virtual, sort_by_doubling};
///
/// let text = b"banana";
/// let blocks = run_virtual(2, async |exchange| {
///     let own = Blocks::new(text.len(), exchange.count()).range(exchange.number());
///     sort_by_doubling(&mut Processor::new(exchange), &text[own], text.len()).await
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
pub async fn sort_by_doubling<E: Exchange>(
    processor: &mut Processor<E>,
    text: &[u8],
    n: usize,
) -> Result<Vec<u64>> {
    let blocks = Blocks::new(n, processor.count());
    let own = blocks.range(processor.number());
    assert_eq!(
        text.len(),
        own.len(),
        "the block of processor {}",
        processor.number()
    );
    processor.enter(0, "first keys");
    let (keys, mut depth) = first_keys(processor, blocks, text).await?;
    let sorted = sort_strings(processor, vec![keys]).await?;
    let sorted = sorted
        .into_iter()
        .next()
        .expect("the sequence that was sorted")
        .rows;
    let start = own.start;
    let suffixes = sorted.indices().collect();
    let heads = heads(processor, &sorted).await?;
    drop(sorted);
    let spanning = spanning_sets(processor, n, &heads).await?;
    let mut refined = Refined {
        blocks,
        start,
        suffixes,
        heads,
        spanning,
    };
    let first = refined.groups().into_iter().flat_map(|group| {
        let rank = group.rank;
        group.rows.map(move |row| (row, rank))
    });
    let first: Vec<(usize, u64)> = first
        .map(|(row, rank)| (refined.suffixes[row], rank))
        .collect();
    let mut ranks = distribute(processor, blocks, first.into_iter()).await?;
    for round in 1.. {
        processor.enter(round, "round");
        let left = refined.unresolved();
        let somewhere = processor
            .broadcast(&[u64::from(!left.is_empty())])
            .await?
            .concat();
        if !somewhere.contains(&1) {
            break;
        }
        let behind = ranks_behind(processor, &refined, &left, &ranks, depth).await?;
        let rows = refined.sort(processor, &left, behind).await?;
        refined.split(processor, rows).await?;
        refined
            .update_ranks(processor, &left, &mut ranks)
            .await?;
        depth *= 2;
    }
    Ok(refined
        .suffixes
        .into_iter()
        .map(|suffix| suffix as u64)
        .collect())
}

/// Returns the keys of this processor's suffixes with their positions, and the number of symbols in
/// a key. Two supersteps.
async fn first_keys<E: Exchange>(
    processor: &mut Processor<E>,
    blocks: Blocks,
    text: &[u8],
) -> Result<(StringRows, usize)> {
    let mut seen = [0_u64; 4];
    text.iter()
        .for_each(|&byte| seen[usize::from(byte / 64)] |= 1 << (byte % 64));
    for others in processor.broadcast(&seen).await? {
        seen.iter_mut()
            .zip(others)
            .for_each(|(seen, other)| *seen |= other);
    }
    let mut numbers = [0; 256];
    let mut distinct = 0;
    for (byte, number) in numbers.iter_mut().enumerate() {
        distinct += seen[byte / 64] >> (byte % 64) & 1;
        *number = distinct;
    }
    let bits = u64::BITS - distinct.leading_zeros();
    let symbols = (u64::BITS / bits.max(1)) as usize;
    let items = text
        .iter()
        .map(|&byte| numbers[usize::from(byte)])
        .collect();
    let part = with_items_behind(processor, blocks, items, symbols).await?;
    let mut rows = StringRows::new(2);
    for i in blocks.range(processor.number()) {
        let key = part
            .slice(i..i + symbols)
            .iter()
            .fold(0, |key, symbol| key << bits | symbol);
        rows.extend([key, i as u64]);
    }
    Ok((rows, symbols))
}

/// For each unresolved suffix, returns the rank of the suffix `depth` symbols behind it, and 0
/// behind the end. Two supersteps.
async fn ranks_behind<E: Exchange>(
    processor: &mut Processor<E>,
    refined: &Refined,
    left: &[SuffixGroup],
    ranks: &[u64],
    depth: usize,
) -> Result<Vec<u64>> {
    let blocks = refined.blocks;
    let n = refined.blocks.len();
    let wanted = || {
        let rows = left.iter().flat_map(|group| group.rows.clone());
        rows.map(|row| refined.suffixes[row] + depth)
    };
    let mut messages = processor.messages();
    for i in wanted().filter(|&i| i < n) {
        messages[blocks.owner(i)].push(i as u64);
    }
    let asked = processor.all_to_all(messages).await?;
    let answer = |i: &u64| ranks[*i as usize - refined.start];
    let answers = asked
        .iter()
        .map(|message| message.iter().map(answer).collect());
    let answers = processor.all_to_all(answers.collect()).await?;
    let mut answers: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    let mut next = |i| {
        if i < n {
            answers[blocks.owner(i)].next()
        } else {
            Some(0)
        }
    };
    Ok(wanted()
        .map(|i| next(i).expect("an answer for each suffix"))
        .collect())
}

impl Refined {
    /// Returns all groups that have rows here.
    fn groups(&self) -> Vec<SuffixGroup> {
        let mut starts: Vec<usize> = (0..self.heads.len())
            .filter(|&row| self.heads[row])
            .collect();
        if self.heads.first() == Some(&false) {
            starts.insert(0, 0);
        }
        let ends = starts
            .iter()
            .copied()
            .skip(1)
            .chain([self.heads.len()]);
        let group = |(&start, end): (&usize, usize)| {
            // Only the first and the last group here may have rows elsewhere.
            let row = self.start + start;
            let is_outer = start == 0 || end == self.heads.len();
            let set = self
                .spanning
                .iter()
                .find(|set| is_outer && set.rows.contains(&row));
            let rank = set.map_or(row, |set| set.rows.start) as u64 + 1;
            SuffixGroup {
                rows: start..end,
                rank,
                is_spanning: set.is_some(),
            }
        };
        starts.iter().zip(ends).map(group).collect()
    }

    /// Returns the groups of several suffixes.
    fn unresolved(&self) -> Vec<SuffixGroup> {
        let mut groups = self.groups();
        groups.retain(|group| group.is_spanning || group.rows.len() > 1);
        groups
    }

    /// Sorts the unresolved groups by the ranks behind. Returns all rows. Six supersteps if groups
    /// span processors.
    async fn sort<E: Exchange>(
        &self,
        processor: &mut Processor<E>,
        left: &[SuffixGroup],
        behind: Vec<u64>,
    ) -> Result<Vec<SuffixRow>> {
        // The row of a suffix that is a group of its own tells it from its neighbours.
        let row = |(row, &suffix): (usize, &usize)| [row as u64 + 1, 0, suffix as u64];
        let mut rows: Vec<SuffixRow> = (self.start..)
            .zip(&self.suffixes)
            .map(row)
            .collect();
        let mut behind = behind.into_iter();
        let mut spanning = StringRows::new(3);
        for group in left {
            let rows = &mut rows[group.rows.clone()];
            for (row, behind) in rows.iter_mut().zip(&mut behind) {
                (row[0], row[1]) = (group.rank, behind);
            }
            rows.sort_unstable();
            if group.is_spanning {
                spanning.extend(rows.as_flattened().iter().copied());
            }
        }
        if !self.spanning.is_empty() {
            self.sort_spanning(processor, spanning, &mut rows)
                .await?;
        }
        Ok(rows)
    }

    /// Sorts the groups that span processors, and sends them back to their rows.
    async fn sort_spanning<E: Exchange>(
        &self,
        processor: &mut Processor<E>,
        spanning: StringRows,
        rows: &mut [SuffixRow],
    ) -> Result<()> {
        let sorted = sort_strings(processor, vec![spanning]).await?;
        let mut messages = processor.messages();
        for sorted in sorted {
            // The sorted rows are those of these groups, without others between them.
            let all = self
                .spanning
                .iter()
                .flat_map(|set| set.rows.clone());
            for (row, words) in all.skip(sorted.first).zip(sorted.rows.rows()) {
                let message = &mut messages[self.blocks.owner(row)];
                message.extend([row as u64].iter().chain(words));
            }
        }
        for message in processor.all_to_all(messages).await? {
            for words in message.chunks_exact(4) {
                rows[words[0] as usize - self.start].copy_from_slice(&words[1..]);
            }
        }
        Ok(())
    }

    /// Splits groups between suffixes whose ranks behind differ. Two supersteps.
    async fn split<E: Exchange>(
        &mut self,
        processor: &mut Processor<E>,
        rows: Vec<SuffixRow>,
    ) -> Result<()> {
        self.suffixes = rows.iter().map(|row| row[2] as usize).collect();
        let rows = StringRows::from_words(3, rows.into_flattened());
        self.heads = heads(processor, &rows).await?;
        self.spanning = spanning_sets(processor, self.blocks.len(), &self.heads).await?;
        Ok(())
    }

    /// Sends the ranks of the suffixes that were unresolved to the processors that keep them. One
    /// superstep.
    async fn update_ranks<E: Exchange>(
        &self,
        processor: &mut Processor<E>,
        before: &[SuffixGroup],
        ranks: &mut [u64],
    ) -> Result<()> {
        let mut messages = processor.messages();
        let mut before = before.iter().peekable();
        for group in self.groups() {
            while before
                .next_if(|old| old.rows.end <= group.rows.start)
                .is_some()
            {}
            let was_left = before
                .peek()
                .is_some_and(|old| old.rows.start <= group.rows.start);
            let changed = was_left
                .then_some(group.rows)
                .into_iter()
                .flatten();
            for suffix in changed.map(|row| self.suffixes[row]) {
                messages[self.blocks.owner(suffix)].extend([suffix as u64, group.rank]);
            }
        }
        let received = processor.all_to_all(messages).await?;
        for pair in received
            .iter()
            .flat_map(|message| message.chunks_exact(2))
        {
            ranks[pair[0] as usize - self.start] = pair[1];
        }
        Ok(())
    }
}
