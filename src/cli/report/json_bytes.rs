//! Bytes in JSON, whose strings hold only characters: names, patterns, contexts. If bytes are not
//! UTF-8, a second field beside the string has their hexadecimal digits.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns bytes as a string. U+FFFD replaces whatever is not UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Returns the hexadecimal digits of bytes that are not UTF-8, or `None` if they are UTF-8.
pub(crate) fn hex_unless_text(bytes: &[u8]) -> Option<String> {
    str::from_utf8(bytes).is_err().then(|| hex(bytes))
}

/// Returns the hexadecimal digits of every item if at least one item is not UTF-8.
pub(crate) fn all_hex_unless_text(all: &[Vec<u8>]) -> Option<Vec<String>> {
    let is_text = all
        .iter()
        .all(|bytes| str::from_utf8(bytes).is_ok());
    (!is_text).then(|| all.iter().map(|bytes| hex(bytes)).collect())
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A write to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_told_apart() {
        for (bytes, string, digits) in [
            (&b""[..], "", None),
            (b"a", "a", None),
            ("größe".as_bytes(), "größe", None),
            (b"a\\tb\"", "a\\tb\"", None),
            (b"\x1b\x00", "\u{1b}\0", None),
            (b"\xff", "\u{fffd}", Some("ff")),
            (b"\xfe", "\u{fffd}", Some("fe")),
            (b"x\xc3", "x\u{fffd}", Some("78c3")),
            ("\u{fffd}".as_bytes(), "\u{fffd}", None),
        ] {
            assert_eq!(text(bytes), string);
            assert_eq!(hex_unless_text(bytes).as_deref(), digits);
        }
        assert_eq!(all_hex_unless_text(&[b"a".to_vec()]), None);
        let all = all_hex_unless_text(&[b"a".to_vec(), b"\x80".to_vec()]).unwrap();
        assert_eq!(all, ["61", "80"]);
    }
}
