//! Integers of a column as differences to the one before. FORMAT.md section 12.9.
//!
//! | byte | means |
//! |---|---|
//! | 0 | no number: the value follows, and `0A` |
//! | 1 to 8 | the number of bytes that follow, the highest first: the difference less 11456 |
//! | 16 to 207 | the difference, and 16 |
//! | 208 to 251 | the difference less 192: (byte - 208) x 256 and the next byte |
//!
//! A difference is mapped to 0, 1, 2, ... for 0, -1, 1, -2, ...

use super::packed_layout::MOST_INTEGER;
use super::short_moves::{USUAL, lines};
use crate::base::error::Flaw;

pub(super) const OUT_OF_RANGE: Flaw = Flaw("a number of a column is out of range");

/// Maximum number of digits of a number.
pub(super) const MOST_DIGITS: usize = 18;
/// Maximum size of a pattern, in bytes.
const LONGEST: usize = 32;
/// Numbers are below this, and above its negative.
const LIMIT: i64 = 1_000_000_000_000_000_000;
/// Integers between this and its negative have at most 16 bytes.
const USUAL_LIMIT: i64 = 1_000_000_000_000_000;

pub(super) const SAME: u8 = 16; // A difference of 0.
const NONE: Flaw = Flaw("a column of numbers holds an invalid number");
const OF_ONE_BYTE: u64 = 208 - 16;
const OF_TWO_BYTES: u64 = OF_ONE_BYTE + (252 - 208) * 256;

/// Common look of the numbers of a column: `0` for a digit, and other bytes for themselves. An
/// empty pattern is that of integers without leading zeros, with or without a minus sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// Radix of the digit at each position; 0 if it is no digit.
    radices: Vec<u8>,
}

impl Pattern {
    /// Returns the pattern of `value`, if it is a number.
    pub(super) fn of(value: &[u8]) -> Option<Self> {
        if !is_number(value) {
            return None;
        }
        let bytes: Vec<u8> = value.iter().map(like).collect();
        let radices = (0..bytes.len())
            .map(|at| radix(&bytes, at))
            .collect();
        Some(Pattern { bytes, radices })
    }

    /// Returns true if `pattern` is [that of](Self::of) `value`.
    pub(super) fn is_of(pattern: Option<&Self>, value: &[u8]) -> bool {
        match pattern {
            Some(Pattern { bytes, .. }) => {
                bytes.len() == value.len() && value.iter().map(like).eq(bytes.iter().copied())
            }
            None => !is_number(value),
        }
    }

