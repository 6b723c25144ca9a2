//! GPU code for NVIDIA devices: suffix sorting, the inverse BWT, coding by static rANS, and search.
//!
//! It is part of builds with the feature `cuda`. Running it takes a driver and nothing else. In
//! other builds `absent` takes its place.
//!
//! | file | job |
//! |---|---|
//! | `interface` | plain data that goes in and comes out |
//! | `lcp_chunk` | suffixes and LCP values as they come from a GPU, and their unpacking |
//! | `peers` | the first failure in a network of GPUs |
//! | `text_parts` | a text and its rows in parts, on several GPUs |
//! | `runtime` | devices, streams, memory, flags; numbers and structs shared by host and kernels |
//! | `primitives` | CUB's sorts and scans |
//! | `block` | a block in device memory: its text, the counts of its bytes, its transform |
//! | `sort` | the algorithm `default` (`default_sort`): alphabetic code, small groups in shared memory, minimizers; or skew with prefix doubling |
//! | `distributed` | one text sorted by several GPUs |
//! | `inverse`, `search` | the steps of the inverse BWT; an FM-index that is searched |
//! | `coder` | slices of static rANS, both ways |
//! | `lcp` | the LCP array, range minima and longest common extensions |
//! | `device_memory` | device memory of a caller, and for one |
//! | `gpu_sort` | a suffix sort as the sorters run it |
//! | `sorter`, `bwt_encoder`, `bwt_decoder`, `inverse_bwt` | a GPU and its memory, for one work |
//! | `joint_encoder` | a BWT coded in parts |
//! | `pattern_batches`, `gpu_lcp`, `extension_queries` | the same for searches and LCP arrays |
//! | `nccl_processor`, `part_sorter`, `joint_sorter`, `rank_sorter` | for the other rooms of `src`: sorts and exchanges of several GPUs |
//! | `process_ranks` | processes with a GPU each that sort a block together |
//!
//! Each module uses only those above it. `kernels/` has the same folders: `kernels/a/x.cu` holds
//! the kernels of `a/x.rs`, which wraps each of them in a function that checks lengths. Published
//! sorts are in `papers`, outside of this folder, with their kernels in `kernels/papers`. A CUDA
//! thread block is called a *CTA*; a *block* is a part of the input that is compressed alone.

pub(crate) mod block;
mod bwt_decoder;
mod bwt_encoder;
mod coder;
mod device_memory;
pub(crate) mod distributed;
mod extension_queries;
mod gpu_lcp;
pub(crate) mod gpu_sort;
mod interface;
mod inverse;
mod inverse_bwt;
#[cfg(test)]
pub(crate) mod joint_checks;
mod joint_encoder;
mod joint_sorter;
mod lcp;
#[cfg(test)]
pub(crate) mod lcp_checks;
mod lcp_chunk;
mod nccl_processor;
mod part_sorter;
mod pattern_batches;
mod peers;
pub(crate) mod primitives;
pub(crate) mod process_ranks;
mod rank_sorter;
pub(crate) mod runtime;
mod search;
pub(crate) mod sort;
#[cfg(test)]
pub(crate) mod sort_checks;
mod sorter;
#[cfg(test)]
mod test_data;
#[cfg(test)]
pub(crate) mod testing;
mod text_parts;

pub use bwt_decoder::BwtDecoder;
pub use bwt_encoder::{BwtEncoder, EncodedSlices};
pub use device_memory::{DeviceBuffer, DeviceReader, DeviceSlice};
pub use extension_queries::ExtensionQueries;
pub use gpu_lcp::GpuLcpSorter;
pub use interface::{
    Built, DeviceInfo, JointReport, JointlyEncoded, LcpReport, LcpRows, LcpView, MOST_BYTES,
    MOST_INVERTED, MOST_NARROW, MOST_PINNED, MOST_SEARCHED, MOST_SORTED, MinimaArrays, Report,
    SortedBlock, SortedText, Transferred,
};
pub(crate) use interface::{IndexArrays, KmerArrays, RankArrays, SampleArrays};
pub use inverse_bwt::GpuInverse;
pub(crate) use inverse_bwt::TextTarget;
pub(crate) use joint_encoder::encode_jointly;
pub use joint_sorter::JointSorter;
pub use lcp_chunk::LcpChunk;
pub use nccl_processor::NcclProcessor;
pub use pattern_batches::GpuSearch;
pub use peers::Peers;
pub use rank_sorter::RankSorter;
pub(crate) use runtime::trim_memory;
pub use runtime::{BUILT, DeviceSpan, NcclId, devices, has_driver};
pub use sorter::GpuSorter;
pub use text_parts::{PartRows, PartTask, PartText, TextParts};

/// Returns true if this build contains CUDA code.
pub const fn is_built() -> bool {
    true
}
