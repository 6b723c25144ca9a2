//! Merging two sorted lists: the host side of `kernels/primitives/merge_path.cu`.
//!
//! `papers` merges suffixes in the same way, with comparisons of its own.

#![allow(dead_code, reason = "integers are merged in tests alone so far")]

use crate::error::Result;
use crate::gpu::runtime::tuning::{TILE, TILE_THREADS};
use crate::gpu::runtime::{Array, Gpu};

/// Keys in order, each with a value.
#[derive(Clone, Copy, Debug)]
pub struct KeyedList<'m> {
    pub keys: Array<'m, u32>,
    pub values: Array<'m, u32>,
}

/// Items of workspace for a merge that gives so many items.
pub fn splits_for(items: u32) -> usize {
    items.div_ceil(TILE) as usize + 1
}

/// Merges `a` and `b` into `out`, items of `a` first among equals.
#[allow(unsafe_code)]
pub fn merge(
    gpu: &Gpu,
    a: KeyedList,
    b: KeyedList,
    out: KeyedList,
    splits: Array<u32>,
) -> Result<()> {
    let (a_len, b_len) = (a.keys.len(), b.keys.len());
    assert_eq!([a.values.len(), b.values.len()], [a_len, b_len]);
    assert_eq!([out.keys.len(), out.values.len()], [a_len + b_len; 2]);
    assert!(splits.len() as usize >= splits_for(a_len + b_len));
    let tiles = (a_len + b_len).div_ceil(TILE);
    // SAFETY: the arrays have the lengths that go with them, and `splits` one item for each tile
    // and one more.
    unsafe {
        let (a, b) = (a.keys.into(), b.keys.into());
        let arguments = [a, a_len.into(), b, b_len.into(), tiles.into(), splits.into()];
        gpu.each("merge_path/merge_partition", tiles + 1, &arguments)?;
    }
    // SAFETY: as above.
    unsafe {
        let arguments = [
            a.keys.into(),
            a.values.into(),
            a_len.into(),
            b.keys.into(),
            b.values.into(),
            b_len.into(),
            splits.into(),
            out.keys.into(),
            out.values.into(),
        ];
        gpu.launch("merge_path/merge_pairs", tiles, TILE_THREADS, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{gpu, memory, random, say, upload};

    fn check(gpu: &Gpu, a: &[u32], b: &[u32]) {
        let len = a.len() + b.len();
        let a_values: Vec<u32> = (0..a.len() as u32).collect();
        let b_values: Vec<u32> = (a.len() as u32..len as u32).collect();
        let mut memory = memory(gpu, 20 * len + (1 << 16));
        let arena = &mut memory.allocator();
        let left = KeyedList { keys: upload(gpu, arena, a), values: upload(gpu, arena, &a_values) };
        let right =
            KeyedList { keys: upload(gpu, arena, b), values: upload(gpu, arena, &b_values) };
        let out = KeyedList { keys: arena.array(len), values: arena.array(len) };
        let splits = arena.array(splits_for(len as u32));
        merge(gpu, left, right, out, splits).unwrap();
        let all = [a, b].concat();
        let mut expected: Vec<u32> = (0..len as u32).collect();
        expected.sort_by_key(|&v| all[v as usize]);
        assert!(gpu.read(out.values).unwrap() == expected, "{} and {} items", a.len(), b.len());
        let keys = gpu.read(out.keys).unwrap();
        assert!(keys.iter().eq(expected.iter().map(|&v| &all[v as usize])));
    }

    #[test]
    fn merges_as_the_naive_way_does() {
        let Some(gpu) = gpu() else { return };
        let list = |len: usize, below, seed| {
            let mut keys: Vec<u32> =
                random(len, below, seed).into_iter().map(|k| k as u32).collect();
            keys.sort_unstable();
            keys
        };
        let lens = [0, 1, 2, 7, 2047, 2048, 2049, 6000, 100_001];
        let mut cases = 0;
        for (a, b) in lens.iter().flat_map(|&a| lens.iter().map(move |&b| (a, b))) {
            for below in [1, 3, 1000, 1 << 32] {
                check(&gpu, &list(a, below, 1), &list(b, below, 2));
                cases += 1;
            }
            let low = |len: usize, from: u32| (from..from + len as u32).collect::<Vec<_>>();
            check(&gpu, &low(a, 0), &low(b, a as u32));
            check(&gpu, &low(a, b as u32), &low(b, 0));
            cases += 2;
        }
        say(format_args!("{cases} cases"));
    }
}
