//! The options of what a frame says about its content, before its blocks and at its end.

use super::Options;
use super::content_check::StreamCheck;
use super::notes::{MOST_NOTES, is_key, notes_to_bytes};
use crate::base::error::{Error, Result};

/// Bits of the size of a raw stream in a file.
const FRAME_BITS: u32 = 56;

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
    /// [`Error::Usage`] if the key is empty, has more than 255 bytes, a control character or `=`;
    /// or if all notes together have more than 64 KiB.
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
    ///
    /// # Errors
    /// [`Error::Usage`] if that is more than a frame holds, 2^56 bytes.
    pub fn content_size(mut self, bytes: u64) -> Result<Self> {
        if bytes >> FRAME_BITS > 0 {
            let what = format!("a content of {bytes} bytes is more than a frame holds");
            return Err(Error::Usage(what.into()));
        }
        self.content_size = Some(bytes);
        Ok(self)
    }

    /// Sets the check of the whole stream beside its CRC-32.
    #[must_use]
    pub fn stream_check(mut self, check: StreamCheck) -> Self {
        self.stream_check = check;
        self
    }
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
