//! Structs that kernels take, generated from those of the kernels by `kernels/build.rs`, so that
//! each layout is written once. A device address is a `u64` here.

/// Allows a struct as a kernel's argument and in device memory.
macro_rules! shared {
    ($name:ty) => {
        // SAFETY: it consists only of integers, laid out as in C.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::DeviceRepr for $name {}
        // SAFETY: as above, and all integers may be 0.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    };
}

include!(concat!(env!("OUT_DIR"), "/kernel_structs.rs"));
