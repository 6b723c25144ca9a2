//! Matches with at most one mismatch: at least one half of such a match is exact.
//!
//! Both halves of each pattern are searched exactly. If only one half is found at a place, the
//! bytes beside it are compared with the other half until two differ. These bytes are extracted by
//! the index if there are few of them; otherwise the block is decoded.
//!
//! Time and memory grow with the occurrences of the halves. Patterns of a few bytes have very many
//! of them, so `section_search` searches only some patterns at a time.

use super::block_ranges;
use super::search_batch::Batch;
use super::search_results::{BatchMatches, WantedPositions};
use super::searched_block::SearchedBlock;
use super::sections::{Layouts, Section, SequenceSection};
use super::session::Session;
use crate::base::error::{Error, Result};
use crate::base::shortage;
use crate::options::Letters;
use rayon::prelude::*;
use std::iter;
use std::ops::Range;

/// Number of bytes compared at once.
const CHUNK: usize = 256;

/// The mark before the residues of each record. No match crosses it.
const RECORD: u8 = b'\n';

/// Maximum number of bytes compared for a batch in a section: some minutes on one thread.
const MOST_COMPARED: u64 = 1 << 37;

/// Bytes of memory per place of a half: its position, and the candidate while all candidates are
/// collected.
const PER_PLACE: u64 = 112;

/// A place at which one half of a pattern occurs, and the result of comparing the other half.
struct Candidate {
    /// Number of the pattern.
    pattern: usize,
    /// Position at which the whole pattern would start.
    start: u64,
    /// The half that is still to be compared; empty if both halves occur.
    left: Range<usize>,
    /// Number of bytes found to differ. Comparing stops at 2.
    differing: usize,
    /// Place of the differing byte in the pattern, if one differs.
    differs_at: Option<usize>,
}

/// The patterns as given, if case matters: a letter of another case is a mismatch.
#[derive(Clone, Copy)]
pub(crate) struct MatchedCase<'a> {
    pub section: &'a SequenceSection<'a>,
    pub patterns: &'a [&'a [u8]],
}

impl Candidate {
    /// The positions of the half that is compared.
    fn place(&self) -> Range<u64> {
        self.start + self.left.start as u64..self.start + self.left.end as u64
    }
}

/// Finds the matches in a section that have at most one mismatch.
pub(crate) fn search(
    batch: &Batch,
    section: &Section,
    session: &mut Session,
    case: Option<MatchedCase>,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    let blocks = section.blocks();
    let by_sequence = section.sequences().is_some();
    let mut candidates = candidates(batch, &blocks, session)?;
    check_cost(&candidates)?;
    for block in blocks {
        let Range { start, end } = block.section_range();
        let range = |candidate: &Candidate| {
            let within = |at: u64| (at.clamp(start, end) - start) as usize;
            let place = candidate.place();
            within(place.start)..within(place.end)
        };
        let sizes = candidates
            .par_iter()
            .map(|candidate| range(candidate).len() as u64);
        let walks = candidates
            .par_iter()
            .filter(|candidate| !range(candidate).is_empty())
            .count();
        let size: u64 = sizes.sum();
        if size == 0 {
            continue;
        }
        let open = block_ranges::open_for_ranges(block, size, walks as u64)?;
        candidates
            .par_iter_mut()
            .try_for_each(|candidate| -> Result<()> {
                let range = range(candidate);
                if range.is_empty() || candidate.differing > 1 {
                    return Ok(());
                }
                let pattern = &batch.patterns[candidate.pattern][candidate.left.clone()];
                let skipped = start + range.start as u64 - candidate.place().start;
                let bytes = block_ranges::text_range(&open, range)?;
                let pattern = &pattern[skipped as usize..][..bytes.len()];
                let (differing, at) = differing(&bytes, pattern, batch, by_sequence);
                candidate.differing += differing;
                let within = candidate.left.start + skipped as usize;
                candidate.differs_at = candidate.differs_at.or(at.map(|at| within + at));
                Ok(())
            })?;
    }
    candidates.retain(|candidate| candidate.differing <= 1);
    if let Some(case) = case {
        keep_case(&mut candidates, case, layouts)?;
    }
    let mut found = BatchMatches::none(batch.patterns.len(), batch.wanted.limit.is_some());
    for Candidate { pattern, start, .. } in candidates {
        found.counts[pattern] += 1;
        if let Some(positions) = found.positions.get_mut(pattern) {
            positions.push(start);
            batch.wanted.keep(positions);
        }
    }
    Ok(found)
}

