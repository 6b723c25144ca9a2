//! The first keys of all suffixes, in the alphabetic code: the host side of
//! `kernels/sort/code_keys.cu`.

use super::unsorted_groups::SortState;
use crate::base::error::Result;
use crate::gpu::block::is_padded;
use crate::gpu::runtime::tuning::{KEY_TILE, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Makes the first keys: item p is the suffix at p, and its key is the first 56 bits of its code
/// followed by the byte before the suffix.
#[allow(unsafe_code)]
pub(super) fn code_keys(
    gpu: &Gpu,
    state: &SortState,
    keys: Array<u64>,
    suffixes: Array<u32>,
) -> Result<()> {
    let n = state.n;
    let text = state.block.text;
    assert!(keys.len() >= n && suffixes.len() >= n && is_padded(text, n));
    let arguments = arguments![text, n, state.code_table, keys, suffixes];
    // SAFETY: `keys` and `suffixes` have n items, and `text` its padding.
    unsafe {
        gpu.launch(
            "code_keys/code_keys",
            n.div_ceil(KEY_TILE),
            THREADS,
            arguments,
        )
    }
}
