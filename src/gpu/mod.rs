//! Suffix sorting on NVIDIA GPUs. Only in builds with the feature `cuda`; running it takes a driver and nothing else.
//!
//! | room | job |
//! |---|---|
//! | `device` | the GPUs of the machine; one with the kernels loaded; a stream of launches on it |
//! | `buffers` | device memory carved into arrays, copies, pinned memory |
//! | `sorter` | block -> transform and samples: the face of all this |
//! | `suffix_array` | the algorithms, one file each |
//! | `keys`, `groups`, `cover`, `transform` | the steps they consist of |
//! | `segmented_sort`, `size_classes`, `merge_path` | primitives of ours |
//! | `cub` | primitives of CUB |
//! | `tuning` | numbers that kernels and host share |
//!
//! `kernels/x.cu` holds the kernels of `x.rs`, where each is wrapped once in a function that checks lengths.
//! Words: a CUDA thread block is a *CTA*, a *block* is what is compressed alone.

mod buffers;
mod cover;
mod cub;
mod device;
mod groups;
mod keys;
mod merge_path;
mod segmented_sort;
mod size_classes;
mod sorter;
mod suffix_array;
#[cfg(test)]
pub(crate) mod testing;
mod transform;
mod tuning;

pub use device::{BUILT, Built, DeviceInfo, devices};
pub use sorter::{Report, Sorted, Sorter};
pub use suffix_array::Algorithm;
