//! Coded block -> raw block: slices, inverse, filters undone, everything checked. FORMAT.md
//! chapter 4.
//!
//! | file | job |
//! |---|---|
//! | `decoded` | coded block -> its transform |
//! | `slice_gpus` | leased GPUs that decode slices for a search |
//! | `block_inverter` | who inverts a transform: one leased GPU, or the CPU |
//! | `inverting_gpu` | one GPU that inverts, and decodes |
//! | `gpu_input` | coded block -> the input of a GPU that decodes and inverts it |
//! | `restore` | transform -> text -> raw block, checked |
//! | `block_decoder` | the decoder that all blocks of a stream share |
//! | `gpu_decoder` | decodes blocks to the memory of a GPU |
//!
//! [`BlockDecoder::decode`] takes the blocks of a stream through all steps. A block that is
//! inverted needs more memory than one whose slices are decoded, so each of the two steps has its
//! own number of blocks at a time (`turns`). A block that comes alone is done on the CPU by
//! [`restore()`]; a search does only [`decode_slices`], and [`finish`] if it needs the raw bytes.
//!
//! The memory moves along: the text takes the memory of the transform.

mod block_decoder;
mod block_inverter;
mod decoded;
mod gpu_decoder;
mod gpu_input;
mod inverting_gpu;
mod restore;
mod slice_gpus;

use super::pipeline::Pipeline;
use super::raw::Spare;
use crate::base::error::Result;
use crate::base::threads::Threads;
use crate::options::Options;
pub(crate) use block_decoder::BlockDecoder;
pub(crate) use decoded::{Decoded, decode_slices, decode_slices_on_gpus};
pub use gpu_decoder::GpuDecoder;
pub(crate) use gpu_decoder::PlacedBlock;
use rayon::ThreadPool;
pub(crate) use restore::{finish, restore};
pub(crate) use slice_gpus::SliceGpus;
#[cfg(test)]
pub(crate) use slice_gpus::{DecodingGpu, decode_as_gpu};
use std::sync::Arc;

/// Starts a pipeline that decodes blocks of up to `block_size` bytes. Blocks that have been written
/// may leave their memory in `spare` for the next.
///
/// # Errors
/// `Error::Limit` if the memory is too small for one block, `Error::Io` if no thread can be
/// started, `Error::Device` if this build does not know the device.
pub(crate) fn start(
    block_size: u64,
    pool: &Arc<ThreadPool>,
    spare: &Spare,
    options: &Options,
) -> Result<Pipeline<BlockDecoder>> {
    let pool = Threads::Pool(Arc::clone(pool));
    let decoder = BlockDecoder::new(block_size, pool, spare.clone(), options)?;
    let plan = decoder.plan();
    Ok(Pipeline::start(
        plan.depth,
        plan.workers + plan.coders,
        decoder,
    )?)
}
