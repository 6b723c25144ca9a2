//! The last steps of `skew-pd`: the host side of `kernels/sort/cover_merge.cu`.

use super::cover_groups::TextCover;
use crate::base::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::kernel_structs::{CoverMergeArgs, CoverView, Mod0Args};
use crate::gpu::runtime::tuning::{MARK_TILE, THREADS, TILE, TILE_THREADS};
use crate::gpu::runtime::{Array, DoubleBuffer, Gpu};

impl<'m> TextCover<'m> {
    /// Sorts the suffixes at multiples of 3. `mod0` and `keys` have an item for each.
    #[allow(unsafe_code)]
    pub(super) fn sort_mod0(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        mut mod0: DoubleBuffer<'m, u32>,
        mut keys: DoubleBuffer<'m, u32>,
    ) -> Result<Array<'m, u32>> {
        let items = self.order.len();
        let count = self.n.div_ceil(3);
        assert!(mod0.current.len() == count && keys.current.len() == count);
        let tiles = items.div_ceil(MARK_TILE);
        gpu.zero(self.status.first(tiles + 1))?;
        let arguments = Mod0Args {
            order: self.order.address(),
            text: self.text.address(),
            mod0: mod0.current.address(),
            keys: keys.current.address(),
            status: self.status.address(),
            counts: self.counts.address(),
            items,
            tiles: tiles.cast_signed(),
        };
        // SAFETY: `order` has `items` items. `mod0` has one for each of them that follows a
        // multiple of 3, and `status` has an item for each CTA and one more.
        unsafe { gpu.launch_struct("cover_merge/list_mod0", tiles, THREADS, &arguments)? };
        cub.sort_pairs(gpu, &mut keys, &mut mod0, 0..u8::BITS)?;
        Ok(mod0.current)
    }

    /// Merges the order of the cover with that of the other suffixes, and writes the BWT with its
    /// samples. `splits` has an item for each tile and one more.
    #[allow(unsafe_code)]
    pub(super) fn merge(
        &self,
        gpu: &Gpu,
        mod0: Array<u32>,
        splits: Array<u32>,
        block: DeviceBlock,
    ) -> Result<()> {
        // The empty suffix, if it has a cover index, comes first in the order.
        let order = self
            .order
            .part(u32::from(self.n % 3 == 1)..self.order.len());
        assert_eq!([order.len() + mod0.len(), block.sa.len()], [self.n; 2]);
        let tiles = self.n.div_ceil(TILE);
        assert!(splits.len() > tiles);
        let arguments = CoverMergeArgs {
            by: CoverView {
                text: self.text.address(),
                n: self.n,
                ranks: self.ranks.address(),
            },
            cover: order.address(),
            mod0: mod0.address(),
            cover_len: order.len(),
            mod0_len: mod0.len(),
            splits: splits.address(),
            out: block.output_view(gpu),
            tiles,
        };
        let ctas = (tiles + 1).div_ceil(THREADS);
        // SAFETY: the arrays have the lengths given with them, and `ranks` has an item for each
        // cover index, followed by zeros.
        unsafe {
            gpu.launch_struct("cover_merge/partition_cover", ctas, THREADS, &arguments)?;
            gpu.launch_struct("cover_merge/merge_cover", tiles, TILE_THREADS, &arguments)
        }
    }
}
