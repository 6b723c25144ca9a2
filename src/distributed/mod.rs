//! Suffix sorting by several processors, which exchange words: one text larger than one of them.
//!
//! | file | job |
//! |---|---|
//! | `exchange` | one superstep: what is asked of a network |
//! | `virtual_processors` | any number of processors in memory |
//! | `nccl_exchange` | a GPU as a processor, with NCCL |
//! | `processor` | supersteps, and the words that they send |
//! | `block_distribution` | which processor holds which items |
//! | `string_rows`, `string_sort` | strings of one length, sorted by radix and by regular sampling |
//! | `accelerated_sampling` | `bsp`: the algorithm of the paper, step by step |
//! | `suffix_order`, `spanning_sets`, `suffix_merge` | its last step: sets of suffixes merged |
//! | `prefix_doubling` | `default`: groups of suffixes refined where they lie |
//!
//! A processor's part of an algorithm is one `async` function ([`Exchange`] says why), and all
//! processors run the same. Positions, ranks and symbols are words of 64 bits.

mod accelerated_sampling;
mod block_distribution;
mod exchange;
mod nccl_exchange;
mod prefix_doubling;
mod processor;
mod spanning_sets;
mod string_rows;
mod string_sort;
mod suffix_merge;
mod suffix_order;
#[cfg(test)]
mod tests;
mod virtual_processors;

pub use accelerated_sampling::suffix_array;
pub use block_distribution::Blocks;
pub use exchange::{Alone, Exchange, Messages};
pub use nccl_exchange::run_on_gpus;
pub use prefix_doubling::sort_by_doubling;
pub use processor::{Processor, Superstep, h_relations};
pub use virtual_processors::{VirtualProcessor, run_blocking, run_virtual};

pub use crate::sampling::{Level, critical_round, levels};
