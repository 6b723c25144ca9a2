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
//! # The rooms
//!
//! `ARCHITECTURE.md` has the bird's eye view, and what always holds.
//!
//! | room | content |
//! |---|---|
//! | `base` | errors, memory that may be refused, number codes, positions, the executor: code that several rooms use |
//! | `coder` | BWT bytes <-> coded bytes, one slice at a time |
//! | `gpu` | suffix sorting, its inverse, coding, search and LCP arrays on NVIDIA GPUs, with the kernels in `kernels/` (feature `cuda`); processes with a GPU each that work together |
//! | `options` | the choices of a caller, and the events that it receives: [`Options`], [`Event`] |
//! | [`bwt`] | text <-> [`bwt::Bwt`] on the CPU: the sorter and the inverse |
//! | [`fm_index`] | search in a [`bwt::Bwt`]: count, locate, extract |
//! | `filter` | raw block <-> the text that is sorted: sequences, fields, repeats, tables, machine code |
//! | `frame` | the bytes on disk and nothing else: chapters 2 to 8 and 10 of FORMAT.md |
//! | `engine` | all steps of a block, raw <-> coded, and the choice of CPU or GPU for it: pipeline, leases of GPUs, memory plan |
//! | `stream` | [`compress()`], [`Encoder`], [`decompress()`], [`Decoder`]: thin interfaces to `engine` |
//! | `search` | patterns in files, on disk and in memory, with an index or without; lines around literals; records and their bases |
//! | `archive` | random access to a file: [`Archive`]; the intact blocks of a damaged one: [`recover()`] |
//! | `analysis` | suffix and LCP arrays ([`lcp`]), repeats in a collection of files ([`repeats`]), common parts of sequences ([`overlap`]) |
//! | [`papers`] | the algorithms of the papers as written, for comparison; no other room of the library uses it, the command runs it for `bench --sort` |
//! | `cli` | the command |
//! | `internals` | no room: hidden functions that give access to the rooms, for this repository's tests, fuzz targets and benches |
//!
//! The handling of a GPU that fails is described in `engine`.
//!
//! Words used in all rooms:
//!
//! - room: a module of this crate, with one job;
//! - raw block, text: a part of the raw stream; the output of the filters for it, which is sorted.
//!   Their side information (`side`) is the data that they need to restore the raw block;
//! - transform: the BWT of a text with its samples, as bytes or coded;
//! - slice, run: a part of a block's BWT that is coded alone; a sequence of equal bytes in it;
//! - sample: the row of a suffix that is known in advance, from which the inverse or a search
//!   starts;
//! - alone: a block is alone if it is known to be the only one of its stream;
//! - narrow, wide: with positions of 32 bits, and of 64 (`positions`);
//! - lease: the use of a GPU by one thread; a GPU has several leases.
//!
//! Dependencies point one way; a room uses only what stands left of it:
//! `base < coder < gpu < options < bwt < fm_index < filter < frame < engine < stream < search
//! < archive < analysis < papers < internals < lib < cli`.
//! Blocks pass between rooms; `ARCHITECTURE.md` has a table of the types that hold them ("These
//! types hold a block"). [`bwt`] and [`fm_index`] are public for programs that search texts in
//! memory.
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
// `pub` is for the public API; what rooms share is `pub(crate)`.
#![deny(unreachable_pub)]
#![deny(unsafe_code)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "bwz needs a 64-bit machine: a block and its tables do not fit a smaller address space"
);

pub mod bwt;
pub mod fm_index;
/// The GPUs of this machine, and the GPU support of this build.
///
/// An index in memory is searched on a GPU by a [`GpuSearch`](cuda::GpuSearch), which keeps it:
///
/// ```
/// use bwz::bwt::Sorter;
/// use bwz::{cuda, fm_index::FmIndex};
///
/// let index = FmIndex::new(Sorter::Cpu.sort(b"banana", 2)?)?;
/// let mut intervals = [0..0];
/// match cuda::GpuSearch::new(0) {
///     Ok(mut gpu) => index.search_on(&mut gpu, &[b"an"], &mut intervals)?,
///     Err(_) => index.search(&[b"an"], &mut intervals),
/// }
/// assert_eq!(intervals[0].len(), 2);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// A file is restored to the memory of a GPU by
/// [`Archive::read_range_to_gpu`](crate::Archive::read_range_to_gpu), with a
/// [`GpuDecoder`](cuda::GpuDecoder). The text goes there without a way over the host if no filter
/// changed it. A [`DeviceSlice`](cuda::DeviceSlice) is the caller's memory, and a
/// [`DeviceBuffer`](cuda::DeviceBuffer) memory of bwz's own. Data in the memory of a GPU is
/// compressed from [`DeviceSlice::reader`](cuda::DeviceSlice::reader): it is copied to the host,
/// piece by piece, since the CPU chooses and applies the filters.
pub mod cuda {
    pub use crate::archive::GpuRead;
    pub use crate::engine::decode::GpuDecoder;
    pub use crate::gpu::{
        BUILT, Built, DeviceBuffer, DeviceInfo, DeviceReader, DeviceSlice, GpuSearch, devices,
        is_built,
    };
}

mod analysis;
mod archive;
mod base;
#[cfg(test)]
#[path = "../tests/common/cases.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the integration tests"
)]
mod cases;
mod coder;
mod engine;
mod filter;
mod frame;
#[cfg_attr(not(feature = "cuda"), path = "gpu/absent.rs")]
mod gpu;
#[doc(hidden)]
pub mod internals;
mod options;
pub mod papers;
mod search;
mod stream;

pub use analysis::{lcp, overlap, repeats};
pub use archive::recover::{Lost, Recovery, recover};
pub use archive::{Archive, Lines};
pub use base::allocation::failure_is_handled;
pub use base::device::{Device, GpuSet};
pub use base::error::{Bound, Error, Result};
pub use base::tar::{Member, MemberKind};
pub use coder::Effort;
pub use frame::{BlockInfo, Features, FrameInfo, IndexInfo, IndexedBlocks, MAGIC};
pub use gpu::process_ranks::{JoinedRank, OtherRank, Ranks};
pub use options::events::{Event, Step};
pub use options::{
    DEFAULT_LEVEL, DEFAULT_SAMPLE_RATE, Letters, MAX_BLOCK_SIZE, MAX_THREADS, Note, Options,
    StreamCheck,
};
pub use search::{
    LinePiece, LineRegion, LineRequest, Matches, Place, ReadCost, RecordInfo, Searcher,
};
pub use stream::compress::{Encoder, Summary, compress};
pub use stream::decompress::{Decoder, decompress};
pub use stream::private_frame::private_frame;

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
