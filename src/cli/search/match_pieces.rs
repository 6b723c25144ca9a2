//! Matches in pieces: those of one pattern are cut if they are too many for a piece, and those of
//! several patterns are gathered if they are few.

use crate::cli::search::match_lines::Hits;
use crate::cli::search::pattern_batch::NamedPattern;
use std::iter::{self, Peekable};

/// Number of matches and patterns that are formatted together.
pub(super) const STRETCH: usize = 1 << 14;

/// Returns the matches of a pattern in pieces of at most [`STRETCH`]. An empty pattern matches at
/// every position, and comes without positions.
pub(super) fn pieces<'p>(
    pattern: NamedPattern<'p>,
    hits: Hits,
    limit: usize,
) -> impl Iterator<Item = (NamedPattern<'p>, Hits)> {
    let count = hits.count;
    let offsets = hits.offsets.unwrap_or_default();
    let end = match pattern.bytes.is_empty() && offsets.is_empty() {
        true => count.min(limit as u64),
        false => offsets.len() as u64,
    };
    let starts = iter::once(0).chain((STRETCH as u64..end).step_by(STRETCH));
    starts.map(move |start| {
        let range = start..end.min(start + STRETCH as u64);
        let offsets = match offsets.is_empty() {
            true => range.collect(),
            false => offsets[range.start as usize..range.end as usize].to_vec(),
        };
        let goes_on = start > 0;
        (
            pattern,
            Hits {
                count,
                offsets: Some(offsets),
                goes_on,
                ..Hits::default()
            },
        )
    })
}

/// Returns the next patterns with their hits, about `most` of both together. Both strands of a
/// read, and its mate, stay together.
pub(super) fn take_reads<'p>(
    found: &mut Peekable<impl Iterator<Item = (NamedPattern<'p>, Hits)>>,
    most: usize,
) -> Vec<(NamedPattern<'p>, Hits)> {
    let mut some = Vec::new();
    let mut size = 0;
    let belongs = |(pattern, hits): &(NamedPattern, Hits)| !pattern.starts() && !hits.goes_on;
    while let Some(next) = found.next_if(|next| size < most || belongs(next)) {
        size += 1 + next.1.offsets.as_ref().map_or(0, Vec::len);
        some.push(next);
    }
    some
}
