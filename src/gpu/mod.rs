//! Suffix sorting, its inverse and search on NVIDIA GPUs. Only in builds with the feature `cuda`; running it takes a driver and nothing else.
//!
//! `kernels/x.cu` holds the kernels of `x.rs`, where each is wrapped once in a function that checks lengths.
//! Words: a CUDA thread block is a *CTA*, a *block* is what is compressed alone.

mod arena;
mod binned_sort;
mod code_keys;
mod cover_groups;
mod cover_merge;
mod cub;
mod cuda_device;
mod device_index;
mod inverse_bwt;
mod lf_mapping;
mod merge_path;
mod minimizers;
mod packed_symbols;
mod pattern_batches;
mod pinned;
mod rank_groups;
mod refine;
mod sa_to_bwt;
mod segmented_merge;
mod skew_steps;
mod sorter;
mod sparse_minimizers;
mod suffix_array;
#[cfg(test)]
pub(crate) mod testing;
mod tuning;
mod unsorted_groups;

pub use cuda_device::{BUILT, Built, DeviceInfo, devices};
pub use device_index::{KmerTable, Layout, Parts, Samples};
pub use inverse_bwt::InverseBwt;
pub use pattern_batches::Searcher;
pub use sorter::{Report, SortedBlock, Sorter};
pub use suffix_array::Algorithm;
