//! The steps of the skew algorithm: the host side of `kernels/papers/skew_steps.cu`, which explains
//! cover indices.

use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{TILE, TILE_THREADS};
use crate::gpu::runtime::{Array, DoubleBuffer, Gpu, arguments};
use crate::gpu::sort::mod1_len;

/// Symbols of a text: bytes, or the names of triples.
#[derive(Clone, Copy, Debug)]
pub(super) enum SkewSymbols<'m> {
    Bytes(Array<'m, u8>),
    Names(Array<'m, u32>),
}

/// A text of n symbols. The largest symbol, counted from 1, has `bits` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct SkewText<'m> {
    pub symbols: SkewSymbols<'m>,
    pub n: u32,
    pub bits: u32,
}

/// Bits of a byte counted from 1.
pub(super) const BYTE_BITS: u32 = 9;

/// Bits of a triple of bytes.
const TRIPLE_BITS: u32 = 25;

impl<'m> SkewText<'m> {
    /// Device address of the symbols.
    fn address(&self) -> u64 {
        match self.symbols {
            SkewSymbols::Bytes(bytes) => bytes.address(),
            SkewSymbols::Names(names) => names.address(),
        }
    }

    fn pick(&self, for_bytes: &'static str, for_names: &'static str) -> &'static str {
        match self.symbols {
            SkewSymbols::Bytes(_) => for_bytes,
            SkewSymbols::Names(_) => for_names,
        }
    }

    /// Sorts the cover indices by their triples, stably. `keys` has 64 bits for each of them, of
    /// which bytes need 32.
    #[allow(unsafe_code)]
    pub(super) fn sort_triples(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        keys: DoubleBuffer<'m, u64>,
        order: &mut DoubleBuffer<'m, u32>,
    ) -> Result<DoubleBuffer<'m, u32>> {
        let count = order.current.len();
        let mod1_len = mod1_len(self.n);
        let text = self.address();
        let n = self.n;
        let bits = self.bits;
        let first_slots = order.current;
        let mut short = DoubleBuffer {
            current: keys.current.cast(),
            alternate: keys.alternate.cast(),
        }
        .first_items(count);
        if let SkewSymbols::Bytes(_) = self.symbols {
            let arguments = arguments![text, n, mod1_len, count, short.current, first_slots];
            // SAFETY: `keys` and `order` have `count` items, and the text has n.
            unsafe { gpu.each("skew_steps/byte_triples", count, arguments)? };
            cub.sort_pairs(gpu, &mut short, order, 0..TRIPLE_BITS)?;
            return Ok(short);
        }
        let mut long = keys;
        let arguments = arguments![text, n, mod1_len, count, bits, long.current, first_slots];
        // SAFETY: as above.
        unsafe { gpu.each("skew_steps/name_pairs", count, arguments)? };
        cub.sort_pairs(gpu, &mut long, order, 0..2 * bits)?;
        let arguments = arguments![text, n, mod1_len, order.current, count, short.current];
        // SAFETY: as above.
        unsafe { gpu.each("skew_steps/name_firsts", count, arguments)? };
        cub.sort_pairs(gpu, &mut short, order, 0..bits)?;
        Ok(short)
    }

    /// Marks the first of equal triples with 1 and the others with 0, and counts the ones. `keys`
    /// are those of the last sort.
    #[allow(unsafe_code)]
    pub(super) fn triple_heads(
        &self,
        gpu: &Gpu,
        keys: Array<u32>,
        order: Array<u32>,
        heads: Array<u32>,
        total: Array<u32>,
    ) -> Result<u32> {
        let count = order.len();
        let heads = heads.first(count);
        gpu.zero(total)?;
        // SAFETY: `keys`, `order` and `heads` have `count` items, and `total` has one.
        unsafe {
            if let SkewSymbols::Bytes(_) = self.symbols {
                let arguments = arguments![keys, count, heads, total];
                gpu.each("skew_steps/byte_triple_heads", count, arguments)?;
            } else {
                let text = self.address();
                let n = self.n;
                let mod1_len = mod1_len(self.n);
                let arguments = arguments![text, n, mod1_len, order, count, heads, total];
                gpu.each("skew_steps/name_triple_heads", count, arguments)?;
            }
        }
        Ok(gpu.read(total)?[0])
    }

    /// Sorts the suffixes at multiples of 3, given the order of the cover indices. `mod0` has an
    /// item for each.
    #[allow(unsafe_code)]
    pub(super) fn sort_mod0(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        order: Array<u32>,
        work: &Mod0Workspace<'m>,
    ) -> Result<Array<'m, u32>> {
        let mod1_len = mod1_len(self.n);
        let count = order.len();
        let flags = work.flags.first(count);
        let mut mod0 = work.mod0;
        let mut keys = work.keys;
        assert!(mod0.current.len() == mod1_len && keys.current.len() == mod1_len);
        // SAFETY: `order` and `flags` have `count` items.
        unsafe {
            gpu.each(
                "skew_steps/flag_mod1",
                count,
                arguments![order, count, mod1_len, flags],
            )?;
        }
        cub.select(gpu, order, flags, mod0.current, work.total)?;
        let kernel = self.pick("skew_steps/byte_mod0_keys", "skew_steps/name_mod0_keys");
        // SAFETY: `mod0` and `keys` have an item for each cover index of the first kind.
        unsafe {
            let arguments =
                arguments![self.address(), self.n, mod0.current, mod1_len, keys.current];
            gpu.each(kernel, mod1_len, arguments)?;
        }
        cub.sort_pairs(gpu, &mut keys, &mut mod0, 0..self.bits)?;
        Ok(mod0.current)
    }

    /// Merges the suffixes of the cover, given by cover indices in order and by rank, with the
    /// others.
    #[allow(unsafe_code)]
    pub(super) fn merge(
        &self,
        gpu: &Gpu,
        order: Array<u32>,
        ranks: Array<u32>,
        mod0: Array<u32>,
        work: &Mod0Workspace,
        sa: Array<u32>,
    ) -> Result<()> {
        // The cover index behind the end, if there is one, comes first in the order.
        let order = order.part(u32::from(self.n % 3 == 1)..order.len());
        let count = order.len();
        let mod1_len = mod1_len(self.n);
        let cover = work.positions.first(count);
        assert_eq!(count + mod0.len(), self.n);
        assert_eq!(sa.len(), self.n);
        // SAFETY: `order` and `cover` have `count` items.
        unsafe {
            let arguments = arguments![order, count, mod1_len, cover];
            gpu.each("skew_steps/cover_positions", count, arguments)?;
        }
        let text = self.address();
        let n = self.n;
        let splits = work.splits;
        let tiles = n.div_ceil(TILE);
        let b_len = mod0.len();
        // SAFETY: the arrays have the lengths given with them, `ranks` has an item for each cover
        // index, and `splits` has one for each tile and one more.
        unsafe {
            let kernel = self.pick(
                "skew_steps/byte_suffix_partition",
                "skew_steps/name_suffix_partition",
            );
            let arguments = arguments![
                text, n, ranks, mod1_len, cover, count, mod0, b_len, tiles, splits
            ];
            gpu.each(kernel, tiles + 1, arguments)?;
            let kernel = self.pick(
                "skew_steps/byte_suffix_merge",
                "skew_steps/name_suffix_merge",
            );
            let arguments = arguments![
                text, n, ranks, mod1_len, cover, count, mod0, b_len, splits, sa
            ];
            gpu.launch(kernel, tiles, TILE_THREADS, arguments)
        }
    }
}

