//! One text sorted by several GPUs, each of which gets a part of the rows; in one of two ways.
//!
//! | file | job |
//! |---|---|
//! | `device_exchange` | what is asked of a network of GPUs |
//! | `peer_exchange` | the GPUs of one process, or several streams of one GPU |
//! | `part_keys` | first keys by the alphabetic code |
//! | `key_splits` | sorted keys cut where the rows of the next GPU begin |
//! | `run_merge` | what comes sorted from several GPUs, merged |
//! | `owner_routes` | ranks asked for and told |
//! | `row_groups` | groups of suffixes that are equal so far |
//! | `open_groups` | those of them that lie on several GPUs |
//! | `joint_doubling` | prefix doubling, of texts of any size |
//! | `key_ranges` | suffixes parted by their first keys |
//! | `joined_lists` | the unresolved minimizers of all GPUs on one |
//! | `range_sort` | a range of keys for each GPU, all of which hold the whole text |

mod device_exchange;
mod joined_lists;
mod joint_doubling;
mod key_ranges;
mod key_splits;
mod open_groups;
mod owner_routes;
mod part_keys;
mod peer_exchange;
mod range_sort;
mod row_groups;
mod run_merge;

pub use device_exchange::DeviceExchange;
pub use joint_doubling::JointDoubling;
pub use part_keys::PartBytes;
pub use peer_exchange::{PeerBoard, PeerExchange};
pub use range_sort::{RangeMemory, RangeTask, SortedRange, sort_range};
