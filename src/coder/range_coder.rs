//! A range coder for binary symbols: the last stage of context mixing, of the models of static
//! rANS, and of lists in `filter` and `sequence`. FORMAT.md chapter 11.
//!
//! Every binary symbol narrows an interval of 64 bits in the ratio of its two probabilities, which
//! are multiples of 2^-16. Bytes are written four at a time when they are certain. Encoder and
//! decoder implement one trait, so that a model is written once for both directions: it passes each
//! bit with its probability; a [`RangeEncoder`] writes the bit, and a [`RangeDecoder`] returns the
//! bit that was written.
//!
//! Cost: about 2 ns per binary symbol, and a branch miss if it is mispredicted.
//!
//! Source: Martin, "Range encoding" (1979), with the carry of Schindler's coder.

/// Probabilities are in units of 2^-16, from 1 to 65535.
pub(crate) const ONE: u32 = 1 << 16;
/// The interval is widened as soon as it is smaller than this. An interval of exactly this size
/// must not be widened, since it would no longer fit in 64 bits.
const NARROW: u64 = 1 << 32;

/// One direction of binary coding.
pub(crate) trait BinaryCoder {
    /// Codes one binary symbol that is 1 with probability `p1`. An encoder writes `bit` and returns
    /// it; a decoder ignores `bit` and returns the bit that was encoded.
    fn code(&mut self, bit: bool, p1: u32) -> bool;
}

/// Encodes binary symbols; the coded bytes are appended to a vector.
#[derive(Debug)]
pub(crate) struct RangeEncoder<'a> {
    out: &'a mut Vec<u8>,
    low: u64,
    range: u64,
}

impl<'a> RangeEncoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        RangeEncoder {
            out,
            low: 0,
            range: u64::MAX,
        }
    }

    /// Length of the output so far, including the bytes that it held before.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Writes the last eight bytes.
    pub(crate) fn finish(self) {
        self.out.extend(self.low.to_be_bytes());
    }

    /// Adds one to the number formed by the bytes written so far.
    #[cold]
    fn carry(&mut self) {
        for byte in self.out.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
}

impl BinaryCoder for RangeEncoder<'_> {
    #[inline(always)]
    fn code(&mut self, bit: bool, p1: u32) -> bool {
        let bound = (self.range >> 16) * u64::from(p1);
        if bit {
            self.range = bound;
        } else {
            let (low, over) = self.low.overflowing_add(bound);
            (self.low, self.range) = (low, self.range - bound);
            if over {
                self.carry();
            }
        }
        if self.range < NARROW {
            self.out
                .extend_from_slice(&self.low.to_be_bytes()[..4]);
            self.low <<= 32;
            self.range <<= 32;
        }
        bit
    }
}

/// Decodes binary symbols from coded bytes.
#[derive(Debug)]
pub(crate) struct RangeDecoder<'a> {
    coded: &'a [u8],
    /// Number of bytes requested, even behind the end.
    taken: usize,
    /// Offset of the coded number in the interval.
    offset: u64,
    range: u64,
}

impl<'a> RangeDecoder<'a> {
    pub(crate) fn new(coded: &'a [u8]) -> Self {
        let mut decoder = RangeDecoder {
            coded,
            taken: 0,
            offset: 0,
            range: u64::MAX,
        };
        decoder.offset = decoder.word() << 32;
        decoder.offset |= decoder.word();
        decoder
    }

    /// Returns true if the coded bytes were used up exactly.
    pub(crate) fn is_at_end(&self) -> bool {
        self.taken == self.coded.len() && self.offset == 0
    }

    /// Returns true if bytes behind the end were requested.
    #[inline(always)]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.taken > self.coded.len()
    }

    /// The next four bytes. Bytes behind the end read as 0, and `taken` then exceeds the length.
    fn word(&mut self) -> u64 {
        let bytes = self.coded.get(self.taken..self.taken + 4);
        self.taken += 4;
        bytes.map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]).into())
    }
}

impl BinaryCoder for RangeDecoder<'_> {
    #[inline(always)]
    fn code(&mut self, _: bool, p1: u32) -> bool {
        let bound = (self.range >> 16) * u64::from(p1);
        let bit = self.offset < bound;
        self.range = if bit { bound } else { self.range - bound };
        self.offset -= if bit { 0 } else { bound };
        if self.range < NARROW {
            self.offset = self.offset << 32 | self.word();
            self.range <<= 32;
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of all kinds, likely and not, and sequences that make a carry run far.
    fn bits() -> Vec<(bool, u32)> {
        let number = |i: u32| i.wrapping_mul(2654435761) >> 13;
        let mixed = (0..20_000u32).map(|i| {
            let p1 = 1 + number(i) % (ONE - 1);
            (number(i + 77) % ONE < p1, p1)
        });
        let unlikely = (0..500).map(|_| (false, ONE - 1));
        let likely = (0..9000).map(|_| (true, ONE - 1));
        mixed
            .clone()
            .chain(unlikely)
            .chain(likely)
            .chain(mixed)
            .collect()
    }

    fn coded() -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = RangeEncoder::new(&mut out);
        bits()
            .into_iter()
            .for_each(|(bit, p1)| assert_eq!(encoder.code(bit, p1), bit));
        encoder.finish();
        out
    }

    #[test]
    fn bits_come_back() {
        let coded = coded();
        let mut decoder = RangeDecoder::new(&coded);
        for (bit, p1) in bits() {
            assert_eq!(decoder.code(false, p1), bit);
        }
        assert!(decoder.is_at_end());
    }

    #[test]
    fn a_carry_reaches_back_over_many_bytes() {
        let mut out = vec![7, 255, 255];
        let mut encoder = RangeEncoder::new(&mut out);
        encoder.low = u64::MAX;
        encoder.code(false, 1);
        encoder.finish();
        assert_eq!(out[..3], [8, 0, 0]);
    }

    /// Halves of halves meet the interval of just [`NARROW`].
    #[test]
    fn fair_bits_survive() {
        let fair = || (0..1000u32).map(|i| i.wrapping_mul(2654435761) >> 31 == 1);
        let mut coded = Vec::new();
        let mut encoder = RangeEncoder::new(&mut coded);
        fair().for_each(|bit| assert_eq!(encoder.code(bit, ONE / 2), bit));
        encoder.finish();
        let mut decoder = RangeDecoder::new(&coded);
        fair().for_each(|bit| assert_eq!(decoder.code(false, ONE / 2), bit));
        assert!(decoder.is_at_end());
    }

    #[test]
    fn bytes_too_many_or_too_few_are_noticed() {
        let good = coded();
        let fits = |coded: &[u8]| {
            let mut decoder = RangeDecoder::new(coded);
            for (_, p1) in bits() {
                decoder.code(false, p1);
            }
            decoder.is_at_end()
        };
        assert!(fits(&good));
        assert!(!fits(&good[..good.len() - 1]));
        assert!(!fits(&[&good[..], &[0]].concat()));
    }
}
