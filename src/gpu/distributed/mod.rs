//! Sorting of one text by several GPUs. Each GPU gets a part of the rows.
//!
//! There are three ways. Their papers and costs are on the pages of their files:
//!
//! - Sorting by key ranges (`range_sort`). Every GPU holds the whole text, and sorts the suffixes
//!   whose first keys are in its range.
//! - Prefix doubling (`joint_doubling`), for texts of any size. Every GPU holds a part of the text.
//! - Accelerated sampling (`sampled_sort`), as published.
//!
//! | file | job |
//! |---|---|
//! | `device_exchange` | operations of a network of GPUs |
//! | `peer_exchange` | the GPUs of one process, or several streams of one GPU |
//! | `part_keys` | first keys by the alphabetic code |
//! | `key_splits` | cuts of sorted keys at the first rows of the next GPU |
//! | `run_merge` | merge of sorted runs from several GPUs |
//! | `owner_routes` | requests for ranks, and the answers |
//! | `row_groups` | groups of suffixes that are equal so far |
//! | `open_groups` | the groups that lie on several GPUs |
//! | `joint_doubling` | prefix doubling, of texts of any size |
//! | `key_ranges` | suffixes divided by their first keys |
//! | `joined_lists` | the unresolved minimizers of all GPUs on one |
//! | `range_sort` | a range of keys for each GPU, all of which hold the whole text |
//! | `joint_work` | a GPU with its network and the primitives that it works with |
//! | `string_names` | strings of several words sorted over all GPUs, and named |
//! | `item_pairs` | items sent to the GPUs that keep them; the sample and its ranks |
//! | `record_merge` | suffixes compared by the ranks of the sample, and merged |
//! | `record_splits` | cuts of such suffixes at the first rows of the next GPU |
//! | `sampled_rows` | from sorted positions to the rows |
//! | `level_arrays` | the arrays of a level of `bsp` |
//! | `sampled_sort` | `bsp`: accelerated sampling, as in the paper |

mod device_exchange;
mod item_pairs;
mod joined_lists;
mod joint_doubling;
mod joint_work;
mod key_ranges;
mod key_splits;
mod level_arrays;
mod open_groups;
mod owner_routes;
mod part_keys;
mod peer_exchange;
mod range_sort;
mod record_merge;
mod record_splits;
mod row_groups;
mod run_merge;
mod sampled_rows;
mod sampled_sort;
mod string_names;

pub use device_exchange::DeviceExchange;
pub use joint_doubling::JointDoubling;
pub use part_keys::PartBytes;
pub use peer_exchange::{PeerBoard, PeerExchange};
pub use range_sort::{RangeMemory, RangeTask, SortedRange, sort_range};
pub use sampled_sort::SampledSort;