/// Drops the candidates with more than one mismatch if letters of another case count.
fn keep_case(
    candidates: &mut Vec<Candidate>,
    case: MatchedCase,
    layouts: &mut Layouts,
) -> Result<()> {
    let MatchedCase { section, patterns } = case;
    // In order of position, so that each layout is read once.
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.par_sort_unstable_by_key(|&n| candidates[n].start);
    for n in order {
        let Candidate {
            pattern,
            start,
            differs_at,
            ..
        } = candidates[n];
        let mut of_case = section.case_differs(patterns[pattern], start, layouts)?;
        of_case.retain(|&at| Some(at) != differs_at);
        candidates[n].differing += of_case.len();
    }
    candidates.retain(|candidate| candidate.differing <= 1);
    Ok(())
}

/// Number of bytes of a text that differ from a pattern of the same length, up to 2, and the place
/// of the first one.
fn differing(
    text: &[u8],
    pattern: &[u8],
    batch: &Batch,
    by_sequence: bool,
) -> (usize, Option<usize>) {
    let differs = |a: u8, b: u8| match (a, batch.letters) {
        (RECORD, _) if by_sequence => 2,
        (_, Some(letters)) => usize::from(!letters.classes.matches(b, a)),
        (_, None) => usize::from(a != b),
    };
    // With IUPAC codes, a letter may differ from the same letter in a text.
    let same_is_match = batch.options.letters != Letters::Iupac && !pattern.contains(&RECORD);
    let mut all = 0;
    let mut first = None;
    for (n, (text, pattern)) in text
        .chunks(CHUNK)
        .zip(pattern.chunks(CHUNK))
        .enumerate()
    {
        if same_is_match && text == pattern {
            continue;
        }
        let here = || {
            text.iter()
                .zip(pattern)
                .map(|(&a, &b)| differs(a, b))
        };
        all += here().sum::<usize>();
        if all > 1 {
            return (2, None);
        }
        first = first.or_else(|| {
            here()
                .position(|differs| differs > 0)
                .map(|at| n * CHUNK + at)
        });
    }
    (all, first)
}

/// Returns an error if comparing the candidates would take too long.
fn check_cost(candidates: &[Candidate]) -> Result<()> {
    let compared: u64 = candidates
        .par_iter()
        .map(|candidate| candidate.left.len() as u64)
        .sum();
    if compared <= MOST_COMPARED {
        return Ok(());
    }
    let places = candidates.len();
    let text = format!(
        "a half of a pattern occurs at {places} places; --max-mismatches would compare {compared} \
         bytes there, more than the limit of {MOST_COMPARED}; search for a part of the pattern, or \
         for fewer patterns at a time"
    );
    Err(Error::Usage(text.into()))
}

/// The place at which a pattern is cut into halves.
fn middle(pattern: &[u8]) -> usize {
    pattern.len() / 2
}

/// Both halves of each pattern.
pub(crate) fn halves<'p>(patterns: &[&'p [u8]]) -> Result<Vec<&'p [u8]>> {
    if patterns.iter().any(|pattern| pattern.len() < 2) {
        return Err(Error::Usage(
            "a pattern of one byte matches everything with a mismatch; use longer ones".into(),
        ));
    }
    Ok(patterns
        .iter()
        .flat_map(|p| [&p[..middle(p)], &p[middle(p)..]])
        .collect())
}

