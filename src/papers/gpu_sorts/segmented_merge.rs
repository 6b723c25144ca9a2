//! Segmented sort by merging: the host side of `kernels/papers/segmented_merge.cu`, which
//! explains it.

use crate::base::error::Result;
use crate::gpu::runtime::tuning::{TILE, TILE_THREADS};
use crate::gpu::runtime::{ArenaAllocator, Array, DoubleBuffer, Gpu, arguments};

/// Segments that lie one behind the other in a list: `starts[s]` is the first item of segment s,
/// and the item after the last start is the number of all items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments<'m> {
    pub starts: Array<'m, u32>,
    pub count: u32,
}

/// Range of the lengths of segments to sort.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentLengths {
    pub shortest: u32,
    pub longest: u32,
}

/// Workspace for lists of up to a given number of items.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentedMerge<'m> {
    /// First segment of each tile.
    current: Array<'m, u32>,
    /// Both ends of the segment that spans the lower border of each tile.
    spans: Array<'m, u64>,
    splits: Array<'m, u32>,
    levels: Array<'m, u32>,
}

impl<'m> SegmentedMerge<'m> {
    pub(super) fn allocate(arena: &mut ArenaAllocator<'m>, items: u32) -> Self {
        let tiles = items.div_ceil(TILE) as usize + 1;
        SegmentedMerge {
            current: arena.array(tiles),
            spans: arena.array(tiles),
            splits: arena.array(tiles),
            levels: arena.array(1),
        }
    }

    /// Sorts the values of each segment by their keys, stably. Items of segments of other lengths
    /// stay in their segment but may change their order. The data is in the first arrays before and
    /// after.
    #[allow(unsafe_code)]
    pub(super) fn sort(
        &self,
        gpu: &Gpu,
        keys: DoubleBuffer<u32>,
        values: DoubleBuffer<u32>,
        segments: Segments,
        lengths: SegmentLengths,
    ) -> Result<()> {
        let m = keys.current.len();
        assert_eq!(
            [
                keys.alternate.len(),
                values.current.len(),
                values.alternate.len()
            ],
            [m; 3]
        );
        assert!(segments.starts.len() > segments.count);
        if m == 0 || segments.count == 0 {
            return Ok(());
        }
        let tiles = m.div_ceil(TILE);
        let SegmentLengths { shortest, longest } = lengths;
        let Segments { starts, count } = segments;
        let first = self.current;
        gpu.zero(self.levels)?;
        // SAFETY: `starts` has count + 1 items, and the arrays of `self` have one for each tile and
        // one more.
        unsafe {
            let arguments = arguments![
                starts,
                count,
                m,
                shortest,
                longest,
                first,
                self.spans,
                self.levels
            ];
            gpu.each("segmented_merge/segment_spans", tiles + 1, arguments)?;
        }
        // SAFETY: keys and values have m items.
        unsafe {
            let k = keys.current;
            let v = values.current;
            let arguments = arguments![starts, count, first, m, shortest, longest, k, v];
            gpu.launch("segmented_merge/sort_tiles", tiles, TILE_THREADS, arguments)?;
        }
        let levels = gpu.read(self.levels)?[0];
        self.merge(gpu, levels, keys, values)
    }

    /// Merges runs of tiles in `levels` passes, and moves everything to the first arrays.
    #[allow(unsafe_code)]
    fn merge(
        &self,
        gpu: &Gpu,
        levels: u32,
        keys: DoubleBuffer<u32>,
        values: DoubleBuffer<u32>,
    ) -> Result<()> {
        let m = keys.current.len();
        let tiles = keys.current.len().div_ceil(TILE);
        let mut from = keys;
        let mut payload = values;
        let SegmentedMerge { spans, splits, .. } = *self;
        for pass in 0..levels {
            // SAFETY: `spans` and `splits` have an item for each tile and one more; keys and values
            // have m items.
            unsafe {
                let arguments = arguments![spans, tiles, pass, from.current, splits];
                gpu.each("segmented_merge/partition_segments", tiles, arguments)?;
                let [k, l, v, w] = [
                    from.current,
                    from.alternate,
                    payload.current,
                    payload.alternate,
                ];
                let arguments = arguments![spans, splits, m, pass, k, v, l, w];
                gpu.launch(
                    "segmented_merge/merge_segments",
                    tiles,
                    TILE_THREADS,
                    arguments,
                )?;
            }
            from.swap();
            payload.swap();
        }
        if levels == 0 {
            return Ok(());
        }
        let [k, l, v, w] = [
            keys.current,
            keys.alternate,
            values.current,
            values.alternate,
        ];
        // SAFETY: as above.
        unsafe {
            let arguments = arguments![spans, m, k, v, l, w];
            gpu.launch(
                "segmented_merge/copy_back_segments",
                tiles,
                TILE_THREADS,
                arguments,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, random, say, shapes, starts, upload};

    const ALL: SegmentLengths = SegmentLengths {
        shortest: 0,
        longest: u32::MAX,
    };

    fn check(gpu: &Gpu, name: &str, lengths: &[u32], keys: &[u32]) {
        let starts = starts(lengths);
        let values: Vec<u32> = (0..keys.len() as u32).collect();
        let mut expected = values.clone();
        for ends in starts.windows(2) {
            // The sort is stable: values ascend among equal keys.
            expected[ends[0] as usize..ends[1] as usize].sort_by_key(|&v| keys[v as usize]);
        }
        let mut memory = memory(gpu, 60 * keys.len() + (1 << 20));
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
        let sort = SegmentedMerge::allocate(arena, m);
        sort.sort(gpu, k, v, segments, ALL).unwrap();
        let sorted: Vec<u32> = expected
            .iter()
            .map(|&v| keys[v as usize])
            .collect();
        assert!(gpu.read(k.current).unwrap() == sorted, "{name}: keys");
        assert!(gpu.read(v.current).unwrap() == expected, "{name}: values");
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
                    .map(|k| k as u32)
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

    #[test]
    fn nothing_is_sorted_at_once() {
        let Some(gpu) = gpu() else { return };
        let mut memory = memory(&gpu, 1 << 16);
        let arena = &mut memory.allocator();
        let starts = upload(&gpu, arena, &[0u32]);
        let none = DoubleBuffer {
            current: arena.array::<u32>(0),
            alternate: arena.array(0),
        };
        let sort = SegmentedMerge::allocate(arena, 0);
        let segments = Segments { starts, count: 0 };
        sort.sort(&gpu, none, none, segments, ALL)
            .unwrap();
    }
}
