//! The search of a .bwz file by its index. The index counts the literals that the expression
//! requires, and names the regions in which lines may match; these alone are restored and scanned.
//!
//! Some answers need no line at all (`counted_answers`).

use crate::cli::search::grep::counted_answers::{CountedAnswer, Numbers};
use crate::cli::search::grep::file_report::Show;
use crate::cli::search::grep::line_scan::Wanted;
use crate::cli::search::grep::required_literals::RequiredLiterals;
use crate::cli::search::grep::text_search::TextSearch;
use bwz::{Archive, LinePiece, LineRegion, LineRequest, Options, Result};
use std::collections::VecDeque;
use std::fs::File;
use std::io;

/// The question to an index.
pub(crate) struct IndexedSearch {
    pub literals: RequiredLiterals,
    pub show: Show,
    pub wanted: Wanted,
    /// Lines of context before and after.
    pub context: [u64; 2],
}

/// The answer of an index.
pub(crate) enum IndexedAnswer {
    /// The text is to be scanned.
    Scan,
    /// Counts alone are the answer.
    Numbers(Numbers),
    /// The regions that are to be scanned.
    Regions(Vec<LineRegion>),
}

impl IndexedSearch {
    /// Opens a file, if it may be searched by an index.
    pub(crate) fn open(&self, file: File, options: &Options) -> Option<Archive<File>> {
        let is_numbered_by_zeros = self.wanted.numbers && self.wanted.terminator != b'\n';
        if self.literals.sets.is_empty() || self.wanted.invert || is_numbered_by_zeros {
            return None;
        }
        // A damaged file is read from its start, as far as it goes.
        let archive = Archive::open(file, options).ok()?;
        let has_index = archive.info().bytes > 0 && !archive.has_sequences();
        has_index.then_some(archive)
    }

    /// The regions of all lines that can match, for a text of any bytes. `None` if the index cannot
    /// tell, or if that would take longer than to scan the text.
    pub(crate) fn regions(&self, archive: &mut Archive<File>) -> Result<Option<Vec<LineRegion>>> {
        let has_index = archive.info().bytes > 0 && !archive.has_sequences();
        if self.literals.sets.is_empty() || self.wanted.invert || !has_index {
            return Ok(None);
        }
        let mut request = LineRequest::new(self.literals.sets.clone());
        request.terminator = self.wanted.terminator;
        archive.find_lines(&request)
    }

    /// Asks the index.
    pub(crate) fn ask(&self, archive: &mut Archive<File>) -> Result<IndexedAnswer> {
        let may_be_binary = self.wanted.binary;
        if let Some(counted) = CountedAnswer::of(&self.literals, self.show, self.wanted.limit) {
            let numbers = counted.ask(archive, may_be_binary)?;
            return Ok(numbers.map_or(IndexedAnswer::Scan, IndexedAnswer::Numbers));
        }
        if may_be_binary && archive.count(&[[0_u8]])? != [0] {
            return Ok(IndexedAnswer::Scan);
        }
        let mut request = LineRequest::new(self.literals.sets.clone());
        request.terminator = self.wanted.terminator;
        request.numbered = self.wanted.numbers;
        request.most = self.wanted.limit;
        if self.show.has_lines() {
            request.context = self.context;
        }
        Ok(match archive.find_lines(&request)? {
            Some(regions) => IndexedAnswer::Regions(regions),
            None => IndexedAnswer::Scan,
        })
    }
}

/// A step of the search of regions.
enum Step {
    Begin {
        offset: u64,
        first_line: Option<u64>,
    },
    Text(Vec<u8>),
    Block(u64),
    End,
}

/// Scans regions, for whose blocks the archive is read.
pub(crate) fn scan_regions(
    archive: &mut Archive<File>,
    regions: Vec<LineRegion>,
    search: &mut TextSearch,
) -> Result<()> {
    let mut steps = VecDeque::new();
    let mut numbers = Vec::new();
    for region in regions {
        steps.push_back(Step::Begin {
            offset: region.range.start,
            first_line: region.first_line,
        });
        for piece in region.pieces {
            steps.push_back(match piece {
                LinePiece::Text(text) => Step::Text(text),
                LinePiece::Block(number) => {
                    numbers.push(number);
                    Step::Block(number)
                }
            });
        }
        steps.push_back(Step::End);
    }
    let mut current = None;
    let read = archive.read_blocks(&numbers, |number, bytes| {
        if current != Some(number) {
            current = Some(number);
            go_on(&mut steps, Some(number), search)?;
        }
        search.add(bytes)
    });
    if search.is_done() {
        return Ok(());
    }
    read?;
    go_on(&mut steps, None, search)?;
    search.finish()?;
    Ok(())
}

/// Does the steps before a block, or all.
fn go_on(
    steps: &mut VecDeque<Step>,
    block: Option<u64>,
    search: &mut TextSearch,
) -> io::Result<()> {
    while let Some(step) = steps.pop_front() {
        match step {
            Step::Begin { offset, first_line } => search.begin(offset, first_line),
            Step::Text(text) => search.add(&text)?,
            Step::Block(number) if Some(number) == block => return Ok(()),
            Step::Block(_) => {}
            Step::End => search.end()?,
        }
        if search.is_done() {
            return Ok(());
        }
    }
    Ok(())
}
