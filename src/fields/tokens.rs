//! The slots of a line: words that hold a digit, or the fields between delimiters.

use std::ops::Range;

/// How slots are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Letters and digits in a row, at least one of them a digit: for logs.
    Words,
    /// What stands between two delimiters, where it is not quoted: for tables.
    Fields(u8),
}

impl Tokens {
    /// Sets `slots` to those of `line`: ascending, not overlapping, and never side by side.
    pub(super) fn find(self, line: &[u8], slots: &mut Vec<Range<usize>>) {
        slots.clear();
        match self {
            Tokens::Words => words(line, slots),
            Tokens::Fields(delimiter) => {
                // A quote that is never closed is one like any other byte.
                if !fields(line, delimiter, true, slots) {
                    slots.clear();
                    fields(line, delimiter, false, slots);
                }
            }
        }
    }
}

/// The class of a byte: 0 for what ends a word, 1 for a letter, 3 for a digit.
const CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([0; 256], 0);
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => 3,
            b'a'..=b'z' | b'A'..=b'Z' => 1,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn words(line: &[u8], slots: &mut Vec<Range<usize>>) {
    let (mut start, mut seen) = (0, 0);
    for (at, &byte) in line.iter().enumerate() {
        let class = CLASSES[usize::from(byte)];
        if class != 0 {
            seen |= class;
            continue;
        }
        if seen == 3 {
            slots.push(start..at);
        }
        (start, seen) = (at + 1, 0);
    }
    if seen == 3 {
        slots.push(start..line.len());
    }
}

/// Gives whether every quote is closed. Spaces in a row are one delimiter, others have empty fields
/// between them.
fn fields(line: &[u8], delimiter: u8, quotes: bool, slots: &mut Vec<Range<usize>>) -> bool {
    let (mut start, mut quoted) = (0, false);
    let mut push = |field: Range<usize>| {
        if delimiter != b' ' || !field.is_empty() {
            slots.push(field);
        }
    };
    let end = line.len() - usize::from(line.ends_with(b"\r"));
    for (at, &byte) in line[..end].iter().enumerate() {
        if byte == delimiter && !quoted {
            push(start..at);
            start = at + 1;
        }
        quoted ^= quotes && byte == b'"';
    }
    push(start..end);
    !quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tokens: Tokens, line: &str) -> Vec<&str> {
        let mut slots = Vec::new();
        tokens.find(line.as_bytes(), &mut slots);
        slots.into_iter().map(|slot| &line[slot]).collect()
    }

    #[test]
    fn slots_are_words_with_digits_or_fields() {
        let line = "12:05 blk_-77 x_1 no_digit (0x7f)";
        assert_eq!(found(Tokens::Words, line), ["12", "05", "77", "1", "0x7f"]);
        assert_eq!(found(Tokens::Words, "a b"), [""; 0]);
        let comma = Tokens::Fields(b',');
        assert_eq!(found(comma, "1,,\"a,b\",\r"), ["1", "", "\"a,b\"", ""]);
        assert_eq!(found(comma, "1,\"a,b"), ["1", "\"a", "b"]);
        assert_eq!(found(Tokens::Fields(b' '), "a  b \"c d\""), ["a", "b", "\"c d\""]);
    }
}
