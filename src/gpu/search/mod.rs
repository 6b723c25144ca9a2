//! Search in an FM-index in device memory.
//!
//! | file | job |
//! |---|---|
//! | `device_index` | the index on the device, and its kernels |
//! | `packed_patterns` | batches of patterns, packed one behind the other |

mod device_index;
mod packed_patterns;

pub(super) use device_index::{DeviceIndex, NO_POS, intervals, positions};
pub(super) use packed_patterns::{BATCH_BYTES, BATCH_ITEMS, CHUNK, batch, fill_starts, pack};
