//! Search in an FM-index in device memory.

mod device_index;

pub use device_index::{
    DeviceIndex, KmerTable, Layout, NO_POS, Parts, Samples, intervals, positions,
};
