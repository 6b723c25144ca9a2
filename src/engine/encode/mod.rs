//! Raw block -> coded block: filters, sort, slices, payload. FORMAT.md chapter 4.
//!
//! | file | job |
//! |---|---|
//! | `filtered_block` | a block after its filters |
//! | `block_groups` | which earlier blocks a block takes choices over from |
//! | `block_sorter` | who sorts a text: several GPUs together, one leased GPU, or the CPU |
//! | `gpu_proof` | restores what a GPU made, and compares it with the text |
//! | `sorting_gpu` | one GPU that sorts, codes, and proves what it made |
//! | `joint_gpus` | several GPUs that sort a block together |
//! | `code` | text and transform -> coded block |
//! | `block_encoder` | the encoder that all blocks of a stream share |
//!
//! [`BlockEncoder::encode`] takes a block through all steps. A block that is sorted needs more
//! memory than one that is coded, so each of the two steps has its own number of blocks at a time
//! (`turns`). A block of one repeated byte is coded once; others like it differ only in their
//! position.

mod block_encoder;
mod block_groups;
mod block_sorter;
mod code;
mod filtered_block;
mod gpu_proof;
mod joint_gpus;
mod sorting_gpu;

use super::memory::Plan;
use super::pipeline::Pipeline;
use super::raw::Spare;
use super::thread_pool;
use crate::base::error::Result;
use crate::base::threads::Threads;
use crate::options::Options;
pub(crate) use block_encoder::BlockEncoder;
pub(crate) use code::code;
pub(crate) use filtered_block::{BlockForm, BlockPlace, FilteredBlock};

/// Starts a pipeline that encodes blocks no larger than the first. Also returns its plan.
///
/// # Errors
/// `Error::Limit` if the memory is too small for one block, `Error::Io` if no thread can be
/// started, `Error::Device` if this build does not know the device.
pub(crate) fn start(
    first: u64,
    options: &Options,
    spare: Spare,
) -> Result<(Plan, Pipeline<BlockEncoder>)> {
    let pool = Threads::Pool(thread_pool::pool(options)?.into());
    let (plan, encoder) = BlockEncoder::planned(first, pool, spare, options)?;
    Ok((
        plan,
        Pipeline::start(plan.depth, plan.workers + plan.coders, encoder)?,
    ))
}
