//! A batch of patterns in all sections of a file, each searched its own way.

use super::folded_patterns::FoldedPatterns;
use super::mismatches;
use super::search_batch::{Batch, Session};
use super::search_results::BatchMatches;
use super::sections::{Layouts, Section, sections};
use super::shared_input::SharedInput;
use crate::contents::Contents;
use crate::error::Result;
use std::io::{Read, Seek};

/// Searches a file. Positions are raw offsets.
pub(crate) fn run<R: Read + Seek + Send>(
    batch: &Batch,
    input: &SharedInput<R>,
    contents: &Contents,
    session: &mut Session,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    let mut found = BatchMatches::none(batch.patterns.len(), batch.limit.is_some());
    for section in sections(input, contents, batch.options)? {
        let more = match section.by_sequence {
            true => by_sequence(batch, &section, session, layouts)?,
            false => search(batch, &section, session)?,
        };
        found.append(more, batch.limit);
    }
    Ok(found)
}

fn by_sequence<R: Read + Seek + Send>(
    batch: &Batch,
    section: &Section<R>,
    session: &mut Session,
    layouts: &mut Layouts,
) -> Result<BatchMatches> {
    let folded = FoldedPatterns::new(batch.patterns)?;
    let patterns = folded.patterns(batch.patterns);
    let matches_case = batch.options.matches_case();
    let limit = if matches_case { Some(usize::MAX) } else { batch.limit };
    let mut found = search(&Batch { patterns: &patterns, limit, ..*batch }, section, session)?;
    if matches_case {
        keep_case(batch, section, &mut found, layouts)?;
    }
    for positions in &mut found.positions {
        section.raw_offsets(positions, layouts)?;
    }
    Ok(found)
}

/// Searches a section, for exact matches or others too.
fn search<R: Read + Seek + Send>(
    batch: &Batch,
    section: &Section<R>,
    session: &mut Session,
) -> Result<BatchMatches> {
    match batch.options.allowed_mismatches() {
        0 => batch.run_section(&section.blocks, session),
        _ => mismatches::search(batch, section, session),
    }
}

/// Drops the matches that differ from their patterns in case.
fn keep_case<R: Read + Seek + Send>(
    batch: &Batch,
    section: &Section<R>,
    found: &mut BatchMatches,
    layouts: &mut Layouts,
) -> Result<()> {
    let all = batch.patterns.iter().zip(&mut found.counts).zip(&mut found.positions);
    for ((pattern, count), positions) in all {
        let mut kept = Vec::new();
        for &position in positions.iter() {
            if section.case_matches(pattern, position, layouts)? {
                kept.push(position);
            }
        }
        (*count, *positions) = (kept.len() as u64, kept);
    }
    Ok(())
}
