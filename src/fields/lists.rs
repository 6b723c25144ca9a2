//! Values that are lists, such as the names of a place: each item by what it shares with the one
//! before it, at both of its ends. FORMAT.md section 12.9.
//!
//! | byte | means |
//! |---|---|
//! | 1 to 9, 11 to 15 | the next item, which begins with 0, 1, 2 .. bytes of the one before |
//! | 16 to 31 | behind the bytes of an item: its end, the last 2, 3, 4 .. bytes of the one before |
//!
//! The sort sees what stands before a byte anywhere in the block, and not that the same bytes stood
//! there just now: that is what items have in common. A byte of quotes at both ends is of no item.
//! Both ways are one pass.

use crate::error::Flaw;
use std::ops::Range;

/// Bytes of a separator at most.
const MOST_SEPARATOR: usize = 4;

/// Bytes below this are no part of items, as they stand for others.
const LEAST_BYTE: u8 = b' ';
/// The first byte that stands for an end, and the length of that.
const ENDS: u8 = 16;
const LEAST_END: usize = 2;
/// Bytes at the begin and the end of an item at most.
const MOST_BEGIN: usize = 13;
const MOST_END: usize = LEAST_END + (LEAST_BYTE - ENDS) as usize - 1;

const NO_LIST: Flaw = Flaw("a column of lists holds what is none");

/// What stands between two items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Separator(Box<[u8]>);

