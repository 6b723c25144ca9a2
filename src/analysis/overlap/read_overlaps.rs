//! Overlaps of reads: suffixes of one read that are prefixes of another (D. Gusfield, G. M. Landau
//! and B. Schieber, *An efficient algorithm for the all pairs suffix-prefix problem*, 1992, on the
//! suffix array).
//!
//! In the order of the suffixes, one that ends with its read comes before all suffixes that it is a
//! prefix of. So rows are walked from the first to the last with a stack of such suffixes, each of
//! them a prefix of the next. When the walk comes to the row of a whole read, the stack holds all
//! suffixes that are prefixes of it. Only the longest suffix of each read counts: a list holds the
//! reads that have any, and the longest of each.
//!
//! Threads walk stretches of rows. A stretch begins between neighbours that agree for too little.

use super::common_regions::check_least;
use super::interval_walk::cuts;
use super::joined_text::{JoinedText, Strand};
use super::result_budget::Budget;
use super::sequence_set::{Sequences, Strands};
use crate::analysis::lcp::{LcpArrays, LcpSorter};
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::LcpRows;
use crate::options::Options;
use rayon::prelude::*;

/// Number of stretches of rows per thread.
const STRETCHES: usize = 4;

/// A suffix of one read that is a prefix of another. Reads are numbered from 0.
///
/// Two reads may have up to four overlaps: each may come first, and either may be reversed. If `a`
/// reversed is followed by `b` reversed, this is given as `b` followed by `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Overlap {
    /// Read whose suffix it is.
    pub a: u32,
    /// Read whose prefix it is.
    pub b: u32,
    /// True if it is a suffix of the reverse complement of `a`, so that it is at the start of `a`.
    pub a_is_reverse: bool,
    /// True if it is a prefix of the reverse complement of `b`, so that it is at the end of `b`.
    pub b_is_reverse: bool,
    /// Number of bases.
    pub length: u32,
}

/// Finds the longest overlap of at least `least` bases of each ordered pair of different reads.
/// With [`Strands::Both`] it also does so for each pair of which one is reversed. The overlaps are
/// in the order of `a` and `b`.
///
/// An overlap may be all of one read or of both. So reads that are a prefix or a suffix of others
/// have overlaps with them, and equal reads have two. A read that lies inside another has no
/// overlap with it, and no read has one with itself.
///
/// ```
/// use bwz::overlap::{Sequences, Strands, read_overlaps};
///
/// let mut reads = Sequences::new();
/// reads.add(b"r1", b"AAACCCGT")?;
/// reads.add(b"r2", b"CCCGTTTT")?;
/// let found = read_overlaps(&reads, 4, Strands::Forward, &bwz::Options::new())?;
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].a, found[0].b, found[0].length), (0, 1, 5));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] for a `least` of 0 and for more than 2^31 - 1 bases with their strands,
/// [`Error::Limit`] if `Options::memory` allows too little, [`Error::Io`] if there is no memory.
pub fn read_overlaps(
    reads: &Sequences,
    least: u32,
    strands: Strands,
    options: &Options,
) -> Result<Vec<Overlap>> {
    check_least(least)?;
    read_overlaps_on(&LcpSorter::new(options)?, reads, least, strands)
}

pub(super) fn read_overlaps_on(
    sorter: &LcpSorter,
    reads: &Sequences,
    least: u32,
    strands: Strands,
) -> Result<Vec<Overlap>> {
    let none = Sequences::new();
    let text = JoinedText::new(&none, reads, strands, sorter.options())?;
    let find = || overlaps_in(&text, least, sorter);
    let are_in = |found: &Vec<Overlap>| {
        let agree = |overlap: &Overlap| is_in(&text, overlap, strands);
        sorter
            .pool()
            .install(|| found.par_iter().all(agree))
    };
    sorter.find_true(find, are_in)
}

/// Finds the overlaps in a text, in their order.
fn overlaps_in(text: &JoinedText, least: u32, sorter: &LcpSorter) -> Result<Vec<Overlap>> {
    let arrays = text.arrays(sorter, LcpRows::AtLeast(least))?;
    let budget = Budget::new(text.len(), sorter.options());
    let pool = sorter.pool();
    let ends = cuts(&arrays.lcp, least, STRETCHES * pool.current_num_threads());
    let starts = [0].into_iter().chain(ends.iter().copied());
    let stretches: Vec<_> = starts
        .zip(&ends)
        .map(|(from, &to)| from..to)
        .collect();
    let walk = |rows: std::ops::Range<usize>| {
        let mut walk = SuffixWalk::new(text, &arrays, least, &budget)?;
        let mut row = rows.start;
        while row < rows.end {
            row = walk.group(row, rows.end)?;
        }
        Ok(walk.found)
    };
    let found: Result<Vec<Vec<Overlap>>> =
        pool.install(|| stretches.into_par_iter().map(walk).collect());
    let found = found?;
    let mut all = allocation::with_capacity(found.iter().map(Vec::len).sum())
        .ok_or_else(|| Error::out_of_memory("for the overlaps"))?;
    found
        .into_iter()
        .for_each(|some| all.extend(some));
    pool.install(|| all.par_sort_unstable());
    Ok(all)
}

