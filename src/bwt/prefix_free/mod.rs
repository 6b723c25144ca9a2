//! Prefix-free parsing: a block that repeats itself, sorted by its dictionary and its parse.
//!
//! Some windows of 8 bytes, chosen by a hash, cut the block into *phrases*. A phrase reaches from
//! one such window up to and including the next, so that neighbours overlap by a window
//! (`phrases`). If the block repeats itself, so do its phrases, and there are far fewer different
//! ones than bytes:
//!
//! - the *dictionary* holds each phrase once, and libsais sorts its suffixes (`dictionary`);
//! - the *parse* is the phrases of the block as ranks in the dictionary: a text of its own, which
//!   libsais sorts too (`parse`).
//!
//! A suffix of the block begins with a suffix of a phrase that is longer than a window. Of two of
//! those neither is a prefix of the other, since a window that cuts occurs only at their ends. So
//! different ones decide which suffix of the block is smaller; if they are equal, the phrases that
//! follow decide. The sorted dictionary gives the BWT in order (`build_bwt`). If a suffix has the
//! same byte before it in all phrases that end in it, the BWT has a run of that byte; otherwise the
//! lists of the occurrences of these phrases are merged.
//!
//! C. Boucher, T. Gagie, A. Kuhnle, B. Langmead, G. Manzini and T. Mun, *Prefix-free parsing for
//! building big BWTs*, Algorithms for Molecular Biology 14:13, 2019.
//!
//! | file | job |
//! |---|---|
//! | `phrases` | cuts a block into phrases, and finds equal ones |
//! | `dictionary` | the different phrases, and their sorted suffixes |
//! | `parse` | the block as ranks of phrases, and its sorted suffixes |
//! | `build_bwt` | dictionary and parse -> BWT |
//!
//! Time: O(n), except for sorting the phrases of the dictionary, mostly in passes shared by all
//! threads; versions of one file take a quarter of the time of libsais. Memory: less than 6 bytes
//! per byte with its limits (`sort_limits`).

mod build_bwt;
mod dictionary;
mod parse;
mod phrases;

use super::Bwt;
use super::sort_limits::ParsingLimits;
use crate::base::content_defined;
use crate::base::error::Error;
use dictionary::Dictionary;
use parse::SortedParse;
use phrases::Phrases;

/// The average number of bytes between two phrases of `block`, or `None` if it repeats itself too
/// little to be sorted like this.
pub(crate) fn spacing(block: &[u8], limits: ParsingLimits) -> Option<u32> {
    if block.len() < limits.min_len {
        return None;
    }
    let ratio = content_defined::deduplication_ratio(block).filter(|r| *r >= limits.repeats)?;
    // With more repeats, phrases may be longer before the dictionary takes longer than the parse.
    Some(if ratio > 8 * limits.repeats {
        4 * limits.spacing
    } else {
        limits.spacing
    })
}

/// Sorts a block by prefix-free parsing on the current rayon pool, or returns `None` if its phrases
/// exceed the limits.
pub(crate) fn sort(
    block: &[u8],
    sample_rate: u32,
    spacing: u32,
    limits: ParsingLimits,
) -> Result<Option<Bwt>, Error> {
    let Some(phrases) = Phrases::cut(block, spacing, limits)? else {
        return Ok(None);
    };
    let Some(equal) = phrases.find_equal()? else {
        return Ok(None);
    };
    let Some((dictionary, mut names)) = Dictionary::new(&phrases, &equal, limits)? else {
        return Ok(None);
    };
    drop(equal);
    let (suffixes, parse) = rayon::join(|| dictionary.suffixes(), || parse::suffixes(&mut names));
    let parse = SortedParse::new(&dictionary, &names, parse?)?;
    let samples = parse.samples(&phrases, &dictionary, &names, sample_rate);
    drop((phrases, names));
    build_bwt::build(
        block,
        sample_rate,
        &dictionary,
        &suffixes?,
        &parse,
        &samples,
    )
    .map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::{CpuSorter, cases, naive};
    use super::*;

    /// Sorts and compares. Returns true if the block was sorted by its phrases.
    fn check(name: &str, block: &[u8], expected: &Bwt, spacing: u32) -> bool {
        let rate = expected.sample_rate;
        let sorted = sort(block, rate, spacing, ParsingLimits::LOWEST).unwrap();
        assert!(
            sorted.as_ref().is_none_or(|s| s == expected),
            "{name}, rate {rate}, {spacing}"
        );
        sorted.is_some()
    }

    #[test]
    fn sorts_as_the_oracle_does() {
        for pool in naive::pools() {
            for (name, block) in naive::blocks() {
                for rate in [2, 64, 1 << 30] {
                    let expected = naive::sort(&block, rate);
                    let sorted = pool.install(|| check(&name, &block, &expected, 4));
                    assert!(sorted, "{name} was refused");
                }
            }
        }
    }

    #[test]
    fn sorts_copies_as_libsais_does() {
        let source = cases::random(1 << 20, 1 << 16);
        let mut sizes = source.iter().map(|&b| usize::from(b)).cycle();
        let mut size = || sizes.next().unwrap();
        let mut sorted = 0;
        for round in 0..600 {
            let alphabet = [1, 2, 3, 4, 7, 16, 64, 256][size() % 8];
            let len = 16 + size() * if round % 9 == 0 { 64 } else { 8 };
            let start = (round * 7919 + size()) % ((1 << 20) - len);
            let symbol = |&b: &u8| (usize::from(b) % alphabet) as u8;
            let mut block: Vec<u8> = source[start..start + len]
                .iter()
                .map(symbol)
                .collect();
            for _ in 0..round % 50 {
                let copied = 1 + (size() + 256 * size()) % (len / 2);
                let from = size() + 256 * size();
                let to = size() + 256 * size();
                let from = from % (len - copied);
                let to = to % (len - copied);
                block.copy_within(from..from + copied, to);
                block[to] = symbol(&block[from]);
            }
            let expected = CpuSorter::new()
                .sort_on_one_thread(&block, 2 << (size() % 8))
                .unwrap();
            sorted += usize::from(check(
                &format!("round {round}"),
                &block,
                &expected,
                1 + size() as u32 % 12,
            ));
        }
        assert!(sorted > 450, "{sorted} of 600");
    }

    #[test]
    fn sorts_shapes_as_libsais_does() {
        for (name, block) in cases::shapes(100_000) {
            let block = block.repeat(3);
            if !block.is_empty() {
                check(
                    &name,
                    &block,
                    &CpuSorter::new()
                        .sort_on_one_thread(&block, 1024)
                        .unwrap(),
                    8,
                );
            }
        }
    }

    #[test]
    fn takes_blocks_that_repeat_themselves() {
        let text = cases::text(1 << 17);
        let usual = |block: &[u8]| {
            let spacing = spacing(block, ParsingLimits::USUAL)?;
            sort(block, 1 << 15, spacing, ParsingLimits::USUAL).unwrap()
        };
        let versions = text.repeat(40);
        assert!(usual(&versions).is_some_and(|s| {
            s == CpuSorter::new()
                .sort_on_one_thread(&versions, 1 << 15)
                .unwrap()
        }));
        assert!(usual(&text.repeat(7)).is_none(), "too short");
        assert!(usual(&cases::random(1 << 21, 256)).is_none());
        assert!(
            usual(&vec![0; 1 << 21]).is_none(),
            "one phrase for each byte, or one for all"
        );
    }
}
