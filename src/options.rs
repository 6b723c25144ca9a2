//! What a caller may choose. Everything else follows from the input.

use crate::coder::Effort;
use crate::error::{Error, Result};
use crate::memory;
use std::thread;

/// The largest block a frame may hold: positions fit 31 bits.
pub const MAX_BLOCK_SIZE: u32 = i32::MAX as u32;

/// The level that the command and [`Options::new`] start from.
pub const DEFAULT_LEVEL: u8 = 6;

/// Where blocks are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Whatever this machine has.
    #[default]
    Auto,
    /// The processor only.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(u32),
}

/// Settings of compression and decompression.
///
/// Only the block size and the effort change what is written: the same input with the same two gives the same bytes
/// whatever the threads, the memory and the device.
///
/// ```
/// let options = bwz::Options::new().level(9)?.threads(2).memory(4 << 30);
/// assert_eq!(options.block_size(), 256 << 20);
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    block_size: u32,
    threads: usize,
    memory: u64,
    device: Device,
    effort: Effort,
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

impl Options {
    /// Level 6, one thread per core, half of this machine's (or its cgroup's) memory, any device.
    #[must_use]
    pub fn new() -> Self {
        Options {
            block_size: level_block_size(DEFAULT_LEVEL),
            threads: thread::available_parallelism().map_or(1, usize::from),
            memory: memory::default_limit(),
            device: Device::Auto,
            effort: Effort::Default,
        }
    }

    /// Sets the block size by level: `1 MiB << (level - 1)`, so 1 MiB at 1 and 256 MiB at 9.
    ///
    /// # Errors
    /// [`Error::Usage`] where `level` is not in `1..=9`.
    pub fn level(self, level: u8) -> Result<Self> {
        if !(1..=9).contains(&level) {
            return Err(Error::Usage(format!("level {level} is not one of 1 to 9").into()));
        }
        self.with_block_size(level_block_size(level))
    }

    /// Sets the raw size of a block in bytes, for sizes that no level has.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is 0 or above [`MAX_BLOCK_SIZE`].
    pub fn with_block_size(mut self, bytes: u32) -> Result<Self> {
        if bytes == 0 || bytes > MAX_BLOCK_SIZE {
            return Err(Error::Usage(
                format!("block size {bytes} is not one of 1 to {MAX_BLOCK_SIZE} bytes").into(),
            ));
        }
        self.block_size = bytes;
        Ok(self)
    }

    /// Sets how many threads compute; 0 means one per core. Reading and writing take no part in the count.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        self
    }

    /// Sets how many bytes of memory may be used; fewer blocks are then worked on at a time.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets where blocks are sorted.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Sets what coding may cost for what it saves.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Raw bytes per block.
    #[must_use]
    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads
    }

    pub(crate) fn memory_limit(&self) -> u64 {
        self.memory
    }

    pub(crate) fn chosen_effort(&self) -> Effort {
        self.effort
    }

    pub(crate) fn chosen_device(&self) -> Device {
        self.device
    }
}

const fn level_block_size(level: u8) -> u32 {
    1 << (19 + level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_double_the_block() {
        let size = |level| Options::new().level(level).map(|o| o.block_size());
        assert_eq!(size(1).unwrap(), 1 << 20);
        assert_eq!(size(6).unwrap(), 32 << 20);
        assert_eq!(size(9).unwrap(), 256 << 20);
        assert!(size(0).is_err() && size(10).is_err());
    }

    #[test]
    fn block_sizes_have_bounds() {
        assert!(Options::new().with_block_size(0).is_err());
        assert!(Options::new().with_block_size(MAX_BLOCK_SIZE).is_ok());
        assert!(Options::new().with_block_size(MAX_BLOCK_SIZE + 1).is_err());
    }
}
