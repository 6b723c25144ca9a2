//! Suffixes as records, which are compared by Lemma 1 of the paper and merged: the host side of
//! `kernels/papers/record_merge.cu`.
//!
//! The suffixes of each residue are sorted by radix. Lists are then merged two by two: the v lists
//! on each GPU, and later the lists that came from all GPUs.

use crate::base::error::Result;
use crate::gpu::primitives::cub::{Cub, bit_width};
use crate::gpu::primitives::gather::count_from;
use crate::gpu::runtime::kernel_structs::{RecordCountArgs, RecordMergeArgs, RecordsView};
use crate::gpu::runtime::tuning::{THREADS, TILE, TILE_THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};
use std::ops::Range;

/// Suffixes, and the names and ranks by which they are compared, in columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<'m> {
    pub positions: Array<'m, u32>,
    /// Names of their first symbols.
    pub names: Array<'m, u32>,
    /// Ranks of the next sample suffixes, those of one element of the cover together.
    pub ranks: Array<'m, u32>,
    /// By difference of residues, the elements at which two suffixes meet.
    pub meetings: Array<'m, u32>,
}

/// Order of records while it is being made.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordList<'m> {
    pub list: DoubleBuffer<'m, u32>,
    splits: Array<'m, u32>,
}

impl<'m> Records<'m> {
    /// Allocates columns for `len` records, with the ranks of `size` elements, but without names.
    pub(super) fn allocate(
        arena: &mut ArenaAllocator<'m>,
        len: usize,
        size: usize,
        names: Array<'m, u32>,
        meetings: Array<'m, u32>,
    ) -> Self {
        let positions = arena.array(len);
        let ranks = arena.array(size * len);
        Records {
            positions,
            names,
            ranks,
            meetings,
        }
    }

    /// Number of records.
    pub(super) fn len(&self) -> u32 {
        self.positions.len()
    }

    /// Number of elements of the cover for which there are ranks, or 0 if there are no records.
    pub(super) fn elements(&self) -> u32 {
        self.ranks
            .len()
            .checked_div(self.len())
            .unwrap_or(0)
    }

    /// The first `len` records, whose columns of ranks lie closer together.
    pub(super) fn first(self, len: u32) -> Self {
        let ranks = self.ranks.first(self.elements() * len);
        let positions = self.positions.first(len);
        let names = self.names.first(len);
        Records {
            positions,
            names,
            ranks,
            ..self
        }
    }

