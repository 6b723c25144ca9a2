//! The text whose suffixes are sorted. The records follow each other, each on one strand or on
//! both, and each strand is followed by an end.

use super::sequence_set::{END, LEAST_BASE, SORTING, Sequences, Strands, complement};
use crate::analysis::lcp::{LcpArrays, LcpSorter, MAX_TEXT, check_memory};
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::LcpRows;
use crate::options::Options;
use rayon::ThreadPool;
use rayon::prelude::*;

/// Bytes of the text that a thread writes at a time.
const PART: usize = 1 << 17;

/// Minimum number of positions for which the table of strands keeps one entry.
const LEAST_STEP: u64 = 64;

/// Maximum number of entries per strand.
const STEPS: u64 = 4;

/// A strand of a record in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strand {
    pub record: u32,
    pub is_reverse: bool,
    /// True if it is of the first of two sets.
    pub is_first: bool,
    start: u32,
    pub length: u32,
}

impl Strand {
    /// Position after its end byte.
    fn end(&self) -> u32 {
        self.start + self.length + 1
    }

    /// Position in the text of its first base, or of its end if it has none.
    pub(super) fn start(&self) -> u32 {
        self.start
    }

    /// Position in the text of its last `length` bases. `None` if it has fewer.
    pub(super) fn start_of_last(&self, length: u32) -> Option<u32> {
        Some(self.start + self.length.checked_sub(length)?)
    }

    /// Returns true if its first base is at `pos` of the text.
    pub(super) fn starts_at(&self, pos: u32) -> bool {
        self.start == pos
    }

    /// Returns true if it ends directly after the `length` bases at `pos` of the text.
    pub(super) fn ends_after(&self, pos: u32, length: u32) -> bool {
        self.start + self.length == pos + length
    }

    /// Returns the start, in the record as it is given, of the `length` bases at `pos` of the text.
    pub(super) fn place(&self, pos: u32, length: u32) -> u32 {
        match self.is_reverse {
            false => pos - self.start,
            true => self.length - (pos - self.start) - length,
        }
    }
}

/// A text, and the strand of each of its positions. Its bytes are only in the sequences until they
/// are written into the memory in which they are sorted.
pub(super) struct JoinedText<'s> {
    pub strands: Vec<Strand>,
    first: &'s Sequences,
    second: &'s Sequences,
    /// The strand that holds each position that is a multiple of `step`.
    steps: Vec<u32>,
    step: u32,
}

impl<'s> JoinedText<'s> {
    /// Joins the first set as it is given and the second on the given strands. A record's reverse
    /// strand follows its forward one.
    ///
    /// # Errors
    /// [`Error::Usage`] if this is more than can be sorted, [`Error::Limit`] if it is more than
    /// memory is allowed for, [`Error::Io`] if there is no memory.
    pub(super) fn new(
        first: &'s Sequences,
        second: &'s Sequences,
        strands: Strands,
        options: &Options,
    ) -> Result<Self> {
        let times = if strands == Strands::Both { 2 } else { 1 };
        let size = first.total() + first.len() as u64;
        let size = size + times * (second.total() + second.len() as u64);
        if size > MAX_TEXT as u64 {
            let fewer = if strands == Strands::Both {
                ", or one strand"
            } else {
                ""
            };
            let what = format!(
                "these are {size} bases and ends of records with all strands, above the {MAX_TEXT} \
                 that can be sorted together; search parts of them{fewer}"
            );
            return Err(Error::Usage(what.into()));
        }
        check_memory(
            SORTING * size,
            options,
            format!("sequences of {size} bytes of text"),
        )?;
        let no_memory = || Error::out_of_memory("for the sequences");
        let count = first.len() + times as usize * second.len();
        let all = allocation::with_capacity(count).ok_or_else(no_memory)?;
        let step = (size / (STEPS * count.max(1) as u64)).max(LEAST_STEP) as u32;
        let mut text = JoinedText {
            strands: all,
            first,
            second,
            steps: Vec::new(),
            step,
        };
        for record in 0..first.len() as u32 {
            text.add(first.bases(record).len(), record, false, true);
        }
        for record in 0..second.len() as u32 {
            let length = second.bases(record).len();
            text.add(length, record, false, false);
            if strands == Strands::Both {
                text.add(length, record, true, false);
            }
        }
        Ok(text)
    }

