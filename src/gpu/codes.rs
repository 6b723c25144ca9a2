//! The text as a stream of code bits: the host side of `kernels/codes.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::Ground;
use super::tuning::{KEY_TILE, TEXT_PADDING, THREADS};
use crate::error::Result;

/// Bytes that a CTA counts at least, and CTAs of a multiprocessor that count at most.
const COUNTED: u32 = 16384;
const COUNTING: u32 = 2;

/// Words of `counts`: one for each byte, and one more.
pub const COUNTS: usize = 257;

/// Counts the bytes of each value among the first n, and waits for the counts.
#[allow(unsafe_code)]
pub fn count_bytes(gpu: &Gpu, text: Array<u8>, n: u32, counts: Array<u32>) -> Result<[u32; 256]> {
    assert!(text.len() >= n && counts.len() as usize == COUNTS);
    gpu.zero(counts)?;
    gpu.arm();
    let ctas = n.div_ceil(COUNTED).min(COUNTING * gpu.processors());
    let arguments = [text.into(), n.into(), counts.into(), gpu.mailbox().into()];
    // SAFETY: `text` has n items, `counts` one for each byte and one more.
    unsafe { gpu.launch("codes/count_bytes", ctas, THREADS, &arguments)? };
    gpu.byte_counts()
}

/// Gives slot p the suffix at p; its key is the first 56 bits of its code and the byte before it.
#[allow(unsafe_code)]
pub fn code_keys(gpu: &Gpu, ground: &Ground, keys: Array<u64>, suffixes: Array<u32>) -> Result<()> {
    let (n, text) = (ground.len(), ground.block.text);
    assert!(keys.len() >= n && suffixes.len() >= n && text.len() >= n + TEXT_PADDING);
    let arguments = [text.into(), n.into(), ground.codes.into(), keys.into(), suffixes.into()];
    // SAFETY: `keys` and `suffixes` have n items, and `text` its padding.
    unsafe { gpu.launch("codes/code_keys", n.div_ceil(KEY_TILE), THREADS, &arguments) }
}
