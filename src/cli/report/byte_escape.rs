//! One byte as an argument: literal, or escaped as in C.

use std::ffi::OsString;

/// Reads a byte: `,`, `\n`, `\0`, `\x1e` or `\036`.
pub(crate) fn byte(text: OsString) -> Result<u8, String> {
    match text.as_encoded_bytes() {
        &[byte] if byte != b'\\' => Ok(byte),
        [b'\\', escape @ ..] => escaped(escape).ok_or_else(|| {
            r"it is not one of the escapes \n \t \r \0 \a \b \f \v \\, \x1e (hex) and \036 (octal)"
                .into()
        }),
        _ => Err(r"it is not one byte; write a byte that cannot be typed as \n, \0 or \x1e".into()),
    }
}

/// Returns the byte for an escape, which is given without its backslash.
fn escaped(escape: &[u8]) -> Option<u8> {
    let number = |digits: &[u8], radix| {
        let digits = digits
            .iter()
            .all(u8::is_ascii_alphanumeric)
            .then_some(digits)?;
        u8::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()
    };
    match escape {
        b"n" => Some(b'\n'),
        b"t" => Some(b'\t'),
        b"r" => Some(b'\r'),
        b"a" => Some(0x07),
        b"b" => Some(0x08),
        b"f" => Some(0x0c),
        b"v" => Some(0x0b),
        b"\\" => Some(b'\\'),
        [b'x', digits @ ..] if digits.len() <= 2 => number(digits, 16),
        digits if digits.len() <= 3 => number(digits, 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_or_as_in_c() {
        let read = |text: &str| byte(text.into()).ok();
        for (text, expected) in [
            (",", b','),
            ("\n", b'\n'),
            (" ", b' '),
            (r"\n", b'\n'),
            (r"\t", b'\t'),
            (r"\r", b'\r'),
            (r"\\", b'\\'),
            (r"\0", 0),
            (r"\x1e", 0x1e),
            (r"\x1E", 0x1e),
            (r"\xA", 10),
            (r"\036", 0x1e),
            (r"\377", 0xff),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for text in [
            "", "ab", "\\", r"\q", r"\x", r"\x123", r"\x+1", r"\400", r"\8", r"\nn", "ä",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
