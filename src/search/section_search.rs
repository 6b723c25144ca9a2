//! The search for a batch of patterns in a section of a file.
//!
//! A section of sequences is searched with folded patterns ([`FoldedPatterns`]), any other section
//! with the patterns as they are. If only some of the occurrences that the index finds are matches
//! (mismatches, or matching case), these candidates are held in memory until they are checked. So
//! the batch is first cut into stretches whose candidates fit in memory.

use super::folded_patterns::FoldedPatterns;
use super::letter_classes::BatchLetters;
use super::mismatches::{self, MatchedCase};
use super::search_batch::Batch;
use super::search_results::{BatchMatches, WantedPositions};
use super::sections::{Layouts, Section};
use super::session::Session;
use crate::base::error::Result;
use rayon::prelude::*;
use std::iter;
use std::ops::Range;

/// Searches a section for a batch. Positions are raw offsets.
pub(crate) fn search(
    batch: &Batch,
    section: &Section,
    session: &mut Session,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    let options = batch.options;
    let sequences = section.sequences();
    let folded = match sequences {
        Some(_) => FoldedPatterns::new(batch.patterns, options.letters)?,
        None => FoldedPatterns::default(),
    };
    let patterns = folded.patterns(batch.patterns);
    let letters = match sequences {
        Some(_) => BatchLetters::of(&patterns, options.letters),
        None if options.ignore_case => Some(BatchLetters::of_either_case(&patterns)),
        None => None,
    };
    let cased = sequences.filter(|_| options.match_case);
    let wanted = if cased.is_some() {
        WantedPositions::first(usize::MAX)
    } else {
        batch.wanted
    };
    let all = Batch {
        patterns: &patterns,
        letters: letters.as_ref(),
        wanted,
        ..*batch
    };
    let mut found = BatchMatches::default();
    for range in stretches(&all, section, session)? {
        let some = Batch {
            patterns: &patterns[range.clone()],
            ..all
        };
        let case = cased.map(|section| MatchedCase {
            section,
            patterns: &batch.patterns[range],
        });
        let mut more = match options.max_mismatches {
            0 => some.search_blocks(&section.blocks(), session)?,
            _ => mismatches::search(&some, section, session, case, layouts)?,
        };
        if let Some(case) = case {
            if options.max_mismatches == 0 {
                keep_case(case, layouts, &mut more)?;
            }
            more.positions
                .iter_mut()
                .for_each(|positions| batch.wanted.keep(positions));
        }
        if let Some(section) = sequences {
            section.raw_offsets(&mut more.positions, layouts)?;
        }
        found.extend(more);
    }
    Ok(found)
}

/// Bytes of memory per candidate: an occurrence that may turn out not to be a match.
const CANDIDATE: u64 = 64;
/// Candidates may use 1/8 of the memory limit.
const CANDIDATES_SHARE: u64 = 8;
/// A batch of up to this many patterns is not counted first.
const FEW: usize = 16;

/// Cuts the patterns into stretches whose candidates fit in memory. A single pattern may have more.
/// The candidates are counted first, which costs little beside locating them.
fn stretches(batch: &Batch, section: &Section, session: &mut Session) -> Result<Vec<Range<usize>>> {
    let options = batch.options;
    let patterns = batch.patterns;
    let has_halves = options.max_mismatches > 0;
    if patterns.len() <= FEW || !(has_halves || options.match_case && section.sequences().is_some())
    {
        return Ok(iter::once(0..patterns.len()).collect());
    }
    let halves = if has_halves {
        mismatches::halves(patterns)?
    } else {
        Vec::new()
    };
    let parts = if has_halves { &halves } else { patterns };
    let counting = Batch {
        patterns: parts,
        wanted: WantedPositions::NONE,
        ..*batch
    };
    let counts = counting
        .search_blocks(&section.blocks(), session)?
        .counts;
    let counts = counts
        .chunks(parts.len() / patterns.len())
        .map(|counts| counts.iter().sum());
    Ok(cut(
        counts,
        options.memory_limit() / CANDIDATES_SHARE / CANDIDATE,
    ))
}

/// Cuts patterns with these counts into stretches whose counts add up to at most `most`. A single
/// pattern may have more.
fn cut(counts: impl Iterator<Item = u64>, most: u64) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut range = 0..0;
    let mut sum = 0_u64;
    for count in counts {
        if sum.saturating_add(count) > most && !range.is_empty() {
            all.push(range.clone());
            (range.start, sum) = (range.end, 0);
        }
        range.end += 1;
        sum = sum.saturating_add(count);
    }
    all.push(range);
    all
}

/// Drops the matches that differ from their patterns in case.
fn keep_case(case: MatchedCase, layouts: &mut Layouts, found: &mut BatchMatches) -> Result<()> {
    let MatchedCase { section, patterns } = case;
    let numbered = found.positions.iter().enumerate();
    let all = numbered.flat_map(|(n, positions)| positions.iter().map(move |&at| (at, n)));
    let mut all: Vec<(u64, usize)> = all.collect();
    // In order of position, so that each layout is read once.
    all.par_sort_unstable();
    found.positions.iter_mut().for_each(Vec::clear);
    for (position, n) in all {
        if section
            .case_differs(patterns[n], position, layouts)?
            .is_empty()
        {
            found.positions[n].push(position);
        }
    }
    for (count, positions) in found.counts.iter_mut().zip(&found.positions) {
        *count = positions.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_no_more_than_there_is_room_for() {
        let cut = |counts: &[u64], most| cut(counts.iter().copied(), most);
        assert_eq!(cut(&[3, 4, 3, 9, 50, 0, 1], 10), [0..3, 3..4, 4..5, 5..7]);
        assert_eq!(cut(&[5, u64::MAX, 1], 10), [0..1, 1..2, 2..3]);
        assert_eq!(cut(&[0, 0], 0).len(), 1);
        assert_eq!(cut(&[1, 1], 0), [0..1, 1..2]);
        assert!(cut(&[], 10)[0].is_empty());
    }
}
