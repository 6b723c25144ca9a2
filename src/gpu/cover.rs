//! The steps of the skew algorithm: the host side of `kernels/cover.cu`, which explains slots.

use super::buffers::{Array, Double};
use super::cub::Cub;
use super::device::{Argument, Gpu};
use super::tuning::{TILE, TILE_THREADS};
use crate::error::Result;

/// What is sorted: bytes, or the names of triples.
#[derive(Clone, Copy, Debug)]
pub enum Symbols<'m> {
    Bytes(Array<'m, u8>),
    Names(Array<'m, u32>),
}

/// A text of n symbols, the largest of which, counted from 1, has `bits` bits.
#[derive(Clone, Copy, Debug)]
pub struct Text<'m> {
    pub symbols: Symbols<'m>,
    pub n: u32,
    pub bits: u32,
}

/// Bits of a byte counted from 1.
pub const BYTE_BITS: u32 = 9;

/// Bits of a triple of bytes.
const TRIPLE_BITS: u32 = 25;

/// Slots of the first kind in a text of n symbols: as many as there are positions that are multiples of 3.
pub fn ones(n: u32) -> u32 {
    n.div_ceil(3)
}

/// All slots.
pub fn slots(n: u32) -> u32 {
    ones(n) + n / 3
}

impl<'m> Text<'m> {
    /// The address and the length, as kernels take them.
    fn arguments(&self) -> [Argument; 2] {
        let address = match self.symbols {
            Symbols::Bytes(bytes) => bytes.into(),
            Symbols::Names(names) => names.into(),
        };
        [address, self.n.into()]
    }

