//! Long runs of one byte as matches at distance 1, for [`super::matches`].
//!
//! Disk images, sparse files and padded archives have such runs. In the BWT a run takes almost no
//! bytes, but each of its bytes takes time to sort and to restore. If a run is a match, the sort
//! gets its first byte alone, and the others are copied. A match takes about four bytes, which is
//! too much for short runs.
//!
//! [`add`] takes the matches of `long_range` and adds the runs between them. The matches of
//! `match_finder` are left as they are: it finds runs itself, and other matches among its own would
//! change the repeat offsets, on which the minimum length of a match depends. A block with an index
//! has no matches, so all bytes of its runs are sorted.
//!
//! Time: one position in [`STEP`] is looked at. Memory: that of the matches.

use super::matches::CodedMatch;
use crate::coder;
use std::ops::Range;

/// Minimum length of a run in bytes.
const LEAST: usize = if cfg!(fuzzing) { 64 } else { 4096 };

/// Distance in bytes between positions that are looked at: each long run has one in its first half.
const STEP: usize = LEAST / 2;

/// The first long run of `range` of `text`, without the bytes that do not repeat the byte before.
pub(super) fn first(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let Range { start, end } = range;
    let mut at = if start + LEAST <= end { start } else { end };
    while at < end {
        let byte = text[at];
        let run_end = coder::run_end(&text[..end], at);
        let run_start = at - coder::run_before(&text[start..at], byte);
        if run_end - run_start >= LEAST {
            return Some(first_copied(text, run_start)..run_end);
        }
        at = run_end.max(at + STEP);
    }
    None
}

/// The matches `others` of `text` and the long runs between them, in order.
pub(super) fn add(text: &[u8], others: Option<Vec<CodedMatch>>) -> Option<Vec<CodedMatch>> {
    // A text of one run is its own transform: neither the sort nor the inverse takes time.
    if text.is_empty() || coder::run_end(text, 0) == text.len() {
        return others;
    }
    let mut list = MatchList {
        text,
        matches: Vec::new(),
        end: 0,
    };
    let mut end = 0;
    for other in others.unwrap_or_default() {
        let start = end + other.literals;
        end = start + other.length;
        list.push_runs(start);
        list.push(start..end, other.distance);
    }
    list.push_runs(text.len());
    (!list.matches.is_empty()).then_some(list.matches)
}

/// Matches of a text in order.
struct MatchList<'a> {
    text: &'a [u8],
    matches: Vec<CodedMatch>,
    /// The end of the last match in the text.
    end: usize,
}

impl MatchList<'_> {
    fn push(&mut self, range: Range<usize>, distance: usize) {
        let literals = range.start - self.end;
        self.matches.push(CodedMatch {
            literals,
            distance,
            length: range.len(),
        });
        self.end = range.end;
    }

    /// Appends the long runs from the last match to `end`.
    fn push_runs(&mut self, end: usize) {
        while let Some(run) = first(self.text, self.end..end) {
            self.push(run, 1);
        }
    }
}

