//! Decodes blocks to the memory of a GPU.
//!
//! A [`GpuDecoder`] keeps the GPU's working memory between calls, since taking it takes longer than
//! some blocks do. A call has a pipeline of its own, as a stream has. Each of its workers restores
//! blocks to their places in the memory, in any order; `block_decoder` does one block.

use super::block_decoder::{BlockDecoder, DevicePart};
use super::inverting_gpu::{InvertingGpu, KeptGpus};
use crate::base::allocation;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::base::threads::Threads;
use crate::engine::pipeline::{Pipeline, Work};
use crate::engine::raw::Spare;
use crate::engine::thread_pool;
use crate::frame::CodedBlock;
use crate::gpu::{self, DeviceSpan};
use crate::options::Options;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Number of blocks at a time. On an H200, 32 blocks of 32 MiB of random words are restored a fifth
/// sooner with 12 at a time than with 8, and hardly sooner still with 16.
const LEASES: usize = 12;

/// A GPU that decodes blocks to its own memory, for
/// [`Archive::read_range_to_gpu`](crate::Archive::read_range_to_gpu). It keeps its working memory
/// until it is dropped: about 22 bytes for each byte of a block, for up to 12 blocks at a time, or
/// for up to 2 if there are blocks above 1 GiB.
pub struct GpuDecoder {
    number: u32,
    kept: KeptGpus,
    /// Memory of earlier payloads. The system would clear fresh memory first, page by page, for the
    /// one thread that reads.
    payloads: Spare,
}

impl fmt::Debug for GpuDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuDecoder")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Drop for GpuDecoder {
    /// Gives the working memory back, for whoever uses the GPU next.
    fn drop(&mut self) {
        self.kept.clear();
        gpu::trim_memory(self.number);
    }
}

impl GpuDecoder {
    /// Creates a decoder on GPU `number`. The first call takes its working memory.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or its driver is missing, or if this build has no CUDA.
    pub fn new(number: u32) -> Result<Self> {
        if !gpu::is_built() {
            let said = "this build of bwz has no CUDA: build it with the feature cuda";
            return Err(Error::Device(said.into()));
        }
        let known = gpu::devices()?;
        if number > GpuSet::MAX_NUMBER || known.iter().all(|gpu| gpu.number != number) {
            return Err(Error::Device(
                format!("there is no CUDA device {number}").into(),
            ));
        }
        Ok(GpuDecoder {
            number,
            kept: KeptGpus::default(),
            payloads: Spare::default(),
        })
    }

    /// Number of the GPU.
    pub fn gpu(&self) -> u32 {
        self.number
    }

    /// Memory for a payload of up to `size` bytes, if there is any.
    pub(crate) fn payload_memory(&self, size: u64) -> Vec<u8> {
        let memory = self.payloads.take();
        if memory.capacity() as u64 >= size {
            return memory;
        }
        drop(memory);
        allocation::with_capacity(size as usize).unwrap_or_default()
    }

    /// Starts a pipeline that restores `range` of a raw stream to device memory, which has as many
    /// bytes. The blocks have up to `block_size` bytes.
    ///
    /// # Errors
    /// As for `decode::start`.
    pub(crate) fn start(
        &self,
        span: Arc<DeviceSpan>,
        range: Range<u64>,
        block_size: u64,
        options: &Options,
    ) -> Result<Pipeline<DeviceDecoder>> {
        let options = options
            .clone()
            .device(Device::Cuda(GpuSet::one(self.number)));
        let pool = Threads::Pool(Arc::new(thread_pool::pool(&options)?));
        let kept = self.kept.clone();
        let open =
            move |number, most, threads| InvertingGpu::open_kept(number, most, threads, &kept);
        let spare = Spare::default();
        let blocks = BlockDecoder::with_gpus(block_size, pool, spare, &options, LEASES, open)?;
        let plan = blocks.plan();
        let work = DeviceDecoder {
            blocks,
            span,
            range,
            payloads: self.payloads.clone(),
        };
        Ok(Pipeline::start(
            plan.depth,
            plan.workers + plan.coders,
            work,
        )?)
    }
}

/// A block, and the position of its first byte in the raw stream of the file.
pub(crate) struct PlacedBlock {
    pub coded: CodedBlock,
    pub raw_start: u64,
}

/// The work of a call.
pub(crate) struct DeviceDecoder {
    blocks: BlockDecoder,
    /// The memory, which outlives the pipeline.
    span: Arc<DeviceSpan>,
    /// The raw bytes that it takes.
    range: Range<u64>,
    payloads: Spare,
}

impl Work for DeviceDecoder {
    type Item = PlacedBlock;
    /// True if the block's raw bytes were never on the host.
    type Done = bool;
    type Error = Error;

    fn announce(&self, block: &PlacedBlock) {
        self.blocks.announce(&block.coded);
    }

    fn work(&self, block: PlacedBlock) -> Result<bool> {
        let start = block.raw_start;
        let from = self.range.start.max(start);
        let to = self
            .range
            .end
            .min(start + block.coded.header.raw_size);
        let target = DevicePart {
            part: (from - start) as usize..(to - start) as usize,
            span: &self.span,
            at: (from - self.range.start) as usize,
        };
        self.blocks
            .decode_to(block.coded, &target, &self.payloads)
    }

    fn close(&self) {
        self.blocks.close();
    }

    fn abandon(&self) {
        self.blocks.abandon();
    }
}
