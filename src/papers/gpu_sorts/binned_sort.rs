//! Segmented sort that picks a method by the size of each segment, as in GPU-LS: the host side of
//! `kernels/papers/binned_sort.cu`.
//!
//! | items | sorted by |
//! |---|---|
//! | 2, to 4, 8, 16, 32 | a part of a warp, in registers |
//! | to 256, to 2048 | a CTA |
//! | to 1 Mi | merging tiles ([`SegmentedMerge`]) |
//! | more | a radix sort over the device, one segment after the other |

use super::segmented_merge::{SegmentLengths, SegmentedMerge, Segments};
use crate::base::error::Result;
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::tuning::{
    LARGE, MEDIUM_HIGH, MEDIUM_LOW_THREADS, SIZE_BINS, SMALL_BINS, THREADS, TILE_THREADS,
};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};

/// Kernels of the small bins. The first takes 2 items; each later one takes twice as many.
const SMALL: [&str; SMALL_BINS as usize] = [
    "binned_sort/sort_small_2",
    "binned_sort/sort_small_4",
    "binned_sort/sort_small_8",
    "binned_sort/sort_small_16",
    "binned_sort/sort_small_32",
];

/// Kernels of the medium bins, with the number of threads per CTA.
const MEDIUM: [(&str, u32); 2] = [
    ("binned_sort/sort_medium_low", MEDIUM_LOW_THREADS),
    ("binned_sort/sort_medium_high", TILE_THREADS),
];

/// Workspace for lists of up to a given number of items.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinnedSort<'m> {
    cub: Cub<'m>,
    merging: SegmentedMerge<'m>,
    counts: Array<'m, u32>,
    /// The segments, listed bin by bin.
    lists: Array<'m, u32>,
}

