//! The k-mer table: the intervals of all strings of k symbols, so that the search of a pattern
//! starts with its last k symbols done.
//!
//! It has only strings of the most frequent symbols, as many as make up nearly all of the text, so
//! that k can be large: 9 bases of a genome, 3 or 4 letters of English. It has at most one entry of
//! 8 bytes, or 16 if rows have 64 bits, per 32 bytes of text. An entry takes one step of backward
//! search from the entry of a string shorter by one symbol. So a table pays from one pattern per 16
//! entries on; on a GPU, with cheaper steps, from 8 patterns per entry on.

use super::FmIndex;
use super::layout::with_layout;
use super::rank::Rank;
use crate::base::allocation;
use crate::base::cache_lines::prefetch;
use crate::base::positions::Row;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Bytes of text per entry.
const SHARE: usize = 32;

/// Minimum share of the text that the frequent symbols make up, in 64ths.
const FREQUENT: usize = 61;

/// Number of entries per pattern from which a table pays.
const WORTH_IT: usize = 16;

/// Number of patterns per entry from which a table pays on a GPU, which makes some ten steps in
/// less time than copying the pattern takes.
const WORTH_IT_ON_GPU: usize = 8;

/// The code of symbols that are not frequent.
const NONE: u8 = 0xFF;

/// The table for one block.
#[derive(Debug)]
pub(super) struct KmerTable<R> {
    /// The length k of the strings.
    pub(super) length: usize,
    pub(super) sigma: usize,
    pub(super) codes: Box<[u8; 256]>,
    /// Lower and upper end of the interval of each string. The index is the string as a number to
    /// the base `sigma`, with its last symbol as the lowest digit.
    pub(super) intervals: Vec<[R; 2]>,
}

/// Maximum size in bytes of the table of a block of `len` bytes.
pub(super) fn most_bytes<R>(len: usize) -> usize {
    size_of::<[R; 2]>() * (len / SHARE + 1)
}

impl<R: Row> FmIndex<R> {
    /// The table, if enough patterns were searched, including the `patterns` now, for it to pay.
    /// Making it uses all threads, so searches in the same index must not run in parallel.
    pub(super) fn kmers_for(&self, patterns: usize) -> Option<&KmerTable<R>> {
        self.kmers_from(self.len / SHARE / WORTH_IT, patterns)
    }

    /// The table, if enough patterns were searched for it to pay on a GPU.
    pub(super) fn kmers_for_gpu(&self, patterns: usize) -> Option<&KmerTable<R>> {
        self.kmers_from(self.len / SHARE * WORTH_IT_ON_GPU, patterns)
    }

    /// The table, made once `enough` patterns were searched.
    fn kmers_from(&self, enough: usize, patterns: usize) -> Option<&KmerTable<R>> {
        let searched = self
            .searched
            .fetch_add(patterns, Ordering::Relaxed)
            + patterns;
        if searched >= enough && patterns > WORTH_IT {
            return Some(self.kmers.get_or_init(|| KmerTable::new(self)));
        }
        self.kmers.get()
    }
}

impl<R: Row> KmerTable<R> {
    fn new(index: &FmIndex<R>) -> Self {
        let symbols = frequent(index);
        let sigma = symbols.len();
        let mut codes = Box::new([NONE; 256]);
        for (code, &symbol) in symbols.iter().enumerate() {
            codes[usize::from(symbol)] = code as u8;
        }
        let mut intervals = vec![[R::default(), R::new(index.len + 1)]];
        let mut length = 0;
        while intervals.len() * sigma * SHARE <= index.len
            && sigma > 1
            && let Some(all) =
                with_layout!(&index.layout, rank => longer(index, rank, &symbols, &intervals))
        {
            intervals = all;
            length += 1;
        }
        KmerTable {
            length,
            sigma,
            codes,
            intervals,
        }
    }

    /// The entry of the last symbols of `pattern`, and the rest of it. The entry is prefetched.
    #[inline(always)]
    pub(super) fn find<'p>(&self, pattern: &'p [u8]) -> Option<(&'p [u8], usize)> {
        let (left, last) = pattern.split_at_checked(pattern.len().checked_sub(self.length)?)?;
        let mut entry = 0;
        for &c in last {
            let code = self.codes[usize::from(c)];
            if code == NONE {
                return None;
            }
            entry = entry * self.sigma + usize::from(code);
        }
        prefetch(&self.intervals, entry);
        Some((left, entry))
    }

    /// The interval of an entry.
    #[inline(always)]
    pub(super) fn interval(&self, entry: usize) -> Range<R> {
        let [lo, hi] = self.intervals[entry];
        lo..hi
    }

    pub(super) fn size(&self) -> usize {
        size_of::<[R; 2]>() * self.intervals.len()
    }
}

/// The fewest symbols that make up nearly all of the text.
fn frequent<R: Row>(index: &FmIndex<R>) -> Vec<u8> {
    let count = |c: &u8| index.starts[usize::from(*c) + 1] - index.starts[usize::from(*c)];
    let mut symbols: Vec<u8> = (0..=255)
        .filter(|c| count(c) > R::default())
        .collect();
    symbols.sort_by_key(|c| std::cmp::Reverse(count(c)));
    let mut covered = 0;
    let enough = symbols.iter().position(|c| {
        covered += count(c).get();
        covered * 64 >= index.len * FREQUENT
    });
    symbols.truncate(enough.map_or(symbols.len(), |last| last + 1));
    symbols
}

/// The intervals of the strings of the next length: each symbol put before each string. `None` if
/// there is no memory.
fn longer<R: Row>(
    index: &FmIndex<R>,
    rank: &impl Rank<R>,
    symbols: &[u8],
    shorter: &[[R; 2]],
) -> Option<Vec<[R; 2]>> {
    let mut all = allocation::zeroed(symbols.len() * shorter.len())?;
    all.par_chunks_mut(shorter.len())
        .zip(symbols)
        .for_each(|(longer, &c)| {
            longer
                .par_iter_mut()
                .zip(shorter)
                .for_each(|(longer, &[lo, hi])| {
                    if lo != hi {
                        let interval = index.step(rank, c, lo..hi);
                        *longer = [interval.start, interval.end];
                    }
                });
        });
    Some(all)
}
