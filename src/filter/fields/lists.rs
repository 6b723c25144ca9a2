//! Values that are lists, such as the names of a place. FORMAT.md section 12.9.
//!
//! Each item is stored by the bytes at its start and its end that it shares with another item: the
//! one before it, or the key, which is the value of another slot.
//!
//! | byte | means |
//! |---|---|
//! | 0 | the next item, which is the key |
//! | 1 to 9, 11 to 15 | the next item, which begins with 0, 1, 2 .. bytes of the one before |
//! | 16 to 30 | behind the bytes of an item: its end, the last 2, 3, 4 .. bytes of the one before |
//! | 31 | in front of an item: the key takes the role of the one before |
//!
//! The sort groups bytes by the bytes beside them, anywhere in the block. It does not see that the
//! same bytes were in the item just before, as they are in lists. A quote at both ends of the value
//! is part of no item. Both directions are one pass.

use super::block_writer::BlockWriter;
use crate::base::error::Flaw;
use std::ops::Range;

/// Maximum size of a separator, in bytes.
const MOST_SEPARATOR: usize = 4;

/// Least byte of an item. Lower bytes are codes.
const LEAST_BYTE: u8 = b' ';
/// Code of an item that is the key: the value of the slot by which the first item is stored.
const IS_KEY: u8 = 0;
/// Code in front of an item that is stored by the key.
const BY_KEY: u8 = 31;
/// Least code of a shared end.
const ENDS: u8 = 16;
/// Length of the end with this code, in bytes.
const LEAST_END: usize = 2;
/// Maximum number of shared bytes at the start of an item.
const MOST_BEGIN: usize = 13;
/// Maximum number of shared bytes at the end of an item.
const MOST_END: usize = LEAST_END + (BY_KEY - ENDS) as usize - 1;
/// The key is used instead of the item before if it saves at least this number of bytes more.
const LEAST_SAVED: usize = 2;

const NO_LIST: Flaw = Flaw("a column of lists holds an invalid list");

/// Bytes between two items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Separator(Box<[u8]>);

