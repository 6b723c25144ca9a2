//! The settings of a search.

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

/// What windows are searched for, and where.
#[derive(Clone)]
pub(super) struct Settings {
    /// Units of a window.
    pub len: usize,
    pub unit: Unit,
    /// Only the first text has originals, and no copies.
    pub is_across: bool,
    pub keeps_originals: bool,
    pub progress: Arc<OnProgress>,
    /// Bytes of a part, in the place of what the memory allows; for tests.
    pub part_size: Option<u64>,
}

/// Called with the bytes that are done and all bytes.
pub(super) type OnProgress = dyn Fn(u64, u64) + Send + Sync;
