//! Sorting of one text by several GPUs. Each GPU gets a part of the rows.
//!
//! There are two ways. Their papers and costs are on the pages of their files:
//!
//! - Sorting by key ranges (`range_sort`). Every GPU holds the whole text, and sorts the suffixes
//!   whose first keys are in its range.
//! - Prefix doubling (`joint_doubling`), for texts of any size. Every GPU holds a part of the text.
//!
//! A third one, accelerated sampling as published, is in `papers`, for comparison.
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
//! | `joint_sort` | a sort by parts of the text, as a GPU runs it |
//! | `key_ranges` | suffixes divided by their first keys |
//! | `joined_lists` | the unresolved minimizers of all GPUs on one |
//! | `range_sort` | a range of keys for each GPU, all of which hold the whole text |

mod device_exchange;
mod joined_lists;
mod joint_doubling;
mod joint_sort;
mod key_ranges;
mod key_splits;
mod open_groups;
mod owner_routes;
mod part_keys;
mod peer_exchange;
mod range_sort;
mod row_groups;
mod run_merge;

pub(crate) use device_exchange::DeviceExchange;
pub(crate) use joint_sort::{ByDoubling, JointSort, OwnPart};
pub(crate) use key_splits::{Cut, KeySplits};
pub(crate) use owner_routes::{OwnerRoutes, RouteBuffers, RoutedList};
pub(crate) use part_keys::PartBytes;
pub(crate) use peer_exchange::{PeerBoard, PeerExchange};
pub(crate) use range_sort::{RangeMemory, RangeTask, SortedRange, sort_range};
pub(crate) use row_groups::{NewList, RowList, part_list};
