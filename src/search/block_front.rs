//! The header of a block and the front of its payload, in one read: what a search must know before
//! it decodes a slice. FORMAT.md section 4.1.
//!
//! The file says how long the front of an indexed block is. If it does not, or says too little, the
//! front is read again, twice as long.

use super::file_block::FileBlock;
use crate::base::error::{Flaw, Result};
use crate::filter;
use crate::frame::{
    BlockHeader, FilterList, PayloadFront, Shape, SliceSizes, StoredIndex, contents, packed_array,
};
use std::ops::Range;

/// Bytes of a front that are read if the file does not say how many there are.
const GUESS: u64 = 16 << 10;

/// Maximum memory per slice for counts, in bytes: as they are read and as they are added up.
pub(super) const PER_SLICE: u64 = 4 << 10;

const CUT: Flaw = Flaw("the block ends before its slices");

/// The front of a block's payload, and the places of the parts behind it.
pub(crate) struct BlockFront {
    pub shape: Shape,
    filters: FilterList,
    /// Bytes of the text. The searched text may be only the first part of it.
    pub text_size: u64,
    pub sizes: SliceSizes,
    pub index: Option<StoredIndex>,
    pub models: Vec<u8>,
    /// Range of Samples in the file.
    pub samples: Range<u64>,
    /// Range of the parameters of the filters in the file.
    pub side: Range<u64>,
}

impl BlockFront {
    /// Reads the front of a block of this shape. Errors do not name the block.
    pub(super) fn read(file: &FileBlock, shape: Shape) -> Result<Self> {
        let Range { start, end } = file.info.coded;
        let whole = end - start;
        // Samples begin with their width, in one byte.
        let mut size = match file.info.front_size {
            0 => GUESS,
            stated => stated + 1,
        };
        loop {
            size = size.min(whole);
            file.check_index_memory(size)?;
            let bytes = file.input.read(start, size)?;
            let (header, payload) = bytes.split_first_chunk().ok_or(CUT)?;
            contents::header_of(header, file.info)?;
            match Self::parse(file, shape, payload) {
                Err(_) if size < whole => size = size.max(GUESS) * 2,
                front => return front,
            }
        }
    }

    fn parse(file: &FileBlock, shape: Shape, bytes: &[u8]) -> Result<Self> {
        let raw_size = file.raw_size();
        let located = |why| file.unreadable(why);
        let slices = PayloadFront::slice_count(bytes, raw_size, shape).map_err(located)?;
        file.check_index_memory(slices.saturating_mul(PER_SLICE))?;
        let PayloadFront {
            filters,
            text_size,
            mut sizes,
            index,
            models,
            size,
            ..
        } = PayloadFront::read(bytes, raw_size, shape).map_err(located)?;
        let width = *bytes.get(size).ok_or(CUT)?;
        let samples_size = packed_array::size(width, shape.samples(text_size))?;
        let Range { start, end } = file.info.coded;
        let samples = start + (BlockHeader::SIZE + size) as u64;
        let side = samples.saturating_add(samples_size);
        let slices_start = side.saturating_add(filters.side_size());
        sizes.complete(end.checked_sub(slices_start).ok_or(CUT)?)?;
        Ok(BlockFront {
            shape,
            text_size,
            sizes,
            index,
            models: models.to_vec(),
            samples: samples..side,
            side: side..side + filters.side_size(),
            filters,
        })
    }

    /// True if the only filter is that for sequences.
    pub(super) fn is_of_sequences(&self) -> bool {
        self.filters.ids().is(&[filter::SEQUENCES])
    }

    /// Bytes of the part of the text that is searched. Errors do not name the block.
    pub(super) fn searched(&self, file: &FileBlock) -> Result<u64> {
        /// Maximum bytes of a number.
        const NUMBER: u64 = 6;
        if let Some(stored) = &self.index {
            return Ok(stored.index.searched);
        }
        let Range { start, end } = self.side;
        let bytes = file.input.read(start, NUMBER.min(end - start))?;
        Ok(filter::sequence_size(&bytes, self.text_size)?)
    }
}
