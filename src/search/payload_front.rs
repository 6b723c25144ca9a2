//! The fields at the start of the payload of a block that has the filter for sequences. They tell
//! which part of the block's text is searched: the first part, which has the residues, with a byte
//! `0A` before those of each record.

use crate::base::error::{Flaw, Result};
use crate::base::leb128;
use crate::frame::FilterFields;
use std::ops::Range;

/// The fields at the start of the payload of a block with the filter.
#[derive(Clone, Debug)]
pub(crate) struct PayloadFront {
    pub text_size: u64,
    /// Range of the filter's parameters in the file.
    pub side: Range<u64>,
    /// Text_Size, Side_Size and Sequence_Size, as they are in the file.
    pub fields: Vec<u8>,
}

impl PayloadFront {
    /// Maximum size in bytes: the sizes, and a number of up to 6 bytes.
    pub(crate) const MOST: u64 = FilterFields::SIZES as u64 + 6;

    /// Parses the `bytes` at the start of the payload. `place` is the file range from there to the
    /// end of the block. Returns the fields and the size of the searched text.
    pub(crate) fn parse(
        bytes: &[u8],
        place: Range<u64>,
        raw_size: u64,
    ) -> Result<(Self, u64), Flaw> {
        let cut = Flaw("the block ends before its text's sizes");
        let (sizes, mut behind) = bytes
            .split_at_checked(FilterFields::SIZES)
            .ok_or(cut)?;
        let size = leb128::read(&mut behind)? as u64;
        let (text_size, side_size) = FilterFields::sizes(sizes);
        let side = place.start + FilterFields::SIZES as u64;
        let side = side..side.saturating_add(side_size);
        let fits = text_size <= raw_size && size <= text_size;
        if !fits || side.end > place.end {
            return Err(Flaw("the size of the filtered text does not fit the block"));
        }
        let fields = bytes[..bytes.len() - behind.len()].to_vec();
        Ok((
            PayloadFront {
                text_size,
                side,
                fields,
            },
            size,
        ))
    }
}