    /// Adds a strand after those before it, without its bytes.
    fn add(&mut self, length: usize, record: u32, is_reverse: bool, is_first: bool) {
        let start = self.strands.last().map_or(0, Strand::end);
        let length = length as u32;
        let strand = self.strands.len() as u32;
        let added = Strand {
            record,
            is_reverse,
            is_first,
            start,
            length,
        };
        self.strands.push(added);
        self.steps
            .resize(added.end().div_ceil(self.step) as usize, strand);
    }

    /// Number of bytes: all bases, and one end per strand.
    pub(super) fn len(&self) -> usize {
        self.strands
            .last()
            .map_or(0, |strand| strand.end() as usize)
    }

    /// Position after the last one of the first set.
    pub(super) fn first_end(&self) -> u32 {
        let second = self
            .strands
            .partition_point(|strand| strand.is_first);
        self.strands
            .get(second)
            .map_or(self.len() as u32, |strand| strand.start)
    }

    /// Returns the number of the strand that holds a position.
    pub(super) fn strand_at(&self, pos: u32) -> u32 {
        let step = (pos / self.step) as usize;
        let from = self.steps[step];
        let last = self.steps.get(step + 1);
        let last = last.map_or(self.strands.len() - 1, |&last| last as usize);
        let after = &self.strands[from as usize + 1..=last];
        from + after.partition_point(|strand| strand.start <= pos) as u32
    }

    /// Returns the strand that holds a position.
    pub(super) fn strand(&self, pos: u32) -> &Strand {
        &self.strands[self.strand_at(pos) as usize]
    }

    /// Returns the byte before a position of the text: a base, `NO_BASE` or [`END`].
    pub(super) fn before(&self, pos: u32) -> u8 {
        let strand = self.strand(pos);
        let bases = self.bases(strand);
        let at = (pos - strand.start) as usize;
        match (at, strand.is_reverse) {
            (0, _) => END,
            (_, false) => bases[at - 1],
            (_, true) => complement(bases[bases.len() - at]),
        }
    }

    /// Returns true if the text has the same `length` bases at `a` and at `b`.
    pub(super) fn agree(&self, a: u32, b: u32, length: u32) -> bool {
        let parts = [a, b].map(|pos| {
            let strand = self.strand(pos);
            let from = pos - strand.start;
            let length = length.min(strand.length.saturating_sub(from));
            let place = strand.place(pos, length) as usize;
            let bases = &self.bases(strand)[place..place + length as usize];
            (bases, strand.is_reverse)
        });
        let [(one, is_reverse), (other, is_opposite)] = parts;
        let are_equal = match is_reverse == is_opposite {
            true => one == other,
            false => {
                one.len() == other.len() && {
                    let opposite = other.iter().rev().map(|&base| complement(base));
                    one.iter().copied().eq(opposite)
                }
            }
        };
        are_equal && one.len() == length as usize && one.iter().all(|&base| base >= LEAST_BASE)
    }