/// The first position in a run from `start` on that equals the byte before it. This is `start` if
/// the match before ends inside the run.
fn first_copied(text: &[u8], start: usize) -> usize {
    match start.checked_sub(1) {
        Some(before) if text[before] == text[start] => start,
        _ => start + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MATCHES, apply, cases, matches, undo};
    use super::*;

    /// Number of literals that remain of `text`, which is restored from them.
    fn literals_after(text: &[u8], found: &[CodedMatch]) -> usize {
        let mut literals = text.to_vec();
        let mut side = Vec::new();
        matches::encode(&mut literals, found, &mut side);
        assert!(matches::decode(&literals, &mut &side[..], text.len()).unwrap() == text);
        literals.len()
    }

    /// Matches at distance 1 that cover these ranges.
    fn runs(ranges: &[Range<usize>]) -> Option<Vec<CodedMatch>> {
        let mut list = MatchList {
            text: &[],
            matches: Vec::new(),
            end: 0,
        };
        for range in ranges {
            list.push(range.clone(), 1);
        }
        (!ranges.is_empty()).then_some(list.matches)
    }

    #[test]
    fn runs_at_all_places_are_found_if_they_are_long() {
        let letters = cases::text(10_000);
        for before in [0, 1, 2, 700, STEP - 1, STEP, STEP + 1, LEAST] {
            for length in [2, STEP, LEAST - 1, LEAST, LEAST + 1, 3 * LEAST - 7, 50_000] {
                for between in [1, 2, STEP, 5000] {
                    let parts = [&letters[..before], &vec![7; length]];
                    let text = [&parts.concat()[..], &letters[..between], parts[1]].concat();
                    let first = before + 1..before + length;
                    let second = text.len() - length + 1..text.len();
                    let expected = if length < LEAST {
                        vec![]
                    } else {
                        vec![first, second]
                    };
                    let found = add(&text, None);
                    assert_eq!(found, runs(&expected), "{before}, {length}, {between}");
                    literals_after(&text, &found.unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn adjacent_runs_are_matches_of_their_own() {
        let text: Vec<u8> = (0..=255)
            .flat_map(|byte| vec![byte; LEAST])
            .collect();
        let found = add(&text, None).unwrap();
        assert_eq!(found.len(), 256);
        assert_eq!(literals_after(&text, &found), 256);
    }

    #[test]
    fn text_without_long_runs_and_text_of_one_run_have_none() {
        assert_eq!(add(&cases::text(100_000), None), None);
        assert_eq!(add(&[7; 3 * LEAST], None), None);
        assert_eq!(add(b"", None), None);
    }

    #[test]
    fn other_matches_stay_and_the_runs_between_them_are_found() {
        // Three times 100 letters and a run. Other matches begin, end and cut the runs.
        let long = 5 * LEAST;
        let text = [&cases::text(100)[..], &vec![0; long]]
            .concat()
            .repeat(3);
        let period = 100 + long;
        let other = |literals, length| CodedMatch {
            literals,
            distance: period,
            length,
        };
        for (others, literals) in [
            (vec![other(period, 100)], 203),
            (vec![other(2 * period - 2 * LEAST, 100 + 3 * LEAST)], 202),
            (
                vec![
                    other(period, 100 + LEAST),
                    other(LEAST, LEAST),
                    other(100, STEP),
                ],
                302,
            ),
            (vec![other(period, 2 * period)], 101),
        ] {
            let found = add(&text, Some(others.clone())).unwrap();
            let end_of = |list: &[CodedMatch], last: usize| {
                list[..=last]
                    .iter()
                    .map(|one| one.literals + one.length)
                    .sum::<usize>()
            };
            let ends = |list: &[CodedMatch]| {
                let of_others = (0..list.len()).filter(|&n| list[n].distance == period);
                of_others
                    .map(|n| (end_of(list, n), list[n].length))
                    .collect::<Vec<_>>()
            };
            assert_eq!(ends(&found), ends(&others));
            assert_eq!(literals_after(&text, &found), literals, "{others:?}");
        }
    }

    #[test]
    fn a_sparse_block_is_sorted_without_its_runs() {
        let text = cases::text(40_000);
        let block = [
            &text[..],
            &vec![0; 1 << 20],
            &text[..20_000],
            &vec![255; 1 << 20],
        ]
        .concat();
        let filtered = apply(block.clone()).unwrap();
        assert!(filtered.text.len() <= 60_002, "{}", filtered.text.len());
        assert!(undo(filtered, block.len()).unwrap() == block);
    }

    #[test]
    fn a_thousand_runs_come_back() {
        let letters = cases::random(1000, 256);
        let mut block = Vec::new();
        for (number, &letter) in letters.iter().enumerate() {
            block.extend(vec![letter; LEAST - 2 + number % 5]);
            block.extend(&letters[..number % 7]);
        }
        let filtered = apply(block.clone()).unwrap();
        assert!(filtered.has(MATCHES));
        assert!(
            filtered.text.len() < block.len() * 45 / 100,
            "{}",
            filtered.text.len()
        );
        assert!(undo(filtered, block.len()).unwrap() == block);
    }
}
