//! Maps from model states to tables in device memory. They are the same for all blocks.

use crate::base::error::Result;
use crate::coder::device_tables::ContextArrays;
use crate::gpu::runtime::kernel_structs;
use crate::gpu::runtime::{Arena, Array, Gpu};

/// The maps, in memory of their own.
#[derive(Debug)]
pub(crate) struct ContextMaps(Arena);

impl ContextMaps {
    /// Copies the maps to the device.
    pub(crate) fn new(gpu: &Gpu) -> Result<Self> {
        let of_cpu = ContextArrays::new();
        let maps = kernel_structs::ContextMaps {
            roots: of_cpu.roots,
            run_context: of_cpu.run_context,
            rank_context: of_cpu.rank_context,
            all_rank_context: of_cpu.all_rank_context,
            run_leaf: of_cpu.run_leaf,
            own_rank: of_cpu.own_rank,
            rank_leaf: of_cpu.rank_leaf,
        };
        let mut memory = Arena::new(gpu, size_of::<kernel_structs::ContextMaps>())?;
        let array: Array<kernel_structs::ContextMaps> = memory.allocator().array(1);
        gpu.write(&[maps], array)?;
        Ok(ContextMaps(memory))
    }

    /// Device address of the maps.
    pub(crate) fn address(&mut self) -> u64 {
        self.0
            .allocator()
            .array::<kernel_structs::ContextMaps>(1)
            .address()
    }
}
