//! Device-wide primitives that know nothing of suffixes: CUB's, and ours.

pub mod binned_sort;
pub mod cub;
pub mod segmented_merge;
