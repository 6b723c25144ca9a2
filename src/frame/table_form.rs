//! Form, FORMAT.md section 5.2: the table of records is stored plainly, or as one zstd frame if
//! that is smaller.

use super::field_bytes::ensure;
use crate::base::error::Flaw;
use std::borrow::Cow;

/// The zstd level. The table is regular, so a higher level hardly makes it smaller.
const ZSTD_LEVEL: i32 = 6;

/// Tables up to this size in bytes are not smaller as a zstd frame.
const NEVER_SMALLER: usize = 16;

/// The Form of a table, and the table in that form.
pub(super) fn to_form(plain: Vec<u8>) -> (u8, Vec<u8>) {
    if plain.len() <= NEVER_SMALLER {
        return (0, plain);
    }
    match zstd::bulk::compress(&plain, ZSTD_LEVEL) {
        Ok(smaller) if smaller.len() < plain.len() => (1, smaller),
        _ => (0, plain),
    }
}

/// The plain table. A compressed table may have at most `most` bytes in plain form. `misfit` is the
/// error for a table that cannot be decompressed.
pub(super) fn from_form<'a>(
    compressed: bool,
    coded: &'a [u8],
    most: usize,
    misfit: Flaw,
) -> Result<Cow<'a, [u8]>, Flaw> {
    if !compressed {
        return Ok(Cow::Borrowed(coded));
    }
    // The table is one frame with nothing behind it. The library would accept several frames.
    let whole = zstd::zstd_safe::find_frame_compressed_size(coded) == Ok(coded.len());
    ensure(whole, misfit.0)?;
    let said = zstd::zstd_safe::get_frame_content_size(coded)
        .ok()
        .flatten();
    let size = said.map_or(most, |size| {
        usize::try_from(size).map_or(most, |size| size.min(most))
    });
    let plain = zstd::bulk::decompress(coded, size).map_err(|_| misfit)?;
    Ok(Cow::Owned(plain))
}
