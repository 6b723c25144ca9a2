//! One block: raw <-> coded. This is the only place that knows filters, sort, coding and checks
//! together; streams and files are doors around it.
//!
//! | file | way |
//! |---|---|
//! | `encode_block` | raw block -> filters -> sort -> segments -> coded block |
//! | `decode_block` | coded block -> segments -> inverse -> filters undone -> raw block, checked |
//!
//! # The way of a block
//! Into a file, from a stream (`compress`), on these threads:
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read | `bwz-reader` (`raw`) | one block, that of a written one where it fits | - |
//! | filter | a first worker, in the rayon pool | the text in its place, side information | - |
//! | sort, CPU | the pool | 4 bytes per byte of workspace, the BWT | - |
//! | sort, GPU | the worker, with a lease | pinned block, the GPU's arena, pinned BWT | counts of bytes, range of samples |
//! | code | a second worker; segments in the pool | coded segments, then the payload | - |
//! | write | the caller's | - | CRC-32 of raw bytes and payload go into the header |
//!
//! Back to a stream (`decompress`):
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read | `bwz-reader` (`frame`) | the payload, as its bytes come | headers, sizes, offsets; at the end seek table, footer, stream |
//! | decode | a first worker; segments in the pool | the BWT, in the memory of a written block | payload's CRC-32, coder states, counts of an index |
//! | invert, CPU | a second worker, in the pool | 4 bytes per byte of table; the text replaces the BWT | one cycle, samples |
//! | invert, GPU | the worker, with a lease | pinned copy, the GPU's arena | the same; what fails is inverted by the CPU |
//! | undo filters | the pool | the raw bytes | sizes add up |
//! | check | the pool | - | CRC-32 of the raw bytes; a GPU's block that fails it is restored by the CPU |
//! | write | the caller's | - | - |
//!
//! A stream of one small block goes all the way on the caller's thread.

mod decode_block;
mod encode_block;

pub(crate) use decode_block::{BlockDecoder, Decoded, decode, restore, restore_decoded};
pub(crate) use encode_block::BlockEncoder;
