//! Finds the regions of a file whose lines may match: counts the literals, chooses the set with the
//! fewest places, and grows the places to whole lines.

use super::line_blocks::LineBlocks;
use super::line_growth;
use super::line_request::{LinePiece, LineRegion, LineRequest};
use crate::base::error::Result;
use crate::engine::thread_pool;
use crate::frame::EDGE;
use crate::options::Options;
use crate::search::byte_block::ByteBlock;
use crate::search::file_search::FileSearch;
use crate::search::sections::{Section, check_streams, sections};
use crate::search::shared_input::SharedInput;
use std::ops::Range;
use std::slice;
use std::sync::Mutex;

/// If more than 7/8 of a file would be decoded, all of it is scanned.
const MOST_DECODED: [u64; 2] = [7, 8];

/// Bytes of a line, as they are estimated before any line is known.
const LINE: u64 = 200;

impl FileSearch<'_> {
    /// Finds the regions whose lines may match. Returns `None` if the whole text is to be scanned.
    pub(crate) fn find_lines(&mut self, request: &LineRequest) -> Result<Option<Vec<LineRegion>>> {
        let sizes = request.sets.iter().flatten().map(Vec::len);
        let are_short = sizes
            .clone()
            .all(|size| (1..=EDGE).contains(&size));
        if !are_short || request.sets.iter().any(Vec::is_empty) || request.sets.is_empty() {
            return Ok(None);
        }
        self.contents.check_supported()?;
        let pool = thread_pool::pool(self.options)?;
        let file = Mutex::new(&mut *self.input);
        let input = SharedInput::new(&file);
        let sections = sections(&input, self.contents, self.options, self.layouts)?;
        let [Section::Bytes(blocks)] = &sections[..] else {
            return Ok(None);
        };
        let regions = pool.install(|| {
            check_streams(&input, self.contents, self.options)?;
            regions(blocks, request, self.options)
        })?;
        *self.cost += input.cost();
        Ok(regions)
    }
}

fn regions(
    blocks: &[ByteBlock],
    request: &LineRequest,
    options: &Options,
) -> Result<Option<Vec<LineRegion>>> {
    let literals: Vec<&[u8]> = request
        .sets
        .iter()
        .flatten()
        .map(Vec::as_slice)
        .collect();
    if ends_in_first_block(blocks, &literals, request, options)? {
        return Ok(None);
    }
    let mut blocks = LineBlocks::new(blocks, &literals, options)?;
    let Some(chosen) = rarest(&blocks, request) else {
        return Ok(None);
    };
    let lines = request.context[0]
        .saturating_add(request.context[1])
        .saturating_add(2);
    let sizes: Vec<usize> = literals
        .iter()
        .map(|literal| literal.len())
        .collect();
    let mut ranges = blocks.places(
        chosen.clone(),
        lines.saturating_mul(LINE),
        request.numbered,
        &sizes,
    )?;
    crossing(
        &mut blocks,
        &literals[chosen],
        request.numbered,
        &mut ranges,
    )?;
    if decodes_most(&blocks) {
        return Ok(None);
    }
    ranges.extend(whole_runs(&blocks));
    let ranges = line_growth::whole_lines(ranges, &mut blocks, request)?;
    if decodes_most(&blocks) {
        return Ok(None);
    }
    Ok(merged(ranges)
        .into_iter()
        .map(|range| region(range, &blocks, request))
        .collect())
}

/// Returns true if the first of several blocks seems to hold all lines that are needed. Only some
/// of the lines that hold the literals match.
fn ends_in_first_block(
    blocks: &[ByteBlock],
    literals: &[&[u8]],
    request: &LineRequest,
    options: &Options,
) -> Result<bool> {
    const MATCHING: u64 = 16;
    let [first, _, ..] = blocks else {
        return Ok(false);
    };
    if request.most == u64::MAX {
        return Ok(false);
    }
    let first = LineBlocks::new(slice::from_ref(first), literals, options)?;
    let count = rarest(&first, request).map(|set| set.map(|literal| first.count(literal)).sum());
    Ok(count.is_some_and(|count: u64| count / MATCHING >= request.most))
}

