//! The notes of a user about a file, and their stored form (FORMAT.md section 3.3).

use crate::base::leb128;

/// A note about a file: a key and a value.
pub type Note = (String, String);

/// Maximum size of all notes of a frame in bytes, with one to three bytes for each size.
pub(crate) const MOST_NOTES: usize = 64 << 10;

/// Maximum size of a key in bytes.
const LONGEST_KEY: usize = 255;

/// Returns true if a key may be written: 1 to 255 bytes without control characters and `=`.
pub(crate) fn is_key(key: &str) -> bool {
    let allowed = |c: char| !c.is_control() && c != '=';
    (1..=LONGEST_KEY).contains(&key.len()) && key.chars().all(allowed)
}

/// Notes as they are stored: each key and each value after its size (FORMAT.md section 3.3).
pub(crate) fn notes_to_bytes(notes: &[Note]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in notes.iter().flat_map(|(key, value)| [key, value]) {
        leb128::write(text.len(), &mut bytes);
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}