    /// Bases of a strand's record, as it is given.
    fn bases(&self, strand: &Strand) -> &'s [u8] {
        let set = if strand.is_first {
            self.first
        } else {
            self.second
        };
        set.bases(strand.record)
    }

    /// Sorts the suffixes. Rows that are not wanted may be missing.
    pub(super) fn arrays(&self, sorter: &LcpSorter, wanted: LcpRows) -> Result<LcpArrays> {
        let write = |to: &mut [u8]| self.write(to, sorter.pool());
        sorter.select(self.len(), write, LEAST_BASE, wanted)
    }

    /// Writes the text into `to`, which has its length, on all threads.
    fn write(&self, to: &mut [u8], pool: &ThreadPool) {
        if to.len() <= PART {
            return self.write_part(0, to);
        }
        let parts = to.par_chunks_mut(PART).enumerate();
        pool.install(|| parts.for_each(|(n, part)| self.write_part(n * PART, part)));
    }

    /// Writes the bytes of the text from `from` on.
    fn write_part(&self, from: usize, part: &mut [u8]) {
        let to = from + part.len();
        let first = self
            .strands
            .partition_point(|strand| strand.end() as usize <= from);
        for strand in self.strands[first..]
            .iter()
            .take_while(|one| (one.start as usize) < to)
        {
            let start = strand.start as usize;
            let length = strand.length as usize;
            if let Some(end) = part.get_mut(start + length - from) {
                *end = END;
            }
            let own = from.saturating_sub(start)..length.min(to - start);
            // A part may begin at the end of a strand.
            if own.is_empty() {
                continue;
            }
            let written = &mut part[start + own.start - from..][..own.len()];
            let bases = self.bases(strand);
            match strand.is_reverse {
                false => written.copy_from_slice(&bases[own]),
                true => {
                    let opposite = bases[length - own.end..length - own.start]
                        .iter()
                        .rev();
                    written
                        .iter_mut()
                        .zip(opposite)
                        .for_each(|(to, &base)| *to = complement(base));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn positions_are_of_their_strands() {
        let mut a = Sequences::new();
        let mut b = Sequences::new();
        a.add(b"", &[b'A'; 100]).unwrap();
        (0..90).for_each(|n| b.add(b"", &b"ACGTN"[..n % 6]).unwrap());
        let text = JoinedText::new(&a, &b, Strands::Both, &Options::new()).unwrap();
        let mut bytes = vec![b'?'; text.len()];
        text.write_part(0, &mut bytes);
        assert_eq!(text.first_end(), 101);
        for (n, strand) in text.strands.iter().enumerate() {
            for pos in strand.start..=strand.start + strand.length {
                assert_eq!(text.strand_at(pos) as usize, n);
                let before = pos
                    .checked_sub(1)
                    .map_or(END, |before| bytes[before as usize]);
                assert_eq!(
                    (text.before(pos), strand.starts_at(pos)),
                    (before, before == END)
                );
                let is_end = bytes[pos as usize] == END;
                assert_eq!(strand.ends_after(pos, 0), is_end);
            }
        }
        let of = |n: usize| &text.strands[n];
        assert_eq!(&bytes[of(12).start as usize..][..6], b"\x01ACGT\0");
        assert_eq!(
            (of(11).place(of(11).start, 2), of(12).place(of(12).start, 2)),
            (0, 3)
        );
    }

    #[test]
    fn texts_of_many_parts_are_those_of_one() {
        let base = |n: u8| b"ACGT"[usize::from(n & 3)];
        let random: Vec<u8> = cases::random(3 * PART, 256)
            .into_iter()
            .map(base)
            .collect();
        let mut a = Sequences::new();
        let mut b = Sequences::new();
        let lengths = [PART - 1, 0, PART, 5, 0, PART - 3, 7, PART / 2];
        let mut expected = Vec::new();
        for length in lengths {
            a.add(b"", &random[..length]).unwrap();
            expected.extend([&random[..length], &[END]].concat());
        }
        for length in lengths {
            let bases = &random[random.len() - length..];
            b.add(b"", bases).unwrap();
            expected.extend([bases, &[END]].concat());
            expected.extend(bases.iter().rev().map(|&base| complement(base)));
            expected.push(END);
        }
        let sorter = LcpSorter::new(&Options::new().threads(3)).unwrap();
        let text = JoinedText::new(&a, &b, Strands::Both, sorter.options()).unwrap();
        let mut bytes = vec![b'?'; text.len()];
        text.write(&mut bytes, sorter.pool());
        assert!(bytes == expected);
    }
}
