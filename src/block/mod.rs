//! One block: raw <-> coded. This is the only place that knows filters, sort, coding and checks
//! together; streams and files are doors around it.
//!
//! | file | way |
//! |---|---|
//! | `encode_block` | raw block -> filters -> sort -> slices -> coded block |
//! | `decode_block` | coded block -> slices -> inverse -> filters undone -> raw block, checked |
//! | `decoded` | the first part of that way: coded block -> slices -> transform |
//! | `gpu_input` | coded block -> what a GPU takes of it |
//! | `slice_facts` | transform and coded slices -> what an index says of them |
//!
//! # The way of a block
//! Into a file, from a stream (`compress`), on these threads. A worker is one of the pipeline's,
//! named `bwz`; the pool is rayon's, named `bwz-N`. GPUs are opened by a thread `bwz-gpu`, and
//! large copies to and from them are made by threads without a name. The caller reads the first
//! block; of a file, threads `bwz-piece` read too. Blocks are read into the memory of those
//! that are done, where they fit:
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read, one run or not | `bwz-reader` (`raw`), `bwz-piece` | a block, or some short ones | - |
//! | filter | the pool, for a worker of the first stage; where there is an index, sequences alone | the text, mostly in the block's place; side information; of fields the block once more | the raw CRC-32 is taken here; fields are put together again and compared |
//! | sort and code, GPU | that worker, with a lease | pinned block, the GPU's arenas, pinned coded slices, slices | the primary row; in the pool, sums over the bytes and range of samples; what fails is sorted by the CPU (`sorters` says who takes over, and what a GPU codes). Coded slices are decoded again with `--verify` alone |
//! | sort, several GPUs together | that worker; the GPUs have threads of their own | the GPUs' memory, pinned or not | it is inverted by the pool and compared |
//! | sort, GPU, where the block is not coded there | that worker, with a lease | pinned block, the GPU's arena, pinned BWT, BWT | as where it is |
//! | sort, CPU | a thread of the pool; more for a block that is alone or repeats itself | 4 bytes per byte of workspace, 8 in 64 bits; BWT | - |
//! | code slices, CPU | a worker of the second stage; slices in the pool | coded slices | - |
//! | put together | a worker of the second stage | payload; the raw block where that is not larger, once its filters are undone | its CRC-32 |
//! | check, with `--verify` | the pool | the text once more, the whole way back | raw CRC-32; what fails is sorted and coded by the CPU and checked again |
//! | write | the caller's | headers; at the end seek table and footer | - |
//!
//! Back to a stream (`decompress`):
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read | `bwz-reader` (`frame`), `bwz-piece`; the first frame header and what is read ahead of it: the caller's | the payload, as its bytes come | headers, sizes, offsets; at the end seek table, footer, stream |
//! | decode and invert, GPU | a worker of the second stage, with a lease | the payload, its slices, pinned, the GPU's arenas, the text | the payload's CRC-32, its tables, coder states, one cycle, samples; what fails is done by the CPU |
//! | decode, CPU | a worker of the first stage, or where a GPU might have done it the second; slices in the pool | the BWT, in the memory of a written block; where a GPU may take part, the payload too | the payload's CRC-32, its tables, coder states, counts of an index |
//! | invert, GPU | a worker of the second stage, with a lease | pinned copy, the GPU's arena | one cycle, samples; what fails is inverted by the CPU |
//! | invert, CPU | the pool | 4 bytes per byte of table, 5 above 4 GiB; the text replaces the BWT | one cycle, samples |
//! | undo filters | the pool | the raw bytes | sizes add up; edges of an index |
//! | check | the pool | - | raw CRC-32; what fails after a GPU is restored by the CPU |
//! | write | the caller's | the block's memory goes to the next | - |
//!
//! For a search that decodes it whole ([`decode_on`]), a thread of the pool reads a block. Where a
//! GPU decodes its slices, threads of the pool wait for leases and copy portions of up to 32 MiB
//! from pinned memory to the BWT. Checked are the payload's CRC-32, the coder states and what the
//! index says of each slice; what fails is decoded by the CPU. The pool makes the index in memory.
//!
//! The pool has the threads that the options say ([`crate::threads`]), and how many blocks are on
//! their way at once follows from the memory ([`crate::memory`]). Around both ways the command
//! opens the files, and sees to it that no partial one stays (`cli`).
//!
//! [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder) do the same, but that their caller's
//! thread is also the one that reads. A range of an archive (`archive`) goes the second way.
//!
//! A block that is one byte over and over is coded like others once; the next like it needs none of
//! these steps, nor does the next that is decoded. Where no GPU was asked for, all goes on on the
//! caller's thread for a block of at most 64 KiB that is alone in its stream (`compress`), and for
//! the first block of a stream whose header promises none that is larger (`decompress`).

mod decode_block;
mod decoded;
mod encode_block;
mod gpu_input;
mod slice_facts;

pub(crate) use decode_block::{BlockDecoder, finish, restore};
pub(crate) use decoded::{Decoded, decode, decode_on};
pub(crate) use encode_block::{
    BlockEncoder, BlockForm, BlockPlace, FilteredBlock, SortedBlockText, code,
};
