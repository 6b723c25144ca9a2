//! The text whose suffixes are sorted: records one behind the other, each on one strand or on both
//! and with an end of its own.

use super::sequence_set::{END, LEAST_BASE, Sequences, Strands, complement};
use crate::allocation;
use crate::error::{Error, Result};
use crate::gpu::LcpRows;
use crate::lcp::{LcpArrays, LcpSorter, MAX_TEXT, check_memory};
use crate::options::Options;

/// Bytes of memory for each byte of the text while its suffixes are sorted, and while the walk of
/// their intervals keeps lists of them.
pub const SORTING: u64 = 13;

/// Positions for which one number of the table of records is kept.
const STEP: usize = 64;

/// A strand of a record in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strand {
    pub record: u32,
    pub is_reverse: bool,
    /// Whether it is of the first of two sets.
    pub is_first: bool,
    start: u32,
    pub length: u32,
}

impl Strand {
    /// Where the stretch of `length` bases at `pos` of the text starts in the record as it is
    /// given.
    pub fn place(&self, pos: u32, length: u32) -> u32 {
        match self.is_reverse {
            false => pos - self.start,
            true => self.length - (pos - self.start) - length,
        }
    }
}

/// The text, and where its positions are from.
#[derive(Default)]
pub struct JoinedText {
    pub bytes: Vec<u8>,
    pub strands: Vec<Strand>,
    /// The strand that holds each [`STEP`]th position.
    steps: Vec<u32>,
}

impl JoinedText {
    /// The first set as it is given, the second on the strands: each record's other one behind it.
    ///
    /// # Errors
    /// [`Error::Usage`] where that is more than can be sorted, [`Error::Limit`] where it is more
    /// than memory is allowed for, [`Error::Io`] where there is none.
    pub fn new(
        first: &Sequences,
        second: &Sequences,
        strands: Strands,
        options: &Options,
    ) -> Result<Self> {
        let times = if strands == Strands::Both { 2 } else { 1 };
        let size = first.total() + first.len() as u64;
        let size = size + times * (second.total() + second.len() as u64);
        if size > MAX_TEXT as u64 {
            let fewer = if strands == Strands::Both { ", or one strand" } else { "" };
            let what = format!(
                "these are {size} bases and ends of records with all strands, above the {MAX_TEXT} \
                 that are sorted together; search parts of them{fewer}"
            );
            return Err(Error::Usage(what.into()));
        }
        check_memory("sequences of", size, SORTING * size, options)?;
        let no_memory = || Error::out_of_memory("there is not enough memory for the sequences");
        let bytes = allocation::with_capacity(size as usize).ok_or_else(no_memory)?;
        let count = first.len() + times as usize * second.len();
        let all = allocation::with_capacity(count).ok_or_else(no_memory)?;
        let mut text = JoinedText { bytes, strands: all, steps: Vec::new() };
        for record in 0..first.len() as u32 {
            text.add(first.bases(record), record, false, true);
        }
        for record in 0..second.len() as u32 {
            text.add(second.bases(record), record, false, false);
            if strands == Strands::Both {
                text.add(second.bases(record), record, true, false);
            }
        }
        Ok(text)
    }

    fn add(&mut self, bases: &[u8], record: u32, is_reverse: bool, is_first: bool) {
        let (start, length) = (self.bytes.len() as u32, bases.len() as u32);
        match is_reverse {
            false => self.bytes.extend_from_slice(bases),
            true => self.bytes.extend(bases.iter().rev().map(|&base| complement(base))),
        }
        self.bytes.push(END);
        let strand = self.strands.len() as u32;
        self.strands.push(Strand { record, is_reverse, is_first, start, length });
        self.steps.resize(self.bytes.len().div_ceil(STEP), strand);
    }

    /// The positions of the first set end here.
    pub fn first_end(&self) -> u32 {
        let second = self.strands.partition_point(|strand| strand.is_first);
        self.strands.get(second).map_or(self.bytes.len() as u32, |strand| strand.start)
    }

    /// The number of the strand that a position is in.
    pub fn strand_at(&self, pos: u32) -> u32 {
        let from = self.steps[pos as usize / STEP] as usize;
        let after = self.strands[from + 1..].iter().take_while(|strand| strand.start <= pos);
        (from + after.count()) as u32
    }

    /// Sorts the suffixes; rows that are not wanted may be missing.
    pub fn arrays(&self, sorter: &LcpSorter, wanted: LcpRows) -> Result<LcpArrays> {
        sorter.select(&self.bytes, LEAST_BASE, wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_of_their_strands() {
        let (mut a, mut b) = (Sequences::new(), Sequences::new());
        a.add(b"", &[b'A'; 100]).unwrap();
        (0..90).for_each(|n| b.add(b"", &b"ACGTN"[..n % 6]).unwrap());
        let text = JoinedText::new(&a, &b, Strands::Both, &Options::new()).unwrap();
        assert_eq!(text.first_end(), 101);
        for (n, strand) in text.strands.iter().enumerate() {
            for pos in strand.start..=strand.start + strand.length {
                assert_eq!(text.strand_at(pos) as usize, n);
            }
        }
        let of = |n: usize| &text.strands[n];
        assert_eq!(&text.bytes[of(12).start as usize..][..6], b"\x01ACGT\0");
        assert_eq!((of(11).place(of(11).start, 2), of(12).place(of(12).start, 2)), (0, 3));
    }
}
