//! Device-wide primitives that know nothing of suffixes: CUB's, and ours.

pub mod binned_sort;
pub mod cub;
pub mod merge_path;
pub mod segmented_merge;
