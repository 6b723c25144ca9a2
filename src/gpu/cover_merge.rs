//! The last steps of `skew-pd`: the host side of `kernels/cover_merge.cu`.

use super::buffers::{Array, Double};
use super::cover_groups::Cover;
use super::cub::Cub;
use super::device::Gpu;
use super::suffix_array::Block;
use super::ties::{OutStruct, kernel_structs};
use super::tuning::{MARK_TILE, THREADS, TILE, TILE_THREADS};
use crate::error::Result;

impl<'m> Cover<'m> {
    /// Sorts the suffixes at multiples of 3. `zeros` and `keys` have an item for each.
    #[allow(unsafe_code)]
    pub fn sort_zeros(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        mut zeros: Double<'m, u32>,
        mut keys: Double<'m, u32>,
    ) -> Result<Array<'m, u32>> {
        let (items, count) = (self.order.len(), self.n.div_ceil(3));
        assert!(zeros.first.len() == count && keys.first.len() == count);
        let tiles = items.div_ceil(MARK_TILE);
        gpu.zero(self.status.first(tiles + 1))?;
        let arguments = Zeros {
            order: self.order.address(),
            text: self.text.address(),
            zeros: zeros.first.address(),
            keys: keys.first.address(),
            status: self.status.address(),
            counts: self.counts.address(),
            items,
            tiles,
        };
        // SAFETY: `order` has so many items, as many as `zeros` have are behind multiples of 3, and `status` has an item
        // for each CTA and one more.
        unsafe { gpu.launch_struct("cover_merge/list_zeros", tiles, THREADS, &arguments)? };
        cub.sort_pairs(gpu, &mut keys, &mut zeros, 0..u8::BITS)?;
        Ok(zeros.first)
    }

    /// Merges the order of the cover with that of the others, and writes the transform with its samples. `splits` has an
    /// item for each tile, and one more.
    #[allow(unsafe_code)]
    pub fn merge(
        &self,
        gpu: &Gpu,
        zeros: Array<u32>,
        splits: Array<u32>,
        block: Block,
    ) -> Result<()> {
        // The empty suffix, if it has a slot, is the first in order.
        let order = self.order.part(u32::from(self.n % 3 == 1)..self.order.len());
        assert_eq!([order.len() + zeros.len(), block.sa.len()], [self.n; 2]);
        let tiles = self.n.div_ceil(TILE);
        assert!(splits.len() > tiles);
        let arguments = Merge {
            text: self.text.address(),
            n: self.n,
            ranks: self.ranks.address(),
            cover: order.address(),
            zeros: zeros.address(),
            cover_len: order.len(),
            zeros_len: zeros.len(),
            splits: splits.address(),
            out: OutStruct::new(gpu, block),
            tiles,
        };
        let ctas = (tiles + 1).div_ceil(THREADS);
        // SAFETY: the arrays have the lengths that go with them, and `ranks` has an item for each slot and zeros behind.
        unsafe {
            gpu.launch_struct("cover_merge/partition_cover", ctas, THREADS, &arguments)?;
            gpu.launch_struct("cover_merge/merge_cover", tiles, TILE_THREADS, &arguments)
        }
    }
}

/// `struct Zeros` of the kernels.
#[repr(C)]
struct Zeros {
    order: u64,
    text: u64,
    zeros: u64,
    keys: u64,
    status: u64,
    counts: u64,
    items: u32,
    tiles: u32,
}

/// `struct Merge` of the kernels.
#[repr(C)]
struct Merge {
    text: u64,
    n: u32,
    ranks: u64,
    cover: u64,
    zeros: u64,
    cover_len: u32,
    zeros_len: u32,
    splits: u64,
    out: OutStruct,
    tiles: u32,
}

kernel_structs!(Zeros, Merge);
