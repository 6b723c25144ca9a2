//! Common strings of two sets of sequences: the longest regions, all maximal exact matches, and
//! those that are unique.

use super::interval_walk::{FEW, IntervalWalk, Pair};
use super::joined_text::JoinedText;
use super::result_budget::Budget;
use super::sequence_set::{Sequences, Strands};
use crate::analysis::lcp::{LcpArrays, LcpSorter};
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::LcpRows;
use crate::options::Options;
use rayon::prelude::*;

/// A string that a record of each of two sets has. Positions start at 0, in the records as they are
/// given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// Record of the first set.
    pub a: u32,
    /// Start in that record.
    pub a_start: u32,
    /// Record of the second set.
    pub b: u32,
    /// Start in that record. For a reverse match it is the position of its complement's last base.
    pub b_start: u32,
    /// True if the second record has the reverse complement.
    pub is_reverse: bool,
    /// Number of bases.
    pub length: u32,
}

/// Finds the longest regions that a record of `a` and one of `b` have in common, all of that
/// length.
///
/// They are in the order of `b`: by record, forward before reverse, by position on that strand,
/// then by record and position in `a`. A region that is its own reverse complement is found on both
/// strands. This is the problem of Y. Zhong et al., *Solving the longest overlap region problem for
/// noncoding DNA sequences with GPU*, arXiv:1404.3448, 2014.
///
/// # Errors
/// [`Error::Usage`] for more than 2^31 - 1 bases with their strands, [`Error::Limit`] if
/// `Options::memory` allows too little, [`Error::Io`] if there is no memory.
pub fn longest_common(
    a: &Sequences,
    b: &Sequences,
    strands: Strands,
    options: &Options,
) -> Result<Vec<Match>> {
    longest_common_on(&LcpSorter::new(options)?, a, b, strands)
}

/// Finds the same regions as [`longest_common`] by a given sorter with its options. A GPU stays
/// open from one call to the next.
///
/// ```
/// use bwz::lcp::LcpSorter;
/// use bwz::overlap::{Sequences, Strands, longest_common_on};
///
/// let sorter = LcpSorter::new(&bwz::Options::new())?;
/// let (mut a, mut b) = (Sequences::new(), Sequences::new());
/// a.add(b"a", b"CCGATTACA")?;
/// b.add(b"b", b"GATTACCC")?;
/// let found = longest_common_on(&sorter, &a, &b, Strands::Forward)?;
/// assert_eq!((found[0].a_start, found[0].b_start, found[0].length), (2, 0, 6));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// As [`longest_common`].
pub fn longest_common_on(
    sorter: &LcpSorter,
    a: &Sequences,
    b: &Sequences,
    strands: Strands,
) -> Result<Vec<Match>> {
    let text = JoinedText::new(a, b, strands, sorter.options())?;
    let find = || longest_pairs(&text, sorter);
    let pairs = sorter.find_true(find, |pairs| are_in(&text, pairs, sorter))?;
    matches(&text, pairs)
}

/// Finds the pairs of the longest regions, in the order of their matches.
fn longest_pairs(text: &JoinedText, sorter: &LcpSorter) -> Result<Vec<Pair>> {
    let end = text.first_end();
    let arrays = text.arrays(sorter, LcpRows::LongestAcross(end))?;
    // Rows around missing ones have less in common.
    let sides = arrays
        .suffixes
        .windows(2)
        .map(|pair| (pair[0] < end) != (pair[1] < end));
    let lcp = arrays.lcp.iter().skip(1).zip(sides);
    match lcp
        .filter_map(|(&lcp, differ)| differ.then_some(lcp))
        .max()
    {
        None | Some(0) => Ok(Vec::new()),
        Some(least) => pairs_in(text, &arrays, least, false, sorter),
    }
}

/// Finds all matches of at least `least` bases that cannot be made longer at either end. They are
/// in the order of [`longest_common`]. These are the matches that `mummer -maxmatch -n` finds.
///
/// ```
/// use bwz::overlap::{Sequences, Strands, maximal_matches};
///
/// let (mut a, mut b) = (Sequences::new(), Sequences::new());
/// a.add(b"a", b"CCACGTTTACGT")?;
/// b.add(b"b", b"GACGTG")?;
/// let found = maximal_matches(&a, &b, 4, Strands::Forward, &bwz::Options::new())?;
/// let places: Vec<_> = found.iter().map(|m| (m.a_start, m.b_start, m.length)).collect();
/// assert_eq!(places, [(2, 1, 4), (8, 1, 4)]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// As [`longest_common`]; [`Error::Usage`] for a `least` of 0.
pub fn maximal_matches(
    a: &Sequences,
    b: &Sequences,
    least: u32,
    strands: Strands,
    options: &Options,
) -> Result<Vec<Match>> {
    sorted_matches(a, b, least, strands, false, options)
}

/// Finds those [`maximal_matches`] that occur once in `a` and once in their strand of the record of
/// `b`. These are the matches that `mummer -mum -n` finds.
///
/// # Errors
/// As [`maximal_matches`].
pub fn unique_matches(
    a: &Sequences,
    b: &Sequences,
    least: u32,
    strands: Strands,
    options: &Options,
) -> Result<Vec<Match>> {
    sorted_matches(a, b, least, strands, true, options)
}

