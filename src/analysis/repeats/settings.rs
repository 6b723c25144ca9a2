//! The settings of a search.

use crate::base::error::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// What a text is made of. Windows begin at multiples of its size from the start of their text, and
/// bytes behind the last whole one are in no window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The largest length of a window, in units.
const MOST_LENGTH: u64 = 1 << 30;

/// A search for what is repeated.
#[derive(Clone)]
pub struct Search {
    /// Units of a window.
    pub(super) len: usize,
    pub(super) unit: Unit,
    /// Only the first text has originals, and no copies.
    pub(super) is_across: bool,
    pub(super) keeps_originals: bool,
    pub(super) progress: Arc<OnProgress>,
    /// Bytes of a part, in the place of what the memory allows; for tests.
    pub(super) part_size: Option<u64>,
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Search { len, unit, is_across, .. } = self;
        let mut shown = f.debug_struct("Search");
        shown.field("len", len).field("unit", unit).field("is_across", is_across);
        shown.finish_non_exhaustive()
    }
}

impl Search {
    /// A search for windows of so many bytes, or other units.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is not one of 1 to 2^30.
    pub fn new(min_length: u64) -> Result<Self> {
        if !(1..=MOST_LENGTH).contains(&min_length) {
            let what = format!("a length of {min_length} is not one of 1 to {MOST_LENGTH}");
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

    /// Sets what the texts are made of, and lengths count.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Has only those copies count whose original is in the first text; copies in that one do not.
    #[must_use]
    pub fn across(mut self, is_across: bool) -> Self {
        self.is_across = is_across;
        self
    }

    /// Has [`FileRepeats::later_copies`](super::FileRepeats::later_copies) be found too, for an
    /// eighth of a byte of memory a unit.
    #[must_use]
    pub fn later_copies(mut self, are_wanted: bool) -> Self {
        self.keeps_originals = are_wanted;
        self
    }

    /// Sets a function that is called with the bytes that are done and the bytes to do; texts that
    /// do not fit memory are gone through several times, and counted so.
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

/// Called with the bytes that are done and all bytes.
pub(super) type OnProgress = dyn Fn(u64, u64) + Send + Sync;
