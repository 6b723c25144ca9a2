//! Matches that differ from their pattern in one byte: one half of such a match is exact.
//!
//! Both halves of each pattern are searched; where one stands, the bytes that the pattern would
//! have there are compared with it. These are extracted by the index where there are few, else
//! the block is decoded. Time and memory go with the occurrences of the halves: patterns of a few
//! bytes have very many. So `batch_in_sections` searches some patterns at a time.

use super::search_batch::{Batch, Session};
use super::search_results::BatchMatches;
use super::searched_block;
use super::sections::Section;
use crate::error::{Error, Result};
use rayon::prelude::*;

/// The mark in front of the residues of each record, which no match goes over.
const RECORD: u8 = b'\n';

/// Where a pattern may stand, and how many bytes differ there as far as was looked.
struct Candidate {
    pattern: usize,
    start: u64,
    differing: usize,
}

/// What stands in a section with up to one byte that differs.
pub(crate) fn search(
    batch: &Batch,
    section: &Section,
    session: &mut Session,
) -> Result<BatchMatches> {
    let mut candidates = candidates(batch, section, session)?;
    for block in &section.blocks {
        let range = |candidate: &Candidate| {
            let end = candidate.start + batch.patterns[candidate.pattern].len() as u64;
            let within = |at: u64| {
                (at.clamp(block.searched.start, block.searched.end) - block.searched.start) as usize
            };
            within(candidate.start)..within(end)
        };
        let sizes = candidates.par_iter().map(|candidate| range(candidate).len() as u64);
        let walks = candidates.par_iter().filter(|candidate| !range(candidate).is_empty()).count();
        let size: u64 = sizes.sum();
        if size == 0 {
            continue;
        }
        let text = searched_block::BlockText::open(block, size, walks as u64)?;
        candidates.par_iter_mut().try_for_each(|candidate| -> Result<()> {
            let range = range(candidate);
            if range.is_empty() {
                return Ok(());
            }
            let pattern = batch.patterns[candidate.pattern];
            let skipped = (block.searched.start + range.start as u64 - candidate.start) as usize;
            let differs = |(&a, &b): (&u8, &u8)| match a {
                RECORD if section.by_sequence => 2,
                _ => match batch.letters {
                    Some(letters) => usize::from(!letters.classes.matches(b, a)),
                    None => usize::from(a != b),
                },
            };
            let bytes = text.get(range)?;
            candidate.differing +=
                bytes.iter().zip(&pattern[skipped..]).map(differs).sum::<usize>();
            Ok(())
        })?;
    }
    let mut found = BatchMatches::none(batch.patterns.len(), batch.limit.is_some());
    for Candidate { pattern, start, .. } in candidates.into_iter().filter(|c| c.differing <= 1) {
        found.counts[pattern] += 1;
        if let Some(positions) = found.positions.get_mut(pattern)
            && positions.len() < batch.limit.unwrap_or(0)
        {
            positions.push(start);
        }
    }
    Ok(found)
}

/// Where a pattern is parted.
fn middle(pattern: &[u8]) -> usize {
    pattern.len() / 2
}

/// Both halves of each pattern.
pub(crate) fn halves<'p>(patterns: &[&'p [u8]]) -> Result<Vec<&'p [u8]>> {
    if patterns.iter().any(|pattern| pattern.len() < 2) {
        return Err(Error::Usage(
            "a pattern of one byte matches everything with a mismatch; take longer ones".into(),
        ));
    }
    Ok(patterns.iter().flat_map(|p| [&p[..middle(p)], &p[middle(p)..]]).collect())
}

/// Where a half of a pattern stands, each place once, in the order of patterns and positions.
fn candidates(batch: &Batch, section: &Section, session: &mut Session) -> Result<Vec<Candidate>> {
    let parts = halves(batch.patterns)?;
    let exact = Batch { patterns: &parts, limit: Some(usize::MAX), ..*batch };
    let found = exact.run_section(&section.blocks, session)?;
    let (first, end) = match (section.blocks.first(), section.blocks.last()) {
        (Some(first), Some(last)) => (first.searched.start, last.searched.end),
        _ => return Ok(Vec::new()),
    };
    let all = batch.patterns.par_iter().enumerate().flat_map_iter(|(n, pattern)| {
        let left = found.positions[2 * n].iter().copied();
        let skipped = middle(pattern) as u64;
        let right = found.positions[2 * n + 1].iter().filter_map(|at| at.checked_sub(skipped));
        let fits = |&start: &u64| start >= first && start + pattern.len() as u64 <= end;
        let mut starts: Vec<u64> = left.chain(right).filter(fits).collect();
        starts.sort_unstable();
        starts.dedup();
        starts.into_iter().map(move |start| Candidate { pattern: n, start, differing: 0 })
    });
    Ok(all.collect())
}
