//! Search in an FM-index in device memory.

mod device_index;

pub use device_index::{DeviceIndex, NO_POS, intervals, positions};
