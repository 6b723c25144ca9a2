//! Packed columns: values without any pattern, such as checksums and ports, as digits of large
//! numbers.
//!
//! They are stored beside the text, which alone is sorted. Sorting cannot predict such digits, and
//! here a digit takes no more bits than the logarithm of its radix.
//!
//! Each place of a value is a digit. An integer is one digit: its distance above the least integer.
//! Digits are joined to words while the product of their radices is at most 2^60. The first digit
//! is the lowest. A word takes as many bits as the product needs.

use super::numbers;
use super::packed_layout::{CUT, Layout, Run};
use crate::base::error::Flaw;
use std::rc::Rc;

/// Maximum product of the radices of a word's digits, if it has more than one.
const MOST_OF_WORD: u64 = 1 << 60;

const NO_WORD: Flaw = Flaw("a word of packed values is out of range");

/// Packs values that are all of this layout.
pub(super) fn pack<'v>(layout: &Layout, values: impl Iterator<Item = &'v [u8]>, out: &mut Vec<u8>) {
    let mut packer = Packer {
        out,
        pending: 0,
        bits: 0,
        word: 0,
        product: 1,
    };
    for value in values {
        match layout {
            Layout::Places(runs) => {
                let symbols = runs
                    .iter()
                    .flat_map(|run| (0..run.len).map(move |_| run.symbols));
                for (symbols, &byte) in symbols.zip(value) {
                    packer.push(symbols.digit(byte), symbols.count.into());
                }
            }
            Layout::Integers { low, count } => {
                let number = numbers::large(value).expect("it is of the layout");
                packer.push(number - low, *count);
            }
        }
    }
    packer.end();
}

/// Layout with its digits. Columns of one layout share it, since each of these takes a byte of the
/// file, and this takes thousands of bytes of memory.
#[derive(Debug)]
pub(super) struct Digits {
    pub layout: Layout,
    /// Digits of a value with a radix above 1: the number of consecutive digits, and their radix.
    runs: Vec<(u8, u64)>,
    /// Number of these digits in a value.
    of_value: usize,
}

impl Digits {
    pub(super) fn new(layout: Layout) -> Rc<Self> {
        let runs = layout.radices();
        let of_value = runs
            .iter()
            .map(|&(len, _)| usize::from(len))
            .sum();
        Rc::new(Digits {
            layout,
            runs,
            of_value,
        })
    }

    /// Returns its memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_layout = match &self.layout {
            Layout::Places(runs) => size_of_val(&runs[..]),
            Layout::Integers { .. } => 0,
        };
        size_of::<Self>() + of_layout + size_of_val(&self.runs[..]) + 64
    }
}

/// Iterator over the words into which digits are joined.
#[derive(Clone, Debug)]
struct Words {
    digits: Rc<Digits>,
    run: usize,
    place: u8,
    /// Number of digits that are still to come.
    left: usize,
}

impl Words {
    /// Creates the words of `count` values.
    fn of(digits: Rc<Digits>, count: usize) -> Self {
        let left = digits.of_value.saturating_mul(count);
        Words {
            digits,
            run: 0,
            place: 0,
            left,
        }
    }
}

impl Iterator for Words {
    /// Number of digits of a word, and its bits.
    type Item = (usize, u32);

    fn next(&mut self) -> Option<(usize, u32)> {
        let mut digits = 0;
        let mut product = 1_u64;
        let runs = &self.digits.runs;
        while digits < self.left {
            let (len, radix) = runs[self.run];
            match product.checked_mul(radix) {
                Some(more) if digits == 0 || more <= MOST_OF_WORD => product = more,
                _ => break,
            }
            digits += 1;
            self.place += 1;
            if self.place == len {
                (self.place, self.run) = (0, (self.run + 1) % runs.len());
            }
        }
        self.left -= digits;
        (digits > 0).then(|| (digits, u64::BITS - (product - 1).leading_zeros()))
    }
}

/// Writer of digits.
struct Packer<'o> {
    out: &'o mut Vec<u8>,
    /// Bits that do not fill a byte yet.
    pending: u128,
    bits: u32,
    word: u64,
    product: u64,
}

impl Packer<'_> {
    fn push(&mut self, digit: u64, radix: u64) {
        if radix == 1 {
            return;
        }
        let more = self
            .product
            .checked_mul(radix)
            .filter(|&more| more <= MOST_OF_WORD);
        let Some(product) = more.or((self.product == 1).then_some(radix)) else {
            self.end_word();
            return self.push(digit, radix);
        };
        self.word += digit * self.product;
        self.product = product;
    }

    fn end_word(&mut self) {
        self.pending |= u128::from(self.word) << self.bits;
        self.bits += u64::BITS - (self.product - 1).leading_zeros();
        while self.bits >= 8 {
            self.out.push(self.pending as u8);
            self.pending >>= 8;
            self.bits -= 8;
        }
        (self.word, self.product) = (0, 1);
    }

    fn end(mut self) {
        self.end_word();
        if self.bits > 0 {
            self.out.push(self.pending as u8);
        }
    }
}

/// Reader of the values of a packed column.
#[derive(Debug)]
pub(super) struct Unpacker<'s> {
    words: Words,
    bytes: &'s [u8],
    /// Number of bits of `bytes` that were read.
    read: usize,
    word: u64,
    /// Number of digits left in `word`.
    digits: usize,
}

impl<'s> Unpacker<'s> {
    /// Takes the words of `count` values off the front of `side`.
    pub(super) fn read(
        digits: Rc<Digits>,
        count: usize,
        side: &mut &'s [u8],
    ) -> Result<Self, Flaw> {
        let words = Words::of(digits, count);
        let most = side.len().saturating_mul(8);
        let mut bits = 0;
        for (_, of_word) in words.clone() {
            bits += of_word as usize;
            if bits > most {
                return Err(CUT);
            }
        }
        let bytes = side.split_off(..bits.div_ceil(8)).ok_or(CUT)?;
        Ok(Unpacker {
            words,
            bytes,
            read: 0,
            word: 0,
            digits: 0,
        })
    }

