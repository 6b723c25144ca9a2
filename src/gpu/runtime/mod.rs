//! Foundation of all GPU code: devices, streams of work on them, memory, and numbers shared with
//! the kernels.
//!
//! | file | job |
//! |---|---|
//! | `array` | items in device memory |
//! | `tuning` | numbers that kernels and host share |
//! | `kernel_structs` | structs that the host fills and kernels take |
//! | `host_flags` | words that kernels write and the host polls |
//! | `counted` | checks of counts that come from a GPU |
//! | `cuda_device` | the GPUs of the machine; one with the kernels loaded |
//! | `pause` | how a thread passes the time while it polls |
//! | `gpu_stream` | a stream of launches on a GPU |
//! | `faults` | for tests: bits that are flipped on purpose |
//! | `transfers` | copies of arrays |
//! | `arena` | device memory cut into arrays |
//! | `pinned_buffer` | memory of the host that the device copies from and to |
//! | `device_span` | device memory of a caller, and an allocation for one |
//! | `staging` | copies of ordinary memory by way of two pinned buffers |
//! | `peer_access` | GPUs that read each other's memory |
//! | `nccl` | sends between GPUs |

mod arena;
mod array;
mod counted;
mod cuda_device;
mod device_span;
#[cfg(test)]
pub(crate) mod faults;
mod gpu_stream;
mod host_flags;
pub(crate) mod kernel_structs;
mod nccl;
mod pause;
mod peer_access;
mod pinned_buffer;
mod staging;
mod transfers;
pub(crate) mod tuning;

pub(crate) use arena::{Arena, ArenaAllocator, GrowingArena, measure};
pub(crate) use array::{Array, DoubleBuffer};
pub(crate) use counted::{at_most, log_round};
pub(crate) use cuda_device::trim_memory;
pub use cuda_device::{BUILT, devices, has_driver};
pub use device_span::DeviceSpan;
pub(crate) use device_span::{COPIED, DeviceAllocation, gpu_of};
pub(crate) use gpu_stream::arguments;
pub(crate) use gpu_stream::{Gpu, KernelArgument};
pub(crate) use nccl::Communicator;
pub use nccl::NcclId;
pub(crate) use pause::Pause;
pub(crate) use pinned_buffer::PinnedBuffer;
pub(crate) use staging::Staging;
