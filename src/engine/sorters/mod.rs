//! Sorting, restoring and decoding of blocks on the CPU's threads or on the GPUs of a [device
//! pool](crate::engine::device_pool).
//!
//! The pool estimates which of the two finishes a block first, and the block goes there. A GPU also
//! codes what it sorts and decodes what it inverts, so that the transform does not leave the GPU.
//! It does so if the coding is static rANS, the block has no index and at most 2^31 - 1 bytes, one
//! GPU sorts it alone, and that GPU has the memory. For a search a GPU decodes blocks of static
//! rANS that have an index: the index in memory is made of the transform on the host.
//!
//! | file | way |
//! |---|---|
//! | `sort_blocks` | block -> transform, coded if a GPU does that |
//! | `joint_gpus` | blocks that several GPUs sort together |
//! | `invert_blocks` | transform, coded or not -> block |
//! | `decode_slices` | coded slices -> transform, for a search |
//! | `coded_transform` | a transform that a GPU has coded, or is to decode |
//!
//! # Failure
//! A failure that is found changes no byte of the output. It is `Error::Device`, before a block or
//! in the middle of it. Each pool gives one warning, about the first thing that goes wrong in it. A
//! search has two pools, and gives one warning.
//!
//! - A GPU cannot be opened: the other GPUs do the work, or the CPU. There is a warning, except
//!   with `auto` if the driver names no GPU at all. If a further lease of a GPU finds no memory,
//!   there is one lease less. If its coder finds no memory, the CPU codes. Neither gives a warning.
//! - A GPU that works alone fails while it sorts, codes, decodes or inverts; or its rounds do not
//!   end; or its counts are impossible (more suffixes than there are, no primary row, slices that
//!   do not fit): the CPU does the block again. That lease, one of several of its GPU, is not given
//!   again. A warning.
//! - One of several GPUs that sort a block together fails: one GPU sorts the block, or the CPU, and
//!   the GPUs sort no further block together. A warning.
//! - The GPU's transform fails the quick check: its byte sums differ from the block's, or a sample
//!   is out of range. Or the transform of several GPUs is of another block, which the CPU finds by
//!   inverting it. Or `--verify` finds a block that does not restore. In each case the CPU sorts
//!   the block again and no GPU sorts any more of this stream, since the next error may pass the
//!   check. Blocks that are on GPUs at that moment are still taken if they pass. A warning. If
//!   `--verify` also refuses the block that the CPU made, the work ends.
//! - A GPU that restores or decodes a block finds it damaged: the CPU does it again. If the CPU
//!   finds damage too, its error is given; else nothing is said.
//! - A block that a GPU restored fails its checksum or the edges of its index (`block`): the CPU
//!   restores it again, and the lease stays. A warning, if the CPU finds the block sound.
//! - Slices that a GPU decoded for a search disagree with the block's index, which has the byte
//!   counts of each slice, or do not restore if the block is restored: the CPU decodes them again,
//!   and the lease stays. A warning, if the CPU finds the block sound. Slices with the right counts
//!   in a wrong order pass this check, unless the block is restored.
//! - A GPU fails in a search (`search`) or with LCP arrays (`lcp`): the CPU takes over. A warning.
//!   Rows and counts found by a search are checked to be possible, and the CPU searches again if
//!   they are not. LCP arrays are checked to miss no long value. Nothing else is checked.
//!
//! Three failures are not covered. A wrong transform of one GPU that passes the quick check is
//! written, and the block is lost, unless `--verify` is given. So are slices that a GPU codes
//! wrongly, of which only the sizes are checked. A GPU that hangs is waited for, and the end of the
//! work waits for a GPU that is being opened. A panic or want of the host's memory ends the work,
//! and no partial file stays (`cli`).
//!
//! # Memory
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU. It is
//! counted like a CPU worker, since the CPU may have to take over. The check of a block that
//! several GPUs sorted takes about 7 bytes per byte, one more than is counted below 2 GiB.

mod coded_transform;
mod decode_slices;
mod invert_blocks;
mod joint_gpus;
mod sort_blocks;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use coded_transform::GpuSort;
pub(crate) use coded_transform::{CodedTransform, Sorted};
pub(crate) use decode_slices::SliceGpus;
#[cfg(test)]
pub(crate) use decode_slices::{GpuDecode, decode_as_gpu};
#[cfg(test)]
pub(crate) use invert_blocks::GpuInvert;
pub(crate) use invert_blocks::{BlockInverter, InvertJob};
pub(crate) use sort_blocks::{BlockSorter, blocks_on_gpus};
