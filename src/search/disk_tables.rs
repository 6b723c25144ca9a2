//! The tables of an indexed block, read by position. A search needs them before it decodes a slice.
//!
//! The sizes of the slices are read first. They suffice to estimate the cost of a search on disk
//! (`memory_policy`); the other tables are read only if the block stays on disk.

use super::counts_above::CountsAbove;
use super::file_block::FileBlock;
use super::searched_block::{SearchedBlock, TextTransform};
use super::slice_cache::KEPT;
use crate::base::error::{Flaw, Result};
use crate::coder::SliceDecoder;
use crate::frame::{Around, BlockIndex, BlockIndexHeader, SliceSizes, TextSizes, packed_array};
use std::iter;

/// The sizes of an indexed block.
pub(super) struct DiskSizes<'b> {
    pub transform: TextTransform<'b>,
    text: TextSizes,
    slices: SliceSizes,
    /// File offset of Samples, and its size in bytes.
    samples_at: (u64, u64),
    /// The fields of the slices' sizes, and the index header behind them.
    fields: Vec<u8>,
    /// Bytes of the slices' sizes in `fields`.
    coded_sizes: usize,
}

impl<'b> DiskSizes<'b> {
    /// Reads the sizes in three small reads. Errors do not name the block.
    pub(super) fn read(block: &dyn SearchedBlock, transform: TextTransform<'b>) -> Result<Self> {
        let TextTransform { shape, front } = transform;
        let file = block.file();
        let raw_size = file.header.raw_size;
        let (samples_start, text_size, searched) = match front {
            None => (file.payload_start()?, raw_size, raw_size),
            Some(front) => (front.side.end, front.text_size, block.size() as u64),
        };
        let width = *read_within(file, samples_start, 1)?
            .first()
            .ok_or(CUT)?;
        let samples_size = packed_array::size(width, shape.samples(text_size))?;
        let sizes_start = samples_start + samples_size;
        let count = read_within(
            file,
            sizes_start,
            packed_array::size(packed_array::WIDEST, 1)?,
        )?;
        // The sizes of the slices and the index header, whose size is known, in one read.
        let most = SliceSizes::most(&count)? + BlockIndexHeader::SIZE as u64;
        // A size takes 8 bytes in memory and at least one bit in the file.
        file.check_index_memory(most.saturating_mul(64))?;
        let fields = read_within(file, sizes_start, most)?;
        let mut behind = &fields[..];
        let slices = SliceSizes::read(&mut behind, shape.coding, text_size)?;
        let coded_sizes = fields.len() - behind.len();
        let sizes = DiskSizes {
            transform,
            text: TextSizes {
                all: text_size,
                searched,
            },
            slices,
            samples_at: (samples_start, samples_size),
            fields,
            coded_sizes,
        };
        sizes.check_memory(file)?;
        Ok(sizes)
    }

    /// Bytes of the text of the transform.
    pub(super) fn text_size(&self) -> u64 {
        self.text.all
    }

    /// Number of slices.
    pub(super) fn slices(&self) -> usize {
        self.slices.raw.len()
    }

    fn check_memory(&self, file: &FileBlock) -> Result<()> {
        // Each thread decodes two slices at a time, and `KEPT` slices are cached whatever the
        // budget.
        let largest = self
            .slices
            .raw
            .iter()
            .copied()
            .max()
            .map_or(0, u64::from);
        let at_once = self
            .slices()
            .min(2 * file.options.thread_count() + KEPT) as u64;
        file.check_index_memory(self.slices() as u64 * PER_SLICE + at_once * largest)
    }
}

/// The tables of a block, without its samples.
pub(super) struct DiskTables {
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
    /// Reads the tables of a block with these sizes in one read. Errors do not name the block.
    pub(super) fn read(file: &FileBlock, sizes: DiskSizes) -> Result<Self> {
        let coded_end = file.info.coded.end;
        let TextTransform { shape, front } = sizes.transform;
        let DiskSizes {
            text,
            slices: mut slice_sizes,
            samples_at,
            ..
        } = sizes;
        let slices = slice_sizes.raw.len();
        let (coded_sizes, behind) = sizes.fields.split_at(sizes.coded_sizes);
        let header = BlockIndexHeader::from_bytes(behind.first_chunk().ok_or(CUT)?)?;
        let index_start = samples_at.0 + samples_at.1 + coded_sizes.len() as u64;
        let index_size = BlockIndexHeader::SIZE + header.rest(text.searched, slices);
        let slices_start = index_start + index_size as u64 + u64::from(slice_sizes.models);
        slice_sizes.complete(coded_end.checked_sub(slices_start).ok_or(CUT)?)?;
        let bytes = read_within(file, index_start, slices_start - index_start)?;
        let (bytes, models) = bytes.split_at_checked(index_size).ok_or(CUT)?;
        let fields = front.map_or(&[][..], |front| &front.fields);
        let around = Around {
            searched: fields,
            sizes: coded_sizes,
            models,
        };
        let text_size = text.all;
        let index = BlockIndex::from_bytes(&header, bytes, around, text, slices)?;
        let starts = sums(0, &slice_sizes.raw);
        let wide = text_size > file.options.run.narrow.others as u64;
        let above = CountsAbove::new(&index, &starts, wide)?;
        let offsets = sums(slices_start, &slice_sizes.coded);
        let decoder = SliceDecoder::new(shape.coding, models)?;
        Ok(DiskTables {
            text_size,
            header,
            index,
            above,
            starts,
            offsets,
            decoder,
            samples_at,
            wide,
        })
    }
}

/// Reads up to `size` bytes at `offset`, but not beyond the block.
fn read_within(file: &FileBlock, offset: u64, size: u64) -> Result<Vec<u8>> {
    file.input
        .read(offset, size.min(file.info.coded.end.saturating_sub(offset)))
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
