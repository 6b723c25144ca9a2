//! The search for a batch of patterns in all sections of a file.
//!
//! A section of sequences is searched with folded patterns ([`FoldedPatterns`]), any other section
//! with the patterns as they are. If only some of the occurrences that the index finds are matches
//! (mismatches, or matching case), these candidates are held in memory until they are checked. So
//! the batch is first cut into stretches whose candidates fit in memory.

use super::folded_patterns::FoldedPatterns;
use super::letter_classes::BatchLetters;
use super::mismatches::{self, MatchedCase};
use super::search_batch::{Batch, Session};
use super::search_results::BatchMatches;
use super::sections::{Layouts, Section, sections};
use super::shared_input::SharedInput;
use crate::base::error::Result;
use crate::frame::contents::Contents;
use rayon::prelude::*;
use std::iter;
use std::ops::Range;

/// Searches a file for a batch. Positions are raw offsets.
pub(crate) fn run(
    batch: &Batch,
    input: &SharedInput,
    contents: &Contents,
    session: &mut Session,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    session.have_come(batch.symbols(), contents);
    let mut found = BatchMatches::default();
    for section in sections(input, contents, batch.options, layouts)? {
        let section = section.decoded_by(&session.decoders);
        let more = match section.by_sequence {
            true => by_sequence(batch, &section, session, layouts)?,
            false => search(batch, &section, session)?,
        };
        found.append(more, batch.limit);
    }
    if found.counts.is_empty() {
        // The file has no blocks.
        found = BatchMatches::none(batch.patterns.len(), batch.limit.is_some());
    }
    Ok(found)
}

fn by_sequence(
    batch: &Batch,
    section: &Section,
    session: &mut Session,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    let folded = FoldedPatterns::new(batch.patterns, batch.options.letters)?;
    let patterns = folded.patterns(batch.patterns);
    let letters = BatchLetters::of(&patterns, batch.options.letters);
    let matches_case = batch.options.match_case;
    let limit = if matches_case { Some(usize::MAX) } else { batch.limit };
    let all = Batch { patterns: &patterns, letters: letters.as_ref(), limit, ..*batch };
    let mut found = BatchMatches::default();
    for range in stretches(&all, section, session)? {
        let patterns = &patterns[range.clone()];
        let given = &batch.patterns[range];
        let case = matches_case.then_some(MatchedCase { patterns: given, layouts: &mut *layouts });
        let mut some = search_some(&Batch { patterns, ..all }, section, session, case)?;
        if matches_case {
            let wanted = batch.limit.unwrap_or(0);
            some.positions.iter_mut().for_each(|positions| positions.truncate(wanted));
        }
        section.raw_offsets(&mut some.positions, layouts)?;
        found.extend(some);
    }
    Ok(found)
}

/// Searches a section by its bytes, exactly or with mismatches.
fn search(batch: &Batch, section: &Section, session: &mut Session) -> Result<BatchMatches> {
    let mut found = BatchMatches::default();
    for range in stretches(batch, section, session)? {
        let patterns = &batch.patterns[range];
        found.extend(search_some(&Batch { patterns, ..*batch }, section, session, None)?);
    }
    Ok(found)
}

fn search_some(
    batch: &Batch,
    section: &Section,
    session: &mut Session,
    case: Option<MatchedCase>,
) -> Result<BatchMatches> {
    if batch.options.max_mismatches > 0 {
        return mismatches::search(batch, section, session, case);
    }
    let mut found = batch.run_section(&section.blocks, session)?;
    if let Some(case) = case {
        keep_case(case, section, &mut found)?;
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
    if patterns.len() <= FEW || !(has_halves || options.match_case && section.by_sequence) {
        return Ok(iter::once(0..patterns.len()).collect());
    }
    let halves = if has_halves { mismatches::halves(patterns)? } else { Vec::new() };
    let parts = if has_halves { &halves } else { patterns };
    let counting = Batch { patterns: parts, limit: None, ..*batch };
    let counts = counting.run_section(&section.blocks, session)?.counts;
    let counts = counts.chunks(parts.len() / patterns.len()).map(|counts| counts.iter().sum());
    Ok(cut(counts, options.memory_limit() / CANDIDATES_SHARE / CANDIDATE))
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
fn keep_case(case: MatchedCase, section: &Section, found: &mut BatchMatches) -> Result<()> {
    let MatchedCase { patterns, layouts } = case;
    let numbered = found.positions.iter().enumerate();
    let all = numbered.flat_map(|(n, positions)| positions.iter().map(move |&at| (at, n)));
    let mut all: Vec<(u64, usize)> = all.collect();
    // In order of position, so that each layout is read once.
    all.par_sort_unstable();
    found.positions.iter_mut().for_each(Vec::clear);
    for (position, n) in all {
        if section.case_differs(patterns[n], position, layouts)?.is_empty() {
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
