//! Ascending stretches of integers, such as the positions of small letters. Each stretch is stored
//! as a gap and a length.
//!
//! Queries take logarithmic time. Every 32nd stretch has a landmark, from which a query starts. So
//! the stretches take little more memory than the bytes from which they are read.

use super::entry_room::EntryRoom;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::coder::NumberModel;
use crate::coder::range_coder::{RangeDecoder, RangeEncoder};
use std::mem;
use std::ops::Range;

/// Number of stretches from one landmark to the next.
const STEP: usize = 32;

const MISFIT: Flaw = Flaw("a stretch in the layout of sequences ends too late");

/// Stretches of `0..end`, none of them empty, as pairs of varints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    pub count: usize,
    bytes: Vec<u8>,
    landmarks: Vec<BeforeStretch>,
    end: usize,
    /// Number of integers that are covered.
    pub total: usize,
}

/// Landmark: totals in front of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BeforeStretch {
    /// Offset of the stretch in `bytes`.
    at: usize,
    /// End of the stretch before.
    end: usize,
    /// Number of integers that the stretches before cover.
    covered: usize,
}

impl Cover {
    /// Returns its memory in bytes, without the struct itself.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + self.landmarks.len() * size_of::<BeforeStretch>()
    }

    /// Decodes stretches that end at `limit` or before. Fails if there is no room for them.
    pub(super) fn decode(
        from: &mut RangeDecoder,
        room: &mut EntryRoom,
        limit: usize,
    ) -> Result<Self, Flaw> {
        let mut count = NumberModel::new();
        let mut gap = NumberModel::new();
        let mut len = NumberModel::new();
        let count = count.code(0, from);
        room.take(count)?;
        let mut cover = Cover::default();
        for _ in 0..count {
            // Both numbers are below 2^32.
            let start = cover.end + gap.code(0, from);
            let end = start + len.code(0, from) + 1;
            if end > limit {
                return Err(MISFIT);
            }
            cover.push(start..end);
        }
        Ok(cover)
    }

    pub(super) fn encode(&self, out: &mut RangeEncoder) {
        let mut count = NumberModel::new();
        let mut gap = NumberModel::new();
        let mut len = NumberModel::new();
        count.code(self.count, out);
        let mut end = 0;
        for stretch in self.iter() {
            gap.code(stretch.start - end, out);
            len.code(stretch.len() - 1, out);
            end = stretch.end;
        }
    }

    /// Returns true if the models can hold all numbers that [`Cover::encode`] writes.
    pub(super) fn has_small_numbers(&self) -> bool {
        let mut end = 0;
        self.iter().all(|stretch| {
            let gap = stretch.start - mem::replace(&mut end, stretch.end);
            gap.max(stretch.len() - 1) <= NumberModel::MOST
        })
    }

    /// Adds a stretch. It must not begin before the end of the last one.
    fn push(&mut self, stretch: Range<usize>) {
        if self.count.is_multiple_of(STEP) {
            let at = self.bytes.len();
            let end = self.end;
            let covered = self.total;
            self.landmarks
                .push(BeforeStretch { at, end, covered });
        }
        leb128::write(stretch.start - self.end, &mut self.bytes);
        leb128::write(stretch.len(), &mut self.bytes);
        self.count += 1;
        self.total += stretch.len();
        self.end = stretch.end;
    }

    /// Yields all stretches.
    pub(super) fn iter(&self) -> Stretches<'_> {
        Stretches {
            bytes: &self.bytes,
            end: 0,
        }
    }

    /// Yields the stretches from the last landmark on that is not behind `at`.
    fn from(&self, at: usize) -> Stretches<'_> {
        self.landmark(at)
            .map_or(self.iter(), |BeforeStretch { at, end, .. }| Stretches {
                bytes: &self.bytes[at..],
                end,
            })
    }

    /// Returns the last landmark that is not behind `at`.
    fn landmark(&self, at: usize) -> Option<BeforeStretch> {
        let behind = self
            .landmarks
            .partition_point(|landmark| landmark.end <= at);
        self.landmarks[..behind].last().copied()
    }

    /// Yields the stretches that end behind `at`.
    pub(super) fn stretches_behind(&self, at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.from(at)
            .skip_while(move |stretch| stretch.end <= at)
    }

    /// Returns the integer that is not covered and has `before` others before it that are not
    /// covered.
    pub(super) fn uncovered(&self, before: usize) -> usize {
        let behind = self
            .landmarks
            .partition_point(|mark| mark.end - mark.covered <= before);
        let landmark = self.landmarks[..behind].last();
        let mut at = before + landmark.map_or(0, |landmark| landmark.covered);
        let from = landmark.map_or(self.iter(), |landmark| Stretches {
            bytes: &self.bytes[landmark.at..],
            end: landmark.end,
        });
        for stretch in from {
            if stretch.start > at {
                break;
            }
            at += stretch.len();
        }
        at
    }

    /// Counts the covered integers of `0..at`.
    pub(super) fn covered_before(&self, at: usize) -> usize {
        let before = self
            .landmark(at)
            .map_or(0, |landmark| landmark.covered);
        let part = |stretch: Range<usize>| stretch.end.min(at) - stretch.start.min(at);
        before
            + self
                .from(at)
                .take_while(|stretch| stretch.start < at)
                .map(part)
                .sum::<usize>()
    }
}

