//! The tables of an indexed block that stays on disk, made from the front of its payload.

use super::block_front::{BlockFront, PER_SLICE};
use super::counts_above::CountsAbove;
use super::file_block::FileBlock;
use super::slice_cache::KEPT;
use crate::base::error::{Flaw, Result};
use crate::coder::SliceDecoder;
use crate::frame::{BlockIndex, StoredIndex};
use std::iter;
use std::sync::Arc;

/// The tables of a block, without its samples.
pub(super) struct DiskTables {
    pub front: Arc<BlockFront>,
    pub above: CountsAbove,
    /// Start of each slice in the transform, followed by the end of the last slice.
    pub starts: Vec<u64>,
    /// File offset of each slice, followed by the end of the last slice.
    pub offsets: Vec<u64>,
    pub decoder: SliceDecoder,
    /// True if rows and counts need more than 32 bits.
    pub wide: bool,
}

impl DiskTables {
    /// Makes the tables of a block with an index. Errors do not name the block.
    pub(super) fn new(file: &FileBlock, front: Arc<BlockFront>) -> Result<Self> {
        check_memory(file, &front)?;
        let starts = sums(0, &front.sizes.raw);
        let wide = front.text_size > file.options.run.narrow.others as u64;
        let above = CountsAbove::new(&stored(&front)?.index, &starts, wide)?;
        let offsets = sums(front.side.end, &front.sizes.coded);
        let decoder = SliceDecoder::new(front.shape.coding, &front.models)?;
        Ok(DiskTables {
            front,
            above,
            starts,
            offsets,
            decoder,
            wide,
        })
    }

    /// The index as it is stored.
    pub(super) fn stored(&self) -> &StoredIndex {
        stored(&self.front).expect("the tables were made of an index")
    }

    pub(super) fn index(&self) -> &BlockIndex {
        &self.stored().index
    }

    /// Bytes of the text. The searched text may be only the first part of it.
    pub(super) fn text_size(&self) -> u64 {
        self.front.text_size
    }
}

fn stored(front: &BlockFront) -> Result<&StoredIndex, Flaw> {
    front
        .index
        .as_ref()
        .ok_or(Flaw("the block has no index"))
}

fn check_memory(file: &FileBlock, front: &BlockFront) -> Result<()> {
    // Each thread decodes two slices at a time, and `KEPT` slices are cached whatever the budget.
    let sizes = &front.sizes.raw;
    let largest = sizes.iter().copied().max().map_or(0, u64::from);
    let at_once = sizes
        .len()
        .min(2 * file.options.thread_count() + KEPT) as u64;
    file.check_index_memory(sizes.len() as u64 * PER_SLICE + at_once * largest)
}

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
