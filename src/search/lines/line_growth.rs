//! Places grown to whole lines with their context. All places grow together, so that their walks in
//! the index share slices.

use super::line_blocks::{CHUNK, LineBlocks};
use super::line_request::LineRequest;
use crate::base::error::Result;
use std::collections::BTreeSet;
use std::ops::Range;

/// A range that grows.
struct Growing {
    range: Range<u64>,
    /// Number of terminators that are still to be found before and behind it.
    missing: [u64; 2],
    /// Number of pieces that are read at a time. It doubles from round to round.
    reach: usize,
}

impl Growing {
    /// Covers a block as a whole, if it covers a part of it.
    fn cover(&mut self, raw: &Range<u64>, needed: [u64; 2]) {
        if self.range.end <= raw.start || raw.end <= self.range.start {
            return;
        }
        if self.range.start > raw.start {
            self.range.start = raw.start;
            self.missing[0] = needed[0];
        }
        if self.range.end < raw.end {
            self.range.end = raw.end;
            self.missing[1] = needed[1];
        }
    }
}

/// Grows ranges to whole lines, with context. A block that is whole becomes part of a range as a
/// whole, or not at all.
pub(super) fn whole_lines(
    ranges: Vec<Range<u64>>,
    blocks: &mut LineBlocks,
    request: &LineRequest,
) -> Result<Vec<Range<u64>>> {
    let size = blocks.raw(blocks.len() - 1).end;
    let needed = request
        .context
        .map(|lines| lines.saturating_add(1));
    let mut all: Vec<Growing> = ranges
        .into_iter()
        .map(|range| Growing {
            range,
            missing: needed,
            reach: 1,
        })
        .collect();
    loop {
        let mut wanted = BTreeSet::new();
        for growing in &mut all {
            grow_back(growing, blocks, request.terminator, needed[0], &mut wanted);
            grow_on(
                growing,
                blocks,
                request.terminator,
                needed[1],
                size,
                &mut wanted,
            );
            growing.reach = (2 * growing.reach).min(MOST);
        }
        if wanted.is_empty() {
            break;
        }
        for n in cheaper_decoded(blocks, &wanted)? {
            blocks.make_whole(n);
            let raw = blocks.raw(n);
            for growing in &mut all {
                growing.cover(&raw, needed);
            }
        }
        wanted.retain(|&(n, _)| !blocks.is_whole(n));
        blocks.read(wanted)?;
    }
    Ok(all
        .into_iter()
        .map(|growing| growing.range)
        .collect())
}

/// Maximum number of pieces that are read at a time for a place.
const MOST: usize = 64;

/// The blocks that cost less to decode than to read the wanted pieces. A line may be as long as a
/// block.
fn cheaper_decoded(
    blocks: &LineBlocks,
    wanted: &BTreeSet<(usize, usize)>,
) -> Result<BTreeSet<usize>> {
    let mut cheaper = BTreeSet::new();
    let numbers: BTreeSet<usize> = wanted.iter().map(|(n, _)| *n).collect();
    let count = numbers.len();
    for n in numbers {
        let chunks = wanted.range((n, 0)..(n + 1, 0));
        let walked = chunks
            .filter(|(_, chunk)| !blocks.is_edge(n, *chunk))
            .count();
        let chunks = walked + blocks.walked_chunks(n);
        if walked > 0 && !blocks.prepare(n, chunks, count)? {
            cheaper.insert(n);
        }
    }
    Ok(cheaper)
}

/// Grows a range towards the start of the text, as far as pieces are known. Adds those that are
/// missing to `wanted`.
fn grow_back(
    growing: &mut Growing,
    blocks: &LineBlocks,
    terminator: u8,
    needed: u64,
    wanted: &mut BTreeSet<(usize, usize)>,
) {
    while growing.missing[0] > 0 && growing.range.start > 0 {
        let n = blocks.at(growing.range.start - 1);
        let raw = blocks.raw(n);
        if blocks.is_whole(n) {
            growing.range.start = raw.start;
            growing.missing[0] = needed;
            continue;
        }
        let last = (growing.range.start - 1 - raw.start) as usize;
        let Some((chunk, start)) = blocks.chunk(n, last) else {
            let chunk = last / CHUNK;
            wanted
                .extend((chunk.saturating_sub(growing.reach - 1)..=chunk).map(|chunk| (n, chunk)));
            return;
        };
        let before = &chunk[..=last - start];
        growing.range.start = match memchr::memrchr(terminator, before) {
            Some(at) => {
                growing.missing[0] -= 1;
                // The terminator belongs to the line before, unless that is wanted too.
                let at = raw.start + (start + at) as u64;
                if growing.missing[0] > 0 { at } else { at + 1 }
            }
            None => raw.start + start as u64,
        };
    }
}

/// Grows a range towards the end of the text, of `size` bytes.
fn grow_on(
    growing: &mut Growing,
    blocks: &LineBlocks,
    terminator: u8,
    needed: u64,
    size: u64,
    wanted: &mut BTreeSet<(usize, usize)>,
) {
    while growing.missing[1] > 0 && growing.range.end < size {
        let n = blocks.at(growing.range.end);
        let raw = blocks.raw(n);
        if blocks.is_whole(n) {
            growing.range.end = raw.end;
            growing.missing[1] = needed;
            continue;
        }
        let first = (growing.range.end - raw.start) as usize;
        let Some((chunk, start)) = blocks.chunk(n, first) else {
            let chunk = first / CHUNK;
            let last = ((raw.end - raw.start - 1) as usize) / CHUNK;
            wanted.extend((chunk..=last.min(chunk + growing.reach - 1)).map(|chunk| (n, chunk)));
            return;
        };
        growing.range.end = match memchr::memchr(terminator, &chunk[first - start..]) {
            Some(at) => {
                growing.missing[1] -= 1;
                raw.start + (first + at + 1) as u64
            }
            None => raw.start + (start + chunk.len()) as u64,
        };
    }
}
