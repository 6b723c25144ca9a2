//! The tables of an indexed block, read by position. A search needs them before it decodes a slice.

use super::counts_above::CountsAbove;
use super::file_block::FileBlock;
use super::slice_cache::KEPT;
use crate::base::error::{Flaw, Result};
use crate::coder::SliceDecoder;
use crate::frame::{
    Around, BlockIndex, BlockIndexHeader, Shape, SliceSizes, TextSizes, packed_array,
};
use std::iter;

/// The tables of a block, without its samples.
pub struct DiskTables {
    /// Bytes of the text. The searched text may be only the first part of it.
    pub text_size: u64,
    pub header: BlockIndexHeader,
    pub index: BlockIndex,
    pub above: CountsAbove,
    /// Start of each slice in the transform, followed by the end of the last slice.
    pub starts: Vec<u64>,
    /// File offset of each slice, followed by the end of the last slice.
    pub offsets: Vec<u64>,
    pub decoder: SliceDecoder,
    /// File offset of Samples, and its size in bytes.
    pub samples_at: (u64, u64),
    /// True if rows and counts need more than 32 bits.
    pub wide: bool,
}

impl DiskTables {
    /// Reads the tables in five small reads. Returns `None` if `pays` is false for the size of the
    /// text and the number of slices. Errors do not name the block.
    pub fn read(
        file_block: &FileBlock,
        shape: Shape,
        pays: impl FnOnce(u64, u64) -> bool,
    ) -> Result<Option<Self>> {
        let coded = &file_block.info.coded;
        let raw_size = file_block.header.raw_size;
        // Reads up to `size` bytes, but not beyond the block.
        let read = |offset, size: u64| {
            file_block.input.read(offset, size.min(coded.end.saturating_sub(offset)))
        };
        let sequences = file_block.sequences.as_ref();
        let front = sequences.and_then(|sequences| sequences.front.as_ref());
        let (samples_start, text_size, searched) = match front {
            None => (file_block.payload_start()?, raw_size, raw_size),
            Some(front) => (front.side.end, front.text_size, file_block.searched_size() as u64),
        };
        let width = *read(samples_start, 1)?.first().ok_or(CUT)?;
        let samples_size = packed_array::size(width, shape.samples(text_size))?;
        let sizes_start = samples_start + samples_size;
        let count = read(sizes_start, packed_array::size(packed_array::WIDEST, 1)?)?;
        // The sizes of the slices and the index header, whose size is known, in one read.
        let most = SliceSizes::most(&count)? + BlockIndexHeader::SIZE as u64;
        // A size takes 8 bytes in memory and at least one bit in the file.
        file_block.check_index_memory(most.saturating_mul(64))?;
        let front = read(sizes_start, most)?;
        let mut behind = &front[..];
        let mut sizes = SliceSizes::read(&mut behind, shape.coding, text_size)?;
        let slices = sizes.raw.len();
        // Each thread decodes two slices at a time, and `KEPT` slices are cached whatever the room.
        let largest = sizes.raw.iter().copied().max().map_or(0, u64::from);
        let at_once = slices.min(2 * file_block.options.thread_count() + KEPT) as u64;
        file_block.check_index_memory(slices as u64 * PER_SLICE + at_once * largest)?;
        if !pays(text_size, slices as u64) {
            return Ok(None);
        }
        let coded_sizes = &front[..front.len() - behind.len()];
        let header = BlockIndexHeader::from_bytes(behind.first_chunk().ok_or(CUT)?)?;
        let index_start = sizes_start + coded_sizes.len() as u64;
        let index_size = BlockIndexHeader::SIZE + header.rest(searched, slices);
        let slices_start = index_start + index_size as u64 + u64::from(sizes.models);
        sizes.complete(coded.end.checked_sub(slices_start).ok_or(CUT)?)?;
        let bytes = read(index_start, slices_start - index_start)?;
        let (bytes, models) = bytes.split_at_checked(index_size).ok_or(CUT)?;
        let fields = sequences.and_then(|sequences| sequences.front.as_ref());
        let fields = fields.map_or(&[][..], |front| &front.fields);
        let around = Around { searched: fields, sizes: coded_sizes, models };
        let text = TextSizes { all: text_size, searched };
        let index = BlockIndex::from_bytes(&header, bytes, around, text, slices)?;
        let starts = sums(0, &sizes.raw);
        let wide = text_size > file_block.options.run.narrow.others as u64;
        let above = CountsAbove::new(&index, &starts, wide)?;
        let offsets = sums(slices_start, &sizes.coded);
        let decoder = SliceDecoder::new(shape.coding, models)?;
        let samples_at = (samples_start, samples_size);
        Ok(Some(DiskTables {
            text_size,
            header,
            index,
            above,
            starts,
            offsets,
            decoder,
            samples_at,
            wide,
        }))
    }
}

const CUT: Flaw = Flaw("the block's index is longer than the block");

/// Maximum memory per slice for counts, in bytes: as they are read and as they are added up.
const PER_SLICE: u64 = 4 << 10;

/// Returns `start`, followed by the end of each item if items of these sizes are laid out from
/// there.
fn sums(start: u64, sizes: &[u32]) -> Vec<u64> {
    let mut at = start;
    let ends = sizes.iter().map(|&size| {
        at += u64::from(size);
        at
    });
    iter::once(start).chain(ends).collect()
}