    /// Returns the pattern that is written as `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let pattern = Self::of(bytes).filter(|pattern| pattern.bytes == bytes);
        if bytes.is_empty() {
            Some(Pattern::default())
        } else {
            pattern
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number that `value` stands for, if it has this pattern.
    pub(super) fn parse(&self, value: &[u8]) -> Option<i64> {
        if self.bytes.is_empty() {
            return integer(value);
        }
        if value.len() != self.bytes.len() {
            return None;
        }
        let mut number = 0;
        for ((&byte, &like), &radix) in value.iter().zip(&self.bytes).zip(&self.radices) {
            if radix > 0 {
                let digit = byte.wrapping_sub(b'0');
                if digit >= radix {
                    return None;
                }
                number = number * i64::from(radix) + i64::from(digit);
            } else if byte != like {
                return None;
            }
        }
        Some(number)
    }

    /// Calls `take` with the value of `number`, from which [`parse`](Self::parse) makes the number
    /// again. The value is the first bytes of the slice; the second argument is their number.
    ///
    /// # Errors
    /// A [`Flaw`] if there is no such value.
    #[inline(always)]
    pub(super) fn print<T>(
        &self,
        number: i64,
        take: impl FnOnce(&[u8], usize) -> T,
    ) -> Result<T, Flaw> {
        if self.is_usual(number) {
            // The value is built in a register. Bytes just written to memory are slow to read as a
            // whole.
            let mut value = 0_u128;
            let mut len = 0;
            self.print_backwards(number, |byte| {
                value = value << 8 | u128::from(byte);
                len += 1;
            })?;
            Ok(take(&value.to_le_bytes(), len))
        } else {
            let mut value = Vec::with_capacity(LONGEST);
            self.print_backwards(number, |byte| value.push(byte))?;
            value.reverse();
            Ok(take(&value, value.len()))
        }
    }

    /// Returns true if the value of a number has at most 16 bytes.
    fn is_usual(&self, number: i64) -> bool {
        let is_small = -USUAL_LIMIT < number && number < USUAL_LIMIT;
        self.bytes.len() <= USUAL && (is_small || !self.bytes.is_empty())
    }

    /// Pushes the bytes of the value, the last first.
    #[inline(always)]
    fn print_backwards(&self, number: i64, mut push: impl FnMut(u8)) -> Result<(), Flaw> {
        if !(-LIMIT < number && number < LIMIT) {
            return Err(OUT_OF_RANGE);
        }
        if self.bytes.is_empty() {
            print_integer(number, push);
            return Ok(());
        }
        let mut rest = u64::try_from(number).or(Err(OUT_OF_RANGE))?;
        for (&byte, radix) in self.bytes.iter().zip(&self.radices).rev() {
            // The compiler turns a division by a constant into a multiplication.
            let (left, digit) = match radix {
                0 => (rest, byte),
                6 => (rest / 6, b'0' + (rest % 6) as u8),
                _ => (rest / 10, b'0' + (rest % 10) as u8),
            };
            push(digit);
            rest = left;
        }
        if rest == 0 { Ok(()) } else { Err(OUT_OF_RANGE) }
    }
}

/// Maps a byte of a value to that of its pattern.
fn like(byte: &u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { *byte }
}

/// Returns true if a value has a pattern.
fn is_number(value: &[u8]) -> bool {
    let digits = || {
        value
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .count()
    };
    value.len() <= LONGEST && (1..=MOST_DIGITS).contains(&digits())
}

/// Returns the radix of the digit at a position of a pattern; 0 if it is no digit. It is 6 for the
/// first of exactly two digits behind a colon, as in minutes and seconds.
fn radix(pattern: &[u8], at: usize) -> u8 {
    let is_digit = |at: usize| pattern.get(at) == Some(&b'0');
    let is_first_of_two = at > 0 && pattern[at - 1] == b':' && is_digit(at + 1);
    match is_digit(at) {
        false => 0,
        true if is_first_of_two && !is_digit(at + 2) => 6,
        true => 10,
    }
}

/// Parses decimal digits without leading zeros, with or without a minus sign.
fn integer(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_canonical = digits.first() != Some(&b'0') || value == b"0";
    if !is_canonical || !(1..=MOST_DIGITS).contains(&digits.len()) {
        return None;
    }
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if digits.len() < value.len() {
        -number
    } else {
        number
    })
}

/// Pushes the bytes of the value that [`integer`] parses as `number`, the last first.
#[inline(always)]
fn print_integer(number: i64, mut push: impl FnMut(u8)) {
    let mut rest = number.unsigned_abs();
    push(b'0' + (rest % 10) as u8);
    while rest >= 10 {
        rest /= 10;
        push(b'0' + (rest % 10) as u8);
    }
    if number < 0 {
        push(b'-');
    }
}

/// Returns the number of a slot: its decimal digits, with or without a minus sign. Returns 0 if the
/// value is anything else.
pub(super) fn of_slot(value: &[u8]) -> i64 {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.len() > MOST_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    let number = digits
        .iter()
        .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    if digits.len() < value.len() {
        -number
    } else {
        number
    }
}