/// The places at which a half of a pattern occurs, each place once, in the order of patterns and
/// positions.
fn candidates(
    batch: &Batch,
    blocks: &[&dyn SearchedBlock],
    session: &mut Session,
) -> Result<Vec<Candidate>> {
    let parts = halves(batch.patterns)?;
    let exact = Batch {
        patterns: &parts,
        wanted: WantedPositions::first(usize::MAX),
        ..*batch
    };
    let found = exact.search_blocks(blocks, session)?;
    let places: u64 = found
        .positions
        .par_iter()
        .map(|positions| positions.len() as u64)
        .sum();
    shortage::check(
        places.saturating_mul(PER_PLACE),
        batch.options.memory_limit(),
        || format!("{places} places of halves of patterns (ask for fewer or longer patterns)"),
    )?;
    let (first, end) = match (blocks.first(), blocks.last()) {
        (Some(first), Some(last)) => (first.section_range().start, last.section_range().end),
        _ => return Ok(Vec::new()),
    };
    let all = batch
        .patterns
        .par_iter()
        .enumerate()
        .flat_map_iter(|(n, pattern)| {
            let middle = middle(pattern);
            let right = found.positions[2 * n + 1]
                .iter()
                .filter_map(move |at| at.checked_sub(middle as u64));
            let fits = |&start: &u64| start >= first && start + pattern.len() as u64 <= end;
            let left = found.positions[2 * n]
                .iter()
                .copied()
                .filter(fits);
            let starts = merged(left, right.filter(fits));
            let candidate = move |half: (u64, Stands)| {
                let (start, stands) = half;
                let left = match stands {
                    Stands::Left => middle..pattern.len(),
                    Stands::Right => 0..middle,
                    Stands::Both => 0..0,
                };
                Candidate {
                    pattern: n,
                    start,
                    left,
                    differing: 0,
                    differs_at: None,
                }
            };
            starts.map(candidate)
        });
    Ok(all.collect())
}

/// The halves of a pattern that occur at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    Left,
    Right,
    Both,
}

/// Merges the positions of two ascending lists. A position in both is returned once.
fn merged(
    left: impl Iterator<Item = u64>,
    right: impl Iterator<Item = u64>,
) -> impl Iterator<Item = (u64, Stands)> {
    let mut left = left.peekable();
    let mut right = right.peekable();
    iter::from_fn(
        move || match (left.peek().copied(), right.peek().copied()) {
            (None, None) => None,
            (Some(at), Some(other)) if at == other => {
                right.next();
                left.next().map(|at| (at, Stands::Both))
            }
            (Some(at), other) if other.is_none_or(|other| at < other) => {
                left.next().map(|at| (at, Stands::Left))
            }
            _ => right.next().map(|at| (at, Stands::Right)),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_both_halves_are_known_matches() {
        use Stands::{Both, Left, Right};
        for (left, right, wanted) in [
            (&[][..], &[][..], &[][..]),
            (&[3], &[], &[(3, Left)]),
            (&[], &[3], &[(3, Right)]),
            (&[3], &[3], &[(3, Both)]),
            (
                &[1, 3, 5],
                &[2, 3],
                &[(1, Left), (2, Right), (3, Both), (5, Left)],
            ),
            (&[9], &[1, 2], &[(1, Right), (2, Right), (9, Left)]),
            (&[1, 2], &[9], &[(1, Left), (2, Left), (9, Right)]),
            (&[0, 1], &[0, 1], &[(0, Both), (1, Both)]),
        ] {
            let found = merged(left.iter().copied(), right.iter().copied());
            assert!(found.eq(wanted.iter().copied()), "{left:?} {right:?}");
        }
    }

    #[test]
    fn what_takes_too_long_is_refused() {
        let candidate = |left| Candidate {
            pattern: 0,
            start: 0,
            left,
            differing: 0,
            differs_at: None,
        };
        assert!(check_cost(&[candidate(0..1 << 36), candidate(0..1 << 36)]).is_ok());
        let said = check_cost(&[candidate(0..1 << 37), candidate(7..8)])
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("2 places") && said.contains("a part of the pattern"),
            "{said}"
        );
    }
}
