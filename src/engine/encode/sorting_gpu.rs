//! One leased GPU that sorts blocks, and codes them if it has the memory for that too. It proves
//! what it made by restoring it (`gpu_proof`).

use super::gpu_proof::{Proof, ProofTask, Prover};
use crate::base::device::{Device, GpuSet};
use crate::base::error::Result;
use crate::base::threads;
use crate::bwt::{self, Bwt};
use crate::coder::SliceLimits;
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::gpu;
use crate::options::events::{Step, Timed};
use std::time::Instant;

/// Result of a GPU.
pub(super) struct GpuSorted {
    /// The transform, coded or not.
    pub sorted: Sorted,
    /// If the transform is coded: how often each byte occurs in it.
    pub counts: Option<[u64; 256]>,
    pub proof: Proof,
    pub steps: Vec<Timed>,
}

impl GpuSorted {
    /// A result that is not proved yet.
    pub(super) fn of(sorted: Sorted) -> Self {
        GpuSorted {
            sorted,
            counts: None,
            proof: Proof::Missing,
            steps: Vec::new(),
        }
    }
}

/// The blocks that a GPU is opened for.
#[derive(Clone, Copy)]
pub(super) struct SortingTask {
    /// Maximum bytes of a block.
    pub block_size: u32,
    pub sample_rate: u32,
    /// Limits of the slices, if the GPU codes the blocks too.
    pub limits: Option<SliceLimits>,
    /// True if what the GPU makes is restored and compared with the text.
    pub proves: bool,
    /// Maximum number of threads that copy a very large block.
    pub threads: usize,
}

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
    /// Opens GPU `number` for these blocks. It codes them only if it has the memory.
    pub(super) fn open(number: u32, task: SortingTask) -> Result<Self> {
        let SortingTask {
            block_size,
            sample_rate,
            limits,
            proves,
            threads,
        } = task;
        let mut sorter = gpu::GpuSorter::new(number)?;
        sorter.reserve(block_size, sample_rate)?;
        // The CPU codes larger blocks.
        let limits = limits.filter(|_| block_size <= gpu::MOST_BYTES);
        let coder = limits.and_then(|limits| {
            let mut encoder = gpu::BwtEncoder::new(number).ok()?;
            sorter
                .reserve_encoder(&mut encoder, block_size, limits)
                .ok()
                .map(|()| (encoder, limits))
        });
        if coder.is_none() {
            sorter.reserve_output(block_size)?;
        }
        let proof = ProofTask {
            block_size,
            sample_rate,
            codes: coder.is_some(),
            threads,
        };
        let prover = (proves && block_size <= gpu::MOST_BYTES)
            .then(|| Prover::open(number, &mut sorter, proof));
        Ok(SortingGpu::Cuda(Box::new(CudaSorter {
            number,
            sorter,
            coder,
            prover: prover.transpose()?,
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
                gpu.sort(block, sample_rate, began)
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
    prover: Option<Prover>,
    threads: usize,
}

impl CudaSorter {
    /// Sorts `block`, which is the sorter's input and whose copying began at `began`, codes it if
    /// there is a coder, and restores the result if there is a prover.
    fn sort(&mut self, block: &[u8], sample_rate: u32, began: Instant) -> Result<GpuSorted> {
        let mut done = self.sort_and_code(sample_rate, began)?;
        if let Some(prover) = &mut self.prover {
            let from = Instant::now();
            done.proof = prover.prove(&mut self.sorter, &done.sorted, block)?;
            done.steps
                .push((Step::Check, from, Instant::now()));
        }
        Ok(done)
    }

    fn sort_and_code(&mut self, sample_rate: u32, began: Instant) -> Result<GpuSorted> {
        if let Some((encoder, limits)) = &mut self.coder {
            let (encoded, samples) = self
                .sorter
                .sort_and_encode(sample_rate, encoder, *limits)?;
            let samples = bwt::wide(samples.to_vec());
            let counts = encoded.byte_counts.map(u64::from);
            let coded = encoded.ended;
            let transform = CodedTransform {
                coded: encoder.take(encoded, self.threads)?,
                sample_rate,
                samples,
            };
            let steps = self.steps(began, coded);
            return Ok(GpuSorted {
                sorted: Sorted::Coded(transform),
                counts: Some(counts),
                proof: Proof::Missing,
                steps,
            });
        }
        let sorted = self.sorter.sort_input(sample_rate)?;
        let mut bytes = bwt::zeroed(sorted.bytes.len())?;
        threads::copy(&mut bytes, sorted.bytes, self.threads);
        let samples = bwt::wide(sorted.samples.to_vec());
        let steps = self.steps(began, Instant::now());
        Ok(GpuSorted {
            sorted: Sorted::Bwt(Bwt {
                bytes,
                sample_rate,
                samples,
            }),
            counts: None,
            proof: Proof::Missing,
            steps,
        })
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
