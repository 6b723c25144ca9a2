//! A block's whole way: [`encode(block) -> coded`](encode::BlockEncoder::encode), and
//! [`decode(coded) -> block`](decode::BlockDecoder::decode), each on the CPU or on GPUs. This is
//! the only place that knows filters, sort, coding and checks together; streams and files are
//! doors around it.
//!
//! | file | job |
//! |---|---|
//! | `raw` | raw blocks, and where they come from |
//! | `encode` | raw block -> filters -> sort -> slices -> coded block |
//! | `decode` | coded block -> slices -> inverse -> filters undone -> raw block, checked |
//! | `coded_transform` | a transform between the sort and the coding |
//! | `slice_facts` | transform and coded slices -> the index's facts about them |
//! | `pipeline` | work in order over threads; knows nothing of compression |
//! | `turns` | how many blocks at a time take a step |
//! | `device_pool` | who may use which GPU now: leases, and the choice between CPU and GPU |
//! | `thread_pool` | the threads that compute |
//! | `memory` | how many blocks at a time the memory allows |
//!
//! # Who does a block
//! A device pool estimates whether a GPU or the CPU finishes a block first, and the block goes
//! there. A GPU also codes what it sorts and decodes what it inverts, so that the transform does
//! not leave the GPU. It does so if the coding is static rANS, the block has no index and at most
//! 2^31 - 1 bytes, one GPU sorts it alone, and that GPU has the memory. For a search a GPU decodes
//! blocks of static rANS that have an index: the index in memory is made of the transform on the
//! host.
//!
//! A block that has come is announced before its turn: `Pipeline::submit` -> `Work::announce` of
//! the encoder -> `BlockSorter::expect` -> `DevicePool::expect` -> `Workload::expect`. On the way
//! back the decoder asks the pool itself.
//!
//! # The way of a block
//! A stream is compressed (`stream`) on the threads of this list:
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
//! | filter | the pool, for a worker; with an index, sequences alone | the text, mostly in the block's place; side information; the block once more for fields | the raw CRC-32 is taken here; fields are put together again and compared |
//! | sort and code, GPU | a worker, with a lease | pinned block, the GPU's arenas, pinned coded slices, slices | the primary row; in the pool, sums over the bytes and range of samples. The CPU sorts a block that fails (see Failure). Coded slices are decoded again only with `--verify` |
//! | sort, several GPUs together | a worker; the GPUs have threads of their own | the GPUs' memory, pinned or not | the pool inverts the result and compares it |
//! | sort, GPU, if the block is not coded there | a worker, with a lease | pinned block, the GPU's arena, pinned BWT, BWT | as for a GPU that codes |
//! | sort, CPU | a thread of the pool; more for a block that is alone or repeats itself | 4 bytes per byte of workspace, 8 in 64 bits; BWT | - |
//! | code slices, CPU | a worker; slices in the pool | coded slices | - |
//! | put together | a worker | payload; if that is not smaller than the raw block, the raw block, once its filters are undone | its CRC-32 |
//! | check, with `--verify` | the pool | the text once more, the whole way back | raw CRC-32. The CPU sorts and codes a block that fails, and it is checked again |
//! | write | the caller's | headers; at the end seek table and footer | - |
//!
//! Decompression of a stream:
//!
//! | step | thread | memory | check |
//! |---|---|---|---|
//! | read | `bwz-reader` (`frame`), `bwz-piece`; the caller's for the first frame header and the bytes that are read ahead with it | the payload, as its bytes come | headers, sizes, offsets; at the end seek table, footer, stream |
//! | decode and invert, GPU | a worker, with a lease | the payload, its slices, pinned, the GPU's arenas, the text | the payload's CRC-32, its tables, coder states, one cycle, samples. The CPU does a block that fails |
//! | decode, CPU | a worker; slices in the pool | the BWT, in the memory of a written block; the payload too, if a GPU may take part | the payload's CRC-32, its tables, coder states, counts of an index |
//! | invert, GPU | a worker, with a lease | pinned copy, the GPU's arena | one cycle, samples. The CPU inverts a block that fails |
//! | invert, CPU | the pool | 4 bytes per byte of table, 5 above 4 GiB; the text replaces the BWT | one cycle, samples |
//! | undo filters | the pool | the raw bytes | sizes add up; edges of an index |
//! | check | the pool | - | raw CRC-32. The CPU restores a block that fails after a GPU |
//! | write | the caller's | the block's memory goes to the next | - |
//!
//! A search may decode a block whole ([`decode::decode_slices_on_gpus`]). A thread of the pool
//! reads the block. If a GPU decodes its slices, threads of the pool wait for leases and copy
//! portions of up to 32 MiB from pinned memory to the BWT. The payload's CRC-32, the coder states
//! and the index's facts about each slice are checked, and the CPU decodes slices that fail. The
//! pool makes the index in memory.
//!
//! The options set the number of threads in the pool (`thread_pool`). The memory sets how many
//! blocks are in flight at once (`memory`). The command opens the files around both ways, and
//! removes partial ones (`cli`).
//!
//! [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder) do the same, but their caller's
//! thread also reads. A range of an archive (`archive`) goes the second way.
//!
//! # Shortcuts
//! A block of one repeated byte is coded once like others. The next block like it needs none of
//! these steps, and the same holds for decoding. If no GPU was asked for, the caller's thread does
//! everything in two cases: for a block of at most 64 KiB that is alone in its stream, and for the
//! first block of a stream whose header promises no larger block.
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
//! - A block that a GPU restored fails its checksum or the edges of its index: the CPU
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

pub(crate) mod coded_transform;
pub(crate) mod decode;
pub(crate) mod device_pool;
pub(crate) mod encode;
pub(crate) mod memory;
pub(crate) mod pipeline;
pub(crate) mod raw;
mod slice_facts;
pub(crate) mod thread_pool;
mod turns;
