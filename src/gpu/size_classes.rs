//! Segmented sort by sizes, as GPU-LS has it: the host side of `kernels/size_classes.cu`.
//!
//! | items | sorted by |
//! |---|---|
//! | 2, to 4, 8, 16, 32 | a part of a warp, in registers |
//! | to 256, to 2048 | a CTA |
//! | to 1 Mi | merging tiles ([`SegmentedSort`]) |
//! | more | a radix sort over the device, one segment after the other: at most one for each 1 Mi of items |

use super::buffers::{Array, Carver, Double};
use super::cub::Cub;
use super::device::Gpu;
use super::segmented_sort::{Lengths, SegmentedSort, Segments};
use super::tuning::{
    LARGE, MEDIUM_HIGH, MEDIUM_LOW_THREADS, SIZE_CLASSES, SMALL_CLASSES, THREADS, TILE_THREADS,
};
use crate::error::Result;

/// Kernels of the small classes, from 2 items on, each class of twice as many.
const SMALL: [&str; SMALL_CLASSES as usize] = [
    "size_classes/sort_small_2",
    "size_classes/sort_small_4",
    "size_classes/sort_small_8",
    "size_classes/sort_small_16",
    "size_classes/sort_small_32",
];

/// Kernels of the medium classes with the threads of a CTA.
const MEDIUM: [(&str, u32); 2] = [
    ("size_classes/sort_medium_low", MEDIUM_LOW_THREADS),
    ("size_classes/sort_medium_high", TILE_THREADS),
];

/// Workspace for lists of so many items.
#[derive(Clone, Copy, Debug)]
pub struct SizeClasses<'m> {
    cub: Cub<'m>,
    merging: SegmentedSort<'m>,
    counts: Array<'m, u32>,
    /// The segments, listed class after class.
    lists: Array<'m, u32>,
}

impl<'m> SizeClasses<'m> {
    /// Carves the workspace for segments of two items or more; segments of one may be as many as half the items.
    pub fn carve(carver: &mut Carver<'m>, cub: Cub<'m>, items: u32) -> Self {
        SizeClasses {
            cub,
            merging: SegmentedSort::carve(carver, items),
            counts: carver.take(2 * SIZE_CLASSES as usize),
            lists: carver.take(items as usize / 2 + 1),
        }
    }

    /// Sorts the values of each segment by their keys, which have `bits` bits. What is sorted is in the first arrays
    /// before and after. The order of equal keys depends on the size of their segment.
    #[allow(unsafe_code)]
    pub fn sort(
        &self,
        gpu: &Gpu,
        keys: Double<u32>,
        values: Double<u32>,
        segments: Segments,
        bits: u32,
    ) -> Result<()> {
        let lens = [keys.second.len(), values.first.len(), values.second.len()];
        assert_eq!(lens, [keys.first.len(); 3]);
        assert!(segments.starts.len() > segments.count && self.lists.len() >= segments.count);
        let ends = self.classify(gpu, segments)?;
        let list = |class: usize| self.lists.part(ends[class]..ends[class + 1]);
        let (starts, k, v) = (segments.starts.into(), keys.first.into(), values.first.into());
        for (class, kernel) in SMALL.into_iter().enumerate() {
            let (list, ctas) = (list(class), (list(class).len() << (class + 1)).div_ceil(THREADS));
            // SAFETY: the list names segments, whose items keys and values have.
            unsafe {
                gpu.launch(kernel, ctas, THREADS, &[starts, list.into(), list.len().into(), k, v])?;
            }
        }
        for (class, (kernel, threads)) in (SMALL.len()..).zip(MEDIUM) {
            // SAFETY: as above.
            unsafe {
                let list = list(class);
                gpu.launch(kernel, list.len(), threads, &[starts, list.into(), k, v])?;
            }
        }
        let class = SMALL.len() + MEDIUM.len();
        if list(class).len() > 0 {
            let lengths = Lengths { shortest: MEDIUM_HIGH + 1, longest: LARGE };
            self.merging.sort(gpu, keys, values, segments, lengths)?;
        }
        self.sort_huge(gpu, keys, values, segments, list(class + 1), bits)
    }

