//! The tables of an indexed block, read by position: all that a search needs before it decodes a
//! segment.

use super::source::Source;
use crate::archive::BlockInfo;
use crate::error::{Flaw, Result};
use crate::frame::{BlockHeader, BlockIndex, BlockIndexHeader, Shape, packed_array};
use std::io::{Read, Seek};

/// What is read of a block before any search.
pub struct Tables {
    pub header: BlockIndexHeader,
    pub index: BlockIndex,
    /// Where each segment starts in the file, and the last one's end.
    pub offsets: Vec<u64>,
    /// Where Samples stands in the file, and its size.
    pub samples_at: (u64, u32),
}

impl Tables {
    /// Reads them in four small reads.
    pub fn read<R: Read + Seek>(
        source: &Source<R>,
        info: &BlockInfo,
        header: &BlockHeader,
        shape: Shape,
    ) -> Result<Self> {
        let located = |flaw: Flaw| flaw.at(None, info.coded.start);
        let segments = shape.segments(header.raw_size);
        let samples_start = info.coded.start + BlockHeader::SIZE as u64;
        let width = source.read(samples_start, 1)?[0];
        let samples_size =
            packed_array::size(width, shape.samples(header.raw_size)).map_err(located)?;
        let sizes_start = samples_start + samples_size;
        // What is read at once: Segment_Sizes at its widest and the part of Index whose size is
        // known.
        let most =
            packed_array::size(32, segments).map_err(located)? + BlockIndexHeader::SIZE as u64;
        let left = info.coded.end.saturating_sub(sizes_start);
        let front = source.read(sizes_start, most.min(left) as u32)?;
        let mut behind = &front[..];
        let sizes = packed_array::read(&mut behind, segments).map_err(located)?;
        let sizes_coded = &front[..front.len() - behind.len()];
        let cut = Flaw("the block's index is longer than the block");
        let fixed = behind.first_chunk().ok_or_else(|| located(cut))?;
        let index_header = BlockIndexHeader::from_bytes(fixed).map_err(located)?;
        let index_start = sizes_start + sizes_coded.len() as u64;
        let index_size = BlockIndexHeader::SIZE + index_header.rest(header.raw_size, segments);
        if index_start + index_size as u64 > info.coded.end {
            return Err(located(cut));
        }
        let bytes = source.read(index_start, index_size as u32)?;
        let index =
            BlockIndex::from_bytes(&index_header, &bytes, sizes_coded, header.raw_size, segments)
                .map_err(located)?;
        let mut offsets = vec![index_start + index_size as u64];
        offsets.extend(sizes.iter().scan(offsets[0], |at, &size| {
            *at += u64::from(size);
            Some(*at)
        }));
        if offsets[segments] != info.coded.end || sizes.contains(&0) {
            return Err(located(Flaw(
                "the sizes of the block's segments do not add up to the block",
            )));
        }
        Ok(Tables {
            header: index_header,
            index,
            offsets,
            samples_at: (samples_start, samples_size as u32),
        })
    }
}

/// The column of each symbol, and its counts above each segment; checks that each segment is as
/// full as it must be.
pub fn accumulate(
    index: &BlockIndex,
    raw_size: usize,
    segment_size: usize,
) -> Result<(Box<[u8; 256]>, Vec<u32>), Flaw> {
    let segments = index.segment_checksums.len();
    let mut full = vec![0u64; segments];
    let mut columns = Box::new([0; 256]);
    let mut above = Vec::new();
    for (column, (c, counts)) in index.counts.rows().enumerate() {
        columns[usize::from(c)] = column as u8;
        let mut sum = 0u32;
        above.push(0);
        for (count, full) in counts.iter().zip(&mut full) {
            *full += u64::from(*count);
            sum = sum.saturating_add(*count);
            above.push(sum);
        }
    }
    let sizes = (0..segments).map(|k| (raw_size - k * segment_size).min(segment_size) as u64);
    if full.into_iter().eq(sizes) {
        return Ok((columns, above));
    }
    Err(Flaw("the index's counts do not add up to the block's segments"))
}
