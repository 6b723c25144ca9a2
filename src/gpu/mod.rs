//! Suffix sorting, its inverse and search on NVIDIA GPUs. Only in builds with the feature `cuda`; running it takes a driver and nothing else.
//!
//! `kernels/x.cu` holds the kernels of `x.rs`, where each is wrapped once in a function that checks lengths.
//! Words: a CUDA thread block is a *CTA*, a *block* is what is compressed alone.

mod algorithm;
mod block;
mod inverse;
mod inverse_bwt;
mod papers;
mod pattern_batches;
mod primitives;
mod runtime;
mod search;
mod sort;
mod sorter;
#[cfg(test)]
pub(crate) mod testing;

pub use algorithm::Algorithm;
pub use inverse_bwt::InverseBwt;
pub use pattern_batches::Searcher;
pub use runtime::{BUILT, Built, DeviceInfo, devices};
pub use search::{KmerTable, Layout, Parts, Samples};
pub use sorter::{Report, SortedBlock, Sorter};