    /// Lists the segments class by class; gives where the list of each ends, with a 0 before them.
    #[allow(unsafe_code)]
    fn classify(&self, gpu: &Gpu, segments: Segments) -> Result<Vec<u32>> {
        let (counts, cursors) =
            (self.counts.first(SIZE_CLASSES), self.counts.part(SIZE_CLASSES..2 * SIZE_CLASSES));
        let (starts, count) = (segments.starts.into(), segments.count.into());
        gpu.zero(counts)?;
        // SAFETY: `starts` has count + 1 items and `counts` one for each class.
        unsafe {
            gpu.each(
                "size_classes/count_classes",
                segments.count,
                &[starts, count, counts.into()],
            )?;
        }
        let mut ends = vec![0];
        for size in gpu.read(counts)? {
            ends.push(ends[ends.len() - 1] + size);
        }
        gpu.write(&ends[..SIZE_CLASSES as usize], cursors)?;
        let arguments = [starts, count, cursors.into(), self.lists.into()];
        // SAFETY: as above, and `lists` has an item for each segment.
        unsafe { gpu.each("size_classes/list_classes", segments.count, &arguments)? };
        Ok(ends)
    }

    fn sort_huge(
        &self,
        gpu: &Gpu,
        keys: Double<u32>,
        values: Double<u32>,
        segments: Segments,
        list: Array<u32>,
        bits: u32,
    ) -> Result<()> {
        if list.len() == 0 {
            return Ok(());
        }
        for segment in gpu.read(list)? {
            let ends = gpu.read(segments.starts.part(segment..segment + 2))?;
            let (mut k, mut v) = (keys.part(ends[0]..ends[1]), values.part(ends[0]..ends[1]));
            let home = (k.first, v.first);
            self.cub.sort_pairs(gpu, &mut k, &mut v, 0..bits)?;
            if k.first.address() != home.0.address() {
                gpu.copy(k.first, home.0)?;
                gpu.copy(v.first, home.1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gpu, memory, random, say, shapes, starts, upload};
    use super::*;

    fn check(gpu: &Gpu, name: &str, lengths: &[u32], keys: &[u32]) {
        let starts = starts(lengths);
        let values: Vec<u32> = (0..keys.len() as u32).collect();
        let mut memory = memory(gpu, 80 * keys.len() + (64 << 20));
        let carver = &mut memory.carve();
        let m = keys.len() as u32;
        let k = Double { first: upload(gpu, carver, keys), second: carver.take(keys.len()) };
        let v = Double { first: upload(gpu, carver, &values), second: carver.take(keys.len()) };
        let segments =
            Segments { starts: upload(gpu, carver, &starts), count: lengths.len() as u32 };
        let cub = Cub::carve(gpu, carver, m).unwrap();
        let sort = SizeClasses::carve(carver, cub, 2 * m + 2);
        sort.sort(gpu, k, v, segments, 32).unwrap();
        let (got_keys, got_values) = (gpu.read(k.first).unwrap(), gpu.read(v.first).unwrap());
        for ends in starts.windows(2) {
            let range = ends[0] as usize..ends[1] as usize;
            let mut expected = keys[range.clone()].to_vec();
            expected.sort_unstable();
            assert!(got_keys[range.clone()] == expected, "{name}: keys of {range:?}");
            let mut seen = got_values[range.clone()].to_vec();
            seen.sort_unstable();
            assert!(seen.iter().eq(&values[range]), "{name}: values stay in their segment");
        }
        let belong = got_values.iter().zip(&got_keys).all(|(&v, &k)| keys[v as usize] == k);
        assert!(belong, "{name}: values go with their keys");
    }

    #[test]
    fn sorts_as_the_naive_way_does() {
        let Some(gpu) = gpu() else { return };
        let mut cases = 0;
        for (name, lengths) in shapes() {
            let len = lengths.iter().map(|&n| n as usize).sum();
            for below in [1, 2, 50, u64::MAX] {
                let keys: Vec<u32> =
                    random(len, below, 9).into_iter().map(|k| k as u32 & 0x7FFF_FFFF).collect();
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
