//! Ascending stretches of a line of numbers, such as which letters are small: each a gap and a
//! length, as varints.
//!
//! What is asked of them is found in logarithmic time: every so many stretches there is a landmark,
//! so that they take little more memory than the bytes they are read from.

use crate::error::Flaw;
use crate::leb128;
use std::ops::Range;

/// Stretches between two landmarks.
const STEP: usize = 32;

const MISFIT: Flaw = Flaw("a stretch in the layout of sequences is empty or ends too late");

/// Some stretches of `0..end`, none of them empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    count: usize,
    bytes: Vec<u8>,
    landmarks: Vec<Landmark>,
}

/// What comes before a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Landmark {
    /// Bytes.
    at: usize,
    /// Where the stretch before ends.
    end: usize,
    /// What the stretches before cover.
    covered: usize,
}

impl Cover {
    /// Takes stretches that end by `limit` off the front of `bytes`.
    pub fn read(bytes: &mut &[u8], limit: usize) -> Result<Self, Flaw> {
        let count = leb128::read(bytes)?;
        let start = *bytes;
        let (mut landmarks, mut end, mut covered) = (Vec::new(), 0_usize, 0);
        for number in 0..count {
            if number % STEP == 0 {
                landmarks.push(Landmark { at: start.len() - bytes.len(), end, covered });
            }
            let (gap, len) = (leb128::read(bytes)?, leb128::read(bytes)?);
            // Both are below 2^40.
            end += gap + len;
            covered += len;
            if len == 0 || end > limit {
                return Err(MISFIT);
            }
        }
        let bytes = start[..start.len() - bytes.len()].to_vec();
        Ok(Cover { count, bytes, landmarks })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        leb128::write(self.count, out);
        out.extend(&self.bytes);
    }

    /// Where the last stretch ends.
    pub fn end(&self) -> usize {
        self.from(usize::MAX).last().map_or(0, |stretch| stretch.end)
    }

    /// How much is covered.
    pub fn total(&self) -> usize {
        self.from(usize::MAX).map(|stretch| stretch.len()).sum::<usize>()
            + self.landmark(usize::MAX).map_or(0, |landmark| landmark.covered)
    }

    /// All stretches.
    pub fn iter(&self) -> Stretches<'_> {
        Stretches { bytes: &self.bytes, end: 0 }
    }

    /// The stretches from a landmark on that is not behind `at`.
    fn from(&self, at: usize) -> Stretches<'_> {
        self.landmark(at).map_or(self.iter(), |Landmark { at, end, .. }| Stretches {
            bytes: &self.bytes[at..],
            end,
        })
    }

    /// The last landmark that is not behind `at`.
    fn landmark(&self, at: usize) -> Option<Landmark> {
        let behind = self.landmarks.partition_point(|landmark| landmark.end <= at);
        self.landmarks[..behind].last().copied()
    }

    /// The stretches that end behind `at`.
    pub fn stretches_behind(&self, at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.from(at).skip_while(move |stretch| stretch.end <= at)
    }

    /// How much of `0..at` is covered.
    pub fn covered_before(&self, at: usize) -> usize {
        let before = self.landmark(at).map_or(0, |landmark| landmark.covered);
        let part = |stretch: Range<usize>| stretch.end.min(at) - stretch.start.min(at);
        before + self.from(at).take_while(|stretch| stretch.start < at).map(part).sum::<usize>()
    }
}

/// Stretches as they are read.
#[derive(Clone, Debug)]
pub(super) struct Stretches<'a> {
    bytes: &'a [u8],
    end: usize,
}

impl Iterator for Stretches<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.end + leb128::read(&mut self.bytes).ok()?;
        self.end = start + leb128::read(&mut self.bytes).ok()?;
        Some(start..self.end)
    }
}

/// Stretches that are found one after the other.
#[derive(Default)]
pub(super) struct CoverWriter {
    count: usize,
    bytes: Vec<u8>,
    /// Where the last one that is written ends.
    end: usize,
    /// The one that may grow.
    last: Range<usize>,
}

impl CoverWriter {
    /// Adds a stretch that does not begin before the end of the last one.
    pub fn push(&mut self, stretch: Range<usize>) {
        if stretch.start != self.last.end {
            self.flush();
            self.last.start = stretch.start;
        }
        self.last.end = stretch.end;
    }

    fn flush(&mut self) {
        if !self.last.is_empty() {
            leb128::write(self.last.start - self.end, &mut self.bytes);
            leb128::write(self.last.len(), &mut self.bytes);
            self.count += 1;
            self.end = self.last.end;
        }
    }

    /// Appends the stretches to `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.flush();
        leb128::write(self.count, out);
        out.extend(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_answer_as_a_list_of_bits_does() {
        let bits: Vec<bool> = (0..3000_usize).map(|n| n * n / 7 % 5 < 2 || n % 800 < 50).collect();
        let mut writer = CoverWriter::default();
        (0..bits.len()).filter(|&n| bits[n]).for_each(|n| writer.push(n..n + 1));
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let cover = Cover::read(&mut &bytes[..], bits.len()).unwrap();
        let mut again = Vec::new();
        cover.write(&mut again);
        assert!(again == bytes && cover.landmarks.len() > 3);
        for at in 0..=bits.len() {
            let covered = bits[..at].iter().filter(|&&bit| bit).count();
            assert_eq!(cover.covered_before(at), covered, "before {at}");
            let next = cover.stretches_behind(at).next().map(|stretch| stretch.start.max(at));
            assert_eq!(next, (at..bits.len()).find(|&n| bits[n]), "behind {at}");
        }
        assert_eq!(cover.total(), cover.covered_before(bits.len()));
        let last = bits.iter().rposition(|&bit| bit).unwrap();
        assert!(Cover::read(&mut &bytes[..], last).is_err());
        assert!(Cover::read(&mut &[1, 3, 0][..], 9).is_err());
    }
}
