//! Finds MTF ranks and contexts of the runs of all slices, and counts symbols: the host side of
//! `kernels/coder/slice_contexts.cu`.

use super::encode_arrays::Encoding;
use crate::base::error::Result;
use crate::gpu::runtime::Gpu;
use crate::gpu::runtime::tuning::CODER_WARPS;

/// Counts the symbols of all slices. The slices must be found already.
pub(crate) fn count_symbols(gpu: &Gpu, encoding: &Encoding) -> Result<()> {
    let ctas = encoding.shape.slice_ctas();
    let threads = 32 * CODER_WARPS;
    gpu.zero(encoding.arrays.counts)?;
    encoding.launch(gpu, "slice_contexts/find_mtf_ranks", ctas, threads)?;
    encoding.launch(gpu, "slice_contexts/count_contexts", ctas, threads)
}
