//! Finds the runs of a BWT and divides it into slices: the host side of
//! `kernels/coder/run_slices.cu`.

use super::encode_arrays::Encoding;
use crate::base::error::Result;
use crate::gpu::runtime::Gpu;
use crate::gpu::runtime::tuning::THREADS;

/// Finds the runs of the BWT, and the starts of its slices.
pub(crate) fn find_slices(gpu: &Gpu, encoding: &Encoding) -> Result<()> {
    let tiles = encoding.shape.tiles();
    encoding.launch(gpu, "run_slices/count_run_heads", tiles, THREADS)?;
    encoding
        .arrays
        .cub
        .exclusive_sum(gpu, encoding.arrays.tile_runs)?;
    encoding.launch(gpu, "run_slices/write_run_heads", tiles, THREADS)?;
    encoding.launch(gpu, "run_slices/cut_slices", 1, 32)
}
