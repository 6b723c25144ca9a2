//! Suffix sorting, its inverse and search on NVIDIA GPUs. Only in builds with the feature `cuda`; running it takes a driver and nothing else.
//!
//! | room | job |
//! |---|---|
//! | `device` | the GPUs of the machine; one with the kernels loaded; a stream of launches on it |
//! | `buffers`, `pinned` | device memory carved into arrays; memory of the host that the device reads and writes |
//! | `sorter`, `unsorter` | block -> transform and samples, and back: the faces of all this |
//! | `suffix_array` | the algorithms, one file each |
//! | `keys`, `groups`, `cover`, `transform` | the steps they consist of |
//! | `cover_groups`, `cover_merge` | those of `skew-pd` |
//! | `codes`, `refine`, `anchors`, `sparse`, `ties` | those of `default`, and what these share |
//! | `inverse` | the steps of the inverse |
//! | `search`, `batches` | an FM-index that is searched; batches of patterns on their way to it and back |
//! | `segmented_sort`, `size_classes`, `merge_path` | primitives of ours |
//! | `cub` | primitives of CUB |
//! | `tuning` | numbers that kernels and host share |
//!
//! `kernels/x.cu` holds the kernels of `x.rs`, where each is wrapped once in a function that checks lengths.
//! Words: a CUDA thread block is a *CTA*, a *block* is what is compressed alone.

mod anchors;
mod batches;
mod buffers;
mod codes;
mod cover;
mod cover_groups;
mod cover_merge;
mod cub;
mod device;
mod groups;
mod inverse;
mod keys;
mod merge_path;
mod pinned;
mod refine;
mod search;
mod segmented_sort;
mod size_classes;
mod sorter;
mod sparse;
mod suffix_array;
#[cfg(test)]
pub(crate) mod testing;
mod ties;
mod transform;
mod tuning;
mod unsorter;

pub use batches::Searcher;
pub use device::{BUILT, Built, DeviceInfo, devices};
pub use search::{Layout, Parts, Samples, Seeds};
pub use sorter::{Report, Sorted, Sorter};
pub use suffix_array::Algorithm;
pub use unsorter::Unsorter;