/// Parses a decimal number below 2^63, without a sign or leading zeros.
pub(super) fn large(value: &[u8]) -> Option<u64> {
    let is_canonical = value.first() != Some(&b'0') || value == b"0";
    if !is_canonical || value.is_empty() {
        return None;
    }
    let more = |number: u64, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        let more = number.checked_mul(10)?.checked_add(digit.into());
        more.filter(|_| digit <= 9)
    };
    value
        .iter()
        .try_fold(0, more)
        .filter(|&number| number < MOST_INTEGER)
}

/// Appends the value that [`large`] parses as `number`.
pub(super) fn print_large(number: u64, out: &mut Vec<u8>) {
    let mut room = [0; 20];
    let mut at = 20;
    let mut rest = number;
    while rest > 0 || at == room.len() {
        at -= 1;
        room[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&room[at..]);
}

/// Maps a difference to a number that is small if the difference is near 0.
pub(super) fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Number of bytes that hold `above`, at least 1.
fn bytes_of(above: u64) -> usize {
    (8 - above.leading_zeros() as usize / 8).max(1)
}

/// Appends a difference.
pub(super) fn write(zigzag: u64, out: &mut Vec<u8>) {
    match zigzag {
        0..OF_ONE_BYTE => out.push(16 + zigzag as u8),
        OF_ONE_BYTE..OF_TWO_BYTES => {
            let above = zigzag - OF_ONE_BYTE;
            out.extend([208 + (above >> 8) as u8, above as u8]);
        }
        _ => {
            let above = zigzag - OF_TWO_BYTES;
            let len = bytes_of(above);
            out.push(len as u8);
            out.extend_from_slice(&above.to_be_bytes()[8 - len..]);
        }
    }
}

/// Takes a difference off the front of `bytes`, or returns `None` for the 0 in front of a value
/// that is no number.
///
/// # Errors
/// A [`Flaw`] if there is neither.
pub(super) fn read(bytes: &mut &[u8]) -> Result<Option<i64>, Flaw> {
    let of = |zigzag: u64| (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    if let [first @ SAME..=207, ref rest @ ..] = **bytes {
        *bytes = rest;
        return Ok(Some(of((first - SAME).into())));
    }
    let (&first, rest) = bytes.split_first().ok_or(NONE)?;
    let len = match first {
        0 => 0,
        1..=8 => usize::from(first),
        208..=251 => 1,
        _ => return Err(NONE),
    };
    let (more, rest) = rest.split_at_checked(len).ok_or(NONE)?;
    *bytes = rest;
    let value = more
        .iter()
        .fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    let zigzag = match first {
        0 => return Ok(None),
        1..=8 => value.checked_add(OF_TWO_BYTES).ok_or(NONE)?,
        _ => OF_ONE_BYTE + (u64::from(first) - 208) * 256 + value,
    };
    Ok(Some(of(zigzag)))
}

/// Skips `count` values at the front of `bytes`: differences, or values that are no numbers.
///
/// # Errors
/// A [`Flaw`] if there are fewer.
pub(super) fn skip(bytes: &mut &[u8], count: usize) -> Result<(), Flaw> {
    const TOGETHER: usize = 16;
    let is_value = |byte: &u8| (16..=207).contains(byte);
    let mut left = count;
    while left > 0 {
        let some = left.min(TOGETHER);
        match bytes.split_first_chunk::<TOGETHER>() {
            Some((chunk, rest)) if some == TOGETHER && chunk.iter().all(is_value) => *bytes = rest,
            _ => (0..some).try_for_each(|_| skip_one(bytes))?,
        }
        left -= some;
    }
    Ok(())
}

fn skip_one(bytes: &mut &[u8]) -> Result<(), Flaw> {
    if read(bytes)?.is_none() {
        *bytes = &bytes[lines(bytes, 1).ok_or(NONE)?..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_prints_as_it_was() {
        let integers = [
            "0",
            "7",
            "-1",
            "10",
            "999999999999999999",
            "-999999999999999999",
        ];
        let edges = ["999999999999999", "-999999999999999", "1000000000000000"];
        let integers = integers
            .into_iter()
            .chain(edges)
            .map(|value| (value, ""));
        let others = [
            ("007", "000"),
            ("000", "000"),
            ("23:59:07,123", "00:00:00,000"),
            ("a-23456789:12:59", "a-00000000:00:00"),
            ("a-23456789:12:59Z", "a-00000000:00:00Z"),
        ];
        for (value, pattern) in integers.into_iter().chain(others) {
            let pattern = Pattern::read(pattern.as_bytes()).unwrap();
            let number = pattern.parse(value.as_bytes()).unwrap();
            let printed = pattern.print(number, |bytes, len| bytes[..len].to_vec());
            assert_eq!(printed, Ok(value.as_bytes().to_vec()));
        }
        for other in [
            "",
            "-",
            "-0",
            "00",
            "01",
            "1000000000000000000",
            "1x",
            "+1",
            " 1",
            "--1",
        ] {
            assert_eq!(Pattern::default().parse(other.as_bytes()), None, "{other}");
        }
        let clock = Pattern::read(b"at 00:00:00").unwrap();
        for other in [
            "",
            "at 10:60:00",
            "at 10:00:60",
            "at 10:00:0",
            "by 10:00:00",
            "at 1x:00:00",
        ] {
            assert_eq!(clock.parse(other.as_bytes()), None, "{other}");
        }
        assert_eq!(clock.parse(b"at 99:59:59"), Some(99 * 3600 + 3599));
        let [integer, digits] = [&b""[..], b"000"].map(|bytes| Pattern::read(bytes).unwrap());
        for (number, pattern) in [
            (LIMIT, &integer),
            (-LIMIT, &integer),
            (1000, &digits),
            (-1, &digits),
        ] {
            assert!(pattern.print(number, |_, _| ()).is_err());
        }
        for wrong in [
            &b"1"[..],
            b"x",
            &[b'0'; 19],
            &[b"0".repeat(9), b"-".repeat(24)].concat(),
        ] {
            assert_eq!(Pattern::read(wrong), None);
        }
    }

    #[test]
    fn differences_survive() {
        let edges = [95, 96, 97, 5727, 5728, 5729, 40_000, 2 * LIMIT, i64::MAX];
        for difference in edges
            .into_iter()
            .flat_map(|edge| [edge, -edge, 0])
        {
            let mut bytes = Vec::new();
            write(zigzag(difference), &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((read(&mut rest), rest.len()), (Ok(Some(difference)), 0));
            assert!((0..bytes.len()).all(|cut| read(&mut &bytes[..cut]).is_err()));
        }
        assert_eq!(read(&mut &[0][..]), Ok(None));
        for wrong in [9, 15, 252, 255] {
            assert!(read(&mut &[wrong, 0, 0][..]).is_err());
        }
        assert!(read(&mut &[8, 255, 255, 255, 255, 255, 255, 255, 255][..]).is_err());
    }

    #[test]
    fn values_are_passed_together() {
        // Values of one byte, and between them some of two bytes, some longer, and some that are no
        // numbers.
        let mut bytes = Vec::new();
        let mut ends = vec![0];
        for n in 0..200_u64 {
            match n {
                40 | 41 | 90 => write(5000, &mut bytes),
                57 | 120 => write(1 << 40, &mut bytes),
                75 | 150 => bytes.extend(b"\0none\n"),
                _ => write(n % 192, &mut bytes),
            }
            ends.push(bytes.len());
        }
        for (count, end) in ends.iter().enumerate() {
            let mut rest = &bytes[..];
            assert_eq!((skip(&mut rest, count), rest), (Ok(()), &bytes[*end..]));
        }
        let cut = |count: usize| skip(&mut &bytes[..ends[count] - 1], count);
        assert!(
            [1, 16, 58, 76, 200]
                .into_iter()
                .all(|count| cut(count).is_err())
        );
    }
}