/// Checks the minimum length of matches.
pub(super) fn check_least(least: u32) -> Result<()> {
    match least {
        0 => Err(Error::Usage("a match has at least 1 base".into())),
        _ => Ok(()),
    }
}

fn sorted_matches(
    a: &Sequences,
    b: &Sequences,
    least: u32,
    strands: Strands,
    unique: bool,
    options: &Options,
) -> Result<Vec<Match>> {
    check_least(least)?;
    sorted_matches_on(&LcpSorter::new(options)?, a, b, least, strands, unique)
}

pub(super) fn sorted_matches_on(
    sorter: &LcpSorter,
    a: &Sequences,
    b: &Sequences,
    least: u32,
    strands: Strands,
    unique: bool,
) -> Result<Vec<Match>> {
    let text = JoinedText::new(a, b, strands, sorter.options())?;
    let find = || {
        let arrays = text.arrays(sorter, LcpRows::AtLeast(least))?;
        pairs_in(&text, &arrays, least, unique, sorter)
    };
    let pairs = sorter.find_true(find, |pairs| are_in(&text, pairs, sorter))?;
    matches(&text, pairs)
}

/// Returns true if the text has the same bases at both positions of each pair.
fn are_in(text: &JoinedText, pairs: &[Pair], sorter: &LcpSorter) -> bool {
    let agree = |pair: &Pair| text.agree(pair.a, pair.b, pair.length);
    sorter
        .pool()
        .install(|| pairs.par_iter().all(agree))
}

/// Finds the pairs that agree for at least `least` bases, in the order of their matches.
fn pairs_in(
    text: &JoinedText,
    arrays: &LcpArrays,
    least: u32,
    unique: bool,
    sorter: &LcpSorter,
) -> Result<Vec<Pair>> {
    let budget = Budget::new(text.len(), sorter.options());
    let walk = IntervalWalk {
        text,
        arrays,
        least,
        once: unique,
        budget: &budget,
    };
    let mut pairs = walk.pairs(sorter.pool())?;
    if unique {
        keep_unique(&mut pairs, text, arrays)?;
    }
    match pairs.len() <= FEW {
        true => pairs.sort_unstable(),
        false => sorter
            .pool()
            .install(|| pairs.par_sort_unstable()),
    }
    Ok(pairs)
}

fn matches(text: &JoinedText, pairs: Vec<Pair>) -> Result<Vec<Match>> {
    let no_memory = || Error::out_of_memory("for the matches");
    let mut found = allocation::with_capacity(pairs.len()).ok_or_else(no_memory)?;
    found.extend(pairs.into_iter().map(|Pair { b, a, length }| {
        let of_a = text.strand(a);
        let of_b = text.strand(b);
        Match {
            a: of_a.record,
            a_start: of_a.place(a, length),
            b: of_b.record,
            b_start: of_b.place(b, length),
            is_reverse: of_b.is_reverse,
            length,
        }
    }));
    Ok(found)
}

/// Keeps the pairs that occur once in the first set and once in their strand of the second.
fn keep_unique(pairs: &mut Vec<Pair>, text: &JoinedText, arrays: &LcpArrays) -> Result<()> {
    let repeated = repeated_lengths(text, arrays)?;
    pairs.retain(|pair| pair.length > repeated[pair.a as usize]);
    // A string that occurs once in the first set and again in a strand is a part of another pair
    // there, or all of it.
    let key = |pair: &Pair| {
        (
            text.strand_at(pair.b),
            pair.a,
            u32::MAX - pair.length,
            pair.b,
        )
    };
    pairs.sort_by_cached_key(key);
    let mut kept = Vec::new();
    let mut strand = u32::MAX;
    let mut covered = 0;
    for (n, pair) in pairs.iter().enumerate() {
        let here = text.strand_at(pair.b);
        let end = pair.a + pair.length;
        if here != strand {
            (strand, covered) = (here, 0);
        }
        let is_twice = pairs.get(n + 1).is_some_and(|next| {
            (next.a, next.length) == (pair.a, pair.length) && text.strand_at(next.b) == here
        });
        if end > covered && !is_twice {
            kept.push(*pair);
        }
        covered = covered.max(end);
    }
    *pairs = kept;
    Ok(())
}

/// For each position of the first set, the longest length for which it agrees with another of that
/// set.
fn repeated_lengths(text: &JoinedText, arrays: &LcpArrays) -> Result<Vec<u32>> {
    let end = text.first_end();
    let lengths = allocation::filled(0, end as usize);
    let mut lengths = lengths.ok_or_else(|| Error::out_of_memory("for the matches"))?;
    let mut last = None;
    let mut since = 0;
    for (&pos, &lcp) in arrays.suffixes.iter().zip(&arrays.lcp) {
        since = lcp.min(since);
        if pos < end {
            let lengths = &mut lengths[..];
            if let Some(last) = last {
                let last: &mut u32 = &mut lengths[last as usize];
                *last = since.max(*last);
                lengths[pos as usize] = since;
            }
            (last, since) = (Some(pos), u32::MAX);
        }
    }
    Ok(lengths)
}
