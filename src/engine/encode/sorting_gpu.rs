//! One leased GPU that sorts blocks, and codes them if it has the memory for that too.

use crate::base::device::{Device, GpuSet};
use crate::base::error::Result;
use crate::base::threads;
use crate::bwt::{self, Bwt};
use crate::coder::SliceLimits;
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::gpu;
use crate::options::events::{Step, Timed};
use std::time::Instant;

/// Result of a GPU: the transform, coded or not; if it is coded, how often each byte occurs in it;
/// and the time of each step.
pub(super) type GpuSorted = (Sorted, Option<[u32; 256]>, Vec<Timed>);

#[cfg(test)]
type FakeSort = Box<dyn FnMut(&[u8], u32) -> Result<GpuSorted> + Send>;

/// A GPU that sorts blocks.
pub(super) enum SortingGpu {
    Cuda(Box<CudaSorter>),
    /// A test's stand-in for a GPU, which is given a block and the sample rate.
    #[cfg(test)]
    Fake(FakeSort),
}

impl SortingGpu {
    /// Opens GPU `number`, with memory for blocks of up to `block_size` bytes at this sample rate.
    /// If `limits` is given and there is memory, the GPU also codes the blocks into slices of these
    /// limits. Up to `threads` threads copy very large blocks.
    pub(super) fn open(
        number: u32,
        block_size: u32,
        sample_rate: u32,
        limits: Option<SliceLimits>,
        threads: usize,
    ) -> Result<Self> {
        let mut sorter = gpu::GpuSorter::new(number)?;
        sorter.reserve(block_size, sample_rate)?;
        // The CPU codes larger blocks.
        let limits = limits.filter(|_| block_size <= gpu::MOST_BYTES);
        let coder = limits.and_then(|limits| {
            let mut encoder = gpu::BwtEncoder::new(number).ok()?;
            encoder
                .reserve(block_size, limits)
                .ok()
                .map(|()| (encoder, limits))
        });
        if coder.is_none() {
            sorter.reserve_output(block_size)?;
        }
        Ok(SortingGpu::Cuda(Box::new(CudaSorter {
            number,
            sorter,
            coder,
            threads,
        })))
    }

    #[cfg(test)]
    pub(super) fn fake(sort: impl FnMut(&[u8], u32) -> Result<GpuSorted> + Send + 'static) -> Self {
        SortingGpu::Fake(Box::new(sort))
    }

    /// Sorts a block with the given sample rate, and codes it if this GPU does.
    pub(super) fn sort(&mut self, block: &[u8], sample_rate: u32) -> Result<GpuSorted> {
        match self {
            SortingGpu::Cuda(gpu) => {
                let began = Instant::now();
                threads::copy(gpu.sorter.input(block.len())?, block, gpu.threads);
                gpu.sort(sample_rate, began)
            }
            #[cfg(test)]
            SortingGpu::Fake(sort) => sort(block, sample_rate),
        }
    }
}

/// A GPU with the memory for one block.
pub(super) struct CudaSorter {
    number: u32,
    sorter: gpu::GpuSorter,
    coder: Option<(gpu::BwtEncoder, SliceLimits)>,
    threads: usize,
}

impl CudaSorter {
    /// Sorts the sorter's input, whose copying began at `began`, and codes it if there is a coder.
    fn sort(&mut self, sample_rate: u32, began: Instant) -> Result<GpuSorted> {
        if let Some((encoder, limits)) = &mut self.coder {
            let (encoded, samples) = self
                .sorter
                .sort_and_encode(sample_rate, encoder, *limits)?;
            let samples = samples.to_vec();
            let counts = encoded.byte_counts;
            let coded = Instant::now();
            let transform = CodedTransform {
                coded: encoder.take(encoded)?,
                sample_rate,
                samples,
            };
            let steps = self.steps(began, coded);
            return Ok((Sorted::Coded(transform), Some(counts), steps));
        }
        let sorted = self.sorter.sort_input(sample_rate)?;
        let mut bytes = bwt::zeroed(sorted.bytes.len())?;
        threads::copy(&mut bytes, sorted.bytes, self.threads);
        let samples = bwt::wide(sorted.samples.to_vec());
        let steps = self.steps(began, Instant::now());
        Ok((
            Sorted::Bwt(Bwt {
                bytes,
                sample_rate,
                samples,
            }),
            None,
            steps,
        ))
    }

    /// The times of the last sort. `ended` is the end of its last step on the GPU, or of the copy
    /// of its transform if the GPU does not code.
    fn steps(&self, began: Instant, ended: Instant) -> Vec<Timed> {
        let [_, from, to, _] = self
            .sorter
            .report()
            .times
            .unwrap_or([began, began, ended, ended]);
        let gpu = Device::Cuda(GpuSet::one(self.number));
        let mut steps = vec![(Step::CopyIn, began, from), (Step::Sort(gpu), from, to)];
        steps.extend(match self.coder {
            Some(_) => vec![
                (Step::Code(gpu), to, ended),
                (Step::CopyOut, ended, Instant::now()),
            ],
            None => vec![(Step::CopyOut, to, ended)],
        });
        steps
    }
}