impl Separator {
    /// Makes a separator of `bytes`, if they may be one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let fits = bytes.len() <= MOST_SEPARATOR && are_of_items(bytes);
        fits.then(|| Separator(bytes.into()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn are_of_items(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= LEAST_BYTE)
}

/// Returns true if a value can be stored as a list: if it begins with a quote, it ends with the
/// same.
pub(super) fn may_be(value: &[u8]) -> bool {
    let quoted = match value {
        [quote @ (b'"' | b'\''), .., last] => quote == last,
        [b'"' | b'\''] => false,
        _ => true,
    };
    quoted && are_of_items(value)
}

/// Returns the range of a value without the quotes around it.
pub(super) fn unquoted(value: &[u8]) -> Range<usize> {
    match value {
        [b'"' | b'\'', .., _] => 1..value.len() - 1,
        [b'"' | b'\''] => 0..0,
        _ => 0..value.len(),
    }
}

/// Appends the stored form of a value that [`may_be`] a list. `key` is the key of its items.
pub(super) fn write(value: &[u8], key: &[u8], separator: &Separator, out: &mut Vec<u8>) {
    let key = &key[unquoted(key)];
    let mut rest = &value[unquoted(value)];
    if rest.len() < value.len() {
        out.push(value[0]);
    }
    let mut before = key;
    loop {
        let next = match separator.bytes() {
            [] => None,
            bytes => memchr::memmem::find(rest, bytes),
        };
        let item = &rest[..next.unwrap_or(rest.len())];
        push_item(item, before, key, out);
        let Some(next) = next else { return };
        (before, rest) = (item, &rest[next + separator.bytes().len()..]);
    }
}

fn push_item(item: &[u8], before: &[u8], key: &[u8], out: &mut Vec<u8>) {
    if item == key && !key.is_empty() {
        return out.push(IS_KEY);
    }
    let by_before = Shared::of(item, before);
    let by_key = Shared::of(item, key);
    if by_key.saved() >= by_before.saved() + LEAST_SAVED {
        out.push(BY_KEY);
        by_key.push(item, out);
    } else {
        by_before.push(item, out);
    }
}

/// Bytes that an item shares with another.
struct Shared {
    /// Number of shared bytes at its start.
    begin: usize,
    /// Number of shared bytes at its end, behind those: 0, or at least [`LEAST_END`].
    end: usize,
}

impl Shared {
    fn of(item: &[u8], other: &[u8]) -> Self {
        // A character is not cut, since its first byte predicts the others.
        let goes_on = |at: usize| {
            item.get(at)
                .is_some_and(|byte| byte & 0xC0 == 0x80)
        };
        let alike = item
            .iter()
            .zip(other)
            .take(MOST_BEGIN)
            .take_while(|(one, other)| one == other);
        let mut begin = alike.count();
        while begin > 0 && goes_on(begin) {
            begin -= 1;
        }
        let ends = item[begin..]
            .iter()
            .rev()
            .zip(other[begin..].iter().rev());
        let mut end = ends
            .take(MOST_END)
            .take_while(|(one, other)| one == other)
            .count();
        while end > 0 && goes_on(item.len() - end) {
            end -= 1;
        }
        Shared {
            begin,
            end: if end < LEAST_END { 0 } else { end },
        }
    }

    /// Number of bytes that are not stored.
    fn saved(&self) -> usize {
        self.begin + self.end - usize::from(self.end > 0)
    }

    fn push(&self, item: &[u8], out: &mut Vec<u8>) {
        out.push(self.begin as u8 + 1 + u8::from(self.begin >= 9));
        out.extend_from_slice(&item[self.begin..item.len() - self.end]);
        if self.end > 0 {
            out.push(ENDS + (self.end - LEAST_END) as u8);
        }
    }
}

/// An item as it is stored.
struct Stored<'s> {
    /// True if it is stored by the key, and not by the item before.
    is_by_key: bool,
    begin: usize,
    own: &'s [u8],
    end: usize,
}

impl<'s> Stored<'s> {
    /// Takes an item off the front of `bytes`, which are not empty. The key has `key_len` bytes.
    fn take(bytes: &mut &'s [u8], key_len: usize) -> Result<Self, Flaw> {
        let (is_by_key, code, rest) = match **bytes {
            [IS_KEY, ref rest @ ..] => {
                *bytes = rest;
                return Ok(Stored {
                    is_by_key: true,
                    begin: key_len,
                    own: &[],
                    end: 0,
                });
            }
            [BY_KEY, code, ref rest @ ..] => (true, code, rest),
            [code, ref rest @ ..] => (false, code, rest),
            [] => return Err(NO_LIST),
        };
        let begin = match code {
            1..=9 => usize::from(code - 1),
            11..ENDS => usize::from(code - 2),
            _ => return Err(NO_LIST),
        };
        let len = rest
            .iter()
            .position(|&byte| byte < LEAST_BYTE)
            .unwrap_or(rest.len());
        let (own, rest) = rest.split_at(len);
        let (end, rest) = match rest {
            [code @ ENDS..BY_KEY, rest @ ..] => (LEAST_END + usize::from(code - ENDS), rest),
            _ => (0, rest),
        };
        *bytes = rest;
        Ok(Stored {
            is_by_key,
            begin,
            own,
            end,
        })
    }
}

/// Appends the value that is `stored` to `block`. `key` is the range of the key in `block`, without
/// its quotes.
///
/// # Errors
/// A [`Flaw`] if it is no list, or does not fit.
pub(super) fn restore(
    stored: &[u8],
    key: Range<usize>,
    separator: &Separator,
    block: &mut BlockWriter,
) -> Result<(), Flaw> {
    let (quote, mut rest) = match stored {
        [b'"' | b'\'', ..] => stored.split_at(1),
        _ => (&[][..], stored),
    };
    block.push(quote)?;
    let mut before = key.clone();
    let mut between = &[][..];
    while !rest.is_empty() {
        let Stored {
            is_by_key,
            begin,
            own,
            end,
        } = Stored::take(&mut rest, key.len())?;
        let other = if is_by_key { key.clone() } else { before };
        if begin.max(end) > other.len() {
            return Err(NO_LIST);
        }
        block.push(between)?;
        let start = block.len();
        block.push_within(other.start..other.start + begin)?;
        block.push(own)?;
        block.push_within(other.end - end..other.end)?;
        (before, between) = (start..block.len(), separator.bytes());
    }
    block.push(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(value: &str, key: &str, separator: &str) -> Vec<u8> {
        let separator = Separator::read(separator.as_bytes()).unwrap();
        assert!(may_be(value.as_bytes()));
        let mut stored = Vec::new();
        write(value.as_bytes(), key.as_bytes(), &separator, &mut stored);
        let restored = |size: usize| {
            let mut block = BlockWriter::new(size)?;
            block.push(key.as_bytes())?;
            restore(&stored, unquoted(key.as_bytes()), &separator, &mut block)?;
            block.whole()
        };
        let size = key.len() + value.len();
        assert_eq!(restored(size).unwrap(), [key, value].concat().as_bytes());
        assert!(value.is_empty() || restored(size - 1).is_err());
        stored
    }

    #[test]
    fn items_are_stored_by_what_they_share() {
        let names = "\"Greding; Gredingen; Gradingen\"";
        let stored = round_trip(names, "\"Greding\"", "; ");
        assert_eq!(stored, b"\"\x00\x08en\x03a\x14");
        // The key saves two bytes more than the item before.
        assert_eq!(
            round_trip("x; Gredin; y; Greting", "Greding", "; "),
            b"\x01x\x1F\x07\x01y\x1F\x04t\x11"
        );
        assert_eq!(round_trip("Greding", "'Greding'", ""), b"\0");
        assert_eq!(round_trip("\"a,,a\"", "a", ","), b"\"\0\x01\0");
        assert_eq!(round_trip("", "", "; "), b"\x01");
        assert_eq!(round_trip("''", "x", "; "), b"'\x01");
        assert_eq!(round_trip("abc", "abd", ""), b"\x03c");
        assert_eq!(
            round_trip("\u{e9}\u{e8}", "\u{e9}\u{e9}", ""),
            b"\x03\xC3\xA8"
        );
        let long = "x".repeat(40);
        let longer = "x".repeat(41);
        assert_eq!(
            round_trip(&long, &longer, ","),
            [&b"\x0F"[..], &[b'x'; 11], b"\x1E"].concat()
        );
        round_trip(", ,,,x,", "y", ",");
        round_trip("\"a\"", "'", ", ");
    }

    #[test]
    fn other_values_are_no_lists() {
        for other in [&b"\""[..], b"'a", b"\"a'", b"a\x1Fb", b"\x00", b"a\tb"] {
            assert!(!may_be(other), "{other:?}");
        }
        for other in [&b"12345"[..], b"a\x01", b"\n"] {
            assert_eq!(Separator::read(other), None);
        }
        let separator = Separator::read(b";").unwrap();
        for wrong in [
            &b"a"[..],
            b"\x03a",
            b"\x01a\x10",
            b"\x0A",
            b"\x01\x10\x10",
            b"''",
            b"\x1F",
            b"\x1F\x00",
            b"\x1F\x1F\x01",
            b"\0\x10",
            b"\x1F\x03",
        ] {
            let mut block = BlockWriter::new(100).unwrap();
            block.push(b"x").unwrap();
            assert!(
                restore(wrong, 0..1, &separator, &mut block).is_err(),
                "{wrong:?}"
            );
        }
    }
}
