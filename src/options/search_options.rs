//! The options of a search.

use super::{Letters, Options};
use crate::base::error::{Error, Result};

impl Options {
    /// Sets which symbols a letter of a pattern stands for in a search by sequence.
    ///
    /// ```
    /// use bwz::{Archive, DEFAULT_SAMPLE_RATE, Letters, Options};
    /// use std::io::Cursor;
    ///
    /// let options = Options::new().index(DEFAULT_SAMPLE_RATE)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b">rna\nACGUACGT\nACGRACGC\n"[..], &mut file, &options)?;
    /// let counts = |letters| {
    ///     let options = options.clone().letters(letters);
    ///     Archive::open(Cursor::new(&file), &options)?.count(&["ACGT", "ACGR", "ACGY"])
    /// };
    /// assert_eq!(counts(Letters::Nucleotides)?, [2, 1, 0]);
    /// assert_eq!(counts(Letters::Iupac)?, [2, 0, 3]);
    /// assert_eq!(counts(Letters::Exact)?, [1, 1, 0]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn letters(mut self, letters: Letters) -> Self {
        self.letters = letters;
        self
    }

    /// Makes a search by sequence tell lower case from upper case; without this, `acgt` and `ACGT`
    /// are equal. Counting then takes as long as locating. A search by bytes tells them apart
    /// unless [`Options::ignore_case`] is set.
    ///
    /// ```
    /// use bwz::{Archive, DEFAULT_SAMPLE_RATE, Options};
    /// use std::io::Cursor;
    ///
    /// let options = Options::new().index(DEFAULT_SAMPLE_RATE)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b">chr1\nACGTac\ngtACGT\n"[..], &mut file, &options)?;
    /// assert_eq!(Archive::open(Cursor::new(&file), &options)?.count(&["acgt"])?, [3]);
    ///
    /// let options = options.match_case(true);
    /// assert_eq!(Archive::open(Cursor::new(&file), &options)?.count(&["acgt"])?, [1]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn match_case(mut self, match_case: bool) -> Self {
        self.match_case = match_case;
        self
    }

    /// Makes a search by bytes find the letters of patterns in either case. These are the 26
    /// letters of ASCII; all other bytes stand for themselves. A search by sequence is not changed.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    /// use std::io::Cursor;
    ///
    /// let options = Options::new().ignore_case(true);
    /// let mut file = Vec::new();
    /// bwz::compress(&b"error, Error, ERROR"[..], &mut file, &options)?;
    /// assert_eq!(Archive::open(Cursor::new(file), &options)?.count(&["eRROR"])?, [3]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    #[must_use]
    pub fn ignore_case(mut self, ignore_case: bool) -> Self {
        self.ignore_case = ignore_case;
        self
    }

    /// Makes counting and locating also find matches that differ from the pattern in up to `max`
    /// bytes; each position is found once. Patterns then need at least two bytes.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    /// use std::io::Cursor;
    ///
    /// let options = Options::new().max_mismatches(1)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b"she sells sea shells"[..], &mut file, &options)?;
    /// let found = Archive::open(Cursor::new(file), &options)?.locate(&["sell"], 10)?;
    /// assert_eq!(found[0].positions, [4, 15]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if `max` is more than one.
    pub fn max_mismatches(mut self, max: u8) -> Result<Self> {
        if max > 1 {
            return Err(Error::Usage("a search takes at most one mismatch".into()));
        }
        self.max_mismatches = max;
        Ok(self)
    }
}
