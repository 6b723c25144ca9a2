//! Prefix doubling as in GPU-LS: all suffixes are sorted by 8 bytes at once; then those that are still in groups of equal
//! ones are sorted within their groups by the ranks of the suffixes 8, 16, 32 ... behind them.
//!
//! Groups of different size are sorted in different ways ([`SizeClasses`]), and suffixes that have become groups of
//! their own are left out from then on.
//!
//! G. Sun, Z. Xie, *Fast in-memory suffix sorting on the GPU*; after N. J. Larsson and K. Sadakane, *Faster suffix sorting*,
//! 2007. Takes about 54 bytes per suffix.

use super::super::buffers::{Array, Carver, Double};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::groups::{List, rank_keys};
use super::super::keys;
use super::super::segmented_sort::Segments;
use super::super::size_classes::SizeClasses;
use super::super::tuning::FIRST_SYMBOLS;
use super::{Block, bits};
use crate::error::Result;

/// The buffers.
pub struct Ls<'m> {
    cub: Cub<'m>,
    classes: SizeClasses<'m>,
    keys: Double<'m, u64>,
    list: List<'m>,
    isa: Array<'m, u32>,
}

impl<'m> Ls<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let items = n as usize;
        let cub = Cub::carve(gpu, carver, n)?;
        let list = List::carve(carver, n, Array::none());
        Ok(Ls {
            cub,
            classes: SizeClasses::carve(carver, cub, n),
            keys: carver.take_two(items),
            list,
            isa: carver.take(items),
        })
    }

    pub fn run(mut self, gpu: &Gpu, block: Block<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        keys::first_keys(gpu, block.text, self.keys.first, self.list.pos.first)?;
        self.cub.sort_pairs(gpu, &mut self.keys, &mut self.list.pos, 0..u64::BITS)?;
        self.list.rank_first(gpu, self.keys.first)?;
        // From here on the first keys are not needed, and their memory serves the rounds.
        self.list.marks = self.keys.second;
        let keys = Double::halves(self.keys.first.cast::<u32>());
        self.list.settle(gpu, &self.cub, self.isa, block.sa)?;
        rounds.push(self.list.len);
        let mut depth = FIRST_SYMBOLS;
        while self.list.len > 0 {
            self.round(gpu, keys.first_items(self.list.len), depth, bits(n))?;
            self.list.settle(gpu, &self.cub, self.isa, block.sa)?;
            rounds.push(self.list.len);
            depth = depth.saturating_mul(2);
        }
        Ok(())
    }

    /// Sorts each group by the suffixes `depth` behind.
    fn round(&mut self, gpu: &Gpu, keys: Double<u32>, depth: u32, bits: u32) -> Result<()> {
        let pos = self.list.pos.first_items(self.list.len);
        rank_keys(gpu, pos.first, self.isa, depth, keys.first)?;
        let segments = Segments { starts: self.list.starts, count: self.list.groups };
        self.classes.sort(gpu, keys, pos, segments, bits)?;
        self.list.rank(gpu, keys.first)
    }
}
