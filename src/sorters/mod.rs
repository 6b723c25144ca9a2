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
//! # Failure
//! The bytes are the same whatever fails. A failure is `Error::Device`, in the middle of a block or
//! before. Each pool gives one warning, of the first thing that goes wrong in it.
//!
//! | what a GPU does | what is noticed, and how | who does it again | what is said |
//! |---|---|---|---|
//! | opens | a failure | the other GPUs, or the CPU | a warning |
//! | sorts a block, or codes it too | a failure | the CPU; that lease (one of a GPU's several) is not given again | a warning |
//! | the same | the primary row is none; then, once the lease is free again, counts of bytes or samples out of range | the CPU; the lease stays | a warning |
//! | sorts a block with others | a failure; the CPU inverts it and compares | one GPU, or the CPU; they sort no more together | a warning |
//! | decodes or inverts | a failure | the CPU; that lease is not given again | a warning |
//! | the same | it finds the block damaged | the CPU, whose error it is if it finds so too | nothing |
//! | the same | the block's checksum and the edges of an index (`block`) | the CPU; the lease stays | a warning, if the CPU finds the block sound |
//! | searches (`search`), makes LCP arrays (`lcp`) | a failure; results are not checked | the CPU | a warning |
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
