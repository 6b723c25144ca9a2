//! An adaptive binary arithmetic coder for the numbers that describe matches: FORMAT.md section 14.2.
//!
//! There are few of them, so size matters and speed does not: some 50 ns a number. The carryless coder is that of M. Mahoney's
//! lpaq; numbers go by magnitude, as in I. Pavlov's LZMA: a class, its next bits modelled, the rest as they are.

use crate::error::Flaw;

/// The probability that a bit is 1, in 2^-16, and how often it was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bit {
    one: u16,
    seen: u8,
}

impl Bit {
    const NEW: Bit = Bit { one: 1 << 15, seen: 0 };

    /// Moves towards `bit`, first quickly.
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

/// Bits of bits: a value below `2^BITS`, the highest bit first.
#[derive(Clone, Debug)]
pub(super) struct Tree<const BITS: u32>(Vec<Bit>);

impl<const BITS: u32> Tree<BITS> {
    pub fn new() -> Self {
        Tree(vec![Bit::NEW; 1 << BITS])
    }

    pub fn encode(&mut self, value: usize, out: &mut Encoder) {
        for shift in (0..BITS).rev() {
            let node = (1 << BITS | value) >> (shift + 1);
            out.bit(value >> shift & 1 == 1, &mut self.0[node]);
        }
    }

    pub fn decode(&mut self, from: &mut Decoder<'_>) -> usize {
        let node =
            (0..BITS).fold(1, |node, _| node << 1 | usize::from(from.bit(&mut self.0[node])));
        node - (1 << BITS)
    }
}

/// Numbers below 2^31: the magnitude of the number + 1, then the bits below its highest.
#[derive(Clone, Debug)]
pub(super) struct Number {
    class: Tree<5>,
    top: Vec<[Bit; 8]>,
}

/// How many bits below the highest are modelled.
const TOP: u32 = 3;

impl Number {
    pub fn new() -> Self {
        Number { class: Tree::new(), top: vec![[Bit::NEW; 1 << TOP]; 32] }
    }

    pub fn encode(&mut self, number: usize, out: &mut Encoder) {
        let class = (number + 1).ilog2();
        self.class.encode(class as usize, out);
        let mut node = 1;
        for shift in (0..class).rev() {
            let bit = (number + 1) >> shift & 1;
            if node >> TOP == 0 {
                out.bit(bit == 1, &mut self.top[class as usize][node]);
                node = node << 1 | bit;
            } else {
                out.bit(bit == 1, &mut Bit::NEW.clone());
            }
        }
    }

    pub fn decode(&mut self, from: &mut Decoder<'_>) -> usize {
        let class = self.class.decode(from);
        let mut node = 1;
        let number = (0..class).fold(1, |number, _| {
            let bit = if node >> TOP == 0 {
                let bit = from.bit(&mut self.top[class][node]);
                node = node << 1 | usize::from(bit);
                bit
            } else {
                from.bit(&mut Bit::NEW.clone())
            };
            number << 1 | usize::from(bit)
        });
        number - 1
    }
}

/// The interval that the bits so far have left, both ends included.
#[derive(Debug)]
pub(super) struct Encoder {
    low: u32,
    high: u32,
    out: Vec<u8>,
}

impl Encoder {
    pub fn new() -> Self {
        Encoder { low: 0, high: u32::MAX, out: Vec::new() }
    }

    fn bit(&mut self, bit: bool, model: &mut Bit) {
        let middle = split(self.low, self.high, *model);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        model.learn(bit);
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 0xFF;
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.out.extend(self.high.to_be_bytes());
        self.out
    }
}

/// The last value of the part of the interval that means 1.
fn split(low: u32, high: u32, model: Bit) -> u32 {
    low + ((u64::from(high - low) * u64::from(model.one)) >> 16) as u32
}

/// The same interval, and where in it the coded bytes are.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    coded: &'a [u8],
    missing: usize,
}

impl<'a> Decoder<'a> {
    pub fn new(coded: &'a [u8]) -> Self {
        let mut decoder = Decoder { low: 0, high: u32::MAX, value: 0, coded, missing: 0 };
        (0..4).for_each(|_| decoder.shift_in());
        decoder
    }

    fn bit(&mut self, model: &mut Bit) -> bool {
        let middle = split(self.low, self.high, *model);
        let bit = self.value <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        model.learn(bit);
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 0xFF;
            self.shift_in();
        }
        bit
    }

    /// Bytes that are not there read as 0, which [`Decoder::finish`] finds.
    fn shift_in(&mut self) {
        let byte = match self.coded.split_first() {
            Some((&byte, rest)) => {
                self.coded = rest;
                byte
            }
            None => {
                self.missing += 1;
                0
            }
        };
        self.value = self.value << 8 | u32::from(byte);
    }

    /// Checks that just the coded bytes were used.
    pub fn finish(self) -> Result<(), Flaw> {
        if self.missing > 0 || !self.coded.is_empty() {
            return Err(Flaw("the matches of a block do not end where their coded bytes do"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive() {
        let mut numbers: Vec<usize> = (0..31).flat_map(|log| [(1 << log) - 1, 1 << log]).collect();
        numbers.extend(super::super::cases::random(5000, 20).iter().map(|&b| usize::from(b)));
        numbers.push((1 << 31) - 2);
        let (mut model, mut tree, mut out) = (Number::new(), Tree::<3>::new(), Encoder::new());
        for &number in &numbers {
            model.encode(number, &mut out);
            tree.encode(number % 8, &mut out);
        }
        let coded = out.finish();
        assert!(coded.len() < 5000 * 8 / 8 + 400, "{} bytes", coded.len());
        let read = |coded: &[u8]| {
            let (mut model, mut tree) = (Number::new(), Tree::<3>::new());
            let mut from = Decoder::new(coded);
            let pairs = numbers.iter().map(|_| (model.decode(&mut from), tree.decode(&mut from)));
            let pairs: Vec<_> = pairs.collect();
            from.finish().map(|()| pairs)
        };
        let pairs: Vec<_> = numbers.iter().map(|&number| (number, number % 8)).collect();
        assert_eq!(read(&coded), Ok(pairs));
        assert!(read(&coded[..coded.len() - 1]).is_err());
        assert!(read(&[&coded[..], &[0]].concat()).is_err());
    }
}
