//! bwz: a block-sorting compressor.
//!
//! A stream is cut into blocks. The suffixes of each block are sorted, which gives its
//! Burrows-Wheeler transform (BWT), and the BWT is run-length and entropy coded. The file can be
//! read from any position and searched without being decompressed, and the intact parts of a
//! damaged one can be saved. The layout is specified in `format/FORMAT.md`.
//!
//! ```
//! let options = bwz::Options::new().level(9)?;
//! let mut file = Vec::new();
//! bwz::compress(&b"she sells sea shells by the sea shore"[..], &mut file, &options)?;
//!
//! let mut text = Vec::new();
//! bwz::decompress(&file[..], &mut text, &options)?;
//! assert_eq!(text, b"she sells sea shells by the sea shore");
//! # Ok::<(), bwz::Error>(())
//! ```
//!
//! # The house
//!
//! `ARCHITECTURE.md` has the bird's eye view, and what always holds.
//!
//! | room | job |
//! |---|---|
//! | [`compress()`], [`Encoder`] | raw stream -> blocks -> filters -> sort -> code -> frame |
//! | [`decompress()`], [`Decoder`] | frame -> decode -> inverse -> filters undone -> raw stream |
//! | [`Archive`], `contents` | what is in a file, and any range of its bytes |
//! | [`Archive::records`], [`Archive::region`], [`Archive::places`] | the records of genomes and reads, and the bases of a place |
//! | [`Archive::count`], [`Archive::counts`], [`Archive::locate`], [`Archive::matches`], [`Archive::extract`] | search in a file, with an index or without (`search`) |
//! | [`repeats`] | which bytes of a collection of files occur before in it |
//! | [`recover()`] | what is whole of a damaged file |
//! | [`Options`], [`Error`], [`Event`] (`events`) | what a caller chooses; what can go wrong; what happens meanwhile |
//! | [`cuda`], `device` | the GPUs that are there; which ones a caller names |
//! | `gpu` | suffix sorting, its inverse, coding by static rANS, search and LCP arrays on NVIDIA GPUs, with the kernels in `kernels/` (feature `cuda`) |
//! | `frame` | the bytes on disk and nothing else: chapters 2 to 8 and 10 of FORMAT.md |
//! | [`bwt`] | block <-> [`bwt::Bwt`]: the sorter and the inverse |
//! | [`lcp`] | a text in memory -> its suffix array and LCP array, range minima, common extensions |
//! | [`overlap`] | what sequences have in common: longest regions, maximal matches, overlaps of reads |
//! | `sequence` | FASTA and FASTQ: raw block <-> residues, other bytes and the layout of its lines |
//! | `fields` | logs, tables and reads <-> templates of lines and columns of values |
//! | `filter` | raw block <-> the text that is sorted: sequences, fields, repeats, tables, machine code |
//! | `coder` | BWT bytes <-> coded bytes, one slice at a time |
//! | [`fm_index`] | a [`bwt::Bwt`] that is searched: count, locate, extract |
//! | `distributed` | suffix sorting by several GPUs or processes, which exchange words |
//! | `sampling` | difference covers and the levels of accelerated sampling, for CPU and GPU |
//! | `device_pool` | who may use which GPU now: leases, and the choice between CPU and GPU |
//! | [`JoinedRank`], `process_ranks` | processes with a GPU each that sort a block together |
//! | `sorters` | each block sorted and restored on the CPU or a leased GPU, which codes and decodes it too; the algorithms are in `bwt` and `gpu` |
//! | `block` | one block, raw <-> coded: filters, sort, coding and checks together; its page has the way of a block, with threads and checks |
//! | `raw` | raw blocks, and where they come from |
//! | `pipeline` | ordered stages over threads; knows nothing of compression |
//! | `memory`, `threads` | how many blocks at a time the memory allows; the threads that compute |
//! | `tasks` | work that an executor does, which the caller chooses |
//! | `allocation` | memory that may be refused |
//! | `leb128` | numbers of any size as bytes |
//! | `positions` | rows and positions of a block in 32 bits, or in 64 where it is large |
//! | `internals` | hidden doors into the rooms, for this repository's tests, fuzz targets and benches |
//! | `cli` | the command |
//!
//! The handling of a GPU that fails is described in `sorters`.
//!
//! Words used in all rooms:
//!
//! - house, room, door: this crate; one of its modules, with one job; a function by which others
//!   reach into a room;
//! - raw block, text: a part of the raw stream; the output of the filters for it, which is sorted.
//!   Their side information (`side`) is the data that they need to restore the raw block;
//! - slice, run: a part of a block's BWT that is coded alone; a sequence of equal bytes in it;
//! - sample: the row of a suffix that is known in advance, from which the inverse or a search
//!   starts;
//! - alone: a block is alone if it is known to be the only one of its stream;
//! - narrow, wide: with positions of 32 bits, and of 64 (`positions`);
//! - lease: the use of a GPU by one thread; a GPU has several leases;
//! - believed: used without a check of the whole, such as an index on disk.
//!
//! Dependencies point one way; a room uses only what stands left of it:
//! `error, pipeline, tasks, allocation, sampling < leb128, positions < coder, device < memory <
//! events, gpu < process_ranks < options < threads < device_pool < bwt, lcp, distributed
//! < sequence, overlap, fields < raw, filter < frame, fm_index < sorters, contents < block
//! < compress < decompress < recover, search < archive < repeats < internals < lib < cli`.
//! The data that passes between rooms is the raw block, the text that filters make of it,
//! [`bwt::Bwt`], which a GPU also returns and takes in coded form, and the coded block. [`bwt`] and
//! [`fm_index`] are public for programs that search texts in memory.
//!
//! # Examples
//! Small programs in `examples/`, which `cargo run --release --example NAME` runs:
//!
//! | program | what it shows |
//! |---|---|
//! | `compress_stream` | a stream of any size, within a limit of memory |
//! | `decompress_untrusted` | limits for files of strangers, and what the kinds of [`Error`] mean |
//! | `read_range` | a range of a file, of which only the blocks that hold it are decoded |
//! | `count_and_locate` | patterns, counted and located by the index |
//! | `fasta_regions` | bases of records of a genome |
//! | `progress_and_cancel` | events for a progress bar, and work that is stopped |
//!
//! # Features
//! - `cli` (default): the `bwz` command. Without it the library builds without clap.
//! - `cuda`: sorting, restoring and searching blocks on NVIDIA GPUs. Building it needs nvcc (see
//!   `kernels/README.md`), running it only a driver.

