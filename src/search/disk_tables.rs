//! The tables of an indexed block, read by position: all that a search needs before it decodes a
//! segment.

use super::file_block::FileBlock;
use crate::error::{Flaw, Result};
use crate::frame::{BlockHeader, BlockIndex, BlockIndexHeader, Shape, packed_array};
use std::io::{Read, Seek};

/// The tables of a block, but for its samples.
pub struct DiskTables {
    pub header: BlockIndexHeader,
    pub index: BlockIndex,
    /// `above[k][c]`: occurrences of c above segment k; behind the last one, in all.
    pub above: Vec<[u32; 256]>,
    /// Where each segment starts in the file, and the last one's end.
    pub offsets: Vec<u64>,
    /// Where Samples stands in the file, and its size.
    pub samples_at: (u64, u32),
}

impl DiskTables {
    /// Reads them in four small reads. Errors know no place.
    pub fn read<R: Read + Seek + Send>(
        file_block: &FileBlock<R>,
        raw_size: u32,
        shape: Shape,
    ) -> Result<Self> {
        let read = |offset, size| file_block.input.read(offset, size);
        let coded = &file_block.info.coded;
        let segments = shape.segments(raw_size);
        let payload_start = coded.start + BlockHeader::SIZE as u64;
        let tables_size = if shape.tables { file_block.pass_tables(payload_start)? } else { 0 };
        let samples_start = payload_start + tables_size;
        let width = read(samples_start, 1)?[0];
        let samples_size = packed_array::size(width, shape.samples(raw_size))?;
        let sizes_start = samples_start + samples_size;
        // What is read at once: Segment_Sizes at its widest and the part of BlockIndex whose size
        // is known.
        let most =
            packed_array::size(packed_array::WIDEST, segments)? + BlockIndexHeader::SIZE as u64;
        let front = read(sizes_start, most.min(coded.end.saturating_sub(sizes_start)) as u32)?;
        let mut behind = &front[..];
        let sizes = packed_array::read(&mut behind, segments)?;
        let sizes_coded = &front[..front.len() - behind.len()];
        let cut = Flaw("the block's index is longer than the block");
        let header = BlockIndexHeader::from_bytes(behind.first_chunk().ok_or(cut)?)?;
        let index_start = sizes_start + sizes_coded.len() as u64;
        let index_size = BlockIndexHeader::SIZE + header.rest(raw_size, segments);
        if index_start + index_size as u64 > coded.end {
            return Err(cut.into());
        }
        let bytes = read(index_start, index_size as u32)?;
        let index = BlockIndex::from_bytes(&header, &bytes, sizes_coded, raw_size, segments)?;
        let mut offsets = vec![index_start + index_size as u64];
        offsets.extend(sizes.iter().scan(offsets[0], |at, &size| {
            *at += u64::from(size);
            Some(*at)
        }));
        if offsets[segments] != coded.end || sizes.contains(&0) {
            let misfit = Flaw("the sizes of the block's segments do not add up to the block");
            return Err(misfit.into());
        }
        let above = accumulate(&index, raw_size, shape.segment_size_log)?;
        let samples_at = (samples_start, samples_size as u32);
        Ok(DiskTables { header, index, above, offsets, samples_at })
    }
}

/// How often each byte occurs above each segment; checks that each segment is as full as it must
/// be.
fn accumulate(
    index: &BlockIndex,
    raw_size: u32,
    segment_size_log: u8,
) -> Result<Vec<[u32; 256]>, Flaw> {
    let mut above = vec![[0u32; 256]; index.segment_checksums.len() + 1];
    for (c, counts) in index.counts.rows() {
        for (k, &count) in counts.iter().enumerate() {
            let before = above[k][usize::from(c)];
            above[k + 1][usize::from(c)] = before.saturating_add(count);
        }
    }
    let full = (0..).map(|k: u64| (k << segment_size_log).min(raw_size.into()));
    let sum = |counts: &[u32; 256]| counts.iter().map(|&count| u64::from(count)).sum::<u64>();
    if above.iter().map(sum).zip(full).all(|(sum, full)| sum == full) {
        return Ok(above);
    }
    Err(Flaw("the index's counts do not add up to the block's segments"))
}
