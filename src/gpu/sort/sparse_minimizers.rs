//! The sparse level of minimizers: the host side of `kernels/sort/sparse_minimizers.cu`.

use super::unsorted_groups::{SortState, UnsortedGroups};
use crate::base::error::Result;
use crate::gpu::block::is_padded;
use crate::gpu::runtime::tuning::{KEY_TILE, MOST_SPARSE_WINDOW, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Number of CTAs per multiprocessor that survey a list.
const SURVEYING: u32 = 2;

/// Marks the sparse minimizers: dense ones whose hash is the smallest among those at the next
/// `window` positions.
#[allow(unsafe_code)]
pub(super) fn mark_sparse(gpu: &Gpu, state: &SortState, window: u32) -> Result<()> {
    let n = state.n;
    let dense = state.dense.bitmap;
    let sparse = state.sparse.bitmap;
    let words = sparse.len();
    assert!(window <= MOST_SPARSE_WINDOW && words > n / 32 && dense.len() >= words);
    assert!(is_padded(state.block.text, n));
    let arguments = arguments![state.block.text, n, dense, window, sparse, words];
    let ctas = words.div_ceil(KEY_TILE / 32);
    // SAFETY: the text has n items and its padding, and the bitmaps have `words` words.
    unsafe { gpu.launch("sparse_minimizers/mark_sparse", ctas, THREADS, arguments) }
}

/// Copies the ranks that sparse minimizers have as dense ones.
#[allow(unsafe_code)]
pub(super) fn copy_ranks(gpu: &Gpu, state: &SortState) -> Result<()> {
    let n = state.n;
    let bitmap = state.sparse.bitmap;
    let [from, to] = [state.dense.ranks, state.sparse.ranks];
    assert!(from.len() >= n && to.len() >= n);
    let arguments = arguments![bitmap, bitmap.len(), from, to];
    // SAFETY: there is a rank for each position.
    unsafe { gpu.each("sparse_minimizers/copy_ranks", bitmap.len(), arguments) }
}

/// The number of items in groups of depth below `deep`, and the smallest depth of all groups.
#[allow(unsafe_code)]
pub(super) fn survey(
    gpu: &Gpu,
    list: UnsortedGroups,
    m: u32,
    deep: u32,
    result: Array<u32>,
) -> Result<(u32, u32)> {
    assert!(list.groups.len() >= m && m > 0);
    let result = result.first(2);
    gpu.zero(result)?;
    let ctas = (SURVEYING * gpu.processors()).min(m.div_ceil(THREADS));
    let arguments = arguments![list.groups, list.group_heads, m, deep, result];
    // SAFETY: the list has m items, and the result has two.
    unsafe { gpu.launch("sparse_minimizers/survey", ctas, THREADS, arguments)? };
    let found = gpu.read(result)?;
    Ok((found[0], !found[1]))
}