    /// Columns: positions, names, and the ranks of each element.
    pub(super) fn columns(&self) -> Vec<Array<'m, u32>> {
        let len = self.len();
        let ranks = (0..self.elements()).map(|c| self.ranks.part(c * len..(c + 1) * len));
        [self.positions, self.names]
            .into_iter()
            .chain(ranks)
            .collect()
    }

    /// Addresses of the columns, for kernels.
    fn view(&self) -> RecordsView {
        RecordsView {
            positions: self.positions.address(),
            names: self.names.address(),
            ranks: self.ranks.address(),
            meetings: self.meetings.address(),
            stride: self.len().into(),
            period: self.meetings.len(),
        }
    }

    /// Fills in positions and ranks for positions from `first` on, whose names are there. `ranks`
    /// are those by position, from `first` on and for a period behind the last record.
    #[allow(unsafe_code)]
    pub(super) fn fill(
        &self,
        gpu: &Gpu,
        first: u32,
        ranks: Array<u32>,
        elements: Array<u32>,
    ) -> Result<()> {
        let items = self.len();
        let size = elements.len();
        let period = self.meetings.len();
        assert!(ranks.size() >= 4 * (items as usize + period as usize));
        assert!(self.ranks.len() == size * items && self.names.len() == items);
        count_from(gpu, first, self.positions)?;
        let arguments = arguments![ranks, elements, size, period, first, items, self.ranks];
        // SAFETY: there are ranks for a period behind the last record, and a column of them for
        // each element.
        unsafe { gpu.each("record_merge/rank_columns", items, arguments) }
    }

    /// Lists the records by their residues, and those of each residue in order. Names and ranks
    /// have the given number of bits.
    #[allow(unsafe_code)]
    pub(super) fn list_by_residue<'l>(
        &self,
        gpu: &Gpu,
        cub: Cub,
        mut keys: DoubleBuffer<'l, u64>,
        list: &mut DoubleBuffer<'l, u32>,
        name_bits: u32,
        rank_bits: u32,
    ) -> Result<()> {
        let items = self.len();
        let period = self.meetings.len();
        if items == 0 {
            return Ok(());
        }
        assert!(keys.current.len() == items && name_bits + rank_bits <= u64::BITS);
        count_from(gpu, 0, list.current)?;
        // Suffixes of one residue come to a given element after the same distance.
        let column = gpu.read(self.meetings.first(1))?[0] & 0xffff;
        let ranks = self.columns()[2 + column as usize];
        let arguments = arguments![self.names, ranks, items, rank_bits, keys.current];
        // SAFETY: all arrays have `items` items.
        unsafe { gpu.each("record_merge/record_keys", items, arguments)? };
        cub.sort_pairs(gpu, &mut keys, list, 0..name_bits + rank_bits)?;
        let mut residues = DoubleBuffer {
            current: keys.current.cast::<u32>().first(items),
            alternate: keys.alternate.cast::<u32>().first(items),
        };
        let arguments = arguments![
            self.positions,
            list.current,
            period,
            items,
            residues.current
        ];
        // SAFETY: all arrays have `items` items, and the list is of all records.
        unsafe { gpu.each("record_merge/record_residues", items, arguments)? };
        cub.sort_pairs(gpu, &mut residues, list, 0..bit_width(period - 1))
    }

    /// Returns for each of `others` the number of records of a sorted list that are less.
    #[allow(unsafe_code)]
    pub(super) fn count_less(
        &self,
        gpu: &Gpu,
        list: Array<u32>,
        others: &Records,
        counts: Array<u32>,
    ) -> Result<Vec<u64>> {
        let len = list.len();
        let items = others.len();
        assert!(len <= self.len() && counts.len() >= items);
        let arguments = RecordCountArgs {
            records: self.view(),
            others: others.view(),
            list: list.address(),
            counts: counts.address(),
            len,
            items,
        };
        let ctas = items.div_ceil(THREADS);
        // SAFETY: the list is one of these records, and there are `items` others and counts.
        unsafe {
            gpu.launch_struct("record_merge/count_less_records", ctas, THREADS, &arguments)?;
        }
        Ok(gpu
            .read(counts.first(items))?
            .into_iter()
            .map(u64::from)
            .collect())
    }
}