/// The literals of the set that occurs least often, as a range of all literals. Returns `None` if
/// no block has an index.
fn rarest(blocks: &LineBlocks, request: &LineRequest) -> Option<Range<usize>> {
    if (0..blocks.len()).all(|n| blocks.is_whole(n)) {
        return None;
    }
    let mut first = 0;
    let sets = request.sets.iter().map(|set| {
        let range = first..first + set.len();
        first = range.end;
        range
    });
    sets.min_by_key(|set| {
        set.clone()
            .map(|literal| blocks.count(literal))
            .sum::<u64>()
    })
}

/// Returns true if nearly all blocks are to be decoded.
fn decodes_most(blocks: &LineBlocks) -> bool {
    let size = |n: usize| blocks.raw(n).end - blocks.raw(n).start;
    let whole = (0..blocks.len()).filter(|&n| blocks.is_whole(n));
    let whole: u64 = whole.map(size).sum();
    let all: u64 = (0..blocks.len()).map(size).sum();
    let [part, parts] = MOST_DECODED;
    whole > all / parts * part
}

/// Adds the occurrences that cross the boundary of two blocks with an index. A line that reaches
/// into a block that is decoded is in the region of that block.
fn crossing(
    blocks: &mut LineBlocks,
    literals: &[&[u8]],
    numbered: bool,
    ranges: &mut Vec<Range<u64>>,
) -> Result<()> {
    let longest = literals
        .iter()
        .map(|literal| literal.len())
        .max()
        .unwrap_or(0);
    for n in 1..blocks.len() {
        if blocks.is_whole(n - 1) || blocks.is_whole(n) {
            continue;
        }
        let boundary = blocks.raw(n).start;
        let before = blocks.edge(n - 1, false, longest - 1)?;
        let behind = blocks.edge(n, true, longest - 1)?;
        // A literal could reach beyond a block that is as short as this.
        let are_long = before.len() + 1 >= longest && behind.len() + 1 >= longest;
        let start = boundary - before.len() as u64;
        let edge = before.len();
        let window = [before, behind].concat();
        let found = literals.iter().flat_map(|literal| {
            memchr::memmem::find_iter(&window, literal)
                .filter(|&at| at < edge && edge < at + literal.len())
                .map(|at| start + at as u64..start + (at + literal.len()) as u64)
        });
        let found: Vec<Range<u64>> = found.collect();
        if !are_long || numbered && !found.is_empty() {
            blocks.make_whole(n - 1);
            blocks.make_whole(n);
            ranges.retain(|range| blocks.at(range.start) != n - 1 && blocks.at(range.start) != n);
        } else {
            ranges.extend(found);
        }
    }
    Ok(())
}

/// The ranges of consecutive blocks that are to be decoded.
fn whole_runs(blocks: &LineBlocks) -> Vec<Range<u64>> {
    let whole = (0..blocks.len()).filter(|&n| blocks.is_whole(n));
    merged(whole.map(|n| blocks.raw(n)).collect())
}

/// Ranges in order. Those that touch or overlap become one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// The region of a range of whole lines. Returns `None` if numbers are asked for and not known.
fn region(range: Range<u64>, blocks: &LineBlocks, request: &LineRequest) -> Option<LineRegion> {
    let mut pieces = Vec::new();
    let mut at = range.start;
    let mut first_line = None;
    let mut feeds_before = 0;
    while at < range.end {
        let n = blocks.at(at);
        let raw = blocks.raw(n);
        let end = raw.end.min(range.end);
        if blocks.is_whole(n) {
            if first_line.is_none() && request.numbered {
                let before: Option<u64> = (0..n).map(|n| blocks.line_feeds(n)).sum();
                first_line = Some(before? - feeds_before + 1);
            }
            pieces.push(LinePiece::Block(blocks.number(n)));
        } else {
            let text = blocks.text(n, (at - raw.start) as usize..(end - raw.start) as usize);
            feeds_before += memchr::memchr_iter(b'\n', &text).count() as u64;
            pieces.push(LinePiece::Text(text));
        }
        at = end;
    }
    Some(LineRegion {
        range,
        first_line,
        pieces,
    })
}