impl Separator {
    /// One of these bytes, if they may be one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let fits = bytes.len() <= MOST_SEPARATOR && are_of_items(bytes);
        fits.then(|| Separator(bytes.into()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn are_of_items(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= LEAST_BYTE)
}

/// Whether a value can be stored as a list: a quote at its begin has one at the end.
pub(super) fn may_be(value: &[u8]) -> bool {
    let quoted = match value {
        [quote @ (b'"' | b'\''), .., last] => quote == last,
        [b'"' | b'\''] => false,
        _ => true,
    };
    quoted && are_of_items(value)
}

/// The bytes of a value without the quotes around it.
pub(super) fn unquoted(value: &[u8]) -> Range<usize> {
    match value {
        [b'"' | b'\'', .., _] => 1..value.len() - 1,
        [b'"' | b'\''] => 0..0,
        _ => 0..value.len(),
    }
}

/// Appends a value that [`may_be`] a list, by the one that stands before its first item.
pub(super) fn write(value: &[u8], key: &[u8], separator: &Separator, out: &mut Vec<u8>) {
    let (mut before, mut rest) = (&key[unquoted(key)], &value[unquoted(value)]);
    if rest.len() < value.len() {
        out.push(value[0]);
    }
    loop {
        let next = match separator.bytes() {
            [] => None,
            bytes => memchr::memmem::find(rest, bytes),
        };
        let item = &rest[..next.unwrap_or(rest.len())];
        push_item(item, before, out);
        let Some(next) = next else { return };
        (before, rest) = (item, &rest[next + separator.bytes().len()..]);
    }
}

fn push_item(item: &[u8], before: &[u8], out: &mut Vec<u8>) {
    // Not between the bytes of a character, whose first one says more of the others.
    let goes_on = |at: usize| item.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let alike = item.iter().zip(before).take(MOST_BEGIN).take_while(|(one, other)| one == other);
    let mut begin = alike.count();
    while begin > 0 && goes_on(begin) {
        begin -= 1;
    }
    let (own, others) = (&item[begin..], &before[begin..]);
    let ends = own.iter().rev().zip(others.iter().rev());
    let mut end = ends.take(MOST_END).take_while(|(one, other)| one == other).count();
    while end > 0 && goes_on(item.len() - end) {
        end -= 1;
    }
    out.push(begin as u8 + 1 + u8::from(begin >= 9));
    if end < LEAST_END {
        out.extend_from_slice(own);
    } else {
        out.extend_from_slice(&own[..own.len() - end]);
        out.push(ENDS + (end - LEAST_END) as u8);
    }
}

/// Appends the value that is `stored` to `block`, which may have `size` bytes; the item before its
/// first one stands at `before`.
///
/// # Errors
/// A [`Flaw`] where it is none or there is no room.
pub(super) fn restore(
    stored: &[u8],
    mut before: Range<usize>,
    separator: &Separator,
    block: &mut Vec<u8>,
    size: usize,
) -> Result<(), Flaw> {
    let (quote, mut rest) = match stored {
        [quote @ (b'"' | b'\''), rest @ ..] => (Some(*quote), rest),
        _ => (None, stored),
    };
    let mut room = size.saturating_sub(block.len());
    let mut take = |bytes: usize| room.checked_sub(bytes).map(|left| room = left).ok_or(NO_ROOM);
    // Before a byte of it, as the block has room for its size and would be moved to twice that.
    take(2 * usize::from(quote.is_some()))?;
    block.extend(quote);
    let mut is_first = true;
    while let [code, more @ ..] = rest {
        let begin = match code {
            1..=9 => usize::from(code - 1),
            11..ENDS => usize::from(code - 2),
            _ => return Err(NO_LIST),
        };
        let between = if is_first { &[] } else { separator.bytes() };
        is_first = false;
        let len = more.iter().position(|&byte| byte < LEAST_BYTE).unwrap_or(more.len());
        let (own, next) = more.split_at(len);
        let (end, next) = match next {
            [code @ ENDS..LEAST_BYTE, next @ ..] => (LEAST_END + usize::from(code - ENDS), next),
            _ => (0, next),
        };
        if begin.max(end) > before.len() {
            return Err(NO_LIST);
        }
        take(between.len() + begin + own.len() + end)?;
        block.extend_from_slice(between);
        let start = block.len();
        block.extend_from_within(before.start..before.start + begin);
        block.extend_from_slice(own);
        block.extend_from_within(before.end - end..before.end);
        before = start..block.len();
        rest = next;
    }
    block.extend(quote);
    Ok(())
}

const NO_ROOM: Flaw = Flaw("a list of a block of fields goes on beyond it");

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(value: &str, key: &str, separator: &str) -> Vec<u8> {
        let separator = Separator::read(separator.as_bytes()).unwrap();
        assert!(may_be(value.as_bytes()));
        let mut stored = Vec::new();
        write(value.as_bytes(), key.as_bytes(), &separator, &mut stored);
        let mut block = key.as_bytes().to_vec();
        let before = unquoted(key.as_bytes());
        let size = key.len() + value.len();
        restore(&stored, before.clone(), &separator, &mut block, size).unwrap();
        assert_eq!(block, [key, value].concat().as_bytes());
        let mut short = key.as_bytes().to_vec();
        if !value.is_empty() {
            let restored = restore(&stored, before, &separator, &mut short, size - 1);
            assert!(restored.is_err() && short.len() < size);
        }
        stored
    }

    #[test]
    fn items_are_stored_by_what_they_share() {
        let names = "\"Greding; Gredingen; Gradingen\"";
        let stored = round_trip(names, "\"Greding\"", "; ");
        assert_eq!(stored, b"\"\x08\x08en\x03a\x14");
        assert_eq!(round_trip("", "", "; "), b"\x01");
        assert_eq!(round_trip("''", "x", "; "), b"'\x01");
        assert_eq!(round_trip("abc", "abd", ""), b"\x03c");
        assert_eq!(round_trip("\u{e9}\u{e8}", "\u{e9}\u{e9}", ""), b"\x03\xC3\xA8");
        let long = "x".repeat(40);
        assert_eq!(round_trip(&long, &long, ","), [&b"\x0F"[..], &[b'x'; 10], b"\x1F"].concat());
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
        for wrong in [&b"a"[..], b"\x03a", b"\x01a\x10", b"\x0A", b"\x00", b"\x01\x10\x10", b"''"] {
            let restored = restore(wrong, 0..1, &separator, &mut b"x".to_vec(), 100);
            assert!(restored.is_err(), "{wrong:?}");
        }
    }
}
