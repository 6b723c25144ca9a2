//! Ranges of the raw bytes, restored to the memory of a GPU.

use super::Archive;
use super::archive_file::cost_of;
use crate::base::error::{Error, Result};
use crate::engine::decode::{GpuDecoder, PlacedBlock};
use crate::frame::{BlockInfo, contents};
use crate::gpu::DeviceSlice;
use crate::options::events::Step;
use crate::search::ReadCost;
use std::io::{Read, Seek};
use std::ops::Range;

/// The work of [`Archive::read_range_to_gpu`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuRead {
    /// Bytes read from the file, and blocks decoded.
    pub cost: ReadCost,
    /// Number of blocks whose raw bytes were never on the host.
    pub on_gpu: u64,
    /// Number of blocks that were restored on the host and copied to the GPU.
    pub by_host: u64,
}

impl<R: Read + Seek + Send> Archive<R> {
    /// Restores the raw bytes of `range` to the memory of a GPU, from the first byte of `out` on.
    /// Decodes only the blocks that hold them. `out` may be longer. The work is done when this
    /// returns; no stream needs to wait for it.
    ///
    /// Each block is checked by the CRC-32 of its raw bytes. The GPU does so itself if the block
    /// never comes to the host: if it has no filters, no index, at most 1 GiB, is not stored, and
    /// is coded by static rANS, which all efforts but [`Effort::Best`](crate::Effort::Best) use.
    /// The others are restored as [`Archive::read_range`] does it, and copied.
    ///
    /// # Errors
    /// [`Error::Usage`] if the range is not within the raw stream, if `out` is shorter, or if it is
    /// on another GPU than `gpu`; nothing is written then. Otherwise as
    /// [`decompress`](crate::decompress()); the content of `out` is arbitrary after such an error.
    pub fn read_range_to_gpu(
        &mut self,
        gpu: &GpuDecoder,
        range: Range<u64>,
        out: &mut DeviceSlice<'_>,
    ) -> Result<GpuRead> {
        self.contents.check_range(&range)?;
        self.contents.check_supported_in(&range)?;
        let size = range.end - range.start;
        check_room(gpu, size, out)?;
        self.options
            .check_output(0, size, || format!("the range {range:?}"))?;
        let numbers = self.blocks_of(&range);
        let wanted = &self.contents.blocks[numbers.clone()];
        let size = |raw: &Range<u64>| raw.end - raw.start;
        let Some(largest) = wanted.iter().max_by_key(|block| size(&block.raw)) else {
            return Ok(GpuRead::default());
        };
        let options = self
            .options
            .for_work(wanted.iter().map(|block| size(&block.raw)).sum());
        let pipeline = gpu
            .start(out.span(), range, size(&largest.raw), &options)
            .map_err(|e| e.at(numbers.start as u64, largest.coded.start))?;
        let listener = &self.options.run.listener;
        let input = &mut self.input;
        let size = |block: &BlockInfo| block.coded.end - block.coded.start;
        let most = wanted.iter().map(size).max().unwrap_or(0);
        let placed = numbers.zip(wanted).map(|(number, info)| {
            let number = number as u64;
            let memory = gpu.payload_memory(most);
            let read = || contents::read_block_into(memory, input, info, number);
            let raw_size = info.raw.end - info.raw.start;
            let coded = listener.time(number, raw_size, Step::Read, read)?;
            Ok(PlacedBlock {
                coded,
                raw_start: info.raw.start,
            })
        });
        let mut done = GpuRead {
            cost: cost_of(wanted),
            ..GpuRead::default()
        };
        let count = |on_gpu: bool| {
            done.on_gpu += u64::from(on_gpu);
            done.by_host += u64::from(!on_gpu);
            Ok(())
        };
        // The pipeline's threads, which write to `out`, end before this returns.
        pipeline.run(placed, count, || listener.failed())?;
        Ok(done)
    }
}

/// Checks that `size` bytes fit into `out`, and that it is on the GPU that decodes.
fn check_room(gpu: &GpuDecoder, size: u64, out: &DeviceSlice) -> Result<()> {
    if (out.len() as u64) < size {
        let said = format!("the memory has {} bytes, and {size} are needed", out.len());
        return Err(Error::Usage(said.into()));
    }
    if out.gpu() != gpu.gpu() {
        let said = format!(
            "the memory is on GPU {}, and GPU {} decodes",
            out.gpu(),
            gpu.gpu()
        );
        return Err(Error::Usage(said.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
