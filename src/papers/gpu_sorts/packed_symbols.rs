//! The first keys of suffixes: the host side of `kernels/papers/packed_symbols.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Writes the suffix at n - 1 - t to item t, and its first bytes as a key. `text` has n bytes and
/// its padding, which is zero.
#[allow(unsafe_code)]
pub(super) fn pack_symbols(
    gpu: &Gpu,
    text: Array<u8>,
    keys: Array<u64>,
    pos: Array<u32>,
) -> Result<()> {
    let n = pos.len();
    assert!(keys.len() == n && text.len() >= n + TEXT_PADDING);
    // SAFETY: `keys` and `pos` have n items, and `text` can be read 16 bytes past n.
    unsafe {
        gpu.each(
            "packed_symbols/pack_symbols",
            n,
            arguments![text, n, keys, pos],
        )
    }
}
