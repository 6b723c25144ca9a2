//! Suffix sorting by several processors that exchange words, for a text larger than the memory of
//! one.
//!
//! There are two algorithms: `bsp`, the accelerated sampling of a paper in the bulk-synchronous
//! parallel (BSP) model, and `doubling`, prefix doubling. Their papers and costs are on the pages
//! of their files.
//!
//! | file | job |
//! |---|---|
//! | `exchange` | one superstep: the operations of a network |
//! | `virtual_processors` | any number of processors in memory |
//! | `nccl_exchange` | a GPU as a processor, with NCCL; `run_on_gpus` is called by tests alone |
//! | `processor` | supersteps, and the words that they send |
//! | `block_distribution` | the items that each processor holds |
//! | `string_rows`, `string_sort` | strings of one length, sorted by radix and by regular sampling |
//! | `accelerated_sampling` | `bsp`: the algorithm of the paper, step by step |
//! | `suffix_order`, `spanning_sets`, `suffix_merge` | its last step: sets of suffixes merged |
//! | `prefix_doubling` | `doubling`: groups of suffixes refined where they lie |
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

pub use crate::papers::sampling::{Level, critical_round, levels};