/// Iterator over stretches as they are read.
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

/// Builder of a [`Cover`] from stretches in order. Adjacent stretches are joined.
#[derive(Default)]
pub(super) struct CoverWriter {
    cover: Cover,
    /// Last stretch, which may still grow.
    last: Range<usize>,
}

impl CoverWriter {
    /// Adds a stretch. It must not begin before the end of the last one.
    pub(super) fn push(&mut self, stretch: Range<usize>) {
        if stretch.start == self.last.end {
            self.last.end = stretch.end;
            return;
        }
        let last = mem::replace(&mut self.last, stretch);
        self.add(last);
    }

    fn add(&mut self, stretch: Range<usize>) {
        if !stretch.is_empty() {
            self.cover.push(stretch);
        }
    }

    pub(super) fn finish(mut self) -> Cover {
        let last = mem::take(&mut self.last);
        self.add(last);
        self.cover
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry_room::{NO_ROOM, OF_ENTRY};
    use super::*;

    #[test]
    fn numbers_that_the_models_do_not_hold_are_noticed() {
        let most = NumberModel::MOST;
        let cover = |stretches: [Range<usize>; 2]| {
            let mut cover = Cover::default();
            stretches
                .into_iter()
                .for_each(|stretch| cover.push(stretch));
            cover
        };
        assert!(cover([0..1, most + 1..most + 2]).has_small_numbers());
        assert!(!cover([0..1, most + 2..most + 3]).has_small_numbers());
        assert!(cover([0..1, 1..most + 2]).has_small_numbers());
        assert!(!cover([0..1, 1..most + 3]).has_small_numbers());
    }

    #[test]
    fn stretches_answer_as_a_list_of_bits_does() {
        let bits: Vec<bool> = (0..3000_usize)
            .map(|n| n * n / 7 % 5 < 2 || n % 800 < 50)
            .collect();
        let mut writer = CoverWriter::default();
        (0..bits.len())
            .filter(|&n| bits[n])
            .for_each(|n| writer.push(n..n + 1));
        let cover = writer.finish();
        let mut coded = Vec::new();
        let mut out = RangeEncoder::new(&mut coded);
        cover.encode(&mut out);
        out.finish();
        let decoded_within = |most, allowed, limit| {
            let mut room = EntryRoom { most, allowed };
            Cover::decode(&mut RangeDecoder::new(&coded), &mut room, limit)
        };
        let decoded = |most, limit| decoded_within(most, usize::MAX, limit);
        let without_room = decoded_within(cover.count, cover.count - 1, bits.len());
        assert_eq!(without_room, Err(NO_ROOM));
        assert!(cover.memory() as u64 <= OF_ENTRY * cover.count as u64);
        assert!(
            decoded(cover.count, bits.len()).as_ref() == Ok(&cover) && cover.landmarks.len() > 3
        );
        for at in 0..=bits.len() {
            let covered = bits[..at].iter().filter(|&&bit| bit).count();
            assert_eq!(cover.covered_before(at), covered, "before {at}");
            let next = cover
                .stretches_behind(at)
                .next()
                .map(|stretch| stretch.start.max(at));
            assert_eq!(next, (at..bits.len()).find(|&n| bits[n]), "behind {at}");
        }
        let uncovered = (0..bits.len()).filter(|&n| !bits[n]);
        uncovered
            .enumerate()
            .for_each(|(before, n)| assert_eq!(cover.uncovered(before), n));
        assert_eq!(cover.total, cover.covered_before(bits.len()));
        let last = bits.iter().rposition(|&bit| bit).unwrap();
        assert!(decoded(cover.count, last).is_err());
        assert!(decoded(cover.count - 1, bits.len()).is_err());
    }
}
