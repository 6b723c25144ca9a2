//! The text as a stream of code bits: the host side of `kernels/codes.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::Ground;
use super::tuning::{KEY_TILE, TEXT_PADDING, THREADS};
use crate::error::Result;

/// Bytes that a CTA counts at least, and CTAs that count at most.
const COUNTED: (u32, u32) = (16384, 264);

/// Counts the bytes of each value among the first n.
#[allow(unsafe_code)]
pub fn count_bytes(gpu: &Gpu, text: Array<u8>, n: u32, counts: Array<u32>) -> Result<()> {
    assert!(text.len() >= n && counts.len() == 256);
    gpu.zero(counts)?;
    let ctas = n.div_ceil(COUNTED.0).min(COUNTED.1);
    let arguments = [text.into(), n.into(), counts.into()];
    // SAFETY: `text` has n items, `counts` one for each byte.
    unsafe { gpu.launch("count_bytes", ctas, THREADS, &arguments) }
}

/// Gives slot p the suffix at p; its key is the first 56 bits of its code and the byte before it.
#[allow(unsafe_code)]
pub fn code_keys(gpu: &Gpu, ground: &Ground, keys: Array<u64>, suffixes: Array<u32>) -> Result<()> {
    let (n, text) = (ground.len(), ground.block.text);
    assert!(keys.len() >= n && suffixes.len() >= n && text.len() >= n + TEXT_PADDING);
    let arguments = [text.into(), n.into(), ground.code.into(), keys.into(), suffixes.into()];
    // SAFETY: `keys` and `suffixes` have n items, and `text` its padding.
    unsafe { gpu.launch("code_keys", n.div_ceil(KEY_TILE), THREADS, &arguments) }
}
