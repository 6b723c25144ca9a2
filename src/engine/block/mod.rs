//! One block: raw <-> coded. This is the only place that knows filters, sort, coding and checks
//! together; streams and files are doors around it.
//!
//! | file | way |
//! |---|---|
//! | `encode_block` | raw block -> filters -> sort -> slices -> coded block |
//! | `decode_block` | coded block -> slices -> inverse -> filters undone -> raw block, checked |
//! | `decoded` | the first part of that way: coded block -> slices -> transform |
//! | `gpu_input` | coded block -> the input of a GPU that decodes it |
//! | `slice_facts` | transform and coded slices -> the index's facts about them |
//!
//! # The way of a block
//! A stream is compressed (`compress`) on the threads of this list:
//!
//! - The caller's thread reads the first block.
//! - Threads `bwz-piece` read too, if the input is a file.
//! - Workers of the pipeline are named `bwz`.
//! - Threads of the rayon pool are named `bwz-N`.
//! - A thread `bwz-gpu` opens the GPUs.
//! - Threads without a name make large copies to and from GPUs.
//!
//! Blocks are read into the memory of earlier blocks that are done, if they fit:
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read, and tell a run | `bwz-reader` (`raw`), `bwz-piece` | a block, or some short ones | - |
//! | filter | the pool, for a worker of the first stage; with an index, sequences alone | the text, mostly in the block's place; side information; the block once more for fields | the raw CRC-32 is taken here; fields are put together again and compared |
//! | sort and code, GPU | that worker, with a lease | pinned block, the GPU's arenas, pinned coded slices, slices | the primary row; in the pool, sums over the bytes and range of samples. The CPU sorts a block that fails (`sorters` says who takes over, and which blocks a GPU codes). Coded slices are decoded again only with `--verify` |
//! | sort, several GPUs together | that worker; the GPUs have threads of their own | the GPUs' memory, pinned or not | the pool inverts the result and compares it |
//! | sort, GPU, if the block is not coded there | that worker, with a lease | pinned block, the GPU's arena, pinned BWT, BWT | as for a GPU that codes |
//! | sort, CPU | a thread of the pool; more for a block that is alone or repeats itself | 4 bytes per byte of workspace, 8 in 64 bits; BWT | - |
//! | code slices, CPU | a worker of the second stage; slices in the pool | coded slices | - |
//! | put together | a worker of the second stage | payload; if that is not smaller than the raw block, the raw block, once its filters are undone | its CRC-32 |
//! | check, with `--verify` | the pool | the text once more, the whole way back | raw CRC-32. The CPU sorts and codes a block that fails, and it is checked again |
//! | write | the caller's | headers; at the end seek table and footer | - |
//!
//! Decompression of a stream (`decompress`):
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read | `bwz-reader` (`frame`), `bwz-piece`; the caller's for the first frame header and the bytes that are read ahead with it | the payload, as its bytes come | headers, sizes, offsets; at the end seek table, footer, stream |
//! | decode and invert, GPU | a worker of the second stage, with a lease | the payload, its slices, pinned, the GPU's arenas, the text | the payload's CRC-32, its tables, coder states, one cycle, samples. The CPU does a block that fails |
//! | decode, CPU | a worker of the first stage, or of the second if a GPU might have done it; slices in the pool | the BWT, in the memory of a written block; the payload too, if a GPU may take part | the payload's CRC-32, its tables, coder states, counts of an index |
//! | invert, GPU | a worker of the second stage, with a lease | pinned copy, the GPU's arena | one cycle, samples. The CPU inverts a block that fails |
//! | invert, CPU | the pool | 4 bytes per byte of table, 5 above 4 GiB; the text replaces the BWT | one cycle, samples |
//! | undo filters | the pool | the raw bytes | sizes add up; edges of an index |
//! | check | the pool | - | raw CRC-32. The CPU restores a block that fails after a GPU |
//! | write | the caller's | the block's memory goes to the next | - |
//!
//! A search may decode a block whole ([`decode_on`]). A thread of the pool reads the block. If a
//! GPU decodes its slices, threads of the pool wait for leases and copy portions of up to 32 MiB
//! from pinned memory to the BWT. The payload's CRC-32, the coder states and the index's facts
//! about each slice are checked, and the CPU decodes slices that fail. The pool makes the index in
//! memory.
//!
//! The options set the number of threads in the pool (`base::threads`). The memory sets how many
//! blocks are in flight at once (`engine::memory`). The command opens the files around both ways,
//! and removes partial ones (`cli`).
//!
//! [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder) do the same, but their caller's
//! thread also reads. A range of an archive (`archive`) goes the second way.
//!
//! # Shortcuts
//! A block of one repeated byte is coded once like others. The next block like it needs none of
//! these steps, and the same holds for decoding. If no GPU was asked for, the caller's thread does
//! everything in two cases: for a block of at most 64 KiB that is alone in its stream (`compress`),
//! and for the first block of a stream whose header promises no larger block (`decompress`).

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
