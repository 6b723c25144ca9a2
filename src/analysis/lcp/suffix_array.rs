//! The suffix array, by libsais.

use super::limits::{check_length, check_memory, no_memory};
use crate::base::allocation;
use crate::base::error::Result;
use crate::options::Options;
use libsais::SuffixArrayConstruction;

/// Sorts all suffixes of `text` but the empty one, and returns their positions in that order.
///
/// It takes linear time on the calling thread, and 4 bytes of memory per byte beside the text.
///
/// ```
/// let suffixes = bwz::lcp::suffix_array(b"banana", &bwz::Options::new())?;
/// assert_eq!(suffixes, [5, 3, 1, 0, 4, 2]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`](crate::Error::Usage) for a text above [`MAX_TEXT`](super::MAX_TEXT),
/// [`Error::Limit`](crate::Error::Limit) if `Options::memory` allows less than 5 bytes for each
/// byte of it, [`Error::Io`](crate::Error::Io) if there is no memory.
pub fn suffix_array(text: &[u8], options: &Options) -> Result<Vec<u32>> {
    let size = text.len();
    check_length(size)?;
    check_memory(
        5 * size as u64,
        options,
        format!("the suffix array of {size} bytes of text"),
    )?;
    let mut suffixes: Vec<i32> = allocation::zeroed(size).ok_or_else(no_memory)?;
    if size > 0 {
        SuffixArrayConstruction::for_text(text)
            .in_borrowed_buffer(&mut suffixes)
            .single_threaded()
            .run()
            .map_err(|_| no_memory())?;
    }
    // This is done in place, since both types take 4 bytes.
    Ok(suffixes
        .into_iter()
        .map(i32::cast_unsigned)
        .collect())
}
