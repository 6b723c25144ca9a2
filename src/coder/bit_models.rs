//! Adaptive models of bits and numbers, for small data: the matches of filters and the tables of
//! static rANS. FORMAT.md section 11.2.
//!
//! They code few numbers, so size matters and speed does not: some 50 ns a number. A number is
//! coded as an exp-Golomb bucket, as in I. Pavlov's LZMA, and extra bits, of which the first have
//! models. Each model is written once for both directions of the range coder below it.

use super::range_coder::{BinaryCoder, ONE};

/// The probability that a bit is 1, in units of 2^-16, and the number of bits seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitModel {
    one: u16,
    seen: u8,
}

impl BitModel {
    pub(super) const NEW: BitModel = BitModel {
        one: (ONE / 2) as u16,
        seen: 0,
    };

    #[inline]
    pub(super) fn code(&mut self, bit: bool, coder: &mut impl BinaryCoder) -> bool {
        let bit = coder.code(bit, self.one.into());
        self.learn(bit);
        bit
    }

    /// Moves the probability towards `bit`, quickly at first.
    fn learn(&mut self, bit: bool) {
        let rate = match self.seen {
            0..4 => 2,
            4..12 => 3,
            12..30 => 4,
            _ => 5,
        };
        if bit {
            self.one += (u16::MAX - self.one) >> rate;
        } else {
            self.one -= self.one >> rate;
        }
        self.seen = self.seen.saturating_add(1);
    }
}

/// A bit tree: a value below `2^BITS`, the highest bit first.
#[derive(Clone, Debug)]
pub(crate) struct BitTree<const BITS: u32>(Vec<BitModel>);

impl<const BITS: u32> BitTree<BITS> {
    pub(crate) fn new() -> Self {
        BitTree(vec![BitModel::NEW; 1 << BITS])
    }

    /// Encodes `value`, or decodes one, for which `value` does not matter.
    pub(crate) fn code(&mut self, value: usize, coder: &mut impl BinaryCoder) -> usize {
        let node = (0..BITS).rev().fold(1, |node, shift| {
            let bit = self.0[node].code(value >> shift & 1 == 1, coder);
            node << 1 | usize::from(bit)
        });
        node - (1 << BITS)
    }
}

/// Numbers up to [`NumberModel::MOST`]: the exp-Golomb bucket of the number + 1, then its extra
/// bits.
#[derive(Clone, Debug)]
pub(crate) struct NumberModel {
    bucket: BitTree<5>,
    top: Vec<[BitModel; 8]>,
}

/// Number of extra bits that have models, from the highest on.
const TOP: u32 = 3;

impl NumberModel {
    /// The largest number that fits the 32 buckets.
    pub(crate) const MOST: usize = u32::MAX as usize - 1;

    pub(crate) fn new() -> Self {
        NumberModel {
            bucket: BitTree::new(),
            top: vec![[BitModel::NEW; 1 << TOP]; 32],
        }
    }

    /// Encodes `number`, or decodes one, for which `number` does not matter.
    pub(crate) fn code(&mut self, number: usize, coder: &mut impl BinaryCoder) -> usize {
        let bucket = self
            .bucket
            .code((number + 1).ilog2() as usize, coder);
        let mut node = 1;
        let coded = (0..bucket).rev().fold(1, |coded, shift| {
            let bit = (number + 1) >> shift & 1 == 1;
            let bit = if node >> TOP == 0 {
                let bit = self.top[bucket][node].code(bit, coder);
                node = node << 1 | usize::from(bit);
                bit
            } else {
                coder.code(bit, ONE / 2)
            };
            coded << 1 | usize::from(bit)
        });
        coded - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::range_coder::{RangeDecoder, RangeEncoder};

    #[test]
    fn numbers_survive() {
        let mut numbers: Vec<usize> = (0..31)
            .flat_map(|log| [(1 << log) - 1, 1 << log])
            .collect();
        numbers.extend(
            crate::cases::random(5000, 20)
                .iter()
                .map(|&b| usize::from(b)),
        );
        numbers.extend([(1 << 31) - 2, NumberModel::MOST - 1, NumberModel::MOST]);
        let mut coded = Vec::new();
        let mut model = NumberModel::new();
        let mut tree = BitTree::<3>::new();
        let mut out = RangeEncoder::new(&mut coded);
        for &number in &numbers {
            assert_eq!(model.code(number, &mut out), number);
            assert_eq!(tree.code(number % 8, &mut out), number % 8);
        }
        out.finish();
        assert!(coded.len() < 5000 * 8 / 8 + 400, "{} bytes", coded.len());
        let mut model = NumberModel::new();
        let mut tree = BitTree::<3>::new();
        let mut from = RangeDecoder::new(&coded);
        for &number in &numbers {
            assert_eq!(
                (model.code(0, &mut from), tree.code(0, &mut from)),
                (number, number % 8)
            );
        }
        assert!(from.is_at_end());
    }
}
