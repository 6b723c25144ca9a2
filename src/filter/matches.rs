//! Deduplication: a list of long matches replaces the bytes that they repeat. FORMAT.md section
//! 12.3.
//!
//! For many versions of one text (of a file, of the genome of a species), a block sorter spends
//! time on ordering all of their suffixes, and a few bits at each difference. With deduplication,
//! only the literals, the bytes that no match covers, are sorted; [`decode`] copies the matches
//! back. `match_finder` chooses the matches of a text that repeats itself as a whole, `long_range`
//! those of any other, and `long_runs` those that are runs of one byte.
//!
//! A match is coded as the number of literals before it, its distance and its length. Most matches
//! between versions are at a repeat offset, as zstd calls the distances of the preceding matches,
//! or close to the last one. Decoding is as fast as copying.

use crate::base::allocation;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::coder::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};

/// A range of the text that equals the bytes `distance` before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodedMatch {
    /// Bytes between the match before, or the start of the text, and this one.
    pub literals: usize,
    /// At least 1; the two ranges may overlap.
    pub distance: usize,
    /// At least [`LEAST`], and [`LEAST_NEW`] at a new distance.
    pub length: usize,
}

/// Minimum length of a match at a repeat offset or near the last distance.
pub(super) const LEAST: usize = 12;
/// Minimum length of a match at a new distance.
pub(super) const LEAST_NEW: usize = 32;

/// Removes `matches` from `text`, which keeps the literals, and appends to `side` the rest that
/// [`decode`] needs.
pub(crate) fn encode(text: &mut Vec<u8>, matches: &[CodedMatch], side: &mut Vec<u8>) {
    write(matches, side);
    let mut from = 0;
    let mut kept = 0;
    for found in matches {
        text.copy_within(from..from + found.literals, kept);
        kept += found.literals;
        from += found.literals + found.length;
    }
    text.drain(kept..from);
}

fn write(matches: &[CodedMatch], side: &mut Vec<u8>) {
    let mut coded = Vec::new();
    let mut models = MatchModels::new();
    let mut out = RangeEncoder::new(&mut coded);
    for &found in matches {
        models.code(found, &mut out);
    }
    out.finish();
    leb128::write(matches.len(), side);
    leb128::write(coded.len(), side);
    side.extend(coded);
}

/// Restores the text of `size` bytes.
///
/// # Errors
/// A [`Flaw`] if `side` does not describe a text with exactly these literals.
pub(super) fn decode(literals: &[u8], side: &mut &[u8], size: usize) -> Result<Vec<u8>, Flaw> {
    const MISFIT: Flaw = Flaw("the matches and literals of a block do not add up to it");
    let count = leb128::read(side)?;
    let coded_size = leb128::read(side)?;
    let coded = side.split_off(..coded_size).ok_or(leb128::CUT)?;
    let mut models = MatchModels::new();
    let mut from = RangeDecoder::new(coded);
    let mut text = allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?;
    let mut literals = literals;
    for _ in 0..count {
        let found = models.code(CodedMatch::default(), &mut from);
        text.extend_from_slice(
            literals
                .split_off(..found.literals)
                .ok_or(MISFIT)?,
        );
        if !(1..=text.len()).contains(&found.distance)
            || found.length > size.saturating_sub(text.len())
        {
            return Err(MISFIT);
        }
        copy(&mut text, found.distance, found.length);
    }
    if !from.is_at_end() {
        return Err(Flaw(
            "the matches of a block do not end where their coded bytes do",
        ));
    }
    text.extend_from_slice(literals);
    if text.len() == size {
        Ok(text)
    } else {
        Err(MISFIT)
    }
}

/// Appends `length` bytes from `distance` before the end. If source and copy overlap, the pieces
/// copied get longer and longer.
fn copy(text: &mut Vec<u8>, distance: usize, mut length: usize) {
    let from = text.len() - distance;
    while length > 0 {
        let piece = length.min(text.len() - from);
        text.extend_from_within(from..from + piece);
        length -= piece;
    }
}

/// The code of a distance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DistanceCode {
    /// The repeat offset with this number, 0 to 3.
    Repeat(usize),
    /// The last distance plus -64 to 63, stored as 0 to 127.
    Near(usize),
    New,
}

/// Half of the span of [`DistanceCode::Near`].
pub(super) const NEAR: usize = 64;

/// The last four different distances, the last first; 0 if there are fewer.
#[derive(Default)]
pub(super) struct RepeatOffsets(pub [usize; 4]);

impl RepeatOffsets {
    fn code_of(&self, distance: usize) -> DistanceCode {
        match self.0.iter().position(|&known| known == distance) {
            Some(ago) => DistanceCode::Repeat(ago),
            None => match (distance + NEAR).checked_sub(self.0[0]) {
                Some(step) if step < 2 * NEAR && self.0[0] > 0 => DistanceCode::Near(step),
                _ => DistanceCode::New,
            },
        }
    }

