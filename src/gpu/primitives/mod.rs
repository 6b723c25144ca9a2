//! Device-wide primitives that know nothing of suffixes: those of CUB, and ours.
//!
//! | file | job |
//! |---|---|
//! | `cub` | CUB's radix sorts, scans and selection |
//! | `segmented_merge` | segmented sort by merging |
//! | `binned_sort` | segmented sort that picks a method by size |

pub mod binned_sort;
pub mod cub;
pub mod segmented_merge;
