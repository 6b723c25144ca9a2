//! Makes the BWT and the samples from the suffix array: the host side of
//! `kernels/papers/sa_to_bwt.cu`.

use crate::base::error::Result;
use crate::gpu::block::DeviceBlock;
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Writes the BWT and the samples of a block whose suffix array is there.
pub(super) fn write_bwt(gpu: &Gpu, block: DeviceBlock) -> Result<()> {
    sample_rows(gpu, block.sa, block.log_rate, block.samples)?;
    last_column(gpu, block.text, block.sa, block.rows)
}

/// Writes the rows of the sampled suffixes, which are those at multiples of 2^`log_rate`. Rows
/// count from 1.
#[allow(unsafe_code)]
fn sample_rows(gpu: &Gpu, sa: Array<u32>, log_rate: u32, samples: Array<u32>) -> Result<()> {
    let n = sa.len();
    assert!(samples.len() > (n - 1) >> log_rate);
    let arguments = arguments![sa, n, log_rate, samples, gpu.host_flags()];
    // SAFETY: `sa` has n items, all below n, and `samples` has one for each sampled position.
    unsafe { gpu.each("sa_to_bwt/sample_rows", n, arguments) }
}

/// Writes the last column, except its first row and that of the whole text.
#[allow(unsafe_code)]
fn last_column(gpu: &Gpu, text: Array<u8>, sa: Array<u32>, rows: Array<u8>) -> Result<()> {
    let n = sa.len();
    assert!(text.len() >= n && rows.len() > n);
    // SAFETY: `text` and `sa` have n items, and `rows` has one more.
    unsafe { gpu.each("sa_to_bwt/last_column", n, arguments![text, sa, n, rows]) }
}
