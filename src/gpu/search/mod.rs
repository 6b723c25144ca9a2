//! Search in an FM-index in device memory: the index, its kernels, and patterns as they go there.

mod device_index;
mod packed_patterns;

pub use device_index::{DeviceIndex, NO_POS, intervals, positions};
pub use packed_patterns::{BATCH_BYTES, BATCH_ITEMS, CHUNK, batch, fill_starts, pack};
