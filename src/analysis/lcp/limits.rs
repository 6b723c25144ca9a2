//! Maximum length of a text, and the memory that it may take.

use crate::base::error::{Error, Result};
use crate::base::shortage;
use crate::options::Options;

/// Maximum length of a text, in bytes.
pub const MAX_TEXT: usize = i32::MAX as usize;

/// Checks that a text is not too long. This does not depend on the memory.
pub(super) fn check_length(size: usize) -> Result<()> {
    if size <= MAX_TEXT {
        return Ok(());
    }
    let what = format!(
        "a text of {size} bytes is above the {MAX_TEXT} whose suffixes can be sorted together; cut \
         it into shorter texts, or search it with `repeats`, which takes longer ones"
    );
    Err(Error::Usage(what.into()))
}

/// Checks that the options allow `needed` bytes of memory for `what`.
pub(crate) fn check_memory(needed: u64, options: &Options, what: String) -> Result<()> {
    shortage::check(needed, options.memory_limit(), || what)
}

pub(super) fn no_memory() -> Error {
    Error::out_of_memory("for the suffixes of the text")
}