impl<'m> RecordList<'m> {
    /// Allocates a list of `len` records.
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, len: usize) -> Self {
        let splits = len.div_ceil(TILE as usize) + 1;
        RecordList {
            list: arena.double_buffer(len),
            splits: arena.array(splits),
        }
    }

    /// Merges sorted lists of the given lengths, which follow each other. The result is in
    /// `current`.
    pub(super) fn merge(&mut self, gpu: &Gpu, records: &Records, mut runs: Vec<u32>) -> Result<()> {
        while runs.len() > 1 {
            let mut start = 0;
            for pair in runs.chunks(2) {
                let end = start + pair.iter().sum::<u32>();
                self.merge_two(gpu, records, start..end, pair[0])?;
                start = end;
            }
            runs = runs
                .chunks(2)
                .map(|pair| pair.iter().sum())
                .collect();
            self.list.swap();
        }
        Ok(())
    }

    /// Merges the first `a_len` items of a range and the rest of it into the other list.
    #[allow(unsafe_code)]
    fn merge_two(&self, gpu: &Gpu, records: &Records, range: Range<u32>, a_len: u32) -> Result<()> {
        let DoubleBuffer { current, alternate } = self.list.part(range);
        let items = current.len();
        let tiles = items.div_ceil(TILE);
        assert!(a_len <= items && self.splits.len() > tiles);
        let arguments = RecordMergeArgs {
            records: records.view(),
            list: current.address(),
            splits: self.splits.address(),
            out: alternate.address(),
            a_len,
            items,
            tiles,
        };
        let ctas = (tiles + 1).div_ceil(THREADS);
        // SAFETY: both lists have `items` items, which are records of these, and there is an item
        // of `splits` for each tile and one more.
        unsafe {
            gpu.launch_struct("record_merge/split_records", ctas, THREADS, &arguments)?;
            gpu.launch_struct(
                "record_merge/merge_records",
                tiles,
                TILE_THREADS,
                &arguments,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, upload};
    use crate::papers::sampling::SampledPositions;

    /// Sorts the suffixes of a text by its own ranks: each has the name of its first symbols and
    /// the ranks of the next sample suffixes.
    #[test]
    fn records_come_into_the_order_of_suffixes() {
        let Some(gpu) = gpu() else { return };
        for (period, n) in [
            (3, 5000_usize),
            (4, 70_001),
            (18, 20_000),
            (3, 2),
            (10, 2049),
        ] {
            // A step sequence repeats itself, so that names say little.
            let text: Vec<u8> = (0..n)
                .map(|i| (i * i / 7 % 5 == 0).into())
                .collect();
            let mut sa: Vec<u32> = (0..n as u32).collect();
            sa.sort_by_key(|&p| &text[p as usize..]);
            let sample = SampledPositions::new(n, period);
            let mut ranks = vec![0; n + period];
            let sampled = sa
                .iter()
                .filter(|&&p| sample.index(p as usize).is_some());
            for (rank, &position) in (1..).zip(sampled) {
                ranks[position as usize] = rank;
            }
            // Suffixes that agree in a period have equal names.
            let start = |p: u32| text[p as usize..].iter().take(period);
            let mut names = vec![0; n];
            let mut name = 1;
            for row in 0..n {
                name += u32::from(row > 0 && !start(sa[row - 1]).eq(start(sa[row])));
                names[sa[row] as usize] = name;
            }
            let mut memory = memory(&gpu, 200 * n + (64 << 20));
            let arena = &mut memory.allocator();
            let cub = Cub::allocate(&gpu, arena, n as u32).unwrap();
            let cover = sample.cover();
            let elements: Vec<u32> = cover
                .elements()
                .iter()
                .map(|&e| e as u32)
                .collect();
            let meetings: Vec<u32> = (0..period)
                .map(|k| cover.meeting(k, 0))
                .map(|[column, other]| (column | other << 16) as u32)
                .collect();
            let names = upload(&gpu, arena, &names);
            let meetings = upload(&gpu, arena, &meetings);
            let records = Records::allocate(arena, n, elements.len(), names, meetings);
            let elements = upload(&gpu, arena, &elements);
            let ranks = upload(&gpu, arena, &ranks);
            records.fill(&gpu, 0, ranks, elements).unwrap();
            let mut list = RecordList::allocate(arena, n);
            let keys = arena.double_buffer(n);
            records
                .list_by_residue(&gpu, cub, keys, &mut list.list, 32, 32)
                .unwrap();
            let runs = (0..period).map(|k| n.saturating_sub(k).div_ceil(period) as u32);
            list.merge(&gpu, &records, runs.collect())
                .unwrap();
            assert!(
                gpu.read(list.list.current).unwrap() == sa,
                "{n} modulo {period}"
            );
            let counts = arena.array(n);
            let less = records
                .count_less(&gpu, list.list.current, &records, counts)
                .unwrap();
            assert!(
                (0..)
                    .zip(&sa)
                    .all(|(row, &p)| less[p as usize] == row)
            );
        }
    }
}