    /// Returns true if `distance` is one of these, or near the last.
    pub(super) fn is_near(&self, distance: usize) -> bool {
        self.code_of(distance) != DistanceCode::New
    }

    /// Moves `distance` to the front.
    pub(super) fn use_again(&mut self, distance: usize) {
        let ago = self
            .0
            .iter()
            .position(|&known| known == distance)
            .unwrap_or(3);
        self.0[..=ago].rotate_right(1);
        self.0[0] = distance;
    }
}

/// The adaptive models of the numbers of a match, and the repeat offsets.
struct MatchModels {
    repeat_offsets: RepeatOffsets,
    /// Kind of the match before: 0 to 3 for a repeat offset, 4 for near, 5 for new.
    last: usize,
    literals: [NumberModel; 6],
    codes: [BitTree<3>; 6],
    near: BitTree<7>,
    distance: NumberModel,
    length: [NumberModel; 6],
}

impl MatchModels {
    fn new() -> Self {
        use std::array::from_fn;
        MatchModels {
            repeat_offsets: RepeatOffsets([0; 4]),
            last: 5,
            literals: from_fn(|_| NumberModel::new()),
            codes: from_fn(|_| BitTree::new()),
            near: BitTree::new(),
            distance: NumberModel::new(),
            length: from_fn(|_| NumberModel::new()),
        }
    }

    /// Encodes `found`, or decodes a match, for which `found` does not matter. If the coded bytes
    /// are damaged, its distance and length may be any.
    fn code(&mut self, found: CodedMatch, coder: &mut impl BinaryCoder) -> CodedMatch {
        let literals = self.literals[self.last].code(found.literals, coder);
        let (kind, step) = match self.repeat_offsets.code_of(found.distance) {
            DistanceCode::Repeat(ago) => (ago, 0),
            DistanceCode::Near(step) => (4, step),
            DistanceCode::New => (5, 0),
        };
        let kind = self.codes[self.last].code(kind, coder);
        let (distance, least) = match kind {
            0..4 => (self.repeat_offsets.0[kind], LEAST),
            4 => {
                let step = self.near.code(step, coder);
                (
                    (self.repeat_offsets.0[0] + step).saturating_sub(NEAR),
                    LEAST,
                )
            }
            5 => (self.distance.code(found.distance, coder), LEAST_NEW),
            _ => {
                return CodedMatch {
                    literals,
                    distance: 0,
                    length: 0,
                };
            }
        };
        let more = found.length.saturating_sub(least);
        let length = self.length[kind].code(more, coder) + least;
        self.repeat_offsets.use_again(distance);
        self.last = kind;
        CodedMatch {
            literals,
            distance,
            length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::match_finder;
    use super::*;
    use crate::base::threads::Threads;

    fn found(literals: usize, distance: usize, length: usize) -> CodedMatch {
        CodedMatch {
            literals,
            distance,
            length,
        }
    }

    #[test]
    fn matches_of_every_code_survive() {
        let literals = super::super::cases::random(1000, 256);
        let matches = [
            found(100, 100, 60),
            found(3, 100, 12),
            found(0, 101, 40),
            found(0, 37, 13),
            found(70, 1, 500),
            found(1, 101, 12),
            found(0, 100, 99),
            found(0, 900, 32),
        ];
        let mut side = Vec::new();
        let size = literals.len()
            + matches
                .iter()
                .map(|found| found.length)
                .sum::<usize>();
        write(&matches, &mut side);
        let text = decode(&literals, &mut &side[..], size).unwrap();
        assert_eq!(text[..160], [&literals[..100], &literals[..60]].concat());
        assert!(
            decode(&literals, &mut &side[..], size - 1).is_err(),
            "over the limit"
        );
        assert!(decode(&literals[1..], &mut &side[..], size).is_err());
        assert!(decode(&[&literals[..], b"x"].concat(), &mut &side[..], size).is_err());
        for cut in 0..side.len() {
            assert!(decode(&literals, &mut &side[..cut], size).is_err());
        }
        for bit in 0..side.len() * 8 {
            let mut damaged = side.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(text) = decode(&literals, &mut &damaged[..], 10_000) {
                assert!(text.len() <= 10_000);
            }
        }
    }

    #[test]
    fn what_the_match_finder_removes_comes_back() {
        let mut found = 0;
        for (name, text) in super::super::cases::named() {
            let Some(matches) = match_finder::find(&text, &Threads::Calling).unwrap() else {
                continue;
            };
            found += 1;
            let mut literals = text.clone();
            let mut side = Vec::new();
            encode(&mut literals, &matches, &mut side);
            let mut rest = &side[..];
            assert!(
                decode(&literals, &mut rest, text.len()).unwrap() == text,
                "{name}"
            );
            assert!(rest.is_empty());
        }
        assert!(found > 3, "matches were found in {found} cases");
    }
}
