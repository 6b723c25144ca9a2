//! Merges sorted runs of keys, each with its suffix, two by two: the host side of
//! `kernels/distributed/run_merge.cu`. Keys from several GPUs come as one run from each. Merging
//! two runs takes an eighth of the time of a radix sort of 64 bits.

use crate::base::error::Result;
use crate::gpu::runtime::tuning::{TILE, TILE_THREADS};
use crate::gpu::runtime::{Array, DoubleBuffer, Gpu, arguments};

/// Items of workspace for merges of `items` items.
pub(super) fn splits_for(items: usize) -> usize {
    items.div_ceil(TILE as usize) + 1
}

/// Merges runs of the given lengths, which follow each other. The result is in `current`.
pub(super) fn merge_runs(
    gpu: &Gpu,
    keys: &mut DoubleBuffer<u64>,
    suffixes: &mut DoubleBuffer<u64>,
    mut runs: Vec<u32>,
    splits: Array<u32>,
) -> Result<()> {
    while runs.len() > 1 {
        let mut start = 0;
        for pair in runs.chunks(2) {
            let end = start + pair.iter().sum::<u32>();
            let keys = keys.part(start..end);
            let suffixes = suffixes.part(start..end);
            merge_two(gpu, keys, suffixes, pair[0], splits)?;
            start = end;
        }
        runs = runs
            .chunks(2)
            .map(|pair| pair.iter().sum())
            .collect();
        keys.swap();
        suffixes.swap();
    }
    Ok(())
}

/// Merges the first `a_len` items and the rest into the other arrays.
#[allow(unsafe_code)]
fn merge_two(
    gpu: &Gpu,
    keys: DoubleBuffer<u64>,
    suffixes: DoubleBuffer<u64>,
    a_len: u32,
    splits: Array<u32>,
) -> Result<()> {
    let items = keys.current.len();
    let lens = [
        keys.alternate.len(),
        suffixes.current.len(),
        suffixes.alternate.len(),
    ];
    assert!(lens == [items; 3] && a_len <= items);
    assert!(splits.len() as usize >= splits_for(items as usize));
    let tiles = items.div_ceil(TILE);
    let k = keys.current;
    let s = suffixes.current;
    let arguments = arguments![k, a_len, items, tiles, splits];
    // SAFETY: there are `items` keys, and an item of `splits` for each tile and one more.
    unsafe { gpu.each("run_merge/split_runs", tiles + 1, arguments)? };
    let [to_keys, to_suffixes] = [keys.alternate, suffixes.alternate];
    let arguments = arguments![k, s, a_len, items, splits, to_keys, to_suffixes];
    // SAFETY: all four arrays have `items` items.
    unsafe { gpu.launch("run_merge/merge_runs", tiles, TILE_THREADS, arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, random, upload};

    #[test]
    fn runs_are_merged() {
        let Some(gpu) = gpu() else { return };
        for runs in [
            vec![5],
            vec![0, 7],
            vec![3000, 1],
            vec![2048, 0, 5000],
            vec![9, 70_000, 4096, 1, 0],
        ] {
            for below in [1, 3, u64::MAX] {
                let len = runs.iter().sum::<u32>() as usize;
                let mut items = random(len, below, 5);
                let mut start = 0;
                for &run in &runs {
                    items[start..start + run as usize].sort_unstable();
                    start += run as usize;
                }
                let mut memory = memory(&gpu, 40 * len + (1 << 16));
                let arena = &mut memory.allocator();
                let mut buffer = |items: &[u64]| DoubleBuffer {
                    current: upload(&gpu, arena, items),
                    alternate: arena.array(len),
                };
                let mut keys = buffer(&items);
                let mut values = buffer(&items);
                let splits = arena.array(splits_for(len));
                merge_runs(&gpu, &mut keys, &mut values, runs.clone(), splits).unwrap();
                items.sort_unstable();
                assert!(
                    gpu.read(keys.current).unwrap() == items,
                    "{runs:?} below {below}"
                );
                assert!(
                    gpu.read(values.current).unwrap() == items,
                    "{runs:?} below {below}"
                );
            }
        }
    }
}
