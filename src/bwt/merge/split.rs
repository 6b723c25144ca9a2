//! Finds the position at which to cut a block in two, and the number of bytes of B to sort with A.
//!
//! Let A be sorted with the first L bytes of B. Two suffixes of A can come out in the wrong order
//! only if one of them is equal to the other up to the end of these bytes. Then its last L bytes,
//! which are the beginning of B, also occur in the other one, from a position in A on. So L is
//! enough if it is longer than any match of the beginning of B that starts in A. Such matches are
//! short in most data. If there is a copy of the text around the cut, other cuts are tried.

use super::super::sort_limits::MergeLimits;
use crate::base::equal_bytes::common_prefix;
use rayon::prelude::*;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// The length of A, a multiple of the sample rate.
    pub at: usize,
    /// Number of bytes of B to sort with A.
    pub overlap: usize,
}

/// Cuts to try, in 1/32 of the block.
const PLACES: [usize; 5] = [16, 15, 17, 14, 18];

/// Match starts examined per task.
const TASK: usize = if cfg!(any(test, fuzzing)) {
    50
} else {
    1 << 18
};

/// Bytes per comparison of matches. Shorter matches are not searched.
const WORD: usize = 8;

/// The first cut that works. `None` is possible in blocks that repeat themselves.
pub(super) fn find(block: &[u8], sample_rate: usize, limits: MergeLimits) -> Option<Split> {
    let most = (block.len() / limits.overlap_share).max(WORD);
    let mut cuts: Vec<usize> = PLACES
        .iter()
        .map(|place| (block.len() * place / 32).next_multiple_of(sample_rate))
        .collect();
    cuts.dedup();
    cuts.into_iter()
        .filter(|&at| at > 0 && at + most < block.len())
        .find_map(|at| {
            let overlap = longest_match(block, at, most)? + 1;
            Some(Split { at, overlap })
        })
}

/// The length of the longest match of `block[at..]` that starts before `at`, and at least
/// `WORD - 1`. `None` if it is `most` or longer, or if the search takes too long.
fn longest_match(block: &[u8], at: usize, most: usize) -> Option<usize> {
    let tasks = (0..at.div_ceil(TASK)).into_par_iter();
    tasks
        .map(|task| longest_match_from(block, at, task * TASK..at.min((task + 1) * TASK), most))
        .try_reduce(|| WORD - 1, |x, y| Some(x.max(y)))
}

/// `longest_match` among the matches that start in `starts`.
fn longest_match_from(block: &[u8], at: usize, starts: Range<usize>, most: usize) -> Option<usize> {
    let mut longest = WORD - 1;
    let mut start = starts.start;
    let mut effort = most + 4 * starts.len();
    loop {
        // A longer match must also contain the last word that makes it longer.
        let before = longest + 1 - WORD;
        let word = word_at(block, at + before);
        let words = block[start + before..starts.end + longest].windows(WORD);
        let Some(skipped) = words.into_iter().position(|w| to_word(w) == word) else {
            return Some(longest);
        };
        start += skipped;
        let matching = common_prefix(&block[start..], &block[at..][..most]);
        effort = effort.checked_sub(matching)?;
        longest = longest.max(matching);
        start += 1;
        if longest >= most {
            return None;
        }
        if start >= starts.end {
            return Some(longest);
        }
    }
}

fn word_at(block: &[u8], pos: usize) -> u64 {
    to_word(&block[pos..pos + WORD])
}

#[inline]
fn to_word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(
        bytes
            .try_into()
            .expect("as many bytes as a word has"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::naive;
    use super::*;

    #[test]
    fn finds_the_longest_match() {
        for (name, block) in naive::blocks() {
            for at in [1, block.len() / 3, block.len() / 2]
                .into_iter()
                .filter(|&at| at > 0)
            {
                let most = 24.min(block.len().saturating_sub(at + 1));
                if most < WORD {
                    continue;
                }
                let lengths = (0..at).map(|start| common_prefix(&block[start..], &block[at..]));
                let longest = lengths.max().unwrap().max(WORD - 1);
                match longest_match(&block, at, most) {
                    Some(found) => assert_eq!(found, longest, "{name}, {at}"),
                    None => assert!(longest >= WORD, "{name}, {at}"),
                }
            }
        }
    }
}
