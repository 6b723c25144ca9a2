//! The skew algorithm: the suffixes at positions i with i mod 3 = 1 or 2 are sorted by triples of symbols and named; if
//! names are not unique, the string of names, two thirds as long, is sorted in the same way. The order of the others
//! follows from that by one radix sort, and the two are merged.
//!
//! As in Wang, Baxter and Owens, *Fast parallel skew and prefix-doubling suffix array construction on the GPU*, 2016,
//! Figure 4 right: triples are named only where they are not unique, and the suffixes at multiples of 3 come from the
//! order of those behind them by selecting these. Linear in all cases. Takes about 36 bytes per suffix.

use super::super::buffers::{Array, Carver, Double};
use super::super::cover::{BYTE_BITS, Symbols, Text, Zeros, ones, scatter, scatter_order, slots};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::merge_path::splits_for;
use super::{Block, bits};
use crate::error::Result;

/// What one level keeps while the levels below it work.
#[derive(Clone, Copy)]
struct Level<'m> {
    /// For each slot, the name of its triple, and later its rank.
    names: Array<'m, u32>,
    /// The slots in the order of their suffixes.
    order: Array<'m, u32>,
}

/// Workspace for sorting triples; that of all levels is the same memory.
struct Triples<'m> {
    keys: Double<'m, u64>,
    order: Double<'m, u32>,
    total: Array<'m, u32>,
}

impl<'m> Triples<'m> {
    fn carve(carver: &mut Carver<'m>, n: u32) -> Self {
        let count = slots(n) as usize;
        Triples {
            keys: carver.take_two(count),
            order: carver.take_two(count),
            total: carver.take(1),
        }
    }
}

impl<'m> Zeros<'m> {
    /// Carves the workspace of merging.
    pub fn carve(carver: &mut Carver<'m>, n: u32) -> Self {
        let (count, ones) = (slots(n) as usize, ones(n) as usize);
        Zeros {
            flags: carver.take(count),
            zeros: carver.take_two(ones),
            keys: carver.take_two(ones),
            positions: carver.take(count),
            splits: carver.take(splits_for(n)),
            total: carver.take(1),
        }
    }
}

/// The buffers.
pub struct Skew<'m> {
    cub: Cub<'m>,
    levels: Vec<Level<'m>>,
    shared: Array<'m, u8>,
}

impl<'m> Skew<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let cub = Cub::carve(gpu, carver, n)?;
        let (mut levels, mut at, mut shared) = (Vec::new(), n, 0);
        // Of three symbols and less, all triples differ.
        while levels.is_empty() || at > 3 {
            let count = slots(at) as usize;
            levels.push(Level { names: carver.take(count), order: carver.take(count) });
            let (mut sorting, mut merging) = (Carver::measure(), Carver::measure());
            Triples::carve(&mut sorting, at);
            Zeros::carve(&mut merging, at);
            shared = shared.max(sorting.used()).max(merging.used());
            at = slots(at);
        }
        // The level below the last has the same buffers: three symbols or less.
        levels.push(Level { names: carver.take(4), order: carver.take(4) });
        Ok(Skew { cub, levels, shared: carver.take(shared.max(1 << 14)) })
    }

    pub fn run(self, gpu: &Gpu, block: Block<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        let text = Text { symbols: Symbols::Bytes(block.text), n, bits: BYTE_BITS };
        self.level(gpu, 0, text, block.sa, rounds)
    }

    /// Sorts the suffixes of a text of `sa.len()` symbols.
    fn level(
        &self,
        gpu: &Gpu,
        level: usize,
        text: Text<'m>,
        sa: Array<'m, u32>,
        rounds: &mut Vec<u32>,
    ) -> Result<()> {
        let count = slots(text.n);
        let Level { names, order } = self.levels[level];
        let (names, order) = (names.first(count), order.first(count));
        let mut work = Triples::carve(&mut Carver::over(self.shared), text.n);
        let keys = text.sort_triples(gpu, &self.cub, work.keys, &mut work.order)?;
        let (sorted, heads) = (work.order.first, keys.second);
        let different = text.triple_heads(gpu, keys.first, sorted, heads, work.total)?;
        if different == count {
            gpu.copy(sorted, order)?;
        } else {
            rounds.push(count);
            self.cub.inclusive_sum(gpu, heads)?;
            scatter(gpu, sorted, heads, names)?;
            let below = Text { symbols: Symbols::Names(names), n: count, bits: bits(different) };
            self.level(gpu, level + 1, below, order, rounds)?;
        }
        scatter_order(gpu, order, names)?;
        let work = Zeros::carve(&mut Carver::over(self.shared), text.n);
        let zeros = text.sort_zeros(gpu, &self.cub, order, &work)?;
        text.merge(gpu, order, names, zeros, &work, sa)
    }
}
