//! The structs that kernels take, made of those of the kernels by `kernels/build.rs`: a layout
//! stands in one place. An address in device memory is a `u64` here.

/// Lets a struct be an argument of a kernel, and be in device memory.
macro_rules! shared {
    ($name:ty) => {
        // SAFETY: it consists of integers alone, laid out as in C.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::DeviceRepr for $name {}
        // SAFETY: as above, and they may all be 0.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    };
}

include!(concat!(env!("OUT_DIR"), "/kernel_structs.rs"));
