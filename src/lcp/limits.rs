//! How long a text may be, and what memory it may take.

use crate::error::{Bound, Error, Result};
use crate::options::Options;

/// The longest text, in bytes.
pub const MAX_TEXT: usize = i32::MAX as usize;

/// Checks that a text is not too long, whatever memory there is.
pub(super) fn check_length(size: usize) -> Result<()> {
    if size <= MAX_TEXT {
        return Ok(());
    }
    let what = format!(
        "a text of {size} bytes is above the {MAX_TEXT} whose suffixes are sorted together; cut \
         it into texts of no more, or search it by `repeats`, which takes longer ones"
    );
    Err(Error::Usage(what.into()))
}

/// Checks that `needed` bytes of memory are allowed for work on `size` bytes of text.
pub(crate) fn check_memory(what: &str, size: u64, needed: u64, options: &Options) -> Result<()> {
    let allowed = options.memory_limit();
    if needed <= allowed {
        return Ok(());
    }
    let what = format!("{what} {size} bytes of text").into();
    Err(Error::Limit { what, needed, allowed, by: Bound::Memory })
}

pub(super) fn no_memory() -> Error {
    Error::out_of_memory("for the suffixes of the text")
}
