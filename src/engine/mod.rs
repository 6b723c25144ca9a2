//! Who does a block, and its whole way: raw block -> coded block, and back.
//!
//! | file | job |
//! |---|---|
//! | `raw` | raw blocks, and where they come from |
//! | `block` | one block, raw <-> coded: filters, sort, coding and checks together |
//! | `sorters` | each block sorted and restored on the CPU or a leased GPU, which codes and decodes it too |
//! | `device_pool` | who may use which GPU now: leases, and the choice between CPU and GPU |
//! | `pipeline` | ordered stages over threads; knows nothing of compression |
//! | `thread_pool` | the threads that compute |
//! | `memory` | how many blocks at a time the memory allows |

pub(crate) mod block;
pub(crate) mod device_pool;
pub(crate) mod memory;
pub(crate) mod pipeline;
pub(crate) mod raw;
pub(crate) mod sorters;
pub(crate) mod thread_pool;