    /// Returns its layout.
    #[cfg(test)]
    pub(super) fn digits(&self) -> &Rc<Digits> {
        &self.words.digits
    }

    /// Sets `value` to the next value.
    pub(super) fn next(&mut self, value: &mut Vec<u8>) -> Result<(), Flaw> {
        value.clear();
        let digits = Rc::clone(&self.words.digits);
        match &digits.layout {
            Layout::Integers { low, count } => {
                let number = low + self.digit(*count)?;
                numbers::print_large(number, value);
            }
            Layout::Places(runs) => {
                for Run { len, symbols } in runs {
                    for _ in 0..*len {
                        let digit = self.digit(symbols.count.into())?;
                        value.push(symbols.of(digit));
                    }
                }
            }
        }
        Ok(())
    }

    fn digit(&mut self, radix: u64) -> Result<u64, Flaw> {
        if radix == 1 {
            return Ok(0);
        }
        if self.digits == 0 {
            let (digits, bits) = self.words.next().ok_or(CUT)?;
            self.digits = digits;
            self.word = bits_at(self.bytes, self.read, bits);
            self.read += bits as usize;
        }
        let digit = match radix.is_power_of_two() {
            true => self.word & (radix - 1),
            false => self.word % radix,
        };
        self.word = match radix.is_power_of_two() {
            true => self.word >> radix.trailing_zeros(),
            false => self.word / radix,
        };
        self.digits -= 1;
        if self.digits == 0 && self.word != 0 {
            Err(NO_WORD)
        } else {
            Ok(digit)
        }
    }
}

/// Returns `count` bits of `bytes`, up to 63, from bit `at` on. The lowest bit comes first.
fn bits_at(bytes: &[u8], at: usize, count: u32) -> u64 {
    let start = at / 8;
    let some = &bytes[start..bytes.len().min(start + 9)];
    let mut nine = [0; 16];
    nine[..some.len()].copy_from_slice(some);
    (u128::from_le_bytes(nine) >> (at % 8)) as u64 & ((1 << count) - 1)
}

#[cfg(test)]
mod tests {
    use super::super::packed_shape::Shape;
    use super::*;

    fn unpacked(layout: &Layout, count: usize, mut side: &[u8]) -> Result<Vec<Vec<u8>>, Flaw> {
        let mut values = Unpacker::read(Digits::new(layout.clone()), count, &mut side)?;
        assert_eq!(side, b"more");
        let mut value = Vec::new();
        (0..count)
            .map(|_| values.next(&mut value).map(|()| value.clone()))
            .collect()
    }

    /// Packs values in the layout that suits them. Returns the number of packed bytes.
    fn round_trip(values: &[String]) -> usize {
        let mut shape = Shape::default();
        let mut out = Vec::new();
        assert!(
            values
                .iter()
                .all(|value| shape.add(value.as_bytes()))
        );
        let (layout, _) = shape.layout().unwrap();
        pack(
            &layout,
            values.iter().map(|value| value.as_bytes()),
            &mut out,
        );
        let size = out.len();
        out.extend(b"more");
        let back = unpacked(&layout, values.len(), &out).unwrap();
        assert!(
            back.iter()
                .map(|value| &value[..])
                .eq(values.iter().map(|value| value.as_bytes()))
        );
        for cut in 0..size {
            let digits = Digits::new(layout.clone());
            let cut = Unpacker::read(digits, values.len(), &mut &out[..cut]);
            assert!(cut.is_err());
        }
        size
    }

    #[test]
    fn digits_take_their_logarithm() {
        let noise = |n: u64| (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let column =
            |value: fn(u64) -> String| -> Vec<String> { (0..120).map(noise).map(value).collect() };
        assert_eq!(round_trip(&column(|n| format!("{n:016x}"))), 120 * 8);
        assert_eq!(round_trip(&column(|n| format!("{n:016X}"))), 120 * 8);
        assert_eq!(
            round_trip(&column(|n| format!("{:08x}-4{:03x}", n >> 32, n % 4096))),
            660
        );
        // 18 digits take 60 bits, and so do three values of six.
        assert_eq!(
            round_trip(&column(|n| format!("{:06}", n % 1_000_000))),
            300
        );
        // The radix is at most 2^15 for these ports, and 4 such digits fit in 60 bits.
        let ports = column(|n| format!("{}", 1024 + n % 30_000));
        assert_eq!(round_trip(&ports), 30 * 60 / 8);
        assert!(round_trip(&column(|n| format!("{}", n >> 1))) <= 120 * 63 / 8);
        assert_eq!(
            round_trip(&column(|n| format!("{}", n % 7))),
            (5_usize * 59 + 43).div_ceil(8)
        );
        assert_eq!(round_trip(&vec!["same".to_owned(); 9]), 0);
        assert_eq!(
            round_trip(&["9223372036854775807".to_owned(), "0".to_owned()]),
            16
        );
    }

    #[test]
    fn words_that_are_too_large_are_told() {
        let layout = Layout::Integers { low: 5, count: 6 };
        assert_eq!(
            unpacked(&layout, 3, b"\x20more"),
            Ok(vec![b"7".to_vec(), b"10".to_vec(), b"5".to_vec()])
        );
        assert!(unpacked(&layout, 3, &[&[215][..], b"more"].concat()).is_ok());
        assert_eq!(
            unpacked(&layout, 3, &[&[216][..], b"more"].concat()),
            Err(NO_WORD)
        );
    }
}
