//! First keys of the suffixes of a part of a text: the host side of
//! `kernels/distributed/part_keys.cu`.

use crate::base::error::Result;
use crate::gpu::block::is_padded;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// A part of a text in device memory.
#[derive(Clone, Copy, Debug)]
pub struct PartBytes<'m> {
    /// Bytes of the part, up to [`KEY_BYTES`](crate::gpu::text_parts::KEY_BYTES) more, and padding.
    pub bytes: Array<'m, u8>,
    /// Number of these bytes that belong to the text.
    pub available: u32,
    /// The byte before them.
    pub before: u8,
    /// Position of the first one.
    pub first: u64,
}

/// Makes the keys of a part: item i is the suffix at `part.first` + i, and its key is the first 64
/// bits of its code.
#[allow(unsafe_code)]
pub(super) fn part_keys(
    gpu: &Gpu,
    part: PartBytes,
    code_table: Array<u32>,
    keys: Array<u64>,
    suffixes: Array<u64>,
) -> Result<()> {
    let n = keys.len();
    assert!(n <= part.available && is_padded(part.bytes, part.available));
    assert!(suffixes.len() == n && code_table.len() == 256);
    let PartBytes {
        bytes,
        available,
        first,
        before,
    } = part;
    let before = u32::from(before);
    let arguments = arguments![
        bytes, n, available, first, before, code_table, keys, suffixes
    ];
    // SAFETY: `keys` and `suffixes` have n items, and the bytes their padding.
    unsafe { gpu.each("part_keys/part_keys", n, arguments) }
}
