//! The skew algorithm with prefix doubling in place of its recursion: the suffixes at positions i with i mod 3 = 1 or 2 are
//! sorted by their first symbols, then within groups of equal ones by the pair of ranks h and 2h positions behind, where
//! h is what has been compared so far. Each round compares three times as much; what has a group of its own is left out.
//! The others are sorted and merged in as `skew` does.
//!
//! The paper sorts by triples at first. Here it is as many triples as 64 bits hold, which is 9 symbols of English and 21
//! of DNA: that saves a round over nearly all suffixes, and large groups, on which a segmented sort is slow.
//!
//! Wang, Baxter and Owens, *Fast parallel skew and prefix-doubling suffix array construction on the GPU*, 2016, Figure 5
//! right. Takes about 46 bytes per suffix.

use super::super::buffers::{Array, Carver, Double};
use super::super::codes::{COUNTS, count_bytes};
use super::super::cover::{BYTE_BITS, Runs, Symbols, Text, Zeros, cover_keys, slots, sort_runs};
use super::super::cub::Cub;
use super::super::device::Gpu;
use super::super::groups::List;
use super::super::segmented_sort::{Lengths, SegmentedSort, Segments};
use super::Block;
use crate::error::Result;

/// The buffers.
pub struct SkewPd<'m> {
    cub: Cub<'m>,
    segmented: SegmentedSort<'m>,
    keys: Double<'m, u64>,
    list: List<'m>,
    ranks: Array<'m, u32>,
    order: Array<'m, u32>,
    zeros: Zeros<'m>,
    counts: Array<'m, u32>,
    numbers: Array<'m, u32>,
}

impl<'m> SkewPd<'m> {
    pub fn carve(gpu: &Gpu, carver: &mut Carver<'m>, n: u32) -> Result<Self> {
        let count = slots(n);
        let items = count as usize;
        let keys: Double<u64> = carver.take_two(items);
        let list = List::carve(carver, count, keys.second);
        Ok(SkewPd {
            cub: Cub::carve(gpu, carver, n)?,
            segmented: SegmentedSort::carve(carver, count),
            keys,
            list,
            ranks: carver.take(items),
            order: carver.take(items),
            zeros: Zeros::carve(carver, n),
            counts: carver.take(COUNTS),
            numbers: carver.take(256),
        })
    }

    pub fn run(mut self, gpu: &Gpu, block: Block<'m>, rounds: &mut Vec<u32>) -> Result<()> {
        let n = block.sa.len();
        let text = Text { symbols: Symbols::Bytes(block.text), n, bits: BYTE_BITS };
        let runs = Runs::new(&count_bytes(gpu, block.text, n, self.counts)?);
        gpu.post(&runs.numbers, self.numbers)?;
        let (from, numbers) = ((block.text, n), (runs, self.numbers));
        sort_runs(gpu, &self.cub, from, numbers, &mut self.keys, &mut self.list.pos)?;
        // What was sorted is not needed after the ranks, and the other half serves as marks.
        self.list.marks = self.keys.second;
        self.list.rank_by_keys(gpu, self.keys.first)?;
        self.list.settle(gpu, &self.cub, self.ranks, self.order)?;
        rounds.push(self.list.len);
        let mut depth = runs.symbols;
        while self.list.len > 0 {
            self.round(gpu, n, depth)?;
            self.list.settle(gpu, &self.cub, self.ranks, self.order)?;
            rounds.push(self.list.len);
            depth = depth.saturating_mul(3);
        }
        let zeros = text.sort_zeros(gpu, &self.cub, self.order, &self.zeros)?;
        text.merge(gpu, self.order, self.ranks, zeros, &self.zeros, block.sa)
    }

    /// Sorts each group by the ranks `depth` and twice that behind.
    fn round(&mut self, gpu: &Gpu, n: u32, depth: u32) -> Result<()> {
        let m = self.list.len;
        let (keys, slots) = (self.keys.first_items(m), self.list.pos.first_items(m));
        cover_keys(gpu, slots.first, self.ranks, n, depth, keys.first)?;
        let segments = Segments { starts: self.list.starts, count: self.list.groups };
        self.segmented.sort(gpu, keys, slots, segments, Lengths::ALL)?;
        self.list.rank(gpu, keys.first)
    }
}