    fn pick(&self, for_bytes: &'static str, for_names: &'static str) -> &'static str {
        match self.symbols {
            Symbols::Bytes(_) => for_bytes,
            Symbols::Names(_) => for_names,
        }
    }

    /// Sorts the slots by their triples, stably. `keys` has 64 bits for each slot, of which bytes need 32.
    #[allow(unsafe_code)]
    pub fn sort_triples(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        keys: Double<'m, u64>,
        order: &mut Double<'m, u32>,
    ) -> Result<Double<'m, u32>> {
        let (count, ones) = (order.first.len(), ones(self.n).into());
        let [text, n] = self.arguments();
        let first_slots = order.first.into();
        let mut short =
            Double { first: keys.first.cast(), second: keys.second.cast() }.first_items(count);
        if let Symbols::Bytes(_) = self.symbols {
            let arguments = [text, n, ones, count.into(), short.first.into(), first_slots];
            // SAFETY: `keys` and `order` have so many items, the text has n.
            unsafe { gpu.each("cover/byte_triples", count, &arguments)? };
            cub.sort_pairs(gpu, &mut short, order, 0..TRIPLE_BITS)?;
            return Ok(short);
        }
        let mut long = keys;
        let bits = self.bits.into();
        let arguments = [text, n, ones, count.into(), bits, long.first.into(), first_slots];
        // SAFETY: as above.
        unsafe { gpu.each("cover/name_pairs", count, &arguments)? };
        cub.sort_pairs(gpu, &mut long, order, 0..2 * self.bits)?;
        let arguments = [text, n, ones, order.first.into(), count.into(), short.first.into()];
        // SAFETY: as above.
        unsafe { gpu.each("cover/name_firsts", count, &arguments)? };
        cub.sort_pairs(gpu, &mut short, order, 0..self.bits)?;
        Ok(short)
    }

    /// Marks the first of equal triples with 1, others with 0, and counts them. `keys` are what the last sort left.
    #[allow(unsafe_code)]
    pub fn triple_heads(
        &self,
        gpu: &Gpu,
        keys: Array<u32>,
        order: Array<u32>,
        heads: Array<u32>,
        total: Array<u32>,
    ) -> Result<u32> {
        let count = order.len();
        let [text, n] = self.arguments();
        let (heads, sum) = (heads.first(count).into(), total.into());
        gpu.zero(total)?;
        // SAFETY: `keys`, `order` and `heads` have so many items, `total` one.
        unsafe {
            if let Symbols::Bytes(_) = self.symbols {
                gpu.each(
                    "cover/byte_triple_heads",
                    count,
                    &[keys.into(), count.into(), heads, sum],
                )?;
            } else {
                let ones = ones(self.n).into();
                let arguments = [text, n, ones, order.into(), count.into(), heads, sum];
                gpu.each("cover/name_triple_heads", count, &arguments)?;
            }
        }
        Ok(gpu.read(total)?[0])
    }

    /// Sorts the suffixes at multiples of 3, from the order of the slots. `zeros` has an item for each.
    #[allow(unsafe_code)]
    pub fn sort_zeros(
        &self,
        gpu: &Gpu,
        cub: &Cub,
        order: Array<u32>,
        work: &Zeros<'m>,
    ) -> Result<Array<'m, u32>> {
        let (ones, count) = (ones(self.n), order.len());
        let (flags, mut zeros, mut keys) = (work.flags.first(count), work.zeros, work.keys);
        assert!(zeros.first.len() == ones && keys.first.len() == ones);
        let [text, n] = self.arguments();
        // SAFETY: `order` and `flags` have so many items.
        unsafe {
            let arguments = [order.into(), count.into(), ones.into(), flags.into()];
            gpu.each("cover/flag_ones", count, &arguments)?;
        }
        cub.select(gpu, order, flags, zeros.first, work.total)?;
        let kernel = self.pick("cover/byte_zero_keys", "cover/name_zero_keys");
        // SAFETY: `zeros` and `keys` have an item for each slot of the first kind.
        unsafe {
            let arguments = [text, n, zeros.first.into(), ones.into(), keys.first.into()];
            gpu.each(kernel, ones, &arguments)?;
        }
        cub.sort_pairs(gpu, &mut keys, &mut zeros, 0..self.bits)?;
        Ok(zeros.first)
    }

    /// Merges the suffixes of the cover, given by slots in order and by rank, with the others.
    #[allow(unsafe_code)]
    pub fn merge(
        &self,
        gpu: &Gpu,
        order: Array<u32>,
        ranks: Array<u32>,
        zeros: Array<u32>,
        work: &Zeros,
        sa: Array<u32>,
    ) -> Result<()> {
        // The slot behind the end, if there is one, is the first in order.
        let order = order.part(u32::from(self.n % 3 == 1)..order.len());
        let (count, ones) = (order.len(), Argument::from(ones(self.n)));
        let cover = work.positions.first(count);
        assert_eq!(count + zeros.len(), self.n);
        assert_eq!(sa.len(), self.n);
        // SAFETY: `order` and `cover` have so many items.
        unsafe {
            let arguments = [order.into(), count.into(), ones, cover.into()];
            gpu.each("cover/slot_positions", count, &arguments)?;
        }
        let [text, n] = self.arguments();
        let (tiles, splits) = (self.n.div_ceil(TILE), work.splits.into());
        let (a, b, b_len) = (cover.into(), zeros.into(), zeros.len().into());
        let ranks = ranks.into();
        // SAFETY: the arrays have the lengths that go with them, `ranks` has an item for each slot, and `splits`
        // one for each tile and one more.
        unsafe {
            let kernel = self.pick("cover/byte_suffix_partition", "cover/name_suffix_partition");
            let arguments = [text, n, ranks, ones, a, count.into(), b, b_len, tiles.into(), splits];
            gpu.each(kernel, tiles + 1, &arguments)?;
            let kernel = self.pick("cover/byte_suffix_merge", "cover/name_suffix_merge");
            let arguments = [text, n, ranks, ones, a, count.into(), b, b_len, splits, sa.into()];
            gpu.launch(kernel, tiles, TILE_THREADS, &arguments)
        }
    }
}

/// Workspace of the last two steps.
#[derive(Clone, Copy, Debug)]
pub struct Zeros<'m> {
    pub flags: Array<'m, u8>,
    pub zeros: Double<'m, u32>,
    pub keys: Double<'m, u32>,
    pub positions: Array<'m, u32>,
    pub splits: Array<'m, u32>,
    pub total: Array<'m, u32>,
}

/// `names[slots[t]] = values[t]`.
#[allow(unsafe_code)]
pub fn scatter(gpu: &Gpu, slots: Array<u32>, values: Array<u32>, names: Array<u32>) -> Result<()> {
    let count = slots.len();
    assert!(values.len() == count && names.len() >= count);
    let arguments = [slots.into(), values.into(), count.into(), names.into()];
    // SAFETY: the arrays have so many items; slots are numbers below that.
    unsafe { gpu.each("cover/scatter", count, &arguments) }
}

/// `ranks[slots[t]] = t + 1`.
#[allow(unsafe_code)]
pub fn scatter_order(gpu: &Gpu, slots: Array<u32>, ranks: Array<u32>) -> Result<()> {
    let count = slots.len();
    assert!(ranks.len() >= count);
    // SAFETY: as above.
    unsafe { gpu.each("cover/scatter_order", count, &[slots.into(), count.into(), ranks.into()]) }
}
