//! A block's whole way: [`encode(block) -> coded`](encode::BlockEncoder::encode), and
//! [`decode(coded) -> block`](decode::BlockDecoder::decode), each on the CPU or on GPUs. This is
//! the only place that knows filters, sort, coding and checks together; `stream`, `search` and
//! `archive` are interfaces to it.
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
//! not leave the GPU. It does so if the coding is static rANS and the block has no index. Several
//! GPUs of one process that sort a block together also code it, each a part, and one of them
//! restores it. The CPU codes or restores what GPUs do not have the memory for, and what the GPUs
//! of several processes sorted. For a search a GPU decodes blocks of static rANS that have an
//! index: the index in memory is made of the transform on the host.
//!
//! # The calls
//! Compression of a stream. The caller's thread:
//!
//! 1. `compress` (`stream::compress`): reads the first block.
//! 2. `encode::start`: plans the memory, starts the threads.
//! 3. `Pipeline::run` (`pipeline`): starts the thread `bwz-reader`, and takes the coded blocks.
//!
//! The thread `bwz-reader`:
//!
//! 4. `submit_all` (`pipeline`): reads the other blocks by `RawBlocks::next` (`raw`).
//! 5. `submit_all` again: gives each to the workers.
//! 6. `BlockEncoder::announce` (`encode::block_encoder`): announces the block to the device pool,
//!    by `BlockSorter::expect` and `DevicePool::expect`, and to its group (`encode::block_groups`).
//!
//! A worker:
//!
//! 7. `BlockEncoder::work`, `encode`, `encode_bytes`: all steps of a block, each in its turn.
//!    First it waits for the choices of the first blocks of its group (`BlockGroups::earlier`).
//! 8. `BlockEncoder::filtered`: takes the CRC-32, applies the filters (`filter`).
//! 9. `BlockSorter::sort` (`encode::block_sorter`): sorts the text: by several GPUs together
//!    (`encode::joint_gpus`), which may code it too and restore it, by 10, or by 11.
//! 10. `DevicePool::lease` (`device_pool`), `Lease::run`, `SortingGpu::sort`
//!     (`encode::sorting_gpu`): sorts it on a leased GPU, which may code it too, and restores it by
//!     `Prover::prove` (`encode::gpu_proof`).
//! 11. `CpuSorter::sort_on` (`bwt::suffix_sorter`): sorts it on the CPU.
//! 12. `BlockEncoder::coded`, `code::code` (`encode::code`): puts the block together; with
//!     `--verify`, `BlockEncoder::checked` then restores it.
//! 13. `coder::encode_slices_on` (`coder::slices`): codes the slices, if no GPU has.
//!
//! The caller's thread again:
//!
//! 14. `FrameWriter::block` (`frame::frame_writer`): writes the block.
//!
//! Decompression of a stream. The caller's thread:
//!
//! 1. `decompress` (`stream::decompress`): reads the first frame header, by
//!    `FrameReader::next_block_size` (`frame::frame_reader`).
//! 2. `decode::start`: plans the memory, starts the workers.
//! 3. `Pipeline::run`: starts the thread `bwz-reader`, and takes the restored blocks.
//!
//! The thread `bwz-reader`:
//!
//! 4. `submit_all`: reads the blocks by `FrameReader::next_block`, and gives them to the workers.
//! 5. `BlockDecoder::announce` (`decode::block_decoder`): announces the block to the device pool.
//!
//! A worker:
//!
//! 6. `BlockDecoder::work`, `decode`: all steps of a block: 7, or 8 and 9; then 10 and 11.
//! 7. `BlockDecoder::restore_coded`, `invert_coded`, `Lease::run`, `InvertingGpu::invert`
//!    (`decode::inverting_gpu`): decodes and inverts the block on a leased GPU.
//! 8. `BlockDecoder::decoded_on_cpu`, `decode_slices_on` (`decode::decoded`),
//!    `coder::decode_slices_on`: decodes the slices on the CPU.
//! 9. `BlockInverter::invert` (`decode::block_inverter`): inverts the transform by
//!    `InvertingGpu::invert` or by `CpuInverse::invert_on` (`bwt::inverse`).
//! 10. `BlockDecoder::checked`, `Inverted::unfilter` (`decode::restore`), `filter::undo_on`: undoes
//!     the filters.
//! 11. `restore::check`: checks the CRC-32.
//!
//! The caller's thread again:
//!
//! 12. `Raw::write` (`raw`): writes the raw bytes.
//!
//! [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder) call `Pipeline::submit` and
//! `Pipeline::next` themselves.
//!
//! # The way of a block
//! A stream is compressed (`stream`) on these threads:
//!
//! - The caller's thread reads the first block, and writes.
//! - A thread `bwz-reader` reads the other blocks. Threads `bwz-piece` help, if the command reads a
//!   file.
//! - Workers of the pipeline are named `bwz`.
//! - Threads of the thread pool (of rayon) are named `bwz-N`.
//! - A thread `bwz-gpu` opens the GPUs; if there are several, it starts more of this name.
//! - Threads without a name make large copies to and from GPUs, run the GPUs that sort a block
//!   together, and close GPUs at the end (`DevicePool::end`).
//! - With `--ranks`, a thread `bwz-ranks` and some without a name keep the connections alive.
//! - Threads `bwz-kept` do nothing: they keep room for other threads while these are started.
//!
//! Blocks are read into the memory of earlier blocks that are done, if they fit:
//!
//! - **read, and tell a run.** thread: `bwz-reader` (`raw`), `bwz-piece`; memory: a block, or some
//!   short ones.
//! - **filter.** thread: the thread pool, for a worker; with an index, sequences alone; memory: the
//!   text, mostly in the block's place; side information; the block once more for fields; check:
//!   the raw CRC-32 is taken here; fields are put together again and compared.
//! - **sort and code, GPU.** thread: a worker, with a lease; memory: pinned block, the GPU's
//!   arenas, pinned coded slices, slices; check: the primary index; the GPU decodes and inverts
//!   what it gave, in the memory of the sort, and the worker compares the bytes with the text. The
//!   CPU sorts a block that fails (see Failure).
//! - **sort and code, several GPUs together.** thread: a worker; the GPUs have threads of their
//!   own; memory: the GPUs' memory, pinned or not; BWT; slices; check: one of the GPUs decodes and
//!   inverts the result, and threads compare it. The thread pool inverts what no GPU has the memory
//!   for.
//! - **sort, GPU, if the block is not coded there.** thread: a worker, with a lease; memory: pinned
//!   block, the GPU's arena, pinned BWT, BWT; check: as for a GPU that codes, without decoding.
//! - **sort, CPU.** thread: a thread of the thread pool; more for a block that is alone or repeats
//!   itself; memory: 4 bytes per byte of workspace, 8 in 64 bits; BWT.
//! - **code slices, CPU.** thread: a worker; slices in the thread pool; memory: coded slices.
//! - **put together.** thread: a worker; memory: payload; if that is not smaller than the raw
//!   block, the raw block, once its filters are undone; check: its CRC-32.
//! - **check, with `--verify`.** thread: the thread pool, in place of the GPU; memory: the text
//!   once more, the whole way back; check: raw CRC-32. The CPU sorts and codes a block that fails,
//!   and it is checked again.
//! - **write.** thread: the caller's; memory: headers; at the end seek table and footer.
//!
//! Decompression of a stream:
//!
//! - **read.** thread: `bwz-reader` (`frame`), `bwz-piece`; the caller's for the first frame header
//!   and the bytes that are read ahead with it; memory: the payload, as its bytes come; check:
//!   headers, sizes, offsets; at the end seek table, footer, stream.
//! - **decode and invert, GPU.** thread: a worker, with a lease; memory: the payload, its slices,
//!   pinned (above 1 GiB some hundred megabytes only), the GPU's arenas, the text; check: the
//!   payload's CRC-32, its tables, coder states, one cycle, samples. The CPU does a block that
//!   fails.
//! - **decode, CPU.** thread: a worker; slices in the thread pool; memory: the BWT, in the memory
//!   of a written block; the payload too, if a GPU may take part; check: the payload's CRC-32, its
//!   tables, coder states, counts of an index.
//! - **invert, GPU.** thread: a worker, with a lease; memory: pinned copy, the GPU's arena; check:
//!   one cycle, samples. The CPU inverts a block that fails.
//! - **invert, CPU.** thread: the thread pool; memory: 4 bytes per byte of table, 5 above 4 GiB;
//!   the text replaces the BWT; check: one cycle, samples.
//! - **undo filters.** thread: the thread pool; memory: the raw bytes; check: sizes add up; edges
//!   of an index.
//! - **check.** thread: the thread pool; check: raw CRC-32. The CPU restores a block that fails
//!   after a GPU.
//! - **write.** thread: the caller's; memory: the block's memory goes to the next.
//!
//! Decompression to the memory of a GPU ([`decode::GpuDecoder`]) goes the second way too, except
//! that a worker puts each block in its place, on the GPU that was asked for:
//!
//! - **decode, invert and check, GPU.** thread: a worker, with a lease, which is kept for the next
//!   call; memory: the payload, its slices, pinned, the GPU's arenas, the caller's memory; check:
//!   as above, and the raw CRC-32, by the GPU. This is for blocks of static rANS of up to 1 GiB
//!   without filters and without an index.
//! - **all other blocks.** Restored on the host as above, and copied by way of pinned memory of 8
//!   MiB; one worker copies at a time.
//!
//! A search may decode a block whole ([`decode::decode_slices_on_gpus`]). A thread of the thread
//! pool reads the block. If a GPU decodes its slices, threads of the thread pool wait for leases
//! and copy portions of up to 32 MiB from pinned memory to the BWT. The payload's CRC-32, the coder
//! states and the index's facts about each slice are checked, and the CPU decodes slices that fail.
//! The thread pool makes the index in memory.
//!
//! The options set the number of threads in the thread pool (`thread_pool`). The memory sets how
//! many blocks are in flight at once (`memory`). The command opens the files around both ways, and
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
//! A failure that is found changes no byte of the output. It is `Error::Device` if the GPU reports
//! it, before a block or in the middle of it; otherwise a check finds it. Each device pool gives
//! one warning, about the first thing that goes wrong in it. A search has two device pools, and
//! gives one warning.
//!
//! - A GPU cannot be opened: the other GPUs do the work, or the CPU. There is a warning, except
//!   with `auto` if the driver names no GPU at all. If a further lease of a GPU finds no memory,
//!   there is one lease less. If its coder finds no memory, the CPU codes. Neither gives a warning.
//! - A GPU that works alone fails while it sorts, codes, decodes or inverts; or its sort does not
//!   end within the number of rounds allowed; or its counts are impossible (more suffixes than
//!   there are, no primary index, slices that do not fit): the CPU does the block again. That
//!   lease, one of several of its GPU, is not given again. A warning.
//! - One of several GPUs that sort a block together fails: one GPU sorts the block, or the CPU, and
//!   the GPUs sort no further block together. A warning. If it fails later, while they code or
//!   restore the block, the CPU does that step. No warning.
//! - The result of one or several GPUs does not restore to the text; or it is not restored
//!   (`--no-verify`) and fails the quick check: byte sums that differ from the block's, or a sample
//!   out of range. Or `--verify` finds a block that does not restore. In each case the CPU sorts
//!   the block again and no GPU sorts any more of this stream. Blocks that are on GPUs at that
//!   moment are still taken if they pass. A warning. If `--verify` also refuses the block that the
//!   CPU made, the work ends.
//! - A GPU that restores or decodes a block finds it damaged: the CPU does it again. If the CPU
//!   finds damage too, its error is given; else nothing is said.
//! - A block that a GPU restored fails its checksum or the edges of its index: the CPU
//!   restores it again, and the lease stays. A warning, if the CPU finds the block sound.
//! - Slices that a GPU decoded for a search disagree with the block's index, which has the byte
//!   counts of each slice, or do not restore if the block is restored: the CPU decodes them again,
//!   and the lease stays. A warning, if the CPU finds the block sound. Slices with the right counts
//!   in a wrong order pass this check, unless the block is restored.
//! - A GPU fails in a search (`search`) or with LCP arrays (`lcp`): the CPU takes over. A warning.
//!   Results that the checks of the next section show to be wrong are such a failure: the CPU does
//!   the whole batch or text. Results that were given out before stay.
//!
//! These failures are not covered:
//!
//! - Waits: for a GPU that hangs, and at the end of the work for a GPU that is being opened.
//! - Ends the work: a panic, or want of the host's memory. No partial file stays (`cli`).
//! - Errors that no check finds: the next section lists them.
//!
//! # Proof
//!
//! What proves a result, and which errors no check would find:
//!
//! - **A block that a GPU sorted, or sorted and coded.** The GPU restores it from the host's copy,
//!   and the host compares all bytes. With `--no-verify` the sums and sizes are checked alone: an
//!   order of bytes with the right sums is not found, nor a wrong word in a slice.
//! - **A block that several GPUs sorted, or sorted and coded.** As before, by one of them; or the
//!   CPU inverts it.
//! - **The CPU's coding, filters, and putting together of a block.** Fields are put together again
//!   and compared. Other errors of the CPU and of its memory are found by `--verify` alone.
//! - **A block that a GPU restored.** The CRC-32 of its raw bytes.
//! - **A block that a GPU restored to its own memory.** The same CRC-32, computed by the GPU. An
//!   error of the GPU that gives wrong bytes the right checksum is not found.
//! - **Slices that a GPU decoded for a search.** The index's counts of bytes. A wrong order of
//!   bytes is not found if the block is not restored.
//! - **Rows, counts and positions of a search on a GPU.** All are possible, and the CPU finds one
//!   in 64 too, and at least 16 of a batch. Single ones that are wrong but possible are not found.
//! - **LCP arrays of a GPU with all rows.** No long value is missing. One row in 64 is compared
//!   with the text: the order of two suffixes, and both ends of what they have in common. Other
//!   rows, and the middle of long common prefixes, are not compared.
//! - **Range minima and extensions of a GPU.** The CPU answers one query in 64 too, and at least 16
//!   of a batch. Single wrong answers are not found.
//! - **Matches and overlaps of sequences from a GPU's LCP arrays.** All bases of each are compared.
//!   Matches that are missing, or that could be longer, are not found.
//! - **Repeats in a collection.** No GPU takes part, and windows are compared byte by byte.
//!
//! # Memory
//! With `--memory`, a worker on a GPU needs less of the host's memory than one on the CPU. It is
//! counted like a CPU worker, since the CPU may have to take over. If the CPU checks a block that
//! several GPUs sorted, that takes about 7 bytes per byte, one more than is counted below 2 GiB.

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
