//! The options of what a frame says about its content, before its blocks and at its end.

use super::Options;
use crate::base::error::{Error, Result};
use crate::base::leb128;

/// The check of a whole raw stream, which stands at the end of its frame.
///
/// Every block has two CRC-32s: one of its bytes as they are stored, and one of its raw bytes. Both
/// must miss an accident for it to go unnoticed, which is one in 2^64. So CRC-32 is enough for data
/// that nobody forges, and the others are for those who compare files by digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamCheck {
    /// CRC-32 alone, which every frame has.
    #[default]
    Crc32,
    /// XXH3 of 64 bits too.
    Xxh3,
    /// BLAKE3 of 256 bits too, which also tells forgeries.
    Blake3,
}

/// Key and value of what a user says about a file.
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

impl Options {
    /// Says something about the file, in its header. A reader of a pipe gets it before the data.
    /// The key `comment` is for people.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    ///
    /// let options = Options::new().note("comment", "run 7")?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b"results"[..], &mut file, &options)?;
    /// let archive = Archive::open(std::io::Cursor::new(file), &options)?;
    /// assert_eq!(archive.frames()[0].notes, [("comment".to_owned(), "run 7".to_owned())]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if the key is empty, has more than 255 bytes, a control character or `=`; or
    /// if all notes together have more than 64 KiB.
    pub fn note(mut self, key: &str, value: &str) -> Result<Self> {
        if !is_key(key) {
            let what = format!("the key {key:?} is not 1 to 255 bytes without `=` and controls");
            return Err(Error::Usage(what.into()));
        }
        self.notes
            .push((key.to_owned(), value.to_owned()));
        if notes_to_bytes(&self.notes).len() > MOST_NOTES {
            let what = format!("all notes together have more than {MOST_NOTES} bytes");
            return Err(Error::Usage(what.into()));
        }
        Ok(self)
    }

    /// States the size of the raw stream in the header of the frame, so that a reader of a pipe
    /// knows it. To compress another number of bytes is an error.
    #[must_use]
    pub fn content_size(mut self, bytes: u64) -> Self {
        self.content_size = Some(bytes);
        self
    }

    /// Sets the check of the whole stream beside its CRC-32.
    #[must_use]
    pub fn stream_check(mut self, check: StreamCheck) -> Self {
        self.stream_check = check;
        self
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_bounded() {
        let options = Options::new();
        for key in ["", "a=b", "a\nb", &"k".repeat(256)] {
            assert!(options.clone().note(key, "").is_err(), "{key:?}");
        }
        // Key, value and their sizes of 1 and 3 bytes.
        let value = "v".repeat(MOST_NOTES - 5);
        let full = options.note("k", &value).unwrap();
        assert!(full.note("k", "").is_err());
    }
}
