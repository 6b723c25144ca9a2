//! The surroundings of matches: their places in records, the bases there, and the bytes around
//! them. They are fetched for many matches at a time.

use crate::cli::search::match_lines::Hits;
use crate::cli::search::pattern_batch::NamedPattern;
use bwz::{Archive, Result};
use std::fs::File;
use std::ops::Range;

/// Maximum number of hits of reads that are fetched together if their bases are fetched too.
const HITS: usize = 1 << 16;

/// The way in which matches are printed: the number of matches whose surroundings are fetched
/// together, and the limit of matches for each pattern. If every match has a line of its own, the
/// matches of a pattern are printed in pieces.
#[derive(Clone, Copy)]
pub(super) struct Looks {
    pub matches: usize,
    pub in_pieces: bool,
    pub limit: usize,
}

/// Reads the places of matches in records, and the bytes around them.
pub(super) struct Surroundings {
    pub archive: Archive<File>,
    pub context: Option<u64>,
    pub by_sequence: bool,
    /// True if the bases of each match are wanted, since they may differ from the pattern's.
    pub reference: bool,
}

impl Surroundings {
    pub(super) fn at_a_time(&self, looks: Looks) -> usize {
        if self.reference {
            HITS.min(looks.matches)
        } else {
            looks.matches
        }
    }

    /// Adds places, bases and context to some matches, as far as they are wanted.
    pub(super) fn look(&mut self, found: &mut [(NamedPattern, Hits)]) -> Result<()> {
        if self.by_sequence {
            let offsets = found
                .iter()
                .flat_map(|(_, hits)| hits.offsets.iter().flatten().copied());
            let offsets: Vec<u64> = offsets.collect();
            if !offsets.is_empty() {
                // This loads the names of the records. `places` compares them with the blocks.
                self.archive.records()?;
            }
            let mut places = self.archive.places(&offsets)?.into_iter();
            for (_, hits) in &mut *found {
                let count = hits.offsets.as_ref().map_or(0, Vec::len);
                hits.places = Some(places.by_ref().take(count).collect());
            }
        }
        if self.reference {
            self.add_reference(found)?;
        }
        match self.context {
            Some(around) => self.add_context(around, found),
            None => Ok(()),
        }
    }

    /// Adds the bases of the records at each match. Every match is in a record.
    fn add_reference(&mut self, found: &mut [(NamedPattern, Hits)]) -> Result<()> {
        let ranges = found.iter().flat_map(|(pattern, hits)| {
            let bases = hits
                .places
                .iter()
                .flatten()
                .filter_map(|place| place.base);
            let len = pattern.bytes.len() as u64;
            bases.map(move |(record, base)| (record as usize, base..base.saturating_add(len)))
        });
        let mut bases = self
            .archive
            .regions(&ranges.collect::<Vec<_>>())?
            .into_iter();
        for (_, hits) in found {
            let count = hits
                .places
                .iter()
                .flatten()
                .filter(|place| place.base.is_some())
                .count();
            hits.reference = Some(bases.by_ref().take(count).collect());
        }
        Ok(())
    }

    /// Adds the context of each match. In a search by sequence it includes the bytes between the
    /// bases of a match.
    fn add_context(&mut self, around: u64, found: &mut [(NamedPattern, Hits)]) -> Result<()> {
        let size = self.archive.raw_size();
        let stretches = found.iter().flat_map(|(pattern, hits)| {
            let len = pattern.bytes.len() as u64;
            hits.offsets
                .iter()
                .flatten()
                .map(move |&start| (start, len))
        });
        let stretches: Vec<(u64, u64)> = stretches.collect();
        let ends = match self.by_sequence {
            true => self.archive.ends(&stretches)?,
            false => stretches
                .iter()
                .map(|(start, len)| start.saturating_add(*len))
                .collect(),
        };
        let ranges = stretches
            .iter()
            .zip(ends)
            .map(|((start, _), end)| -> Range<u64> {
                start.saturating_sub(around)..end.saturating_add(around).min(size)
            });
        let ranges: Vec<Range<u64>> = ranges.collect();
        let mut contexts = self.archive.extract_all(&ranges)?.into_iter();
        for (_, hits) in found {
            let count = hits.offsets.as_ref().map_or(0, Vec::len);
            hits.context = Some(contexts.by_ref().take(count).collect());
        }
        Ok(())
    }
}
