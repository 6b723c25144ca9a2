//! The device on which blocks are sorted, restored and searched.

/// Where blocks are sorted, restored, and searched in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Whatever this machine has, where that pays.
    #[default]
    Auto,
    /// The processor only.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(u32),
}