#![deny(missing_docs, missing_debug_implementations)]
#![deny(unsafe_code)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "bwz needs a 64-bit machine: a block and its tables do not fit a smaller address space"
);

pub mod bwt;
pub mod fm_index;
pub mod lcp;
pub mod overlap;
/// The GPUs of this machine, and the GPU support of this build.
///
/// An index in memory is searched on a GPU by a [`Searcher`](cuda::Searcher), which keeps it:
///
/// ```
/// use bwz::bwt::Sorter;
/// use bwz::{cuda, fm_index::FmIndex};
///
/// let index = FmIndex::new(Sorter::Cpu.sort(b"banana", 2)?)?;
/// let mut intervals = [0..0];
/// match cuda::Searcher::new(0) {
///     Ok(mut gpu) => index.search_on(&mut gpu, &[b"an"], &mut intervals)?,
///     Err(_) => index.search(&[b"an"], &mut intervals),
/// }
/// assert_eq!(intervals[0].len(), 2);
/// # Ok::<(), bwz::Error>(())
/// ```
pub mod cuda {
    pub use crate::gpu::{BUILT, Built, DeviceInfo, Searcher, devices, is_built};
}

mod allocation;
mod archive;
mod block;
#[cfg(test)]
#[path = "../tests/common/cases.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod cases;
mod coder;
mod compress;
mod contents;
mod decompress;
mod device;
mod device_pool;
mod distributed;
mod error;
mod events;
mod fields;
mod filter;
mod frame;
#[cfg_attr(not(feature = "cuda"), path = "gpu/absent.rs")]
mod gpu;
#[doc(hidden)]
pub mod internals;
mod leb128;
mod memory;
mod options;
mod pipeline;
mod positions;
mod process_ranks;
mod raw;
mod recover;
pub mod repeats;
mod sampling;
mod search;
mod sequence;
mod sorters;
mod tasks;
mod threads;

pub use allocation::failure_is_handled;
pub use archive::Archive;
pub use coder::Effort;
pub use compress::{Encoder, Summary, compress};
pub use contents::{BlockInfo, FrameInfo, IndexInfo};
pub use decompress::{Decoder, decompress};
pub use device::{Device, GpuSet};
pub use error::{Bound, Error, Result};
pub use events::{Event, Step};
pub use frame::{IndexedBlocks, MAGIC};
pub use options::{
    DEFAULT_LEVEL, DEFAULT_SAMPLE_RATE, Letters, MAX_BLOCK_SIZE, MAX_THREADS, Options,
};
pub use process_ranks::{JoinedRank, OtherRank, Ranks};
pub use recover::{Lost, Recovery, recover};
pub use search::{Matches, Place, ReadCost, RecordInfo, Searcher};

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
