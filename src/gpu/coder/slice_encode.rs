//! Encodes slices into bytes, one behind the other: the host side of
//! `kernels/coder/slice_encode.cu`.

use super::encode_arrays::Encoding;
use crate::base::error::Result;
use crate::gpu::runtime::Gpu;
use crate::gpu::runtime::tuning::{ENCODE_SLICES, THREADS};

/// Encodes all slices. Their symbols must be counted, and the tables must be in their array.
pub(crate) fn encode_slices(gpu: &Gpu, encoding: &Encoding) -> Result<()> {
    let shape = encoding.shape;
    gpu.zero(encoding.arrays.coded_starts)?;
    let ctas = shape.most_slices().div_ceil(ENCODE_SLICES);
    encoding.launch(gpu, "slice_encode/encode_slices", ctas, 2 * ENCODE_SLICES)?;
    encoding
        .arrays
        .cub
        .exclusive_sum(gpu, encoding.arrays.coded_starts)?;
    encoding.launch(
        gpu,
        "slice_encode/gather_slices",
        shape.most_slices(),
        THREADS,
    )
}