/// Returns true if the text has an overlap: the bases at the end of the one strand are those at the
/// start of the other.
fn is_in(text: &JoinedText, overlap: &Overlap, strands: Strands) -> bool {
    // Only reads are in the text, and each has its strands side by side.
    let strand = |record: u32, is_reverse: bool| match strands {
        Strands::Both => &text.strands[2 * record as usize + usize::from(is_reverse)],
        Strands::Forward => &text.strands[record as usize],
    };
    let a = strand(overlap.a, overlap.a_is_reverse);
    let b = strand(overlap.b, overlap.b_is_reverse);
    let length = overlap.length;
    match a.start_of_last(length) {
        Some(start) => text.agree(start, b.start(), length),
        None => false,
    }
}

/// A suffix that ends with its read, and the length of that read's next shorter suffix in the
/// stack, or 0.
struct ReadSuffix {
    strand: u32,
    length: u32,
    shorter: u32,
}

struct SuffixWalk<'t> {
    text: &'t JoinedText<'t>,
    arrays: &'t LcpArrays,
    least: u32,
    budget: &'t Budget,
    /// Suffixes, each a prefix of the next.
    stack: Vec<ReadSuffix>,
    /// Length of each strand's longest suffix in the stack, or 0.
    longest: Vec<u32>,
    /// Strands that have a suffix in the stack, in the order of their shortest ones.
    strands: Vec<u32>,
    found: Vec<Overlap>,
}

impl<'t> SuffixWalk<'t> {
    fn new(
        text: &'t JoinedText<'t>,
        arrays: &'t LcpArrays,
        least: u32,
        budget: &'t Budget,
    ) -> Result<Self> {
        budget.take(4 * text.strands.len())?;
        let longest = allocation::zeroed(text.strands.len())
            .ok_or_else(|| Error::out_of_memory("for the overlaps"))?;
        let stack = Vec::new();
        let strands = Vec::new();
        let found = Vec::new();
        Ok(SuffixWalk {
            text,
            arrays,
            least,
            budget,
            stack,
            longest,
            strands,
            found,
        })
    }

    /// Processes a row. If it ends with its read, the equal suffixes in the rows after it that also
    /// do are processed too. Returns the row after them.
    fn group(&mut self, row: usize, end: usize) -> Result<usize> {
        let LcpArrays { suffixes, lcp } = self.arrays;
        self.shrink(lcp[row]);
        let next = if row + 1 < end { lcp[row + 1] } else { 0 };
        let length = lcp[row].max(next);
        if length < self.least {
            return Ok(row + 1);
        }
        let mut behind = row + 1;
        if self.ends_after(suffixes[row], length) {
            while behind < end && lcp[behind] == length && self.ends_after(suffixes[behind], length)
            {
                behind += 1;
            }
            for &pos in &suffixes[row..behind] {
                self.push(self.text.strand_at(pos), length)?;
            }
        }
        for &pos in &suffixes[row..behind] {
            let strand = self.text.strand_at(pos);
            if self.text.strands[strand as usize].starts_at(pos) {
                self.report(strand)?;
            }
        }
        Ok(behind)
    }

    fn ends_after(&self, pos: u32, length: u32) -> bool {
        self.text.strand(pos).ends_after(pos, length)
    }

    /// Removes the suffixes of more than `length` bases from the stack.
    fn shrink(&mut self, length: u32) {
        while let Some(suffix) = self.stack.pop_if(|top| top.length > length) {
            self.longest[suffix.strand as usize] = suffix.shorter;
            if suffix.shorter == 0 {
                // It was the last one added of those in the list.
                self.strands.pop();
            }
        }
    }

    fn push(&mut self, strand: u32, length: u32) -> Result<()> {
        let shorter = std::mem::replace(&mut self.longest[strand as usize], length);
        if shorter == 0 {
            self.budget.push(&mut self.strands, strand)?;
        }
        self.budget.push(
            &mut self.stack,
            ReadSuffix {
                strand,
                length,
                shorter,
            },
        )
    }

    /// Adds the overlaps with the start of a strand.
    fn report(&mut self, strand: u32) -> Result<()> {
        let b = &self.text.strands[strand as usize];
        for &suffix in &self.strands {
            let a = &self.text.strands[suffix as usize];
            if is_wanted(a, b) {
                let length = self.longest[suffix as usize];
                let a_is_reverse = a.is_reverse;
                let b_is_reverse = b.is_reverse;
                let a = a.record;
                let b = b.record;
                let overlap = Overlap {
                    a,
                    b,
                    a_is_reverse,
                    b_is_reverse,
                    length,
                };
                self.budget.push(&mut self.found, overlap)?;
            }
        }
        Ok(())
    }
}

/// Returns true for one of the two ways to describe the same overlap.
fn is_wanted(a: &Strand, b: &Strand) -> bool {
    match (a.is_reverse, b.is_reverse) {
        (false, false) => a.record != b.record,
        (true, true) => false,
        _ => a.record < b.record,
    }
}
