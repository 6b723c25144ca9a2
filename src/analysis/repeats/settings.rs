//! The settings of a search.

use crate::base::error::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The unit of a text. Windows begin at multiples of its size from the start of their text. Bytes
/// behind the last whole unit are in no window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes.
    #[default]
    Byte,
    /// Tokens of 2 bytes.
    U16,
    /// Tokens of 4 bytes.
    U32,
}

impl Unit {
    /// Bytes of a unit.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Unit::Byte => 1,
            Unit::U16 => 2,
            Unit::U32 => 4,
        }
    }
}

/// Maximum length of a window, in units.
const MOST_LENGTH: u64 = 1 << 30;

/// The settings of a search for repeats.
#[derive(Clone)]
pub struct Search {
    /// Units of a window.
    pub(super) len: usize,
    pub(super) unit: Unit,
    /// True if only the first text has originals. It then has no copies.
    pub(super) is_across: bool,
    pub(super) keeps_originals: bool,
    pub(super) progress: Arc<OnProgress>,
    /// Size of a part in bytes, in place of the size that the memory allows; for tests.
    pub(super) part_size: Option<u64>,
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Search {
            len,
            unit,
            is_across,
            ..
        } = self;
        let mut shown = f.debug_struct("Search");
        shown
            .field("len", len)
            .field("unit", unit)
            .field("is_across", is_across);
        shown.finish_non_exhaustive()
    }
}

impl Search {
    /// Creates a search for windows of `min_length` bytes or other units.
    ///
    /// # Errors
    /// [`Error::Usage`] if the length is not in the range 1 to 2^30.
    pub fn new(min_length: u64) -> Result<Self> {
        if !(1..=MOST_LENGTH).contains(&min_length) {
            let what = format!("a length of {min_length} is not from 1 to {MOST_LENGTH}");
            return Err(Error::Usage(what.into()));
        }
        Ok(Search {
            len: min_length as usize,
            unit: Unit::Byte,
            is_across: false,
            keeps_originals: false,
            progress: Arc::new(|_, _| ()),
            part_size: None,
        })
    }

    /// Sets the unit of the texts and of lengths.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// If true, counts only copies whose original is in the first text; copies within that text do
    /// not count.
    #[must_use]
    pub fn across(mut self, is_across: bool) -> Self {
        self.is_across = is_across;
        self
    }

    /// If true, finds [`FileRepeats::later_copies`](super::FileRepeats::later_copies) too. This
    /// takes an eighth of a byte of memory per unit.
    #[must_use]
    pub fn later_copies(mut self, are_wanted: bool) -> Self {
        self.keeps_originals = are_wanted;
        self
    }

    /// Sets a function that is called with the number of finished bytes and the number of all
    /// bytes. Texts that do not fit in memory are searched several times, and their bytes are
    /// counted each time.
    #[must_use]
    pub fn on_progress(mut self, tell: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(tell);
        self
    }

    #[cfg(test)]
    pub(super) fn in_parts(mut self, bytes: u64) -> Self {
        self.part_size = Some(bytes);
        self
    }
}

/// A function that is called with the number of finished bytes and the number of all bytes.
pub(super) type OnProgress = dyn Fn(u64, u64) + Send + Sync;