impl<'m> BinnedSort<'m> {
    /// Allocates the workspace for segments of at least two items each. Of one item each, there may
    /// be half as many segments as items.
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, cub: Cub<'m>, items: u32) -> Self {
        BinnedSort {
            cub,
            merging: SegmentedMerge::allocate(arena, items),
            counts: arena.array(2 * SIZE_BINS as usize),
            lists: arena.array(items as usize / 2 + 1),
        }
    }

    /// Sorts the values of each segment by their keys, which have `bits` bits. The data is in the
    /// first arrays before and after. The order of equal keys depends on the size of their segment.
    #[allow(unsafe_code)]
    pub(super) fn sort(
        &self,
        gpu: &Gpu,
        keys: DoubleBuffer<u32>,
        values: DoubleBuffer<u32>,
        segments: Segments,
        bits: u32,
    ) -> Result<()> {
        let lens = [
            keys.alternate.len(),
            values.current.len(),
            values.alternate.len(),
        ];
        assert_eq!(lens, [keys.current.len(); 3]);
        assert!(segments.starts.len() > segments.count && self.lists.len() >= segments.count);
        let ends = self.list_bins(gpu, segments)?;
        let list = |bin: usize| self.lists.part(ends[bin]..ends[bin + 1]);
        let starts = segments.starts;
        let k = keys.current;
        let v = values.current;
        for (bin, kernel) in SMALL.into_iter().enumerate() {
            let list = list(bin);
            let ctas = (list.len() << (bin + 1)).div_ceil(THREADS);
            // SAFETY: the list names segments, whose items lie within keys and values.
            unsafe {
                gpu.launch(
                    kernel,
                    ctas,
                    THREADS,
                    arguments![starts, list, list.len(), k, v],
                )?;
            }
        }
        for (bin, (kernel, threads)) in (SMALL.len()..).zip(MEDIUM) {
            // SAFETY: as above.
            unsafe {
                let list = list(bin);
                gpu.launch(kernel, list.len(), threads, arguments![starts, list, k, v])?;
            }
        }
        let bin = SMALL.len() + MEDIUM.len();
        if list(bin).len() > 0 {
            let lengths = SegmentLengths {
                shortest: MEDIUM_HIGH + 1,
                longest: LARGE,
            };
            self.merging
                .sort(gpu, keys, values, segments, lengths)?;
        }
        self.sort_huge(gpu, keys, values, segments, list(bin + 1), bits)
    }

    /// Lists the segments bin by bin. Returns 0 and the end of each bin's list.
    #[allow(unsafe_code)]
    fn list_bins(&self, gpu: &Gpu, segments: Segments) -> Result<Vec<u32>> {
        let counts = self.counts.first(SIZE_BINS);
        let cursors = self.counts.part(SIZE_BINS..2 * SIZE_BINS);
        let Segments { starts, count } = segments;
        gpu.zero(counts)?;
        // SAFETY: `starts` has count + 1 items, and `counts` has one for each bin.
        unsafe {
            gpu.each(
                "binned_sort/count_bins",
                count,
                arguments![starts, count, counts],
            )?;
        }
        let mut ends = vec![0];
        for size in gpu.read(counts)? {
            ends.push(ends[ends.len() - 1] + size);
        }
        gpu.write(&ends[..SIZE_BINS as usize], cursors)?;
        let arguments = arguments![starts, count, cursors, self.lists];
        // SAFETY: as above, and `lists` has an item for each segment.
        unsafe { gpu.each("binned_sort/fill_bins", count, arguments)? };
        Ok(ends)
    }

    fn sort_huge(
        &self,
        gpu: &Gpu,
        keys: DoubleBuffer<u32>,
        values: DoubleBuffer<u32>,
        segments: Segments,
        list: Array<u32>,
        bits: u32,
    ) -> Result<()> {
        if list.len() == 0 {
            return Ok(());
        }
        for segment in gpu.read(list)? {
            let ends = gpu.read(segments.starts.part(segment..segment + 2))?;
            let mut k = keys.part(ends[0]..ends[1]);
            let mut v = values.part(ends[0]..ends[1]);
            let home = (k.current, v.current);
            self.cub
                .sort_pairs(gpu, &mut k, &mut v, 0..bits)?;
            if k.current.address() != home.0.address() {
                gpu.copy(k.current, home.0)?;
                gpu.copy(v.current, home.1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, random, say, shapes, starts, upload};

    fn check(gpu: &Gpu, name: &str, lengths: &[u32], keys: &[u32]) {
        let starts = starts(lengths);
        let values: Vec<u32> = (0..keys.len() as u32).collect();
        let mut memory = memory(gpu, 80 * keys.len() + (64 << 20));
        let arena = &mut memory.allocator();
        let m = keys.len() as u32;
        let k = DoubleBuffer {
            current: upload(gpu, arena, keys),
            alternate: arena.array(keys.len()),
        };
        let v = DoubleBuffer {
            current: upload(gpu, arena, &values),
            alternate: arena.array(keys.len()),
        };
        let segments = Segments {
            starts: upload(gpu, arena, &starts),
            count: lengths.len() as u32,
        };
        let cub = Cub::allocate(gpu, arena, m).unwrap();
        let sort = BinnedSort::allocate(arena, cub, 2 * m + 2);
        sort.sort(gpu, k, v, segments, 32).unwrap();
        let got_keys = gpu.read(k.current).unwrap();
        let got_values = gpu.read(v.current).unwrap();
        for ends in starts.windows(2) {
            let range = ends[0] as usize..ends[1] as usize;
            let mut expected = keys[range.clone()].to_vec();
            expected.sort_unstable();
            assert!(
                got_keys[range.clone()] == expected,
                "{name}: keys of {range:?}"
            );
            let mut seen = got_values[range.clone()].to_vec();
            seen.sort_unstable();
            assert!(
                seen.iter().eq(&values[range]),
                "{name}: values stay in their segment"
            );
        }
        let belong = got_values
            .iter()
            .zip(&got_keys)
            .all(|(&v, &k)| keys[v as usize] == k);
        assert!(belong, "{name}: values go with their keys");
    }

    #[test]
    fn sorts_as_the_naive_way_does() {
        let Some(gpu) = gpu() else { return };
        let mut cases = 0;
        for (name, lengths) in shapes() {
            let len = lengths.iter().map(|&n| n as usize).sum();
            for below in [1, 2, 50, u64::MAX] {
                let keys: Vec<u32> = random(len, below, 9)
                    .into_iter()
                    .map(|k| k as u32 & 0x7FFF_FFFF)
                    .collect();
                check(&gpu, name, &lengths, &keys);
                cases += 1;
            }
            let falling: Vec<u32> = (0..len as u32).rev().collect();
            check(&gpu, name, &lengths, &falling);
            cases += 1;
        }
        say(format_args!("{cases} cases"));
    }
}
