//! Who sorts which block, and who restores it: the CPU's threads, or the GPUs of a
//! [device pool](crate::device_pool), which says where a block is done first.
//!
//! | file | way |
//! |---|---|
//! | `sort_blocks` | block -> transform, coded where a GPU does that |
//! | `joint_gpus` | blocks that several GPUs sort together |
//! | `invert_blocks` | transform, coded or not -> block |
//! | `coded_transform` | what stands for a transform that a GPU has coded, or decodes |
//!
//! A GPU codes what it sorted, and decodes what it inverts, wherever the coding is static rANS and
//! the block is not searched: the transform does not leave it.
//!
//! A GPU that fails (gives `Error::Device`), in the middle of a block or before, is dropped, and
//! its block is done on the CPU; when none is left, so are all others. The bytes are the same. One
//! warning is given for all. Of a transform, coded or not, the counts of bytes and the range of
//! samples are checked, once the GPU is free for the next block. A text that a GPU restored wrongly
//! is found by the block's checksum (`block`). What fails either check the CPU does again, that GPU
//! goes on, and the warning comes once.
//!
//! What several GPUs have sorted together is inverted on the CPU before it is believed.
//!
//! What is not covered: a wrong transform of one GPU that passes is written, and its block is lost,
//! unless `--verify` finds it, which ends the compression. A GPU that hangs is waited for, and a
//! panic ends the work; no partial file stays (`cli`).
//!
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU; it is
//! counted like that one, which may have to take over.

mod coded_transform;
mod invert_blocks;
mod joint_gpus;
mod sort_blocks;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use coded_transform::GpuSort;
pub(crate) use coded_transform::{CodedTransform, Sorted};
#[cfg(test)]
pub(crate) use invert_blocks::GpuInvert;
pub(crate) use invert_blocks::{BlockInverter, InvertJob};
pub(crate) use sort_blocks::BlockSorter;
