//! Who sorts which block, and who restores it, or decodes it for a search: the CPU's threads, or
//! the GPUs of a [device pool](crate::device_pool), which says where a block is done first.
//!
//! | file | way |
//! |---|---|
//! | `sort_blocks` | block -> transform, coded where a GPU does that |
//! | `joint_gpus` | blocks that several GPUs sort together |
//! | `invert_blocks` | transform, coded or not -> block |
//! | `decode_slices` | coded slices -> transform, for a search |
//! | `coded_transform` | what stands for a transform that a GPU has coded, or decodes |
//!
//! A GPU codes what it sorted, and decodes what it inverts, so that the transform does not leave
//! it: where the coding is static rANS, the block has no index and up to 2^31 - 1 bytes, and that
//! GPU alone sorts it and has the memory. For a search it decodes blocks that have an index, of
//! that coding too: the index is made of the transform on the host.
//!
//! # Failure
//! A failure that is found changes no byte of what is written. It is `Error::Device`, in the middle
//! of a block or before. Each pool gives one warning, of the first thing that goes wrong in it; a
//! search has two pools, and gives one.
//!
//! - A GPU cannot be opened: the other GPUs do the work, or the CPU, and a warning says so; but
//!   with `auto` nothing does where the driver names no GPU at all. Where a further lease of a GPU
//!   finds no memory there is one less, and where its coder finds none the CPU codes: nothing is
//!   said of either.
//! - A GPU that works without others fails while it sorts, codes, decodes or inverts, its rounds do
//!   not end, or what it counts cannot be (more suffixes than there are, no primary row, slices
//!   that do not fit): the CPU does the block again, and that lease, one of a GPU's
//!   several, is not given again. A warning.
//! - One of several that sort a block together fails: one GPU sorts it, or the CPU, and they sort
//!   no more together. A warning.
//! - What a GPU sorted has sums over its bytes that are not the block's, or samples out of range;
//!   what several sorted is another block, as the CPU finds that inverts it; or `--verify` finds a
//!   block that does not restore: the CPU sorts the block again, and no GPU sorts any more of this
//!   stream, since what is wrong next may pass. What is on GPUs just then is still taken where it
//!   passes. A warning. A block that `--verify` refuses again, made by the CPU, ends the work.
//! - A GPU finds a block damaged that it restores or decodes: the CPU does it again. Its error is
//!   given if it finds the same, else nothing is said.
//! - What a GPU restored fails the block's checksum or the edges of its index (`block`): the CPU
//!   restores it again, and the lease stays. A warning, if the CPU finds the block sound.
//! - What a GPU decoded for a search is not what the block's index says of it, which has the counts
//!   of bytes of each slice, or does not restore where it is restored: the CPU decodes it again,
//!   and the lease stays. A warning, if the CPU finds the block sound. What has the right counts in
//!   a wrong order is believed where the index is.
//! - A GPU fails in a search (`search`) or with LCP arrays (`lcp`): the CPU takes over. A warning.
//!   Of what a search found it is checked that rows and counts can be, and the CPU searches again
//!   where they cannot; of LCP arrays that no long value is missing. Nothing else is.
//!
//! What is not covered: a wrong transform of one GPU that passes, and slices that it codes wrongly,
//! of which nothing but the sizes is checked, are written, and the block is lost, unless `--verify`
//! is asked for. A GPU that hangs is waited for, and so is the opening of one, by the end of the
//! work. A panic ends the work, and no partial file stays (`cli`); so does want of the host's
//! memory.
//!
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU; it is
//! counted like that one, which may have to take over. To check what several sorted takes some 7
//! bytes per byte, one more than is counted below 2 GiB.

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
