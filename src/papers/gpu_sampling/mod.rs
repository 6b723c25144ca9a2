//! Accelerated sampling on GPUs: one text sorted by one or several, which exchange arrays of device
//! memory.
//!
//! | file | job |
//! |---|---|
//! | `joint_work` | a GPU with its network and the primitives that it works with |
//! | `string_names` | strings of several words sorted over all GPUs, and named |
//! | `item_pairs` | items sent to the GPUs that keep them; the sample and its ranks |
//! | `record_merge` | suffixes compared by the ranks of the sample, and merged |
//! | `record_splits` | cuts of such suffixes at the first rows of the next GPU |
//! | `sampled_rows` | from sorted positions to the rows |
//! | `level_arrays` | the arrays of a level |
//! | `sampled_sort` | `bsp`: the algorithm, step by step |

mod item_pairs;
mod joint_work;
mod level_arrays;
mod record_merge;
mod record_splits;
mod sampled_rows;
mod sampled_sort;
mod string_names;
#[cfg(test)]
mod tests;

pub(super) use sampled_sort::BySampling;
