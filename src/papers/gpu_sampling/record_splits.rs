//! Cuts of sorted suffixes on several GPUs at the first rows of the next GPU.
//!
//! Suffixes have no keys of a fixed number of bits, as `KeySplits` needs: they are compared two by
//! two. In a round each GPU offers some of the suffixes between which the cut may lie, and all GPUs
//! count how many of their own are less than each. This gives the rows of all offered suffixes, and
//! each GPU keeps the suffixes between the nearest ones above and below the cut.
//!
//! The paper takes samples, and evens out their errors. Exact cuts take more rounds, but no GPU
//! gets more than its part.

use super::joint_work::JointWork;
use super::record_merge::Records;
use crate::base::error::Result;
use crate::gpu::TextParts;
use crate::gpu::distributed::DeviceExchange;
use crate::gpu::primitives::gather::take_items;
use crate::gpu::runtime::{ArenaAllocator, Array};

/// Number of suffixes that a GPU offers in a round.
const OFFERED: usize = 64;
/// Word of an offered suffix that does not exist.
const NONE: u64 = u64::MAX;

/// Buffers of one GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordSplits<'m> {
    rows: Array<'m, u32>,
    items: Array<'m, u32>,
    /// Records that all GPUs offer, column by column.
    offered: Array<'m, u32>,
    counts: Array<'m, u32>,
}

impl<'m> RecordSplits<'m> {
    /// Allocates buffers for `gpus` GPUs and a cover of `size` elements.
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, gpus: usize, size: usize) -> Self {
        RecordSplits {
            rows: arena.array(OFFERED),
            items: arena.array(OFFERED),
            offered: arena.array(OFFERED * gpus * (2 + size)),
            counts: arena.array(OFFERED * gpus),
        }
    }

    /// Returns for each border of the rows the number of suffixes of each GPU that lie before it.
    /// The list of each GPU is sorted, and all GPUs together have as many suffixes as rows.
    pub(super) fn find<E: DeviceExchange>(
        &self,
        work: &mut JointWork<E>,
        parts: TextParts,
        records: &Records,
        list: Array<u32>,
    ) -> Result<Vec<Vec<u64>>> {
        let borders = (1..parts.gpus()).map(|gpu| parts.range(gpu).start);
        let borders = borders.filter(|&border| border < parts.len());
        borders
            .map(|border| self.cut(work, parts, records, list, border))
            .collect()
    }

    /// Makes one cut, before which `wanted` suffixes lie.
    fn cut<E: DeviceExchange>(
        &self,
        work: &mut JointWork<E>,
        parts: TextParts,
        records: &Records,
        list: Array<u32>,
        wanted: u64,
    ) -> Result<Vec<u64>> {
        let mut low = vec![0; parts.gpus()];
        let mut high: Vec<u64> = (0..parts.gpus())
            .map(|gpu| parts.part_len(gpu))
            .collect();
        loop {
            let own = low[work.number()]..high[work.number()];
            let words = self.offer(work, records, list, own)?;
            let all: Vec<Vec<u64>> = work.exchange.all_gather(&words)?;
            let counts = self.count(work, records, list, &all)?;
            let all = work.exchange.all_gather(&counts)?;
            // `less` is the number of suffixes of each GPU that are less than the offered one.
            for offered in 0..counts.len() {
                let less: Vec<u64> = all.iter().map(|counts| counts[offered]).collect();
                let row: u64 = less.iter().sum();
                if row == wanted {
                    return Ok(less);
                }
                // The cut is above a suffix of a row below, and below one of a row above.
                let borders = if row < wanted { &mut low } else { &mut high };
                for (border, &less) in borders.iter_mut().zip(&less) {
                    match row < wanted {
                        true => *border = (*border).max(less),
                        false => *border = (*border).min(less),
                    }
                }
            }
        }
    }

    /// Reads suffixes at equal distances among these rows of the list. Returns all words of each,
    /// or `NONE` for those that do not exist.
    fn offer<E: DeviceExchange>(
        &self,
        work: &JointWork<E>,
        records: &Records,
        list: Array<u32>,
        rows: std::ops::Range<u64>,
    ) -> Result<Vec<u64>> {
        let gpu = work.gpu;
        let len = rows.end - rows.start;
        let offered = (len as usize).min(OFFERED);
        let row = |k: usize| (rows.start + len * k as u64 / offered as u64) as u32;
        let width = self.offered.len() as usize / self.counts.len() as usize;
        let mut words = vec![NONE; OFFERED * width];
        if offered == 0 {
            return Ok(words);
        }
        gpu.write(&(0..offered).map(row).collect::<Vec<_>>(), self.rows)?;
        let items = self.items.first(offered as u32);
        take_items(gpu, list, self.rows.first(offered as u32), items)?;
        for (c, column) in records.columns().into_iter().enumerate() {
            let to = self.offered.first(offered as u32);
            take_items(gpu, column, items, to)?;
            for (k, word) in gpu.read(to)?.into_iter().enumerate() {
                words[k * width + c] = word.into();
            }
        }
        Ok(words)
    }

    /// Returns for each offered suffix the number of suffixes here that are less.
    fn count<E: DeviceExchange>(
        &self,
        work: &JointWork<E>,
        records: &Records,
        list: Array<u32>,
        all: &[Vec<u64>],
    ) -> Result<Vec<u64>> {
        let width = self.offered.len() as usize / self.counts.len() as usize;
        let offered: Vec<&[u64]> = all
            .iter()
            .flat_map(|words| words.chunks(width))
            .filter(|words| words[0] != NONE)
            .collect();
        let column = |c: usize| offered.iter().map(move |words| words[c] as u32);
        let words: Vec<u32> = (0..width).flat_map(column).collect();
        work.gpu.write(&words, self.offered)?;
        let len = offered.len() as u32;
        let [positions, names] = [0, 1].map(|c| self.offered.part(c * len..(c + 1) * len));
        let ranks = self.offered.part(2 * len..width as u32 * len);
        let others = Records {
            positions,
            names,
            ranks,
            ..*records
        };
        if list.len() == 0 {
            return Ok(vec![0; offered.len()]);
        }
        records.count_less(work.gpu, list, &others, self.counts)
    }
}
