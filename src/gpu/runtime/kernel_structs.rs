//! Structs that kernels take.

macro_rules! kernel_structs {
    ($($name:ty),*) => {
        $(// SAFETY: plain integers, laid out as in C.
        #[allow(unsafe_code)]
        unsafe impl cudarc::driver::DeviceRepr for $name {})*
    };
}
pub(in crate::gpu) use kernel_structs;