/// Workspace of the last two steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mod0Workspace<'m> {
    pub flags: Array<'m, u8>,
    pub mod0: DoubleBuffer<'m, u32>,
    pub keys: DoubleBuffer<'m, u32>,
    pub positions: Array<'m, u32>,
    pub splits: Array<'m, u32>,
    pub total: Array<'m, u32>,
}

/// `names[cover_indices[t]] = values[t]`.
#[allow(unsafe_code)]
pub(super) fn scatter(
    gpu: &Gpu,
    cover_indices: Array<u32>,
    values: Array<u32>,
    names: Array<u32>,
) -> Result<()> {
    let count = cover_indices.len();
    assert!(values.len() == count && names.len() >= count);
    let arguments = arguments![cover_indices, values, count, names];
    // SAFETY: the arrays have `count` items, and all cover indices are below that.
    unsafe { gpu.each("skew_steps/scatter", count, arguments) }
}

/// `ranks[cover_indices[t]] = t + 1`.
#[allow(unsafe_code)]
pub(super) fn scatter_order(gpu: &Gpu, cover_indices: Array<u32>, ranks: Array<u32>) -> Result<()> {
    let count = cover_indices.len();
    assert!(ranks.len() >= count);
    // SAFETY: as above.
    unsafe {
        gpu.each(
            "skew_steps/scatter_order",
            count,
            arguments![cover_indices, count, ranks],
        )
    }
}
